"""What stands beside GPUs, ports and applications: switches, queues, pods, BMCs, and the pages of all their exporters.

Which metrics a page has is the catalogue's; which labels with which values, and so how many series, is told here, as
the exporters' own documents have it.
"""

from __future__ import annotations

import itertools
import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tocsin.catalog import exporter_kinds, metrics_of
from tocsin.fleet.exposition import Family, page
from tocsin.fleet.listener import Listener, same_port
from tocsin.fleet.port import shown

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Iterator, Mapping, Sequence
    from types import TracebackType

    from tocsin.catalog.kinds import ExporterKind, Metric
    from tocsin.fleet.exposition import Labels
    from tocsin.fleet.fleet import Fleet

COUNTS = {
    "device": 6, "sensor": 5, "fan": 4, "power_supply": 2, "switch": 3, "switch_port": 90, "pod": 70, "container": 110,
    "queue": 3, "partition": 2, "model": 2, "model_instance": 4, "nvswitch": 2, "nvswitch_link": 8, "cpu": 2,
    "link": 32,
    "integration": 18,
}  # fmt: skip
FLAVOUR = "native"
WELL = ("alertmanager_config_last_reload_successful", "prometheus_config_last_reload_successful")
COOLING = ("cdu_flow_litres_per_minute", "cdu_supply_celsius")
# What a level of some unit shows and how much of another unit is counted in a second, at a site that works. Of other
# units, flags, codes and whatever counts faults, it shows nought.
LEVELS = {
    "bytes": 4e11, "kibibytes": 4e8, "celsius": 38, "watts": 900, "milliwatts": 6.5e5, "rpm": 5400, "percent": 12,
    "ratio": 0.35, "cpus": 64, "gpus": 8, "jobs": 3, "requests": 2, "units": 8, "seconds": 600, "microseconds": 900,
    "bytes/s": 5e8, "operations/s": 9e3, "threads": 4, "drives": 24, "workloads": 1, "lanes": 16, "transfers/s": 3.2e10,
}  # fmt: skip
RATES = {
    "bytes": 2e8, "joules": 400, "requests": 20, "inferences": 20, "executions": 5, "tokens": 1500, "seconds": 0.02,
    "microseconds": 2e4, "nanoseconds": 5e8,
}  # fmt: skip
FAULTS = ("fail", "retrans", "evicted", "preempted", "stalled")  # parts of the names of what counts faults
FILLING = {"node_filesystem_avail_bytes": -1e6}  # bytes a second
EVENTS = 10  # a second, of each histogram

