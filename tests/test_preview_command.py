"""`tocsin preview` as its users meet it: what it asks, what it writes, and what it says where nothing answers."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

import pytest

from command import tocsin
from conftest import ROOT
from tocsin.cli import run
from tocsin.cli.preview import elsewhere
from tocsin.diagnostics import Log
from tocsin.fleet.listener import Listener
from tocsin.fleet.program import free_address
from tocsin.pipeline import compile_spec
from toolbox import best

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("stages")

SPEC = str(ROOT / "tests" / "cases" / "ok" / "minimal.yaml")


def answer(path: str, body: bytes) -> str:
    """A Prometheus with one series, whatever it is asked."""
    asked_at = urlsplit(path)
    assert asked_at.path.startswith("/prom/api/v1/")
    if asked_at.path.endswith("/values"):
        return json.dumps({"status": "success", "data": ["one"]})
    asked = {name: values[0] for name, values in parse_qs(body.decode()).items()}
    if "range" in asked_at.path:
        assert int(asked["end"]) - int(asked["start"]) <= 1800
        result = [{"metric": {"node": "</script>"}, "values": [[int(asked["end"]), "NaN"], [int(asked["start"]), "7"]]}]
        return json.dumps({"status": "success", "data": {"resultType": "matrix", "result": result}})
    result = [{"metric": {"node": "</script>"}, "value": [float(asked["time"]), "+Inf"]}]
    return json.dumps({"status": "success", "data": {"resultType": "vector", "result": result}})


@pytest.fixture
def url() -> Iterator[str]:
    listener = Listener(("127.0.0.1", 0), answer, "application/json")
    yield "http://{}:{}/prom".format(*listener.address)
    listener.stop()


def test_the_page_is_written_whole(url: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = tmp_path / "page.html"
    assert run(["preview", SPEC, "--prometheus", url, "--last", "30m", "--output", str(path)]) == 0
    out, err = capsys.readouterr()
    assert out == ""
    assert re.fullmatch(rf"{re.escape(str(path))}: [0-9]+ dashboards, [0-9.]+ MB\n", err)
    text = path.read_text("utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert f"What {url} knew of the last 30m." in text
    assert [entry.name for entry in tmp_path.iterdir()] == ["page.html"]


def test_what_a_spec_brings_is_not_drawn_and_the_page_says_so(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    spec = str(ROOT / "tests" / "cases" / "mixins" / "spec.yaml")
    assert run(["preview", spec, "--prometheus", url, "--last", "30m", "--choices", "1", "--output", "-"]) == 0
    out = capsys.readouterr().out
    assert "The dashboards that the spec brings are not drawn." in out
    assert "lab: nodes and GPUs" in out
    assert "lab: Pressure" not in out


def test_who_records_what_no_server_does_that_scrapes() -> None:
    """The periods of SLOs that outlive their servers; of a spec with no such SLO nothing."""
    found = {}
    for spec in ("ai-factory", "incident-world"):
        made = compile_spec(str(ROOT / "specs" / f"{spec}.yaml"), Log(), {})
        assert made is not None
        found[spec] = elsewhere(made.plan)
    who = "where the tier's store is read, by rules/slo_periods-warm.yml"
    assert found["incident-world"] == {}
    assert found["ai-factory"]["slo:budget_remaining:ratio"] == who
    assert set(found["ai-factory"].values()) == {who}


def test_the_page_can_go_to_standard_output(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["preview", SPEC, "--prometheus", url, "--last", "30m", "--output", "-"]) == 0
    out, err = capsys.readouterr()
    assert err == ""
    assert out.startswith("<!DOCTYPE html>")
    assert out.endswith("</html>\n")


def test_a_password_in_the_address_is_not_in_the_page(url: str, capsys: pytest.CaptureFixture[str]) -> None:
    secret = url.replace("//", "//me:hush@")
    assert run(["preview", SPEC, "--prometheus", secret, "--last", "30m", "--output", "-"]) == 0
    assert "hush" not in capsys.readouterr().out


def test_where_nothing_answers(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    url, path = f"http://{free_address()}", tmp_path / "page.html"
    assert run(["preview", SPEC, "--prometheus", url, "--output", str(path)]) == 3
    assert capsys.readouterr().err == f"tocsin: PRV101: {url} does not answer: Connection refused\n"
    assert not path.exists()


def test_where_something_else_answers(capsys: pytest.CaptureFixture[str]) -> None:
    listener = Listener(("127.0.0.1", 0), lambda _path, _body: "<html>Log in</html>")
    try:
        assert run(["preview", SPEC, "--prometheus", "http://{}:{}".format(*listener.address), "--output", "-"]) == 3
    finally:
        listener.stop()
    assert re.fullmatch(
        r"tocsin: PRV102: http://[0-9.:]+/api/v1/\S+ is no Prometheus: it answers with status 200\n",
        capsys.readouterr().err,
    )


def test_without_a_prometheus_a_site_is_simulated(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Long enough for the first scrapes; what longer ones show is looked at with a browser."""
    tool = best("prometheus")
    if tool is None:
        pytest.skip("prometheus not found: run `make tools`")
    monkeypatch.setenv("PROMETHEUS", str(tool.path))
    assert run(["preview", SPEC, "--last", "8s", "--choices", "1", "--output", "-"]) == 0
    (data,) = re.findall(r'(?s)<script type="application/json" id="data">(.*?)</script>', capsys.readouterr().out)
    read = json.loads(data)
    assert read["about"]["badge"] == "Simulated data"
    assert re.search(r"Halfway GPU 0 of \S+ reports XID 79", read["about"]["source"])
    assert read["period"]["end"] - read["period"]["start"] == 8
    assert all(board["variables"][0]["values"] for board in read["boards"])


def test_a_simulation_needs_a_prometheus(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setenv("PROMETHEUS", "/nowhere/prometheus")
    assert run(["preview", SPEC, "--output", "-"]) == 3
    assert capsys.readouterr().err.startswith("tocsin: prometheus was not found (PROMETHEUS=/nowhere/prometheus)")


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--prometheus", "127.0.0.1:9090"], "127.0.0.1:9090 is no address; write it as http://127.0.0.1:9090"),
        (["--prometheus", "file:///etc/passwd"], "file:///etc/passwd is no address"),
        (["--prometheus", "http://h:99999"], "http://h:99999 is no address"),
        (["--prometheus", "http://h", "--last", "yesterday"], "yesterday is not a time of a second or more"),
        (["--prometheus", "http://h", "--last", "0s"], "0s is not a time of a second or more"),
    ],
)
def test_wrong_calls(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["preview", SPEC, "--output", "-", *words]) == 2
    assert said in capsys.readouterr().err


def test_a_spec_with_mistakes_is_told_and_not_drawn(tmp_path: Path) -> None:
    (tmp_path / "bad.yaml").write_text("version: 1\n", "utf-8")
    done = tocsin(["preview", "bad.yaml", "--prometheus", "http://127.0.0.1:1", "--output", "-"], folder=tmp_path)
    assert done.returncode == 1
    assert "error[" in done.stdout
