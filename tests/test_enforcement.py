"""The label schema against exporters that break it, on real servers: what is wrong is kept apart, counted and told.

Beside the rogues stands a sound node: nothing of it may be lost.
"""

from __future__ import annotations

import contextlib
import errno
import json
import re
from dataclasses import dataclass
from functools import cache, partial
from typing import TYPE_CHECKING

import pytest

from fleet.monitoring import Monitoring, Pair, build, pairs, started
from tocsin.catalog import MONITORS
from tocsin.fleet.deadline import until
from tocsin.fleet.fleet import Fleet
from tocsin.fleet.inbox import Inbox
from tocsin.fleet.node import Node
from tocsin.fleet.workload import Service, Trainer
from toolbox import INSTALL

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

pytestmark = pytest.mark.xdist_group("rogues")

PAIRS = pairs()
OLDEST_AND_NEWEST = [
    pytest.param(pair, id=str(pair), marks=() if pair == PAIRS[-1] else pytest.mark.live)
    for pair in dict.fromkeys([*PAIRS[:1], *PAIRS[-1:]])
]
NO_SERVERS = pytest.param(None, marks=pytest.mark.skip(reason=f"no Prometheus or no Alertmanager found. {INSTALL}"))
SOUND, BAD_UUID, NO_UUID, ODD_JOB, FORGER, FLOOD, BOMB, LOST, TRAINER = (f"127.0.0.{n}" for n in range(31, 40))
MANY = 400_000


def first_board(page: str, change: Callable[[str], str]) -> str:
    """The page with every series of the first board changed."""
    return "\n".join(change(line) if 'gpu="0"' in line else line for line in page.split("\n"))


def wrong_uuid(page: str) -> str:
    """A board calls itself by what is no UUID, a line break in it."""
    return first_board(page, lambda line: re.sub('UUID="[^"]*"', r'UUID="GPU-\\nnobody"', line))


def no_uuid(page: str) -> str:
    """A board does not say which one it is."""
    return first_board(page, lambda line: re.sub('UUID="[^"]*",', "", line))


def odd_job(page: str) -> str:
    """The job mapping holds what is no job."""
    return first_board(page, lambda line: re.sub('hpc_job="[^"]*"', 'hpc_job="job_id;4711"', line))


def forged(page: str) -> str:
    """An exporter marks its own series, or says that they are somebody else's."""
    return page.replace("{gpu=", '{violates="node",quarantined="x",node="127.0.0.31",job="node",__tmp_bad="node",gpu=')


@cache
def _flood() -> str:
    return "".join(f'DCGM_FI_DEV_GPU_TEMP{{gpu="0",UUID="GPU-{n}"}} 1\n' for n in range(MANY))


def flood(page: str) -> str:
    """As many series as a label that counts up gives within a day."""
    return page + _flood()


def bomb(page: str) -> str:
    """A series with far too many labels."""
    many = ",".join(f'l{n}="{n}"' for n in range(200))
    return f"{page}DCGM_FI_DEV_GPU_TEMP{{{many}}} 1\n"


def nameless(page: str) -> str:
    """No series says which node it is of."""
    return re.sub('[Hh]ostname="[^"]*",?', "", page)


@dataclass(slots=True)
class Rogue(Node):
    """A node whose pages are tampered with."""

    tamper: Callable[[str], str] = str

    def page(self, exporter: str) -> str:
        """What an exporter says, tampered with where it is about boards or jobs."""
        page = Node.page(self, exporter)
        return self.tamper(page) if exporter in ("dcgm", "trainer") else page


def rogues() -> list[Node]:
    """The sound node and all others."""
    jobs = ("4711",)
    trainer, service = Trainer("no;job", "vision", "jobid"), Service("chat")
    return [
        Node(SOUND, gpus=2, jobs=jobs),
        Rogue(BAD_UUID, gpus=2, jobs=jobs, tamper=wrong_uuid),
        Rogue(NO_UUID, gpus=2, jobs=jobs, tamper=no_uuid),
        Rogue(ODD_JOB, gpus=2, jobs=jobs, tamper=odd_job),
        Rogue(FORGER, gpus=2, jobs=jobs, tamper=forged),
        Rogue(FLOOD, gpus=2, jobs=jobs, tamper=flood),
        Rogue(BOMB, gpus=2, jobs=jobs, tamper=bomb),
        Rogue(LOST, gpus=2, jobs=jobs, tamper=nameless),
        Rogue(TRAINER, gpus=2, jobs=jobs, trainer=trainer, service=service),
    ]


