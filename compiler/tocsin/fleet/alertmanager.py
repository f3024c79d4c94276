"""Debian's Alertmanager without Debian: it starts only where the message templates of its package are installed."""

from __future__ import annotations

from pathlib import Path

_SHARE = Path(
    "/usr/share/prometheus/alertmanager"
)  # the folder that Debian's build has its templates in, not changeable
_NAMES = ("default.tmpl", "email.tmpl")


def startable(program: Path, folder: Path) -> Path:
    """The program itself where it finds its templates, else a copy that looks for them in its working folder.

    The copy is to be started in `folder`. It differs in one text, the path of the templates, which are empty here:
    a webhook's message is not made by a template.
    """
    content = program.read_bytes()
    old = bytes(_SHARE)
    if old not in content or all((_SHARE / name).exists() for name in _NAMES):
        return program
    here = b"templates"
    copy = folder / program.name
    copy.write_bytes(content.replace(old, b"." + b"/" * (len(old) - len(here) - 1) + here))  # as long as before
    copy.chmod(0o755)
    templates = folder / "templates"
    templates.mkdir()
    for name in _NAMES:
        (templates / name).touch()
    return copy
