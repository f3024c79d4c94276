"""The monitoring itself: each Prometheus scrapes its own page, and the Alertmanagers'; what ails them is told.

What a server tells of itself is told by that server, however many there are. Whoever runs the monitoring hears of it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import capacity, naming
from tocsin.lower.alerts import signal_alert
from tocsin.lower.ills import FAULTS, HERE
from tocsin.lower.proofs import fires, series, shared, silent
from tocsin.plan.rules import RuleFile, RuleGroup
from tocsin.plan.servers import Relabel, ScrapeJob, Target
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.lower.ills import Fault
    from tocsin.plan.rules import Alert, RuleTest

_PLACE = ("cluster", "instance")


def itself(factory: Factory, address: str, place: Mapping[str, str], interval: Duration) -> ScrapeJob:
    """A server's own page. It is asked where it listens, and called by the name that others have for it."""
    target = Target(f"localhost:{address.rpartition(':')[2]}", (*place.items(), ("instance", address)))
    return _job(factory, capacity.ITSELF, (target,), interval)


def alertmanagers(factory: Factory, cluster: Cluster) -> ScrapeJob:
    """The Alertmanagers that the alerts of a cluster go to."""
    targets = tuple(Target(address, (("cluster", cluster.name),)) for address in factory.alerting.alertmanagers)
    return _job(factory, capacity.ALERTMANAGER, targets, factory.interval)


def _job(factory: Factory, name: str, targets: tuple[Target, ...], interval: Duration) -> ScrapeJob:
    """Of a page of many hundred series, those that the catalogue knows are kept."""
    known = "|".join(metric.name for metric in factory.metrics.values() if metric.exporter == name)
    return ScrapeJob(
        name=name,
        interval=interval,
        targets=targets,
        targets_file="",
        relabel=(Relabel("keep", ("__name__",), known),),
        origin=factory.alerting.origin,
    )


def monitoring(factory: Factory) -> Iterator[RuleFile]:
    """A file about the server itself, and one about Alertmanagers, for those that scrape them."""
    writes = any(tier.store for tier in factory.retention.tiers)
    for job in (capacity.ITSELF, capacity.ALERTMANAGER):
        metrics = {metric.name for metric in factory.metrics.values() if metric.exporter == job}
        if not writes:
            metrics -= {metric.name for metric in factory.signals["prometheus_remote_write"].metrics}
        faults = {fault: _alert(factory, fault) for fault in FAULTS if fault.metric in metrics}
        down = _down(factory, job)
        tests = [_test(job, list(faults.items()), down)]
        rules = [down, *faults.values()]
        if job == capacity.ITSELF and writes:
            behind = _behind(factory)
            rules.append(behind)
            tests.append(_behind_test(job, behind))
        if job == capacity.ALERTMANAGER and len(factory.alerting.alertmanagers) > 1:
            apart = _apart(factory)
            rules.append(apart)
            tests.append(_apart_test(factory, job, apart))
        group = RuleGroup(job, tuple(rules), tuple(tests))
        yield RuleFile(f"monitoring-{job}", (group,), everywhere=job == capacity.ITSELF)


def _alert(factory: Factory, fault: Fault) -> Alert:
    by = naming.by((*_PLACE, *fault.by))
    expr = {
        "rises": f"sum by ({by}) (increase({fault.metric}[15m])) > 0",
        "some": f"max by ({by}) ({fault.metric}) > 0",
        "unset": f"max by ({by}) ({fault.metric}) == 0",
    }[fault.sign]
    return signal_alert(
        factory,
        fault.alert,
        factory.signals[factory.metrics[fault.metric].signal],
        fault.severity,
        expr=expr,
        hold=Duration.of(minutes=fault.hold),
        summary=fault.summary,
        description=fault.description,
        where=("cluster",),
    )


def _down(factory: Factory, job: str) -> Alert:
    """Without its own page a server is blind for all of its ills; an Alertmanager that is gone is told by another."""
    title = job.title()
    return signal_alert(
        factory,
        f"{title}PageUnread",
        factory.signals[f"{job}_notifications"],
        "ticket",
        expr=f'max by ({naming.by(_PLACE)}) (avg_over_time(up{{job="{job}"}}[5m])) < 0.75',
        hold=Duration.of(minutes=10),
        summary=f"The page of the {title} {HERE} is not read",
        description=f"More than a quarter of all scrapes of {HERE} fail: what ails it would not be told. A server "
        "asks itself at localhost and the port of `collection.servers.address`.",
        where=("cluster",),
    )


def _behind(factory: Factory) -> Alert:
    by = naming.by((*_PLACE, "remote_name"))
    most, wanted = (f"max by ({by}) (prometheus_remote_storage_shards_{what})" for what in ("max", "desired"))
    waiting = f"max by ({by}) (min_over_time(prometheus_remote_storage_samples_pending[5m])) > 0"
    sent = f"sum by ({by}) (increase(prometheus_remote_storage_samples_total[5m])) > 0"
    return signal_alert(
        factory,
        "PrometheusRemoteWriteBehind",
        factory.signals["prometheus_remote_write"],
        "ticket",
        # A store that is written little is not behind: something has to wait.
        expr=f"{wanted} > {most}\nor ({waiting} unless {sent})",
        hold=Duration.of(minutes=15),
        summary=f"{HERE} writes too slowly to {{{{ $labels.remote_name }}}}",
        description=f"What {HERE} takes in does not reach {{{{ $labels.remote_name }}}} in time, or not at all. Its "
        "write-ahead log holds about two hours of it; what is older is lost there.",
        where=("cluster",),
    )