@pytest.fixture(scope="module")
def fleet() -> Iterator[Fleet]:
    """The sound node and the rogues."""
    with contextlib.ExitStack() as stack:
        try:
            yield stack.enter_context(Fleet(rogues()))
        except OSError as error:
            if error.errno == errno.EADDRNOTAVAIL:
                pytest.skip("this system has no loopback addresses beside 127.0.0.1")
            raise


@pytest.fixture(scope="module", params=OLDEST_AND_NEWEST or [NO_SERVERS])
def monitoring(request: pytest.FixtureRequest) -> Monitoring:
    """A pair that quarantines, once it has scraped everything. One target has lost its node on the way."""
    return request.getfixturevalue("watch_by")(request.param, "quarantine")  # type: ignore[no-any-return]


@pytest.fixture(scope="module")
def watch_by(fleet: Fleet, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Pair, str], Monitoring]]:
    with contextlib.ExitStack() as stack:

        def watch(pair: Pair, on_violation: str) -> Monitoring:
            stack.pop_all().close()  # one pair at a time: the flood is for one
            folder = tmp_path_factory.mktemp("monitoring")
            inbox = stack.enter_context(Inbox())
            built = build(pair, fleet, inbox, folder / "built", interval="5s", on_violation=on_violation)
            for node in fleet.nodes.values():
                node.collect(next((built.output / "exporters" / "dcgm").glob("*.csv")).read_text("utf-8"))
            _lose_node(built.output / "targets" / "east-dcgm.json")
            one = stack.enter_context(started(built, folder / "run"))
            scraped = f'count_over_time(up{{job!~"{"|".join(MONITORS)}"}}[5m])'
            twice = f"count({scraped} >= 2) == {len(fleet.endpoints())}"
            until("two scrapes of each", partial(one.query, twice), also=one.logs)
            return one

        yield watch


def _lose_node(targets: Path) -> None:
    entries = json.loads(targets.read_text("utf-8"))
    for entry in entries:
        if entry["labels"]["node"] == LOST:
            del entry["labels"]["node"]
    targets.write_text(json.dumps(entries), "utf-8")


def of_node(one: Monitoring, host: str, more: str = "") -> list[dict[str, str]]:
    """The labels of all that was scraped of the boards of a node, now."""
    meta = '__name__!~"up|scrape_.*|ALERTS.*|node:.*"'
    return [at for at, _ in one.query(f'{{job="dcgm", instance=~"{host}:.*", {meta}{more}}}')]


def fields(one: Monitoring) -> int:
    """How many fields of each board are collected."""
    return len(next((one.output / "exporters" / "dcgm").glob("*.csv")).read_text("utf-8").splitlines()) - 2


def pending(one: Monitoring, alert: str) -> set[tuple[str, str]]:
    """Node and violating label of each alert of a name that fires or waits."""
    return {(at.get("node", ""), at.get("violates", "")) for at in one.alerts() if at["alertname"] == alert}


def test_a_sound_node_is_unharmed(monitoring: Monitoring) -> None:
    """Everything of it is there, once, under its own name."""
    boards = of_node(monitoring, SOUND)
    assert len(boards) == 2 * fields(monitoring)
    assert all(at["node"] == SOUND and at["job_id"] == "4711" and "violates" not in at for at in boards)
    assert all(at["__name__"].startswith("DCGM_FI_") for at in boards)


@pytest.mark.parametrize("host", [BAD_UUID, NO_UUID])
def test_a_board_without_its_uuid_is_kept_apart(monitoring: Monitoring, host: str) -> None:
    """Its series are there under another name, the other board's under their own."""
    series = of_node(monitoring, host)
    apart = [at for at in series if at["__name__"] == "quarantined_series"]
    assert len(apart) == len(series) - len(apart) == fields(monitoring)
    assert {at["gpu"] for at in apart} == {"0"}
    assert {at["violates"] for at in apart} == {"gpu_uuid"}
    assert len({at["quarantined"] for at in apart}) == fields(monitoring)
    assert {at["gpu"] for at in series if at not in apart} == {"1"}
    counts = monitoring.query(f'node:label_violations:count{{node="{host}"}}')
    assert [(at["violates"], value) for at, value in counts] == [("gpu_uuid", fields(monitoring))]


