"""The faults of a drill: what happens, on what, which alert has to tell of it, and which others may.

One that has no alert must disturb nobody. Whom an alert is told to is not said here: that follows from the spec.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from tocsin.stage import Stage


class Place(NamedTuple):
    """Where a fault happens, as far as it has a place: `host` and a board and a port of it, an objective, a server.

    `marks` are the labels by which an alert is known to be about it: any of these values will do.
    """

    host: str = ""
    slo: str = ""
    server: str = ""
    marks: tuple[tuple[str, str], ...] = ()
    gpu: int = 0
    port: int = 0


Act = Callable[["Stage", Place], Any]


class Fault(NamedTuple):
    """A fault by its name.

    `at` says what it needs: a `host`, one that is `training`, one that is `cabled`, one with a `loss`; an objective of
    `steps` or of `events`; a second Prometheus (`replica`) or Alertmanager (`member`); or an hour of `past`, which no
    drill has. `begin` and `end` let it happen and be over. One that is `old` began before anybody looked. `look` are
    the seconds of past that its rule has to see before it can fire, beside `for`. `says` is what the text has to name:
    node, gpu, job, slo. `lasts` tells why its alert outlives it, where it does.
    """

    name: str
    story: str
    alert: str
    at: str
    begin: Act
    end: Act | None = None
    also: tuple[str, ...] = ()
    says: tuple[str, ...] = ("node",)
    look: int = 0
    old: bool = False
    lasts: str = ""


_HOUR, _QUARTER = "the rule remembers it for an hour", "the rule remembers it for a quarter of an hour"
_BURNT = "the windows of the objective remember it"
_RECOVERIES = "DCGM_FI_DEV_NVLINK_RECOVERY_ERROR_COUNT_TOTAL"
_ROW_REMAP = "DCGM_FI_DEV_ROW_REMAP_FAILURE"
_SYMBOLS, _RECEIVED = "node_infiniband_symbol_error_total", "node_infiniband_port_errors_received_total"
_READONLY = "node_filesystem_readonly"
_OF_BOARDS = ("GpuLost", "NodeGpusMissing")

FAULTS = (
    Fault(
        "xid-79",
        "a GPU of a node that works falls off the bus: XID 79",
        "GpuXidReset",
        "training",
        lambda stage, at: stage.site.xid(at.host, at.gpu, 79),
        says=("node", "gpu", "job"),
        lasts=_HOUR,
    ),
    Fault(
        "xid-old",
        "a GPU shows an XID that stood there before anybody looked",
        "",
        "host",
        lambda stage, at: stage.site.xid(at.host, at.gpu, 79),
        old=True,
    ),
    Fault(
        "xid-application",
        "a job's own mistake: XID 31",
        "GpuXidApplication",
        "training",
        lambda stage, at: stage.site.xid(at.host, at.gpu, 31),
        says=("node", "gpu", "job"),
        lasts=_HOUR,
    ),
    Fault(
        "gpu-lost",
        "one GPU of a node is gone",
        "GpuLost",
        "host",
        lambda stage, at: stage.site.vanish(at.host, at.gpu),
        lambda stage, at: stage.site.return_(at.host, at.gpu),
        also=_OF_BOARDS,
        says=("node", "gpu"),
    ),
    Fault(
        "gpus-lost",
        "all GPUs of a node are gone, while its exporter answers",
        "NodeGpusMissing",
        "host",
        lambda stage, at: stage.site.vanish(at.host),
        lambda stage, at: stage.site.return_(at.host),
        also=_OF_BOARDS,
    ),
    Fault(
        "node-down",
        "nothing of a node answers",
        "NodeDown",
        "host",
        lambda stage, at: stage.site.node_down(at.host),
        lambda stage, at: stage.site.node_up(at.host),
        look=120,
        lasts="what is told of its exporters looks back five minutes, and is held back for as long",
    ),
    Fault(
        "ecc-uncorrected",
        "the memory of a GPU counts an error that was not corrected",
        "GpuEccUncorrected",
        "host",
        lambda stage, at: stage.site.ecc(at.host, at.gpu),
        says=("node", "gpu"),
        lasts="the counter stays above 0 until the driver is loaded again",
    ),
    Fault(
        "row-remap-failure",
        "a row of a GPU's memory could not be replaced",
        "GpuRowRemapFailure",
        "host",
        lambda stage, at: stage.site.field(at.host, at.gpu, _ROW_REMAP, 1),
        lambda stage, at: stage.site.field(at.host, at.gpu, _ROW_REMAP, 0),
        says=("node", "gpu"),
    ),
    Fault(
        "thermal-throttle",
        "a GPU at work is slowed down by its heat",
        "GpuThrottled",
        "training",
        lambda stage, at: stage.site.throttle(at.host, at.gpu),
        says=("node", "gpu"),
        look=150,
        lasts="the rule looks back ten minutes",
    ),
    Fault(
        "port-down",
        "the cable of a fabric's port is pulled",
        "FabricLinkLost",
        "cabled",
        lambda stage, at: stage.site.link_down(at.host, at.port),
        lambda stage, at: stage.site.link_up(at.host, at.port),
        also=("FabricPortDown",),
        lasts=_QUARTER,
    ),
    Fault(
        "link-flap",
        "a link goes and comes back between two scrapes",
        "FabricLinkLost",
        "cabled",
        lambda stage, at: stage.site.flap(at.host, at.port),
        lasts=_QUARTER,
    ),
    Fault(
        "packets-lost",
        "a port of InfiniBand counts errors that nothing corrected",
        "FabricPacketsLost",
        "cabled",
        lambda stage, at: stage.site.port_errors(at.host, _RECEIVED, 3, at.port),
        lambda stage, at: stage.site.port_errors(at.host, _RECEIVED, 0, at.port),
        look=60,
        lasts=_QUARTER,
    ),
    Fault(
        "symbol-errors",
        "a port of InfiniBand counts symbol errors again and again",
        "FabricErrorsCorrected",
        "cabled",
        lambda stage, at: stage.site.port_errors(at.host, _SYMBOLS, 3, at.port),
        lambda stage, at: stage.site.port_errors(at.host, _SYMBOLS, 0, at.port),
        look=60,
        lasts=_QUARTER,
    ),
    Fault(
        "nvlink-recovered",
        "an NVLink of a GPU breaks and is trained anew",
        "NvlinkRecovered",
        "host",
        lambda stage, at: stage.site.count(at.host, at.gpu, _RECOVERIES),
        says=("node", "gpu"),
        lasts=_QUARTER,
    ),
    Fault(
        "exporter-down",
        "dcgm-exporter of a node does not answer",
        "DcgmExporterDown",
        "host",
        lambda stage, at: stage.site.exporter_down(at.host, "dcgm"),
        lambda stage, at: stage.site.exporter_up(at.host, "dcgm"),
        look=75,
        lasts="the rule looks back five minutes",
    ),
    Fault(
        "label-violation",
        "a GPU shows up without its UUID",
        "DcgmLabelViolations",
        "host",
        lambda stage, at: stage.site.unlabelled(at.host),
    ),
    Fault(
        "disk-read-only",
        "the filesystems of a node become read-only",
        "FilesystemReadOnly",
        "host",
        lambda stage, at: stage.site.node_shows(at.host, _READONLY, 1),
        lambda stage, at: stage.site.node_shows(at.host, _READONLY, 0),
    ),
    Fault(
        "disk-filling",
        "a filesystem of a node fills up",
        "FilesystemFilling",
        "past",
        lambda stage, at: stage.site.node_shows(at.host, "node_filesystem_avail_bytes", 0),
    ),
    Fault(
        "training-slow",
        "a training job goes on at half its pace, and nothing says why",
        "ErrorBudgetBurn",
        "steps",
        lambda stage, at: stage.site.errors(at.slo, 0.6, at.host),
        lambda stage, at: stage.site.errors(at.slo, 0, at.host),
        says=("slo",),
        lasts=_BURNT,
    ),
    Fault(
        "loss-nan",
        "the loss of a training job is no number any more",
        "TrainingLossNotANumber",
        "loss",
        lambda stage, at: stage.site.loss(at.host),
        lambda stage, at: stage.site.loss(at.host, 2.25),
        says=("job",),
    ),
    Fault(
        "serving-errors",
        "half of a service's answers are bad",
        "ErrorBudgetBurn",
        "events",
        lambda stage, at: stage.site.errors(at.slo, 0.5),
        lambda stage, at: stage.site.errors(at.slo, 0),
        says=("slo",),
        look=60,
        lasts=_BURNT,
    ),
    Fault(
        "prometheus-replica-down",
        "one of two Prometheus dies",
        "PrometheusReplicaDown",
        "replica",
        lambda stage, at: stage.kill(at.server),
        says=(),
        look=75,
        lasts="it stays dead",
    ),
    Fault(
        "alertmanager-down",
        "one of the Alertmanagers dies",
        "AlertmanagerPageUnread",
        "member",
        lambda stage, at: stage.kill(at.server),
        also=("AlertmanagerMembersMissing", "PrometheusNotificationsFailing"),
        says=(),
        look=75,
        lasts="it stays dead",
    ),
)
