"""Source lists in both forms, the choice of the main archive, and apt itself refusing what is not signed."""

import hashlib
import re
import shutil
import subprocess
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from toolbox_apt import Archive, Source, Suite, SuiteError, main_archive, parse_deb822, parse_list, read_sources

DEBIAN = 'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nID=debian\nVERSION_CODENAME=bookworm\n'
UBUNTU = "ID=ubuntu\nID_LIKE=debian\nVERSION_CODENAME=noble\nUBUNTU_CODENAME=noble\n"
MINT = 'ID=linuxmint\nID_LIKE="ubuntu debian"\nVERSION_CODENAME=wilma\nUBUNTU_CODENAME=noble\n'


def machine(root: Path, release: str, **files: str) -> Path:
    """A root folder with an os-release and apt's source files, named as in `main_list` or `vendor_sources`."""
    parts = root / "etc/apt/sources.list.d"
    parts.mkdir(parents=True)
    (root / "etc/os-release").write_text(release)
    for name, text in files.items():
        (parts / name.replace("_", ".")).write_text(text)
    return root


def test_one_line_entries() -> None:
    text = """\
# deb http://mirror.example/commented bookworm main
deb http://mirror.example/debian bookworm main contrib  # the main archive
deb-src http://mirror.example/debian bookworm main
  deb\t[arch=amd64 signed-by=/keys/one.gpg,/keys/two.gpg]  https://mirror.example/signed\tsid main
deb [trusted=yes] file:/srv/flat ./

debris http://mirror.example/debian bookworm main
"""
    assert parse_list(text) == [
        Source("http://mirror.example/debian", ("bookworm",), ("main", "contrib")),
        Source("https://mirror.example/signed", ("sid",), ("main",), "/keys/one.gpg /keys/two.gpg"),
        Source("file:/srv/flat", ("./",), ()),
    ]


def test_deb822_entries() -> None:
    text = """\
# The main archive and its mirror
Types: deb deb-src
URIs: http://mirror.example/debian
  http://backup.example/debian
# a comment between the fields
suites: bookworm bookworm-updates
Components: main
Signed-By: /keys/archive.gpg

Types: deb
Enabled: no
URIs: http://mirror.example/disabled
Suites: bookworm
Components: main

Types: deb-src
URIs: http://mirror.example/source
Suites: bookworm
Components: main
\t
Types: deb
URIs: http://mirror.example/inline
Suites: bookworm
Components: main
Signed-By:
 -----BEGIN PGP PUBLIC KEY BLOCK-----
 .
 mDMEYCQjIx
 -----END PGP PUBLIC KEY BLOCK-----
"""
    suites = ("bookworm", "bookworm-updates")
    key = "-----BEGIN PGP PUBLIC KEY BLOCK-----\n .\n mDMEYCQjIx\n -----END PGP PUBLIC KEY BLOCK-----"
    assert parse_deb822(text) == [
        Source("http://mirror.example/debian", suites, ("main",), "/keys/archive.gpg"),
        Source("http://backup.example/debian", suites, ("main",), "/keys/archive.gpg"),
        Source("http://mirror.example/inline", ("bookworm",), ("main",), key),
    ]


WORDS = st.text("abcxyz019-./", min_size=1, max_size=8)
SOURCES = st.builds(
    Source,
    uri=WORDS.map("http://host/{}".format),
    suites=st.tuples(WORDS),
    components=st.lists(WORDS, min_size=1, max_size=3).map(tuple),
    signed_by=st.sampled_from(["", "/keys/a.gpg", "/keys/a.gpg /keys/b.gpg"]),
)


