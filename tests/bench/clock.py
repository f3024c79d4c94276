"""The clock: runs commands as children, and says how long each took and how much memory it held at most.

Memory is the kernel's account of the child (`wait4`). On Linux that account starts from the high-water mark of the
process that started the child, so the benchmark's own process has to stay smaller than anything it measures: it loads
no YAML and counts rules line by line.
"""

import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Self

# Linux counts the peak in KiB, macOS in bytes (getrusage(2) of each).
PEAK_UNIT = 1 if sys.platform == "darwin" else 1024

# Where there is a file system in memory, everything is written there: how long a disk takes to make a file depends on
# what was removed from it just before (ext4 passes over fresh gaps), by a factor of twenty, whichever work comes first.
MEMORY = next((path for path in ["/dev/shm"] if os.access(path, os.W_OK)), None)


class RunError(Exception):
    """A command could not be run, exited with a problem, or did not emit what it was asked for."""


def _no_rules(_folder: Path) -> int:
    return 0


@dataclass(frozen=True, slots=True)
class Work:
    """Something to time: commands that run one after the other, each of which has to exit 0.

    `commands` gets the folder of the round, empty at first and shared by the two works of a pair. `rules` counts the
    rules found there afterwards, outside the timing, and raises `RunError` where there are fewer than there must be.
    `slos` is the number of SLOs that the rules stem from, where that is what is measured.
    """

    name: str
    commands: Callable[[Path], Sequence[Sequence[str]]]
    rules: Callable[[Path], int] = _no_rules
    slos: int = 0


@dataclass(frozen=True, slots=True)
class Sample:
    """One performance of a work: wall-clock seconds, peak resident memory in bytes, rules emitted."""

    seconds: float
    peak: int
    rules: int


@dataclass(frozen=True, slots=True)
class Spread:
    """The median of some values, and the least and greatest of them."""

    median: float
    low: float
    high: float

    @classmethod
    def of(cls, values: Iterable[float]) -> Self:
        """The spread of one value or more."""
        ordered = sorted(values)
        return cls(statistics.median(ordered), ordered[0], ordered[-1])


def run(command: Sequence[str]) -> tuple[float, int]:
    """Wall-clock seconds and peak resident bytes of one command. Raises `RunError` unless it exits 0."""
    with tempfile.TemporaryFile() as said:
        start = time.perf_counter()
        try:
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=said, stderr=said)
        except OSError as error:
            raise RunError(f"cannot run {command[0]}: {error.strerror}") from error
        _, status, usage = os.wait4(child.pid, 0)
        seconds = time.perf_counter() - start
        child.returncode = os.waitstatus_to_exitcode(status)
        if child.returncode:
            raise RunError(f"{_short(command)} exited {child.returncode}: {_last_words(said.fileno())}")
    return seconds, usage.ru_maxrss * PEAK_UNIT


def perform(work: Work, folder: Path) -> Sample:
    """Run the commands of a work once. Raises `RunError`."""
    results = [run(command) for command in work.commands(folder)]
    return Sample(sum(seconds for seconds, _ in results), max(peak for _, peak in results), work.rules(folder))


def rounds_of(works: Sequence[Work], rounds: int, tick: Callable[[str], None]) -> Iterator[list[Sample]]:
    """Perform the works in turn, A B A B ..., and yield the samples of each round.

    One more round comes first and is not counted: it fills the caches of the disk and of Python. `tick` is told
    what runs next. Raises `RunError`.
    """
    for number in range(rounds + 1):
        samples = []
        with tempfile.TemporaryDirectory(prefix="tocsin-bench-", dir=MEMORY) as folder:
            for work in works:
                tick(f"{work.name}, " + (f"round {number} of {rounds}" if number else "warming up"))
                samples.append(perform(work, Path(folder)))
        if number:
            yield samples


def _short(command: Sequence[str]) -> str:
    """A command line as a person would say it: no folders, no long list of files."""
    words = [Path(word).name or word for word in command]
    return " ".join(words[:5] + ["..."] * (len(words) > 5))


def _last_words(said: int) -> str:
    """The last line or two of what a command printed, for a message."""
    size = os.fstat(said).st_size
    tail = os.pread(said, 1000, max(0, size - 1000)).decode(errors="replace")
    return " / ".join([line.strip() for line in tail.splitlines() if line.strip()][-2:]) or "it said nothing"
