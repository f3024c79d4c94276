"""A storm: many nodes of a cluster fault at once. It is one page for each owner, which holds back those of its nodes.

A node is new where it has a page that it did not have ten minutes before, so that nodes which wait for repair for weeks
are no storm. While the new ones of an owner are many they stay new, however long that lasts: a storm ends when few of
its nodes are left, and what they have is told then.

Its page has to be at Alertmanager before the first page of its nodes is told. Faults of one moment are scraped within
one interval, so that the rules see the last of them one interval after the first; within the pace of the storm's group
after that its page is sent, and a moment is left for handing it over: `interval + 5s + 5s`, 25 seconds of 15. With
shards the pages are counted on each shard and added up above, which reads them once an interval: one interval and one
pace more. So long do pages of nodes wait (`wait`). An XID is scraped within an interval and seen within another: 55
seconds at the usual 15, and 75 with shards. Exporters that are scraped more slowly than that may be told before.

Where there are shards, a node counts for five minutes after its last page, since samples that are read from another
server end so, and pages of nodes that the server above has of itself are held back but not counted.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin import capacity, naming
from tocsin.lower.alerts import OF_LAYER, links
from tocsin.lower.proofs import MINUTE, STRANGER, firing, series, shared, silent
from tocsin.lower.samples import samples
from tocsin.plan.rules import Alert, Expectation, Reading, Record, RuleFile, RuleGroup
from tocsin.promql import quote
from tocsin.units import NO_TIME, Duration

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster
    from tocsin.plan.rules import RuleTest

ALERT, LIMIT = naming.FAULT_STORM, "storm_nodes"
BEFORE = Duration.of(minutes=10)
_PACE, _SLACK = Duration.of(seconds=5), Duration.of(seconds=5)
_NODE, _OWNER = naming.by(("cluster", "owner", "node")), naming.by(("cluster", "owner"))

_DOWN = {"alertname": naming.NODE_DOWN, "severity": "ticket"}
_FOREIGN = f"foreign, {STRANGER}"

Input = tuple[str, str]


class Pager(NamedTuple):
    """An owner who is paged for nodes; `layer` is that of the first such page."""

    owner: str
    layer: str


def is_possible(factory: Factory, cluster: Cluster) -> bool:
    """Whether a cluster has as many nodes as make a storm."""
    return cluster.nodes >= factory.limits[LIMIT]


def wait(factory: Factory) -> Duration:
    """How long a page of a node waits for a storm that it may be part of."""
    able = [cluster for cluster in factory.clusters.values() if is_possible(factory, cluster)]
    steps = 2 if any(_is_sharded(factory, cluster) for cluster in able) else 1
    return Duration(steps * (factory.interval + _PACE) + _SLACK)


def storms(factory: Factory, cluster: Cluster, rules: Sequence[RuleFile]) -> Iterator[RuleFile]:
    """The storms of each owner whom `rules` page for nodes; with shards the pages are counted in a file of theirs."""
    if not is_possible(factory, cluster):
        return
    story = _Story(factory, cluster, _pagers(rules), _longest(rules))
    pages = story.pages()
    found: list[Record | Alert] = [story.news(), *story.alerts]
    if story.sharded:
        name = f"paged-{cluster.name}"
        group = RuleGroup(name, (pages,), (story.counted(name),), story.pace)
        yield RuleFile(name, (group,), per_node=True)
    else:
        found.insert(0, pages)
    name = f"storms-{cluster.name}"
    yield RuleFile(name, (RuleGroup(name, tuple(found), tuple(story.tests(name)), story.pace),))


def _is_sharded(factory: Factory, cluster: Cluster) -> bool:
    return (capacity.shards(factory, cluster) or 1) > 1


def _pagers(rules: Sequence[RuleFile]) -> tuple[Pager, ...]:
    found: dict[str, Pager] = {}
    for one in samples(rules, ()):
        labels = one.labels
        if "node" in labels and (labels["severity"] == "page" or labels["alertname"] == naming.NODE_DOWN):
            found.setdefault(labels["owner"], Pager(labels["owner"], labels["layer"]))
    return tuple(found[owner] for owner in sorted(found))


def _longest(rules: Sequence[RuleFile]) -> Duration:
    """The longest time for which a page, or a node that is down, has to hold."""
    every = (rule for file in rules for group in file.groups for rule in group.rules if isinstance(rule, Alert))
    return max(rule.hold for rule in every if rule.labels["severity"] == "page" or rule.name == naming.NODE_DOWN)


class _Story:
    def __init__(self, factory: Factory, cluster: Cluster, pagers: Sequence[Pager], longest: Duration) -> None:
        self._factory, self._cluster, self._pagers = factory, cluster, pagers
        self._ago = max(BEFORE, longest)
        self._least = int(-(-factory.limits[LIMIT] // 1))
        self._here = f"cluster={quote(cluster.name)}"
        self.sharded = _is_sharded(factory, cluster)
        self.pace = min(_PACE, factory.interval)
        self.alerts = tuple(self._alert(pager) for pager in pagers)

    # --- the rules ----------------------------------------------------------------------------------------------------

    def pages(self) -> Record:
        """The pages of each node and owner, where there are any, and nodes that are down, which are a ticket each."""
        paged = f'ALERTS{{alertstate="firing", severity="page", {self._here}, node!=""}}'
        down = f'ALERTS{{alertstate="firing", alertname="{naming.NODE_DOWN}", {self._here}}}'
        return Record(naming.PAGES, f"count by ({_NODE}) (\n  {paged}\n  or {down}\n)", {}, self._cluster.origin)

    def news(self) -> Record:
        """The nodes of a storm that goes on, and those that are new.

        What was before is known only if all servers that count pages have answered for ten minutes before that, or for
        as long as the slowest page has to hold: else old faults would be news to a server that was away.
        """
        job = naming.SHARD_JOB if self.sharded else capacity.ITSELF
        pages, new = (f"{name}{{{self._here}}}" for name in (naming.PAGES, naming.PAGES_NEW))
        many = f"count by ({_OWNER}) ({new}) >= {self._least}"
        answered = f"min by (cluster) (up{{{self._here}, job={quote(job)}}})"
        known = f"sum_over_time({answered}[10m:1m] offset {self._ago}) >= 10"
        expr = (
            f"{pages}\nand ({new} and on ({_OWNER}) ({many}))\n"
            f"or\n{pages}\nunless {pages} offset {BEFORE}\nand on (cluster) ({known})"
        )
        return Record(naming.PAGES_NEW, expr, {}, self._cluster.origin)

    def _alert(self, pager: Pager) -> Alert:
        new = f"{naming.PAGES_NEW}{{{self._here}, owner={quote(pager.owner)}}}"
        return Alert(
            name=ALERT,
            expr=f"count by (cluster) ({new}) >= {self._least}",
            hold=NO_TIME,
            labels={"severity": "page", "owner": pager.owner, "layer": pager.layer, "signal": naming.SEVERAL},
            annotations={
                "summary": "{{ $value }} nodes of {{ $labels.cluster }} fault at once",
                "description": f"{{{{ $value }}}} of {self._cluster.nodes} nodes of {{{{ $labels.cluster }}}} are down "
                f"or have pages for {pager.owner}, unlike ten minutes before, and there may be more by now: "
                f"{naming.PAGES_NEW} lists them. Look for what they have in common: power, cooling, a switch, a "
                f"driver. Until fewer than {self._least} of them are left, {pager.owner} is paged for no node by "
                "itself, and for what is left then.",
                **links(self._factory, pager.owner, ALERT, ("cluster",), OF_LAYER.get(pager.layer, "operations")),
            },
            origin=self._cluster.origin,
        )

    # --- their proof --------------------------------------------------------------------------------------------------

    def tests(self, group: str) -> Iterator[RuleTest]:
        """A storm comes and goes; old faults are none, nor are few; nor are those that a server sees again."""
        yield self._storm(group)
        yield self._old(group)
        yield self._gap(group)

    def counted(self, group: str) -> RuleTest:
        """One node is paged for by two alerts, one is down; others wait, have a ticket, or are in another cluster."""
        at = {"cluster": self._cluster.name, "owner": "a", "node": "paged"}
        inputs = [_firing({**at, "alertname": name}, "1x9") for name in ("This", "That")]
        inputs += [*self._aside("a", "1x9"), _firing({**at, "cluster": STRANGER}, "1x9")]
        down = {**at, "node": "down"}
        inputs += [_firing({**down, **_DOWN}, "1x9"), _firing({**down, **_DOWN, "cluster": STRANGER}, "1x9")]
        counted = tuple((series(naming.PAGES, of, "")[0], count) for of, count in ((down, "1"), (at, "2")))
        reading = Reading(Duration.of(minutes=5), naming.PAGES, counted)
        test = shared(group, "pages of nodes, and what is none", self._cluster.origin, inputs)
        return test._replace(readings=(reading,))

    def _storm(self, group: str) -> RuleTest:
        """As many nodes as make a storm fault at once; after half an hour one is repaired, and then another faults."""
        begin, least = self._begin, self._least
        inputs = [*self._up("1x300"), *self._foreign(f"_x{begin} 1x60")]
        for owner in self._owners:
            for number in range(least):
                values = f"_x{begin} 1x{60 if number else 29} stale"
                inputs.append(self._paged(owner, f"node-{number}", values, **({} if number else _DOWN)))
            inputs.append(self._paged(owner, "late", f"_x{begin + 35} 1x30"))
        checks = [*self._silent(*(begin + after for after in (-1, 30, 35, 45)))]
        checks += self._fires(*(begin + after for after in (0, 11, 12, 29)))
        test = shared(group, "a storm comes, goes on, and is over", self._cluster.origin, inputs, *checks)
        theirs = [naming.PAGES_NEW + _owned(_FOREIGN), *([] if self.sharded else [naming.PAGES + _owned(STRANGER)])]
        return test._replace(readings=tuple(Reading(Duration.of(minutes=begin + 5), one, ()) for one in theirs))

    def _foreign(self, values: str) -> Iterator[Input]:
        """What the servers of another cluster have and record, which is their business."""
        for job in (capacity.ITSELF, naming.SHARD_JOB):
            yield series("up", {"cluster": STRANGER, "job": job, "instance": "a"}, "1x300")
        for more in ({}, _DOWN):
            yield _firing({"cluster": STRANGER, "owner": STRANGER, "node": "foreign", **more}, values)
        for node in (f"foreign-{number}" for number in range(self._least)):
            yield series(naming.PAGES, {"cluster": STRANGER, "owner": _FOREIGN, "node": node}, values)
            for owner in self._owners:
                yield series(naming.PAGES_NEW, {"cluster": STRANGER, "owner": owner, "node": node}, values)

    def _old(self, group: str) -> RuleTest:
        """As many have waited for hours when others fault, one too few for a storm; five minutes later one more."""
        begin, least = self._begin + 75, self._least
        inputs = [*self._up("1x300"), self._paged(STRANGER, "node", f"_x{begin} 1x60")]
        for owner in self._owners:
            for number in range(least):
                inputs.append(self._paged(owner, f"old-{number}", "1x300"))
                inputs.append(self._paged(owner, f"new-{number}", f"_x{begin if number else begin + 5} 1x60"))
            inputs += [] if self.sharded else self._aside(owner, f"_x{begin} 1x60")
        checks = [*self._silent(5, self._begin, begin - 1, begin, begin + 4), *self._fires(begin + 5)]
        return shared(group, "old faults, and one too few", self._cluster.origin, inputs, *checks)

    def _gap(self, group: str) -> RuleTest:
        """What was there for an hour is seen again after some time in which nobody looked."""
        gap = self._begin - 9  # a minute more than an instant selector looks back
        values, back = f"1x59 _x{gap} 1x200", 60 + gap
        paged = [(owner, f"node-{number}") for owner in self._owners for number in range(self._least)]
        # A shard that does not answer is seen not to; a server that is away sees nothing.
        answers = f"1x63 0x{gap - 5} 1x200" if self.sharded else values
        inputs = [*self._up(answers), *(self._paged(owner, node, values) for owner, node in paged)]
        checks = self._silent(30, back, back + 4, back + 9, back + self._begin + 15)
        return shared(group, "faults that are seen again", self._cluster.origin, inputs, *checks)

    def _fires(self, *minutes: int) -> list[Expectation]:
        """Every owner is told of as many nodes as make a storm."""
        told = tuple(firing(alert, self._place, self._least) for alert in self.alerts)
        return [Expectation(Duration.of(minutes=minute), ALERT, told) for minute in minutes]

    def _silent(self, *minutes: int) -> list[Expectation]:
        return [silent(self.alerts[0], minute) for minute in minutes]

    @property
    def _owners(self) -> list[str]:
        return [pager.owner for pager in self._pagers]

    @property
    def _begin(self) -> int:
        """The minute from which on a server knows its past."""
        return -(-self._ago // MINUTE) + 15

    @property
    def _place(self) -> dict[str, str]:
        return {"cluster": self._cluster.name}

    def _up(self, values: str) -> list[Input]:
        """What tells that pages were counted; something else of the cluster never answers."""
        job = naming.SHARD_JOB if self.sharded else capacity.ITSELF
        others = [("a", STRANGER, "0x400"), *([("b", job, "1x400")] if self.sharded else [])]
        every = [("a", job, values), *others]
        return [series("up", {**self._place, "job": of, "instance": name}, text) for name, of, text in every]

    def _paged(self, owner: str, node: str, values: str, **more: str) -> Input:
        """A page of a node as the rules see it: above shards it has been counted."""
        at = {**self._place, "owner": owner, "node": node}
        return series(naming.PAGES, {**at, "shard": "0"}, values) if self.sharded else _firing({**at, **more}, values)

    def _aside(self, owner: str, values: str) -> list[Input]:
        """Alerts that still wait, a ticket, and a page of no node."""
        at = {**self._place, "owner": owner}
        return [
            _firing({**at, "node": "waits", "alertstate": "pending"}, values),
            _firing({**at, "node": "sinks", **_DOWN, "alertstate": "pending"}, values),
            _firing({**at, "node": "ticketed", "severity": "ticket"}, values),
            _firing(at, values),
        ]


def _owned(owner: str) -> str:
    return f"{{owner={quote(owner)}}}"


def _firing(labels: dict[str, str], values: str) -> Input:
    usual = {"alertname": "Fault", "alertstate": "firing", "severity": "page"}
    return series("ALERTS", usual | labels, values)
