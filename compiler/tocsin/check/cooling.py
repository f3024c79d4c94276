"""Liquid cooling: a cluster that is cooled by a liquid is not blind for it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tocsin.diagnostics import Log
    from tocsin.document import Document
    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster

# Without these two nobody sees that a rack is no longer cooled. Every maker of cooling units has other names for them.
NEEDED = ("coolant_flow", "coolant_supply_temp")


def check_cooling(factory: Factory, document: Document, log: Log) -> None:
    """Flow and supply temperature of the coolant are mapped where a cluster is liquid; a mapped exporter is used."""
    for cluster in factory.clusters.values():
        lacking = [id_ for id_ in NEEDED if not _measured(factory, cluster, id_)]
        if cluster.cooling == "liquid" and lacking and not document.is_broken("signals", "define"):
            what = f"'{cluster.name}' is cooled by a liquid, but nothing measures {' and '.join(lacking)} there"
            wanted = f"{lacking[0]}: {{metric: ..., type: gauge, unit: ..., layer: facility, job: cdu}}"
            hint = f"map what your cooling units show, under `signals.define`: `{wanted}`"
            log.error("CLU121", what, document.places.value("clusters", cluster.name, "cooling"), hint)
        for exporter in cluster.exporters:
            used = any(metric.exporter == exporter.kind.job for metric in factory.metrics.values())
            if exporter.kind.mapped and not used and not document.is_broken("signals", "define"):
                what = f"nothing says what {exporter.kind.id} shows: all of it would be dropped"
                hint = f"define a signal with `job: {exporter.kind.job}` under `signals.define`"
                log.error("CLU122", what, exporter.origin, hint)


def _measured(factory: Factory, cluster: Cluster, id_: str) -> bool:
    """Whether a job of the cluster shows a signal that is the facility's."""
    jobs = {exporter.kind.job for exporter in cluster.exporters} | {job.name for job in cluster.jobs}
    signal = factory.signals.get(id_)
    return signal is not None and signal.layer == "facility" and any(one.exporter in jobs for one in signal.metrics)
