"""Slurm's prolog and epilog, run for real: what they tell is whole, true and gone afterwards, and no job ever fails."""

from __future__ import annotations

import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from conftest import ROOT
from tocsin.emit.slurm import slurm
from tocsin.plan import Plan
from tocsin.plan.notifications import Notifications
from tocsin.plan.programs import JobHooks
from tocsin.source import Span
from tocsin.spec.deep import Deep

if TYPE_CHECKING:
    from collections.abc import Iterator

    Process = subprocess.Popen[str]

NODE = "gpu-node-01"
SHELLS = ("sh", "bash")
PLACE = Span("spec.yaml", 1, 1, 1, 2)


class Host:
    """A node and its two folders; `start` and `end` are what slurmd does there."""

    def __init__(self, folder: Path, shell: str = "sh", jobs: str = "jobs", targets: str = "targets") -> None:
        self.folder, self.shell = folder, shell
        self.jobs, self.shared = folder / jobs, folder / targets
        self.shared.mkdir(parents=True, exist_ok=True)
        self.targets = self.shared / "east"
        hooks = JobHooks("east", 9401, str(self.targets), str(self.jobs), PLACE)
        for artifact in slurm(plan(hooks)):
            path = folder / artifact.path.rpartition("-")[2]
            path.write_text(artifact.text, "utf-8")
            path.chmod(0o755)

    def popen(self, script: str, job: str | None, gpus: str = "", **more: str) -> Process:
        """A script in a process group of its own, with the little that slurmd gives it: not even a PATH."""
        named = {"SLURM_JOB_ID": job, "SLURM_JOB_GPUS": gpus, "SLURMD_NODENAME": NODE, **more}
        environment = {name: value for name, value in named.items() if value is not None}
        command = [str(shutil.which(self.shell)), str(self.folder / f"{script}.sh")]
        return subprocess.Popen(
            command, env=environment, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
        )

    def run(self, script: str, job: str | None, gpus: str = "", **more: str) -> str:
        """What a script says; it must succeed, and print nothing for slurmd to read."""
        process = self.popen(script, job, gpus, **more)
        out, err = process.communicate(timeout=60)
        assert (process.returncode, out) == (0, "")
        return err

    def start(self, job: str | int, gpus: str = "", **more: str) -> str:
        return self.run("prolog", str(job), gpus, **more)

    def end(self, job: str | int, **more: str) -> str:
        return self.run("epilog", str(job), **more)

    def mapping(self) -> dict[str, list[str]]:
        """The jobs of each GPU, as dcgm-exporter reads them."""
        if not self.jobs.is_dir():
            return {}
        return {path.name: path.read_text().split() for path in sorted(self.jobs.iterdir()) if path.name[0] != "."}

    def target(self) -> Any:
        path = self.targets / f"{NODE}.json"
        return json.loads(path.read_text("utf-8")) if path.exists() else None

    def left(self) -> list[str]:
        """Everything that lies in the two folders, hidden files too."""
        return sorted(str(path) for folder in (self.jobs, self.targets) if folder.is_dir() for path in folder.iterdir())


def plan(*hooks: JobHooks) -> Plan:
    return Plan("lab", (), (), Notifications(None, (), (), ()), (), "", (), None, job_hooks=hooks)  # type: ignore[arg-type]


TARGET = [{"targets": [f"{NODE}:9401"], "labels": {"cluster": "east", "node": NODE}}]


@pytest.fixture(params=SHELLS)
def host(request: pytest.FixtureRequest, tmp_path: Path) -> Host:
    assert shutil.which(request.param)
    return Host(tmp_path, request.param)


def test_a_job_is_told_of_while_it_runs(host: Host) -> None:
    assert host.start(4711, "0,1") == ""
    assert host.mapping() == {"0": ["4711"], "1": ["4711"]}
    assert (host.jobs / "0").read_bytes() == b"4711\n"
    assert host.target() == TARGET
    assert host.end(4711) == ""
    assert host.left() == []


def test_prometheus_and_the_exporter_may_read_what_root_writes(host: Host) -> None:
    host.start(4711, "0")
    for path in (host.jobs / "0", host.targets / f"{NODE}.json"):
        assert path.stat().st_mode & 0o444 == 0o444
    assert host.targets.stat().st_mode & 0o555 == 0o555


def test_two_jobs_share_a_node_and_a_gpu(host: Host) -> None:
    host.start(1, "0,1")
    host.start(11, "1,2")
    assert host.mapping() == {"0": ["1"], "1": ["1", "11"], "2": ["11"]}
    host.end(1)
    assert host.mapping() == {"1": ["11"], "2": ["11"]}
    assert host.target() == TARGET
    host.end(11)
    assert host.left() == []


