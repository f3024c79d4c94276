"""Every generated name, spelled once. Recorded series follow level:metric:operation."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.catalog.kinds import Metric
    from tocsin.units import Duration

GPU = ("cluster", "node", "gpu_uuid")  # what makes a board: by these, copies for MIG instances and jobs are one
NODE = ("cluster", "node")
PORT = ("cluster", "node", "device", "port")

GPUS_EXPECTED = "node:gpus_expected:count"
GPUS_PRESENT = "node:gpus_present:count"
PAGES = "node:pages:count"
PAGES_NEW = "node:pages_new:count"
GPU_JOB = "gpu:job:info"
GPU_UTIL = "gpu:util_percent:max"
THROTTLED = "gpu:throttled:max"
XID_EDGE = "gpu:xid_edge:max"
XID_FIRST = "gpu:xid_first:max"
XID_NEW = "gpu:xid_new:max1h"
MEMORY_FAULT = "gpu:memory_fault:max"
PCIE_SHARE = "gpu:pcie_link_use:ratio"
HBM_ACTIVE = "gpu:hbm_active:max"
NVLINK_ERRORS = "gpu:nvlink_errors:max"
NVLINK_CORRECTED = "gpu:nvlink_errors_corrected:rises15m"
NVLINK_UNCORRECTED = "gpu:nvlink_errors_uncorrected:rises15m"
PORT_CORRECTED = "port:fabric_errors_corrected:rises15m"
TARGETS_UP = "job:up:sum"
NODES_TOLD = "job:nodes_told:count"
PORT_UNCORRECTED = "port:fabric_errors_uncorrected:rises15m"

ROCE_CORRECTED = "port:roce_errors_corrected:rises15m"
ROCE_UNCORRECTED = "port:roce_errors_uncorrected:rises15m"

LABEL_VALUES = "cluster:label_values:count"
LABEL_VIOLATIONS = "node:label_violations:count"

SLO_OBJECTIVE = "slo:objective:ratio"
SLO_INFO = "slo:description:info"
SLO_BURN_RATE = "slo:burn_rate:ratio"
SLO_PERIOD_ERRORS = "slo:errors:period"
SLO_PERIOD_TOTAL = "slo:total:period"
SLO_PERIOD_RATIO = "slo:error_ratio:period"
SLO_BUDGET_LEFT = "slo:budget_remaining:ratio"
SLO_EXHAUSTION = "slo:budget_exhausted_in:seconds"
SLO_RUNNING = "slo:slices:running"
SLO_SLICES = "slo:slices:total"
SLO_BAD_SLICES = "slo:slices:bad"
SLO_RATE = "slo:slices:rate"
SLO_BASELINE = "slo:slices:baseline"
SLO_PERIOD = (SLO_PERIOD_ERRORS, SLO_PERIOD_TOTAL, SLO_PERIOD_RATIO, SLO_BUDGET_LEFT, SLO_EXHAUSTION)

SHARD_JOB = "federate_shards"  # `_` keeps it apart from jobs of the spec
WATCHDOG, HEARTBEAT = "Watchdog", "heartbeat"
NODE_DOWN, FAULT_STORM = "NodeDown", "FaultStorm"  # what they tell, others need not
SEVERAL = "several"  # the signal of what many signals tell together


def series(metric: Metric) -> str:
    """A name under which a metric has as many series as it has entities."""
    return f"{metric.name}_count" if metric.type == "histogram" else metric.name


@lru_cache(maxsize=256)
def slo_errors(window: Duration) -> str:
    """Bad events per second over a window."""
    return f"slo:errors:rate{window}"


@lru_cache(maxsize=256)
def slo_total(window: Duration) -> str:
    """All events per second over a window."""
    return f"slo:total:rate{window}"


@lru_cache(maxsize=256)
def by(labels: tuple[str, ...]) -> str:
    """A label list as PromQL writes it: `cluster, node`."""
    return ", ".join(labels)


@lru_cache(maxsize=256)
def dashboard_uid(factory: str, name: str) -> str:
    """A uid that Grafana takes: 40 characters at most of [a-z0-9-], a letter first, the same for ever.

    The names of audiences are one word: what stands before the last `-` is the factory. Those of tenants and owners may
    have a `-`, as factories may: they end in a hash that tells where one ends and the other begins.
    """
    full = f"{factory}-{name}"
    if len(full) <= 40 and "-" not in name:
        return full
    from hashlib import sha256  # `check` stays fast without it

    told = f"{factory}/{name}" if "-" in name else full
    return f"{full[:27]}-{sha256(told.encode()).hexdigest()[:12]}"


def folder_slug(title: str) -> str:
    """The folder of the files of one of Grafana's folders."""
    return title.lower().replace(" ", "-")


def titled(text: str) -> str:
    """`pcie_throughput` as `PcieThroughput`, for the name of an alert."""
    return "".join(word.title() for word in text.replace("-", "_").split("_"))
