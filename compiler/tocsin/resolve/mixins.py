"""Rules of mixins: parsed, with an owner, a layer and a severity of ours, and names that nothing else has."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.catalog import recorded_metrics
from tocsin.diagnostics import Log, Related, near
from tocsin.factory.rules import Mixin, OwnAlert, OwnGroup, OwnRecord
from tocsin.promtypes import parsed
from tocsin.resolve.owners import known_owner
from tocsin.resolve.rules import check_layer, layer_of, layers, signal_of, where

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.document import Document, Path, WrittenMixin, WrittenRule
    from tocsin.factory.signals import Signal
    from tocsin.promql import Expr
    from tocsin.resolve.signals import Known
    from tocsin.source import Span

# What the severities of mixins are here, where the spec says nothing else.
SEVERITIES = {"critical": "page", "warning": "ticket", "info": "info", "none": "info"}
_OURS = ("severity", "owner", "layer", "signal", "slo", "window", "alertname")
_TEXTS = ("summary", "description", "message")
# Ours lead to the owner's page and to a dashboard of the factory; what the mixin links to stands beside them.
_MOVED_LINKS = {"runbook_url": "upstream_runbook_url", "dashboard_url": "upstream_dashboard_url"}
_MOVED = ("severity", "owner")  # what a mixin says of them is heard, and ours stands in their place


def resolve_mixins(
    document: Document,
    known: Known,
    signals: Mapping[str, Signal],
    records: dict[str, OwnRecord],
    alerts: dict[str, OwnAlert],
    log: Log,
) -> dict[str, Mixin]:
    """The mixins by name; a rule that cannot be read is left out. `records` and `alerts` are the spec's own."""
    found = {}
    names = {name: record.origin for name, record in records.items()}
    names |= {name: alert.origin for name, alert in alerts.items()}
    records = dict(records)
    for name, written in document.mixins.items():
        resolver = _Resolver(name, written, document, known, signals, log)
        resolver.check_names()
        groups = tuple(resolver.group(group.name, group.interval, group.rules, records) for group in written.groups)
        found[name] = Mixin(name, tuple(group for group in groups if group.rules), document.places.key("mixins", name))
        resolver.check_taken(found[name], names)
        names |= {rule.name: found[name].origin for group in groups for rule in group.rules}
    return found


