"""The two packages that compile SLOs to Prometheus rules in Python, and how each is driven for N ratio SLOs.

Both are installed into a virtual environment of their own, and each is given the form of N SLOs that suits it best:

nthlayer-generate describes one service a file, with any number of SLOs. N services would be N files and N processes
of some 0.7 s each; here it gets one service with N availability SLOs, one file and one process. The indicator's query
is the ratio that our spec states, though its recording rules ignore it. `apply` is its whole compile (recording rules,
input for Sloth, a catalogue entry), `generate-recording-rules` the least that yields rules.

metrics-forge describes any number of services a file, and its rules are named after the service, so that N distinct
SLOs are N services with one availability SLO each, in one file. Six of the eight rules of a service are not about the
SLO and cannot be turned off. `generate -o RULES -d DASHBOARDS` is its whole compile, `generate -o RULES` the rules
alone; it prints a table of all groups in either case and has no option against it.

The number of rules is fixed for these versions and is checked exactly: both exit 0 in cases where SLOs were left out.
"""

import sys
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

from .clock import RunError, Work, run
from .rules import count_rules

NTHLAYER = "nthlayer-generate==2.1.2"
FORGE = "metrics-forge==1.0.0"


@dataclass(frozen=True, slots=True)
class Peer:
    """One way to drive a package: what is typed after the program's name, and what has to come out.

    `arguments` are formatted with `{spec}` and `{out}`; `rules` is where below `{out}` the rules land; N SLOs have to
    give `per_slo` * N + `fixed` rules.
    """

    name: str
    program: str
    arguments: tuple[str, ...]
    spec: Callable[[int], Iterator[str]]
    rules: str
    per_slo: int
    fixed: int


def nthlayer_spec(slos: int) -> Iterator[str]:
    """The lines of a service file of nthlayer-generate with that many availability SLOs."""
    yield "service: {name: serving, team: serving, tier: standard, type: api}"
    yield "resources:"
    for number in range(1, slos + 1):
        service = f'service="svc-{number:05}"'
        good = f'sum(rate(inference_requests_total{{{service},code!~"5.."}}[5m]))'
        total = f"sum(rate(inference_requests_total{{{service}}}[5m]))"
        yield "  - kind: SLO"
        yield f"    name: svc-{number:05}-availability"
        yield "    spec:"
        yield "      objective: 99.5"
        yield "      window: 30d"
        yield f"      indicator: {{type: availability, query: '{good} / {total}'}}"


def forge_spec(slos: int) -> Iterator[str]:
    """The lines of a service file of metrics-forge: that many services, an availability SLO each."""
    yield "services:"
    for number in range(1, slos + 1):
        yield f"  - {{name: svc-{number:05}, tier: standard, namespace: serving, team: serving,"
        yield "     slos: [{type: availability, target: 99.5, window: 30d}]}"


WHOLE = (
    Peer(
        "nthlayer apply",
        "nthlayer",
        ("apply", "{spec}", "--output-dir", "{out}"),
        nthlayer_spec,
        "recording-rules.yaml",
        per_slo=4,
        fixed=4,
    ),
    Peer(
        "metrics-forge generate -o -d",
        "metrics-forge",
        ("generate", "{spec}", "-o", "{out}/rules.yaml", "-d", "{out}/dashboards"),
        forge_spec,
        "rules.yaml",
        per_slo=8,
        fixed=0,
    ),
)
RULES_ONLY = (
    Peer(
        "nthlayer generate-recording-rules",
        "nthlayer",
        ("generate-recording-rules", "{spec}", "--output", "{out}/rules.yaml"),
        nthlayer_spec,
        "rules.yaml",
        per_slo=4,
        fixed=4,
    ),
    Peer(
        "metrics-forge generate -o",
        "metrics-forge",
        ("generate", "{spec}", "-o", "{out}/rules.yaml"),
        forge_spec,
        "rules.yaml",
        per_slo=8,
        fixed=0,
    ),
)


def install(venv: Path) -> None:
    """Have both packages in that virtual environment, which is made if it is not there. Raises `RunError`."""
    wanted = f"{NTHLAYER}\n{FORGE}\n"
    stamp = venv / "installed.txt"
    if stamp.is_file() and stamp.read_text() == wanted:
        return
    run([sys.executable, "-m", "venv", str(venv)])
    run([str(venv / "bin" / "python"), "-m", "pip", "install", "-q", "--disable-pip-version-check", NTHLAYER, FORGE])
    stamp.write_text(wanted)


def peer_work(peer: Peer, slos: int, venv: Path, specs: Path) -> Work:
    """Compiling that many SLOs with a peer; its spec is written into the folder `specs` now, outside any timing."""
    spec = specs / f"{peer.program}-{slos}.yaml"
    spec.write_text("\n".join(peer.spec(slos)) + "\n", encoding="utf-8")
    place = peer.name.replace(" ", "-")

    def commands(folder: Path) -> Sequence[Sequence[str]]:
        places = {"spec": spec, "out": folder / place}
        arguments = (argument.format(**places) for argument in peer.arguments)
        return [[str(venv / "bin" / peer.program), *arguments]]

    def rules(folder: Path) -> int:
        emitted = count_rules((folder / place).glob(peer.rules))
        due = peer.per_slo * slos + peer.fixed
        if emitted != due:
            raise RunError(f"{peer.name} emitted {emitted:,} rules for {slos:,} SLOs, where {due:,} are due")
        return emitted

    return Work(peer.name, commands, rules, slos)
