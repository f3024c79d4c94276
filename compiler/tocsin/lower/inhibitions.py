"""What need not be told, since it follows from what is told: nothing that pages is silenced by less than a page."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import naming
from tocsin.lower import nodedown, storms
from tocsin.lower.burns import ALERT as BURN
from tocsin.routes import Inhibition, Matcher

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.factory import Factory
    from tocsin.plan.notifications import Sample


class Cause(NamedTuple):
    """Alerts whose fault is the cause of others', told apart by the labels `equal`, which all of them carry."""

    name: str
    sources: tuple[str, ...]
    targets: tuple[str, ...]
    equal: tuple[str, ...]


# The same link, board or server: what was lost tells more than what was corrected before, a page more than a ticket.
CAUSES = (
    Cause(
        "uncorrected-fabric-errors", ("FabricPacketsLost", "FabricLinkLost"), ("FabricErrorsCorrected",), naming.PORT
    ),
    # A pulled cable is told as a lost link at once; where the port is down still when that is over, it is told then.
    Cause("link-lost", ("FabricLinkLost",), ("FabricPortDown",), naming.PORT),
    Cause("port-down", ("FabricPortDown",), ("FabricPortSlow",), naming.PORT),
    Cause("uncorrected-nvlink-errors", ("NvlinkRecovered",), ("NvlinkErrorsCorrected",), naming.GPU),
    Cause(
        "uncorrected-gpu-errors",
        ("GpuEccUncorrected", "GpuXidReset", "GpuRowRemapFailure"),
        ("GpuXidCorrected", "GpuXidContained", "GpuRowRemapPending"),
        naming.GPU,
    ),
    Cause("server-down", ("PrometheusDown",), ("PrometheusReplicaDown",), ("cluster", "server")),
)

# What a burn-rate alert carries beside the labels of its place.
_OWN = frozenset(("alertname", "severity", "owner", "layer", "slo", "window"))


def inhibitions(factory: Factory, samples: Sequence[Sample]) -> tuple[Inhibition, ...]:
    """Those of which both sides can fire in this factory.

    Of the spec's own alerts a node that is down silences the tickets. What else they may be called says nothing.
    """
    ours = [sample for sample in samples if sample.labels["alertname"] not in factory.alerts]
    return (
        *_storm(factory, ours),
        *_node_down(factory, samples),
        *(one for cause in (*CAUSES, *_exporters(ours)) for one in _caused(factory, cause, ours)),
        *_burning(factory, ours),
    )


def _caused(factory: Factory, cause: Cause, samples: Sequence[Sample]) -> Iterator[Inhibition]:
    names = _names(samples)
    sources, targets = ([one for one in side if one in names] for side in (cause.sources, cause.targets))
    if sources and targets:
        yield Inhibition(cause.name, (_any(sources),), (_any(targets),), cause.equal, factory.alerting.origin)


def _storm(factory: Factory, samples: Sequence[Sample]) -> Iterator[Inhibition]:
    """An owner's pages of nodes where so many are new that they are told as one. Tenants are told of theirs as ever."""
    if storms.ALERT in _names(samples):
        nodes = Matcher("severity", "page"), Matcher("node", "", "!="), Matcher("tenant", "")
        source = (Matcher("alertname", storms.ALERT),)
        yield Inhibition("storm", source, nodes, ("cluster", "owner"), factory.alerting.origin)


def _node_down(factory: Factory, samples: Sequence[Sample]) -> Iterator[Inhibition]:
    """The tickets of a node that is down. A page on it stays what it was: whoever was woken sees that it goes on."""
    on_nodes = {
        sample.labels["alertname"]
        for sample in samples
        if sample.labels["severity"] == "ticket" and all(label in sample.labels for label in naming.NODE)
    }
    # All alerts of such a name must carry the labels: those that do not would match as empty.
    bare = {one.labels["alertname"] for one in samples if not all(label in one.labels for label in naming.NODE)}
    targets = sorted(on_nodes - bare - {nodedown.ALERT})
    if targets:
        yield Inhibition(
            "node-down",
            (Matcher("alertname", nodedown.ALERT),),
            (Matcher("severity", "ticket"), _any(targets)),
            naming.NODE,
            factory.alerting.origin,
        )


def _exporters(samples: Sequence[Sample]) -> Iterator[Cause]:
    """All exporters of a job are silent, which says more than that each of them is."""
    for name in sorted(_names(samples)):
        if name.endswith("ExportersAllDown"):
            job = name.removesuffix("ExportersAllDown")
            yield Cause(f"all-down-{job.lower()}", (name,), (f"{job}ExporterDown",), ("cluster", "job"))


def _burning(factory: Factory, samples: Sequence[Sample]) -> Iterator[Inhibition]:
    """A budget that burns fast burns slowly, too: one rule for all objectives of the same labels."""
    burning = [sample.labels.keys() - _OWN for sample in samples if sample.labels["alertname"] == BURN]
    labels = sorted(set().union(*burning))
    for place in sorted({tuple(sorted(names)) for names in burning}):
        # The labels that make the place are asked for, so that none of them can be missing on both sides.
        here = tuple(Matcher(label, "", "!=" if label in place else "=") for label in labels)
        page, ticket = (
            (Matcher("alertname", BURN), Matcher("severity", severity), *here) for severity in ("page", "ticket")
        )
        yield Inhibition("-".join(("burning", *place)), page, ticket, ("slo", *place), factory.alerting.origin)


def _names(samples: Sequence[Sample]) -> set[str]:
    return {sample.labels["alertname"] for sample in samples}


def _any(names: Sequence[str]) -> Matcher:
    """Any of some alerts. Names are words: nothing in them means something else to a regular expression."""
    return Matcher("alertname", "|".join(names), "=~") if len(names) > 1 else Matcher("alertname", names[0])