@given(st.lists(SOURCES, max_size=4))
def test_both_forms_say_the_same(sources: list[Source]) -> None:
    lines, stanzas = [], []
    for source in sources:
        option = f"[signed-by={source.signed_by.replace(' ', ',')}] " if source.signed_by else ""
        lines.append(f"deb {option}{source.uri} {source.suites[0]} {' '.join(source.components)}\n")
        field = f"Signed-By: {source.signed_by}\n" if source.signed_by else ""
        names = f"Suites: {source.suites[0]}\nComponents: {' '.join(source.components)}\n"
        stanzas.append(f"Types: deb\nURIs: {source.uri}\n{names}{field}")
    assert parse_list("".join(lines)) == parse_deb822("\n".join(stanzas)) == sources


def test_source_files_are_read_in_order_and_only_with_their_suffixes(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        DEBIAN,
        b_list="deb http://b.example/ bookworm main",
        a_sources="Types: deb\nURIs: http://a.example/\nSuites: bookworm\nComponents: main\n",
        c_list_disabled="deb http://c.example/ bookworm main",
    )
    (root / "etc/apt/sources.list").write_text("deb http://first.example/ bookworm main")
    uris = [source.uri for source in read_sources(root / "etc/apt")]
    assert uris == ["http://first.example/", "http://a.example/", "http://b.example/"]


def test_the_main_archive_of_debian(tmp_path: Path) -> None:
    root = machine(
        tmp_path,
        DEBIAN,
        a_list="deb [signed-by=/keys/vendor.gpg] http://vendor.example bookworm main",
        b_list="deb http://security.example/debian-security bookworm-security main",
        c_list="deb http://docker.example/linux/debian bookworm stable",
        d_list="deb http://mirror.example/debian/ bookworm main",
    )
    keyring = root / "usr/share/keyrings/debian-archive-keyring.gpg"
    keyring.parent.mkdir(parents=True)
    keyring.touch()
    suites = ("bookworm", "trixie", "sid")
    assert main_archive(root) == Archive("http://mirror.example/debian/", suites, "main", str(keyring))


@pytest.mark.parametrize(
    ("release", "sources", "chosen"),
    [
        pytest.param(
            UBUNTU,
            "deb http://ports.example/ubuntu-ports noble main universe",
            Archive("http://ports.example/ubuntu-ports", ("noble", "devel"), "main universe", ""),
            id="ubuntu asks its own suites",
        ),
        pytest.param(
            MINT,
            "deb http://mint.example wilma main\ndeb http://mirror.example/ubuntu noble main",
            Archive("http://mirror.example/ubuntu", ("noble", "devel"), "main universe", ""),
            id="a derivative asks what it derives from",
        ),
        pytest.param(
            DEBIAN,
            "deb http://vendor.example/debian bookworm main\n"
            "deb [signed-by=/usr/share/keyrings/debian-archive-keyring.gpg] mirror+file:/etc/mirrors stable main",
            Archive(
                "mirror+file:/etc/mirrors",
                ("bookworm", "trixie", "sid"),
                "main",
                "/usr/share/keyrings/debian-archive-keyring.gpg",
            ),
            id="the archive's keyring counts more than the address",
        ),
        pytest.param(
            DEBIAN,
            "deb [signed-by=0123456789ABCDEF] http://mirror.example/debian bookworm main",
            Archive("http://mirror.example/debian", ("bookworm", "trixie", "sid"), "main", "0123456789ABCDEF"),
            id="a choice of keys is kept",
        ),
        pytest.param(DEBIAN, "deb cdrom:[Debian_12]/ bookworm main", None, id="no archive on a disc"),
        pytest.param(DEBIAN, "deb http://vendor.example stable-vendor main", None, id="only a third party"),
        pytest.param("ID=fedora\n", "deb http://mirror.example/debian bookworm main", None, id="another distribution"),
    ],
)
def test_the_archive_chosen(tmp_path: Path, release: str, sources: str, chosen: Archive | None) -> None:
    assert main_archive(machine(tmp_path, release, x_list=sources)) == chosen


def test_a_machine_without_apt_has_no_archive(tmp_path: Path) -> None:
    assert main_archive(tmp_path) is None


