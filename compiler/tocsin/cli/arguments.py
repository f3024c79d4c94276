"""The words of a call, and the help that teaches them."""

from __future__ import annotations

import argparse

from tocsin import __version__
from tocsin.report import FORMATS

_WIDTH = 80  # of help, until the terminal is asked
SHELLS = ("bash", "zsh", "fish")

_DESCRIPTION = """\
Compile one YAML spec of an AI factory into the files that its monitoring runs on - Prometheus, Alertmanager, Grafana,
dcgm-exporter - and prove every one of them before it is written."""

_EPILOG = """\
exit status:
  0  clean
  1  problems in the spec, or an output that is not what the spec says (build --check)
  2  wrong call
  3  tocsin or an external program failed

examples:
  tocsin check specs/ai-factory.yaml           look a spec over, fast, without external tools
  tocsin build specs/ai-factory.yaml           compile it to out/, proven with promtool and amtool
  tocsin build specs/ai-factory.yaml --check   fail where out/ is not what the spec says, as CI does
  tocsin preview specs/ai-factory.yaml         its dashboards as one page, without a Grafana
  tocsin lint-expr 'rate(up[5m])'               what is wrong with an expression
  tocsin drill --fast specs/ai-factory.yaml    let faults happen, and see who is told
  tocsin explain OWN101                        what a code means and how to mend it
  tocsin explain GpuLost --spec SPEC           what an alert means and what to do first
  generate-spec | tocsin check -               read a spec from standard input
"""

_CHECK = """\
Tell everything that is wrong with some specs, each with its place and a way to mend it. Fast: nothing is started and
nothing is written, which suits a pre-commit hook."""

_BUILD = """\
Compile a spec, prove every file with promtool, amtool and Grafana's schema, and write them to DIR/<factory>/.
A build that fails leaves the last output as it was. promtool and amtool are found on PATH, or named by PROMTOOL and
AMTOOL."""

_TEST = """\
Compile a spec and run only its generated tests: every alert with promtool, every route with amtool. Writes nothing."""

_CAPACITY = """\
Predict what the servers of a spec will hold and take in - series, samples per second, memory, disk, remote write - by
server, job and owner. Nothing is started and nothing is written."""

_PREVIEW = """\
Draw every dashboard of a spec into one HTML file, which needs no network and no Grafana: a reviewer opens it and sees
what the spec's files show. The data is what the Prometheus at --prometheus knows. Without one, a Prometheus is started
with the spec's files (found on PATH, or named by PROMETHEUS) and watches a simulated site; the page says so. Links
between dashboards work, and variables can be chosen as far as --choices goes."""

_DRILL = """\
Hold a drill: a real Prometheus and a real Alertmanager run what the spec generates, on loopback, against a site that is
simulated from the spec. Faults happen, and who is told, of what, after how long and how often is held against the spec.
By default every interval is the generated one, and a drill takes as long as the slowest `for`. Nothing leaves the
machine: each receiver is a webhook on loopback. prometheus and alertmanager are found on PATH, or named by PROMETHEUS
and ALERTMANAGER. Exit status 1 where a fault was told to nobody, to the wrong ones, again, or without its place."""

_EXPLAIN = """\
Say what the code of a message means, why it matters, and how to mend what it is about; or, with --spec, what an alert
of that spec means, what to do first, and when it fires."""

_LINT = """\
Type-check one PromQL expression, as it is written into an alert, a recording rule or an SLI: counters and gauges,
units, bitmasks and codes, boards that are counted twice, labels that are lost, joins that fail, windows and ranges,
absences that nobody sees. It is held against the series and labels of a spec, or of the whole catalogue. Exit status
1 where it is refused."""

_COMPLETION = """\
Print a completion script. To have it in every shell, put one of these where the shell begins:
  bash  eval "$(tocsin completion bash)"      ~/.bashrc
  zsh   eval "$(tocsin completion zsh)"       ~/.zshrc, after compinit
  fish  tocsin completion fish | source       ~/.config/fish/config.fish"""


_LAST = "how much of the past is shown (default: 6h), or how long a simulated site is watched (default: 90s)"
_CHOICES = "values of variables for which each dashboard is in the page, links first (default: 32)"
_OUTPUT = "where the page is written, or - for standard output (default: preview.html)"


class _Help(argparse.RawDescriptionHelpFormatter):
    """Help as wide as the terminal, which is asked only where help is printed.

    argparse makes a formatter for each argument that it is told of, and each would load what packs archives to ask.
    """

    def __init__(self, prog: str) -> None:
        super().__init__(prog, width=_WIDTH)

    def format_help(self) -> str:
        """The text of the whole help."""
        from shutil import get_terminal_size

        self._width = get_terminal_size().columns - 2
        return super().format_help()


