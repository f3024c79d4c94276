"""A round of a drill on a stage of its own: wait for a past, let faults happen, wait for what comes of them, judge."""

from __future__ import annotations

import http.client
import time
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING, NamedTuple

from tocsin.drill.expectation import silenced
from tocsin.drill.judging import Happened, is_over, is_told, judge, strays
from tocsin.indicators import TimeSlice
from tocsin.naming import WATCHDOG
from tocsin.stage import Stage
from tocsin.toolerror import ToolError
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path
    from threading import Event

    from tocsin.drill.choice import Chosen
    from tocsin.drill.judging import Verdict
    from tocsin.pipeline import Compiled

_SCRAPES = 6  # of each board before anything happens: a code is news for as long as its board was seen without it
_SLACK = 30.0  # seconds beyond what the plan says that a busy machine may take
_LOOKS = 8  # intervals in which a fault is scraped, seen by rules that build on each other, and handed over
_SETTLE = 60.0  # seconds in which a second notification would have come, at most
_EVERY = 0.2


class Settings(NamedTuple):
    """How a drill runs: the programs, the cluster, hosts of each group, by which factor faster, at any hour or not.

    Once `stop` is set, every wait ends with InterruptedError.
    """

    prometheus: str | Path
    alertmanager: str | Path
    cluster: str
    nodes: int
    fast: int
    any_hour: bool
    stop: Event
    say: Callable[[str], None]


def stage_of(compiled: Compiled, settings: Settings) -> Stage:
    """The stage of a round, not yet started."""
    return Stage(
        compiled,
        settings.prometheus,
        settings.alertmanager,
        cluster=settings.cluster,
        nodes=settings.nodes,
        replicas=2,
        fast=settings.fast,
        any_hour=settings.any_hour,
    )


class Played(NamedTuple):
    """The verdicts of a round in its order, and what was told without a fault."""

    verdicts: tuple[Verdict, ...]
    strays: tuple[tuple[str, str], ...]


class TooSlowError(Exception):
    """Scrapes failed for no fault of the site, and with them what was to be told; `args` are the targets."""


def play(compiled: Compiled, round_: Sequence[Chosen], settings: Settings) -> Played:
    """What a round came to; TooSlowError where that says nothing."""
    needs_hosts = any(not chosen.place.server for chosen in round_)
    stage = stage_of(compiled, settings if needs_hosts else settings._replace(nodes=1))
    for chosen in round_:
        if chosen.fault.old:
            chosen.fault.begin(stage, chosen.place)
    with stage:
        one = _Round(compiled, stage, settings)
        settings.say("waiting for a past")
        known = one.warm()
        happened = [one.begin(chosen, known) for chosen in round_]
        settings.say(f"{len(happened)} faults happen")
        one.wait_for_all(happened)
        happened = [one.end(fault) for fault in happened]
        settings.say("waiting for the end to be told")
        one.wait_for_ends(happened)
        messages = stage.inbox.messages()
        verdicts = tuple(judge(compiled.factory, fault, messages) for fault in happened)
        missed = [] if all(verdict.fine for verdict in verdicts) else stage.missed()
        if missed:
            raise TooSlowError(missed)
        return Played(verdicts, strays(happened, messages))


