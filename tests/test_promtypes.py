"""The type checker: verdicts with reasons, no refusal of what tocsin writes, and no expression that breaks it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
import yaml
from hypothesis import given, settings
from hypothesis import strategies as st

from conftest import ROOT
from tocsin.catalog import metrics, own_metrics, recorded_metrics, spellings, units
from tocsin.diagnostics import Log
from tocsin.ingest import RENAMED
from tocsin.pipeline import understand
from tocsin.promql import MAX_DEPTH, MAX_NESTING, PromqlError, metric_names, parse, parse_selector
from tocsin.promtypes import check, check_rate, of_catalogue, of_factory, recorded_as
from tocsin.promtypes.world import catalogue

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.promtypes import Finding, Vector

CASES = ROOT / "tests" / "cases"


class Case(NamedTuple):
    """An expression and what must become of it: `code` is one of those that refuse it."""

    kind: str
    verdict: str
    expr: str
    code: str = ""
    why: str = ""


def cases() -> Iterator[Case]:
    for path in sorted((CASES / "promql").glob("*.yaml")):
        for row in yaml.safe_load(path.read_text("utf-8")):
            yield Case(path.stem, **row)


EVERY = list(cases())
REFUSED = [case for case in EVERY if case.verdict == "refuse"]
ACCEPTED = [case for case in EVERY if case.verdict == "accept"]


def found(expr: str) -> tuple[Finding, ...]:
    return check(expr, parse(expr), of_catalogue())[1]


@pytest.mark.parametrize("case", REFUSED, ids=lambda case: f"{case.kind}-{case.expr[:60]}")
def test_what_means_nothing_is_refused_for_its_reason(case: Case) -> None:
    told = found(case.expr)
    assert told, case.why
    assert case.why
    assert case.code in {finding.code for finding in told} or not case.code
    for finding in told:
        assert finding.message
        assert finding.hint, finding
        assert 0 <= finding.start < finding.end <= len(case.expr)


@pytest.mark.parametrize("case", ACCEPTED, ids=lambda case: f"{case.kind}-{case.expr[:60]}")
def test_what_is_sound_is_accepted(case: Case) -> None:
    assert found(case.expr) == ()


def test_every_kind_has_both_verdicts() -> None:
    kinds = {case.kind for case in EVERY}
    assert len(kinds) >= 6
    assert {case.kind for case in REFUSED} == {case.kind for case in ACCEPTED} == kinds
    assert len(EVERY) == len({case.expr for case in EVERY})


# --- a hint that gives the right form gives one that is right ---------------------------------------------------------

COMPARED = ", or compare with one first"
WHOLE = ("PQL201", "PQL202", "PQL203", "PQL204", "PQL205", "PQL213", "PQL216")


def corrected(case: Case) -> Iterator[tuple[Finding, str]]:
    """The expression with what each hint offers put in the place that the finding is about."""
    for finding in found(case.expr):
        for start in ("write ", "make it one first: ", "take the bit out: "):
            offer = finding.hint.removeprefix(start).partition(", which holds")[0].removesuffix(COMPARED)
            if not finding.hint.startswith(start) or "…" in offer or finding.code not in (*WHOLE, "PQL206", "PQL207"):
                continue
            try:
                parse(offer)
            except PromqlError:
                continue
            yield finding, case.expr[: finding.start] + offer + case.expr[finding.end :]


OFFERS = [(case, finding, offer) for case in REFUSED for finding, offer in corrected(case)]


@pytest.mark.parametrize(("case", "finding", "offer"), OFFERS, ids=lambda value: str(value)[:60])
def test_what_a_hint_offers_is_accepted(case: Case, finding: Finding, offer: str) -> None:
    assert finding.message not in {other.message for other in found(offer)}, offer


@pytest.mark.parametrize(
    ("expr", "offer"),
    [
        ('count_values("u", DCGM_FI_DEV_GPU_UTIL)', 'count_values("u", max by (cluster, node, gpu_uuid) (*))'),
        (
            'count_values by (node) ("u", DCGM_FI_DEV_GPU_UTIL)',
            'count_values by (node) ("u", max by (cluster, node, gpu_uuid) (*))',
        ),
        ("avg by (node) (DCGM_FI_DEV_GPU_UTIL)", "avg by (node) (max by (cluster, node, gpu_uuid) (*))"),
        ("quantile(0.9, DCGM_FI_DEV_PCIE_REPLAY_COUNTER)", "quantile (0.9, rate(*[5m]))"),
    ],
)
def test_a_hint_keeps_what_stands_before_the_expression(expr: str, offer: str) -> None:
    """The label of count_values and the share of quantile: without them the offer means nothing."""
    name = re.findall("DCGM_[A-Z_]+", expr)[0]
    (told,) = found(expr)
    assert told.hint.partition(": ")[2] == offer.replace("*", name) or told.hint == f"write {offer.replace('*', name)}"


def test_most_refusals_offer_a_whole_expression() -> None:
    assert len({case.expr for case, _, _ in OFFERS}) > len(REFUSED) / 3


# --- what tocsin writes itself -------------------------------------------------------------------------------------


def generated() -> dict[str, str]:
    """Every expression of every committed rule file and dashboard, with where it stands."""
    exprs: dict[str, str] = {}
    rules = [*ROOT.glob("out/*/rules/*.yml"), *CASES.glob("golden/**/rules/*.yml")]
    for path in sorted(rules):
        for group in yaml.safe_load(path.read_text("utf-8"))["groups"]:
            for rule in group["rules"]:
                exprs.setdefault(rule["expr"], f"{path.name} {rule.get('record') or rule['alert']}")
    for path in sorted(
        [*ROOT.glob("out/*/grafana/dashboards/**/*.json"), *CASES.glob("golden/**/dashboards/**/*.json")]
    ):
        exprs |= dict.fromkeys(asked(json.loads(path.read_text("utf-8"))), path.name)
    return exprs


def asked(part: Any) -> Iterator[str]:
    if isinstance(part, dict):
        if isinstance(part.get("expr"), str):
            yield part["expr"]
        part = list(part.values())
    for child in part if isinstance(part, list) else ():
        yield from asked(child)


GENERATED = generated()


def test_nothing_that_tocsin_writes_is_refused() -> None:
    assert len(GENERATED) > 400
    world = of_catalogue()
    told = {
        (where, expr): check(expr, parse(expr), world)[1]
        for expr, where in GENERATED.items()
        if check(expr, parse(expr), world)[1]
    }
    assert told == {}


def records() -> dict[str, list[tuple[str, dict[str, str]]]]:
    """The expressions and labels of every record that stands in the catalogue of recorded series."""
    known = {metric.name for metric in recorded_metrics()}
    made: dict[str, list[tuple[str, dict[str, str]]]] = {name: [] for name in known}
    for path in sorted([*ROOT.glob("out/*/rules/*.yml"), *CASES.glob("golden/**/rules/*.yml")]):
        for group in yaml.safe_load(path.read_text("utf-8"))["groups"]:
            for rule in group["rules"]:
                if rule.get("record") in known:
                    made[rule["record"]].append((rule["expr"], rule.get("labels", {})))
    return made


RECORDS = records()


@pytest.mark.parametrize("metric", recorded_metrics(), ids=lambda metric: metric.name)
def test_a_recorded_series_has_the_labels_that_the_catalogue_says(metric: Any) -> None:
    assert RECORDS[metric.name], "no rule records it"
    for expr, labels in RECORDS[metric.name]:
        vector, _ = check(expr, parse(expr), of_catalogue())
        assert {*vector.labels.known, *labels} == set(metric.labels)
        assert vector.quantity.reading == "total" or metric.type == "gauge"


# --- nothing breaks it ---------------------------------------------------------------------------------------------

NAMES = [
    *("DCGM_FI_DEV_XID_ERRORS", "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", "DCGM_FI_DEV_GPU_UTIL", "DCGM_FI_DEV_FB_USED"),
    *("DCGM_FI_PROF_SM_ACTIVE", "DCGM_FI_DEV_THERMAL_VIOLATION", "DCGM_FI_DEV_PCIE_REPLAY_COUNTER", "up", "ALERTS"),
    *("node_cpu_seconds_total", "kueue_admission_wait_time_seconds_bucket", "slurm_node_job", "gpu:job:info", "x:y"),
    *("nvidia_smi_xid_last_timestamp_seconds", "DCGM_EXP_XID_ERRORS_COUNT", "my_metric", "slo:errors:rate5m"),
]
LABELS = ["node", "gpu_uuid", "job_id", "Hostname", "err_code", "le", "cluster", "code"]
NUMBERS = ["0", "1", "2", "64", "0.5", "90", "1e9", "1e-320", "1e308", "-5", "NaN", "Inf", "0x1p", "1e6", "100"]
WINDOWS = ["[5m]", "[30s]", "[90d]", "[10m:1m]", "[1h:]"]
CALLS = [
    *("rate", "increase", "irate", "delta", "deriv", "changes", "resets", "avg_over_time", "max_over_time"),
    *(
        "last_over_time",
        "count_over_time",
        "sum_over_time",
        "absent_over_time",
        "present_over_time",
        "stddev_over_time",
    ),
]
PLAIN = [
    "abs",
    "floor",
    "ceil",
    "round",
    "absent",
    "sgn",
    "ln",
    "sqrt",
    "timestamp",
    "sort",
    "hour",
    "-",
    "scalar",
    "vector",
]
OPERATORS = ["+", "-", "*", "/", "%", "^", "==", "!=", ">", "<", ">=", "<=", "== bool", "and", "or", "unless", "atan2"]


def matchers() -> st.SearchStrategy[str]:
    one = st.tuples(
        st.sampled_from(LABELS), st.sampled_from(["=", "!=", "=~", "!~"]), st.sampled_from(["", "1", "a.*"])
    )
    body = st.lists(one.map(lambda parts: f'{parts[0]}{parts[1]}"{parts[2]}"'), max_size=2).map(",".join)
    return body.map(lambda text: f"{{{text}}}" if text else "")


def lists() -> st.SearchStrategy[str]:
    return st.lists(st.sampled_from(LABELS), max_size=3, unique=True).map(", ".join)


def extended(inner: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    grouping = st.tuples(st.sampled_from(["by", "without"]), lists()).map(lambda parts: f"{parts[0]} ({parts[1]})")
    matching = st.one_of(
        st.just(""),
        st.tuples(st.sampled_from(["on", "ignoring"]), lists()).map(lambda parts: f"{parts[0]} ({parts[1]})"),
        lists().map(lambda names: f"on ({names}) group_left ()"),
        lists().map(lambda names: f"on (node) group_right ({names})"),
    )
    ops = st.sampled_from(["sum", "avg", "max", "min", "count", "group", "stddev"])
    return st.one_of(
        st.tuples(ops, grouping, inner).map(lambda parts: f"{parts[0]} {parts[1]} ({parts[2]})"),
        st.tuples(st.sampled_from(["topk", "quantile", "bottomk"]), st.sampled_from(NUMBERS), inner).map(
            lambda parts: f"{parts[0]}({parts[1]}, {parts[2]})"
        ),
        st.tuples(inner, st.sampled_from(OPERATORS), matching, inner).map(
            lambda parts: f"({parts[0]}) {parts[1]} {parts[2]} ({parts[3]})"
        ),
        st.tuples(st.sampled_from(CALLS), inner, st.sampled_from(WINDOWS)).map(
            lambda parts: f"{parts[0]}({parts[1]}{parts[2]})"
        ),
        st.tuples(st.sampled_from(PLAIN), inner).map(lambda parts: f"{parts[0]}({parts[1]})"),
        inner.map(lambda text: f'label_replace({text}, "a", "$1", "node", "(.*)")'),
        inner.map(lambda text: f"histogram_quantile(0.9, {text})"),
        inner.map(lambda text: f'count_values("v", {text})'),
        inner.map(lambda text: f"clamp({text}, 0, 5)"),
        inner.map(lambda text: f"quantile_over_time(0.5, ({text})[1h:5m])"),
    )


LEAVES = st.one_of(
    st.tuples(st.sampled_from(NAMES), matchers()).map("".join),
    st.tuples(st.sampled_from(NAMES), st.just(" offset 5m")).map("".join),
    st.sampled_from(NUMBERS),
    st.just("time()"),
)
EXPRESSIONS = st.recursive(LEAVES, extended, max_leaves=6)


def judge(text: str) -> tuple[Vector, tuple[Finding, ...]] | None:
    try:
        expr = parse(text)
    except PromqlError:
        return None
    return check(text, expr, of_catalogue())


@settings(max_examples=1500)
@given(EXPRESSIONS)
def test_no_expression_breaks_it_and_every_place_is_in_the_text(text: str) -> None:
    judged = judge(text)
    for finding in judged[1] if judged else ():
        assert 0 <= finding.start < finding.end <= len(text)
        assert finding.message.isprintable()
        assert finding.hint.isprintable()


@pytest.mark.parametrize("function", [*CALLS, *PLAIN])
@pytest.mark.parametrize("expr", sorted({case.expr for case in ACCEPTED})[::3])
def test_whatever_is_recorded_can_be_built_on(expr: str, function: str) -> None:
    world = of_catalogue()
    vector, _ = check(expr, parse(expr), world)
    world = world._replace(series={**world.series, "a:b:c": recorded_as("a:b:c", vector, world)})
    for text in (f"{function}(a:b:c[5m]) > 1", f"{function}(a:b:c) == 0", f"a:b:c / {function}(a:b:c)"):
        try:
            built = parse(text)
        except PromqlError:
            continue
        check(text, built, world)


@settings(max_examples=300)
@given(EXPRESSIONS)
def test_parentheses_change_nothing(text: str) -> None:
    plain, wrapped = judge(text), judge(f"({text})")
    assert (plain is None) == (wrapped is None)
    if plain and wrapped:
        assert [(f.code, f.message) for f in plain[1]] == [(f.code, f.message) for f in wrapped[1]]


@pytest.mark.parametrize(
    "text",
    [
        "+".join([NAMES[0]] * (MAX_DEPTH - 1)),
        "abs(" * MAX_NESTING + NAMES[0] + ")" * MAX_NESTING,
        "sum by (node) (" * MAX_NESTING + NAMES[0] + ")" * MAX_NESTING,
        "-" * 100 + "(" + NAMES[0] + ")",
    ],
    ids=["operators", "calls", "aggregations", "signs"],
)
def test_the_deepest_expressions_are_judged(text: str) -> None:
    assert judge(text) is not None


@pytest.mark.parametrize("name", ["my_metric", "team:thing:sum", "node_load1", "http_requests_total"])
@pytest.mark.parametrize("form", ["rate({}[5m]) > 90", "{} > 0.5", "sum({}) > 3", "avg_over_time({}[1h]) < 5"])
def test_what_is_not_known_is_let_pass(name: str, form: str) -> None:
    assert found(form.format(name)) == ()


# --- the data --------------------------------------------------------------------------------------------------------


def test_other_spellings_lead_to_names_that_there_are() -> None:
    assert set(spellings().values()) <= set(metrics())
    assert not set(spellings()) & set(metrics())


def test_units_that_can_be_converted_are_those_of_metrics() -> None:
    used = {metric.unit for several in catalogue().values() for metric in several}
    assert set(units()) <= used
    assert all(unit.times > 0 for unit in units().values())
    assert all(unit.least < unit.most for unit in units().values() if unit.least and unit.most)


def test_what_prometheus_adds_has_names_of_its_own() -> None:
    assert not {metric.name for metric in own_metrics()} & set(catalogue())


@pytest.mark.parametrize("label", RENAMED)
def test_a_label_from_before_ingest_is_told_its_new_name(label: str) -> None:
    (told,) = found(f"max by ({label}) (DCGM_FI_DEV_GPU_TEMP)")
    assert (told.code, told.hint) == ("PQL103", f"write `{RENAMED[label]}`")


# --- a factory -------------------------------------------------------------------------------------------------------


def test_a_factory_knows_its_own_metrics_intervals_and_tiers() -> None:
    log = Log()
    factory = understand(str(ROOT / "specs" / "ai-factory.yaml"), log, {})
    assert factory is not None
    world = of_factory(factory)

    def told(expr: str) -> list[str]:
        return [finding.code for finding in check(expr, parse(expr), world)[1]]

    assert told("rate(train_steps_total[5m])") == []
    assert told("train_steps_total > 100") == ["PQL202"]
    assert told("rate(train_steps_total[15s])") == ["PQL211"]  # training is scraped every 5 s
    assert told("rate(inference_requests_total[1m])") == ["PQL211"]  # inference every 30 s
    assert told("avg_over_time(DCGM_FI_DEV_GPU_UTIL[10d])") == ["PQL212"]  # kept for 7 d
    assert told('inference_requests_total{code="5xx"} offset 1h == 0') == ["PQL104"]
    assert told('max by (cluster) (DCGM_FI_DEV_GPU_TEMP{cluster="west"}) > 85') == ["PQL104"]
    assert told("sum by (shelf) (rate(inference_requests_total[5m]))") == ["PQL103"]
    assert told("kueue_pending_workloads > 100") == ["PQL214"]
    assert told("my_metric > 100") == []
    assert told("DCGM_FI_DEV_GPU_UTIL > 50 and DCGM_FI_PROF_SM_ACTIVE < 0.1") == ["PQL210"]  # of the deep job
    assert told("DCGM_FI_DEV_GPU_UTIL > 50 and on (node, gpu_uuid) DCGM_FI_PROF_SM_ACTIVE < 0.1") == []
    assert told("DCGM_FI_DEV_FB_USED > 80e9") == ["PQL203"]  # not collected yet, and would be if a rule read it
    assert told("DCGM_FI_DEV_FB_USE > 80000") == ["PQL214"]


def test_an_objective_takes_the_rate_of_a_counter() -> None:
    def told(selector: str) -> list[str]:
        return [finding.code for finding in check_rate(selector, parse_selector(selector), of_catalogue())]

    assert told('nv_inference_request_failure{reason="BACKEND"}') == []
    assert told("DCGM_FI_DEV_GPU_UTIL") == ["PQL201"]
    assert told('nv_inference_request_failure{Hostname="a"}') == ["PQL103"]
    assert metric_names(parse("up")) == ("up",)


def test_what_the_checker_knows_of_a_metric_is_data() -> None:
    names = {*catalogue(), *(metric.name for metric in recorded_metrics())} - {"gpu:job:info"}
    for path in sorted((ROOT / "compiler/tocsin/promtypes").glob("*.py")):
        assert not [name for name in names if f'"{name}"' in path.read_text("utf-8")], path.name
