"""What stands beside GPUs, ports and applications: switches, queues, pods, BMCs, and the pages of all their exporters.

Which metrics a page has is the catalogue's; which labels with which values, and so how many series, is told here, as
the exporters' own documents have it.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import parse_qs, urlsplit

from tocsin.catalog import exporter_kinds, metrics_of
from tocsin.fleet.exposition import Family, page
from tocsin.fleet.listener import Listener, same_port
from tocsin.fleet.port import shown

if TYPE_CHECKING:
    from collections.abc import Container, Iterator, Mapping, Sequence
    from types import TracebackType

    from tocsin.catalog import ExporterKind, Metric
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
    """What one target speaks of: hosts, the ids of the GPUs and the number of fabric ports of each."""

    hosts: Sequence[str]
    gpus: Mapping[str, Sequence[str]]
    ports: int


def families(metrics: Sequence[Metric], seen: Seen, renames: Mapping[str, str]) -> Iterator[Family]:
    """The metrics of a sound site; what an event would have to bring is not there. `renames` by the schema's names."""
    for metric in metrics:
        if metric.sparse:
            continue
        rows = [{renames.get(name, name): value for name, value in row.items()} for row in _rows(metric, seen)]
        if metric.type != "histogram":
            yield Family(metric.name, metric.type, metric.help, [(row, _value(metric, row)) for row in rows])
            continue
        edges = [*(str(edge) for edge in metric.buckets or range(metric.finite)), "+Inf"]
        parts: list[tuple[str, Labels, float]] = [("_bucket", {**row, "le": le}, 0) for row in rows for le in edges]
        parts += [(part, row, 0) for row in rows for part in ("_sum", "_count")]
        yield Family(metric.name, metric.type, metric.help, (), parts)


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


def _value(metric: Metric, row: Labels) -> float:
    """What a sound site shows: nothing, but where a one says that all is well."""
    if metric.name == "kube_node_status_condition":
        return row["status"] == ("true" if row["condition"] == "Ready" else "false")
    return metric.name in WELL


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
        for index in range(COUNTS[kind]):
            one = f"{kind}-{index}"
            named = {"gpu_uuid": next(gpu for host in seen.hosts for gpu in seen.gpus[host])}
            names = ("device", "subsystem", "segment", "export", "target", "id", "guid", "pod", "container", "model")
            named |= dict.fromkeys((*names, "cluster_queue", "queue_name", "partition", "integration"), one)
            if kind == "switch_port":
                named |= {"guid": f"switch-{index % COUNTS['switch']}", "port": str(index)}
            yield {**named, "namespace": f"team-{index % 2}", "uid": one, "switch": one}


def of_node(whole: Seen, host: str, wanted: Container[str] | None = None) -> list[Family]:
    """All that the catalogue knows of node_exporter and a node of the fleet does not show by itself.

    Or as much of it as is `wanted`.
    """
    own = {"node_cpu_seconds_total", *(metric.name for metric in shown())}
    others = [one for one in metrics_of("node") if one.name not in own and (wanted is None or one.name in wanted)]
    return list(families(others, _of(whole, host), {}))


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
    return Seen([host], {host: whole.gpus.get(host, [""])}, whole.ports)


class Estate:
    """Listens on loopback for every exporter of the catalogue beside dcgm and node; use it in a `with`.

    `exporters` is what a spec says of them; at `alertmanager` is one that takes every alert and tells nobody.
    """

    def __init__(self, fleet: Fleet) -> None:
        nodes = list(fleet.nodes.values())
        gpus = {node.host: [board.uuid for board in node.boards] for node in nodes}
        self._whole = Seen([*gpus], gpus, nodes[0].adapters)
        self._listeners: list[Listener] = []
        self.exporters: dict[str, dict[str, object]] = {}
        try:
            own = page(families(metrics_of("alertmanager"), self._whole, {}))
            self._listeners.append(Listener(("127.0.0.1", 0), lambda _path, _body: own))
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

    def of_node(self, host: str) -> list[Family]:
        """All that the catalogue knows of node_exporter and a node of the fleet does not show by itself."""
        return of_node(self._whole, host)

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
