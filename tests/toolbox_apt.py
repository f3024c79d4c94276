"""The machine's own package archive: found in apt's configuration, asked through an apt state of our own, verified.

Nothing here needs root or changes the system. Each suite gets a folder with its own lists, cache and configuration, so
one suite that cannot be had (a mirror without it, a keyring too old for it) never takes the others down with it.
"""

import os
import re
import shlex
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

_PLANS: Mapping[str, tuple[tuple[str, ...], str]] = {
    # family: (suites asked, components); "{codename}" is the machine's own release
    "debian": (("bookworm", "trixie", "sid"), "main"),
    "ubuntu": (("{codename}", "devel"), "main universe"),
}
_DEBIAN_ALIASES = ("oldstable", "stable", "testing", "unstable", "bookworm", "trixie", "forky", "sid")
_KEYRING_SUFFIXES = (".gpg", ".pgp")

_APT_CONF = """\
// The machine's proxies, credentials and timeouts stay in force; its hooks, pins and relaxed checks do not.
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
#clear Acquire::Languages;
Acquire::Languages {{ "none"; }};
Acquire::AllowInsecureRepositories "false";
Acquire::AllowWeakRepositories "false";
Acquire::AllowDowngradeToInsecureRepositories "false";
APT::Get::AllowUnauthenticated "false";
APT::Update::Error-Mode "any";
APT::Default-Release "";
APT::Sandbox::User "root"; // apt's own user can usually not write into a checkout; without root this has no effect
Dir::State "{folder}/state";
Dir::State::lists "{folder}/state/lists/";
Dir::State::status "{folder}/state/status";
Dir::Cache "{folder}/cache";
Dir::Cache::archives "{folder}/cache/archives/";
Dir::Log "{folder}/log";
Dir::Etc::sourcelist "{folder}/archive.sources";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "/dev/null";
Dir::Etc::preferencesparts "/dev/null";
"""


class SuiteError(Exception):
    """A suite or a package that cannot be had; the text is one clause that says why."""


@dataclass(frozen=True, slots=True)
class Source:
    """One enabled binary entry of apt's source lists, for one address; `signed_by` is apt's own value, "" if absent."""

    uri: str
    suites: tuple[str, ...]
    components: tuple[str, ...]
    signed_by: str = ""


@dataclass(frozen=True, slots=True)
class Archive:
    """The main archive of the machine's distribution: where it is, who signs it, which of its suites to ask."""

    uri: str
    suites: tuple[str, ...]
    components: str
    signed_by: str


def parse_list(text: str) -> list[Source]:
    """Entries of a one-line source list: `deb [option=value ...] URI suite component ...`."""
    entries = []
    for line in text.splitlines():
        match = re.fullmatch(r"\s*deb\s+(?:\[([^\]]*)\]\s*)?(\S+)\s+(\S+)([^#]*)(?:#.*)?", line)
        if match:
            options = dict(re.findall(r"(\S+?)=(\S+)", match[1] or ""))
            signed_by = options.get("signed-by", "").replace(",", " ")
            entries.append(Source(match[2], (match[3],), tuple(match[4].split()), signed_by))
    return entries


def parse_deb822(text: str) -> list[Source]:
    """Entries of a `*.sources` file: stanzas of `Field: value`, one entry for each address of an enabled one."""
    entries = []
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("#"))
    for stanza in re.split(r"\n\s*\n", lines):
        pairs = re.findall(r"^([\w-]+):(.*(?:\n[ \t].*)*)", stanza, re.MULTILINE)
        fields = {name.lower(): value.strip() for name, value in pairs}
        enabled = fields.get("enabled", "yes").lower() not in {"no", "false", "without", "off", "disable", "0"}
        if enabled and "deb" in fields.get("types", "").split():
            suites, components = (tuple(fields.get(name, "").split()) for name in ("suites", "components"))
            signed_by = fields.get("signed-by", "")
            entries += [Source(uri, suites, components, signed_by) for uri in fields.get("uris", "").split()]
    return entries


def read_sources(etc: Path) -> list[Source]:
    """Every entry below `etc` (normally /etc/apt), in the order apt reads them."""
    entries = []
    for path in (etc / "sources.list", *sorted((etc / "sources.list.d").glob("*"))):
        if path.suffix in {".list", ".sources"} and path.is_file():
            text = path.read_text(encoding="utf-8", errors="replace")
            entries += parse_list(text) if path.suffix == ".list" else parse_deb822(text)
    return entries


