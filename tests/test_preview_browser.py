"""Previews as people see them, in a real browser: each dashboard of a simulated site, and the way of who is on call."""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from preview_browser import Opened, opened
from preview_made import HOSTILE, KINDS, hostile_page
from tocsin.cli import run
from tocsin.fleet.board import Board
from toolbox import best
from toolbox_browser import ABSENT, browser

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from selenium.webdriver.remote.webelement import WebElement

pytestmark = pytest.mark.live

NODE = "gpu-node-01"
GPU = Board(NODE, 0, "", (), busy=True).uuid
WATCHED = "60s"
EMITTED = [json.loads(path.read_text("utf-8")) for path in ROOT.glob("out/ai-factory-east/grafana/dashboards/*/*.json")]


@pytest.fixture(scope="module")
def preview(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Opened]:
    """The example spec's dashboards with what `tocsin preview` simulates, opened."""
    found, prometheus = browser(), best("prometheus")
    missing = ABSENT if found is None else "prometheus not found: run `make tools`" if prometheus is None else ""
    if missing and os.environ.get("CI_BROWSER") == "true":
        pytest.fail(missing)
    if found is None or prometheus is None:
        pytest.skip(missing)
    path = tmp_path_factory.mktemp("preview") / "page.html"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PROMETHEUS", str(prometheus.path))
        spec = str(ROOT / "specs" / "ai-factory.yaml")
        assert run(["preview", spec, "--last", WATCHED, "--output", str(path)]) == 0
    with opened(found, path) as page:
        yield page


def _link(page: Opened, text: str, within: str = "body") -> WebElement:
    """The first link of a part of the page that shows a text."""
    script = """
    const [within, text] = arguments;
    return [...document.querySelectorAll(`${within} a`)].find((a) => a.textContent.includes(text));
    """
    found = page.run(script, within, text)
    assert found is not None, f"no link in {within} says {text}"
    return found  # type: ignore[no-any-return]


def _heading(page: Opened) -> str:
    return str(page.run("return document.querySelector('main h1').textContent"))


def _chosen(page: Opened) -> dict[str, str]:
    """The values of the variables that are shown, by what they are called."""
    script = """
    return Object.fromEntries([...document.querySelectorAll('.variable')].map((label) =>
      [label.querySelector('span').textContent, label.querySelector('select').selectedOptions[0].textContent]));
    """
    return dict(page.run(script))


def _stat(page: Opened, title: str) -> str:
    script = """
    const [title] = arguments, boxes = [...document.querySelectorAll('.panel')];
    const box = boxes.find((one) => one.querySelector('h3').textContent === title);
    return box.querySelector('.value').textContent;
    """
    return str(page.run(script, title))


# --- how it looks -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_no_panel_lies_on_another_and_no_title_is_cut(preview: Opened, scheme: str) -> None:
    preview.color(scheme)
    preview.go("")
    boards = preview.boards()
    assert len(boards) == len(EMITTED)
    assert preview.flaws() == []
    for board in boards:
        preview.go(board)
        assert preview.run("return document.querySelectorAll('.panel').length") > 0
        assert preview.flaws() == [], board


def test_the_page_follows_the_readers_colours(preview: Opened) -> None:
    grounds = []
    for scheme in ("light", "dark"):
        preview.color(scheme)
        preview.go(preview.boards()[0])
        grounds.append(preview.run("return getComputedStyle(document.body).backgroundColor"))
    assert grounds == ["rgb(244, 245, 247)", "rgb(17, 18, 23)"]


def test_every_kind_of_panel_is_drawn(preview: Opened) -> None:
    kinds = set()
    for board in preview.boards():
        preview.go(board)
        kinds |= set(
            preview.run(
                "return [...document.querySelectorAll('.body')].filter((body) => !body.querySelector('.empty'))"
                ".map((body) => body.classList[1])"
            )
        )
    assert kinds == {panel["type"] for board in EMITTED for panel in board["panels"]}


