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
    from tocsin.units import Duration

_HELD = (
    "Each dashboard is here for all values of its variables, for those that a link of this page leads to, and for "
    "single ones, up to {limit} choices a dashboard; what can be chosen can be seen. Values of now are those at the "
    "end of the time."
)


def preview(options: Namespace, compiled: Compiled) -> None:
    """Draw the dashboards of a compiled spec. ToolError where Prometheus cannot be asked."""
    text = _live(options, compiled)
    if options.output == "-":
        say(sys.stdout, text)
        return
    _write(Path(options.output), text)
    count = len(compiled.plan.dashboards)
    say(sys.stderr, f"{options.output}: {count} dashboards, {len(text.encode()) / 1e6:.1f} MB\n")


def _live(options: Namespace, compiled: Compiled) -> str:
    from tocsin.preview import Period, Prometheus
    from tocsin.preview import preview as drawn

    try:
        prometheus = Prometheus(options.prometheus)
    except ValueError:
        raise WrongCallError(f"{options.prometheus} is no address; write it as http://127.0.0.1:9090") from None
    period = Period.before(time.time(), _length(options.last))
    about = {
        "factory": compiled.plan.factory,
        "kind": "live",
        "badge": "Live data",
        "source": f"What {prometheus.shown} knew of the last {options.last}.",
        "note": _HELD.format(limit=options.choices),
    }
    folders = {board.uid: board.folder for board in compiled.plan.dashboards}
    with progress("asking Prometheus", os.environ):
        return drawn(compiled.artifacts, folders, prometheus, period, options.choices, about)


def _length(text: str) -> Duration:
    from tocsin.units import Duration

    try:
        length = Duration.parse(text)
    except ValueError:
        length = Duration(0)
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
