"""For which values of their variables dashboards are in the page, and what they show then.

A page without a network cannot ask for more, and all combinations would be too many: of 64 nodes of eight boards there
are thousands. So a dashboard is in the page first for all of everything, then for whatever a link of the page leads to,
then for one value of one variable at a time, up to a limit. That way every link of the page that can be followed at
all can be followed there, the links of what fires before those of what does not: they stand first on their dashboards.
"""

from __future__ import annotations

import json
import re
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from tocsin.preview.marks import beginnings
from tocsin.preview.parts import part
from tocsin.preview.prometheus import RefusedError
from tocsin.preview.variables import interpolated, matcher

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.preview.boards import Board
    from tocsin.preview.prometheus import Prometheus, Series
    from tocsin.preview.times import Period

    Choice = tuple[str | None, ...]  # a value for each variable of the dashboard, None for all of them
    Answer = tuple[list[Series], str]  # series, or why there are none

_AT_ONCE = 4  # queries
_WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")


@dataclass(slots=True)
class Gathered:
    """All that the page holds.

    `parts` are what panels show, each once; a choice has the number of one a panel, and of what its graphs are marked
    with. By the uid of a dashboard: the `values` that each variable has, and its `choices`.
    """

    boards: Sequence[Board]
    parts: list[str] = field(default_factory=list)
    values: dict[str, list[list[str]]] = field(default_factory=dict)
    choices: dict[str, dict[Choice, list[int]]] = field(default_factory=dict)


def gathered(
    boards: Sequence[Board],
    prometheus: Prometheus,
    period: Period,
    limit: int,
    elsewhere: Mapping[str, str] = MappingProxyType({}),
) -> Gathered:
    """Ask for all that the page holds; `elsewhere` is as of `preview`. ToolError where Prometheus cannot be asked."""
    found = Gathered(boards)
    with ThreadPoolExecutor(_AT_ONCE) as pool:
        asker = _Asker(prometheus, period, pool, elsewhere)
        by_uid = {board.uid: board for board in boards}
        for board in boards:
            found.values[board.uid] = [asker.values(board, index) for index in range(len(board.variables))]
            found.choices[board.uid] = {}
        numbers: dict[str, int] = {}
        waiting: deque[tuple[Board, Choice]] = deque((board, (None,) * len(board.variables)) for board in boards)
        singles = deque((board, choice) for board in boards for choice in _single(found.values[board.uid]))
        while waiting or singles:
            board, choice = waiting.popleft() if waiting else singles.popleft()
            there = found.choices[board.uid]
            if choice in there or len(there) >= limit:
                continue
            shown = asker.shown(board, choice)
            there[choice] = [_number(numbers, found.parts, one) for one in shown]
            waiting.extend(_led_to(shown, by_uid))
    return found


def _single(values: Sequence[Sequence[str]]) -> Iterator[Choice]:
    """One value of one variable, all of the others."""
    for index, known in enumerate(values):
        for value in known:
            yield tuple(value if at == index else None for at in range(len(values)))


def _led_to(shown: Iterable[dict[str, Any]], boards: dict[str, Board]) -> Iterator[tuple[Board, Choice]]:
    """What the links of some panels lead to, in the order in which they stand there."""
    for one in shown:
        for row in one.get("rows", ()):
            for link in row.get("links", ()):
                if board := boards.get(link.uid):
                    values = dict(link.values)
                    yield board, tuple(values.get(variable.name) for variable in board.variables)


def _number(numbers: dict[str, int], parts: list[str], shown: dict[str, Any]) -> int:
    """The number of a part; panels that show the same share it."""
    text = json.dumps(shown, ensure_ascii=False, separators=(",", ":"))
    if text not in numbers:
        numbers[text] = len(parts)
        parts.append(text)
    return numbers[text]


class _Asker:
    """Asks Prometheus what panels show, nothing twice."""

    def __init__(
        self, prometheus: Prometheus, period: Period, pool: ThreadPoolExecutor, elsewhere: Mapping[str, str]
    ) -> None:
        self._elsewhere = elsewhere
        self._prometheus = prometheus
        self._period = period
        self._pool = pool
        self._answers: dict[tuple[str, bool], Answer] = {}

    def values(self, board: Board, index: int) -> list[str]:
        """The values of a variable, whatever those before it are."""
        variable = board.variables[index]
        selector = interpolated(variable.selector, {one.name: one.every for one in board.variables})
        try:
            return self._prometheus.values(variable.label, selector, self._period)
        except RefusedError:
            return []  # its dashboards say what is wrong with it, panel by panel

    def shown(self, board: Board, choice: Choice) -> list[dict[str, Any]]:
        """What each panel of a dashboard shows; at the end what is marked on all of its graphs."""
        pairs = zip(board.variables, choice, strict=True)
        values = {one.name: one.every if value is None else matcher(value) for one, value in pairs}
        wanted = [
            [(interpolated(target["expr"], values), target["instant"]) for target in panel.get("targets", ())]
            for panel in board.panels
        ]
        marked = (interpolated(board.marks[0], values), False) if board.marks[0] else None
        asked = [*wanted, [marked] if marked else []]
        new = [*dict.fromkeys(query for queries in asked for query in queries if query not in self._answers)]
        self._answers |= zip(new, self._pool.map(self._ask, new), strict=True)
        shown = [
            self._part(panel, [self._answers[query] for query in queries])
            for panel, queries in zip(board.panels, wanted, strict=True)
        ]
        series = self._answers[marked][0] if marked else []
        return [*shown, {"marks": beginnings(series, board.marks[1], self._period)}]

    def _ask(self, query: tuple[str, bool]) -> Answer:
        expr, instant = query
        try:
            if instant:
                return self._prometheus.instant(expr, self._period.end), ""
            return self._prometheus.range(expr, self._period), ""
        except RefusedError as refusal:
            return [], str(refusal)

    def _part(self, panel: dict[str, Any], answers: list[Answer]) -> dict[str, Any]:
        for _, refusal in answers:
            if refusal:
                return {"error": f"Prometheus refuses the query: {refusal}"}
        made = part(panel, [series for series, _ in answers], self._period)
        return made if made.get("rows") or "error" in made else {**made, **self._why(panel)}

    def _why(self, panel: dict[str, Any]) -> dict[str, str]:
        """Why a panel has no data, where a series that it asks for is recorded by somebody else."""
        words = {word for target in panel.get("targets", ()) for word in _WORD.findall(target["expr"])}
        found = [f"{name} is recorded {who}." for name, who in self._elsewhere.items() if name in words]
        return {"why": "No data here: " + " ".join(found)} if found else {}
