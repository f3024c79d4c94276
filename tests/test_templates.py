"""The templates are found where they lie in a checkout, and where a wheel puts them."""

from __future__ import annotations

import shutil
import subprocess
import sys
import tomllib
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT
from tocsin.templates import template

if TYPE_CHECKING:
    from pathlib import Path

NAMES = sorted(str(path.relative_to(ROOT / "templates")) for path in (ROOT / "templates").rglob("*") if path.is_file())


@pytest.mark.parametrize("name", NAMES)
def test_a_checkout_has_them_at_its_top(name: str) -> None:
    assert template(name) == (ROOT / "templates" / name).read_text("utf-8")


def test_an_installed_package_has_them_inside(tmp_path: Path) -> None:
    """Laid out as pyproject tells the build backend to, away from the checkout."""
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["hatch"]["build"]["targets"]["wheel"]
    for package in wheel["packages"]:
        shutil.copytree(ROOT / package, tmp_path / package.split("/")[-1])
    for source, place in wheel["force-include"].items():
        shutil.copytree(ROOT / source, tmp_path / place)
    program = f"from tocsin.templates import template\nfor name in {NAMES!r}: print(template(name), end='')"
    command = [sys.executable, "-S", "-c", program]
    answer = subprocess.run(
        command, check=True, capture_output=True, text=True, cwd=tmp_path, env={"PYTHONPATH": str(tmp_path)}
    )
    assert answer.stdout == "".join(template(name) for name in NAMES)
    assert len(NAMES) >= 3
