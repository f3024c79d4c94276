"""The external programs that judge what is generated: promtool and amtool, and the servers and exporter behind them.

Each is looked for in an environment variable of its name (PROMTOOL, AMTOOL, ...), on PATH, and in the cache folder of
the checkout. Runs with a bare python3, before anything is installed.
"""

import argparse
import contextlib
import os
import re
import shutil
import sys
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from toolbox_apt import main_archive
from toolbox_store import RECIPES, Version, Visit, ask_version, fetch, load_json, save_json

CHECKOUT = Path(__file__).resolve().parents[1]
CACHE = CHECKOUT / ".cache" / "tools"
NEEDED = ("promtool", "amtool")

INSTALL = """\
Generated rules and routes cannot be judged without promtool and amtool. To have them:
  Debian, Ubuntu   make tools (several versions, into this checkout, without root)
  macOS            brew install prometheus alertmanager
  Fedora           dnf install /usr/bin/promtool /usr/bin/amtool
  elsewhere        unpack the releases of Prometheus and Alertmanager and put both on PATH,
                   or name them: PROMTOOL=/path/to/promtool AMTOOL=/path/to/amtool"""

_HELP = """\
Find or fetch the external programs that judge what is generated.

A program is taken from the environment variable of its name (PROMTOOL, AMTOOL, PROMETHEUS, ALERTMANAGER,
PROMETHEUS_NODE_EXPORTER), else from PATH, else from .cache/tools of this checkout."""

_EXAMPLES = """\
examples:
  toolbox.py fetch                          fill .cache/tools; once it is full, nothing is asked of the network
  toolbox.py fetch --refresh                ask the archive for newer versions as well
  toolbox.py list                           every version found, and where
  toolbox.py path promtool                  the one to use: environment, PATH, newest of the cache
  toolbox.py path promtool --version 2.42   any 2.42.x, wherever it is
  toolbox.py path amtool --newest           the newest, wherever it is

exit status: 0 done; 1 `path` found nothing; 2 wrong call; 3 promtool or amtool cannot be had, or a named one fails"""


class ToolError(Exception):
    """A tool that was named in the environment is not usable."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A program that was found and has told its version."""

    name: str
    version: Version
    path: Path


def found(name: str, cache: Path = CACHE) -> list[Tool]:
    """Every version of the tool on this machine, oldest first.

    Where two places hold the same version, the environment wins over PATH, and PATH over the cache.
    Raises ToolError if the environment names something that does not tell a version.
    """
    first: dict[Version, Tool] = {}
    for tool in _everywhere(name, cache):
        first.setdefault(tool.version, tool)
    return sorted(first.values(), key=lambda tool: tool.version)


def best(name: str, wanted: Version = (), *, newest: bool = False, cache: Path = CACHE) -> Tool | None:
    """The tool to use: from the environment, else from PATH, else the newest of the cache; None if there is none.

    `wanted` is the beginning of a version, such as (2, 42): the newest such version of any place. `newest` is the
    newest of any place. Raises ToolError like `found`.
    """
    if not wanted and not newest:
        return next(_everywhere(name, cache), None)
    matching = [tool for tool in found(name, cache) if tool.version[: len(wanted)] == wanted]
    return matching[-1] if matching else None


def missing(visits: Mapping[str, Visit], cache: Path = CACHE) -> list[str]:
    """One line for each tool of which this machine lacks wanted versions, with what the archive's suites have."""
    lines = []
    for name, recipe in RECIPES.items():
        here = [tool.version for tool in found(name, cache)]
        lacking = [aim for aim in recipe.aims or ((),) if aim not in {version[: len(aim)] for version in here}]
        if lacking:
            wanted = " ".join((name, ", ".join(map(dotted, lacking)))).rstrip()
            suites = "; ".join(f"{suite} {_offer(name, visit)}" for suite, visit in visits.items())
            lines.append(f"{wanted}: not in the configured archives: {suites or 'there are none'}")
    return lines


def _offer(name: str, visit: Visit) -> str:
    if visit.failure:
        return "could not be read"
    if name in visit.unusable:
        return f"has {visit.unusable[name]}, which does not start here"
    return f"has {visit.usable[name]}" if name in visit.usable else "does not have it"


def dotted(version: Version) -> str:
    """2.42.0"""
    return ".".join(map(str, version))