def test_twice_is_once(host: Host) -> None:
    for _ in range(2):
        host.start(7, "0,0")
        assert host.mapping() == {"0": ["7"]}
    for _ in range(2):
        host.end(7)
        assert host.left() == []


@pytest.mark.parametrize(
    ("gpus", "names"),
    [
        ("0.1,0.11,3", ["0", "0.1", "0.11", "3"]),
        ("2-4", ["2", "3", "4"]),
        ("0-1,5", ["0", "1", "5"]),
        ("0 1", ["0", "1"]),
        ("", []),
    ],
)
def test_boards_and_mig_instances_are_named_as_the_exporter_names_them(host: Host, gpus: str, names: list[str]) -> None:
    host.start(6, "0")  # another job is there all the time
    assert host.start(7, gpus) == ""
    assert host.mapping() == {name: [*(["6"] if name == "0" else []), "7"] for name in names} | (
        {} if "0" in names and "0.1" not in names else {"0": ["6"]}
    )
    host.end(7)
    assert host.mapping() == {"0": ["6"]}


def test_the_list_of_slurm_comes_before_those_of_the_job(host: Host) -> None:
    host.start(1, "4", CUDA_VISIBLE_DEVICES="0")
    host.start(2, CUDA_VISIBLE_DEVICES="5", GPU_DEVICE_ORDINAL="0")
    host.start(3, GPU_DEVICE_ORDINAL="6")
    assert host.start(4, CUDA_VISIBLE_DEVICES="NoDevFiles") == ""
    assert host.mapping() == {"4": ["1"], "5": ["2"], "6": ["3"]}


@pytest.mark.parametrize("gpu", ["GPU-8f6d3c1e", "MIG-8f6d3c1e", "../0", "1.2.3", "01", "x", "1-", "-1", "*", "$(id)"])
def test_a_board_without_an_index_is_left_out_and_told(host: Host, gpu: str) -> None:
    assert "not named by its index" in host.start(7, f"{gpu},3")
    assert host.mapping() == {"3": ["7"]}
    assert host.target() == TARGET
    host.end(7)
    assert host.left() == []


def test_a_job_without_boards_makes_its_node_a_target(host: Host) -> None:
    host.start(7)
    assert (host.mapping(), host.target()) == ({}, TARGET)
    host.end(7)
    assert host.left() == []


def test_tasks_of_arrays_and_parts_of_heterogeneous_jobs_are_jobs_of_their_own(host: Host) -> None:
    host.start(101, "0", SLURM_ARRAY_JOB_ID="100", SLURM_ARRAY_TASK_ID="1")
    host.start(102, "1", SLURM_ARRAY_JOB_ID="100", SLURM_ARRAY_TASK_ID="2")
    host.start(201, "2", SLURM_HET_JOB_ID="200", SLURM_HET_JOB_OFFSET="1")
    assert host.mapping() == {"0": ["101"], "1": ["102"], "2": ["201"]}


ODD = ["", " ", "1 2", "'", '"', "../x", "..", "1\n2", "4711\n", "9" * 200, "$(touch x)", "`id`", "-1", "*", "1;2"]


@pytest.mark.parametrize("job", [None, *ODD, "x", "1.2", "1_2", "\u0661", "%s", "\\"])
@pytest.mark.parametrize("script", ["prolog", "epilog"])
def test_an_odd_id_is_refused_and_nothing_written(host: Host, script: str, job: str | None) -> None:
    host.start(3, "0")
    before = {path: Path(path).read_bytes() for path in host.left()}
    assert host.run(script, job, "0,1") == "tocsin: SLURM_JOB_ID is not a number: nothing done\n"
    assert {path: Path(path).read_bytes() for path in host.left()} == before
    assert len(before) == 3


@pytest.mark.parametrize("node", ["../x", "a/b", ".", "-n", "a b", 'a"b', "a\nb", "x" * 300, "$(id)"])
def test_an_odd_node_is_refused_and_nothing_written(host: Host, node: str) -> None:
    assert "name of this node" in host.start(7, "0", SLURMD_NODENAME=node)
    assert host.left() == []


def test_a_node_without_a_name_from_slurm_is_called_as_it_calls_itself(host: Host) -> None:
    host.start(7, "0", SLURMD_NODENAME="")
    assert [path.stem for path in host.targets.iterdir()] == [os.uname().nodename.split(".")[0]]