def test_a_suite_keeps_to_its_folder_and_hides_its_address(tmp_path: Path) -> None:
    suite = Suite(Archive("http://me:secret@mirror.example/", ("sid",), "main", "/keys/a.gpg"), "sid", tmp_path)
    sources = tmp_path / "archive.sources"
    assert sources.read_text() == (
        "Types: deb\nURIs: http://me:secret@mirror.example/\nSuites: sid\nComponents: main\n"
        "Targets: Packages\nSigned-By: /keys/a.gpg\n"
    )
    assert sources.stat().st_mode & 0o077 == 0
    assert suite.folder == tmp_path.resolve()


needs_apt = pytest.mark.skipif(
    shutil.which("apt-get") is None, reason="asks the real apt, which only Debian's kin have"
)


@pytest.fixture
def hook(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A file that a hook in the machine's apt configuration makes; the configuration also waives every check."""
    made, conf = tmp_path / "hook-ran", tmp_path / "relaxed.conf"
    conf.write_text(
        'Acquire::AllowInsecureRepositories "true";\nAcquire::AllowWeakRepositories "true";\n'
        'Acquire::AllowDowngradeToInsecureRepositories "true";\nAPT::Get::AllowUnauthenticated "true";\n'
        'APT::Default-Release "bookworm";\nAcquire::http::Proxy "http://proxy.example";\n'
        f'APT::Update::Pre-Invoke {{ "touch {made}"; }};\nAPT::Update::Post-Invoke {{ "touch {made}"; }};\n'
        f'APT::Update::Post-Invoke-Success {{ "touch {made}"; }};\n'
    )
    monkeypatch.setenv("APT_CONFIG", str(conf))
    return made


def suite_of(mirror: Path, folder: Path) -> Suite:
    folder.mkdir()
    return Suite(Archive(f"file:{mirror}", ("sid",), "main", ""), "sid", folder)


@needs_apt
def test_apt_refuses_an_unsigned_archive_whatever_the_machine_allows(tmp_path: Path, hook: Path) -> None:
    release = tmp_path / "mirror/dists/sid/Release"
    packages = release.parent / "main/binary-all/Packages"
    packages.parent.mkdir(parents=True)
    packages.write_text("Package: promtool\nVersion: 9.9-1\nArchitecture: all\nFilename: promtool.deb\nSize: 1\n")
    digest, size = hashlib.sha256(packages.read_bytes()).hexdigest(), packages.stat().st_size
    release.write_text(
        "Origin: Debian\nSuite: sid\nCodename: sid\nDate: Sat, 01 Jan 2022 00:00:00 UTC\nComponents: main\n"
        f"Architectures: all\nSHA256:\n {digest} {size} main/binary-all/Packages\n"
    )
    suite = suite_of(tmp_path / "mirror", tmp_path / "suite")
    with pytest.raises(SuiteError, match=r"^its signature could not be verified$"):
        suite.refresh()
    assert suite.versions(["promtool"]) == {}
    assert not hook.exists()


@needs_apt
def test_apt_keeps_the_machines_proxy_and_drops_its_hooks_pins_and_waivers(tmp_path: Path, hook: Path) -> None:
    conf = suite_of(tmp_path, tmp_path / "suite").folder / "apt.conf"
    dump = subprocess.run(["apt-config", "-c", conf, "dump"], capture_output=True, text=True, check=True).stdout
    settings = dict(line.rstrip(";").split(" ", 1) for line in dump.splitlines())
    waivers = {name: value for name, value in settings.items() if re.match("(Acquire|APT::Get)::Allow", name)}
    assert set(waivers.values()) == {'"false"'}
    assert [name for name in ("Dir::State", "Dir::Cache", "Dir::Log") if str(tmp_path) not in settings[name]] == []
    assert str(hook) not in dump
    assert settings["Acquire::http::Proxy"] == '"http://proxy.example"'
    assert settings["APT::Default-Release"] == '""'
