"""The knowledge of the field: whole, free of contradictions, and fit for the files that it goes into."""

import re
from collections import Counter
from typing import Any

import pytest
import yaml

from tocsin.catalog import (
    EXPORTERS,
    GpuModel,
    Metric,
    SignalKind,
    XidClass,
    gpu_models,
    metrics,
    profiling_signals,
    signal_kinds,
    xid_classes,
)
from tocsin.factory import LAYERS

METRICS = list(metrics().values())
SIGNALS = list(signal_kinds().values())
DCGM = [metric for metric in METRICS if metric.exporter == "dcgm"]
NODE = [metric for metric in METRICS if metric.exporter == "node"]

# Which readings each type of metric has.
READINGS = {
    "counter": {"total"},
    "gauge": {"level", "ratio", "percent", "code", "bits", "flag", "throughput"},
    "histogram": {"level"},
}


def rows(root: Any, name: str) -> Any:
    """A data file as PyYAML reads it."""
    return yaml.safe_load((root / "compiler/tocsin/catalog" / f"{name}.yaml").read_text("utf-8"))


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_metric_is_whole(metric: Metric) -> None:
    assert metric.signal in signal_kinds()
    assert re.fullmatch(r"[A-Za-z_][A-Za-z0-9_]*", metric.name)
    assert metric.reading in READINGS[metric.type]
    assert metric.errors in ("", "corrected", "uncorrected")
    assert bool(metric.errors) == (metric.signal == "fabric_errors")
    assert metric.unit
    assert all(re.fullmatch(r"[a-z_][a-z0-9_]*", label) for label in metric.labels)


@pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
def test_a_help_text_fits_into_a_line_of_csv(metric: Metric) -> None:
    assert re.fullmatch(r'[^"\n\r#]*[^"\n\r#.]', metric.help)
    assert metric.help.isascii()
    assert metric.help[0].isupper() or metric.help[0].isdigit()


@pytest.mark.parametrize("metric", DCGM, ids=lambda metric: metric.name)
def test_a_metric_of_dcgm_has_its_name_field_and_entity(metric: Metric) -> None:
    assert re.fullmatch(r"DCGM_FI_(DEV|PROF)_[A-Z0-9_]+", metric.name)
    assert metric.field is not None
    # dcgm_fields.h: profiling fields stand from 1001 to 1099, those of devices and links below 1000.
    assert 1001 <= metric.field <= 1099 if "_PROF_" in metric.name else 1 <= metric.field <= 999
    assert metric.entity in ("gpu", "gpu_instance")


@pytest.mark.parametrize("metric", NODE, ids=lambda metric: metric.name)
def test_a_metric_of_node_exporter_has_its_name_and_labels(metric: Metric) -> None:
    assert metric.name.startswith("node_infiniband_")
    assert metric.field is None
    assert (metric.entity, metric.labels) == ("port", ("device", "port"))
    assert metric.name.endswith("_total") == (metric.type == "counter")


def test_no_metric_and_no_field_stands_twice(root: Any) -> None:
    names = Counter(row["name"] for exporter in EXPORTERS for row in rows(root, exporter)["metrics"])
    assert set(names) == set(metrics())
    assert [name for name, times in names.items() if times > 1] == []
    fields = Counter(metric.field for metric in DCGM)
    assert [field for field, times in fields.items() if times > 1] == []


def test_every_file_is_read_as_a_usual_yaml_reader_reads_it(root: Any) -> None:
    for exporter in EXPORTERS:
        file = rows(root, exporter)
        assert file["exporter"] == exporter
        for row in file["metrics"]:
            ours = metrics()[row["name"]]
            assert {key: getattr(ours, key) for key in row} == {
                **row,
                **({"labels": ours.labels} if "labels" in row else {}),
            }
            assert list(ours.labels) == row.get("labels", [])
    assert {kind.id: kind._asdict() for kind in SIGNALS} == {
        id_: SignalKind(id_, **row)._asdict() for id_, row in rows(root, "signals").items()
    }
    assert {model.name: model.pcie for model in gpu_models().values()} == {
        name: row["pcie"] for name, row in rows(root, "gpus")["models"].items()
    }


@pytest.mark.parametrize("kind", SIGNALS, ids=lambda kind: kind.id)
def test_a_signal_is_whole_and_something_carries_it(kind: SignalKind) -> None:
    assert re.fullmatch(r"[a-z][a-z0-9_]*", kind.id)
    assert kind.layer in LAYERS
    assert re.fullmatch(r'[A-Za-z][^\n"]*[^\n".]', kind.meaning)  # it stands inside sentences
    carried_by = [metric for metric in METRICS if metric.signal == kind.id]
    assert bool(carried_by) != bool(kind.label)
    assert not (kind.base and kind.mandatory)
    assert kind.base or kind.mandatory or kind.id in profiling_signals()


def test_what_a_fleet_must_not_be_blind_for() -> None:
    mandatory = {kind.id for kind in SIGNALS if kind.mandatory}
    assert mandatory == {"xid", "throttle_reasons", "fabric_errors", "pcie_throughput", "hbm_activity", "job_metadata"}


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