@pytest.mark.parametrize(
    "name",
    ["a b", "it's", 'a"b', "$(touch pwned)", "`touch pwned`", "$HOME", "a;touch pwned", "a&b|c>d<e", "-rf", "#x", "~"],
)
def test_settings_are_text_for_every_shell(tmp_path: Path, name: str) -> None:
    for shell in SHELLS:
        host = Host(tmp_path / shell, shell, f"{name}/{name}", f"t {name}")
        assert host.start(7, "0") == ""
        assert (host.mapping(), host.target()) == ({"0": ["7"]}, TARGET)
        assert host.end(7) == ""
        assert host.left() == []
    assert not list(tmp_path.rglob("pwned"))
    assert not Path("pwned").exists()


@given(parts=st.lists(st.text(st.characters(min_codepoint=32, max_codepoint=126), max_size=12), min_size=1, max_size=4))
@settings(max_examples=150)
def test_every_folder_that_a_spec_may_name_is_one_word_for_a_shell(parts: list[str]) -> None:
    folder = "".join(f"/{part}" for part in parts)
    try:
        deep = Deep(only="active_jobs", targets=folder, jobs=folder)
    except ValidationError:
        return
    script = next(slurm(plan(JobHooks("east", 9401, deep.targets, deep.jobs, PLACE)))).text
    lines = script[script.index("cluster=") : script.index("PATH=")]
    said = subprocess.run(
        ["/bin/sh", "-c", f'{lines}printf %s "$targets|$jobs|$port|$cluster"'],
        check=True,
        capture_output=True,
        env={},
    )
    assert said.stdout.decode() == f"{folder}|{folder}|9401|east"
    assert said.stderr == b""


@pytest.mark.parametrize("part", ["a*", "a?", "[a]", "a\\b", "..", ".", "", "a\nb", "a\tb", "\u00e4", "x" * 101])
def test_a_folder_that_prometheus_would_not_watch_is_refused(part: str) -> None:
    Deep(only="active_jobs", targets="/srv/a")
    with pytest.raises(ValidationError):
        Deep(only="active_jobs", targets=f"/srv/{part}/a")


def test_where_the_shared_folder_is_not_mounted_nothing_is_made_in_its_place(host: Host) -> None:
    host.shared.rmdir()
    assert "could not be told of in full" in host.start(7, "0")
    assert host.mapping() == {"0": ["7"]}
    assert not host.shared.exists()
    host.shared.mkdir()  # it is mounted again: the next job of the node mends it
    assert host.start(8, "1") == ""
    assert host.target() == TARGET


def test_an_epilog_alone_leaves_no_trace(host: Host) -> None:
    assert host.end(7) == ""
    assert host.left() == []


def test_a_target_that_outlived_its_node_goes_with_the_next_job(host: Host) -> None:
    host.start(7, "0")
    shutil.rmtree(host.jobs)  # the node was started again: /run is empty
    host.start(8, "1")
    host.end(8)
    assert host.left() == []


@pytest.mark.parametrize("broken", ["jobs", "shared"])
def test_a_file_in_place_of_a_folder_fails_no_job(host: Host, broken: str) -> None:
    host.shared.rmdir()
    getattr(host, broken).write_text("x")
    assert f"{host.jobs}" in host.start(7, "0")
    host.end(7)
    assert getattr(host, broken).read_text() == "x"


@pytest.mark.parametrize("closed", ["jobs", "targets"])
@pytest.mark.parametrize("shell", SHELLS)
def test_a_folder_that_may_not_be_written_fails_no_job(shell: str, closed: str) -> None:
    """Root may write everywhere, so this is done as nobody."""
    with tempfile.TemporaryDirectory() as name:
        host = Host(Path(name), shell)
        host.start(7, "0")
        before = host.left()
        folders = {"jobs": host.jobs, "targets": host.targets}
        nobody = 65534 if os.geteuid() == 0 else None
        for path in (host.folder, host.shared, *folders.values()):
            path.chmod(0o755 if path in (host.folder, host.shared, folders[closed]) else 0o777)
        folders[closed].chmod(0o555)
        # In the one case 8 is never noted, so its end changes nothing; in the other it takes the target with it.
        steps = {("prolog", "8"): "jobs", ("epilog", "7"): "jobs", ("epilog", "8"): "targets"}
        for (script, job), told_of in steps.items():
            answer = subprocess.run(
                [str(shutil.which(shell)), str(host.folder / f"{script}.sh")],
                check=False,
                env={"SLURM_JOB_ID": job, "SLURMD_NODENAME": NODE, "SLURM_JOB_GPUS": "1"},
                capture_output=True,
                text=True,
                user=nobody,
            )
            assert (answer.returncode, answer.stdout) == (0, "")
            assert ("told of in full" in answer.stderr) == (told_of == closed)
        kept = [path for path in before if path.startswith(str(folders[closed]))]
        assert [path for path in host.left() if path.startswith(str(folders[closed]))] == kept
        folders[closed].chmod(0o755)


