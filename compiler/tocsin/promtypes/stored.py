"""What the servers of a plan store: the series that they keep of what they scrape, and what their rules record.

The world of a factory says what can be collected; this one what the configurations, the counters files and the rules
that will be written come to. A record of which a part is stored nowhere is stored nowhere itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, NamedTuple

from tocsin import pattern
from tocsin.catalog import DEEP_JOB, is_field, own_metrics, recorded_metrics
from tocsin.ingest import TARGET_LABELS, labels_of
from tocsin.plan.rules import Alert, Record
from tocsin.promql import metric_names, parse, quote
from tocsin.promtypes import check, recorded_as
from tocsin.promtypes.labels import Labels
from tocsin.promtypes.quantity import ANY
from tocsin.promtypes.vector import Vector
from tocsin.promtypes.world import PARTS, from_tiers, scraped

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.catalog.kinds import Metric
    from tocsin.factory import Factory
    from tocsin.plan import Plan
    from tocsin.plan.rules import RuleFile
    from tocsin.plan.servers import ScrapeJob
    from tocsin.promtypes.world import World

_NAME = "__name__"
_OF_SCRAPES = ("job", "instance")


class Named(NamedTuple):
    """The values that a label has on series whose names begin with one of `of`: what is called so is a `noun`."""

    noun: str
    label: str
    of: tuple[str, ...]
    values: tuple[str, ...]


def of_plan(factory: Factory, plan: Plan, above: frozenset[str] = frozenset()) -> World:
    """The world of what is stored; `above` are labels that a data source adds to all of it."""
    world = from_tiers(scraped(factory), factory.retention)
    series = {**dict(_scraped(factory, plan, world)), **dict(_scrapes(plan, world))}
    stored = Stored(series, plan, {record.name for record in factory.own_records}, world, above)
    stored.world = world._replace(series=stored)
    return stored.world


def names_of(factory: Factory, plan: Plan) -> tuple[Named, ...]:
    """The jobs, the alerts and the objectives that there are."""
    jobs = {job.name for server in plan.servers for job in server.jobs}
    alerts = {file.filled(rule.name) for file, rule in _rules(plan) if isinstance(rule, Alert)}
    own = own_metrics()
    scrapes, told = (tuple(one.name for one in own if one.entity == entity) for entity in ("scrape", "alert"))
    return (
        Named("job", "job", scrapes, tuple(sorted(jobs))),
        Named("alert", "alertname", told, tuple(sorted(alerts))),
        Named("SLO", "slo", ("slo:",), tuple(sorted(factory.slos))),
    )


class Stored(Mapping[str, Vector]):
    """The series by their names; what rules make of them is found out where somebody asks for it."""

    def __init__(
        self, series: dict[str, Vector], plan: Plan, theirs: set[str], world: World, above: frozenset[str]
    ) -> None:
        self.raw, self.plan, self.theirs, self.world, self.above = series, plan, theirs, world, above
        self.records = _records(plan)
        self.promised = {metric.name: world.series[metric.name] for metric in recorded_metrics()}
        self.alerts = {one.name: world.series[one.name] for one in own_metrics() if one.entity == "alert"}
        self.found: dict[str, Vector] = {}
        self.lacking: dict[str, str] = {}

    def __getitem__(self, name: str) -> Vector:
        if name not in self:
            raise KeyError(name)
        if name not in self.found:
            made = self.raw[name] if name in self.raw else self._made(name)
            self.found[name] = made._replace(labels=made.labels.plus(self.above))
        return self.found[name]

    def __contains__(self, name: object) -> bool:
        return name in self.raw or name in self.alerts or (name in self.records and not self.lacks(str(name)))

    def __iter__(self) -> Iterator[str]:
        yield from (*self.raw, *self.alerts)
        yield from (name for name in self.records if not self.lacks(name))

    def __len__(self) -> int:
        return sum(1 for _ in self)

    def lacks(self, name: str) -> str:
        """The series which a record is made of and nothing stores; empty where there is none.

        What rules of the spec and of mixins read was judged there: what is not known may be stored all the same.
        """
        if name not in self.lacking:
            self.lacking[name] = ""  # a record may read itself as it was
            if name not in self.theirs:
                self.lacking[name] = next(self._lacking(name), "")
        return self.lacking[name]

    def _lacking(self, name: str) -> Iterator[str]:
        for file, record in self.records[name]:
            for read in _reads(file, record):
                if read in self.records and read not in self.raw:
                    yield from filter(None, [self.lacks(read)])
                elif read not in self.raw and read not in self.alerts:
                    yield read

    def _made(self, name: str) -> Vector:
        """What rules make: a record of which the catalogue tells what it is, any other, or the series of alerts."""
        if name in self.alerts:
            return self._alerts(name)
        made, promised = self._recorded(name), self.promised.get(name)
        labels = made.labels if promised is None or made.labels.open else promised.labels.only(made.labels.known)
        return (promised or made)._replace(labels=labels)

    def _alerts(self, name: str) -> Vector:
        """With the labels that the proofs of alerts say, and those of the expressions that have no proof."""
        self.found[name] = Vector()  # for an alert about alerts
        told = {label for sample in self.plan.notifications.samples for label in sample.labels}
        proven = {sample.labels["alertname"] for sample in self.plan.notifications.samples}
        own = self.alerts[name].labels.certain
        labels = Labels(own).plus((*told, *TARGET_LABELS))
        for file, rule in _rules(self.plan):
            if isinstance(rule, Alert) and file.filled(rule.name) not in proven:
                text = file.filled(rule.expr)
                shown = check(text, parse(text), self.world)[0].labels
                labels = labels.either(shown.plus((*rule.labels, *own), certain=True))
        return self.alerts[name]._replace(labels=labels)

    def _recorded(self, name: str) -> Vector:
        """What a record is by the types of all rules that record it: those of one name differ in labels and values."""
        self.found[name] = Vector()  # for a record that reads itself as it was
        made: list[Vector] = []
        # Rules that differ in names and values only have the same labels.
        for file, record in {_form(record): (file, record) for file, record in self.records[name]}.values():
            text = file.filled(record.expr)
            vector = check(text, parse(text), self.world)[0]
            labels = vector.labels.plus(record.labels, certain=True)
            made.append(vector._replace(labels=labels.either(made[-1].labels) if made else labels))
        last = recorded_as(name, made[-1], self.world)
        if len(self.records[name]) == 1:
            return last
        return last._replace(quantity=ANY, key=None, copies=frozenset())


def _form(record: Record) -> str:
    """The expression of a record without the values of its labels."""
    text = record.expr
    for value in record.labels.values():
        text = text.replace(quote(value), '"…"')
    return text


def _reads(file: RuleFile, record: Record) -> Iterator[str]:
    """The names that a record reads; of many rules of one form that is parsed once."""
    blanks = [(blank, text) for blank, text in file.blanks if blank in record.expr and "{" in blank]
    if any(text.startswith("{") for _, text in blanks):  # the end of a selector, which has no name of its own
        yield from _names(file.filled(record.expr))
        return
    hidden = {name for blank, _ in blanks for name in _names(blank)}
    yield from (name for name in _names(_form(record)) if name not in hidden)
    for _, text in blanks:
        yield from _names(text)


@cache
def _names(text: str) -> tuple[str, ...]:
    return metric_names(parse(text), alternatives=True)


def _rules(plan: Plan) -> Iterator[tuple[RuleFile, Record | Alert]]:
    for file in plan.rules:
        yield from ((file, rule) for group in file.groups for rule in group.rules)


def _records(plan: Plan) -> dict[str, list[tuple[RuleFile, Record]]]:
    found: dict[str, list[tuple[RuleFile, Record]]] = {}
    for file, rule in _rules(plan):
        if isinstance(rule, Record):
            found.setdefault(file.filled(rule.name), []).append((file, rule))
    return found


def _scraped(factory: Factory, plan: Plan, world: World) -> Iterator[tuple[str, Vector]]:
    """What is left of the metrics of each job once it is relabelled."""
    jobs = {(job.name, job.relabel): job for server in plan.servers for job in server.jobs}
    counted = {metric.name for file in plan.counter_files for metric in file.metrics}
    by_job: dict[str, list[Metric]] = {}
    for metric in factory.metrics.values():
        if metric.exporter not in ("dcgm", DEEP_JOB) or not is_field(metric) or metric.name in counted:
            by_job.setdefault(metric.exporter, []).append(metric)
    for job in jobs.values():
        for metric in by_job.get(job.name, ()):
            for part in PARTS if metric.type == "histogram" else ("",):
                name = metric.name + part
                if _is_kept(job, name):
                    vector = world.series[name]
                    labels = _relabelled(job, vector.labels, labels_of(metric, factory.of_pods))
                    yield name, vector._replace(labels=labels)
            if metric.native:
                yield metric.name, Vector()
        yield from ((step.replacement, Vector()) for step in job.relabel if step.target == _NAME)


def _is_kept(job: ScrapeJob, name: str) -> bool:
    steps = (step for step in job.relabel if step.source == (_NAME,) and step.action in ("keep", "drop"))
    return all(pattern.matches(step.regex, name) is (step.action == "keep") for step in steps)


def _relabelled(job: ScrapeJob, labels: Labels, named: set[str]) -> Labels:
    """The labels that are left of those that the series have by their kind."""
    whole = labels.plus(label for label in named if label not in labels.known and label != "le")
    left = whole
    for step in job.relabel:
        if step.action == "labeldrop":
            left = left.without([label for label in left.known if pattern.matches(step.regex, label)])
        elif step.target in whole.known and step.target not in left.known and step.replacement:
            left = left.plus([step.target])
    return left


def _scrapes(plan: Plan, world: World) -> Iterator[tuple[str, Vector]]:
    """What Prometheus adds to each target, with the labels of the targets."""
    targets = {name for server in plan.servers for job in server.jobs for name in _of_targets(job)}
    labels = Labels(frozenset(_OF_SCRAPES), frozenset(targets) - {*_OF_SCRAPES})
    for metric in own_metrics():
        if metric.entity == "scrape":
            yield metric.name, world.series[metric.name]._replace(labels=labels)


def _of_targets(job: ScrapeJob) -> Iterator[str]:
    names = [name for target in job.targets for name, _ in target.labels]
    names += [step.target for step in job.target_relabel if step.action == "replace"]
    yield from (name for name in dict.fromkeys(names) if not name.startswith("__"))
