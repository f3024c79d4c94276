"""Retention tiers on the side of Prometheus: what a server keeps, what it writes where, and how it is started."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, pattern, versions
from tocsin.lower.native import flags
from tocsin.plan.programs import ArgumentFile
from tocsin.plan.rules import Record
from tocsin.plan.servers import Kept, Relabel, RemoteWrite, Server
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.retention import Store, Tier
    from tocsin.plan.rules import RuleFile

LONG_TERM = "prometheus/long_term/"  # the servers that scrape nothing; no cluster can be called so
PERIOD_PACE = Duration.of(minutes=1)  # what a month adds up to does not change in seconds
_DAY, _HOUR = Duration.of(days=1), Duration.of(hours=1)
_NOTE = "How this server is started, beside the arguments of its place (--config.file, paths, addresses)."


def with_tiers(factory: Factory, servers: Iterable[Server], rules: Iterable[RuleFile]) -> tuple[Server, ...]:
    """Servers that scrape, with what they keep and what they write where: whatever their number, by one rule."""
    hot = factory.retention.hot
    recorded = recorded_names(rules)
    tiers = factory.retention.tiers
    as_one = _as_one(factory)
    writes = tuple(
        _remote_write(tier, tier.store, (*selection(factory, tier, recorded), *as_one)) for tier in tiers if tier.store
    )
    kept = _in_file(factory, hot)
    # What a server without rules has, it has from others, which write it themselves.
    return tuple(
        server._replace(remote_writes=_of_its_own(server, writes) if server.rule_files else (), kept=kept)
        for server in servers
    )


def _of_its_own(server: Server, writes: tuple[RemoteWrite, ...]) -> tuple[RemoteWrite, ...]:
    """Without what a server reads from those below it, which write it themselves."""
    others = "|".join(pattern.literal(job.name) for job in server.jobs if job.matches)
    if not others:
        return writes
    leave_out = Relabel("drop", source=("job",), regex=others)
    return tuple(write._replace(relabel=(leave_out, *write.relabel)) for write in writes)


def _as_one(factory: Factory) -> tuple[Relabel, ...]:
    """VictoriaMetrics takes for duplicates only what has the same labels (docs.victoriametrics.com, #deduplication)."""
    if factory.targets.long_term != "victoriametrics" or factory.servers.replicas == 1:
        return ()
    return (Relabel("labeldrop", regex="replica"),)


def long_term_servers(factory: Factory, periods: Mapping[str, RuleFile]) -> tuple[Server, ...]:
    """Where Prometheus is its own long-term store: a server a tier, which scrapes nothing and is written to."""
    if factory.targets.long_term != "prometheus":
        return ()
    return tuple(
        Server(
            path=f"{LONG_TERM}{tier.name}.yml",
            interval=PERIOD_PACE,
            external_labels=(),
            rule_files=(periods[tier.name].path,) if tier.name in periods else (),
            alertmanagers=(),
            jobs=(),
            origin=tier.origin,
            silent_labels=(),
            size=capacity.NOTHING,
            kept=_in_file(factory, tier),
        )
        for tier in factory.retention.tiers
    )


def server_arguments(factory: Factory, servers: Iterable[Server]) -> tuple[ArgumentFile, ...]:
    """How each server is started, at start/<path of its configuration>."""
    tiers = {f"{LONG_TERM}{tier.name}.yml": tier for tier in factory.retention.tiers}
    return tuple(
        ArgumentFile(f"start/{server.path}", _NOTE, _arguments(factory, tiers.get(server.path)), server.origin)
        for server in servers
    )


def uses_sidecar(factory: Factory) -> bool:
    """Whether some tier is what Thanos sidecars upload."""
    return factory.targets.long_term == "thanos" and any(tier.store is None for tier in factory.retention.tiers)


def recorded_names(rules: Iterable[RuleFile]) -> str:
    """A regular expression for the names of all recorded series, and of no other: none else has such a prefix."""
    forms = {id(file.groups): file.groups for file in rules}.values()  # blanks are in no name
    records = (rule for groups in forms for group in groups for rule in group.rules if isinstance(rule, Record))
    return f"({'|'.join(sorted({record.name.partition(':')[0] for record in records}))}):.+"


def selection(factory: Factory, tier: Tier, recorded: str) -> tuple[Relabel, ...]:
    """The steps that leave of all series those that a tier holds."""
    if tier.series == "all":
        dropped = factory.retention.restricted
        return (Relabel("drop", ("__name__",), names_of(dropped)),) if dropped else ()
    return (Relabel("keep", ("__name__",), recorded if tier.series == "recorded" else names_of(tier.metrics)),)


def in_one_unit(period: Duration) -> str:
    """A period in whole days, or else in hours, rounded up: not every store reads `1d16h`."""
    days, rest = divmod(int(period), _DAY)
    return f"{days}d" if not rest else f"{-(-int(period) // _HOUR)}h"


def names_of(metrics: Sequence[str]) -> str:
    """A regular expression for these names."""
    return "|".join(pattern.literal(metric) for metric in metrics)


def _remote_write(tier: Tier, store: Store, steps: tuple[Relabel, ...]) -> RemoteWrite:
    return RemoteWrite(
        name=tier.name,
        url=store.url,
        tenant=store.tenant,
        token_file=store.token_file,
        username=store.username,
        password_file=store.password_file,
        max_shards=store.max_shards,
        max_age=store.max_age,
        relabel=steps,
        origin=tier.origin,
    )


def _in_file(factory: Factory, tier: Tier) -> Kept | None:
    known = versions.has("storage.tsdb.retention", factory.targets.prometheus)
    return Kept(tier.keep, tier.size) if known else None


def _arguments(factory: Factory, written_to: Tier | None) -> tuple[str, ...]:
    """Flags of a server that scrapes, or of one that is a tier and written to."""
    tier = written_to or factory.retention.hot
    found = []
    if _in_file(factory, tier) is None:
        found.append(f"--storage.tsdb.retention.time={tier.keep}")
        found += [f"--storage.tsdb.retention.size={tier.size}"] if tier.size else []
    if written_to is None and uses_sidecar(factory):
        # The sidecar uploads blocks as they are: Prometheus may not merge them (thanos.io/tip/components/sidecar.md).
        found += ["--storage.tsdb.min-block-duration=2h", "--storage.tsdb.max-block-duration=2h"]
    found += flags(factory)
    if written_to is not None:
        found.append("--web.enable-remote-write-receiver")
    return tuple(found)
