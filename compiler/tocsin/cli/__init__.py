"""The door: the only package that reads arguments, environment and working directory, and the only one that prints."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from tocsin.cli.arguments import parser
from tocsin.cli.terminal import prepare, say
from tocsin.cli.wrongcall import WrongCallError
from tocsin.toolerror import ToolError

if TYPE_CHECKING:
    from collections.abc import Sequence

CLEAN, PROBLEMS, WRONG_CALL, BROKEN = 0, 1, 2, 3


def run(arguments: Sequence[str]) -> int:
    """Carry out one call and return its exit status: 0 clean, 1 problems, 2 wrong call, 3 broken tool."""
    prepare()
    try:
        return _carry_out(arguments)
    except WrongCallError as error:
        return _fail(WRONG_CALL, str(error))
    except ToolError as error:
        return _fail(BROKEN, str(error))
    except OSError as error:
        return _fail(BROKEN, f"{error.filename or 'the disk'}: {error.strerror or error}")


def _carry_out(arguments: Sequence[str]) -> int:
    try:
        options = parser().parse_args(arguments)
    except SystemExit as end:  # argparse has told the help, or what is wrong with the call
        say(sys.stdout, "")
        return WRONG_CALL if end.code else CLEAN
    from tocsin.cli import commands  # the help needs nothing of the compiler

    return getattr(commands, options.command.replace("-", "_"))(options)  # type: ignore[no-any-return]


def _fail(status: int, message: str) -> int:
    from tocsin.report.as_text import visible

    lines = (visible(line) for line in message.split("\n"))
    say(sys.stderr, "tocsin: " + "\n".join(lines) + "\n")
    return status
