"""`tocsin preview`: where the data of the page comes from, and where the page goes to."""

from __future__ import annotations

import os
import sys
import time
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING

from tocsin.cli.terminal import progress, say
from tocsin.cli.wrongcall import WrongCallError

if TYPE_CHECKING:
    from argparse import Namespace

    from tocsin.pipeline import Compiled
    from tocsin.plan import Plan
    from tocsin.preview import Prometheus
    from tocsin.units import Duration

_LIVE, _WATCHED = "6h", "90s"  # of a real site what is shown of the past; how long a simulated one is watched
_HELD = (
    "Each dashboard is here for all values of its variables, for those that a link of this page leads to, and for "
    "single ones, up to {limit} choices a dashboard; what is not here cannot be chosen. What shows no past is as at "
    "the end of the time."
)


def preview(options: Namespace, compiled: Compiled) -> None:
    """Draw the dashboards of a compiled spec. ToolError where Prometheus cannot be asked, or started."""
    text = (_live if options.prometheus else _simulated)(options, compiled)
    if options.output == "-":
        say(sys.stdout, text)
        return
    _write(Path(options.output), text)
    count = len(compiled.plan.dashboards)
    say(sys.stderr, f"{options.output}: {count} dashboards, {len(text.encode()) / 1e6:.1f} MB\n")


def _live(options: Namespace, compiled: Compiled) -> str:
    """With what a running Prometheus knows."""
    from tocsin.preview import Prometheus

    last = options.last or _LIVE
    length = _length(last)
    try:
        prometheus = Prometheus(options.prometheus)
    except ValueError:
        raise WrongCallError(f"{options.prometheus} is no address; write it as http://127.0.0.1:9090") from None
    source = f"What {prometheus.shown} knew of the last {last}."
    about = {"kind": "live", "badge": "Live data", "source": source, "note": _HELD.format(limit=options.choices)}
    with prometheus:
        return _drawn(options, compiled, prometheus, length, about)


def _simulated(options: Namespace, compiled: Compiled) -> str:
    """With what a Prometheus sees of a site that is simulated for it: the generated files, and nobody's data."""
    from tocsin.cli.simulated import NOTE, simulated

    length = _length(options.last or _WATCHED)
    with simulated(compiled, length) as (prometheus, source):
        note = f"{_HELD.format(limit=options.choices)} {NOTE}"
        about = {"kind": "simulated", "badge": "Simulated data", "source": source, "note": note}
        return _drawn(options, compiled, prometheus, length, about)


def _drawn(
    options: Namespace, compiled: Compiled, prometheus: Prometheus, length: Duration, about: dict[str, str]
) -> str:
    from tocsin.preview import Period
    from tocsin.preview import preview as drawn

    folders = {board.uid: board.folder for board in compiled.plan.dashboards}
    period = Period.before(time.time(), length)
    about = {"factory": compiled.plan.factory, **about}
    if compiled.plan.pages:
        about["note"] += " The dashboards that the spec brings are not drawn."
    with progress("asking Prometheus", os.environ):
        return drawn(compiled.artifacts, folders, prometheus, period, options.choices, about, elsewhere(compiled.plan))


def elsewhere(plan: Plan) -> dict[str, str]:
    """Recorded series that no server records that scrapes, and who does: where a tier's store is read."""
    here = {path for server in plan.servers if server.jobs for path in server.rule_files}
    records = [
        (rule.name, file.path)
        for file in plan.rules
        for group in file.groups
        for rule in group.rules
        if not hasattr(rule, "hold")
    ]
    near = {name for name, path in records if path in here}
    return {name: f"where the tier's store is read, by {path}" for name, path in records if name not in near}


def _length(text: str) -> Duration:
    from tocsin.units import NO_TIME, Duration

    try:
        length = Duration.parse(text)
    except ValueError:
        length = NO_TIME
    if length < Duration.of(seconds=1):
        raise WrongCallError(f"{text} is not a time of a second or more; write it as 6h")
    return length


def _write(path: Path, text: str) -> None:
    """The file whole or not at all: whoever has the last page open keeps it until the new one is there."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.tmp")
    try:
        beside.write_text(text, encoding="utf-8")
        beside.replace(path)
    finally:
        with suppress(OSError):
            beside.unlink()