def test_a_wrong_job_hides_no_board(monitoring: Monitoring) -> None:
    """The label is taken off, the series stays where every rule looks for it."""
    series = of_node(monitoring, ODD_JOB)
    assert len(series) == 2 * fields(monitoring)
    assert {(at["gpu"], at.get("job_id"), at.get("violates")) for at in series} == {
        ("0", None, "job_id"),
        ("1", "4711", None),
    }
    assert monitoring.query(f'node:gpus_present:count{{node="{ODD_JOB}"}}')[0][1] == 2


def test_an_exporter_cannot_mark_its_own_series(monitoring: Monitoring) -> None:
    """What it says of node, job and violation is not believed."""
    series = of_node(monitoring, FORGER)
    assert len(series) == 2 * fields(monitoring)
    assert {(at["node"], at["job"]) for at in series} == {(FORGER, "dcgm")}
    assert not {"violates", "__tmp_bad"} & {name for at in series for name in at}
    assert [at for at in series if at["__name__"] == "quarantined_series"] == []


def test_a_target_that_lost_its_node_is_kept_apart(monitoring: Monitoring) -> None:
    """Nobody would know whose boards these are."""
    series = of_node(monitoring, LOST)
    assert len(series) == 2 * fields(monitoring)
    assert {(at["__name__"], at["violates"], at.get("node")) for at in series} == {
        ("quarantined_series", "node", None),
    }


def test_an_application_is_kept_apart_where_it_breaks_the_schema(monitoring: Monitoring) -> None:
    series = [at for at, _ in monitoring.query('{job="trainer", __name__!~"up|scrape_.*|ALERTS.*|node:.*"}')]
    wrong = [at for at in series if at.get("job_id")]
    assert wrong
    assert {(at["__name__"], at["violates"], at["job_id"]) for at in wrong} == {
        ("quarantined_series", "job_id", "no;job")
    }


@pytest.mark.parametrize("host", [FLOOD, BOMB])
def test_what_exceeds_a_limit_is_not_stored(monitoring: Monitoring, host: str) -> None:
    """The scrape fails as a whole, and says that it was answered."""
    assert of_node(monitoring, host) == []
    place = f'{{job="dcgm", node="{host}"}}'
    assert monitoring.query(f"up{place}")[0][1] == 0
    ((_, scraped),) = monitoring.query(f"scrape_samples_scraped{place}")
    assert scraped > (MANY if host == FLOOD else 0)


def test_all_of_it_is_told(monitoring: Monitoring) -> None:
    """The owner hears of each, and of nobody else."""
    broken = {(BAD_UUID, "gpu_uuid"), (NO_UUID, "gpu_uuid"), (ODD_JOB, "job_id"), ("", "node")}
    until("the violations", lambda: pending(monitoring, "DcgmLabelViolations") == broken, also=monitoring.logs)
    until("the trainer's", lambda: pending(monitoring, "TrainerLabelViolations") == {(TRAINER, "job_id")})
    refused = {(FLOOD, ""), (BOMB, "")}
    until("the refusals", lambda: pending(monitoring, "DcgmScrapeRefused") == refused, also=monitoring.logs)


def test_the_head_stays_small(monitoring: Monitoring) -> None:
    """Nothing of the flood has become a series."""
    assert monitoring.ask("status/tsdb")["headStats"]["numSeries"] < 5_000


def test_what_is_dropped_is_counted(watch_by: Callable[[Pair, str], Monitoring]) -> None:
    """With `on_violation: drop` nothing is kept apart, and the difference is told."""
    if not PAIRS:
        pytest.skip(f"no Prometheus or no Alertmanager found. {INSTALL}")
    one = watch_by(PAIRS[-1], "drop")
    assert one.query("quarantined_series") == []
    assert len(of_node(one, BAD_UUID)) == fields(one)
    assert len(of_node(one, SOUND)) == 2 * fields(one)
    # The flood and the bomb name boards that cannot be: they are gone before any limit is asked.
    dropped = {(host, "unknown") for host in (BAD_UUID, NO_UUID, FLOOD, BOMB, "")} | {(ODD_JOB, "job_id")}
    until("the violations", lambda: pending(one, "DcgmLabelViolations") == dropped, also=one.logs)
