"""A drill: faults happen on a stage, and what its owners are told is held against what the spec says.

The table of faults, where each can happen, the round that lets it happen, the verdict, the report: a module each.
"""

from __future__ import annotations

import threading
import time
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from tocsin.drill.choice import choose
from tocsin.drill.faults import FAULTS, Fault
from tocsin.drill.report import Report, as_json, as_list, as_text
from tocsin.drill.rounds import Played, Settings, TooSlowError, play, stage_of
from tocsin.toolerror import ToolError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from tocsin.drill.choice import Choice, Chosen
    from tocsin.pipeline import Compiled

__all__ = ["FAST", "FAULTS", "Fault", "Report", "as_json", "as_list", "as_text", "drill", "possible"]

FAST = 5  # makes 3 seconds of 15, the usual interval, which two busy processors can serve
_ATTEMPTS = 3  # at a round that a busy machine has spoiled
_AT_ONCE = 3  # rounds, each with servers of its own


def drill(
    compiled: Compiled,
    prometheus: str | Path,
    alertmanager: str | Path,
    faults: Sequence[Fault] = FAULTS,
    *,
    cluster: str = "",
    fast: int = 1,
    any_hour: bool = False,
    say: Callable[[str], None] = lambda _: None,
) -> Report:
    """Let faults happen and report who was told of them; ToolError where a server does not run.

    `say` hears what is going on. KeyError where no cluster is called so.
    """
    settings = Settings(
        prometheus=prometheus,
        alertmanager=alertmanager,
        cluster=cluster or next(iter(compiled.factory.clusters)),
        nodes=len(faults),
        fast=fast,
        any_hour=any_hour,
        stop=threading.Event(),
        say=say,
    )
    began = time.monotonic()
    choice = choose(compiled, stage_of(compiled, settings), faults)
    rounds = _played(compiled, choice, settings)
    verdicts = {verdict.fault: verdict for round_ in rounds for verdict in round_.verdicts}
    return Report(
        compiled.factory.name,
        settings.cluster,
        fast,
        tuple(verdicts[fault.name] for fault in faults if fault.name in verdicts),
        choice.left_out,
        tuple(sorted({stray for round_ in rounds for stray in round_.strays})),
        time.monotonic() - began,
    )


def possible(compiled: Compiled, faults: Sequence[Fault] = FAULTS, cluster: str = "") -> dict[str, str]:
    """The faults that a spec cannot show, by name, with the reason."""
    settings = Settings("", "", cluster, len(faults), 1, False, threading.Event(), lambda _: None)
    return dict(choose(compiled, stage_of(compiled, settings), faults).left_out)


def _played(compiled: Compiled, choice: Choice, settings: Settings) -> list[Played]:
    """All rounds, some at a time; whatever ends one ends all."""

    def one(round_: Sequence[Chosen]) -> Played:
        for attempt in range(_ATTEMPTS):
            try:
                return play(compiled, round_, settings)
            except TooSlowError as error:
                if attempt == _ATTEMPTS - 1:
                    raise ToolError(
                        f"this machine is too slow for {settings.fast} times the pace: scrapes of "
                        f"{', '.join(error.args[0][:5])} failed; let fewer faults happen at a time, or hold the drill "
                        "without --fast"
                    ) from None
        raise AssertionError("the last attempt returns or raises")

    with ThreadPoolExecutor(max_workers=_AT_ONCE) as pool:
        running = [pool.submit(one, round_) for round_ in choice.rounds]
        try:
            return [future.result() for future in running]
        except BaseException:  # Ctrl-C as well
            settings.stop.set()
            pool.shutdown(wait=True, cancel_futures=True)
            raise
