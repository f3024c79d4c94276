"""The fleet of specs/incident-world.yaml, or of incidents/site/spec.yaml, while nothing is wrong, and how it changes.

A world maps each series to its samples. An incident's changes are applied in their order, each to the series that its
selector `metric{label=value,...}` finds (regular expressions, anchored at both ends); minutes count from the begin:

    {of: SELECTOR, is: TIMELINE}                         other values, see incident_timeline
    {of: SELECTOR, gone: [FROM, BACK]}                   no samples from a minute on, or between two
    {of: SELECTOR, unseen: [FROM, BACK]}                 the same while Prometheus itself is down: no series ends
    {of: SELECTOR, copy: {label: value}}                 the exporter's second copy, for a MIG instance or a job
    {of: SELECTOR, becomes: {label: value}, at: MINUTE}  the series goes on under other labels
    {xid: LABELS, is: TIMELINE}                          codes of boards, each a series: the exporter adds err_code
    {add: SERIES, is: TIMELINE}                          a series that the healthy fleet does not have
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from incident_timeline import UNSEEN, at, timeline
from tocsin.units import number

if TYPE_CHECKING:
    from collections.abc import Iterator

    from incident_timeline import Sample
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup

Key = tuple[str, tuple[tuple[str, str], ...]]
World = dict[Key, "tuple[Sample, ...]"]

# Boards that train at their power limit. A metric of the catalogue that stands nowhere here is at zero.
BOARD = {
    "DCGM_FI_DEV_CLOCK_THROTTLE_REASONS": "4",
    "DCGM_FI_DEV_GPU_UTIL": "98",
    "DCGM_FI_DEV_GPU_TEMP": "61",
    "DCGM_FI_DEV_MEMORY_TEMP": "70",
    "DCGM_FI_DEV_POWER_USAGE": "655",
    "DCGM_FI_DEV_SM_CLOCK": "1905",
    "DCGM_FI_DEV_MAX_SM_CLOCK": "1980",
    "DCGM_FI_DEV_ECC_SBE_VOL_TOTAL": "2",
    "DCGM_FI_DEV_PCIE_REPLAY_COUNTER": "3",
    "DCGM_FI_PROF_PCIE_TX_BYTES": "2100000000",
    "DCGM_FI_PROF_PCIE_RX_BYTES": "3300000000",
    "DCGM_FI_PROF_DRAM_ACTIVE": "0.52",
    "DCGM_FI_DEV_SLOWDOWN_TEMP": "95",
    "DCGM_FI_DEV_MEM_MAX_OP_TEMP": "95",
    "DCGM_FI_DEV_PCIE_LINK_GEN": "5",
    "DCGM_FI_DEV_PCIE_MAX_LINK_GEN": "5",
    "DCGM_FI_DEV_PCIE_LINK_WIDTH": "16",
    "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH": "16",
    "nvidia_smi_gpu_info": "1",
}
OF_BOARDS = {"err_code": "0", "driver_version": "570.1"}  # labels that some metrics of boards have beside the board's
PORT = {
    "node_infiniband_state_id": "4",
    "node_infiniband_physical_state_id": "5",
    "node_infiniband_port_data_received_bytes_total": "0 +20000000000/s",
    "node_infiniband_port_data_transmitted_bytes_total": "0 +20000000000/s",
}
APPLICATION: dict[str, list[tuple[dict[str, str], str]]] = {
    "train_steps_total": [({"job_id": "4711", "tenant": "vision"}, "0 +450/s")],
    "train_job_running": [({"job_id": "4711", "tenant": "vision"}, "1")],
    "train_loss": [({"job_id": "4711", "tenant": "vision"}, "1.9")],
    "train_data_wait_seconds_total": [({"job_id": "4711", "tenant": "vision"}, "0 +0.05/s")],
    "train_rank_seconds": [({"job_id": "4711", "rank": str(rank)}, "1") for rank in range(4)],
    "train_checkpoints_total": [({"job_id": "4711"}, "0 +1/5m")],
    "inference_requests_total": [
        ({"service": "chat", "tenant": "assist", "code": "200"}, "0 +20/s"),
        ({"service": "chat", "tenant": "assist", "code": "500"}, "0"),
    ],
    "inference_request_duration_seconds_count": [({"service": "chat", "tenant": "assist"}, "0 +20/s")],
    "inference_request_duration_seconds_bucket": [
        ({"service": "chat", "tenant": "assist", "le": le}, f"0 +{rate}/s")
        for le, rate in (("0.1", "12"), ("0.25", "18"), ("0.5", "19.96"), ("1.0", "20"), ("+Inf", "20"))
    ],
}
# What stands on a node and is neither a board's nor a port's, and what stands beside the nodes, by the metric.
OF_NODES: dict[str, tuple[dict[str, str], str]] = {
    "smartctl_device_critical_warning": ({"device": "nvme0"}, "0"),
    "smartctl_device_percentage_used": ({"device": "nvme0"}, "12"),
    "smartctl_device_available_spare": ({"device": "nvme0"}, "100"),
    "smartctl_device_available_spare_threshold": ({"device": "nvme0"}, "10"),
    "smartctl_device_media_errors": ({"device": "nvme0"}, "0"),
    "node_nvme_info": ({"device": "nvme0", "state": "live"}, "1"),
    "node_filesystem_avail_bytes": ({"device": "/dev/nvme0n1", "mountpoint": "/scratch", "fstype": "xfs"}, "900000"),
    "node_filesystem_readonly": ({"device": "/dev/nvme0n1", "mountpoint": "/scratch", "fstype": "xfs"}, "0"),
}
BESIDE_NODES: dict[str, list[tuple[dict[str, str], str]]] = {
    "slurm_jobs_pending": [({}, "40")],
    "slurm_nodes_down": [({}, "0")],
    "kueue_pending_workloads": [
        ({"cluster_queue": "training", "status": one}, "0") for one in ("active", "inadmissible")
    ],
    "vllm:num_requests_waiting": [({"model": "chat"}, "2")],
    "vllm:kv_cache_usage_perc": [({"model": "chat"}, "0.6")],
    "cdu_flow_litres_per_minute": [({}, "60")],
    "cdu_supply_celsius": [({}, "32")],
    "cdu_leaks": [({}, "0")],
    "cdu_coolant_flow_liters_per_minute": [({"node": "gpu-node-01"}, "42"), ({"node": "gpu-node-02"}, "42")],
    "cdu_coolant_supply_celsius": [({"node": "gpu-node-01"}, "32"), ({"node": "gpu-node-02"}, "32")],
}


def healthy(factory: Factory, samples: int, spoken_of: str) -> World:
    """The series of the fleet, as they are after ingest, over so many samples.

    The second node and the applications are there only where the incident's text speaks of them: most need neither.
    """
    world: World = {}
    for cluster in factory.clusters.values():
        for group in cluster.groups:
            for number_, host in enumerate(group.hosts, 1):
                if number_ > 1 and not re.search(f"{host}|GPU-{number_}|alone", spoken_of):
                    continue
                for metric, labels, values in _node(factory, cluster, group, host, number_):
                    world[key(metric, labels)] = timeline(values, samples)
        for metric_, labels, values in (*_beside(factory, cluster), *_applications(factory, cluster, spoken_of)):
            world[key(metric_, labels)] = timeline(values, samples)
    return world


def _applications(factory: Factory, cluster: Cluster, spoken_of: str) -> Iterator[tuple[str, dict[str, str], str]]:
    for job in cluster.jobs:
        target = {"cluster": cluster.name, "job": job.name, "instance": f"{job.hosts[0]}:{job.port}"}
        for metric in factory.metrics.values():
            told = metric.exporter == job.name and metric.name.partition("_")[0] in spoken_of
            for name in metric.series if told else ():
                for labels, values in APPLICATION.get(name, []):
                    yield name, {**target, **labels}, values


def _beside(factory: Factory, cluster: Cluster) -> Iterator[tuple[str, dict[str, str], str]]:
    """What exporters show that do not stand on the nodes."""
    for exporter in cluster.exporters:
        for address in exporter.addresses:
            target = {"cluster": cluster.name, "job": exporter.kind.job, "instance": address}
            yield "up", target, "1"
            for metric in factory.metrics.values():
                for labels, values in BESIDE_NODES.get(metric.name, []) if metric.exporter == exporter.kind.job else []:
                    yield metric.name, {**target, **labels}, values


def _node(
    factory: Factory, cluster: Cluster, group: NodeGroup, host: str, index: int
) -> Iterator[tuple[str, dict[str, str], str]]:
    place = {"cluster": cluster.name, "node": host}
    exporters = {name: {**place, "job": name, "instance": f"{host}:{port}"} for name, port in cluster.ports.items()}
    port = {**exporters["node"], "device": "mlx5_0", "port": "1"}
    speed = number(group.port_speed or 0)
    for exporter in exporters.values():
        yield "up", exporter, "1"
    for metric in factory.metrics.values():
        if metric.exporter not in exporters:
            continue
        if metric.name in OF_NODES:
            labels, value = OF_NODES[metric.name]
            yield metric.name, {**exporters[metric.exporter], **labels}, value
            continue
        if metric.entity == "port":
            yield metric.name, port, PORT.get(metric.name, speed if metric.unit == "bytes/s" else "0")
            continue
        extra = {name: value for name, value in OF_BOARDS.items() if name in metric.labels}
        for board in range(group.gpus):
            labels = {"gpu": str(board), "gpu_uuid": f"GPU-{index}-{board}", "job_id": "4711", **extra}
            yield metric.name, {**exporters[metric.exporter], **labels}, BOARD.get(metric.name, "0")


# --- changes ----------------------------------------------------------------------------------------------------------

_SELECTOR = re.compile(r"(?P<metric>[^{]+)(?:\{(?P<labels>.*)\})?")


def key(metric: str, labels: dict[str, str]) -> Key:
    """The identity of a series; a label without a value is none."""
    return metric, tuple(sorted((name, value) for name, value in labels.items() if value))


def apply(world: World, change: dict[str, Any]) -> None:
    """Change a world in place; ValueError where nothing is found that could change."""
    rest = {name: value for name, value in change.items() if name not in ("of", "xid", "add")}
    if "add" in change:
        metric, labels = _read(change["add"])
        world[key(metric, labels)] = timeline(rest["is"], len(next(iter(world.values()))))
        return
    metric, wanted = _read(change.get("of") or f"DCGM_FI_DEV_XID_ERRORS{{{change['xid']}}}")
    found = [series for series in world if _selected(series, metric, wanted)]
    if not found:
        raise ValueError(f"no series is selected by {change}")
    for series in found:
        if "xid" in change:
            _codes(world, series, rest["is"])
        else:
            _change(world, series, rest)


def _read(text: str) -> tuple[str, dict[str, str]]:
    found = _SELECTOR.fullmatch(text)
    if found is None:
        raise ValueError(text)
    pairs = (pair.split("=", 1) for pair in (found["labels"] or "").split(",") if pair)
    return found["metric"], {name.strip(): value.strip() for name, value in pairs}


def _selected(series: Key, metric: str, wanted: dict[str, str]) -> bool:
    labels = dict(series[1])
    return bool(re.fullmatch(metric, series[0])) and all(re.fullmatch(v, labels.get(n, "")) for n, v in wanted.items())


def _change(world: World, series: Key, change: dict[str, Any]) -> None:
    metric, labels = series[0], dict(series[1])
    samples = world[series]
    match change:
        case {"is": text}:
            world[series] = timeline(text, len(samples))
        case {"gone": [begin, *end]} | {"unseen": [begin, *end]}:
            first, last = at(begin), at(end[0]) if end else len(samples)
            missing: Sample = None if "gone" in change else UNSEEN
            world[series] = (*samples[:first], *[missing] * (last - first), *samples[last:])
        case {"copy": dict(other)}:
            world[key(metric, {**labels, **other})] = samples
        case {"becomes": dict(other), "at": minute}:
            first = at(minute)
            renamed = key(metric, {**labels, **other})
            before = world.get(renamed, (None,) * len(samples))
            world[series] = samples[:first] + (None,) * (len(samples) - first)
            world[renamed] = before[:first] + samples[first:]
        case _:
            raise ValueError(change)


def _codes(world: World, series: Key, text: str) -> None:
    """Replace a board's series of XIDs by one for each code that the timeline shows."""
    codes = timeline(text, len(world.pop(series)))
    for code in dict.fromkeys(value for value in codes if value is not None):
        shown = tuple(value if value == code else None for value in codes)
        world[key(series[0], {**dict(series[1]), "err_code": str(code)})] = shown
