"""Text that the compiler fills in or hands on: the top-level folder `templates/`, which a wheel carries in the package.

The owner of the project fixed the folder beside `compiler/`; an installed package has no such neighbour.
"""

from functools import cache
from pathlib import Path

_HERE = Path(__file__).resolve().parent


@cache
def template(name: str) -> str:
    """The text of a template by its path below the folder."""
    folder = _HERE / "templates"
    if not folder.is_dir():  # a checkout
        folder = _HERE.parents[1] / "templates"
    return (folder / name).read_text("utf-8")