def _apart(factory: Factory) -> Alert:
    count = len(factory.alerting.alertmanagers)
    return signal_alert(
        factory,
        "AlertmanagerMembersMissing",
        factory.signals["alertmanager_cluster"],
        "ticket",
        expr=f"max by ({naming.by(_PLACE)}) (max_over_time(alertmanager_cluster_members[5m])) < {count}",
        hold=Duration.of(minutes=10),
        summary=f"{HERE} does not see all Alertmanagers",
        description=f"{HERE} sees {{{{ $value }}}} of {count} Alertmanagers, itself included: those that do not see "
        "each other notify twice.",
        where=("cluster",),
    )


def _test(job: str, faults: Sequence[tuple[Fault, Alert]], down: Alert) -> RuleTest:
    """On one server everything happens from minute 20 to 25, or to 43 what lasts; on another nothing ever does."""
    inputs, checks = [], []
    ill, well = ({"cluster": "east", "instance": f"{name}:9090"} for name in ("ill", "well"))
    for fault, alert in faults:
        more = dict.fromkeys(fault.by, "some")
        stories = {
            "rises": ("0x20 1 2 3 4 5x60", "7x90"),
            "some": ("0x19 1x24 0x40", "0x90"),
            "unset": ("1x19 0x24 1x40", "1x90"),
        }[fault.sign]
        for at, values in zip((ill, well), stories, strict=True):
            inputs.append(series(fault.metric, {**at, **more, "job": job}, values))
        place = {**ill, **more}
        # Up to minute 34 the window begins with a 0, to which no release extrapolates: the rise is exact.
        first = {"rises": 21, "some": 20, "unset": 20}[fault.sign] + fault.hold
        told = {"rises": ((first, min(fault.hold + 1, 5)), (33, 5)), "some": ((first, 1), (40, 1))}
        checks += [silent(alert, first - 1), silent(alert, 45)]
        checks += [
            fires(alert, minute, place, value=value) for minute, value in told.get(fault.sign, ((first, 0), (40, 0)))
        ]
    half, other = ({"cluster": "east", "instance": f"{name}:9090"} for name in ("half", "other"))
    inputs += [
        series("up", {**place, "job": of}, values)
        for place, of, values in (
            (ill, job, "1x19 0x70"),
            (well, job, "1x90"),
            (half, job, "1x19" + " 0 1" * 20),
            (other, "another", "0x90"),
        )
    ]
    checks += [silent(down, 30), fires(down, 31, ill), fires(down, 34, ill, half)]
    return shared(f"monitoring-{job}", "everything befalls one server", down.origin, inputs, *checks)


def _behind_test(job: str, alert: Alert) -> RuleTest:
    """One store is too slow, two are gone, one is written nothing, and one is sound.

    Of those that are gone one is written little: there samples wait two minutes later, and with the other one before.
    """
    inputs = []
    stories = {
        "slow": ("0+60x60", "9x60", "3x19 12x40", "5x60"),
        "gone": ("0+60x19 1140x40", "0x14 12x40", "1x60", "5x60"),
        "little": ("0+60x19 1140x40", "0x21 12x40", "1x60", "5x60"),
        "idle": ("7x60", "0x60", "1x60", "5x60"),
        "sound": ("0+60x60", "9x60", "5x60", "5x60"),
    }
    names = ("samples_total", "samples_pending", "shards_desired", "shards_max")
    place = {"cluster": "east", "instance": "a:9090"}
    for store, values in stories.items():
        at = {**place, "remote_name": store, "job": job, "url": f"http://{store}"}
        inputs += [
            series(f"prometheus_remote_storage_{name}", at, one) for name, one in zip(names, values, strict=True)
        ]
    slow, gone, little = ({**place, "remote_name": store} for store in ("slow", "gone", "little"))
    story = "one store is too slow, and two are gone"
    checks = [silent(alert, 34), fires(alert, 37, slow, value=12), fires(alert, 40, slow, gone, value=12)]
    checks.append(fires(alert, 45, slow, gone, little, value=12))
    return shared(f"monitoring-{job}", story, alert.origin, inputs, *checks)


def _apart_test(factory: Factory, job: str, alert: Alert) -> RuleTest:
    """One member sees one less from minute 20 on; for a moment another does."""
    count = len(factory.alerting.alertmanagers)
    ill, well = ({"cluster": "east", "instance": f"{name}:9093"} for name in ("ill", "well"))
    inputs = [
        series("alertmanager_cluster_members", {**ill, "job": job}, f"{count}x19 {count - 1}x40"),
        series("alertmanager_cluster_members", {**well, "job": job}, f"{count}x19 {count - 1}x3 {count}x40"),
    ]
    checks = [silent(alert, 33), fires(alert, 36, ill, value=count - 1)]
    return shared(f"monitoring-{job}", "one member does not see another", alert.origin, inputs, *checks)
