"""How Grafana asks Prometheus: variables become regular expressions, steps follow the range, windows follow steps."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import urlencode

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

POINTS = 1000  # of a graph: about the pixels of half a screen
_ROUND = (1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1200, 1800, 3600)  # seconds that Grafana rounds steps to

Chosen = dict[str, str]  # of each variable what stands in queries for it


class Span(NamedTuple):
    """What a dashboard shows, in seconds since the epoch, and the scrape interval of its data source."""

    start: float
    end: float
    interval: int

    @property
    def step(self) -> int:
        """Seconds between two points of a graph."""
        wanted = (self.end - self.start) / POINTS
        return max(min(_ROUND, key=lambda one: abs(one - wanted)), self.interval)


def regex(values: Sequence[str]) -> str:
    """Chosen values of a variable as they stand in a query: escaped once for the expression and once for the string."""
    escaped = [re.sub(r"[\\^$*+?.()|\[\]{}]", r"\\\\\g<0>", value) for value in values]
    return escaped[0] if len(escaped) == 1 else f"({'|'.join(escaped)})"


def interpolated(expr: str, chosen: Mapping[str, str], span: Span) -> str:
    """A query as it goes to Prometheus; KeyError for a variable that the page has not."""
    whole = int(span.end - span.start)
    own = {
        "__interval": f"{span.step}s",
        "__rate_interval": f"{max(span.step + span.interval, 4 * span.interval)}s",
        "__range": f"{whole}s",
        "__range_s": str(whole),
    }
    known = {**chosen, **own}
    return re.sub(r"\$(?:\{(\w+)\}|(\w+))", lambda found: known[found[1] or found[2]], expr)


def path(target: Mapping[str, Any], chosen: Chosen, span: Span) -> str:
    """The request behind the API's version for a target of a panel: at the end of what is shown, or all over it."""
    expr = interpolated(target["expr"], chosen, span)
    if target["instant"]:
        return f"query?{urlencode({'query': expr, 'time': f'{span.end:.3f}'})}"
    start, end = (int(time) // span.step * span.step for time in (span.start, span.end))
    return f"query_range?{urlencode({'query': expr, 'start': start, 'end': end, 'step': span.step})}"


def values_path(variable: Mapping[str, Any], chosen: Chosen, span: Span) -> str:
    """The request that fills a variable."""
    found = re.fullmatch(r"label_values\((.*), (\w+)\)", variable["query"])
    assert found, variable["query"]
    asked = {"match[]": interpolated(found[1], chosen, span), "start": int(span.start), "end": int(span.end) + 1}
    return f"label/{found[2]}/values?{urlencode(asked)}"


def queried(page: Mapping[str, Any]) -> Iterator[Mapping[str, Any]]:
    """The variables of a page that are filled by queries, in their order."""
    yield from (one for one in page["templating"]["list"] if one["type"] == "query")
