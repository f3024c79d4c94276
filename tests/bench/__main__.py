"""`python -m tests.bench`: measure, print the table, exit 1 if a bound is missed or something could not be measured."""

import argparse
import os
import platform
import sys
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import nodes, ours, peers, slo_rules
from .clock import RunError, Sample, Spread, Work, rounds_of
from .growth import SIZES, Growth
from .table import Bound, Row, all_kept, print_aligned, print_rows, show_progress

SLOS = 1_000
VENV = ours.CHECKOUT / ".cache" / "bench-venv"


@dataclass(frozen=True, slots=True)
class Rounds:
    """How many counted rounds each comparison gets: more where a round is short and noise is large beside it."""

    check: int = 15
    peers: int = 9
    growth: int = 3
    build: int = 5


QUICK = Rounds(check=5, peers=2, growth=1, build=2)


def main() -> int:
    """Run what the command line asks for; the exit status."""
    parser = argparse.ArgumentParser(prog="python -m tests.bench", description="Compare the compiler with its peers.")
    parser.add_argument("--quick", action="store_true", help="fewer rounds: a first look, with wider spreads")
    parser.add_argument("--peers-only", action="store_true", help="measure the peers by themselves, without bounds")
    options = parser.parse_args()
    rounds = QUICK if options.quick else Rounds()
    print(f"Python {platform.python_version()}, {os.cpu_count()} cores, {peers.NTHLAYER}, {peers.FORGE}\n")
    with tempfile.TemporaryDirectory(prefix="tocsin-bench-specs-") as specs:
        if options.peers_only:
            return peers_alone(rounds, Path(specs))
        rows = comparisons(rounds, Path(specs))
    print_rows(rows)
    return 0 if all_kept(rows) else 1


def comparisons(rounds: Rounds, specs: Path) -> list[Row]:
    """All rows of the benchmark. The table of growth is printed on the way."""

    def against(peer: peers.Peer, bound: Bound | None) -> Row:
        def works() -> tuple[Work, Work]:
            peers.install(VENV)
            return ours.compile_work(SLOS, specs), peers.peer_work(peer, SLOS, VENV, specs)

        return compared(f"{SLOS:,} SLOs: {peer.name}", works, rounds.peers, times_faster, bound)

    def checked() -> tuple[Work, Work]:
        return ours.check_work(), ours.imports_work()

    def built() -> tuple[Work, Work]:
        return ours.build_work(), ours.promtool_work()

    return [
        compared("tocsin check: its imports", checked, rounds.check, times_slower, Bound("≤", 3)),
        *(against(peer, Bound("≥", 5)) for peer in peers.WHOLE),
        *(against(peer, None) for peer in peers.RULES_ONLY),
        *grown("SLO", SIZES, ours.compile_work, rounds.growth, specs),
        *grown("node", nodes.NODES, nodes.nodes_work, rounds.growth, specs),
        compared("tocsin build: promtool on its output", built, rounds.build, times_slower, Bound("≤", 1.6)),
        *slo_rules.rows(),
    ]


def times_slower(mine: Sample, other: Sample) -> float:
    """How many times the other's time ours is."""
    return mine.seconds / other.seconds


def times_faster(mine: Sample, other: Sample) -> float:
    """How many times our time the other's is."""
    return other.seconds / mine.seconds


def compared(
    what: str,
    works: Callable[[], tuple[Work, Work]],
    rounds: int,
    ratio: Callable[[Sample, Sample], float],
    bound: Bound | None,
) -> Row:
    """The row of a comparison of two works, ours first, over so many rounds of one run of each."""
    try:
        pair = works()
        mine, others = zip(*measured(pair, rounds), strict=True)
    except RunError as failure:
        return Row(what, bound=bound, failure=str(failure))
    return Row(what, cost(pair[0], mine), cost(pair[1], others), Spread.of(map(ratio, mine, others)), bound)


def grown(unit: str, sizes: Sequence[int], work: Callable[[int, Path], Work], rounds: int, specs: Path) -> list[Row]:
    """The rows about growth with the number of SLOs or nodes, of time and of peak memory; prints each size's figures.

    The largest takes less than a minute and less than a GiB.
    """
    bound = Bound("≤", 1.1)
    what = [f"{cost} ~ {unit}s^k, to {sizes[-1]:,}: k" for cost in ("time", "memory")]
    most = [(f"{sizes[-1]:,} {unit}s: seconds", Bound("≤", 60)), (f"{sizes[-1]:,} {unit}s: MiB", Bound("≤", 1024))]
    try:
        growth = Growth(unit, sizes, measured([work(size, specs) for size in sizes], rounds))
    except RunError as failure:
        limits = [*((text, bound) for text in what), *most]
        return [Row(text, bound=limit, failure=str(failure)) for text, limit in limits]
    print_aligned(growth.lines())
    print()
    exponents = (growth.time_exponent(), growth.memory_exponent())
    largest = [samples[-1] for samples in growth.rounds]
    costs = (Spread.of(one.seconds for one in largest), Spread.of(one.peak / 2**20 for one in largest))
    rows = [Row(text, ratio=ratio, bound=bound) for text, ratio in zip(what, exponents, strict=True)]
    return rows + [Row(text, ratio=cost, bound=limit) for (text, limit), cost in zip(most, costs, strict=True)]


def peers_alone(rounds: Rounds, specs: Path) -> int:
    """Print what each peer needs by itself; the exit status."""
    lines: list[tuple[str, ...]] = [("peer", f"{SLOS:,} SLOs", "min–max", "peak memory", "rules", "per SLO")]
    failures = []
    for peer in (*peers.WHOLE, *peers.RULES_ONLY):
        try:
            peers.install(VENV)
            samples = [sample for (sample,) in measured([peers.peer_work(peer, SLOS, VENV, specs)], rounds.peers)]
        except RunError as failure:
            lines.append((peer.name, "FAILED", "–", "–", "–", "–"))
            failures.append(f"{peer.name}: {failure}")
            continue
        time = Spread.of(sample.seconds for sample in samples)
        peak = Spread.of(sample.peak for sample in samples).median / 1e6
        emitted = samples[0].rules
        spread = f"{time.low:.2f}–{time.high:.2f} s"
        figures = (f"{time.median:.2f} s", spread, f"{peak:.0f} MB", f"{emitted:,}", f"{emitted / SLOS:.1f}")
        lines.append((peer.name, *figures))
    print_aligned(lines)
    print("\n".join(failures), end="\n" if failures else "")
    return 1 if failures else 0


def measured(works: Sequence[Work], rounds: int) -> list[list[Sample]]:
    """The samples of all rounds, each with one of every work. Raises `RunError`."""
    try:
        return list(rounds_of(works, rounds, show_progress))
    finally:
        show_progress("")


def cost(work: Work, samples: Sequence[Sample]) -> str:
    """The median time of a work's samples and, where it compiles SLOs, the rules it emits for each."""
    seconds = f"{Spread.of(sample.seconds for sample in samples).median:.2f} s"
    return f"{seconds}, {samples[0].rules / work.slos:.1f} rules/SLO" if work.slos else seconds


if __name__ == "__main__":
    sys.exit(main())
