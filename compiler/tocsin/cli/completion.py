"""Completion scripts, written from the parser itself so that they cannot lag behind it."""

from __future__ import annotations

import argparse
from typing import NamedTuple

from tocsin.cli.arguments import parser


class Words(NamedTuple):
    """What can stand behind a command: its options, their and its own fixed words, and whether files."""

    options: tuple[str, ...]
    values: dict[str, tuple[str, ...]]
    words: tuple[str, ...]
    files: bool


def script(shell: str) -> str:
    """The script for bash, zsh or fish; it is sourced from the shell's start-up file."""
    return {"bash": _bash, "zsh": _zsh, "fish": _fish}[shell](_commands())


def _commands() -> dict[str, Words]:
    for action in parser()._actions:  # argparse offers no public way to its own arguments
        if isinstance(action, argparse._SubParsersAction):
            return {name: _words(command) for name, command in action.choices.items()}
    return {}


def _words(command: argparse.ArgumentParser) -> Words:
    named = [(action, option) for action in command._actions for option in action.option_strings]
    options = tuple(option for _, option in named if option.startswith("--"))
    values = {option: tuple(map(str, action.choices)) for action, option in named if action.choices}
    unnamed = [action for action in command._actions if not action.option_strings]
    words = tuple(str(choice) for action in unnamed for choice in action.choices or ())
    return Words(options, values, words, any(action.metavar == "SPEC" for action in command._actions))


def _bash(commands: dict[str, Words]) -> str:
    cases = []
    for name, command in commands.items():
        for option, values in command.values.items():
            cases.append(f'    "{name} {option}") known="{" ".join(values)}" ;;')
        known = " ".join((*command.words, *command.options))
        cases.append(f'    "{name} "*) known="{known}"{" files=yes" if command.files else ""} ;;')
    lines = "\n".join(cases)
    return f"""\
_tocsin() {{
  local current="${{COMP_WORDS[COMP_CWORD]}}" known="" files=""
  case "${{COMP_WORDS[1]}} ${{COMP_WORDS[COMP_CWORD-1]}}" in
{lines}
  esac
  if [ "$COMP_CWORD" -eq 1 ]; then
    known="{" ".join(commands)} --help --version" files=""
  fi
  COMPREPLY=($(compgen -W "$known" -- "$current"))
  if [ -n "$files" ]; then
    compopt -o filenames 2>/dev/null
    local IFS=$'\\n'
    COMPREPLY+=($(compgen -f -- "$current"))
  fi
}}
complete -F _tocsin tocsin
"""


def _zsh(commands: dict[str, Words]) -> str:
    return f"autoload -U +X bashcompinit && bashcompinit\n{_bash(commands)}"


def _fish(commands: dict[str, Words]) -> str:
    lines = [f"complete -c tocsin -n __fish_use_subcommand -f -a '{' '.join(commands)}'"]
    for name, command in commands.items():
        start = f"complete -c tocsin -n '__fish_seen_subcommand_from {name}'"
        lines += [
            f"{start} -l {option.removeprefix('--')}" for option in command.options if option not in command.values
        ]
        lines += [f"{start} -l {o.removeprefix('--')} -x -a '{' '.join(v)}'" for o, v in command.values.items()]
        if not command.files:
            lines.append(f"{start} -f -a '{' '.join(command.words)}'")
    return "\n".join(lines) + "\n"
