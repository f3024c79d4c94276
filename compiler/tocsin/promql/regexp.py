"""The regular expressions of matchers: the syntax of RE2, as Go's regexp package reads it."""

from __future__ import annotations

import re

from tocsin.promql.errors import Taken, since

_LONGEST_REPEAT = 1000

_ESCAPE = r"""\\(?:[aftnrv] | x[0-9A-Fa-f]{2} | x\{0*[0-9A-Fa-f]{1,5}\} | x\{0*10[0-9A-Fa-f]{4}\} | 0[0-7]{0,2}
    | [1-7][0-7]{1,2} | [\x00-/:-@\[-`{-\x7f])"""
_SET = r"\\[dDsSwW] | \\[pP](?:\{\^?[A-Za-z_]+\} | [CLMNPSZ])"
_COUNT = "(?:0|[1-9][0-9]*)"
_PART = re.compile(
    rf"""
      (?P<quoted>\\Q.*?\\E)
    | (?P<flags>\(\?[imsU]*(?:-[imsU]+)?\))
    | (?P<open>\((?:\?P<[A-Za-z0-9_]+>|\?[imsU]*(?:-[imsU]+)?:|(?!\?)))
    | (?P<close>\))
    | (?P<or>\|)
    | (?P<repeat>[*+?]\??|\{{{_COUNT}(?:,{_COUNT}?)?\}}\??)
    | (?P<class>\[\^?)
    | (?P<empty>[$^]|\\[AzB])
    | (?P<border>\\b)
    | (?P<one>{_SET} | {_ESCAPE} | [^\\(\[])
    """,
    re.VERBOSE | re.DOTALL,
)
_BROKEN = re.compile(r"[\ud800-\udfff]")
_LITERALS = re.compile(r"[^\\()\[\]{}*+?|^$.]+")
_UNFINISHED = {"x": r"\x41", "p": r"\p{Greek}", "P": r"\P{Greek}"}
_LOOK = r"\(\?<?[=!]"
_NAMED = r"\(\?<(\w+)>"
_CLASS_NAMES = frozenset("alnum alpha ascii blank cntrl digit graph lower print punct space upper word xdigit".split())
# Compiled when a character class is first met.
_CLASS_SET = f"(?x){_SET}"
_CLASS_CHAR = rf"(?sx){_ESCAPE} | [^\\]"
_CONTROL = {"a": 7, "t": 9, "n": 10, "v": 11, "f": 12, "r": 13}


class RegexpError(ValueError):
    """What is wrong in the characters [start, end) of a pattern, for other releases than those that have `taken` it."""

    def __init__(self, message: str, start: int, end: int, hint: str = "", taken: Taken = None) -> None:
        super().__init__(message)
        self.message, self.start, self.end, self.hint, self.taken = message, start, end, hint, taken


class _Group:
    """What is known of an open group: whether its branches, the current branch and the last part match nothing."""

    earlier = False
    branch = True
    part: bool | None = None  # None where there is nothing that a repetition could repeat
    repeated = False
    weight = 1  # how often the nested counted repetitions of the last part multiply
    heaviest = 1

    def __init__(self, start: int) -> None:
        self.start = start

    def add(self, matches_empty: bool, weight: int = 1) -> None:
        """Put another part behind the last one."""
        self.branch = self.branch and self.part is not False
        self.part, self.weight, self.repeated = matches_empty, weight, False
        self.heaviest = max(self.heaviest, weight)

    def add_literals(self, count: int) -> None:
        """Put characters behind the last part, of which a repetition would repeat the last."""
        for _ in range(min(count, 2)):
            self.add(False)

    def next_branch(self) -> None:
        """Go on behind a `|` or at the end."""
        self.earlier = self.earlier or (self.branch and self.part is not False)
        self.branch, self.part, self.repeated = True, None, False


def matches_empty(pattern: str) -> bool:
    r"""Whether the pattern matches the empty string; raises RegexpError if it is no RE2 pattern.

    Everything in the grammar is checked but these, which are left to promtool: whether a class such as `\p{Greek}`
    exists, and Go's limits on the size of the compiled program and on nesting (1000 levels). `(?<name>…)` is refused,
    since Prometheus 2.42 does not know it.
    """
    if broken := _BROKEN.search(pattern):
        raise RegexpError("bytes that are not UTF-8 cannot be matched", *broken.span())
    groups = [_Group(0)]
    at = 0
    while at < len(pattern):
        if run := _LITERALS.match(pattern, at):
            groups[-1].add_literals(run.end() - at)
            at = run.end()
        elif found := _PART.match(pattern, at):
            at = _read(pattern, found, groups)
        else:
            raise _no_part(pattern, at)
    if len(groups) > 1:
        start = groups[-1].start
        raise RegexpError("`(` is never closed", start, start + 1, "close it, or write `[(]`")
    groups[0].next_branch()
    return groups[0].earlier