def test_the_page_says_that_its_data_is_simulated(preview: Opened) -> None:
    for place in ("", preview.boards()[0]):
        preview.go(place)
        banner = preview.run("return document.querySelector('.banner').textContent")
        assert "Simulated data" in banner
        assert f"GPU 0 of {NODE} reports XID 79" in banner


# --- what can be done -------------------------------------------------------------------------------------------------


def test_three_clicks_lead_from_the_start_to_the_gpu_that_failed(preview: Opened) -> None:
    preview.go("")
    _link(preview, "operations", ".cards").click()
    preview.wait(lambda: _heading(preview) == "ai-factory-east: operations")
    _link(preview, "GpuXidReset", ".table").click()
    preview.wait(lambda: _heading(preview) == "ai-factory-east: nodes and GPUs")
    assert _chosen(preview) == {"Cluster": "east", "Node": NODE, "GPU": "All"}
    _link(preview, "79", ".table").click()
    preview.wait(lambda: _chosen(preview) == {"Cluster": "east", "Node": NODE, "GPU": GPU})
    assert _stat(preview, "GPUs with an XID") == "1"


def test_a_choice_is_kept_in_the_address_and_back_leads_back(preview: Opened) -> None:
    preview.go("#/d/ai-factory-east-gpus")
    select = "document.querySelectorAll('.variable select')[1]"
    preview.run(f"{select}.value = '=' + arguments[0]; {select}.dispatchEvent(new Event('change'))", NODE)
    preview.wait(lambda: _chosen(preview)["Node"] == NODE)
    assert f"var-node={NODE}" in preview.driver.current_url
    preview.driver.back()
    preview.wait(lambda: _chosen(preview)["Node"] == "All")


def test_what_is_not_in_the_page_cannot_be_chosen(preview: Opened) -> None:
    preview.go("#/d/ai-factory-east-gpus")
    script = "return [...document.querySelectorAll('.variable select')[2].options].map((one) => one.disabled)"
    closed = preview.run(script)
    assert closed[0] is False
    assert len(closed) == 33
    assert 0 < sum(closed) < 32
    preview.go("#/d/ai-factory-east-gpus?var-node=nowhere")
    assert "no data for just this choice" in preview.run("return document.querySelector('.warning').textContent")


def test_a_time_that_is_marked_is_kept_by_links(preview: Opened) -> None:
    preview.go("#/d/ai-factory-east-operations")
    preview.drag(".timeseries .u-over", 0.25, 0.75)
    preview.wait(lambda: preview.run("return document.querySelectorAll('.tools button').length") == 1)  # for all of it
    time = preview.driver.current_url.partition("from=")[2]
    _link(preview, "GpuXidReset", ".table").click()
    preview.wait(lambda: "-gpus" in preview.driver.current_url)
    assert preview.driver.current_url.endswith(f"from={time}")
    assert preview.flaws() == []


def test_the_values_under_the_mouse_are_told(preview: Opened) -> None:
    preview.go("#/d/ai-factory-east-operations")
    preview.hover(".timeseries .u-over")
    told = preview.run("return document.querySelector('.tip').textContent")
    assert preview.run("return document.querySelector('.tip').style.display") == "block"
    assert "79" in told or "XID" in told


# --- what cannot be done ----------------------------------------------------------------------------------------------


def test_names_and_labels_are_texts_and_nothing_else(tmp_path: Path) -> None:
    found = browser()
    if found is None:
        pytest.skip(ABSENT)
    path = tmp_path / "page.html"
    path.write_text(hostile_page(), "utf-8")
    with opened(found, path) as page:
        for place in ("", *page.boards()):
            page.go(place)
            assert page.run("return typeof window.hit") == "undefined"
            assert page.run("return document.querySelectorAll('body script, body img, body iframe').length") == 0
            assert HOSTILE in page.run("return document.body.textContent")
            assert page.flaws() == []
        page.go("#/d/three")
        bodies = "[...document.querySelectorAll('.body')]"
        drawn = page.run(f"return {bodies}.map((body) => [body.classList[1], body.children.length > 0])")
        assert dict(drawn) == dict.fromkeys(KINDS, True)
