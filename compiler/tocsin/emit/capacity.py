"""The sizes as people and programs read them: tables in Markdown, and JSON."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tocsin.artifact import Artifact
from tocsin.capacity import MEMORY, MOST_SAMPLES, WIRE
from tocsin.units import amount, number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from tocsin.capacity import Loads
    from tocsin.plan import Plan
    from tocsin.plan.sizes import Row, Sizes, TierRow

PATH = "docs/capacity.md"
_COLUMNS = ("targets", "series", "samples/s", "memory", "disk", "remote write")
_TIER_COLUMNS = ("tier", "keeps", "resolution", "series", "samples/s", "disk", "remote write")
_LOAD_COLUMNS = ("cluster", "SLO", "counted windows", "summed windows", "biggest rule", "of a query's limit")
_BINARY = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def capacity(plan: Plan) -> Iterator[Artifact]:
    """One page of tables."""
    yield Artifact(PATH, markdown(plan.factory, plan.sizes), ((1, plan.sizes.origin),))


def markdown(factory: str, sizes: Sizes) -> str:
    """The page; its tables line up, so that it is read as text too."""
    tables = (
        ("By server", ("server",), sizes.servers),
        ("By job", ("cluster", "job"), (*sizes.jobs, sizes.total._replace(names=("all", "")))),
        ("By owner", ("owner",), sizes.owners),
    )
    head = (
        f"# {factory}: capacity\n\n"
        "Predicted for a sound fleet at work; a server's replicas are listed each, in the other tables counted once.\n"
        f"Disk is for {sizes.retention}. Remote write is per second, if all of it is written on; by retention tier it\n"
        "is what the tier gets, and disk is for as long as it keeps that.\n\n"
        "Series are counted from the node groups, the catalogue and `collection.entities`; samples are series by\n"
        f"their interval. Memory: {MEMORY:,} B a series (measured: 2,200 in a fresh head; Robust Perception: twice\n"
        "that; and as much again for queries and churn). Disk: 2 B a sample (Prometheus' documentation: 1 to 2), a\n"
        "fifth for compaction, and three hours of 16 B a sample for the log. Remote write: "
        f"{WIRE} B a sample\n(measured: 26 to 50).\n"
    )
    shown = ((title, _table((*names, *_COLUMNS), len(names), map(_cells, rows))) for title, names, rows in tables)
    body = "".join(f"\n## {title}\n\n{table}" for title, table in shown)
    by_tier = _table(_TIER_COLUMNS, 3, map(_tier_cells, sizes.tiers))
    return f"{head}{body}\n## By retention tier\n\n{by_tier}{_loaded(sizes.loads)}"


def as_json(factory: str, sizes: Sizes) -> str:
    """The same for programs: whole numbers, bytes and seconds."""
    said = {
        "factory": factory,
        "retention_seconds": int(sizes.retention.seconds),
        "servers": [{"server": row.names[0], **_plain(row)} for row in sizes.servers],
        "jobs": [{"cluster": row.names[0], "job": row.names[1], **_plain(row)} for row in sizes.jobs],
        "owners": [{"owner": row.names[0], **_plain(row)} for row in sizes.owners],
        "tiers": [_plain_tier(row) for row in sizes.tiers],
        "total": _plain(sizes.total),
        "slos": [_plain_load(one) for one in sizes.loads],
    }
    return json.dumps(said, indent=1) + "\n"


def _plain(row: Row) -> dict[str, float]:
    return {
        "targets": row.size.targets,
        "series": row.size.series,
        "samples_per_second": float(row.size.samples),
        "memory_bytes": row.memory,
        "disk_bytes": row.disk,
        "remote_write_bytes_per_second": row.written,
    }


def _plain_tier(row: TierRow) -> dict[str, object]:
    return {
        "tier": row.name,
        "keep_seconds": int(row.keep.seconds),
        "resolution": row.resolution,
        "series": row.load.size.series,
        "samples_per_second": float(row.load.samples),
        "disk_bytes": row.load.disk,
        "remote_write_bytes_per_second": row.load.written,
    }


def _plain_load(one: Loads) -> dict[str, object]:
    return {
        "cluster": one.cluster,
        "slo": one.slo,
        "counted_samples": one.counted,
        "summed_samples": one.summed,
        "biggest_rule_samples": one.rule,
        "biggest_selector": one.biggest.name,
        "biggest_window_seconds": int(one.biggest.window.seconds),
    }


def _loaded(loads: Sequence[Loads]) -> str:
    """What one evaluation of the rules of each SLO reads; nothing where there are none."""
    if not loads:
        return ""
    said = (
        "Samples that Prometheus loads for one evaluation: windows times series by the interval of the scrapes, or of\n"
        f"the steps where a window is summed up. A query may load {amount(MOST_SAMPLES)} (`--query.max-samples`).\n"
    )
    return f"\n## Samples loaded by the rules of SLOs\n\n{said}\n" + _table(_LOAD_COLUMNS, 2, map(_load_cells, loads))


def _load_cells(one: Loads) -> tuple[str, ...]:
    share = f"{100 * one.rule / MOST_SAMPLES:.2g} %"
    return (one.cluster, one.slo, *map(amount, (one.counted, one.summed, one.rule)), share)


def _table(head: Sequence[str], names: int, rows: Iterable[Sequence[str]]) -> str:
    """A table, the first columns of which are names, and all others numbers."""
    cells = [head, *rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    ruler = ["-" * width if index < names else "-" * (width - 1) + ":" for index, width in enumerate(widths)]
    lines = [_line(cells[0], widths, names), f"| {' | '.join(ruler)} |"]
    lines += [_line(row, widths, names) for row in cells[1:]]
    return "\n".join(lines) + "\n"


def _line(cells: Sequence[str], widths: Sequence[int], names: int) -> str:
    padded = [
        cell.ljust(width) if index < names else cell.rjust(width)
        for index, (cell, width) in enumerate(zip(cells, widths, strict=True))
    ]
    return f"| {' | '.join(padded)} |"


def _cells(row: Row) -> tuple[str, ...]:
    targets, series, samples = row.size
    counts = (number(targets), f"{series:,}", amount(samples), _bytes(row.memory), _bytes(row.disk))
    return (*row.names, *counts, f"{_bytes(row.written)}/s")


def _tier_cells(row: TierRow) -> tuple[str, ...]:
    load = row.load
    sizes = (f"{load.size.series:,}", amount(load.samples), _bytes(load.disk), f"{_bytes(load.written)}/s")
    return (row.name, str(row.keep), row.resolution, *sizes)


def _bytes(count: int) -> str:
    """Bytes as people read them: three digits and a unit."""
    power = min(max(count.bit_length() - 1, 0) // 10, len(_BINARY) - 1)
    return f"{float(count) / 1024**power:.3g} {_BINARY[power]}"
