"""What dashboards ask is held against what the plan stores: nothing of ours lacks anything, and each break is found."""

from __future__ import annotations

import json
import re
from functools import cache
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT
from tocsin.audit import audit_own, contradictions
from tocsin.catalog import recorded_metrics
from tocsin.cli import run
from tocsin.dashboard.asked import asked
from tocsin.diagnostics import Log
from tocsin.pipeline import Compiled, compile_spec
from tocsin.plan.dashboards import Panel, Query
from tocsin.plan.rules import Record
from tocsin.plan.servers import Relabel
from tocsin.promtypes.stored import names_of, of_plan

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tocsin.factory import Factory
    from tocsin.plan import Plan
    from tocsin.plan.dashboards import Dashboard
    from toolbox import Tool

SPECS = {
    **{path.stem: path for path in sorted((ROOT / "specs").glob("*.yaml"))},
    **{path.parent.name: path for path in sorted((ROOT / "tests/cases/golden").glob("*/spec.yaml"))},
    **{path.stem: path for path in sorted((ROOT / "tests/cases/ok").glob("*.yaml"))},
    "mixins": ROOT / "tests/cases/mixins/spec.yaml",
}
BUILT = [name for name in SPECS if SPECS[name].parent.name != "ok"]
WORD = re.compile(r"[a-zA-Z_:][a-zA-Z0-9_:]*")
PARTS = ("", "_bucket", "_sum", "_count")
Asked = tuple[str, str, str]  # the dashboard, who asks there, and what
UNMEASURED = pytest.mark.no_cover  # the same lines a thousand times, which measuring makes twice as slow


@cache
def compiled(name: str) -> Compiled:
    """A spec, compiled."""
    log = Log()
    found = compile_spec(str(SPECS[name]), log, {})
    assert found is not None, log.sorted()
    return found


@cache
def pages(name: str) -> dict[str, dict[str, Any]]:
    """The dashboards that the compiler makes itself, by their names."""
    made = compiled(name)
    brought = {page.name for page in made.plan.pages}
    found = {one.path: one.text for one in made.artifacts if one.path.startswith("grafana/dashboards/")}
    texts = {path.rpartition("/")[2].removesuffix(".json"): text for path, text in found.items()}
    return {page: json.loads(text) for page, text in texts.items() if page not in brought}


@cache
def every_query(name: str) -> list[tuple[Asked, set[str]]]:
    """All that the pages ask, each with the words that are in it."""
    return [
        ((page, asking.where, query.written), {*WORD.findall(query.text)})
        for page, model in pages(name).items()
        for asking in asked(model)
        for query in asking.queries
    ]


@cache
def words_of_records(name: str) -> dict[str, set[str]]:
    """The words in all that each recorded series is made of."""
    found: dict[str, set[str]] = {}
    for file in compiled(name).plan.rules:
        for rule in (rule for group in file.groups for rule in group.rules):
            if isinstance(rule, Record):
                found.setdefault(file.filled(rule.name), set()).update(WORD.findall(file.filled(rule.expr)))
    return found


def touched(name: str, gone: set[str]) -> set[str]:
    """These series and all that is recorded of them, however far away."""
    found = set(gone)
    while more := {record for record, words in words_of_records(name).items() if words & found} - found:
        found |= more
    return found


def broken(name: str, factory: Factory, plan: Plan) -> set[tuple[Asked, str]]:
    """Who asks what that is not right in a plan, with the code or nothing."""
    world, called = of_plan(factory, plan), names_of(factory, plan)
    return {
        ((page, fault.where, fault.text), fault.code)
        for page, model in pages(name).items()
        for fault, _ in contradictions(model, world, called)
    }


# --- as it is ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", SPECS)
def test_what_our_pages_ask_is_stored_with_its_labels_and_means_what_it_seems_to(name: str) -> None:
    made, log = compiled(name), Log()
    audit_own(made.factory, made.plan, made.artifacts, log)
    assert log.sorted() == []
    assert len(every_query(name)) > 40