class _Resolver:
    """Resolves the rules of one mixin."""

    def __init__(
        self,
        name: str,
        written: WrittenMixin,
        document: Document,
        known: Known,
        signals: Mapping[str, Signal],
        log: Log,
    ) -> None:
        self.name, self.written, self.document = name, written, document
        self.known, self.signals, self.log = known, signals, log
        self.entry = document.spec.mixins[name]
        self.path: Path = ("mixins", name)
        self.shown = layers(signals)

    def check_names(self) -> None:
        """`alerts` and `without` name what is there; so do the owners."""
        rules = [rule for group in self.written.groups for rule in group.rules]
        alerts = {rule.name for rule in rules if rule.kind == "alert"}
        every = {rule.name for rule in rules} | self.written.dashboards.keys()
        for index, wanted in enumerate(self.entry.without):
            self._check_there(wanted, every, self.document.places.value(*self.path, "without", index))
        for wanted in self.entry.alerts:
            self._check_there(wanted, alerts, self.document.places.key(*self.path, "alerts", wanted))
        if self.entry.owner:
            known_owner(self.document, self.known.owners, self.entry.owner, (*self.path, "owner"), self.log)
        for wanted, one in self.entry.alerts.items():
            if one.owner:
                path = (*self.path, "alerts", wanted, "owner")
                known_owner(self.document, self.known.owners, one.owner, path, self.log)

    def _check_there(self, wanted: str, there: Iterable[str], place: Span) -> None:
        if wanted not in there:
            close = near(wanted, there)
            hint = f"did you mean '{close}'?" if close else "name an alert, a record or a dashboard as the mixin does"
            self.log.error("MIX106", f"the mixin has nothing that is called '{wanted}'", place, hint)

    def group(
        self, name: str, interval: object, rules: tuple[WrittenRule, ...], records: dict[str, OwnRecord]
    ) -> OwnGroup:
        """A group without what is left out of it."""
        made: list[OwnRecord | OwnAlert] = []
        for rule in rules:
            expr = None if rule.name in self.entry.without else self._expr(rule)
            if expr is None:
                continue
            self._check_labels(rule)
            if rule.kind == "record":
                record = self._record(rule, expr, records)
                records.setdefault(rule.name, record)
                made.append(record)
            elif (alert := self._alert(rule, expr, records)) is not None:
                made.append(alert)
        return OwnGroup(name, interval, tuple(made))  # type: ignore[arg-type]

    def _expr(self, rule: WrittenRule) -> Expr | None:
        told = Log()
        expr = parsed(rule.expr, told, lambda start, end: self._place(rule, start, end))
        for one in told.sorted():
            self.log.error(one.code, f"{rule.name}: {one.message}", one.span, one.hint, self._named(one.span))
        return expr

    def _place(self, rule: WrittenRule, start: int, end: int) -> Span:
        place = self.written.made.place(rule.expr, start, end) or self.written.made.named(rule.name)
        return place or self._path_place()

    def _path_place(self) -> Span:
        return self.document.places.value(*self.path, "path")

    def _named(self, place: Span) -> list[Related]:
        named = self._path_place()
        return [Related(named, "the mixin is named here")] if place != named else []

    def _tell(self, code: str, rule: WrittenRule, what: str, hint: str) -> None:
        place = self.written.made.named(rule.name) or self._path_place()
        self.log.error(code, f"{rule.name}{what}", place, hint, self._named(place))

    def _check_labels(self, rule: WrittenRule) -> None:
        """A rule sets no label that would stand for a place or a tenant, or for what tocsin says of the fault."""
        for label in rule.labels:
            if (label in self.known.labels or label in _OURS) and not (rule.kind == "alert" and label in _MOVED):
                what = f" sets the label `{label}`, which says here where a fault is, or whose"
                hint = (
                    f"leave `{label}` out of the rule's labels, or the rule out of the mixin: `without: [{rule.name}]`"
                )
                self._tell("MIX105", rule, what, hint)

    def _record(self, rule: WrittenRule, expr: Expr, records: Mapping[str, OwnRecord]) -> OwnRecord:
        layer = self.entry.layer or layer_of(expr, self.entry.owner or "", self.shown, records, self.known)
        check_layer(layer, self.document, self.path, self.log)
        owner = self.entry.owner or self.known.layers.get(layer, "")
        place = self.document.places.key(*self.path)
        there = where(expr, self.signals, records)
        return OwnRecord(rule.name, owner, layer, rule.expr, expr, *there, place, rule.labels)

    def _alert(self, rule: WrittenRule, expr: Expr, records: Mapping[str, OwnRecord]) -> OwnAlert | None:
        owner, severity = self._owner(rule), self._severity(rule)
        if not owner or not severity:
            return None
        layer = self.entry.layer or layer_of(expr, owner, self.shown, records, self.known)
        check_layer(layer, self.document, self.path, self.log)
        texts = rule.annotations
        summary = texts.get("summary") or texts.get("message") or texts.get("description") or rule.name
        on_nodes, elsewhere = where(expr, self.signals, records)
        return OwnAlert(
            name=rule.name,
            owner=owner,
            layer=layer,
            signal=signal_of(expr, self.signals),
            severity=severity,
            text=rule.expr,
            expr=expr,
            hold=rule.hold,
            summary=summary,
            description=texts.get("description") or texts.get("message") or summary,
            tests=(),
            on_nodes=on_nodes,
            elsewhere=elsewhere,
            origin=self.document.places.key(*self.path),
            keep=rule.keep,
            labels={name: value for name, value in rule.labels.items() if name not in _MOVED},
            annotations={_MOVED_LINKS.get(name, name): value for name, value in texts.items() if name not in _TEXTS},
        )

    def _owner(self, rule: WrittenRule) -> str:
        """Whom the spec names for the alert, whom the mixin names for it, or whom the spec names for the mixin."""
        said = self.entry.alerts.get(rule.name)
        own = rule.labels.get("owner", "")
        if said and said.owner:
            return said.owner
        if own and own not in self.known.owners:
            hint = f"say whose it is: `alerts: {{{rule.name}: {{owner: …}}}}`"
            self._tell("MIX103", rule, f" is for '{own}', whom nobody knows here", hint)
            return ""
        if not own and not self.entry.owner:
            hint = f"name one of the whole mixin, `owner: …`, or of this one, `alerts: {{{rule.name}: {{owner: …}}}}`"
            self._tell("MIX103", rule, " has no owner", hint)
        return own or self.entry.owner or ""

    def _severity(self, rule: WrittenRule) -> str:
        said = self.entry.alerts.get(rule.name)
        if said and said.severity:
            return said.severity
        written = rule.labels.get("severity", "")
        words = {**SEVERITIES, **{ours: ours for ours in ("page", "ticket")}, **self.entry.severities}
        if written not in words:
            named = f"the severity '{written}', which says nothing here" if written else "no severity"
            hint = f"say what it is: `severities: {{{written}: ticket}}`" if written else ""
            hint = hint or f"say what it is: `alerts: {{{rule.name}: {{severity: ticket}}}}`"
            self._tell("MIX104", rule, f" has {named}", hint)
        return words.get(written, "")

    def check_taken(self, mixin: Mixin, names: Mapping[str, Span]) -> None:
        """A name is that of one thing, and two rules of one name differ in a label."""
        ours = {metric.name for metric in recorded_metrics()} | self.shown.keys()
        seen: set[tuple[str, tuple[tuple[str, str], ...]]] = set()
        for rule in (rule for group in mixin.groups for rule in group.rules):
            labels = {
                **rule.labels,
                **({"severity": rule.severity, "owner": rule.owner} if isinstance(rule, OwnAlert) else {}),
            }
            key = (rule.name, tuple(sorted(labels.items())))
            hint = f"leave it out, `without: [{rule.name}]`, or rename it in the mixin"
            place = self.written.made.named(rule.name) or self._path_place()
            if rule.name in names:
                there = Related(names[rule.name], "the other one")
                self.log.error("MIX107", f"another rule is called {rule.name} already", place, hint, [there])
            elif rule.name == naming.WATCHDOG or rule.name in ours or rule.name.startswith(("slo:", "tocsin:")):
                what = f"{rule.name} is a name that tocsin itself gives, or an exporter"
                self.log.error("MIX107", what, place, hint, self._named(place))
            elif key in seen:
                what = f"two rules of the mixin are called {rule.name} and have the same labels here"
                hint = "two severities of the mixin have become one: keep them apart by `severities`, or leave it out"
                self.log.error("MIX107", what, place, hint, self._named(place))
            seen.add(key)
