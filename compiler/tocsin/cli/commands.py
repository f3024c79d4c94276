"""What each command does with the stages."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.terminal import colored, progress, say
from tocsin.cli.wrongcall import WrongCallError
from tocsin.diagnostics import Log, TooManyError, below
from tocsin.pipeline import compile_spec, understand
from tocsin.toolerror import ToolError

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
    run = _Run(options.spec)
    compiled = run.proven(tools)
    changes, folder = None, Path(options.out)
    if compiled is not None:
        folder /= compiled.plan.factory
        with progress("writing", os.environ):
            changes = (write.compare if options.check else write.write)(compiled.artifacts, folder)
        if changes.foreign:
            names = ", ".join(changes.foreign[:3])
            what = f"{folder}: tocsin did not write {names} and does not touch it; move it away, then build"
            raise WrongCallError(what)
        if options.check and changes:
            what = f"{folder} is not what this spec says: {len(changes.paths)} of its files differ"
            hint = f"run `tocsin build {options.spec}` and commit what it changes"
            run.log.error("OUT101", what, compiled.factory.origin, hint)
    run.tell(options.format)
    if compiled is not None and changes is not None:
        _say(options, _summary(compiled, tools, time.monotonic() - started))
        _say(options, _drift(changes, folder, written=not options.check))
    return int(run.log.failed)


def test(options: Namespace) -> int:
    """Run the generated tests only."""
    started = time.monotonic()
    run = _Run(options.spec)
    compiled = run.proven(_tools(), tests_only=True)
    run.tell(options.format)
    if compiled is None:
        return 1
    alerts = compiled.plan.tests
    routes = len(compiled.plan.notifications.tests)
    took = time.monotonic() - started
    _say(options, f"{compiled.plan.factory}: {alerts} alert tests and {routes} route tests pass ({took:.1f} s)\n")
    return 0


def capacity(options: Namespace) -> int:
    """Print what the servers will hold and take in."""
    from tocsin.units import Duration

    try:
        retention = Duration.parse(options.retention) if options.retention else None
    except ValueError:
        raise WrongCallError(f"{options.retention} is not a time; write it as 30d") from None
    run = _Run(options.spec)
    compiled = run.proven(())
    if compiled is None or options.format == "text":
        run.tell(options.format)
    if compiled is None:
        return 1
    from tocsin.emit.capacity import as_json, markdown
    from tocsin.lower.sizes import sizes

    plan, shown = compiled.plan, as_json if options.format == "json" else markdown
    said = sizes(compiled.factory, plan.servers, retention) if retention else plan.sizes
    say(sys.stdout, shown(plan.factory, said))
    return 0


def preview(options: Namespace) -> int:
    """Draw the dashboards of a spec into one page."""
    from tocsin.cli.preview import preview as draw

    run = _Run(options.spec)
    compiled = run.proven(())
    if compiled is None:
        run.tell("text")
        return 1
    draw(options, compiled)
    return 0


def drill(options: Namespace) -> int:
    """Let faults happen to a simulated site, and tell who was told."""
    run = _Run(options.spec)
    compiled = run.proven(())
    if compiled is None or options.format == "text":
        run.tell(options.format)
    if compiled is None:
        return 1
    from tocsin.cli.drilling import carry_out

    return carry_out(options, compiled)


def lint_expr(options: Namespace) -> int:
    """Tell everything that is wrong with one expression."""
    from tocsin.promtypes import judged, of_catalogue, of_factory, parsed

    log, name = Log(), "expression"
    source = _expression(options.expr, name)
    expr = parsed(source.text, log, source.span)
    world = of_catalogue()
    if options.spec is not None:
        run = _Run(options.spec)
        factory = understand(_existing(run.path), run.log, run.sources)
        if factory is None:
            run.tell(options.format)
            return 1
        world = of_factory(factory)
    if expr is not None:
        judged(source.text, expr, world, log, source.span)
    _tell(options.format, log.sorted(), {name: source})
    return int(log.failed)


def _expression(text: str, name: str) -> Source:
    from tocsin.source import Source

    if text == "-":
        data = _stdin("-") or b""
        try:
            text = data.decode("utf-8")
        except UnicodeDecodeError:
            raise WrongCallError("standard input is not UTF-8") from None
    if not text.strip():
        raise WrongCallError("there is no expression")
    return Source(name, text)


def explain(options: Namespace) -> int:
    """Print what a code means, or the runbook page of a spec's alert."""
    from tocsin.cli.explaining import alert, code

    if options.spec is None:
        say(sys.stdout, code(options.name))
        return 0
    run = _Run(options.spec)
    compiled = run.proven(())
    if compiled is None:
        run.tell("text")
        return 1
    say(sys.stdout, alert(options.name, compiled))
    return 0


def completion(options: Namespace) -> int:
    """Print a completion script."""
    from tocsin.cli.completion import script

    say(sys.stdout, script(options.shell))
    return 0


# --- what they share --------------------------------------------------------------------------------------------------


class _Run:
    """One spec on its way through the stages: what was read of it, and what is to be told about it."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.log = Log()
        self.sources: dict[str, Source] = {}

    def proven(self, tools: tuple[()] | tuple[Tool, Tool], *, tests_only: bool = False) -> Compiled | None:
        """The compiled spec, proven with the tools if there are any; None where something is wrong."""
        with progress("compiling", os.environ):
            compiled = compile_spec(_existing(self.path), self.log, self.sources, _stdin(self.path))
        if compiled is not None and tools:
            from tocsin.audit import audit_own
            from tocsin.verify import run_tests, verify

            with progress("proving", os.environ), suppress(TooManyError):
                (run_tests if tests_only else verify)(compiled.artifacts, *tools, self.log)
                if not tests_only:
                    audit_own(compiled.factory, compiled.plan, compiled.artifacts, self.log)
            _fit(tools, compiled, self.log)
        return None if self.log.failed else compiled

    def tell(self, format_: str) -> None:
        """Print all that was found."""
        folder = _folder(self.path)
        texts = {os.path.join(folder, name): source for name, source in self.sources.items()}
        _tell(format_, below(folder, self.log.sorted()), texts)


def _fit(tools: tuple[Tool, Tool], compiled: Compiled, log: Log) -> None:
    """ToolError where amtool refuses what it is too old for: no fault of the spec, and none of ours."""
    amtool, target = tools[1], compiled.factory.targets.alertmanager
    if amtool.number < target and any(diagnostic.code == "VFY104" for diagnostic in log.sorted()):
        raise ToolError(
            f"{amtool} is older than `targets.alertmanager` {'.'.join(map(str, target))} and refuses what that release "
            "knows: put a newer one on PATH or name it with AMTOOL, or lower the target"
        )


def _existing(path: str) -> str:
    if path != "-" and not os.path.lexists(path):
        raise WrongCallError(f"{path}: there is no such file")
    return path


def _folder(path: str) -> str:
    return os.path.dirname(path.rstrip(os.sep)) if path != "-" else ""


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
    by = f"proven with {' and '.join(map(str, tools))}" if tools else "not proven (--no-verify)"
    counts = (
        f"{len(compiled.artifacts)} files, {len(rules) - alerts} recording rules, {alerts} alerts, {plan.tests} tests"
    )
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
