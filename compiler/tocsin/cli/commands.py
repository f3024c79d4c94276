"""What each command does with the stages."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.terminal import colored, progress, say
from tocsin.cli.wrongcall import WrongCallError
from tocsin.diagnostics import Log, below
from tocsin.pipeline import compile_spec, understand

if TYPE_CHECKING:
    from argparse import Namespace

    from tocsin.diagnostics import Diagnostic
    from tocsin.pipeline import Compiled
    from tocsin.source import Source
    from tocsin.verify import Tool
    from tocsin.write import Changes

MAX_STDIN = 16 * 2**20 + 1


def check(options: Namespace) -> int:
    """Tell everything that is wrong with some specs."""
    found: list[Diagnostic] = []
    texts: dict[str, Source] = {}
    failed = False
    for path in options.specs:
        log = Log()
        sources: dict[str, Source] = {}
        understand(_existing(path), log, sources, _stdin(path))
        failed |= log.failed
        found += below(_folder(path), log.sorted())
        texts |= {os.path.join(_folder(path), name): source for name, source in sources.items()}
    _tell(options.format, found, texts)
    return int(failed)


def build(options: Namespace) -> int:
    """Compile, prove, write; or compare only."""
    from tocsin import write

    started = time.monotonic()
    tools = () if options.no_verify else _tools()
    compiled = _proven(options, tools, tests_only=False)
    if compiled is None:
        return 1
    folder = Path(options.out) / compiled.plan.factory
    with progress("writing", os.environ):
        act = write.compare if options.check else write.write
        changes = act(compiled.artifacts, folder)
    if changes.foreign:
        names = ", ".join(changes.foreign[:3])
        raise WrongCallError(f"{folder}: tocsin did not write {names} and does not touch it; move it away, then build")
    _say(options, _summary(compiled, tools, time.monotonic() - started))
    _say(options, _drift(changes, folder, written=not options.check))
    return int(options.check and bool(changes))


def test(options: Namespace) -> int:
    """Run the generated tests only."""
    started = time.monotonic()
    tools = _tools()
    compiled = _proven(options, tools, tests_only=True)
    if compiled is None:
        return 1
    alerts = sum(len(group.tests) for file in compiled.plan.rules for group in file.groups)
    routes = len(compiled.plan.notifications.tests)
    took = time.monotonic() - started
    _say(options, f"{compiled.plan.factory}: {alerts} alert tests and {routes} route tests pass ({took:.1f} s)\n")
    return 0


def explain(options: Namespace) -> int:
    """Print what a code means."""
    from tocsin.codes import catalogue
    from tocsin.diagnostics import near

    codes = catalogue()
    wanted = options.code.upper()
    if wanted == "ALL":
        say(sys.stdout, "".join(f"{code.id}  {code.title}\n" for code in codes.values()))
        return 0
    if wanted not in codes:
        close = near(wanted, codes)
        raise WrongCallError(f"no code is called {options.code}" + (f"; did you mean {close}?" if close else ""))
    code = codes[wanted]
    say(sys.stdout, f"{code.id}: {code.title}\n\n{code.text}\n")
    return 0


def completion(options: Namespace) -> int:
    """Print a completion script."""
    from tocsin.cli.completion import script

    say(sys.stdout, script(options.shell))
    return 0


# --- what they share --------------------------------------------------------------------------------------------------


def _proven(options: Namespace, tools: tuple[()] | tuple[Tool, Tool], *, tests_only: bool) -> Compiled | None:
    """The compiled spec, proven with the tools if there are any; None, and all of it told, where something is wrong."""
    path, log = options.spec, Log()
    sources: dict[str, Source] = {}
    with progress("compiling", os.environ):
        compiled = compile_spec(_existing(path), log, sources, _stdin(path))
    if compiled is not None and tools:
        from tocsin.verify import prove, verify

        with progress("proving", os.environ):
            (prove if tests_only else verify)(compiled.artifacts, *tools, log)
    folder = _folder(path)
    texts = {os.path.join(folder, name): source for name, source in sources.items()}
    _tell(options.format, below(folder, log.sorted()), texts)
    return None if log.failed else compiled


def _existing(path: str) -> str:
    if path != "-" and not os.path.lexists(path):
        raise WrongCallError(f"{path}: there is no such file")
    return path


def _folder(path: str) -> str:
    return os.path.dirname(path) if path != "-" else ""


def _stdin(path: str) -> bytes | None:
    return sys.stdin.buffer.read(MAX_STDIN) if path == "-" else None


def _tools() -> tuple[Tool, Tool]:
    from tocsin.verify import tools

    return tools(os.environ)


def _tell(format_: str, diagnostics: list[Diagnostic], sources: dict[str, Source]) -> None:
    if diagnostics or format_ != "text":
        from tocsin.report import report

        say(sys.stdout, report(format_, diagnostics, sources, color=colored(sys.stdout, os.environ)))


def _say(options: Namespace, text: str) -> None:
    """A word to people; where a program reads standard output it goes to the other one."""
    say(sys.stdout if options.format == "text" else sys.stderr, text)


def _summary(compiled: Compiled, tools: tuple[()] | tuple[Tool, Tool], took: float) -> str:
    plan = compiled.plan
    rules = [rule for file in plan.rules for group in file.groups for rule in group.rules]
    alerts = sum(hasattr(rule, "hold") for rule in rules)
    tests = sum(len(group.tests) for file in plan.rules for group in file.groups)
    by = f"proven with {' and '.join(map(str, tools))}" if tools else "not proven (--no-verify)"
    counts = f"{len(compiled.artifacts)} files, {len(rules) - alerts} recording rules, {alerts} alerts, {tests} tests"
    return f"{plan.factory}: {counts}; {by}; {took:.1f} s\n"


def _drift(changes: Changes, folder: Path, *, written: bool) -> str:
    if not changes:
        return f"{folder} is what the spec says\n"
    verbs = ("added", "changed", "removed") if written else ("would add", "would change", "would remove")
    lines = []
    for verb, paths in zip(verbs, (changes.added, changes.changed, changes.removed), strict=True):
        if paths:
            shown = ", ".join(paths[:4]) + (f" and {len(paths) - 4} more" if len(paths) > 4 else "")
            lines.append(f"{folder}: {verb} {len(paths)}: {shown}\n")
    return "".join(lines)
