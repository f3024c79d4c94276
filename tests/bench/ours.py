"""Our own side: the commands of tocsin that are timed, and a spec with N ratio SLOs."""

import os
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

from tocsin.verify.promtool import CHECK_CONFIG, CHECK_RULES, TEST_RULES

from .clock import RunError, Work
from .rules import count_rules

CHECKOUT = Path(__file__).resolve().parents[2]
EXAMPLE = CHECKOUT / "specs" / "ai-factory.yaml"

# The peers' files hold services and their SLOs; so does this one, and the least of a factory that they may stand in.
FACTORY = """\
version: 1
factory: bench
targets: {prometheus: "3.5", alertmanager: "0.33", grafana: "12", dcgm_exporter: "4.8.2"}
owners:
  serving:
    page: {webhook: {url_file: secrets/page}}
    ticket: {webhook: {url_file: secrets/ticket}}
    runbooks: https://runbooks.example.com/
layers: {silicon: serving, fabric: serving, runtime: serving, application: serving, facility: serving}
labels: {cluster: {}, node: {}, gpu_uuid: {}, job_id: {}, tenant: {}, service: {}, code: {}}
clusters:
  east:
    region: eu-central
    scheduler: slurm
    discovery: {file: {}}
    nodes: {h100: {hosts: "gpu-node-[01-08]", gpu: {model: h100, count: 8}, fabric: infiniband}}
    jobs: {serving: {workload: inference, hosts: "gpu-node-[01-08]", port: 8002}}
signals:
  mandatory: [xid]
  define:
    requests:
      {metric: inference_requests_total, type: counter, unit: requests, layer: application, job: serving,
       labels: [service, code]}
alerting: {alertmanagers: ["alertmanager:9093"], fallback: serving, heartbeat: {webhook: {url_file: secrets/heartbeat}}}
grafana: {url: "https://grafana.example.com", datasource: "http://prometheus:9090"}
include: [generated.yaml]
"""


def tocsin(*arguments: str | Path) -> list[str]:
    """A command line of the tocsin that is installed beside this Python."""
    return [str(Path(sys.executable).with_name("tocsin")), *map(str, arguments)]


def slo_lines(slos: int) -> Iterator[str]:
    """The lines of an included spec file with that many ratio SLOs."""
    yield "slos:"
    for number in range(1, slos + 1):
        service = f'service="svc-{number:05}"'
        bad = f'inference_requests_total{{{service},code=~"5.."}}'
        total = f"inference_requests_total{{{service}}}"
        yield f"  svc-{number:05}-availability:"
        yield "    {owner: serving, objective: 99.5%, period: 30d, by: [cluster, service],"
        yield f"     ratio: {{bad: '{bad}', total: '{total}'}}, traffic: {{min_events: 50}}}}"


def spec_with(slos: int, folder: Path) -> Path:
    """Write a spec with that many SLOs; the path of the root file."""
    place = folder / f"slos-{slos}"
    place.mkdir(exist_ok=True)
    (place / "generated.yaml").write_text("\n".join(slo_lines(slos)) + "\n", encoding="utf-8")
    path = place / "factory.yaml"
    path.write_text(FACTORY, encoding="utf-8")
    return path


def compile_work(slos: int, specs: Path) -> Work:
    """Compiling that many SLOs without verification; the spec is written into the folder `specs` now."""
    spec = spec_with(slos, specs)
    place = f"ours-{slos}"

    def commands(folder: Path) -> Sequence[Sequence[str]]:
        return [tocsin("build", spec, "--out", folder / place, "--no-verify")]

    def rules(folder: Path) -> int:
        emitted = emitted_rules(folder / place)
        if emitted < slos:
            raise RunError(f"tocsin emitted {emitted:,} rules for {slos:,} SLOs")
        return emitted

    return Work(f"tocsin build, {slos:,} SLOs", commands, rules, slos)


def check_work() -> Work:
    """The fast half, as a pre-commit hook runs it, on the example spec."""
    return Work("tocsin check", lambda _: [tocsin("check", EXAMPLE)])


def imports_work() -> Work:
    """Starting this Python and importing what a compiler of such specs would import."""
    return Work("python imports", lambda _: [[sys.executable, "-c", "import yaml, pydantic, promql_parser"]])


def build_work() -> Work:
    """The whole build of the example spec, verification included."""
    return Work(
        "tocsin build",
        lambda folder: [tocsin("build", EXAMPLE, "--out", folder / "ours")],
        lambda folder: emitted_rules(folder / "ours"),
    )


def promtool_work() -> Work:
    """What verification asks of promtool, asked by hand, of the files that `build_work` left in the round's folder."""
    return Work("promtool", lambda folder: promtool_commands(output_below(folder / "ours")))


def promtool_commands(output: Path) -> Sequence[Sequence[str]]:
    """The command lines of promtool by which the verify stage proves an output folder."""
    promtool = os.environ.get("PROMTOOL") or "promtool"

    def files(pattern: str) -> list[str]:
        found = sorted(map(str, output.glob(pattern)))
        if not found:
            raise RunError(f"the build left no {pattern}")
        return found

    return [
        [promtool, *CHECK_RULES, *files("rules/*.yml")],
        [promtool, *CHECK_CONFIG, *files("prometheus/*/*.yml")],
        [promtool, *TEST_RULES, *files("tests/*.yml")],
    ]


def emitted_rules(place: Path) -> int:
    """How many rules a build left below the folder that it was told to write to."""
    return count_rules(output_below(place).glob("rules/*.yml"))


def output_below(place: Path) -> Path:
    """The output folder of a build, which the manifest marks at whatever depth it is. Raises `RunError` without one."""
    manifest = next(place.rglob("manifest.json"), None)
    if manifest is None:
        raise RunError("tocsin build wrote no manifest.json")
    return manifest.parent
