"""The label schema, and the tenants that one of its labels may come from."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import pattern
from tocsin.diagnostics import Related
from tocsin.factory.owners import Tenant
from tocsin.factory.signals import Label
from tocsin.promql import regexp
from tocsin.resolve.channels import resolve_channels

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory.servers import Targets
    from tocsin.source import Span

# Without these no signal can be tied to its place and its job (one word per idea, whatever an exporter calls it).
CANONICAL = ("cluster", "node", "gpu_uuid", "job_id")

# What Prometheus, its rules and its histograms use themselves, and what tocsin puts on alerts and recorded series.
RESERVED = frozenset(
    """
    job instance le quantile alertname alertstate severity owner layer signal slo window reason violates quarantined
    """.split()
)

_RE2 = "Prometheus reads RE2: no look-around, no back references"


def resolve_tenants(document: Document, targets: Targets, log: Log) -> dict[str, Tenant]:
    """The tenants by name; an account, and a namespace, belongs to one of them."""
    for kind in ("account", "namespace"):
        _tell_shared(kind, document, log)
    tenants: dict[str, Tenant] = {}
    for name, tenant in document.spec.tenants.items():
        place = document.places.key("tenants", name)
        if not tenant.accounts and not tenant.namespaces and not document.is_broken("tenants", name):
            hint = f"name the scheduler's accounts that are the tenant's: `accounts: [{name}]`"
            log.error("TEN104", f"nothing belongs to the tenant '{name}'", place, hint)
        page, ticket = (
            resolve_channels(channels, document, ("tenants", name, path), targets, log) if channels else ()
            for path, channels in (("page", tenant.page), ("ticket", tenant.ticket))
        )
        if tenant.instead and not tenant.page and not tenant.ticket and not document.is_broken("tenants", name):
            what = f"the tenant '{name}' is told of nothing, and would be told instead of the owners"
            hint = "add `page` or `ticket`, the tenant's own, or remove `instead`"
            log.error("TEN121", what, document.places.key("tenants", name, "instead"), hint)
        tenants[name] = Tenant(
            name, tuple(tenant.accounts), tuple(tenant.namespaces), place, page, ticket, tenant.instead
        )
    return dict(sorted(tenants.items()))


def _tell_shared(kind: str, document: Document, log: Log) -> None:
    """Tell each account, or namespace, that is listed more than once."""
    seen: dict[str, tuple[str, Span]] = {}
    for name, tenant in document.spec.tenants.items():
        for index, item in enumerate(getattr(tenant, f"{kind}s")):
            place = document.places.value("tenants", name, f"{kind}s", index)
            first, there = seen.setdefault(item, (name, place))
            if there != place:
                what = f"the {kind} '{item}' belongs to two tenants, '{first}' and '{name}'"
                if first == name:
                    what = f"the {kind} '{item}' is listed twice"
                hint = "a series has one tenant: keep one of the two"
                log.error("TEN102", what, place, hint, [Related(there, "first written here")])


def resolve_labels(document: Document, tenants: dict[str, Tenant], log: Log) -> dict[str, Label]:
    """The labels by name, each with what its values may be."""
    labels: dict[str, Label] = {}
    places = document.places
    for name, rule in sorted(document.spec.labels.items()):
        if name in RESERVED:
            hint = "choose another name: Prometheus or the rules use this one themselves"
            log.error("LBL108", f"the label `{name}` is reserved", places.key("labels", name), hint)
        said = [key for key in ("values", "pattern", "source") if getattr(rule, key) is not None]
        if len(said) > 1:
            what = f"the label `{name}` says more than once what its values are"
            log.error("LBL104", what, places.key("labels", name), "keep one of `values`, `pattern` and `from`")
        if rule.max_values is not None and (rule.values is not None or rule.source):
            what = f"the label `{name}` has a list of its values: that says how many there are"
            log.error("LBL110", what, places.key("labels", name, "max_values"), "remove `max_values`")
        if rule.source and not tenants and not document.is_broken("tenants"):
            what = f"the label `{name}` comes from the tenants, but there are none"
            log.error("TEN103", what, places.key("labels", name), "add `tenants:`, or remove `from: tenants` here")
        # As a dict, in which a value is found at once: a label may list every host of a fleet.
        values = dict.fromkeys(tenants) if rule.source else None if rule.values is None else dict.fromkeys(rule.values)
        said_pattern = _pattern(rule.pattern, document, name, log)
        labels[name] = Label(name, values, said_pattern, places.key("labels", name), rule.max_values)
    for name in CANONICAL:
        if name not in labels and not document.is_broken("labels", name):
            hint = f"add `{name}: {{}}`, or say which values it may have"
            log.error("LBL103", f"the schema lacks the label `{name}`", places.key("labels"), hint)
    return labels


def _pattern(text: str | None, document: Document, label: str, log: Log) -> str | None:
    """The pattern; None where there is none, or none that Prometheus takes, which is told."""
    if text is None:
        return None
    where = ("labels", label, "pattern")
    try:
        regexp.matches_empty(text)
        pattern.validate(text)
    except regexp.RegexpError as error:
        place = document.places.inside(where, error.start, max(error.end, error.start + 1))
        hint = _RE2 if "look" in error.message else error.hint or _RE2  # the other hint is for matchers
        log.error("LBL105", f"bad regular expression: {error.message}", place, hint)
    except pattern.PatternError as error:
        log.error("LBL105", f"bad regular expression: {error}", document.places.value(*where), _RE2)
    else:
        return text
    return None
