"""The preview stage: dashboards as they were emitted, and answers of a Prometheus, become one page without a network.

A reviewer of a change sees what Grafana would draw without having one. The page holds the answers themselves, for a
bounded number of choices of each dashboard's variables; `choices` says which.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.preview.boards import boards
from tocsin.preview.choices import gathered
from tocsin.preview.page import page
from tocsin.preview.prometheus import Prometheus
from tocsin.preview.times import Period

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from tocsin.artifact import Artifact

__all__ = ["Period", "Prometheus", "preview"]


def preview(
    artifacts: Iterable[Artifact],
    folders: Mapping[str, str],
    prometheus: Prometheus,
    period: Period,
    limit: int,
    about: Mapping[str, str],
    elsewhere: Mapping[str, str],
) -> str:
    """The page. `folders` are those of the dashboards by uid, `limit` how many choices of each are in the page.

    `elsewhere` says of recorded series that may not be here who records them: a panel without data shows it. `about` is
    what the page says of itself: `factory`, `source` (where the data is from) and `note`. ToolError where Prometheus
    cannot be asked.
    """
    drawn = boards(artifacts, folders)
    return page(gathered(drawn, prometheus, period, limit, elsewhere), period, about)