@pytest.mark.parametrize("name", SPECS)
def test_a_recorded_series_is_there_where_its_signal_is_collected(name: str) -> None:
    """So that a hint can name the signal."""
    made = compiled(name)
    series = of_plan(made.factory, made.plan).series
    named = [metric for metric in recorded_metrics() if metric.signal]
    assert len(named) >= 13
    assert [one.name for one in named if (one.name in series) != (one.signal in made.factory.signals)] == []


# --- as it is broken --------------------------------------------------------------------------------------------------


@UNMEASURED
@pytest.mark.parametrize("name", BUILT)
def test_each_signal_that_is_taken_out_of_the_plan_is_missed_where_it_is_shown(name: str) -> None:
    """The pages stay as they were lowered. Who misses the signal is found by its words, through all records."""
    made = compiled(name)
    seen = 0
    for signal in made.factory.signals.values():
        gone = {metric.name + part for metric in signal.metrics for part in PARTS}
        left = {name: metric for name, metric in made.factory.metrics.items() if metric.signal != signal.id}
        found = {asks for asks, _ in broken(name, made.factory._replace(metrics=left), made.plan)}
        missing = touched(name, gone)
        expected = {asks for asks, words in every_query(name) if words & missing}
        assert found == expected, signal.id
        seen += len(expected)
    assert seen > 40


def test_the_way_from_a_record_to_what_is_not_stored_is_told() -> None:
    made = compiled("minimal")
    left = {name: metric for name, metric in made.factory.metrics.items() if metric.signal != "xid"}
    world = of_plan(made.factory._replace(metrics=left), made.plan)
    said = {what for _, what in contradictions(pages("minimal")["gpus"], world, ())}
    assert (
        "it asks for gpu:xid_new:max1h, which is recorded from DCGM_FI_DEV_XID_ERRORS, and nothing stores that" in said
    )


@UNMEASURED
@pytest.mark.parametrize("name", BUILT)
def test_each_series_that_a_job_or_a_counters_file_drops_is_missed(name: str) -> None:
    """One by one, of those that a page shows itself."""
    made = compiled(name)
    asked_for = set().union(*(words for _, words in every_query(name)))
    shown = [metric for metric in made.factory.metrics.values() if metric.name in asked_for]
    assert len(shown) >= 5
    for metric in shown:
        drop = Relabel("drop", ("__name__",), metric.name)
        servers = tuple(
            server._replace(jobs=tuple(job._replace(relabel=(*job.relabel, drop)) for job in server.jobs))
            for server in made.plan.servers
        )
        missed = {asks for asks, words in every_query(name) if metric.name in words}
        dropped = {asks for asks, _ in broken(name, made.factory, made.plan._replace(servers=servers))}
        assert missed <= dropped, metric.name
        if metric.field is not None:
            files = tuple(
                file._replace(metrics=tuple(one for one in file.metrics if one.name != metric.name))
                for file in made.plan.counter_files
            )
            uncounted = {asks for asks, _ in broken(name, made.factory, made.plan._replace(counter_files=files))}
            assert uncounted == dropped, metric.name


@UNMEASURED
@pytest.mark.parametrize("name", BUILT)
def test_each_rule_that_is_left_out_is_missed(name: str) -> None:
    made = compiled(name)
    records = [record for record in words_of_records(name) if any(record in words for _, words in every_query(name))]
    assert records
    for record in records:
        rules = tuple(file._replace(groups=tuple(map(without(record), file.groups))) for file in made.plan.rules)
        missing = touched(name, {record})
        found = {asks for asks, _ in broken(name, made.factory, made.plan._replace(rules=rules))}
        assert found == {asks for asks, words in every_query(name) if words & missing}, record


def without(record: str) -> Callable[[Any], Any]:
    """What leaves the rules of a name out of a group."""
    return lambda group: group._replace(rules=tuple(rule for rule in group.rules if rule.name != record))


