"""The README is true: its commands run, its excerpts stand in the files, its CI steps work on this repository."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import yaml

from conftest import ROOT

if TYPE_CHECKING:
    from toolbox import Tool

README = (ROOT / "README.md").read_text("utf-8")
BLOCKS = re.findall(r"^```(\w*)\n(.*?)^```", README, re.MULTILINE | re.DOTALL)
SOURCES = [*ROOT.glob("specs/**/*.yaml"), *ROOT.glob("out/**/*.yml")]


def blocks(kind: str) -> list[str]:
    return [text for name, text in BLOCKS if name == kind]


def shell(command: str, folder: Path, **environment: str) -> subprocess.CompletedProcess[str]:
    """Run a command as a reader would, `tocsin` being this checkout's."""
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    variables = {**os.environ, "PATH": path, **environment}
    return subprocess.run(
        ["bash", "-c", command], cwd=folder, env=variables, capture_output=True, text=True, check=False
    )


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    for folder in ("specs", "out"):
        shutil.copytree(ROOT / folder, tmp_path / folder)
    return tmp_path


@pytest.mark.parametrize("block", [b for b in blocks("yaml") if not re.match(r"repos:|jobs:|monitoring:|version:", b)])
def test_excerpts_stand_in_the_files(block: str) -> None:
    assert any(block in path.read_text("utf-8") for path in SOURCES), block


def test_the_smallest_spec_is_whole_and_has_no_line_too_many(tmp_path: Path, newest: dict[str, Tool]) -> None:
    """It builds, and each of its lines is missed."""
    (block,) = (b for b in blocks("yaml") if b.startswith("version:"))
    lines = block.splitlines(keepends=True)
    (tmp_path / "cluster.yaml").write_text(block, "utf-8")
    done = shell("tocsin build cluster.yaml", tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    for index in range(len(lines)):
        (tmp_path / "cluster.yaml").write_text("".join(lines[:index] + lines[index + 1 :]), "utf-8")
        assert shell("tocsin check cluster.yaml", tmp_path).returncode == 1, lines[index]


@pytest.mark.parametrize("block", blocks("console"))
def test_shown_output_is_real(block: str, checkout: Path) -> None:
    for step in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
        command, _, wanted = step.partition("\n")
        done = shell(command, checkout)
        assert done.stdout + done.stderr == wanted


def test_make_knows_the_two_commands() -> None:
    commands = re.findall(r"^make (\w+)", README, re.MULTILINE)
    assert commands == ["build", "test"]
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert all(re.search(rf"^{name}: .*## ", makefile, re.MULTILINE) for name in commands)


@pytest.mark.parametrize("block", [b for b in blocks("yaml") if re.match(r"jobs:|monitoring:", b)])
def test_ci_steps_work_here(block: str, checkout: Path, newest: dict[str, Tool]) -> None:
    document = yaml.safe_load(block)
    job = next(iter(document.get("jobs", document).values()))
    lines = [step["run"] for step in job["steps"] if "run" in step] if "steps" in job else job["script"]
    commands = [line for line in lines if line.startswith("tocsin")]
    assert commands
    for command in commands:
        done = shell(command, checkout)
        assert done.returncode == 0, done.stdout + done.stderr


def test_hooks_are_what_pre_commit_reads() -> None:
    (configured,) = (yaml.safe_load(b) for b in blocks("yaml") if b.startswith("repos:"))
    offered = {hook["id"]: hook for hook in yaml.safe_load((ROOT / ".pre-commit-hooks.yaml").read_text("utf-8"))}
    (hook,) = configured["repos"][0]["hooks"]
    assert {"id", "name", "entry", "language"} <= offered[hook["id"]].keys()
    done = shell(" ".join([offered[hook["id"]]["entry"], *hook["args"]]), ROOT)
    assert (done.returncode, done.stdout) == (0, "")


def test_relative_links_lead_somewhere() -> None:
    for target in re.findall(r"\]\((?!http)([^)#]+)\)", README):
        assert (ROOT / target).exists(), target
