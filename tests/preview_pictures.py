"""Pictures for the documentation: dashboards of the example spec, as a preview of a simulated site shows them.

Run by `make pictures`, which needs the browser of `make tools-browser` and a Prometheus.
"""

import os
import sys
import tempfile
from pathlib import Path

from preview_browser import opened
from tocsin.cli import run
from toolbox import best
from toolbox_browser import ABSENT, browser

ROOT = Path(__file__).resolve().parents[1]
FOLDER = ROOT / "docs" / "pictures"
SHOWN = {"operations": "light", "gpus": "dark", "owners": "light", "training": "dark", "slos": "light"}


def main() -> int:
    """Write the pictures; 3 where there is no browser or no Prometheus."""
    found, prometheus = browser(), best("prometheus")
    if found is None or prometheus is None:
        print(ABSENT if found is None else "prometheus not found: run `make tools`", file=sys.stderr)
        return 3
    os.environ["PROMETHEUS"] = str(prometheus.path)
    FOLDER.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder, "preview.html")
        if status := run(["preview", str(ROOT / "specs/ai-factory.yaml"), "--output", str(path)]):
            return status
        with opened(found, path) as page:
            for name, scheme in SHOWN.items():
                page.color(scheme)
                page.go(f"#/d/ai-factory-east-{name}")
                page.picture(FOLDER / f"{name}.png")
    return 0


if __name__ == "__main__":
    sys.exit(main())
