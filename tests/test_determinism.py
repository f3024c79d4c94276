"""The same spec is the same bytes: whoever builds it, wherever, whenever, in whatever order it is written."""

from __future__ import annotations

import getpass
import json
import os
import random
import re
import shutil
import socket
from pathlib import Path
from typing import Any

import pytest
import yaml

import tocsin
from command import tocsin as run
from conftest import ROOT

SPECS = ROOT / "specs"
ROOTS = sorted(path.name for path in SPECS.glob("*.yaml"))


def tree(folder: Path) -> dict[str, bytes]:
    """Every file below a folder with its bytes."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


def built(spec: Path | str, out: Path, **how: Any) -> dict[str, bytes]:
    """What a build in a process of its own writes."""
    done = run(["build", "--no-verify", "--out", out, spec], **how)
    assert done.returncode == 0, done.stdout + done.stderr
    return tree(out)


@pytest.fixture(scope="module", params=ROOTS)
def expected(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> tuple[str, dict[str, bytes]]:
    """A spec of the examples and its output, built from the checkout as a developer does."""
    files = built(SPECS / request.param, tmp_path_factory.mktemp("usual") / "out")
    assert len(files) > 15
    return request.param, files


@pytest.mark.parametrize(
    "environment",
    [
        {"PYTHONHASHSEED": "1"},
        {"PYTHONHASHSEED": "4711", "PYTHONOPTIMIZE": "2"},
        {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "TZ": "Asia/Kathmandu"},
        {"LC_ALL": "tr_TR.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Pacific/Apia"},
        {
            "HOME": "/nowhere",
            "USER": "somebody",
            "LOGNAME": "somebody",
            "HOSTNAME": "elsewhere",
            "SOURCE_DATE_EPOCH": "0",
        },
        {"PYTHONIOENCODING": "ascii", "PYTHONDONTWRITEBYTECODE": "1", "COLUMNS": "20", "NO_COLOR": "1"},
    ],
    ids=lambda environment: next(iter(environment.values())),
)
def test_the_environment_changes_nothing(
    expected: tuple[str, dict[str, bytes]], environment: dict[str, str], tmp_path: Path
) -> None:
    name, files = expected
    assert built(SPECS / name, tmp_path / "out", environment=environment) == files


@pytest.mark.parametrize("umask", [0o000, 0o077])
def test_the_umask_changes_no_byte(expected: tuple[str, dict[str, bytes]], umask: int, tmp_path: Path) -> None:
    name, files = expected
    assert built(SPECS / name, tmp_path / "out", umask=umask) == files


def test_the_place_changes_nothing(expected: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    name, files = expected
    moved = shutil.copytree(SPECS, tmp_path / "some where" / "ünder")
    assert built(name, tmp_path / "1", folder=moved) == files
    assert built(f"./{name}", tmp_path / "2", folder=moved) == files
    assert built(moved / name, tmp_path / "3", folder=Path("/")) == files
    assert built(f"../../ünder/{name}", tmp_path / "4", folder=moved / "slos") == files


def test_an_older_output_changes_nothing(expected: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    name, files = expected
    other = next(spec for spec in ROOTS if spec != name)
    factory = json.loads(next(text for path, text in files.items() if path.endswith("manifest.json")))["factory"]
    built(SPECS / other, tmp_path / "out")
    (left,) = (tmp_path / "out").iterdir()
    left.rename(tmp_path / "out" / factory)  # as after a factory was called another name
    assert built(SPECS / name, tmp_path / "out") == files


def test_standard_input_is_as_good_as_a_file(expected: tuple[str, dict[str, bytes]], tmp_path: Path) -> None:
    name, files = expected
    raw = (SPECS / name).read_bytes()
    piped = built("-", tmp_path / "out", folder=SPECS, stdin=raw)
    assert comparable(piped) == comparable(files)


def comparable(files: dict[str, bytes]) -> dict[str, object]:
    """The files; of the manifest what is not about lines of the spec."""
    found: dict[str, object] = dict(files)
    for path in (path for path in files if path.endswith("manifest.json")):
        manifest = json.loads(files[path])
        for entry in manifest["files"].values():
            del entry["from"]
        found[path] = manifest
    return found


class Shuffled(yaml.SafeDumper):
    """Writes mappings in the order in which they are."""

    def ignore_aliases(self, _data: Any) -> bool:
        """Write out what occurs twice."""
        return True


def shuffled(value: Any, chance: random.Random) -> Any:
    """The value with the keys of every mapping in another order."""
    if isinstance(value, dict):
        keys = list(value)
        chance.shuffle(keys)
        return {key: shuffled(value[key], chance) for key in keys}
    return [shuffled(item, chance) for item in value] if isinstance(value, list) else value


def rewrite(path: Path, chance: random.Random) -> dict[str, Any]:
    """Write a file of the spec again with its keys in another order; its content."""
    # BaseLoader: every value stays the text that was written.
    content: dict[str, Any] = shuffled(yaml.load(path.read_text("utf-8"), yaml.BaseLoader), chance)
    numbers = re.compile(r"'(\d+)'")
    text = yaml.dump(content, Dumper=Shuffled, sort_keys=False, allow_unicode=True)
    path.write_text(numbers.sub(r"\1", text), "utf-8")
    return content


@pytest.mark.parametrize("seed", range(3))
def test_the_order_of_keys_and_files_changes_nothing(
    expected: tuple[str, dict[str, bytes]], seed: int, tmp_path: Path
) -> None:
    name, files = expected
    chance = random.Random(seed)
    moved = shutil.copytree(SPECS, tmp_path / "specs")
    for path in sorted(moved.rglob("*.yaml")):
        rewrite(path, chance)
    root = moved / name
    if "include:" in root.read_text("utf-8"):
        parts = sorted(str(path.relative_to(moved)) for path in moved.glob("slos/*.yaml"))
        assert len(parts) > 1
        chance.shuffle(parts)
        text = re.sub(r"include:\n(- .*\n)+", f"include: [{', '.join(parts)}]\n", root.read_text("utf-8"))
        assert parts[0] in text
        root.write_text(text, "utf-8")
    assert comparable(built(root, tmp_path / "out")) == comparable(files)


def test_no_file_says_where_when_or_by_whom_it_was_built(
    expected: tuple[str, dict[str, bytes]], tmp_path: Path
) -> None:
    name, _ = expected
    user = "averyunusualuser"
    home = tmp_path / user
    moved = shutil.copytree(SPECS, home / "specs")
    environment = {"HOME": str(home), "USER": user, "LOGNAME": user, "HOSTNAME": "averyunusualhost"}
    files = built(moved / name, home / "out", folder=home, environment=environment)
    text = b"\n".join(files.values()).decode("utf-8")
    for word in (str(tmp_path), user, "averyunusualhost", str(ROOT), os.sep + "tmp" + os.sep):
        assert word not in text
    # A host may be called by two letters, which stand inside of other words.
    assert not re.search(rf"\b{re.escape(socket.gethostname())}\b", text)
    if len(getpass.getuser()) > 4:  # `root` is a word of its own
        assert getpass.getuser() not in text
    assert not re.search(r"\b20[2-9]\d-\d\d-\d\d\b|\d\d:\d\d:\d\d", text)
    assert not re.search(rf"tocsin[^\n]{{0,20}}{re.escape(tocsin.__version__)}", text)
    assert "Python" not in text
