"""The knowledge of the field: whole, free of contradictions, and fit for the files that it goes into."""

import re
from collections import Counter
from itertools import pairwise
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from tocsin import versions
from tocsin.catalog import (
    MONITORS,
    PORT_ERRORS,
    carriers,
    entity_kinds,
    exporter_kinds,
    gpu_models,
    limit_kinds,
    metrics,
    metrics_of,
    rows,
    signal_kinds,
    xid_classes,
)
from tocsin.catalog.kinds import ExporterKind, GpuModel, LimitKind, Metric, SignalKind, XidClass
from tocsin.composer import compose
from tocsin.factory.owners import LAYERS
from tocsin.source import Source
from tocsin.spec.exporters import Exporter, Exporters
from tocsin.units import Duration, parse_amount, parse_percent

FILES = [
    (kind.id, flavour) for kind in exporter_kinds().values() if not kind.mapped for flavour in kind.flavours or ("",)
]
FILES += [(monitor, "") for monitor in MONITORS]
METRICS = [metric for exporter, flavour in FILES for metric in metrics_of(exporter, flavour)]
SIGNALS = list(signal_kinds().values())
DCGM = metrics_of("dcgm")
NODE = metrics_of("node")
FIELDS = [metric for metric in DCGM if metric.field is not None]

# Which readings each type of metric has, and which units each reading.
READINGS = {
    "counter": {"total"},
    "gauge": {"level", "ratio", "percent", "code", "bits", "flag", "throughput", "window", "timestamp", "info"},
    "histogram": {"level"},
}
THINGS = """
    alerts banks cpus drives errors events executions gpus inferences jobs lanes links nodes packets pages paths pods
    profiles requests retries rows samples tasks threads ticks tokens units workloads
""".split()
MEASURES = """
    bytes kibibytes mebibytes celsius generation joules megahertz millijoules milliwatts milliwatts/s rpm transfers/s
    watts seconds milliseconds microseconds nanoseconds megabytes/s bytes/s
""".split()
UNITS = {
    "total": {*THINGS, "bytes", "joules", "millijoules", "seconds", "microseconds", "nanoseconds"},
    "level": {*THINGS, *MEASURES},
    "ratio": {"ratio"},
    "percent": {"percent"},
    "code": {"code", "state"},
    "bits": {"bits"},
    "flag": {"bool"},
    "throughput": {"bytes/s", "megabytes/s", "gigabytes/s", "operations/s"},
    "window": {"errors", "samples"},
    "timestamp": {"seconds"},
    "info": {"info"},
}


def label(metric: Metric) -> str:
    return f"{metric.exporter}-{metric.name}"


def listed(root: Path, name: str) -> list[dict[str, Any]]:
    """The rows of a data file as PyYAML reads it, which no key stands twice in."""
    text = (root / "compiler/tocsin/catalog" / f"{name}.yaml").read_text("utf-8")
    assert compose(Source(name, text))[1] == []
    found: list[dict[str, Any]] = yaml.safe_load(text)
    return found


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_a_metric_is_whole(metric: Metric) -> None:
    assert metric.signal in signal_kinds()
    assert re.fullmatch(r"(vllm:)?[A-Za-z_][A-Za-z0-9_]*", metric.name)
    assert metric.reading in READINGS[metric.type]
    assert metric.unit in UNITS[metric.reading]
    assert metric.entity in entity_kinds()
    assert metric.cost in ("cheap", "profiling", "expensive")
    assert metric.sensitivity in ("open", "restricted")
    assert not metric.since or metric.exporter == "dcgm"
    assert versions.is_known("dcgm_exporter", versions.parse(metric.since or "4.9"))
    assert re.fullmatch(r"(/[a-z-]+)*", metric.page)
    assert metric.errors in ("", "corrected", "uncorrected")
    assert bool(metric.errors) == (metric.signal in PORT_ERRORS.values())
    assert all(re.fullmatch(r"[a-z_][a-z0-9_]*", label) for label in metric.labels)
    assert len(set(metric.labels)) == len(metric.labels)