def _everywhere(name: str, cache: Path) -> Iterator[Tool]:
    """The tool from each place that has it, the preferred place first, in the cache the newest version first."""
    variable = name.upper().replace("-", "_")
    if named := os.environ.get(variable):
        program = _known(name, shutil.which(named), cache)
        if program is None:
            raise ToolError(f"{variable}={named} is not a program that tells its version")
        yield program
    for file in RECIPES[name].files:
        if program := _known(name, shutil.which(file), cache):
            yield program
    cached = [tool for path in cache.glob(f"{name}/*/{name}") if (tool := _known(name, path, cache))]
    yield from sorted(cached, key=lambda tool: tool.version, reverse=True)


def _known(name: str, path: str | Path | None, cache: Path) -> Tool | None:
    """The tool at `path`, if it tells its version; asked once and remembered on disk until the file changes."""
    if path is None:
        return None
    path = Path(path).absolute()
    stat = path.stat()
    state = [stat.st_mtime_ns, stat.st_size]
    notes = load_json(cache / "versions.json")
    note = notes.get(str(path))
    if note and note["state"] == state:
        return Tool(name, tuple(note["version"]), path)
    version = ask_version(path)
    if version is None:
        return None
    with contextlib.suppress(OSError):  # where the checkout cannot be written, it is asked again next time
        save_json(cache / "versions.json", {**notes, str(path): {"state": state, "version": version}})
    return Tool(name, version, path)


def main(argv: Sequence[str] | None = None, cache: Path = CACHE, root: Path = Path("/")) -> int:
    """The command; `root` is where the machine's own configuration is read from."""
    parser = argparse.ArgumentParser(
        prog="toolbox.py", description=_HELP, epilog=_EXAMPLES, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="fetch | list | path")
    fetching = commands.add_parser("fetch", help="fill the cache of this checkout from the machine's package archive")
    fetching.add_argument("--refresh", action="store_true", help="ask for newer versions although the cache is full")
    commands.add_parser("list", help="print tool, version and path of everything found")
    pathing = commands.add_parser("path", help="print the path of the one to use")
    pathing.add_argument("tool", choices=RECIPES)
    which = pathing.add_mutually_exclusive_group()
    which.add_argument("--newest", action="store_true", help="the newest of any place")
    which.add_argument("--version", type=_version, default=(), help="the newest 2.42.x of any place, for 2.42")
    options = parser.parse_args(argv)
    try:
        if options.command == "fetch":
            return _fetch(cache, root, refresh=options.refresh)
        if options.command == "list":
            return _list(cache)
        return _path(best(options.tool, options.version, newest=options.newest, cache=cache))
    except (ToolError, OSError) as error:
        print(error, file=sys.stderr)
        return 3


def _version(text: str) -> Version:
    if not re.fullmatch(r"\d+(\.\d+)*", text):
        raise argparse.ArgumentTypeError(f"{text!r} is not a version such as 2.42")
    return tuple(map(int, text.split(".")))


def _path(tool: Tool | None) -> int:
    if tool is None:
        return 1
    print(tool.path)
    return 0


def _list(cache: Path) -> int:
    rows = [("tool", "version", "path")]
    for name in RECIPES:
        tools = found(name, cache)
        rows += [(name, dotted(tool.version), str(tool.path)) for tool in tools] or [(name, "-", "not found")]
    widths = [max(len(row[column]) for row in rows) for column in (0, 1)]
    for name, version, path in rows:
        print(f"{name:{widths[0]}}  {version:{widths[1]}}  {path}")
    return 0


def _fetch(cache: Path, root: Path, *, refresh: bool) -> int:
    visits: Mapping[str, Visit] = {}
    absent = next((program for program in ("apt-get", "apt-cache", "dpkg") if shutil.which(program) is None), None)
    archive = main_archive(root)
    if absent:
        _say(f"nothing can be fetched: this machine has no {absent}")
    elif archive is None:
        _say("nothing can be fetched: apt's configuration names no main archive of Debian or Ubuntu")
    else:
        visits = fetch(archive, cache, refresh=refresh, progress=_say if sys.stderr.isatty() else lambda _: None)
    for suite, visit in visits.items():
        if visit.failure:
            _say(f"{suite}: {visit.failure}")
    for line in missing(visits, cache):
        _say(line)
    versions = {name: [dotted(tool.version) for tool in found(name, cache)] for name in RECIPES}
    print("found", ", ".join(" ".join((name, *having)) for name, having in versions.items() if having) or "nothing")
    if all(versions[name] for name in NEEDED):
        return 0
    _say(INSTALL)
    return 3


def _say(line: str) -> None:
    print(line, file=sys.stderr)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit(130)