@UNMEASURED
@pytest.mark.parametrize("name", BUILT)
def test_each_counter_that_becomes_a_gauge_is_told_where_its_rate_is_shown(name: str) -> None:
    made = compiled(name)
    rates = {
        metric: {
            asks
            for asks, _ in every_query(name)
            if re.search(rf"\b(?:rate|increase)\({metric.name}(?![a-zA-Z0-9_:])", asks[2])
        }
        for metric in made.factory.metrics.values()
        if metric.type == "counter"
    }
    for metric, expected in rates.items():
        gauge = metric._replace(type="gauge", reading="level")
        factory = made.factory._replace(metrics={**made.factory.metrics, metric.name: gauge})
        found = {asks for asks, code in broken(name, factory, made.plan) if code == "PQL201"}
        assert expected <= found, metric.name


@pytest.mark.parametrize(
    ("label", "where"),
    [
        ("gpu_uuid", "the panel 'Hottest GPUs'"),
        ("job_id", "the panel 'GPUs by job'"),
        ("err_code", "the panel 'New XID errors'"),
        ("node", "the variable 'gpu_uuid'"),
    ],
)
def test_a_label_that_relabelling_takes_off_is_missed(label: str, where: str) -> None:
    made = compiled("ai-factory")
    drop = Relabel("labeldrop", regex=label)
    servers = tuple(
        server._replace(jobs=tuple(job._replace(relabel=(*job.relabel, drop)) for job in server.jobs))
        for server in made.plan.servers
    )
    found = {(asks[1], code) for asks, code in broken("ai-factory", made.factory, made.plan._replace(servers=servers))}
    assert (where, "PQL103") in found or (where, "DSH109") in found


def mistaken(monkeypatch: pytest.MonkeyPatch, query: Query) -> None:
    """Have the page of the boards ask one thing more."""
    from tocsin.lower.dashboards import dashboards

    def made(page: Dashboard) -> Dashboard:
        more = (Panel("stat", "Mistaken", "x", (query,)),) if page.name == "gpus" else ()
        return page._replace(panels=(*page.panels, *more))

    monkeypatch.setattr("tocsin.lower.dashboards", lambda factory: tuple(map(made, dashboards(factory))))


@pytest.mark.parametrize(
    ("query", "said"),
    [
        (Query("nothing_shows_this", ""), "it asks for nothing_shows_this, which nothing stores"),
        (Query("a:b:c", ""), "it asks for a:b:c, which nothing records in this factory"),
        (
            Query('{__name__=~"DCGM_FI_DEV_GPU_TEMP|nothing_else"}', ""),
            "it asks for nothing_else, which nothing stores",
        ),
        (Query("rate(DCGM_FI_DEV_GPU_TEMP[5m])", ""), "`rate()` needs a counter, and DCGM_FI_DEV_GPU_TEMP is a gauge"),
        (Query("max by (node) (up)", "{{rack}}"), "its legend needs the label `rack`, which the series"),
        (Query('up{job="dcmg"}', ""), "no job is called 'dcmg': this selects nothing"),
        (Query('slo:objective:ratio{slo="chatty"}', ""), "no SLO is called 'chatty': this selects nothing"),
        (Query('max by (host) (ALERTS{alertname="GpuLost"})', ""), "ALERTS has no label `host` after ingest"),
    ],
)
def test_a_mistake_of_ours_is_told_by_its_panel(query: Query, said: str, monkeypatch: pytest.MonkeyPatch) -> None:
    mistaken(monkeypatch, query)
    log = Log()
    made = compile_spec(str(SPECS["objective"]), log, {})
    assert made is not None
    audit_own(made.factory, made.plan, made.artifacts, log)
    (told,) = log.sorted()
    assert (told.code, told.span.line) == ("VFY124", 2)
    assert told.message.startswith(f"the panel 'Mistaken' of grafana/dashboards/gpus/gpus.json: {said}")


def test_a_build_with_a_mistake_of_ours_writes_nothing(
    newest: dict[str, Tool], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    mistaken(monkeypatch, Query("nothing_shows_this", ""))
    assert run(["build", "--out", str(tmp_path / "out"), str(SPECS["minimal"])]) == 1
    out = capsys.readouterr().out
    assert out.count("error[") == out.count("error[VFY124]: the panel 'Mistaken' of ") == 1
    assert not (tmp_path / "out").exists()
