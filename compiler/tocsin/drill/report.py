"""What a drill has to say: a table for people, an object for programs."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from tocsin.drill.faults import Fault
    from tocsin.drill.judging import Verdict

_HEAD = ("fault", "alert", "told", "after", "times", "over", "")


class Report(NamedTuple):
    """The verdicts of a drill, the faults that are left out with the reason, and the seconds that it took.

    `strays` is what was told without a fault, as (alert, receiver).
    """

    factory: str
    cluster: str
    fast: int
    verdicts: tuple[Verdict, ...]
    left_out: tuple[tuple[str, str], ...]
    strays: tuple[tuple[str, str], ...]
    seconds: float

    @property
    def fine(self) -> bool:
        """Whether every fault was told as it should be."""
        return all(verdict.fine for verdict in self.verdicts)


def as_text(report: Report) -> str:
    """An aligned table, what is wrong, what is left out, and a line that sums it up."""
    lines = _table([_HEAD, *map(_cells, report.verdicts)])
    lines += [f"left out: {name}: {reason}" for name, reason in report.left_out]
    lines += [f"told without a fault: {alert} to {receiver}" for alert, receiver in report.strays]
    wrong = sum(not verdict.fine for verdict in report.verdicts)
    pace = f", {report.fast} times as fast as generated" if report.fast > 1 else ""
    count = len(report.verdicts)
    said = (
        f"{wrong} of {count} faults were not told as they should be"
        if wrong
        else f"{count} faults, all told as they should be"
    )
    lines.append(f"{report.factory}, {report.cluster}: {said} ({report.seconds:.0f} s{pace})")
    return "\n".join(line.rstrip() for line in lines) + "\n"


def as_list(faults: Sequence[Fault], left_out: Mapping[str, str]) -> str:
    """The faults, what happens, the alert that has to come, and why a spec cannot show one."""
    rows = [("fault", "what happens", "alert", "")]
    for fault in faults:
        reason = f"left out: {left_out[fault.name]}" if fault.name in left_out else ""
        rows.append((fault.name, fault.story, fault.alert or "none", reason))
    return "".join(f"{line.rstrip()}\n" for line in _table(rows, right=()))


def as_json(report: Report) -> str:
    """One object; times are in seconds."""
    said = {
        "version": 1,
        "factory": report.factory,
        "cluster": report.cluster,
        "fast": report.fast,
        "fine": report.fine,
        "seconds": round(report.seconds, 1),
        "faults": [_entry(verdict) for verdict in report.verdicts],
        "left_out": [{"fault": name, "reason": reason} for name, reason in report.left_out],
        "strays": [{"alert": alert, "receiver": receiver} for alert, receiver in report.strays],
    }
    return json.dumps(said, indent=2) + "\n"


def _cells(verdict: Verdict) -> tuple[str, ...]:
    told = ", ".join(receiver for receiver, _ in verdict.receivers) or "nobody"
    after = "" if verdict.seconds is None else f"{verdict.seconds:.1f} s"
    over = {None: "", True: "yes", False: "no"}[verdict.over]
    status = verdict.status if not verdict.fine else ("ok" if not verdict.note else verdict.status)
    note = f"{status}: {verdict.note}" if verdict.note else status
    return (verdict.fault, verdict.alert or "none", told, after, str(verdict.notifications), over, note)


def _table(rows: Sequence[Sequence[str]], right: Sequence[int] = (3, 4)) -> list[str]:
    """Columns as wide as their widest cell; those of numbers are aligned to the right."""
    widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
    return [
        "  ".join(
            cell.rjust(width) if index in right else cell.ljust(width)
            for index, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        for row in rows
    ]


def _entry(verdict: Verdict) -> dict[str, Any]:
    return {
        "fault": verdict.fault,
        "story": verdict.story,
        "alert": verdict.alert or None,
        "owner": verdict.owner or None,
        "severity": verdict.severity or None,
        "told": [{"receiver": receiver, "seconds": round(after, 1)} for receiver, after in verdict.receivers],
        "notifications": verdict.notifications,
        "resolved": verdict.over,
        "beside": [{"alert": alert, "receiver": receiver} for alert, receiver in verdict.beside],
        "status": verdict.status,
        "note": verdict.note,
    }