def test_nobody_listening_fails_no_job(host: Host) -> None:
    command = f"{shutil.which(host.shell)} {host.folder}/prolog.sh"
    environment = {"SLURM_JOB_ID": "x"}
    subprocess.run(["/bin/sh", "-c", f"{command} >&- 2>&-"], check=True, env=environment)
    read, write = os.pipe()
    os.close(read)
    subprocess.run(command.split(), check=True, env=environment, stderr=write)
    os.close(write)


# --- many at once -----------------------------------------------------------------------------------------------------


class Reader:
    """Reads everything all the time, as dcgm-exporter and Prometheus may at any moment."""

    def __init__(self, host: Host) -> None:
        self.host, self.reads, self.torn = host, 0, list[str]()
        self.stop = threading.Event()

    def look(self) -> None:
        for folder in (self.host.jobs, self.host.targets):
            for path in folder.iterdir() if folder.is_dir() else ():
                with suppress(FileNotFoundError):
                    if path.suffix == ".json" or path.name.replace(".", "").isdigit():
                        self.check(path.name, path.read_text("utf-8"))

    def check(self, name: str, text: str) -> None:
        self.reads += 1
        lines = text.split("\n")[:-1]
        whole = text == json.dumps(TARGET) + "\n" if name.endswith(".json") else re.fullmatch(r"([0-9]+\n)+", text)
        if not whole or len(set(lines)) != len(lines):
            self.torn.append(f"{name}: {text!r}")

    def loop(self) -> None:
        while not self.stop.wait(0.001):  # the scripts need the processors too
            self.look()


@contextmanager
def watched(host: Host) -> Iterator[Reader]:
    reader = Reader(host)
    thread = threading.Thread(target=reader.loop)
    thread.start()
    try:
        yield reader
    finally:
        reader.stop.set()
        thread.join()
    assert reader.torn == []


def together(processes: list[Process]) -> None:
    for process in processes:
        out, err = process.communicate(timeout=120)
        assert (process.returncode, out, err) == (0, "", "")


def test_a_reader_would_see_a_torn_file(tmp_path: Path) -> None:
    host = Host(tmp_path)
    host.start(7, "0")
    (host.jobs / "0").write_text("47")
    reader = Reader(host)
    reader.look()
    assert reader.torn == ["0: '47'"]
    assert reader.reads == 2


@pytest.mark.parametrize("shell", SHELLS)
def test_two_hundred_jobs_start_at_once_and_end_at_once(tmp_path: Path, shell: str) -> None:
    host = Host(tmp_path, shell)
    jobs = {str(1000 + number): str(number % 8) for number in range(200)}
    with watched(host) as reader:
        together([host.popen("prolog", job, gpu) for job, gpu in jobs.items()])
        mapping = {gpu: sorted(ids) for gpu, ids in host.mapping().items()}
        assert mapping == {str(gpu): [job for job in jobs if jobs[job] == str(gpu)] for gpu in range(8)}
        assert host.target() == TARGET
        together([host.popen("epilog", job) for job in jobs])
    assert host.left() == []
    assert reader.reads > 1000


def test_starts_and_ends_cross_each_other(tmp_path: Path) -> None:
    host = Host(tmp_path)
    jobs = {str(number): f"{number % 4},{number % 4 + 4}" for number in range(1, 101)}
    with watched(host):
        together([host.popen("prolog", job, gpus) for job, gpus in list(jobs.items())[:50]])
        crossing = [host.popen("epilog", job) for job in list(jobs)[:50]]
        crossing += [host.popen("prolog", job, gpus) for job, gpus in list(jobs.items())[50:]]
        together(crossing)
        assert sorted({job for ids in host.mapping().values() for job in ids}, key=int) == list(jobs)[50:]
        assert host.target() == TARGET
        together([host.popen("epilog", job) for job in list(jobs)[50:]])
    assert host.left() == []


# --- killed -----------------------------------------------------------------------------------------------------------


def killed(process: Process, after: float) -> bool:
    """Whether a script was killed in the middle, with all that it had started, as slurmd does it."""
    with suppress(subprocess.TimeoutExpired):
        process.wait(after)
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


def usual_time(host: Host) -> float:
    """How long a prolog takes here and now, in seconds."""
    before = time.monotonic()
    for job in range(1, 6):
        host.start(job, "0")
        host.end(job)
    return (time.monotonic() - before) / 10


