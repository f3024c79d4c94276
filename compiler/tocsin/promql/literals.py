"""Strings, numbers and durations: from how PromQL writes them to their values, and back."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.promql.errors import PromqlError, since

if TYPE_CHECKING:
    from collections.abc import Iterator

_LARGEST = 2**63 - 1  # Prometheus holds whole numbers and nanoseconds in 64 bits with a sign

_ESCAPES = {"\a": "a", "\b": "b", "\f": "f", "\n": "n", "\r": "r", "\t": "t", "\v": "v", "\\": "\\", '"': '"'}
_UNESCAPES = {letter: char for char, letter in _ESCAPES.items()}
_BYTES = range(0xDC80, 0xDD00)  # how Python holds a byte that is no UTF-8: as a lone surrogate
_UNREADABLE = re.compile(r"[\ud800-\udfff\ufffd]")
# Compiled when an escape is first met: it takes longer than all other expressions of the package together.
_PIECE = r"""(?sx)[^\\]
    | \\(?P<letter>[abfnrtv\\])
    | \\(?P<octal>[0-3][0-7]{2})
    | \\x(?P<byte>[0-9A-Fa-f]{2})
    | \\u(?P<short>[0-9A-Fa-f]{4})
    | \\U(?P<long>[0-9A-Fa-f]{8})
    | \\(?P<other>[xuU][0-9A-Fa-f]*|[0-9]+|.)"""

_MILLISECONDS = {
    "y": 31_536_000_000,
    "w": 604_800_000,
    "d": 86_400_000,
    "h": 3_600_000,
    "m": 60_000,
    "s": 1000,
    "ms": 1,
}
_DURATION = re.compile("".join(rf"(?:([0-9]+){unit})?" for unit in _MILLISECONDS))
_PARTS = re.compile(r"([0-9]+)(ms|[smhdwy])")
# Only a mistake pays for compiling these.
_FRACTION = r"([0-9]{0,12})\.([0-9]{0,12})(ms|[smhdwy])"
_SPELLED = (
    r"(?i:([0-9]+)(?:(m)(?:in(?:ute)?s?)?|(s)(?:ec(?:ond)?s?)?|(h)(?:(?:ou)?rs?)?|(d)(?:ays?)?|(w)(?:eeks?)?"
    r"|(y)(?:ears?)?))"
)


def quote(value: str) -> str:
    r"""A PromQL string literal that means exactly `value` and is inert whatever the value holds.

    Quotes, backslashes, control characters and everything that is not printable are escaped the way of Go. A lone
    surrogate that stands for a byte (as `string` makes of `\xff`) becomes that byte again; any other one, which no
    PromQL can hold, becomes the replacement character.
    """
    if value.isascii() and value.isprintable() and '"' not in value and "\\" not in value:
        return f'"{value}"'
    return '"' + "".join(map(_escaped, value)) + '"'


def _escaped(char: str) -> str:
    code = ord(char)
    if letter := _ESCAPES.get(char):
        return "\\" + letter
    if code in _BYTES:
        return f"\\x{code - 0xDC00:02x}"
    if 0xD800 <= code < 0xE000:
        return "\\ufffd"
    if char.isprintable() and char != "\ufffd":  # the lexer of Prometheus takes a bare U+FFFD for broken UTF-8
        return char
    if code < 0x80:
        return f"\\x{code:02x}"
    return f"\\u{code:04x}" if code < 0x10000 else f"\\U{code:08x}"


def string(literal: str, at: int) -> str:
    r"""The value of a string literal that stands at offset `at` of the text.

    Bytes written as `\xff` or `\377` that do not add up to UTF-8 become lone surrogates, as Python's
    "surrogateescape" does it.
    """
    if broken := _UNREADABLE.search(literal):
        start = at + broken.start()
        raise PromqlError(f"U+{ord(broken[0]):04X} cannot stand in a string", start, start + 1, "write it as an escape")
    if literal[0] == "`" or "\\" not in literal:
        return literal[1:-1]
    value = "".join(char for char, _ in _characters(literal, at))
    if any(ord(char) in _BYTES for char in value):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "surrogateescape")
    return value


def string_offset(literal: str, index: int) -> int:
    """Where in a valid string literal the character number `index` of its value is written."""
    if literal[0] == "`" or "\\" not in literal:
        return index + 1
    offsets = [offset for _, offset in _characters(literal, 0)]
    return offsets[index] if index < len(offsets) else len(literal) - 1


def _characters(literal: str, at: int) -> Iterator[tuple[str, int]]:
    """Each character of a quoted string's value, and its offset in the literal."""
    for piece in re.compile(_PIECE).finditer(literal, 1, len(literal) - 1):
        kind, written = piece.lastgroup, piece[piece.lastgroup or 0]
        if kind is None:
            yield written, piece.start()
        elif kind == "letter":
            yield _UNESCAPES[written], piece.start()
        elif kind in ("octal", "byte"):
            code = int(written, 8 if kind == "octal" else 16)
            yield chr(code if code < 0x80 else 0xDC00 + code), piece.start()
        elif kind != "other" and (code := int(written, 16)) <= 0x10FFFF and not 0xD800 <= code < 0xE000:
            yield chr(code), piece.start()
        elif written == literal[0]:
            yield written, piece.start()
        else:
            raise _bad_escape(piece[0], literal[0], at + piece.start())


