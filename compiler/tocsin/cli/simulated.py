"""A site to preview where there is none to ask: sound, but for a few things that its dashboards are there to show."""

from __future__ import annotations

import os
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tocsin.cli.terminal import progress
from tocsin.preview import Prometheus
from tocsin.stage import Stage
from tocsin.verify.run import find

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.pipeline import Compiled
    from tocsin.stage import Site
    from tocsin.units import Duration

_FAST = 5
NOTE = (
    f"For the rules one second stands for {_FAST}, so that what waits for minutes is seen. The site is as old as the "
    "time shown: what looks back further has not seen all of it yet, and what the stores of the tiers evaluate is not "
    "there."
)
_XID = 79  # the GPU has fallen off the bus
_SHARE = 0.05  # of an objective's events that fail: enough to burn any budget that people write


@contextmanager
def simulated(compiled: Compiled, length: Duration) -> Iterator[tuple[Prometheus, str]]:
    """A Prometheus that has watched a site for that long, and a sentence on what it saw.

    ToolError where there is no Prometheus (on PATH, or named by PROMETHEUS), or where it does not start.
    """
    tool = find("prometheus", os.environ)
    with Stage(compiled, tool.path, fast=_FAST) as stage:
        with progress(f"watching a simulated site for {length}", os.environ):
            time.sleep(float(length.seconds) / 2)
            ills = befall(stage.site)
            time.sleep(float(length.seconds) / 2)
        count, cluster = len(stage.scene.hosts), stage.scene.cluster.name
        said = (
            f"A simulated site, not a real one: {count} nodes of the cluster {cluster}, watched for {length} by {tool} "
        )
        with Prometheus(f"http://{stage.prometheus}") as prometheus:
            yield prometheus, f"{said}with this spec's files. Halfway {ills}."


def befall(site: Site) -> str:
    """Let something go wrong of each kind that the site has; what, in words."""
    first, last = site.scene.hosts[0], site.scene.hosts[-1]
    site.xid(first, 0, _XID)
    site.throttle(last, 0)
    told = [f"GPU 0 of {first} reports XID {_XID}", f"GPU 0 of {last} grows too hot"]
    if site.nodes[last].ports:
        site.link_down(last)
        told.append("a fabric link there is lost")
    objectives = {slo: None for one in site.applications.values() for slo in one.objectives}
    for slo in [*objectives][:1]:
        site.errors(slo, _SHARE)
        told.append(f"{_SHARE:.0%} of what {slo} counts fail")
    return f"{', '.join(told[:-1])}, and {told[-1]}"
