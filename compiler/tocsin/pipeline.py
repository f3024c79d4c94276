"""The order of the stages, and nothing else: load, resolve, check, lower, emit, verify, write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from tocsin.check import check
from tocsin.diagnostics import TooManyError
from tocsin.load import load
from tocsin.resolve import resolve

if TYPE_CHECKING:
    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log
    from tocsin.factory import Factory
    from tocsin.plan import Plan
    from tocsin.source import Source


@dataclass(frozen=True, slots=True)
class Compiled:
    """What a spec became: the factory that it means, the plan for it, and every file."""

    factory: Factory
    plan: Plan
    artifacts: tuple[Artifact, ...]


def understand(path: str, log: Log, sources: dict[str, Source], stdin: bytes | None = None) -> Factory | None:
    """load, resolve, check: everything wrong with a spec is told in one run. None where something is."""
    try:
        document = load(path, log, sources, stdin)
        if document is None:
            return None
        factory = resolve(document, log)
        check(factory, document, log)
    except TooManyError:
        return None
    return None if log.failed else factory


def compile_spec(path: str, log: Log, sources: dict[str, Source], stdin: bytes | None = None) -> Compiled | None:
    """understand, lower, emit: a spec without mistakes becomes files, which are still values."""
    factory = understand(path, log, sources, stdin)
    if factory is None:
        return None
    from tocsin.emit import emit  # `check` stays fast without the second half of the compiler
    from tocsin.lower import lower

    plan = lower(factory)
    return Compiled(factory, plan, emit(plan))