def _bad_escape(written: str, quotes: str, at: int) -> PromqlError:
    if written[1:2] in ("u", "U") and len(written) == {"u": 6, "U": 10}[written[1]]:
        return PromqlError(f"`{written}` is not a character of Unicode", at, at + len(written))
    if digits := {"x": "2", "u": "4", "U": "8"}.get(written[1:2]):
        return PromqlError(f"`{written}` needs {digits} hexadecimal digits", at, at + len(written))
    if written[1:2].isdigit():
        hint = "write three octal digits from `\\000` to `\\377`, or two backslashes for a backslash"
        return PromqlError(f"`{written}` is not an escape", at, at + len(written), hint)
    escape = written[:2]
    if escape[1:] in ("'", '"'):
        hint = f"inside {quotes}…{quotes} write {escape[1:]} without the backslash"
    else:
        hint = f"write two backslashes, `\\{escape}`, or put the string between backquotes"
    return PromqlError(f"`{escape}` is not an escape inside a quoted string", at, at + len(escape), hint)


def number(literal: str, at: int) -> float:
    """The value of a number, read as Prometheus reads it: `0x1F` is hexadecimal and `017` octal."""
    if literal[:2] in ("0x", "0X"):
        whole = int(literal, 16)
        value = float(whole if whole <= _LARGEST else "inf")
    elif literal[0] == "0" and literal.strip("01234567") == "" and int(literal, 8) <= _LARGEST:
        value = float(int(literal, 8))
    else:
        value = float(literal)
    if value == float("inf") and literal.lower() != "inf":
        message = f"`{shorten(literal)}` is too large a number"
        raise PromqlError(message, at, at + len(literal), "write `Inf` for infinity")
    return value


def duration(literal: str, at: int) -> int:
    """The milliseconds of a duration such as `1h30m`."""
    end = at + len(literal)
    parts = [(count.lstrip("0"), _MILLISECONDS[unit]) for count, unit in _PARTS.findall(literal)]
    if any(len(count) > 19 for count, _ in parts):
        raise PromqlError(f"`{shorten(literal)}` is longer than 292 years, the longest duration", at, end)
    total = sum(int(count or 0) * size for count, size in parts)
    if not _DURATION.fullmatch(literal):
        hint = f"write `{duration_text(total)}`" if total else ""
        raise PromqlError(f"the units of `{literal}` must go from large to small, each once", at, end, hint)
    if total * 1_000_000 > _LARGEST:
        raise PromqlError(f"`{literal}` is longer than 292 years, the longest duration", at, end)
    if not total:
        hint = "write a longer one; an offset or a step of 0 can be left out"
        raise PromqlError("Prometheus 2.53 refuses a duration of 0", at, end, hint, since(2, 54))
    return total


def duration_text(milliseconds: int) -> str:
    """The shortest common way to write a duration, without years and weeks: `90000` is `1m30s`."""
    text, rest = "", abs(milliseconds)
    for unit in ("d", "h", "m", "s", "ms"):
        count, rest = divmod(rest, _MILLISECONDS[unit])
        text += f"{count}{unit}" if count else ""
    return ("-" if milliseconds < 0 else "") + (text or "0s")


def malformed(literal: str, at: int) -> PromqlError:
    """Why something that begins like a number is neither a number nor a duration."""
    end = at + len(literal)
    if "_" in literal and re.fullmatch(r"[0-9]+(?:_[0-9]+)+", literal):
        hint = f"write `{literal.replace('_', '')}`"
        return PromqlError(f"`{literal}` is a number only since Prometheus 2.54", at, end, hint, since(2, 54))
    if re.fullmatch(r"0[xX][0-9A-Fa-f]{2,15}(?:[+-][0-9]+)?", literal):
        hint = f"write `{int(re.split('[+-]', literal)[0], 16)}`"
        return PromqlError(f"Prometheus 3 takes the second digit of `{literal}` for an exponent", at, end, hint)
    if found := re.fullmatch(_FRACTION, literal):
        whole, rest = divmod(int((found[1] + found[2]) or 0) * _MILLISECONDS[found[3]], 10 ** len(found[2]))
        hint = f"write `{duration_text(whole)}`" if whole and not rest else "the smallest unit is the millisecond, `ms`"
        return PromqlError(f"`{literal}` is not a duration: the numbers in it must be whole", at, end, hint)
    if found := re.fullmatch(_SPELLED, literal):
        hint = f"write `{found[1]}{found[found.lastindex or 0].lower()}`"
        return PromqlError(f"`{literal}` is not a duration", at, end, hint)
    if re.fullmatch(r"(?:[0-9]+(?:ms|[smhdwy]))+[0-9]+", literal):
        hint = "a duration is written like `1h30m`"
        return PromqlError(f"the last number of `{shorten(literal)}` has no unit", at, end, hint)
    hint = "a number is written like `0.5` or `1e6`, a duration like `1h30m` with the units ms, s, m, h, d, w and y"
    return PromqlError(f"`{shorten(literal)}` is neither a number nor a duration", at, end, hint)


def shorten(text: str, limit: int = 40) -> str:
    """The text in one line, cut off where it gets too long for a message."""
    line = " ".join(text.split())
    return line if len(line) <= limit else line[: limit - 1] + "…"