def test_an_entity_is_whole() -> None:
    """Every one is some metric's, or that of what the spec defines; what the node groups say is counted by them."""
    assert {metric.entity for metric in METRICS} | {"target"} == {*entity_kinds()}
    for kind in entity_kinds().values():
        assert kind.of in ("", "hosts", "gpus", "ports", "writes", "alertmanagers")
        assert kind.per == 1 or kind.of
        assert not kind.fixed or (kind.usual, kind.labels) == (1, ())


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_what_is_said_of_the_values_of_a_metric_fits_its_reading(metric: Metric) -> None:
    assert not metric.latched or metric.reading == "code"
    assert not metric.spells or metric.spells in metric.labels
    assert not metric.harmless or metric.reading == "bits"
    assert not metric.share or (metric.reading == "total" and metric.unit in ("seconds", "nanoseconds"))
    assert not metric.stock or metric.reading == "total"
    assert not metric.copies or metric.exporter in ("dcgm", "kueue")


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_bounds_rise_and_belong_to_a_histogram(metric: Metric) -> None:
    assert not metric.buckets or metric.type == "histogram"
    assert all(0 < before < bound for before, bound in pairwise(metric.buckets))


def test_every_histogram_of_times_has_its_bounds_but_those_that_nobody_has_seen() -> None:
    """An SLO for a latency needs them."""
    unseen = {metric.name for metric in METRICS if metric.type == "histogram" and not metric.buckets}
    assert unseen == {"vllm:iteration_tokens_total", "kueue_execution_time_seconds"}


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_a_metric_says_where_it_was_read(metric: Metric) -> None:
    """A repository and a path in it, or a page: what a reader can look up."""
    assert re.fullmatch(r"[\w.-]+/[\w.-]+ \S.*|docs\.nvidia\.com \S.*", metric.source)


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_power_and_names_of_users_are_restricted(metric: Metric) -> None:
    power = metric.unit in ("watts", "milliwatts", "joules", "millijoules") and "LIMIT" not in metric.name
    smoothing = metric.signal == "power_smoothing"
    assert (metric.sensitivity == "restricted") == ("user" in metric.labels or (power and not smoothing))


@pytest.mark.parametrize("metric", METRICS, ids=label)
def test_a_help_text_fits_into_a_line_of_csv(metric: Metric) -> None:
    assert re.fullmatch(r'[^"\n\r#]*[^"\n\r#.]', metric.help)
    assert metric.help.isascii()
    assert metric.help[0].isupper() or metric.help[0].isdigit()


@pytest.mark.parametrize("metric", FIELDS, ids=label)
def test_a_field_of_dcgm_has_its_name_and_entity(metric: Metric) -> None:
    assert re.fullmatch(r"DCGM_FI_(DEV|PROF|IMEX)_[A-Z0-9_]+", metric.name)
    # dcgm_fields.h: profiling fields stand from 1001 to 1099; fields in base units, which came later, from 1600.
    assert ("_PROF_" in metric.name) == (1001 <= (metric.field or 0) <= 1099)
    assert 1 <= (metric.field or 0) < 1600
    assert (metric.cost == "profiling") == ("_PROF_" in metric.name)


def test_what_the_exporter_counts_itself_has_no_field() -> None:
    own = [metric for metric in DCGM if metric.field is None]
    assert {metric.name for metric in own} == {
        "DCGM_EXP_CLOCK_EVENTS_COUNT",
        "DCGM_EXP_CLOCK_EVENTS_TOTAL",
        "DCGM_EXP_XID_ERRORS_COUNT",
        "DCGM_EXP_XID_ERRORS_TOTAL",
        "DCGM_EXP_GPU_HEALTH_STATUS",
        "DCGM_EXP_P2P_STATUS",
    }
    assert all((metric.reading == "window") == metric.name.endswith("_COUNT") for metric in own)


@pytest.mark.parametrize(
    ("name", "field"),
    [  # as NVIDIA's header has them
        ("DCGM_FI_DEV_GPU_UTIL", 203),
        ("DCGM_FI_DEV_XID_ERRORS", 230),
        ("DCGM_FI_DEV_CLOCK_THROTTLE_REASONS", 112),
        ("DCGM_FI_DEV_GPU_TEMP_LIMIT", 153),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", 156),
        ("DCGM_FI_DEV_FB_USED", 252),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", 449),
        ("DCGM_FI_DEV_NVSWITCH_FATAL_ERRORS", 856),
        ("DCGM_FI_PROF_PIPE_TENSOR_ACTIVE", 1004),
        ("DCGM_FI_PROF_NVLINK_RX_BYTES", 1012),
        ("DCGM_FI_DEV_NVLINK_COUNT_RX_SYMBOL_ERRORS", 1214),
        ("DCGM_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN_NS", 1423),
        ("DCGM_FI_DEV_GET_GPU_RECOVERY_ACTION", 1523),
    ],
)
def test_the_fields_of_the_best_known_names(name: str, field: int) -> None:
    assert metrics()[name].field == field


