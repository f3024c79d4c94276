"""Finding tools, and filling the cache from an archive that a stand-in for apt and dpkg plays."""

import itertools
import json
import os
import re
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from toolbox import INSTALL, Tool, ToolError, best, found, main, missing
from toolbox_apt import Archive
from toolbox_store import RECIPES, Visit, fetch

PACKAGES = {
    # what the suites have: {package: (version, names of its programs)}
    "bookworm": {
        "prometheus": ("2.42.0+ds-5+deb12u1", ("prometheus", "promtool")),
        "prometheus-alertmanager": ("0.25.0-1+b4", ("prometheus-alertmanager", "amtool")),
        "prometheus-node-exporter": ("1.5.0-1+b6", ("prometheus-node-exporter",)),
    },
    "trixie": {
        "prometheus": ("2.53.3+ds1-2", ("prometheus",)),
        "promtool": ("2.53.3+ds1-2", ("promtool",)),
        "prometheus-alertmanager": ("0.28.1+ds-1", ("prometheus-alertmanager", "amtool")),
        "prometheus-node-exporter": ("1.9.0-1+b4", ("prometheus-node-exporter",)),
    },
    "sid": {
        "prometheus": ("1:3.5.3+ds1-6", ("prometheus",)),
        "promtool": ("1:3.5.3+ds1-6", ("promtool",)),
        "prometheus-alertmanager": ("0.33.1-5", ("prometheus-alertmanager", "amtool")),
    },
}
WHOLE = [
    "alertmanager/0.25.0/alertmanager",
    "alertmanager/0.28.1/alertmanager",
    "alertmanager/0.33.1/alertmanager",
    "amtool/0.25.0/amtool",
    "amtool/0.28.1/amtool",
    "amtool/0.33.1/amtool",
    "prometheus-node-exporter/1.5.0/prometheus-node-exporter",
    "prometheus/2.42.0/prometheus",
    "prometheus/2.53.3/prometheus",
    "prometheus/3.5.3/prometheus",
    "promtool/2.42.0/promtool",
    "promtool/2.53.3/promtool",
    "promtool/3.5.3/promtool",
]
ARCHIVE = Archive("http://mirror.example/debian", ("bookworm", "trixie", "sid"), "main", "")

STAND_IN = """\
#!/bin/sh
# apt-get, apt-cache and dpkg as far as they are called, over folders {mirror}/<suite>/<package>=<version>/usr/bin
PATH=/usr/bin:/bin
name=$(basename "$0")
if [ "$name" = dpkg ]; then
    echo "$name $1 $(basename "$2")" >> {log}
    [ -e {mirror}/full ] && {{ mkdir "$3"; echo "dpkg: error: no space left" >&2; exit 2; }}
    cp -R "$(cat "$2")" "$3"
    exit
fi
suite={mirror}/$(sed -n 's/^Suites: //p' "$(dirname "$3")/archive.sources")
shift 3
echo "$name $(basename "$suite") $*" >> {log}
case "$1" in
    update) [ -e "$suite/error" ] && {{ cat "$suite/error" >&2; exit 100; }} ;;
    download) echo "$suite/$2" > "${{2%%=*}}.deb" ;;
    madison)
        shift
        for package; do
            for folder in "$suite/$package="*; do
                [ -d "$folder" ] && echo "$package | ${{folder##*=}} | mirror $(basename "$suite")/main"
            done
        done ;;
esac
exit 0
"""


def program(path: Path, version: str, log: Path | None = None) -> Path:
    """A program that answers like the real one, and notes each start in `log`."""
    path.parent.mkdir(parents=True, exist_ok=True)
    note = f'echo "$0" >> {log}\n' if log else ""
    path.write_text(f'#!/bin/sh\n{note}echo "{path.name}, version {version} (branch: HEAD, revision: 0)"\n')
    path.chmod(0o755)
    return path


@dataclass(frozen=True, slots=True)
class Mirror:
    """The played archive: its folder, and the calls that the stand-in has received."""

    folder: Path
    log: Path

    def offer(self, suite: str, package: str, version: str, names: tuple[str, ...]) -> None:
        """Put a package into a suite; its programs tell the upstream part of the version."""
        for name in names:
            upstream = version.rpartition("-")[0].removeprefix("1:")
            program(self.folder / suite / f"{package}={version}" / "usr/bin" / name, upstream)

    def calls(self) -> list[str]:
        """The calls since the last time, without their paths."""
        lines = self.log.read_text().splitlines() if self.log.exists() else []
        self.log.unlink(missing_ok=True)
        return lines


