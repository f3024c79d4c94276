"""The words of a PromQL text, one after the other."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from tocsin.promql.errors import PromqlError
from tocsin.promql.literals import malformed

NAME = "name"
NUMBER = "number"
DURATION = "duration"
STRING = "string"
END = "end"


class Token(NamedTuple):
    """A word: `kind` is one of the constants above, or, for an operator or a bracket, the text itself.

    The token after the last word has the kind END, no text, and stands at the end of that word.
    """

    kind: str
    text: str
    start: int
    end: int


_SKIPPED = r"(?:[ \t\n\r]++|\#[^\r\n\ud800-\udfff]*+)*+"
_SKIP = re.compile(_SKIPPED, re.VERBOSE)
# In a hexadecimal number, Prometheus 3 takes an e that is the second digit for an exponent.
_WORD = re.compile(
    _SKIPPED
    + r"""(?:
      (?P<name>[A-Za-z_:][A-Za-z0-9_:]*+)
    | (?P<symbol>==|!=|=~|!~|<=|>=|[-+*/%^<>=@(){}\[\],])
    | (?P<string>"[^"\\\n]*+(?:\\[^\n][^"\\\n]*+)*+"|'[^'\\\n]*+(?:\\[^\n][^'\\\n]*+)*+'|`[^`]*+`)
    | (?P<duration>(?:[0-9]++(?:ms|[smhdwy]))++(?![0-9A-Za-z_.]))
    | (?P<number>(?:0[xX](?!.[eE])[0-9A-Fa-f]++|(?:[0-9]++(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?[0-9]++)?+)
        (?![0-9A-Za-z_.]))
    | (?P<malformed>\.?[0-9](?:[eE][+-](?=[0-9])|[0-9A-Za-z_.])*+)
    )""",
    re.VERBOSE,
)


def tokens(text: str) -> Iterator[Token]:
    """The words in order and END; raises PromqlError at the first place where no word begins."""
    at, last, in_brackets = 0, 0, False
    while found := _WORD.match(text, at):
        kind = found.lastgroup or ""
        start, end = found.span(kind)
        word = found[kind]
        if kind == "malformed":
            raise malformed(word, start)
        if in_brackets:
            if text[at - 1] == "[" and "#" in text[at:start]:
                hint = "put the comment before the `[`"
                raise PromqlError("a comment cannot stand directly after `[`", at, start, hint)
            if word[0] == ":":  # in x[1h:5m] the colon is no part of a name
                kind, word, end = "symbol", ":", start + 1
        if word in ("[", "]"):
            in_brackets = word == "["
        yield Token(word if kind == "symbol" else kind, word, start, end)
        at = last = end
    if rest := _SKIP.match(text, at):
        at = rest.end()
    if at < len(text):
        raise _no_word(text, at)
    yield Token(END, "", last, last)


_QUOTES = "\"'`"
_LOOKALIKES = {"“": '"', "”": '"', "„": '"', "‘": "'", "’": "'", "−": "-", "–": "-", "—": "-", "×": "*", "÷": "/"}
_LOOKALIKES |= {"≥": ">=", "≤": "<=", "≠": "!="}
_FOREIGN = {"&": "and", "|": "or"}
_VARIABLE = re.compile(r"\$(?:\{[\w:.]*\}|\w+)?", re.ASCII)


def _no_word(text: str, at: int) -> PromqlError:
    char, end, hint = text[at], at + 1, ""
    message = f"`{char}` means nothing in PromQL"
    if char in _QUOTES:
        end = len(text) if char == "`" else text.find("\n", at) % (len(text) + 1)
        message, hint = "this string is never closed", f"close it with {char}"
        hint += "" if char == "`" else " in the same line"
    elif char == "$" and (variable := _VARIABLE.match(text, at)):
        end = variable.end()
        message = f"`{text[at:end]}` is a variable of a dashboard, not PromQL"
        hint = "write the value itself: nothing replaces variables in a rule"
    elif char in _LOOKALIKES:
        hint = f"write `{_LOOKALIKES[char]}`"
    elif char in _FOREIGN:
        end += text.startswith(char, end)
        message, hint = f"PromQL has no operator `{text[at:end]}`", f"write `{_FOREIGN[char]}`"
    elif char == "!":
        message = "PromQL has no operator `!`"
        hint = "`unless` excludes series, `!=` compares, `== bool 0` turns 0 into 1"
    elif char == ".":
        message = "names have no dots"
        hint = "a metric is named with letters, digits, `_` and `:`, a label without the `:`"
    elif not char.isprintable():
        message = f"the invisible character U+{ord(char):04X} means nothing in PromQL"
        hint = "write a plain space" if char.isspace() else "remove it"
    return PromqlError(message, at, end, hint)
