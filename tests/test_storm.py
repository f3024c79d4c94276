"""A storm: every board of two hundred nodes fails at once, and a server dies in the middle of it."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

import pytest

from small_world import small_world
from tocsin.fleet.deadline import until
from tocsin.stage import Stage
from toolbox import best

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.fleet.inbox import Message

pytestmark = [pytest.mark.slow, pytest.mark.xdist_group("stages")]

NODES, GPUS = 200, 8
CHANGES = (
    ('"gpu-node-[01-24]"', '"gpu-node-[001-200]"'),
    ('"gpu-node-[01-16]"', '"gpu-node-[001-160]"'),
    ('"gpu-node-[23-24]"', '"gpu-node-[199-200]"'),
    ("model: h100, count: 2", f"model: h100, count: {GPUS}"),
    ('["127.0.0.1:9093"]', '["alertmanager-1:9093", "alertmanager-2:9093"]'),
    ("collection:", 'collection:\n  servers: {replicas: 2, address: "prometheus-{server}.{cluster}:9090"}'),
)


@pytest.mark.parametrize("victim", ["alertmanager-1", "alertmanager-2", "replica-a"])
def test_every_node_is_told_of_once_whoever_dies(victim: str, tmp_path: Path) -> None:
    """At the generated pace: a page for each node with all its boards, to the one owner, and none is lost.

    An Alertmanager that dies may have told what the other one does not know of yet: that is told again.
    """
    prometheus, alertmanager = best("prometheus"), best("alertmanager")
    if prometheus is None or alertmanager is None:
        pytest.skip("prometheus or alertmanager not found: run `make tools`")
    compiled = small_world(*CHANGES)
    with Stage(compiled, prometheus.path, alertmanager.path, tmp_path, nodes=NODES, replicas=2, any_hour=True) as stage:
        until("a past", lambda: stage.query("min(count_over_time(up[5m])) >= 4 and sum(up) == count(up)"), seconds=180)
        for host in stage.scene.hosts:
            for gpu in range(GPUS):
                stage.site.xid(host, gpu, 79)
        until("the first pages", lambda: len(told(stage)) >= 10)
        stage.kill(victim)
        boards = {board.uuid for node in stage.site.nodes.values() for board in node.boards}

        def all_boards() -> bool:
            return {message.labels["gpu_uuid"] for message in told(stage)} >= boards

        until("every board", all_boards, seconds=180)
        pages = told(stage)
        assert {message.to for message in pages} == {"gpu-platform-page"}
        posts = Counter(message.labels["node"] for message in {message.number: message for message in pages}.values())
        again = sum(posts.values()) - NODES
        last = max(message.came for message in pages) - min(message.came for message in pages)
        print(f"{victim}: {sum(posts.values())} pages of {NODES} nodes and {len(boards)} boards within {last:.0f} s")
        assert set(posts) == {*stage.scene.hosts}
        assert again <= NODES // 10
        others = {message.to for message in stage.inbox.messages()} - {"gpu-platform-page", "heartbeat"}
        assert others == set()


def told(stage: Stage) -> list[Message]:
    """Every alert of a board that somebody was told of."""
    return [message for message in stage.inbox.messages("GpuXidReset") if message.status == "firing"]