@pytest.fixture(autouse=True)
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only folder on PATH; no tool is named in the environment."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    for name in RECIPES:
        monkeypatch.delenv(name.upper().replace("-", "_"), raising=False)
    return folder


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    return tmp_path / "checkout/.cache/tools"


@pytest.fixture
def mirror(tmp_path: Path, path: Path) -> Mirror:
    made = Mirror(tmp_path / "mirror", tmp_path / "calls")
    for suite, packages in PACKAGES.items():
        for package, (version, names) in packages.items():
            made.offer(suite, package, version, names)
    for name in ("apt-get", "apt-cache", "dpkg"):
        (path / name).write_text(STAND_IN.format(mirror=made.folder, log=made.log))
        (path / name).chmod(0o755)
    return made


@pytest.fixture
def debian(tmp_path: Path) -> Path:
    """A root folder with the configuration of a Debian machine."""
    root = tmp_path / "root"
    (root / "etc/apt").mkdir(parents=True)
    (root / "etc/os-release").write_text("ID=debian\nVERSION_CODENAME=bookworm\n")
    (root / "etc/apt/sources.list").write_text("deb http://mirror.example/debian bookworm main\n")
    return root


def held(cache: Path) -> list[str]:
    """What the cache holds, and anything that was left lying about beside its programs and notes."""
    notes = {"lock", "suites.json", "versions.json"}
    files = (str(file.relative_to(cache)) for file in cache.rglob("*") if not file.is_dir())
    return sorted(file for file in files if file not in notes)


# ---- finding