@pytest.mark.parametrize(
    ("name", "type_", "reading", "unit"),
    [  # what rules elsewhere take for something else
        ("DCGM_FI_DEV_XID_ERRORS", "gauge", "code", "code"),
        ("DCGM_EXP_XID_ERRORS_COUNT", "gauge", "window", "errors"),
        ("DCGM_FI_DEV_POWER_VIOLATION", "counter", "total", "nanoseconds"),
        ("DCGM_FI_DEV_NVLINK_BANDWIDTH_TOTAL", "gauge", "throughput", "megabytes/s"),
        ("DCGM_FI_DEV_FB_USED_PERCENT", "gauge", "ratio", "ratio"),
        ("DCGM_FI_DEV_TOTAL_ENERGY_CONSUMPTION", "counter", "total", "millijoules"),
        ("node_infiniband_port_transmit_wait_total", "counter", "total", "ticks"),
        ("slurm_partition_job_state_total", "gauge", "level", "jobs"),
        ("slurm_jobs_node_failed", "gauge", "level", "jobs"),
        ("nv_inference_request_success", "counter", "total", "requests"),
        ("vllm:iteration_tokens_total", "histogram", "level", "tokens"),
        ("vllm:kv_cache_usage_perc", "gauge", "ratio", "ratio"),
        ("volcano_e2e_scheduling_latency_milliseconds", "histogram", "level", "milliseconds"),
    ],
)
def test_what_a_name_hides(name: str, type_: str, reading: str, unit: str) -> None:
    assert {(m.type, m.reading, m.unit) for m in METRICS if m.name == name} == {(type_, reading, unit)}


@pytest.mark.parametrize("metric", NODE, ids=label)
def test_a_metric_of_node_exporter_has_its_name_and_labels(metric: Metric) -> None:
    assert metric.name.startswith("node_")
    assert metric.field is None
    if metric.name.startswith("node_infiniband_"):
        assert (metric.entity, metric.labels) == ("port", ("device", "port"))
    assert metric.name.endswith("_total") == (metric.type == "counter")


def test_no_metric_and_no_field_stands_twice(root: Path) -> None:
    """Only programs of one purpose share names, and a factory has one of them."""
    for purpose in {exporter for exporter, _ in FILES}:
        others = {
            metric.name
            for exporter, flavour in FILES
            if exporter != purpose
            for metric in metrics_of(exporter, flavour)
        }
        for exporter, flavour in FILES:
            if exporter == purpose:
                names = Counter(row["name"] for row in listed(root, file_of(exporter, flavour))[1:])
                assert [name for name, times in names.items() if times > 1] == []
                assert not others & names.keys()
    fields = Counter(metric.field for metric in FIELDS)
    assert [field for field, times in fields.items() if times > 1] == []


def file_of(exporter: str, flavour: str) -> str:
    return f"{exporter}_{flavour}" if flavour else exporter


def test_every_file_is_read_as_a_usual_yaml_reader_reads_it(root: Path) -> None:
    for exporter, flavour in FILES:
        head, *series = listed(root, file_of(exporter, flavour))
        job = exporter if exporter in MONITORS else exporter_kinds()[exporter].job
        assert head["exporter"] == exporter
        for row, ours in zip(series, metrics_of(exporter, flavour), strict=True):
            copies = tuple(head.get("copies", {}).get(row["entity"], ()))
            own = {"labels": ours.labels, "copies": copies if exporter == "dcgm" or row["type"] == "gauge" else ()}
            assert ours == Metric(**{"exporter": job, "source": head["source"], **row, **own, "buckets": ours.buckets})
            assert list(ours.labels) == row.get("labels", [])
            assert [*map(float, ours.buckets)] == head.get("buckets", {}).get(row.get("buckets"), [])
    assert [SignalKind(**row) for row in listed(root, "signals")] == SIGNALS
    assert list(exporter_kinds()) == [row["id"] for row in listed(root, "exporters")]
    assert list(gpu_models().values()) == [GpuModel(**row) for row in listed(root, "gpus")]
    assert [(one.name, list(one.codes)) for one in xid_classes()] == [
        (row["name"], row["codes"]) for row in listed(root, "xid")
    ]