def main_archive(root: Path = Path("/")) -> Archive | None:
    """The archive that the distribution under `root` itself comes from; None where apt has no such entry.

    Third-party archives often reuse the distribution's suite names. So an entry signed by the distribution's keyring
    is preferred, then one whose address ends in the distribution's name, then the first in the files.
    """
    release = _os_release(root)
    families = [release.get("ID", ""), *release.get("ID_LIKE", "").split()]
    family = next((name for name in families if name in _PLANS), None)
    if family is None:
        return None
    own = release.get("UBUNTU_CODENAME") or release.get("VERSION_CODENAME", "")
    known = {own, *(_DEBIAN_ALIASES if family == "debian" else ())}
    candidates = [
        entry
        for entry in read_sources(root / "etc/apt")
        if known.intersection(entry.suites) and "main" in entry.components and not entry.uri.startswith("cdrom:")
    ]
    if not candidates:
        return None
    chosen = min(
        candidates,
        key=lambda entry: (
            f"{family}-archive-" not in entry.signed_by,
            entry.uri.rstrip("/").rpartition("/")[2] != family,
        ),
    )
    suites, components = _PLANS[family]
    asked = tuple(suite.format(codename=own) for suite in suites)
    return Archive(chosen.uri, asked, components, _signed_by(chosen, family, root))


def codename(root: Path = Path("/")) -> str:
    """The release of the distribution under `root`, such as bookworm; empty where it does not tell."""
    return _os_release(root).get("VERSION_CODENAME", "")


def _os_release(root: Path) -> dict[str, str]:
    try:
        text = (root / "etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return {}
    return dict(word.split("=", 1) for word in shlex.split(text, comments=True) if "=" in word)


def _signed_by(entry: Source, family: str, root: Path) -> str:
    """The keys to verify with: the entry's own keyrings and the distribution's, which knows its newer suites too."""
    own = entry.signed_by.split()
    if any(not word.startswith("/") for word in own):
        return entry.signed_by  # fingerprints or a key written out in place: a choice not to be widened
    keyrings = (root / f"usr/share/keyrings/{family}-archive-keyring{suffix}" for suffix in _KEYRING_SUFFIXES)
    return " ".join(dict.fromkeys([*own, *(str(path.absolute()) for path in keyrings if path.is_file())]))


class Suite:
    """One suite of an archive, with an apt state of its own inside `folder`.

    Every method raises SuiteError with the reason when apt or dpkg fails.
    """

    def __init__(self, archive: Archive, name: str, folder: Path) -> None:
        """Write the apt configuration of this suite into `folder`, which must exist; nothing is asked yet."""
        self.name = name
        self.folder = folder.resolve()
        for part in ("state/lists/partial", "cache/archives/partial", "log", "packages", "unpacked"):
            (self.folder / part).mkdir(parents=True)
        (self.folder / "state/status").touch()
        (self.folder / "apt.conf").write_text(_APT_CONF.format(folder=self.folder), encoding="utf-8")
        signed_by = f"Signed-By: {archive.signed_by}\n" if archive.signed_by else ""
        sources = self.folder / "archive.sources"
        sources.touch(mode=0o600)  # an address may carry a password
        sources.write_text(
            f"Types: deb\nURIs: {archive.uri}\nSuites: {name}\nComponents: {archive.components}\n"
            f"Targets: Packages\n{signed_by}",
            encoding="utf-8",
        )

    def refresh(self) -> None:
        """Fetch the suite's lists and verify their signature."""
        self._run("apt-get", "update")

    def versions(self, packages: Iterable[str]) -> dict[str, str]:
        """The newest version of each of the packages that the suite has."""
        newest: dict[str, str] = {}
        for line in self._run("apt-cache", "madison", *packages).splitlines():
            package, version, _ = (word.strip() for word in line.split("|", 2))
            newest.setdefault(package, version)
        return newest

    def lacking(self, packages: Iterable[str]) -> dict[str, str]:
        """Of these packages and of all that they need, what is not installed on this machine, each with its version."""
        status = "Dir::State::status=/var/lib/dpkg/status"
        asked = ("--simulate", "--no-install-recommends", "install", *packages)
        said = self._run("apt-get", "-o", status, *asked)
        return dict(re.findall(r"^Inst (\S+) (?:\[\S+\] )?\((\S+) ", said, re.MULTILINE))

    def unpack(self, package: str, version: str) -> Path:
        """The folder with the package's files; the package itself is removed again."""
        target = self.folder / "unpacked" / package
        if not target.is_dir():
            self._run("apt-get", "download", f"{package}={version}")
            (deb,) = (self.folder / "packages").glob("*.deb")
            self._run("dpkg", "-x", str(deb), str(target))
            deb.unlink()
        return target

    def _run(self, program: str, *arguments: str) -> str:
        options = () if program == "dpkg" else ("-q", "-c", str(self.folder / "apt.conf"))
        done = subprocess.run(
            [program, *options, *arguments],
            cwd=self.folder / "packages",
            env={**os.environ, "LC_ALL": "C"},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        if done.returncode:
            raise SuiteError(_reason(program, done.returncode, done.stderr))
        return done.stdout


def _reason(program: str, status: int, stderr: str) -> str:
    if "NO_PUBKEY" in stderr:
        return "signed with a key that this machine's archive keyring does not hold (a newer keyring package brings it)"
    if "is not signed" in stderr or "signatures were invalid" in stderr:
        return "its signature could not be verified"
    lines = re.sub(r"//[^/@\s]*@", "//", stderr).splitlines()  # an address may carry a password
    errors = [line for line in lines if line.startswith("E:")] or lines
    return f"{program} failed: {errors[0].removeprefix('E:').strip()}" if errors else f"{program} failed with {status}"
