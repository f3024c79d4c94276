"""The order of the stages, and nothing else: load, resolve, check, lower, audit, emit, verify, write."""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, NamedTuple

from tocsin.check import check
from tocsin.diagnostics import TooManyError
from tocsin.load import load
from tocsin.resolve import resolve

if TYPE_CHECKING:
    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.plan import Plan
    from tocsin.source import Source


class Compiled(NamedTuple):
    """What a spec became: the factory that it means, the plan for it, and every file."""

    factory: Factory
    plan: Plan
    artifacts: tuple[Artifact, ...]


def understand(path: str, log: Log, sources: dict[str, Source], stdin: bytes | None = None) -> Factory | None:
    """load, resolve, check: everything wrong with a spec is told in one run. None where something is.

    Dashboards and rules that it brings are held against the plan as well.
    """
    found = _understood(path, log, sources, stdin)
    if found is None:
        return None
    document, factory = found
    return None if _brings(factory) and _planned(document, factory, log) is None else factory


def compile_spec(path: str, log: Log, sources: dict[str, Source], stdin: bytes | None = None) -> Compiled | None:
    """understand, lower, emit: a spec without mistakes becomes files, which are still values."""
    found = _understood(path, log, sources, stdin)
    plan = _planned(*found, log) if found else None
    if found is None or plan is None:
        return None
    from tocsin.emit import emit

    return Compiled(found[1], plan, emit(plan))


def _understood(
    path: str, log: Log, sources: dict[str, Source], stdin: bytes | None
) -> tuple[Document, Factory] | None:
    try:
        document = load(path, log, sources, stdin)
        if document is None:
            return None
        factory = resolve(document, log)
        check(factory, document, log)
    except TooManyError:
        return None
    return None if log.failed else (document, factory)


def _brings(factory: Factory) -> bool:
    """Whether a spec has what only the plan can judge."""
    return bool(factory.dashboards or factory.alerts or factory.records or factory.mixins)


def _planned(document: Document, factory: Factory, log: Log) -> Plan | None:
    """lower, audit; None where a dashboard asks for what nothing of the plan stores, or a rule has the name of ours."""
    from tocsin.lower import lower  # `check` stays fast without the second half of the compiler

    plan = lower(factory)
    if _brings(factory):
        from tocsin.audit import audit_brought, audit_names

        with suppress(TooManyError):
            audit_names(factory, plan, log)
            audit_brought(factory, plan, document, log)
    return None if log.failed else plan