@pytest.mark.parametrize("name", ["signals", "exporters", "gpus", "xid"])
def test_no_id_stands_twice(name: str, root: Path) -> None:
    ids = Counter(row.get("id") or row["name"] for row in listed(root, name))
    assert [id_ for id_, times in ids.items() if times > 1] == []


@pytest.mark.parametrize(
    ("line", "told"),
    [
        ("- {name: a}", "x.yaml:2: a row is one line of JSON: Expecting property name"),
        ('- {"name": "a",', "x.yaml:2: a row is one line of JSON: Expecting property name"),
        ('- {"name": "a"}  # why', "x.yaml:2: a row is one line of JSON: Extra data"),
        ('  "type": "gauge"}', "x.yaml:2: neither a row, as `- {...}`, nor a comment"),
        ("metrics:", "x.yaml:2: neither a row, as `- {...}`, nor a comment"),
    ],
)
def test_a_row_that_is_no_line_of_json_is_refused_with_its_place(line: str, told: str) -> None:
    assert rows("x.yaml", '# a comment\n\n- {"name": "a"}') == [{"name": "a"}]
    with pytest.raises(ValueError, match=re.escape(told)):
        rows("x.yaml", f"# a comment\n{line}\n")


def test_every_data_file_belongs_to_an_exporter(root: Path) -> None:
    others = {"dcgm_names", "entities", "exporters", "gpus", "limits", "recorded", "signals", "steps", "targets"}
    others |= {"units", "xid"}
    there = {path.stem for path in (root / "compiler/tocsin/catalog").glob("*.yaml")}
    assert there == others | {file_of(exporter, flavour) for exporter, flavour in FILES}


@pytest.mark.parametrize("kind", exporter_kinds().values(), ids=lambda kind: kind.id)
def test_an_exporter_is_whole_and_the_language_has_it(kind: ExporterKind) -> None:
    assert kind.stands in ("node", "address", "proxy")
    assert kind.blind in ("page", "ticket")
    assert re.fullmatch(r"[a-z]+(-[a-z]+)*", kind.job)
    assert [other.id for other in exporter_kinds().values() if other.job == kind.job] == [kind.id]
    assert re.fullmatch(r"[0-9]{4,5}" if kind.stands == "node" else r"[a-z0-9-]+:[0-9]{4}", kind.example)
    assert kind.timeout <= max(kind.least, Duration.of(seconds=10))
    assert bool(kind.signal) != kind.mapped
    assert kind.id in Exporters.model_fields
    for flavour in kind.flavours or ("",):
        shown = metrics_of(kind.id, flavour)
        assert not kind.signal or any(metric.signal == kind.signal for metric in shown)
        known = {name for metric in shown for name in metric.labels}
        assert not known & {old for old, _ in kind.renames}, "labels are listed by their names after ingest"
    if kind.signal:
        assert signal_kinds()[kind.signal].base


def test_the_language_has_no_other_exporter() -> None:
    assert list(Exporters.model_fields) == list(exporter_kinds())
    for kind in exporter_kinds().values():
        model = get_args(Exporters.model_fields[kind.id].annotation)
        fields = next((one for one in model if hasattr(one, "model_fields")), Exporter).model_fields
        assert ("port" in fields) == (kind.stands == "node")
        assert ("hosts" in fields) == (kind.stands == "proxy")
        flavours = get_args(fields["flavour"].annotation) if "flavour" in fields else ()
        assert flavours == kind.flavours


@pytest.mark.parametrize("kind", SIGNALS, ids=lambda kind: kind.id)
def test_a_signal_is_whole_and_something_carries_it(kind: SignalKind) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", kind.id)
    assert kind.layer in LAYERS
    assert re.fullmatch(r'[A-Za-z][^\n"]*[^\n".]', kind.meaning)  # it stands inside sentences
    carried_by = {metric.exporter for metric in METRICS if metric.signal == kind.id}
    assert bool(carried_by) + bool(kind.label) + kind.mapped == 1
    assert len(carried_by) < 2 or kind.id == "fabric_errors", "one signal, one exporter that shows it"
    assert not (kind.base and kind.mandatory)
    assert kind.monitoring == (carried_by <= {*MONITORS} and bool(carried_by))


