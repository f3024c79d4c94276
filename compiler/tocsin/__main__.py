"""`python -m tocsin` and the `tocsin` command."""

from __future__ import annotations

import gc
import os
import sys
from typing import NoReturn


def main() -> NoReturn:
    """Run the command line and end the process. Whatever is printed was flushed: see `cli.terminal.say`."""
    os._exit(_run())  # giving every object back one by one would take a twentieth of the time, for nothing


def _run() -> int:
    gc.disable()  # a compiler lives for a second: collecting cycles would cost a tenth of it for nothing
    # pydantic would load every plugin that any installed package announces: slow, and somebody else's code.
    os.environ["PYDANTIC_DISABLE_PLUGINS"] = "__all__"
    try:
        from tocsin.cli import run

        return run(sys.argv[1:])
    except KeyboardInterrupt:
        return 130  # as a shell calls it
    except Exception:
        import traceback

        traceback.print_exc()
        print("tocsin: this is a fault of tocsin itself: please report it with the spec", file=sys.stderr)
        return 3


if __name__ == "__main__":
    main()
