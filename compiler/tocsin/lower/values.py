"""Labels whose values nobody can list, and that have more of them at a time than the spec allows."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.ingest import carriers
from tocsin.lower.alerts import signal_alert
from tocsin.lower.proofs import STRANGER, fires, proof, series, silent
from tocsin.plan.rules import Reading, Record
from tocsin.promql import quote
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Collection

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.factory.signals import Label, Signal
    from tocsin.plan.rules import Alert, RuleTest

_MANY = 500  # values in a test's world; promtool loads 10,000 samples for a query at most


def values(factory: Factory, cluster: Cluster, jobs: Collection[str]) -> tuple[list[Record | Alert], list[RuleTest]]:
    """A count and an alert for each bounded label that some of these jobs show, with their tests.

    A shard counts what its own nodes show: that one sees too many is enough to be told.
    """
    rules: list[Record | Alert] = []
    tests = []
    for label in factory.labels.values():
        shown = [metric for metric in carriers(factory, label.name) if metric.exporter in jobs]
        if label.max_values is not None and shown:
            counted, alert = _counted(cluster, label, shown), _alert(factory, cluster, label, label.max_values, shown)
            rules += [counted, alert]
            tests += _tests(cluster, label, label.max_values, shown, alert)
    return rules, tests


def _counted(cluster: Cluster, label: Label, shown: list[Metric]) -> Record:
    """One metric of each job is looked at: all of a job's series have the same values of the label."""
    names = "|".join(naming.series(metric) for metric in shown)
    of_cluster = f"__name__=~{quote(names)}, cluster={quote(cluster.name)}"
    every = f'group by (cluster, {label.name}) ({{{of_cluster}, {label.name}!=""}})'
    return Record(naming.LABEL_VALUES, f"count by (cluster) ({every})", {"label": label.name}, label.origin)


def _alert(factory: Factory, cluster: Cluster, label: Label, most: int, shown: list[Metric]) -> Alert:
    return signal_alert(
        factory,
        f"{naming.titled(label.name)}ValuesExceeded",
        _of(factory, label, shown),
        "ticket",
        expr=f"{naming.LABEL_VALUES}{{cluster={quote(cluster.name)}, label={quote(label.name)}}} > {most}",
        hold=Duration.of(minutes=5),
        summary=f"The label {label.name} has too many values in {{{{ $labels.cluster }}}}",
        description=f"{{{{ $value | humanize }}}} values of {label.name} are there at a time in "
        f"{{{{ $labels.cluster }}}}, and the capacity plan counts with {most}: find what makes them, "
        "or raise `max_values`.",
        where=("cluster",),
    )


def _of(factory: Factory, label: Label, shown: list[Metric]) -> Signal:
    """The signal that the label carries, or else the first that shows it: its layer's owner hears of it."""
    own = (signal for signal in factory.signals.values() if signal.label == label.name)
    return next(own, factory.signals[shown[0].signal])


def _tests(cluster: Cluster, label: Label, most: int, shown: list[Metric], alert: Alert) -> list[RuleTest]:
    """As many values as may be, then one more; and, where they are few enough for a test, values that make a count."""
    told = {"cluster": cluster.name, "label": label.name}
    counted = [series(naming.LABEL_VALUES, told, f"{most}x9 {most + 1}x20 {most}x20")]
    checks = [silent(alert, 9), silent(alert, 14), fires(alert, 15, told, value=most + 1), silent(alert, 31)]
    # Another cluster has more of them, and this one more of another label.
    counted += [series(naming.LABEL_VALUES, {**told, name: STRANGER}, f"{most + 1}x60") for name in told]
    found = [proof(alert, "one value more than there may be", counted, *checks)]
    if most < _MANY:
        at = {"cluster": cluster.name}
        names = [naming.series(shown[index % len(shown)]) for index in range(most + 1)]
        inputs = [
            series(name, {**at, label.name: f"v{index}"}, "1x40" if index else "_x10 1x15 stale")
            for index, name in enumerate(names)
        ]
        # The same values of another series, another cluster's, those of other metrics, and none are no more values.
        inputs += [series(names[-1], {**at, label.name: f"v{most}", "instance": "again"}, "1x40")]
        inputs += [series(names[-1], {"cluster": STRANGER, label.name: "v"}, "1x40")]
        inputs += [series("another_metric", {**at, label.name: "w"}, "1x40"), series(names[-1], at, "1x40")]
        checks = [silent(alert, 14), fires(alert, 15, told, value=most + 1), silent(alert, 31)]
        test = proof(alert, "one value more is shown for a while", inputs, *checks)
        only = ((series(naming.LABEL_VALUES, told, "")[0], str(most + 1)),)
        counts = Reading(Duration.of(minutes=15), f"{naming.LABEL_VALUES}{{label={quote(label.name)}}}", only)
        found.append(test._replace(readings=(counts,)))
    return found