def test_who_shows_a_signal() -> None:
    assert carriers()["kueue_pending"] == ("kueue",)
    assert carriers()["slurm_jobs"] == tuple(f"slurm {flavour}" for flavour in exporter_kinds()["slurm"].flavours)
    assert {signal for signal, names in carriers().items() if names} == {metric.signal for metric in METRICS}


def test_what_is_always_collected_has_stayed_the_same() -> None:
    """A row more in the catalogue is nothing more in the counters file."""
    always = {kind.id for kind in SIGNALS if kind.mandatory or kind.base}
    assert len([metric for metric in DCGM if metric.signal in always]) == 20
    assert {metric.signal for metric in NODE if metric.signal in always} == {"fabric_errors", "fabric_link"}


def test_what_a_fleet_must_not_be_blind_for() -> None:
    mandatory = {kind.id for kind in SIGNALS if kind.mandatory}
    assert mandatory == {"xid", "throttle_reasons", "fabric_errors", "pcie_throughput", "hbm_activity", "job_metadata"}


@pytest.mark.parametrize("kind", limit_kinds().values(), ids=lambda kind: kind.id)
def test_a_limit_is_whole_and_says_where_it_is_from(kind: LimitKind) -> None:
    read = {"share": parse_percent, "duration": Duration.parse, "number": parse_amount}[kind.kind]
    assert {kind.signal, kind.beside or kind.signal} <= signal_kinds().keys()
    assert read(kind.least) < read(kind.most)
    assert kind.usual is None or read(kind.least) <= read(kind.usual) <= read(kind.most)
    assert (kind.usual is None) == kind.source.startswith("not verified"), "what nobody verified is off"
    assert re.fullmatch(r'(the|how) [^\n"]*[^\n".]', kind.meaning)
    assert [other.id for other in limit_kinds().values() if other.alert == kind.alert] == [kind.id]
    names = {metric.name for metric in METRICS if metric.signal == kind.signal}
    assert not kind.metric or kind.metric in names


@pytest.mark.parametrize("class_", xid_classes(), ids=lambda class_: class_.name)
def test_a_class_of_xids_is_whole(class_: XidClass) -> None:
    assert class_.severity in ("page", "ticket")
    assert class_.layer in LAYERS
    assert list(class_.codes) == sorted(class_.codes)
    assert all(0 < code < 1000 for code in class_.codes)
    assert re.fullmatch(r'[a-z][^\n"]*[^\n".]', class_.action)
    assert re.fullmatch(r"[a-z]+", class_.name)


def test_no_xid_is_in_two_classes() -> None:
    codes = Counter(code for class_ in xid_classes() for code in class_.codes)
    assert [code for code, times in codes.items() if times > 1] == []


@pytest.mark.parametrize(
    ("code", "name"),
    [
        (79, "reset"),  # the GPU has fallen off the bus
        (74, "nvlink"),
        (48, "reset"),  # a double-bit error
        (94, "contained"),
        (95, "reset"),  # uncontained
        (63, "corrected"),  # a row was remapped
        (31, "application"),  # a page fault of the program
        (43, "application"),
        (13, "application"),
    ],
)
def test_the_class_of_the_best_known_xids(code: int, name: str) -> None:
    assert [class_.name for class_ in xid_classes() if code in class_.codes] == [name]


def test_only_the_program_itself_is_never_a_page() -> None:
    for class_ in xid_classes():
        if class_.layer == "application":
            assert class_.severity == "ticket"


@pytest.mark.parametrize("model", gpu_models().values(), ids=lambda model: model.name)
def test_the_host_link_of_a_model_is_one_of_pci_express(model: GpuModel) -> None:
    """16 lanes of 8, 16 or 32 GT/s, of which 128 in 130 bits carry data, in bytes."""
    rates = {16 * transfers * 10**9 * 128 // 130 // 8 for transfers in (8, 16, 32)}
    assert model.pcie in rates
    assert model.product.startswith("NVIDIA ")
    assert re.fullmatch(r"[a-z]+[0-9]+[a-z]*", model.name)
