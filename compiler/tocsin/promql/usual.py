"""Selectors in their usual form, read at once: a spec has two for each of thousands of SLOs."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from tocsin.promql.lexer import NAME, STRING, Token
from tocsin.promql.mistakes import RESERVED
from tocsin.promql.phrases import NUMBERS
from tocsin.promql.selection import matcher, selector

if TYPE_CHECKING:
    from tocsin.promql.tree import Selector

_BLANK = r"[ \t\n\r]*+"
_MATCHER = rf"""{_BLANK}([A-Za-z_][A-Za-z0-9_]*+){_BLANK}(=~|!~|!=|=){_BLANK}("[^"\\\n]*+"|'[^'\\\n]*+'){_BLANK}"""
_EACH = re.compile(_MATCHER)
_WHOLE = re.compile(
    rf"{_BLANK}([A-Za-z_:][A-Za-z0-9_:]*+){_BLANK}(\{{(?:{_MATCHER},)*+(?:{_MATCHER}|{_BLANK})\}})?+{_BLANK}"
)
_OTHER = frozenset((*RESERVED, *NUMBERS))  # a name that is no metric's


def usual_selector(text: str) -> Selector | None:
    """The selector that a text is: a name, and matchers whose strings have no escapes.

    None says nothing of the text: the parser reads it. PromqlError where a matcher or the whole makes no sense, with
    the parser's own words.
    """
    whole = _WHOLE.fullmatch(text)
    if whole is None or whole[1].lower() in _OTHER:
        return None
    start, end = whole.span(1)
    matchers = []
    if whole[2] is not None:
        first, end = whole.span(2)
        for found in _EACH.finditer(text, first + 1, end - 1):
            label, literal = (Token(kind, found[at], *found.span(at)) for kind, at in ((NAME, 1), (STRING, 3)))
            matchers.append(matcher(label, found[2], literal))
    return selector(whole[1], matchers, start, end)