def _read(pattern: str, found: re.Match[str], groups: list[_Group]) -> int:
    """Take one part of the pattern into account and return its end, which for a class lies behind the match."""
    kind, part, group = found.lastgroup, found[0], groups[-1]
    if kind == "open":
        groups.append(_Group(found.start()))
    elif kind == "close":
        if len(groups) == 1:
            raise RegexpError("`)` closes nothing", *found.span(), "open it with `(`, or write `[)]`")
        group.next_branch()
        groups.pop()
        groups[-1].add(group.earlier, group.heaviest)
    elif kind == "or":
        group.next_branch()
    elif kind == "repeat":
        _repeat(group, part, found.start())
    elif kind == "class":
        group.add(False)
        return _class_end(pattern, found.start())
    elif kind == "quoted":
        group.add_literals(len(part) - len(r"\Q\E"))
    elif kind == "flags":
        group.repeated = False
    else:
        group.add(kind == "empty")
    return found.end()


def _repeat(group: _Group, part: str, at: int) -> None:
    """Repeat the last part of the group as `*`, `+`, `?` or `{low,high}` say."""
    end = at + len(part)
    if group.part is None:
        hint = "for any text write `.*`" if part == "*" else f"to mean the character itself write `[{part[0]}]`"
        raise RegexpError(f"`{part}` has nothing to repeat", at, end, hint)
    if group.repeated:
        raise RegexpError(f"`{part}` repeats a repetition", at, end, "put what it repeats into `(?:…)`")
    group.repeated = True
    if part[0] != "{":
        group.part = group.part or part[0] != "+"
        return
    low, _, high = part.rstrip("?").strip("{}").partition(",")
    if "," not in part:
        high = low
    if len(low) > 4 or len(high) > 4 or int(high or low) > _LONGEST_REPEAT:
        raise RegexpError(f"`{part}` repeats more than {_LONGEST_REPEAT} times", at, end)
    if int(high or low) < int(low):
        raise RegexpError(f"`{part}` ends before it begins", at, end, "write the smaller number first")
    group.weight *= max(int(high or low), 1)
    if group.weight > _LONGEST_REPEAT:
        message = f"`{part}` and the repetitions inside it repeat more than {_LONGEST_REPEAT} times together"
        raise RegexpError(message, at, end)
    group.heaviest = max(group.heaviest, group.weight)
    group.part = group.part or int(low) == 0


def _class_end(pattern: str, start: int) -> int:
    """The end of the character class that begins at `start`."""
    at = first = start + (2 if pattern.startswith("[^", start) else 1)
    while at == first or pattern[at : at + 1] != "]":
        if at >= len(pattern):
            raise RegexpError("`[` is never closed", start, start + 1, "close it, or write `[[]`")
        if pattern.startswith("[:", at) and (name_end := pattern.find(":]", at + 2)) >= 0:
            if pattern[at + 2 : name_end].removeprefix("^") not in _CLASS_NAMES:
                hint = f"there are {', '.join(sorted(_CLASS_NAMES))}"
                raise RegexpError(f"there is no class `{pattern[at : name_end + 2]}`", at, name_end + 2, hint)
            at = name_end + 2
        elif found := re.compile(_CLASS_SET).match(pattern, at):
            at = found.end()
        else:
            at = _class_range_end(pattern, at)
    return at + 1


def _class_range_end(pattern: str, start: int) -> int:
    low, at = _class_char(pattern, start)
    if pattern[at : at + 1] != "-" or pattern[at + 1 : at + 2] in ("", "]"):
        return at
    high, end = _class_char(pattern, at + 1)
    if high < low:
        raise RegexpError(f"the range `{pattern[start:end]}` ends before it begins", start, end)
    return end


def _class_char(pattern: str, at: int) -> tuple[int, int]:
    """The code point of one character of a class, and its end."""
    found = re.compile(_CLASS_CHAR).match(pattern, at)
    if found is None:
        raise _no_part(pattern, at)
    char, escape = found[0], found[0][1:]
    if not escape:
        return ord(char), found.end()
    if escape[0] == "x":
        return int(escape[1:].strip("{}"), 16), found.end()
    if escape[0].isdigit():
        return int(escape, 8), found.end()
    return _CONTROL.get(escape, ord(escape)), found.end()


def _no_part(pattern: str, at: int) -> RegexpError:
    """Why nothing of a pattern begins at `at`, which is a backslash or a parenthesis."""
    part = pattern[at : at + 2]
    if part[0] == "(":
        return _no_group(pattern, at)
    hint = "only signs and some letters can follow a backslash"
    message = f"`{part}` is not an escape in RE2"
    if part == "\\":
        message, hint = "nothing follows the last backslash", "write two for the character itself"
    elif part == r"\Q":
        message, hint = r"`\Q` is never closed", r"close it with `\E`"
    elif part[1] in "123456789":
        message, hint = f"`{part}` refers back to a group, which RE2 cannot do", ""
    elif part[1] in _UNFINISHED:
        message, hint = f"`{part}` is not complete", f"write it like `{_UNFINISHED[part[1]]}`"
    elif part == r"\Z":
        hint = r"write `\z`"
    return RegexpError(message, at, at + len(part), hint)


def _no_group(pattern: str, at: int) -> RegexpError:
    if re.match(_LOOK, pattern[at:]):
        hint = "write a second matcher with `!~` or `=~` for the same label"
        return RegexpError("RE2 cannot look ahead or behind", at, at + 3, hint)
    if named := re.match(_NAMED, pattern[at:]):
        hint = f"write `(?P<{named[1]}>`"
        return RegexpError("Prometheus 2.42 does not know `(?<`", at, at + named.end(), hint, since(2, 51))
    return RegexpError("`(?` begins nothing that RE2 knows", at, at + 2, "for a plain group write `(?:…)`")