class _Round:
    def __init__(self, compiled: Compiled, stage: Stage, settings: Settings) -> None:
        self._compiled, self._stage, self._settings = compiled, stage, settings
        jobs = [job.interval for server in stage.scene.servers for job in server.jobs if job.interval]
        slowest = max(jobs, default=compiled.factory.interval)
        usual = Duration(
            min(slowest, compiled.factory.interval * 4)
        )  # what is scraped once a minute tells of none of the faults
        self._interval = float(usual.seconds) / stage.fast
        root = compiled.plan.notifications.root
        self._again = float(root.interval.seconds if root.interval else 300) / stage.fast

    def warm(self) -> frozenset[str]:
        """Wait until every target was scraped some times; the alerts that there are already."""
        seconds = _SCRAPES * self._interval + 2 * _SLACK
        if not self._until(self._is_warm, seconds):
            down = sorted(labels["instance"] for labels, _ in self._stage.query("up == 0"))
            what = f"scrapes of {', '.join(down[:5])} fail" if down else "not all targets were scraped"
            raise ToolError(f"the stage does not come to rest, perhaps as this machine is too slow: {what}")
        return frozenset(labels["alertname"] for labels, _ in self._stage.query("ALERTS")) - {WATCHDOG}

    def begin(self, chosen: Chosen, known: frozenset[str]) -> Happened:
        """Let a fault happen, or let one that is old already be."""
        held, compiled = "", self._compiled
        if chosen.expected and not self._settings.any_hour:
            labels = {"alertname": chosen.fault.alert, **chosen.expected.labels}
            held = silenced(compiled.plan, labels, datetime.now(UTC))
        began = time.monotonic()
        if not chosen.fault.old:
            chosen.fault.begin(self._stage, chosen.place)
        return Happened(chosen, began, held=held, texts=self._texts(chosen), known=known - {chosen.fault.alert})

    def wait_for_all(self, happened: Sequence[Happened]) -> None:
        """Until everybody was told or the time for it is over, and then until a second notification would be there."""
        for fault in happened:
            if fault.chosen.expected and not fault.held:
                end = fault.began + self._patience(fault.chosen)
                self._until(partial(self._is_told, fault), end - time.monotonic())
        quiet = min(self._again + 3 * self._interval, _SETTLE)
        silent = [fault.began for fault in happened if not fault.chosen.expected]  # must stay so for as long as others
        least = max(silent) + self._patience(None) - time.monotonic() if silent else 0.0
        self._pause(max(quiet, least))

    def _is_told(self, happened: Happened) -> bool:
        return is_told(self._compiled.factory, happened, self._stage.inbox.messages())

    def end(self, happened: Happened) -> Happened:
        """Let a fault be over, where its alert would be over with it."""
        fault = happened.chosen.fault
        if fault.end is None or fault.lasts or happened.held:
            return happened
        ended = time.monotonic()
        fault.end(self._stage, happened.chosen.place)
        return happened._replace(ended=ended)

    def wait_for_ends(self, happened: Sequence[Happened]) -> None:
        """Until all ends were told, or should have been."""
        waiting = [fault for fault in happened if fault.ended is not None]
        if waiting:
            seconds = self._again + _LOOKS * self._interval + _SLACK
            self._until(lambda: all(is_over(one, self._stage.inbox.messages()) for one in waiting), seconds)

    def _patience(self, chosen: Chosen | None) -> float:
        """The seconds after which a fault must have been told."""
        expected = chosen.expected if chosen else None
        waits = (expected.hold + expected.wait) / self._stage.fast if expected else 0.0
        look = (chosen.fault.look if chosen else 0) / self._stage.fast
        return waits + look + self._slices(chosen) + _LOOKS * self._interval + _SLACK

    def _slices(self, chosen: Chosen | None) -> float:
        """The seconds until an objective of time may be judged: its grace, and a third of its shortest window."""
        slo = self._compiled.factory.slos.get(chosen.place.slo) if chosen else None
        if slo is None or not isinstance(slo.indicator, TimeSlice):
            return 0.0
        shortest = min(float(pair.long.seconds) for pair in slo.pairs)
        evaluations = (float(slo.indicator.grace.seconds) + shortest / 3) / float(slo.indicator.slices.every.seconds)
        return evaluations * float(self._compiled.factory.interval.seconds) / self._stage.fast

    def _texts(self, chosen: Chosen) -> tuple[str, ...]:
        place, site = chosen.place, self._stage.site
        jobs = [value for label, value in place.marks if label == "job_id"]
        known = {
            "node": place.host,
            "gpu": site.nodes[place.host].boards[place.gpu].uuid if place.host else "",
            "job": jobs[0] if jobs else "",
            "slo": place.slo,
        }
        return tuple(known[what] for what in chosen.fault.says)

    def _is_warm(self) -> bool:
        """Whether every server has found its Alertmanagers, and all of the site is seen, its boards for a while."""
        stage = self._stage
        seen: set[tuple[str, str]] = set()
        for address in stage.servers.values():
            up = stage.query("up", address)
            past = stage.query('min(count_over_time(up{job="dcgm"}[5m]))', address)
            told = stage.ask("alertmanagers", address)["activeAlertmanagers"]
            is_well = up and all(value for _, value in up) and all(count >= _SCRAPES for _, count in past)
            if not is_well or len(told) < len(stage.alertmanagers):
                return False
            seen |= {(labels["job"], labels.get("node", "")) for labels, _ in up}
        return stage.site.places() <= seen

    def _until(self, look: Callable[[], bool], seconds: float) -> bool:
        end = time.monotonic() + seconds
        while True:
            try:
                if look():
                    return True
            except (OSError, http.client.HTTPException):  # a server of the stage that is busy, or was killed
                pass
            if time.monotonic() > end:
                return False
            self._pause(_EVERY)

    def _pause(self, seconds: float) -> None:
        if self._settings.stop.wait(max(seconds, 0.0)):
            raise InterruptedError
