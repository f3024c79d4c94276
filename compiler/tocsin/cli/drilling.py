"""The command `drill`: which faults, with which programs, and what is printed of it."""

from __future__ import annotations

import gc
import os
import signal
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tocsin.cli.terminal import say, status
from tocsin.cli.wrongcall import WrongCallError
from tocsin.diagnostics import near
from tocsin.drill import FAST, FAULTS, as_json, as_list, as_text, drill, possible
from tocsin.verify.run import find

if TYPE_CHECKING:
    from argparse import Namespace
    from collections.abc import Iterator, Sequence
    from types import FrameType

    from tocsin.drill import Fault
    from tocsin.pipeline import Compiled


def carry_out(options: Namespace, compiled: Compiled) -> int:
    """Hold the drill, or list what it would be; 1 where a fault was not told as it should be."""
    faults = _named(options.fault)
    clusters = compiled.factory.clusters
    if options.cluster and options.cluster not in clusters:
        raise WrongCallError(f"no cluster is called {options.cluster}; there are {', '.join(clusters)}")
    if options.list:
        say(sys.stdout, as_list(faults, possible(compiled, faults, options.cluster)))
        return 0
    gc.enable()  # this lives for minutes
    prometheus, alertmanager = (find(name, os.environ) for name in ("prometheus", "alertmanager"))
    with _ending_on_terminate(), status(os.environ) as tell:
        report = drill(
            compiled,
            prometheus.path,
            alertmanager.path,
            faults,
            cluster=options.cluster,
            fast=FAST if options.fast else 1,
            any_hour=options.any_hour,
            say=tell,
        )
    say(sys.stdout, (as_json if options.format == "json" else as_text)(report))
    return int(not report.fine)


def _named(names: Sequence[str]) -> Sequence[Fault]:
    """The faults of these names in the order of the table; all where none is named."""
    known = [fault.name for fault in FAULTS]
    for name in names:
        if name not in known:
            close = near(name, known)
            hint = f"did you mean {close}?" if close else f"there are {', '.join(known)}"
            raise WrongCallError(f"no fault is called {name}; {hint}")
    return [fault for fault in FAULTS if not names or fault.name in names]


@contextmanager
def _ending_on_terminate() -> Iterator[None]:
    """Whoever asks the process to end gets what Ctrl-C does: the servers end before it."""

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = signal.signal(signal.SIGTERM, interrupt)
    try:
        yield
    finally:
        signal.signal(signal.SIGTERM, before)
