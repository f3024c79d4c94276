"""The browser is found where it is named, on PATH or in the cache, with all that it needs, and fetched whole."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

import toolbox_browser
from toolbox_apt import Archive, Suite, SuiteError
from toolbox_browser import browser, fetch


@pytest.fixture(autouse=True)
def nowhere(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    """No browser is named, and none is on PATH."""
    for name in ("CHROMIUM", "CHROMEDRIVER"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))


def put(path: Path) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.touch(mode=0o755)
    return path


def test_where_there_is_none(tmp_path: Path) -> None:
    assert browser(tmp_path) is None


def test_one_that_is_named_with_its_driver(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CHROMIUM", "/a/chromium")
    assert browser(tmp_path) is None
    monkeypatch.setenv("CHROMEDRIVER", "/a/driver")
    found = browser(tmp_path)
    assert found is not None
    assert (found.program, found.driver, found.environment) == (Path("/a/chromium"), Path("/a/driver"), {})


def test_one_on_the_path(tmp_path: Path) -> None:
    put(tmp_path / "chromium")
    assert browser(tmp_path) is None
    put(tmp_path / "chromedriver")
    found = browser(tmp_path)
    assert found is not None
    assert found.program == tmp_path / "chromium"


def test_one_of_the_cache_finds_the_libraries_beside_it(tmp_path: Path) -> None:
    program = put(tmp_path / "usr/lib/chromium/chromium-headless-shell")
    driver = put(tmp_path / "usr/bin/chromedriver")
    put(tmp_path / "usr/lib/some-arch/libone.so.1")
    put(tmp_path / "usr/lib/some-arch/deep/libtwo.so")
    found = browser(tmp_path)
    assert found is not None
    assert (found.program, found.driver) == (program, driver)
    folders = found.environment["LD_LIBRARY_PATH"].split(os.pathsep)
    assert {str(tmp_path / "usr/lib/some-arch"), str(tmp_path / "usr/lib/some-arch/deep")} <= {*folders}


class Shelf(Suite):
    """A suite whose packages are folders with one file each."""

    def __init__(self, _archive: Archive, name: str, folder: Path) -> None:
        assert name == "bookworm"
        self.folder = folder

    def refresh(self) -> None:
        pass

    def lacking(self, _packages: object) -> dict[str, str]:
        return dict.fromkeys(("chromium-headless-shell", "libmissing1"), "1")

    def versions(self, _packages: object) -> dict[str, str]:
        return {"chromium-driver": "1"}

    def unpack(self, package: str, _version: str) -> Path:
        at = {"chromium-driver": "bin/chromedriver", "chromium-headless-shell": "lib/chromium/chromium-headless-shell"}
        put(self.folder / package / "usr" / at.get(package, f"lib/{package}.so"))
        return self.folder / package


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    (tmp_path / "root/etc/apt").mkdir(parents=True)
    (tmp_path / "root/etc/os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    (tmp_path / "root/etc/apt/sources.list").write_text("deb http://mirror.example/debian bookworm main\n")
    return tmp_path / "root"


def test_a_fetched_one_is_whole(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, debian: Path) -> None:
    monkeypatch.setattr(toolbox_browser, "Suite", Shelf)
    cache = tmp_path / "tools" / "browser"
    fetch(cache, debian)
    assert browser(cache) is not None
    assert (cache / "usr/lib/libmissing1.so").is_file()
    assert str(tmp_path) not in (cache / "fonts.conf").read_text("utf-8")
    assert [path.name for path in cache.parent.iterdir()] == ["browser"]


def test_a_machine_without_an_archive_is_told(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match="names no main archive"):
        fetch(tmp_path / "browser", tmp_path)
