"""The verdict: whether a fault was told to those it concerns, once, with what they need, and to nobody else.

Nothing here waits or asks anybody: messages go in, verdicts come out.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from tocsin.drill.expectation import wanted

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from tocsin.drill.choice import Chosen
    from tocsin.factory import Factory
    from tocsin.fleet.inbox import Message

HEARTBEAT = "heartbeat"
TOLD, QUIET, HELD = "told", "quiet", "held back"
NOBODY, WRONG, TWICE, VAGUE = "told to nobody", "told to the wrong ones", "told again", "told without its place"
FINE = (TOLD, QUIET, HELD)


class Happened(NamedTuple):
    """A fault that was let happen: when, and when it was over, by the clock of the inbox; `held` is who waits for what.

    `texts` are what a notification has to name: the node, the board, the job. `known` are the names of alerts that were
    there before anything happened.
    """

    chosen: Chosen
    began: float
    ended: float | None = None
    held: str = ""
    texts: tuple[str, ...] = ()
    known: frozenset[str] = frozenset()


class Verdict(NamedTuple):
    """What became of a fault: `receivers` with the seconds after which each was told, and how often that was.

    `beside` are notifications of it that nobody asked for, as (alert, receiver). `over` is whether its end was told,
    None where nobody waited for that.
    """

    fault: str
    story: str
    alert: str
    owner: str
    severity: str
    receivers: tuple[tuple[str, float], ...]
    notifications: int
    over: bool | None
    beside: tuple[tuple[str, str], ...]
    status: str
    note: str = ""

    @property
    def fine(self) -> bool:
        """Whether all was as it should be."""
        return self.status in FINE

    @property
    def seconds(self) -> float | None:
        """When the last of those whom it concerns was told; None where nobody was."""
        return max((after for _, after in self.receivers), default=None)


def judge(factory: Factory, happened: Happened, messages: Sequence[Message]) -> Verdict:
    """The verdict on a fault by everything that the inbox holds."""
    fault, expected = happened.chosen.fault, happened.chosen.expected
    about = [one for one in messages if is_about(happened, one)]
    mine = [one for one in about if one.labels["alertname"] == fault.alert]
    firing = [one for one in mine if one.status == "firing"]
    right = {receiver for one in firing for receiver in wanted(factory, one.labels)}
    first = {one.to: one.came - happened.began for one in reversed(firing) if one.to in right}
    beside = _beside(fault.alert, fault.also, right, about)
    said = Verdict(
        fault=fault.name,
        story=fault.story,
        alert=fault.alert,
        owner=expected.labels["owner"] if expected else "",
        severity=expected.labels["severity"] if expected else "",
        receivers=tuple(sorted(first.items())),
        notifications=len({one.number for one in firing if one.to in right}),
        over=_over(happened, mine),
        beside=beside,
        status="",
    )
    status, note = _judged(happened, said, right, firing, about)
    return said._replace(status=status, note=note)


def strays(happened: Sequence[Happened], messages: Iterable[Message]) -> tuple[tuple[str, str], ...]:
    """What was told since the faults of a round began, and is about none of them, as (alert, receiver)."""
    known = {name for one in happened for name in one.known}
    began = min((one.began for one in happened), default=0.0)
    found = {
        (one.labels["alertname"], one.to)
        for one in messages
        if one.came >= began
        and one.to != HEARTBEAT
        and one.labels["alertname"] not in known
        and not any(is_about(fault, one) for fault in happened)
    }
    return tuple(sorted(found))


def is_about(happened: Happened, message: Message) -> bool:
    """Whether a message came after a fault began, and from its place."""
    if message.came < happened.began or message.to == HEARTBEAT or message.labels["alertname"] in happened.known:
        return False
    return any(_names(message.labels.get(label, ""), value) for label, value in happened.chosen.place.marks)


def _names(label: str, value: str) -> bool:
    """Whether a label has a value; the id of a job may have its namespace before it."""
    return value in (label, label.rpartition("/")[2])


def is_told(factory: Factory, happened: Happened, messages: Iterable[Message]) -> bool:
    """Whether everybody whom a fault concerns has been told by now."""
    firing = [
        one
        for one in messages
        if one.status == "firing" and one.labels["alertname"] == happened.chosen.fault.alert and is_about(happened, one)
    ]
    right = {receiver for one in firing for receiver in wanted(factory, one.labels)}
    return bool(firing) and right <= {one.to for one in firing}


def is_over(happened: Happened, messages: Iterable[Message]) -> bool:
    """Whether the end of a fault was told."""
    return bool(_over(happened, [one for one in messages if one.labels["alertname"] == happened.chosen.fault.alert]))


def _over(happened: Happened, mine: Iterable[Message]) -> bool | None:
    if happened.ended is None:
        return None
    return any(one.status == "resolved" and one.came >= happened.ended and is_about(happened, one) for one in mine)


def _beside(alert: str, also: Sequence[str], right: set[str], about: Iterable[Message]) -> tuple[tuple[str, str], ...]:
    """Who was told of the fault without being meant: by another alert, or of the right one in the wrong place.

    What a page has become after a while is told to another owner on purpose.
    """
    found = {
        (one.labels["alertname"], one.to)
        for one in about
        if one.status == "firing"
        and not one.to.endswith("-escalation")
        and one.labels["alertname"] not in also
        and (one.labels["alertname"] != alert or one.to not in right)
    }
    return tuple(sorted(found))


def _judged(
    happened: Happened, said: Verdict, right: set[str], firing: Sequence[Message], about: Sequence[Message]
) -> tuple[str, str]:
    """The status and a note."""
    told = {receiver for receiver, _ in said.receivers}
    if said.beside:
        return WRONG, "also told: " + ", ".join(f"{alert} to {receiver}" for alert, receiver in said.beside)
    if not happened.chosen.expected:
        return QUIET, ""
    if happened.held:
        return HELD, f"waits for {happened.held}"
    if not firing or right - told:
        return NOBODY, "not told: " + (", ".join(sorted(right - told)) or said.owner)
    again = _repeated(about)
    lacking = [text for text in happened.texts if not any(text in _text(one) for one in firing)]
    if again:
        return TWICE, f"nothing new was told to {', '.join(again)}"
    return (VAGUE, f"the text does not name {', '.join(lacking)}") if lacking else (TOLD, "")


def _repeated(about: Iterable[Message]) -> list[str]:
    """Who got a notification without anything in it that was not told before."""
    posts: dict[tuple[str, int], set[tuple[str, frozenset[tuple[str, str]]]]] = {}
    for one in about:
        posts.setdefault((one.to, one.number), set()).add((one.status, frozenset(one.labels.items())))
    known: dict[str, set[tuple[str, frozenset[tuple[str, str]]]]] = {}
    again = set()
    for (receiver, _), alerts in posts.items():
        before = known.setdefault(receiver, set())
        if alerts <= before:
            again.add(receiver)
        before |= alerts
    return sorted(again)


def _text(message: Message) -> str:
    return f"{message.annotations.get('summary', '')} {message.annotations.get('description', '')}"