def parser() -> argparse.ArgumentParser:
    """The parser; `command` names the function of `commands` that carries a call out."""
    top = argparse.ArgumentParser(prog="tocsin", description=_DESCRIPTION, epilog=_EPILOG, formatter_class=_Help)
    top.add_argument("--version", action="version", version=f"tocsin {__version__}")
    commands = top.add_subparsers(title="commands", required=True, metavar="COMMAND", dest="command", prog="tocsin")

    check = _command(commands, "check", "tell everything that is wrong with specs", _CHECK)
    check.add_argument("specs", nargs="+", metavar="SPEC", help="a root spec, or - for standard input")

    build = _command(commands, "build", "compile, prove, write", _BUILD)
    build.add_argument("spec", metavar="SPEC", help="a root spec, or - for standard input")
    build.add_argument("--out", metavar="DIR", default="out", help="where <factory>/ is written (default: out)")
    build.add_argument("--check", action="store_true", help="write nothing; exit 1 where the output would change")
    build.add_argument("--no-verify", action="store_true", help="do without promtool, amtool and Grafana's schema")

    test = _command(commands, "test", "run the generated tests of alerts and routes", _TEST)
    test.add_argument("spec", metavar="SPEC", help="a root spec, or - for standard input")

    capacity = _command(commands, "capacity", "predict series, samples, memory and disk", _CAPACITY)
    capacity.add_argument("spec", metavar="SPEC", help="a root spec, or - for standard input")
    capacity.add_argument("--format", choices=("text", "json"), default="text", help="of the tables (default: text)")
    capacity.add_argument("--retention", metavar="TIME", help="how long samples are kept (default: what the spec says)")

    _preview(_command(commands, "preview", "draw the dashboards into one page", _PREVIEW))
    _drill(_command(commands, "drill", "let faults happen and see who is told", _DRILL))

    lint = _command(commands, "lint-expr", "type-check a PromQL expression", _LINT)
    lint.add_argument("expr", metavar="EXPR", help="a PromQL expression, or - for standard input")
    lint.add_argument("--spec", metavar="SPEC", help="whose series and labels there are (default: the catalogue's)")

    for command in (check, build, test, lint):
        command.add_argument("--format", choices=FORMATS, default="text", help="how problems are told (default: text)")

    explain = _command(commands, "explain", "say what a code or an alert means and what to do", _EXPLAIN)
    explain.add_argument("name", metavar="CODE|ALERT", help="a code such as OWN101, an alert, or `all` for the list")
    explain.add_argument("--spec", metavar="SPEC", help="whose alert it is, or - for standard input")

    completion = _command(commands, "completion", "print a completion script for a shell", _COMPLETION)
    completion.add_argument("shell", choices=SHELLS)
    return top


def _preview(preview: argparse.ArgumentParser) -> None:
    preview.add_argument("spec", metavar="SPEC", help="a root spec, or - for standard input")
    preview.add_argument("--prometheus", metavar="URL", help="whose data is shown (default: a simulated site)")
    preview.add_argument("--last", metavar="TIME", help=_LAST)
    preview.add_argument("--choices", metavar="N", type=_count, default=32, help=_CHOICES)
    preview.add_argument("--output", metavar="FILE", default="preview.html", help=_OUTPUT)


def _drill(drill: argparse.ArgumentParser) -> None:
    drill.add_argument("spec", metavar="SPEC", help="a root spec, or - for standard input")
    drill.add_argument(
        "--fault", action="append", default=[], metavar="NAME", help="this one only; may be given again (default: all)"
    )
    drill.add_argument("--cluster", default="", metavar="NAME", help="where they happen (default: the first cluster)")
    drill.add_argument("--list", action="store_true", help="list the faults, and which of them this spec can show")
    drill.add_argument(
        "--fast",
        action="store_true",
        help="one second stands for five: intervals, windows, `for` and the waits of routes are divided",
    )
    drill.add_argument("--any-hour", action="store_true", help="do without the hours of owners and without maintenance")
    drill.add_argument("--format", choices=("text", "json"), default="text", help="of the report (default: text)")


def _count(text: str) -> int:
    if not text.isascii() or not text.isdigit() or not 1 <= int(text) <= 1000:
        raise argparse.ArgumentTypeError(f"{text} is not a number from 1 to 1000")
    return int(text)


def _command(
    commands: argparse._SubParsersAction[argparse.ArgumentParser], name: str, phrase: str, text: str
) -> argparse.ArgumentParser:
    return commands.add_parser(name, help=phrase, description=text, formatter_class=_Help)
