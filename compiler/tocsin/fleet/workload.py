"""What runs on the GPUs and has pages of its own: trainers and services."""

from __future__ import annotations

from dataclasses import dataclass, field

from tocsin.fleet.exposition import Family, Labels
from tocsin.fleet.meter import Meter

_BUCKETS = {"0.1": 0.42, "0.25": 0.8, "0.5": 0.97, "1": 0.999, "+Inf": 1.0}  # share of requests that are done by then
_MEAN = 0.17  # seconds


@dataclass(slots=True)
class Trainer:
    """A training job on a host. `spelling` is the label by which its framework calls the job's id."""

    job: str
    account: str
    spelling: str = "slurm_job_id"
    steps: Meter = field(default_factory=lambda: Meter(rate=12))
    waiting: Meter = field(default_factory=lambda: Meter(rate=0.05))

    def families(self) -> list[Family]:
        """Its page. `node` and `job` are its own ideas of words that are taken: the scraper's must win."""
        labels = {self.spelling: self.job, "account": self.account, "node": "worker-0", "job": "pretrain"}
        shown = (
            ("train_steps_total", "counter", "Optimizer steps", int(self.steps.read())),
            ("train_job_running", "gauge", "1 while the job runs", 1),
            ("train_loss", "gauge", "Training loss", 2.25),
            ("train_data_wait_seconds_total", "counter", "Time waited for data", self.waiting.read()),
        )
        return [Family(name, type_, help_, [(labels, value)]) for name, type_, help_, value in shown]


@dataclass(slots=True)
class Service:
    """An inference service, `rate` requests a second."""

    name: str
    rate: float = 50
    good: Meter = field(init=False)
    bad: Meter = field(default_factory=Meter)

    def __post_init__(self) -> None:
        """From now on it is asked."""
        self.good = Meter(rate=self.rate)

    def errors(self, ratio: float) -> None:
        """From now on this share of requests fails."""
        self.good.run(self.rate * (1 - ratio))
        self.bad.run(self.rate * ratio)

    def families(self) -> list[Family]:
        """Its page. As with every client library, a code that never happened has no series."""
        done = {"200": int(self.good.read()), "503": int(self.bad.read())}
        requests: list[tuple[Labels, float]] = [
            ({"service": self.name, "code": code}, count) for code, count in done.items() if count
        ]
        total = sum(done.values())
        mine = {"service": self.name}
        buckets = [("_bucket", {**mine, "le": le}, int(total * share)) for le, share in _BUCKETS.items()]
        sums = [("_sum", mine, total * _MEAN), ("_count", mine, total)]
        return [
            Family("inference_requests_total", "counter", "Requests answered", requests),
            Family("inference_request_duration_seconds", "histogram", "Time to answer", (), [*buckets, *sums]),
        ]
