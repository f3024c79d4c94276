"""A POSIX shell reads the scheduler's scripts: one that it cannot read would drain every node."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.verify.run import OURS, call

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from tocsin.artifact import Artifact
    from tocsin.diagnostics import Log


def judge_scripts(files: Mapping[str, Artifact], folder: Path, log: Log) -> None:
    """`sh -n` for each script: it is read to its end, and nothing of it runs."""
    for path, artifact in files.items():
        if path.startswith("exporters/slurm/"):
            answer = call(["/bin/sh", "-n", path], folder)
            if answer.status:
                detail = " ".join(answer.output.split())[:600]
                log.error("VFY115", f"the shell cannot read {path}: {detail}", artifact.origin(1), OURS)