# The values of labels that tell apart what one entity has. Where a name stands before, they are those of its metrics.
VALUES = {
    "kube_node_status_condition status": ("true", "false", "unknown"),
    "condition": ("Ready", "MemoryPressure", "DiskPressure", "PIDPressure"),
    "phase": ("Pending", "Running", "Succeeded", "Failed", "Unknown"),
    "kube_node_status resource": (
        "cpu", "memory", "ephemeral_storage", "hugepages_1Gi", "hugepages_2Mi", "pods", "nvidia_com_gpu",
    ),
    "kube_pod_container_resource resource": ("cpu", "memory", "nvidia_com_gpu"),
    "kueue_pending_workloads status": ("active", "inadmissible"),
    "kueue_cluster_queue resource": ("cpu", "memory", "nvidia.com/gpu"),
    "finished_reason": ("stop", "length", "abort"),
    "network_io_direction": ("receive", "transmit"),
    "hw_state": ("ok", "degraded", "failed"),
    "psu": ("1", "2"),
    "alertmanager_notifications reason": (
        "clientError", "contextCanceled", "contextDeadlineExceeded", "other", "serverError",
    ),
    "infiniband_switch_fan fan": tuple(map(str, range(1, 8))),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Seen:
    """What one target speaks of: hosts, the ids of the GPUs and the number of fabric ports of each.

    It has worked since `began`. Where it is `eventful`, everything has happened once that brings series of its own.
    """

    hosts: Sequence[str]
    gpus: Mapping[str, Sequence[str]]
    ports: int
    began: float = field(default_factory=time.monotonic)
    eventful: bool = False


def families(metrics: Sequence[Metric], seen: Seen, renames: Mapping[str, str]) -> Iterator[Family]:
    """The metrics of a sound site that works. `renames` by the schema's names."""
    since = time.monotonic() - seen.began
    for metric in metrics:
        if metric.sparse and not seen.eventful:
            continue
        rows = [{renames.get(name, name): value for name, value in row.items()} for row in _rows(metric, seen)]
        if metric.type != "histogram":
            yield Family(metric.name, metric.type, metric.help, [(row, _value(metric, row, since)) for row in rows])
        else:
            yield Family(metric.name, metric.type, metric.help, (), _histogram(metric, rows, since))


def _rows(metric: Metric, seen: Seen) -> list[dict[str, str]]:
    """The labels of each series of a metric."""
    found: dict[tuple[str, ...], dict[str, str]] = {}
    for entity in _entities(metric.entity, seen):
        own = {name: value for name, value in entity.items() if name in metric.labels}
        others = [name for name in metric.labels if name not in own]
        for values in itertools.product(*(_values(metric, name) for name in others)):
            labels = {**own, **dict(zip(others, values, strict=True))}
            found[tuple(labels.values())] = labels
    return list(found.values())


def _value(metric: Metric, row: Labels, since: float) -> float:
    """What a sound site shows: work, no faults, and a one where that says that all is well."""
    if metric.name == "kube_node_status_condition":
        return row["status"] == ("true" if row["condition"] == "Ready" else "false")
    if metric.errors or any(part in metric.name for part in FAULTS):
        return 0
    if metric.reading == "total":
        return int(RATES.get(metric.unit, 0) * since)
    if metric.reading in ("level", "percent", "ratio", "throughput"):
        part = 0.5 if re.search("used|usage|alloc", metric.name) else 1
        return part * LEVELS.get(metric.unit, 0) + FILLING.get(metric.name, 0) * since
    return metric.name in WELL


def _histogram(metric: Metric, rows: Sequence[Labels], since: float) -> list[tuple[str, Labels, float]]:
    """Events that are spread evenly over the finite buckets."""
    edges = [float(edge) for edge in metric.buckets or range(1, metric.finite + 1)]
    done = [int(EVENTS * since * (index + 1) / len(edges)) for index in range(len(edges))]
    shown = [*zip(map("{:g}".format, edges), done, strict=True), ("+Inf", done[-1])]
    parts: list[tuple[str, Labels, float]] = [
        ("_bucket", {**row, "le": le}, count) for row in rows for le, count in shown
    ]
    sums = (("_sum", done[-1] * edges[-1] / 2), ("_count", done[-1]))
    return [*parts, *((part, row, value) for row in rows for part, value in sums)]


def _values(metric: Metric, label: str) -> tuple[str, ...]:
    for key, values in VALUES.items():
        prefix, _, name = key.rpartition(" ")
        if name == label and metric.name.startswith(prefix):
            return values
    return ("0",)


def _entities(kind: str, seen: Seen) -> Iterator[dict[str, str]]:
    """Everything of a kind, each with its labels by their names in the schema."""
    if kind == "host":
        yield from ({"node": host} for host in seen.hosts)
    elif kind == "gpu":
        ids = (gpu for host in seen.hosts for gpu in seen.gpus[host])
        yield from ({"gpu_uuid": gpu, "hw_id": gpu, "hw_name": gpu} for gpu in ids)
    elif kind in ("hca_port", "port"):
        for host, index in itertools.product(seen.hosts, range(seen.ports)):
            yield {"guid": host, "hca": f"{host} HCA-{index}", "device": f"mlx5_{index}"}
    elif kind in ("cluster", "server"):
        yield {}
    else:
        for index in range(COUNTS.get(kind, 1)):
            one = f"{kind}-{index}"
            named = {"gpu_uuid": next(gpu for host in seen.hosts for gpu in seen.gpus[host])}
            names = ("device", "subsystem", "segment", "export", "target", "id", "guid", "pod", "container", "model")
            named |= dict.fromkeys((*names, "cluster_queue", "queue_name", "partition", "integration"), one)
            if kind == "switch_port":
                named |= {"guid": f"switch-{index % COUNTS['switch']}", "port": str(index)}
            yield {**named, "namespace": f"team-{index % 2}", "uid": one, "switch": one}


def of_node(whole: Seen, host: str, wanted: Container[str] | None = None) -> Callable[[], Iterator[Family]]:
    """All that the catalogue knows of node_exporter and a node of the fleet does not show by itself, as of then.

    Or as much of it as is `wanted`.
    """
    own = {"node_cpu_seconds_total", *(metric.name for metric in shown())}
    others = [one for one in metrics_of("node") if one.name not in own and (wanted is None or one.name in wanted)]
    return lambda: families(others, _of(whole, host), {})


def answer(kind: ExporterKind, flavour: str, path: str, whole: Seen, host: str = "") -> str:
    """The page of an exporter, of a `host` where it stands on one.

    A proxy's is that of the host it is asked for, Slurm has several. `flavour` counts where there are flavours.
    """
    if kind.mapped:
        return page(Family(name, "gauge", "of the coolant", [({}, 40)]) for name in COOLING)
    if kind.stands == "proxy":
        (host,) = parse_qs(urlsplit(path).query)["target"]
    metrics = metrics_of(kind.id, flavour if kind.flavours else "")
    here = [metric for metric in metrics if path.startswith(metric.page or "/metrics")]
    seen = _of(whole, host or whole.hosts[0]) if host or kind.sees == "host" else whole
    return page(families(here, seen, {new: old for old, new in kind.renames}))


def _of(whole: Seen, host: str) -> Seen:
    return replace(whole, hosts=[host], gpus={host: whole.gpus.get(host, [""])})


class Estate:
    """Listens on loopback for every exporter of the catalogue beside dcgm and node; use it in a `with`.

    `exporters` is what a spec says of them; at `alertmanager` is one that takes every alert and tells nobody. Where
    `eventful`, everything has happened once that brings series of its own.
    """

    def __init__(self, fleet: Fleet, *, eventful: bool = False) -> None:
        nodes = list(fleet.nodes.values())
        gpus = {node.host: [board.uuid for board in node.boards] for node in nodes}
        self._whole = Seen([*gpus], gpus, nodes[0].adapters, eventful=eventful)
        self._listeners: list[Listener] = []
        self.exporters: dict[str, dict[str, object]] = {}
        try:
            self._listeners.append(Listener(("127.0.0.1", 0), self._alertmanager))
            self.alertmanager = f"127.0.0.1:{self._listeners[0].address[1]}"
            for kind in exporter_kinds().values():
                if kind.id not in fleet.ports:
                    self.exporters[kind.id] = self._listen(kind)
        except OSError:
            self.close()
            raise

    def __enter__(self) -> Estate:
        """Nothing to do: it listens already."""
        return self

    def __exit__(self, *_: type[BaseException] | BaseException | TracebackType | None) -> None:
        """Stop listening."""
        self.close()

    def close(self) -> None:
        """Stop listening."""
        while self._listeners:
            self._listeners.pop().stop()

    def of_node(self, host: str) -> Callable[[], Iterator[Family]]:
        """All that the catalogue knows of node_exporter and a node of the fleet does not show by itself, as of then."""
        return of_node(self._whole, host)

    def _alertmanager(self, _path: str, _body: bytes) -> str:
        return page(families(metrics_of("alertmanager"), self._whole, {}))

    def _listen(self, kind: ExporterKind) -> dict[str, object]:
        """Start an exporter; what a spec says of it."""
        if kind.stands == "node":
            answers = [
                lambda path, _body, host=host: answer(kind, FLAVOUR, path, self._whole, host)
                for host in self._whole.hosts
            ]
            self._listeners += (found := same_port(self._whole.hosts, answers, 0))
            return {"port": found[0].address[1]}
        one = Listener(("127.0.0.1", 0), lambda path, _body: answer(kind, FLAVOUR, path, self._whole))
        self._listeners.append(one)
        at = f"127.0.0.1:{one.address[1]}"
        if kind.stands == "proxy":
            return {"at": at, "hosts": [f"bmc-{host}" for host in self._whole.hosts]}
        return {"at": [at], **({"flavour": FLAVOUR} if kind.flavours else {})}
