"""What the rows of the catalogue are: metrics and signals, exporters, units, limits, XID classes, GPU models."""

from fractions import Fraction
from typing import NamedTuple

from tocsin.units import Duration


class Metric(NamedTuple):
    """One series name of an exporter.

    `exporter` is the job that scrapes it; `type` counter, gauge or histogram as the values really are; `reading` says
    what a value means (level, ratio, percent, code, bits, flag, total, throughput, window, timestamp, info); `entity`
    what one value belongs to; `labels` those beyond the entity's own, by their names after ingest; `field` DCGM's field
    id; `errors` whether the faults it counts were corrected; `cost` cheap, profiling (counters that the GPU reads in
    turns) or expensive (many series, or slow to read); `sensitivity` open or restricted (power and user names); `since`
    the exporter's first release that has it; `sparse` where no series is there until something happens; `page` the path
    that shows it where the exporter has several; `each` how many series one entity has, by its further labels;
    `buckets` the finite bounds of a histogram, in its unit, where they are known, else `finite` how many there are,
    prometheus_client's default (DEFAULT_BUCKETS) if nothing is said; `native` whether it is asked for as a native one;
    `source` the file or document that shows the name. Of its values: `copies` are labels under which one is repeated,
    `latched` ones stay when what they tell is over, `spells` is the label that repeats the code, `harmless` why a mask
    above 0 is no fault, `share` a time that is at most all time, and `stock` a counter whose level means something.
    """

    name: str
    signal: str
    exporter: str
    type: str
    reading: str
    unit: str
    entity: str
    help: str
    labels: tuple[str, ...] = ()
    field: int | None = None
    errors: str = ""
    cost: str = "cheap"
    sensitivity: str = "open"
    since: str = ""
    sparse: bool = False
    page: str = ""
    each: int = 1
    finite: int = 14
    source: str = ""
    copies: tuple[str, ...] = ()
    latched: bool = False
    spells: str = ""
    harmless: str = ""
    share: bool = False
    stock: bool = False
    buckets: tuple[Fraction, ...] = ()
    native: bool = False

    @property
    def series(self) -> tuple[str, ...]:
        """The names of its series: of a histogram, those that count, and its own where it is native."""
        parts = ("_bucket", "_count", "_sum") if self.type == "histogram" else ("",)
        return tuple(self.name + part for part in (*parts, *([""] if self.native else [])))


class EntityKind(NamedTuple):
    """What series belong to: `usual` many for `per` of what they are counted by, `of` hosts, gpus, ports and the like.

    Without `of` that is what one target shows. `fixed` ones are said by the node groups; a bound of one of `labels` in
    the schema says how many others are.
    """

    id: str
    of: str = ""
    usual: int = 1
    per: int = 1
    labels: tuple[str, ...] = ()
    fixed: bool = False


class SignalKind(NamedTuple):
    """A thing worth measuring, as the catalogue knows it.

    `monitoring` ones are about the monitoring itself. `base` signals are collected wherever an exporter shows them.
    `label` is the label that carries it where no metric does. `mapped` ones have no metric that could be verified: the
    spec defines it under the same id.
    """

    id: str
    layer: str
    meaning: str
    mandatory: bool = False
    base: bool = False
    label: str = ""
    mapped: bool = False
    monitoring: bool = False


class ExporterKind(NamedTuple):
    """An exporter, as the catalogue knows it.

    `stands` is node, address or proxy (asked at one address for each of many hosts); `sees` of what a target speaks,
    its host or the whole cluster; `job` the name of its scrape job;
    `example` its usual port or address; `signal` what it stands for when it is silent; `blind` the severity where none
    of them answers; `least` the shortest interval that it is fit for; `timeout` how long a scrape may take; `renames`
    its labels and their names in the schema; `flavours` programs of one purpose; `mapped` where only the spec knows its
    metrics; `prefix` what only names of its file begin with.
    """

    id: str
    stands: str
    job: str
    example: str
    sees: str = ""
    signal: str = ""
    blind: str = "ticket"
    least: Duration = Duration.of(seconds=1)
    timeout: Duration = Duration.of(seconds=10)
    renames: tuple[tuple[str, str], ...] = ()
    flavours: tuple[str, ...] = ()
    mapped: bool = False
    prefix: str = ""


class Unit(NamedTuple):
    """A unit: the powers of its base units, and how many of them it is.

    A threshold for one thing lies between `least` and `most`, in this unit; `share` is a part of a whole.
    """

    name: str
    of: tuple[tuple[str, int], ...]
    times: Fraction
    least: Fraction | None = None
    most: Fraction | None = None
    share: bool = False


class LimitKind(NamedTuple):
    """A limit that a spec may set by its `id`, in the words of `kind`: share (95%), duration (2h) or number.

    `usual` is what holds where no spec says it, None where nothing could be verified: then its `alert` is off. Where
    flavours show a signal by different metrics, `metric` is the one that is meant. `beside` is a signal
    that its alert reads, too. `line` is the side of it that is a fault, above or below, where it bounds the values of
    the signal itself, in their unit or in what they come to in a second.
    """

    id: str
    signal: str
    kind: str
    unit: str
    least: str
    most: str
    alert: str
    meaning: str
    source: str
    usual: str | None = None
    metric: str = ""
    beside: str = ""
    line: str = ""


class XidClass(NamedTuple):
    """XIDs that are handled alike: `severity` page or ticket, `layer` whose owner hears of it, `action` in a phrase."""

    name: str
    severity: str
    layer: str
    codes: tuple[int, ...]
    action: str


class GpuModel(NamedTuple):
    """A board: `product` as NVIDIA names it, `pcie` bytes per second of its host link in one direction.

    `mig` is the most MIG instances that it can be split into.
    """

    name: str
    product: str
    pcie: int
    mig: int = 0


class FirstSteps(NamedTuple):
    """What to do about an alert: its names, or patterns of them with `*`, and the steps in Markdown."""

    alerts: tuple[str, ...]
    steps: tuple[str, ...]