@pytest.mark.parametrize("script", ["prolog", "epilog"])
@pytest.mark.parametrize("shell", SHELLS)
def test_the_next_job_mends_what_a_killed_one_left(tmp_path: Path, shell: str, script: str) -> None:
    """Job 1 runs all the time. 2 is killed; what is left of it is all or nothing once 3 has started."""
    host, chance = Host(tmp_path, shell), random.Random(script)
    longest = 1.5 * usual_time(host)
    host.start(1, "0")
    halves, whole = 0, {"0": ["1", "2"], "1": ["2"], "2": ["2"]}
    with watched(host):
        for _ in range(12):
            if script == "epilog":
                host.start(2, "0,1,2")
            halves += killed(host.popen(script, "2", "0,1,2"), chance.uniform(0, longest))
            assert host.start(3, "3") == ""
            is_active = "2" in (host.jobs / ".active").read_text().split()
            assert host.mapping() == {**(whole if is_active else {"0": ["1"]}), "3": ["3"]}
            assert host.target() == TARGET
            assert not [path for path in host.left() if path.endswith(".tmp")]
            host.end(2)
            host.end(3)
            assert host.mapping() == {"0": ["1"]}
    assert halves >= 3, "hardly any was killed in the middle: this proved nothing"
    host.end(1)
    assert host.left() == []


def test_what_only_a_killed_script_leaves_goes_with_the_next_prolog(host: Host) -> None:
    host.start(1, "0")
    host.start(4, "4,6")
    (host.jobs / "0").write_text("1\n2\n2\n\nx y\n")
    (host.jobs / "4").write_text("4\n4\n")
    (host.jobs / "6").write_text("\n4")
    (host.jobs / "5").write_text("2\n")
    for name in (".0.tmp", "..active.tmp"):
        (host.jobs / name).write_text("4")
    (host.targets / f".{NODE}.json.tmp").write_text("[{")
    (host.targets / f"{NODE}.json").write_text("[{")
    (host.targets / ".gpu-node-02.json.tmp").write_text("[")  # another node is at work
    host.start(3, "3")
    assert host.mapping() == {"0": ["1"], "3": ["3"], "4": ["4"], "6": ["4"]}
    assert [(host.jobs / gpu).read_text() for gpu in "046"] == ["1\n", "4\n", "4\n"]
    assert host.target() == TARGET
    for job in (1, 3, 4):
        host.end(job)
    assert host.left() == [str(host.targets / ".gpu-node-02.json.tmp")]


def test_an_epilog_takes_only_its_own_jobs_lines(host: Host) -> None:
    host.start(1, "0")
    (host.jobs / "0").write_text("1\n99\n")
    (host.jobs / "1").write_text("99\n")
    host.end(1)
    assert host.mapping() == {"0": ["99"], "1": ["99"]}


def test_the_lock_goes_with_its_holder(host: Host) -> None:
    host.start(1, "0")
    holder = subprocess.Popen(["flock", str(host.jobs), "sleep", "60"], start_new_session=True)
    waiting = host.popen("prolog", "2", "1")
    with pytest.raises(subprocess.TimeoutExpired):
        waiting.wait(0.5)
    os.killpg(holder.pid, signal.SIGKILL)
    holder.wait()
    together([waiting])
    assert host.mapping() == {"0": ["1"], "1": ["2"]}


# --- judged -----------------------------------------------------------------------------------------------------------


def test_shellcheck_finds_nothing(tmp_path: Path) -> None:
    """It comes with the development dependencies, beside the interpreter."""
    beside = os.pathsep.join((str(Path(sys.executable).parent), os.environ["PATH"]))
    judge = shutil.which("shellcheck", path=beside)
    assert judge, "shellcheck is missing: install the development dependencies again"
    Host(tmp_path, targets="a b's; #")
    scripts = [*tmp_path.glob("*.sh"), *(ROOT / "out/ai-factory-east/exporters/slurm").glob("*.sh")]
    assert len(scripts) == 4
    command = [judge, "--norc", "--shell=sh", "--severity=style", *scripts]
    answer = subprocess.run(command, check=False, capture_output=True, text=True)
    assert (answer.returncode, answer.stdout, answer.stderr) == (0, "", "")


@pytest.mark.parametrize("script", ["prolog", "epilog"])
def test_a_script_says_what_it_is_for(tmp_path: Path, script: str) -> None:
    Host(tmp_path)
    text = (tmp_path / f"{script}.sh").read_text("utf-8")
    assert text.startswith("#!/bin/sh\n")
    assert f"{script.title()}= of slurm.conf on every node of east, mode 755" in text
    assert text.isascii()
