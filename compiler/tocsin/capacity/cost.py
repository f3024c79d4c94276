"""What series and samples cost a Prometheus: memory, disk, and the wire; each formula with its source."""

from __future__ import annotations

from fractions import Fraction
from math import ceil
from typing import TYPE_CHECKING

from tocsin.units import Duration

if TYPE_CHECKING:
    from tocsin.capacity.load import Size

RETENTION = Duration.of(days=15)  # Prometheus' default
LEAST_LOG = 3 * 128 * 2**20  # bytes: three segments of 128 MiB (Prometheus, "Storage")
# Bytes of `remote_write` a sample, at most. Measured (Prometheus 3.5.3, protocol 1.0, 40 hosts of eight GPUs): 26 from
# one shard, 50 from fifty, the default of `max_shards`. Spread over more, less of what is alike is packed together.
WIRE = 50
MEMORY = 8192  # bytes a series


def memory(size: Size) -> int:
    """Bytes of memory: 8 KiB a series, for the head, queries and series that end and begin.

    Measured: 2.2 KB a series in a fresh head (Prometheus 3.5.3, 100,000 series, 7 labels); about 2 GiB a million with
    Go's collector (Robust Perception, "How much RAM does Prometheus 2.x need"); 4 to 8 KB with queries and churn.
    """
    return MEMORY * size.series


def disk(size: Size, retention: Duration = RETENTION) -> int:
    """Bytes of disk: the blocks and the write-ahead log.

    1 to 2 B a sample (Prometheus, "Storage"). The log holds up to three hours of raw samples of 16 B (time and value)
    and is never shorter than LEAST_LOG, which only a server as a whole has.
    """
    return kept(size.samples, retention) + ceil(3 * 3600 * size.samples * 16)


def kept(samples: Fraction, retention: Duration) -> int:
    """Bytes of blocks: retention * samples/s * 2 B, a fifth more for compaction."""
    return ceil(retention.seconds * samples * 2 * Fraction(6, 5))


def written(size: Size) -> int:
    """Bytes per second on the wire of `remote_write`, if all of it is written on."""
    return ceil(WIRE * size.samples)


def per_day(samples: Fraction, bytes_per_sample: Fraction) -> Fraction:
    """Bytes that samples per second come to in a day."""
    return samples * 86400 * bytes_per_sample
