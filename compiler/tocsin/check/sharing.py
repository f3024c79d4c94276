"""Shared boards: what a board can be split into, who shares it, and what is still known of it then."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document, Path
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup


def check_sharing(factory: Factory, document: Document, log: Log) -> None:
    """Every group's shares fit its boards and its scheduler, and no signal is mandatory that an instance never has."""
    for cluster in factory.clusters.values():
        for group in cluster.groups:
            path = ("clusters", cluster.name, "nodes", group.name, "gpu")
            if document.is_broken(*path):
                continue
            _check_shares(group, path, document, log)
            if group.sharing == "mig":
                _check_board(group, path, document, log)
                _check_hooks(factory, cluster, path, document, log)
            elif group.sharing == "time_slicing" and not cluster.on_pods:
                what = f"pods take turns on a board, and '{cluster.name}' is scheduled by Slurm"
                hint = "write `scheduler: kubernetes` if it is that which gives the boards away, or `sharing: none`"
                log.error("CLU113", what, document.places.value(*path, "sharing"), hint)
    _check_mandatory(factory, log)


def _check_shares(group: NodeGroup, path: Path, document: Document, log: Log) -> None:
    is_written = document.places.node(*path, "shares") is not None
    if group.sharing == "none" and is_written:
        what = f"`shares` has no effect: the boards of '{group.name}' are not shared"
        log.error(
            "CLU111", what, document.places.key(*path, "shares"), "remove it, or say how they are: `sharing: mig`"
        )
    elif group.sharing != "none" and not is_written:
        what = f"nothing says into how many shares a board of '{group.name}' goes"
        example = (
            "7`, the MIG instances of each board" if group.sharing == "mig" else "4`, the device plugin's replicas"
        )
        log.error("CLU111", what, document.places.value(*path, "sharing"), f"add `shares: {example}")


def _check_board(group: NodeGroup, path: Path, document: Document, log: Log) -> None:
    most = group.gpu.mig
    if not most:
        what = f"the {group.gpu.product} cannot be split into MIG instances"
        hint = "write `sharing: time_slicing`, which every board can, or `sharing: none`"
        log.error("CLU112", what, document.places.value(*path, "sharing"), hint)
    elif group.shares > most:
        what = f"the {group.gpu.product} cannot be split into {group.shares} MIG instances"
        log.error("CLU112", what, document.places.value(*path, "shares"), f"write {most} or less")


def _check_hooks(factory: Factory, cluster: Cluster, path: Path, document: Document, log: Log) -> None:
    """Slurm counts MIG instances like boards: its hooks would map a job to the board of that number."""
    if factory.deep and not cluster.on_pods:
        what = "deep signals of MIG instances need to know which of them works, which Slurm's hooks are not told"
        hint = "do without `collection.deep`, or without MIG; under Kubernetes they go together"
        log.error("CLU114", what, document.places.value(*path, "sharing"), hint)


def _check_mandatory(factory: Factory, log: Log) -> None:
    signal = factory.signals.get("gpu_util")
    if signal and signal.mandatory and factory.has_instances:
        what = "the mandatory signal 'gpu_util' is not measured on MIG instances, or is always 0 there"
        log.error("SIG123", what, signal.origin, "name `gr_engine_active` instead, which instances have")
