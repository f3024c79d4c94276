"""Plan in, artifacts out: every decision is made, only text is left. One module a kind of file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.emit.alertmanager import alertmanager
from tocsin.emit.capacity import capacity
from tocsin.emit.dcgm import counters
from tocsin.emit.grafana import grafana
from tocsin.emit.long_term import long_term
from tocsin.emit.manifest import manifest
from tocsin.emit.mixin import mixin
from tocsin.emit.prometheus import prometheus
from tocsin.emit.rules import rules
from tocsin.emit.ruletests import ruletests
from tocsin.emit.runbooks import runbooks
from tocsin.emit.slurm import slurm

if TYPE_CHECKING:
    from tocsin.artifact import Artifact
    from tocsin.plan import Plan

EMITTERS = (alertmanager, capacity, counters, grafana, long_term, mixin, prometheus, rules, ruletests, runbooks, slurm)


def emit(plan: Plan) -> tuple[Artifact, ...]:
    """Every file of a plan by path, and the manifest that lists them."""
    artifacts = sorted((artifact for emitter in EMITTERS for artifact in emitter(plan)), key=lambda a: a.path)
    return (*artifacts, manifest(plan, artifacts))
