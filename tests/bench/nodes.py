"""A spec with N nodes of eight GPUs in ten clusters, and the work of compiling it."""

from collections.abc import Iterator
from pathlib import Path

from .clock import Work
from .ours import emitted_rules, tocsin

NODES = (12_500, 25_000, 37_500, 50_000)
CLUSTERS = 10

_BEGINNING = """\
version: 1
factory: large
targets: {prometheus: "3.5", alertmanager: "0.33", grafana: "12", dcgm_exporter: "4.8.2"}
owners:
  ops:
    page: {webhook: {url_file: secrets/page}}
    ticket: {webhook: {url_file: secrets/ticket}}
    runbooks: https://runbooks.example.com/
layers: {silicon: ops, fabric: ops, runtime: ops, application: ops, facility: ops}
labels: {cluster: {}, node: {pattern: "gpu-node-[0-9]{6}"}, gpu_uuid: {}, job_id: {}}
collection: {servers: {max_series: 5M, replicas: 2, federation: [edge, regional, global]}}
signals: {mandatory: [xid, throttle_reasons, fabric_errors, pcie_throughput, hbm_activity, job_metadata]}
alerting: {alertmanagers: ["alertmanager:9093"], fallback: ops, heartbeat: {webhook: {url_file: secrets/heartbeat}}}
grafana: {url: "https://grafana.example.com", datasource: "http://prometheus:9090"}
clusters:"""


def spec_lines(nodes: int) -> Iterator[str]:
    """The lines of the spec."""
    yield _BEGINNING
    each = nodes // CLUSTERS
    for number in range(CLUSTERS):
        first, last = number * each + 1, (number + 1) * each
        yield f"  c{number}:"
        yield f"    {{region: r{number % 3}, scheduler: slurm, discovery: {{file: {{}}}},"
        yield f'     jobs: {{trainer: {{workload: training, hosts: "gpu-node-[{first:06}-{last:06}]", port: 8000}}}},'
        yield f'     nodes: {{h100: {{hosts: "gpu-node-[{first:06}-{last:06}]", gpu: {{model: h100, count: 8}},'
        yield '       fabric: infiniband, fabric_devices: "mlx5_[0-7]", fabric_speed: 400Gb/s}}}'


def nodes_work(nodes: int, specs: Path) -> Work:
    """Compiling that many nodes without verification; the spec is written into the folder `specs` now."""
    spec = specs / f"nodes-{nodes}.yaml"
    spec.write_text("\n".join(spec_lines(nodes)) + "\n", encoding="utf-8")
    place = f"nodes-{nodes}"
    return Work(
        f"tocsin build, {nodes:,} nodes",
        lambda folder: [tocsin("build", spec, "--out", folder / place, "--no-verify")],
        lambda folder: emitted_rules(folder / place),
    )
