"""A browser for the tests that look at a page: Debian's headless Chromium and its driver, in the cache of the checkout.

It is large, a hundred megabytes to fetch and four times that on disk, so it has a target of its own: `make
tools-browser`. Where CHROMEDRIVER and CHROMIUM name others, or both are on PATH, those are taken. Like the other tools
it is unpacked without root; the libraries that this machine lacks lie beside it, and are found by LD_LIBRARY_PATH.
"""

import os
import shutil
import sys
import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from toolbox_apt import Suite, SuiteError, codename, main_archive

FOLDER = Path(__file__).resolve().parents[1] / ".cache" / "tools" / "browser"
ABSENT = "no browser: run `make tools-browser`, or name one with CHROMIUM and its driver with CHROMEDRIVER"

_PACKAGES = ("chromium-headless-shell", "fonts-dejavu-core")
_DRIVER = "chromium-driver"  # it needs all of the other Chromium, whose libraries are the shell's
_PROGRAMS = ("usr/lib/chromium/chromium-headless-shell", "usr/bin/chromium-headless-shell")
_FONTS = """\
<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig><include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<dir>/usr/share/fonts</dir><dir prefix="relative">usr/share/fonts</dir><cachedir prefix="xdg">fontconfig</cachedir>
</fontconfig>
"""


@dataclass(frozen=True, slots=True)
class Browser:
    """A browser and its driver, and what their environment has to have."""

    program: Path
    driver: Path
    environment: Mapping[str, str] = field(default_factory=dict)


def browser(folder: Path = FOLDER) -> Browser | None:
    """The browser to use: from the environment, else from PATH, else from the cache; None where there is none."""
    named = tuple(os.environ.get(name, "") for name in ("CHROMIUM", "CHROMEDRIVER"))
    if all(named):
        return Browser(Path(named[0]), Path(named[1]))
    there = shutil.which("chromium") or shutil.which("google-chrome"), shutil.which("chromedriver")
    if there[0] and there[1]:
        return Browser(Path(there[0]), Path(there[1]))
    return _cached(folder)


def _cached(folder: Path) -> Browser | None:
    program = next((folder / name for name in _PROGRAMS if (folder / name).is_file()), None)
    driver = folder / "usr/bin/chromedriver"
    if program is None or not driver.is_file():
        return None
    libraries = sorted({str(path.parent) for path in folder.glob("usr/lib/*/**/*.so*")} | {str(folder / "usr/lib")})
    return Browser(
        program,
        driver,
        {"LD_LIBRARY_PATH": os.pathsep.join(libraries), "FONTCONFIG_FILE": str(folder / "fonts.conf")},
    )


def fetch(folder: Path = FOLDER, root: Path = Path("/")) -> None:
    """Put the browser into the cache, whole or not at all. SuiteError where the archive does not have it."""
    archive = main_archive(root)
    if archive is None:
        raise SuiteError("apt's configuration names no main archive of Debian or Ubuntu")
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent, prefix=".work-") as work:
        suite = Suite(archive, codename(root), Path(work))
        suite.refresh()
        wanted = suite.lacking(_PACKAGES)
        wanted |= suite.versions([_DRIVER])
        whole = Path(work, "whole")
        for package, version in wanted.items():
            shutil.copytree(suite.unpack(package, version), whole, symlinks=True, dirs_exist_ok=True)
        (whole / "fonts.conf").write_text(_FONTS, encoding="utf-8")
        shutil.rmtree(folder, ignore_errors=True)
        whole.replace(folder)


def main() -> int:
    """Fetch the browser where there is none; 3 where it cannot be had."""
    if browser() is None:
        try:
            fetch()
        except (SuiteError, OSError) as error:
            print(f"the browser cannot be had: {error}", file=sys.stderr)
            return 3
    found = browser()
    print(found.program if found else ABSENT)
    return 0 if found else 3


if __name__ == "__main__":
    sys.exit(main())
