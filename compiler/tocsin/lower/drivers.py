"""Driver versions: the nodes of a group are to have one, but for as long as they are upgraded."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin import naming
from tocsin.lower import nodes
from tocsin.lower.alerts import signal_alert
from tocsin.lower.cases import Case, group
from tocsin.lower.proofs import STRANGER
from tocsin.plan.rules import RuleGroup
from tocsin.units import Duration

if TYPE_CHECKING:
    from collections.abc import Iterator

    from tocsin.factory import Factory
    from tocsin.factory.clusters import Cluster, NodeGroup

INFO = "nvidia_smi_gpu_info"
_VERSION = naming.by(("cluster", "driver_version"))


def drivers(factory: Factory) -> RuleGroup | None:
    """An alert for each node group of several nodes, which a spec asks for by saying how long an upgrade may take.

    A shard compares the nodes that it has.
    """
    if "driver_skew" not in factory.limits:
        return None
    alone = list(_alone(factory))  # the alerts have one name: each is proven in a world of its own
    rules = tuple(rule for one in alone for rule in one.rules)
    return RuleGroup("gpu-drivers", rules, tuple(test for one in alone for test in one.tests)) if alone else None


def _alone(factory: Factory) -> Iterator[RuleGroup]:
    for cluster, nodes_ in nodes.groups(factory):
        story = f"one node of {nodes_.name} in {cluster.name} is upgraded, and then the others"
        if len(nodes_.hosts) > 1 and (made := group("gpu-drivers", story, [_skew(factory, cluster, nodes_)])):
            yield made


def _skew(factory: Factory, cluster: Cluster, nodes_: NodeGroup) -> Case:
    window = Duration.of(seconds=int(factory.limits["driver_skew"]))
    versions = f"group by ({_VERSION}) ({INFO}{{{nodes.matchers(cluster, nodes_)}}})"
    alert = signal_alert(
        factory,
        "GpuDriverSkew",
        factory.signals["driver_version"],
        "ticket",
        expr=f"count by (cluster) ({versions}) > 1",
        hold=window,
        summary=f"The nodes of {nodes_.name} in {{{{ $labels.cluster }}}} have several driver versions",
        description=f"{{{{ $value }}}} versions of the driver run on the nodes of {nodes_.name} in "
        f"{{{{ $labels.cluster }}}}, for longer than {window}: a job that spans them may fail, or be slower. "
        "Finish the upgrade.",
        where=("cluster",),
    )
    alert = alert._replace(labels={**alert.labels, "node_group": nodes_.name})
    first, second = ({"cluster": cluster.name, "node": host, "job": "nvidia-gpu"} for host in nodes_.hosts[:2])
    boards = ({"gpu_uuid": f"GPU-{number}", "driver_version": "570.1"} for number in range(2))
    minutes = int(window.seconds) // 60
    inputs = [
        *((INFO, {**first, **board}, f"1x{minutes + 60}") for board in boards),
        (INFO, {**second, "gpu_uuid": "GPU-2", "driver_version": "570.1"}, "1x9 stale"),
        (INFO, {**second, "gpu_uuid": "GPU-2", "driver_version": "580.2"}, f"_x10 1x{minutes + 20} stale"),
    ]
    inputs += [
        (INFO, {**first, "cluster": STRANGER, "gpu_uuid": "GPU-3", "driver_version": version}, f"1x{minutes + 60}")
        for version in ("570.1", "580.2")
    ]
    place = {"cluster": cluster.name}
    return Case(alert, minutes + 9, minutes + 11, place, inputs, 2, after=minutes + 40)