def test_every_version_is_found_once_oldest_first(cache: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    named = program(cache.parent / "mine", "3.0.1")
    monkeypatch.setenv("PROMTOOL", str(named))
    on_path = program(path / "promtool", "2.53.0")
    program(cache / "promtool/2.53.0/promtool", "2.53.0+ds1")
    program(cache / "promtool/3.0.1/promtool", "3.0.1")
    old = program(cache / "promtool/2.9.0/promtool", "2.9.0")
    assert found("promtool", cache) == [
        Tool("promtool", (2, 9, 0), old),
        Tool("promtool", (2, 53, 0), on_path),
        Tool("promtool", (3, 0, 1), named),
    ]


def test_the_best_is_the_preferred_place(cache: Path, path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    assert best("amtool", cache=cache) is None
    cached = [program(cache / f"amtool/{version}/amtool", version) for version in ("0.9.0", "0.28.1", "0.33.0")]
    assert best("amtool", cache=cache) == Tool("amtool", (0, 33, 0), cached[2])
    on_path = Tool("amtool", (0, 25, 0), program(path / "amtool", "0.25.0"))
    assert best("amtool", cache=cache) == on_path
    assert best("amtool", newest=True, cache=cache) == Tool("amtool", (0, 33, 0), cached[2])
    assert best("amtool", (0, 28), cache=cache) == Tool("amtool", (0, 28, 1), cached[1])
    assert best("amtool", (0, 2), cache=cache) is None
    named = Tool("amtool", (0, 1, 0), program(cache / "named", "0.1.0"))
    monkeypatch.setenv("AMTOOL", str(named.path))
    assert best("amtool", cache=cache) == named


def test_other_names_of_a_program_are_known(cache: Path, path: Path) -> None:
    server, exporter = program(path / "prometheus-alertmanager", "0.28.1"), program(path / "node_exporter", "1.9.0")
    assert found("alertmanager", cache) == [Tool("alertmanager", (0, 28, 1), server)]
    assert found("prometheus-node-exporter", cache) == [Tool("prometheus-node-exporter", (1, 9, 0), exporter)]


@pytest.mark.parametrize("answer", ["exit 1", "echo promtool", "echo 'promtool, version 2.1.0'; exit 1"])
def test_what_tells_no_version_is_not_a_tool(
    cache: Path, path: Path, monkeypatch: pytest.MonkeyPatch, answer: str
) -> None:
    impostor = program(path / "promtool", "2.1.0")
    impostor.write_text(f"#!/bin/sh\n{answer}\n")
    assert found("promtool", cache) == []
    monkeypatch.setenv("PROMTOOL", str(impostor))
    with pytest.raises(ToolError, match=f"^PROMTOOL={re.escape(str(impostor))} is not a program that tells its"):
        found("promtool", cache)


def test_a_program_is_asked_once_until_it_changes(cache: Path, path: Path, tmp_path: Path) -> None:
    log = tmp_path / "starts"
    tool = program(path / "promtool", "2.42.0", log)
    for _ in range(3):
        assert [tool.version for tool in found("promtool", cache)] == [(2, 42, 0)]
    assert log.read_text().splitlines() == [str(tool)]
    program(tool, "2.53.10", log)
    assert [tool.version for tool in found("promtool", cache)] == [(2, 53, 10)]
    assert log.read_text().splitlines() == [str(tool)] * 2


@pytest.mark.parametrize("damage", ["", "[1]", '{"half": '])
def test_damaged_notes_are_written_anew(cache: Path, path: Path, damage: str) -> None:
    program(path / "promtool", "2.42.0")
    cache.mkdir(parents=True)
    (cache / "versions.json").write_text(damage)
    assert [tool.version for tool in found("promtool", cache)] == [(2, 42, 0)]
    assert list(json.loads((cache / "versions.json").read_text())) == [str(path / "promtool")]


# ---- fetching


def test_a_fetch_fills_the_cache_and_a_second_one_asks_nobody(cache: Path, mirror: Mirror) -> None:
    first = fetch(ARCHIVE, cache)
    assert held(cache) == WHOLE
    assert all(os.access(cache / file, os.X_OK) for file in WHOLE)
    assert [call for call in mirror.calls() if "download" in call] == [
        "apt-get bookworm download prometheus=2.42.0+ds-5+deb12u1",
        "apt-get bookworm download prometheus-alertmanager=0.25.0-1+b4",
        "apt-get bookworm download prometheus-node-exporter=1.5.0-1+b6",
        "apt-get trixie download promtool=2.53.3+ds1-2",
        "apt-get trixie download prometheus-alertmanager=0.28.1+ds-1",
        "apt-get trixie download prometheus=2.53.3+ds1-2",
        "apt-get sid download promtool=1:3.5.3+ds1-6",
        "apt-get sid download prometheus-alertmanager=0.33.1-5",
        "apt-get sid download prometheus=1:3.5.3+ds1-6",
    ]
    assert fetch(ARCHIVE, cache) == first
    assert mirror.calls() == []
    assert missing(first, cache) == []


def test_only_what_is_gone_is_fetched_again(cache: Path, mirror: Mirror) -> None:
    fetch(ARCHIVE, cache)
    mirror.calls()
    (cache / "promtool/2.53.3/promtool").unlink()
    fetch(ARCHIVE, cache)
    assert held(cache) == WHOLE
    assert mirror.calls() == [
        "apt-get trixie update",
        "apt-cache trixie madison prometheus prometheus-alertmanager prometheus-node-exporter promtool",
        "apt-get trixie download promtool=2.53.3+ds1-2",
        "dpkg -x promtool.deb",
    ]


def test_a_refresh_adds_what_is_new(cache: Path, mirror: Mirror) -> None:
    fetch(ARCHIVE, cache)
    (mirror.folder / "sid/promtool=1:3.5.3+ds1-6").rename(mirror.folder / "sid/promtool-old")
    mirror.offer("sid", "promtool", "3.6.0-1", ("promtool",))
    assert fetch(ARCHIVE, cache)["sid"].usable["promtool"] == "3.5.3"
    assert fetch(ARCHIVE, cache, refresh=True)["sid"].usable["promtool"] == "3.6.0"
    assert held(cache) == sorted([*WHOLE, "promtool/3.6.0/promtool"])


def test_progress_names_each_step(cache: Path, mirror: Mirror) -> None:
    steps: list[str] = []
    fetch(ARCHIVE, cache, progress=steps.append)
    assert len(steps) == 16
    assert steps[-5:] == [
        "sid: reading its package list",
        "sid: promtool 3.5.3",
        "sid: amtool 0.33.1",
        "sid: prometheus 3.5.3",
        "sid: alertmanager 0.33.1",
    ]


@pytest.mark.parametrize("step", range(16))
def test_a_fetch_interrupted_at_any_step_leaves_nothing_half(cache: Path, mirror: Mirror, step: int) -> None:
    steps = itertools.count()

    def interrupt(_: str) -> None:
        if next(steps) == step:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        fetch(ARCHIVE, cache, progress=interrupt)
    assert set(held(cache)) < set(WHOLE)
    fetch(ARCHIVE, cache)
    assert held(cache) == WHOLE


@pytest.mark.parametrize("move", range(4))
def test_a_fetch_interrupted_between_two_moves_leaves_nothing_half(
    cache: Path, mirror: Mirror, move: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    moves = itertools.count()
    rename = Path.rename

    def interrupt(path: Path, target: Path) -> Path:
        if next(moves) == move:
            raise KeyboardInterrupt
        return rename(path, target)

    monkeypatch.setattr(Path, "rename", interrupt)
    with pytest.raises(KeyboardInterrupt):
        fetch(ARCHIVE, cache)
    assert held(cache) == ["promtool/2.42.0/promtool"] * (move >= 2)  # two moves for each program
    fetch(ARCHIVE, cache)
    assert held(cache) == WHOLE


def test_what_a_killed_fetch_left_is_swept_away(cache: Path, mirror: Mirror) -> None:
    program(cache / ".work-1234/unpacked/promtool/usr/bin/promtool", "2.42.0")
    fetch(ARCHIVE, cache)
    assert held(cache) == WHOLE


def test_a_failed_unpacking_is_reported_and_made_up_for(cache: Path, mirror: Mirror) -> None:
    (mirror.folder / "full").touch()
    visits = fetch(ARCHIVE, cache)
    assert {visit.failure for visit in visits.values()} == {"dpkg failed: dpkg: error: no space left"}
    assert held(cache) == []
    (mirror.folder / "full").unlink()
    fetch(ARCHIVE, cache)
    assert held(cache) == WHOLE


def test_fetches_at_the_same_time_share_the_work(cache: Path, mirror: Mirror) -> None:
    with ThreadPoolExecutor(3) as pool:
        visits = list(pool.map(lambda _: fetch(ARCHIVE, cache), range(3)))
    assert visits[0] == visits[1] == visits[2]
    assert held(cache) == WHOLE
    assert sorted(call for call in mirror.calls() if "update" in call) == [
        "apt-get bookworm update",
        "apt-get sid update",
        "apt-get trixie update",
    ]


def test_a_program_that_does_not_start_here_stays_out(cache: Path, mirror: Mirror) -> None:
    (mirror.folder / "sid/promtool=1:3.5.3+ds1-6/usr/bin/promtool").write_text("#!/bin/sh\nexit 127\n")
    visits = fetch(ARCHIVE, cache)
    assert held(cache) == [file for file in WHOLE if file != "promtool/3.5.3/promtool"]
    (line,) = missing(visits, cache)
    suites = "bookworm has 2.42.0; trixie has 2.53.3; sid has 3.5.3, which does not start here"
    assert line == f"promtool 3.5: not in the configured archives: {suites}"


# ---- the command


def test_a_suite_that_cannot_be_had_is_named_and_the_others_go_on(
    cache: Path, mirror: Mirror, debian: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (mirror.folder / "trixie/error").write_text(
        "W: GPG error: http://mirror.example trixie InRelease: The following signatures couldn't be verified because "
        "the public key is not available: NO_PUBKEY 0123456789ABCDEF\n"
        "E: The repository 'http://mirror.example trixie InRelease' is not signed.\n"
    )
    (mirror.folder / "sid/error").write_text("E: Failed to fetch http://me:secret@mirror.example/x  404 Not Found\n")
    assert main(["fetch"], cache, debian) == 0
    out, err = capsys.readouterr()
    assert out == (
        "found promtool 2.42.0, amtool 0.25.0, prometheus 2.42.0, alertmanager 0.25.0, prometheus-node-exporter 1.5.0\n"
    )
    unknown = "signed with a key that this machine's archive keyring does not hold (a newer keyring package brings it)"
    reason = "not in the configured archives: bookworm has {}; trixie could not be read; sid could not be read"
    assert err.splitlines() == [
        f"trixie: {unknown}",
        "sid: apt-get failed: Failed to fetch http://mirror.example/x  404 Not Found",
        "promtool 2.53, 3.5: " + reason.format("2.42.0"),
        "amtool 0.28, 0.33: " + reason.format("0.25.0"),
        "prometheus 2.53, 3.5: " + reason.format("2.42.0"),
        "alertmanager 0.28, 0.33: " + reason.format("0.25.0"),
    ]


NOWHERE = """\
promtool 2.42, 2.53, 3.5: not in the configured archives: there are none
amtool 0.25, 0.28, 0.33: not in the configured archives: there are none
prometheus 2.42, 2.53, 3.5: not in the configured archives: there are none
alertmanager 0.25, 0.28, 0.33: not in the configured archives: there are none
prometheus-node-exporter: not in the configured archives: there are none
Generated rules and routes cannot be judged without promtool and amtool. To have them:
  Debian, Ubuntu   make tools (several versions, into this checkout, without root)
  macOS            brew install prometheus alertmanager
  Fedora           dnf install /usr/bin/promtool /usr/bin/amtool
  elsewhere        unpack the releases of Prometheus and Alertmanager and put both on PATH,
                   or name them: PROMTOOL=/path/to/promtool AMTOOL=/path/to/amtool
"""


def test_a_machine_without_apt_is_told_what_to_install(
    cache: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch"], cache, tmp_path) == 3
    assert capsys.readouterr() == (
        "found nothing\n",
        "nothing can be fetched: this machine has no apt-get\n" + NOWHERE,
    )


def test_a_machine_whose_apt_names_no_archive_is_told_too(
    cache: Path, mirror: Mirror, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["fetch"], cache, tmp_path) == 3
    why = "nothing can be fetched: apt's configuration names no main archive of Debian or Ubuntu\n"
    assert capsys.readouterr() == ("found nothing\n", why + NOWHERE)
    assert mirror.calls() == []


def test_tools_on_path_are_enough_without_an_archive(
    cache: Path, path: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    program(path / "promtool", "3.5.0")
    assert main(["fetch"], cache, tmp_path) == 3
    program(path / "amtool", "0.28.0")
    capsys.readouterr()
    assert main(["fetch"], cache, tmp_path) == 0
    out, err = capsys.readouterr()
    assert out == "found promtool 3.5.0, amtool 0.28.0\n"
    assert INSTALL not in err


def test_the_list_is_a_table(cache: Path, path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    program(path / "amtool", "0.28.1")
    program(cache / "promtool/2.42.0/promtool", "2.42.0")
    program(cache / "promtool/3.5.10/promtool", "3.5.10")
    assert main(["list"], cache) == 0
    assert capsys.readouterr().out == (
        "tool                      version  path\n"
        f"promtool                  2.42.0   {cache}/promtool/2.42.0/promtool\n"
        f"promtool                  3.5.10   {cache}/promtool/3.5.10/promtool\n"
        f"amtool                    0.28.1   {path}/amtool\n"
        "prometheus                -        not found\n"
        "alertmanager              -        not found\n"
        "prometheus-node-exporter  -        not found\n"
    )


def test_the_path_for_the_makefile(
    cache: Path, path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert main(["path", "promtool"], cache) == 1
    assert capsys.readouterr() == ("", "")
    program(cache / "promtool/3.5.10/promtool", "3.5.10")
    program(path / "promtool", "2.42.0")
    assert main(["path", "promtool"], cache) == 0
    assert main(["path", "promtool", "--newest"], cache) == 0
    assert main(["path", "promtool", "--version", "3"], cache) == 0
    assert main(["path", "promtool", "--version", "3.50"], cache) == 1
    newest = f"{cache}/promtool/3.5.10/promtool"
    assert capsys.readouterr() == (f"{path}/promtool\n{newest}\n{newest}\n", "")
    monkeypatch.setenv("PROMTOOL", "/nowhere/promtool")
    assert main(["path", "promtool"], cache) == 3
    assert capsys.readouterr() == ("", "PROMTOOL=/nowhere/promtool is not a program that tells its version\n")


@pytest.mark.parametrize(
    "argv", [[], ["path"], ["path", "grafana"], ["path", "promtool", "--version", "2.x"], ["fetch", "promtool"]]
)
def test_a_wrong_call_is_refused(cache: Path, argv: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as exit_:
        main(argv, cache)
    assert exit_.value.code == 2
    assert "usage: toolbox.py" in capsys.readouterr().err


def test_a_tool_that_no_suite_has_is_named(cache: Path) -> None:
    visits = {"noble": Visit({"promtool": "2.45.3"}), "devel": Visit(failure="gone")}
    assert missing(visits, cache)[1] == (
        "amtool 0.25, 0.28, 0.33: not in the configured archives: noble does not have it; devel could not be read"
    )
