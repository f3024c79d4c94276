"""What pydantic found, in the words of the language."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from tocsin.diagnostics import near
from tocsin.load.needed import NEEDED
from tocsin.load.shape import has_entries, known_keys, required_keys
from tocsin.secrecy import is_secret, is_secret_link, names_secret
from tocsin.spec.scalars import kind
from tocsin.spec.slos import SELECTORS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from pydantic_core import ErrorDetails

    from tocsin.diagnostics import Log
    from tocsin.document import Path, Places

_WANTED = {
    "model_type": "a mapping",
    "model_attributes_type": "a mapping",
    "dict_type": "a mapping",
    "list_type": "a list",
    "int_type": "a whole number",
    "int_from_float": "a whole number",
    "int_parsing": "a whole number",
    "string_type": "text",
    "bool_type": "true or false",
}
_SELECTORS = tuple(f"slos.*.{kind}.{key}" for kind, keys in SELECTORS.items() for key in keys)
_QUOTE_IT = "put the metric first, and the whole into quotes: 'requests_total{label=\"value\"}'"


def tell(problem: ErrorDetails, places: Places, log: Log) -> None:
    """Report one of pydantic's findings at its place."""
    path: Path = tuple(problem["loc"])
    type_, context, value = problem["type"], problem.get("ctx", {}), problem["input"]
    if path[-1] == "[key]" and type_ == "literal_error":
        _unknown_key(path[:-1], _words(context["expected"]), places, log)
    elif type_ == "extra_forbidden":
        _unknown_key(path, known_keys(path[:-1]), places, log)
    elif type_ == "tocsin":
        place = places.key(*path[:-1]) if path[-1] == "[key]" else places.value(*path)
        is_bare = isinstance(value, dict) and _is_in(path, _SELECTORS)
        log.error(context["code"], context["said"], place, _QUOTE_IT if is_bare else context["hint"])
    elif type_ == "missing":
        hint = next((hint for pattern, hint in NEEDED.items() if _is_in(path, (pattern,))), "")
        log.error("SPC106", f"`{path[-1]}` is missing in {_named(path[:-1])}", places.key(*path), hint)
    elif type_ == "literal_error":
        _other_value(path, value, _words(context["expected"]), places, log)
    elif type_ in _WANTED:
        _other_type(path, value, _WANTED[type_], places, log)
    elif type_ == "too_short":
        log.error("SPC108", f"`{path[-1]}` is empty", places.value(*path), "name at least one")
    elif type_ in ("greater_than_equal", "less_than_equal"):
        limit = f"at least {context['ge']}" if "ge" in context else f"at most {context['le']}"
        log.error("SPC109", f"`{path[-1]}` is {value}, it must be {limit}", places.value(*path))
    else:
        log.error("SPC102", f"`{'.'.join(map(str, path))}`: {problem['msg'].lower()}", places.value(*path))


def tell_nameless(path: Path, key: str, places: Places, log: Log) -> None:
    """Report the keys of an entry where its name should stand."""
    what = f"the entries of {_named(path)} have names, `{key}` is a key of one"
    hint = f"write a name above `{key}`, and indent it and the keys beside it below that name"
    log.error("SPC112", what, places.key(*path, key), hint)


def tell_sunken(path: Path, places: Places, log: Log) -> None:
    """Report a key among the named entries of a mapping beside which it belongs."""
    what = f"`{path[-1]}` is a key of {_named(path[:-2])}, not of its `{path[-2]}`"
    log.error("SPC110", what, places.key(*path), "move it one level up: indent it less")


def meant(problem: ErrorDetails) -> set[Path]:
    """The paths that may be meant by an unknown key: they are not missing as well."""
    path: Path = tuple(problem["loc"])
    if problem["type"] == "extra_forbidden":
        known = known_keys(path[:-1])
    elif path[-1] == "[key]" and problem["type"] == "literal_error":
        path, known = path[:-1], _words(problem["ctx"]["expected"])
    else:
        return set()
    key = _meant_key(path, known)
    return {(*path[:-1], key)} if key else _elsewhere(path)


def _meant_key(path: Path, known: Iterable[str]) -> str:
    key = str(path[-1])
    if names_secret(key):
        files = [k for k in known if k.endswith("_file")]
        return near(key, files) or next(iter(files), "")
    return near(key, known)


def _unknown_key(path: Path, known: Sequence[str], places: Places, log: Log) -> None:
    key, close = str(path[-1]), _meant_key(path, known)
    if names_secret(key):
        hint = f"write `{close}: path/of/the/file`" if close else f"remove it; known here: {', '.join(known)}"
        _secret(path, hint, places, log)
        return
    hint = f"did you mean `{close}`?" if close else _belongs(path)
    if not hint:
        hint = f"known here: {', '.join(known)}" if known else _no_keys(path[-2])
    log.error("SPC110", f"unknown key `{key}` in {_named(path[:-1])}", places.key(*path), hint)


def _elsewhere(path: Path) -> set[Path]:
    """Where an unknown key is known: one level below, in a section beside it, or one level above."""
    key, section = path[-1], path[:-1]
    below = {(*section, beside, key) for beside in known_keys(section) if key in known_keys((*section, beside))}
    return below or ({(*section[:-1], key)} if section and key in known_keys(section[:-1]) else set())


def _belongs(path: Path) -> str:
    """Where an unknown key would be known; nothing where it would be nowhere near."""
    there = sorted(_elsewhere(path), key=str)
    if there and len(there[0]) < len(path):
        return f"it is a key of {_named(path[:-2])}, one level up: indent it less"
    return f"`{path[-1]}` belongs below {_either([str(other[-2]) for other in there], '`')}" if there else ""


def _secret(path: Path, hint: str, places: Places, log: Log) -> None:
    what = f"`{path[-1]}` would hold a secret; secrets are only ever named by their file"
    log.error("SEC101", what, places.value(*path), hint)


def _other_type(path: Path, value: Any, wanted: str, places: Places, log: Log) -> None:
    keys, hint = known_keys(path), ""
    files = [key for key in keys if key.endswith("_file")]
    if files and isinstance(value, str) and _holds_secret(value, keys):
        _secret(path, f"it has keys of its own: {', '.join(keys)}; `{files[0]}` names the secret's file", places, log)
        return
    if wanted == "a mapping":
        hint = _shape_of(path, keys)
    elif wanted == "a list":
        hint = f"put it into brackets: [{value}]" if isinstance(value, str) else "begin each item with a `-`"
    elif isinstance(value, str) and value.isdigit():
        hint = "write it without quotes"
    log.error("SPC102", f"expected {wanted} for `{path[-1]}`, found {kind(value)}", places.value(*path), hint)


def _holds_secret(value: str, keys: Sequence[str]) -> bool:
    """Whether a text in place of a section may be the secret of one of its files, as no other key would hold it."""
    if "url" in keys and "://" in value:
        return is_secret_link(value)
    return "/" in value or is_secret(value) or all(key.endswith("_file") for key in keys)


def _shape_of(path: Path, keys: Sequence[str]) -> str:
    """What the mapping at a path looks like."""
    if keys:
        required = required_keys(path)
        listed = _either(required, "`", "and") if required else _either(keys, "`")
        return f"`{path[-1]}` is a mapping with {listed}"
    return "each entry begins with its name, as in `name: …`" if has_entries(path) else _no_keys(path[-1])


def _no_keys(name: str | int) -> str:
    return f"`{name}` takes no keys: write `{name}: {{}}`, the hosts come from `nodes` and `jobs`"


def _other_value(path: Path, value: Any, words: Sequence[str], places: Places, log: Log) -> None:
    hint = ""
    if value in words:
        hint = "write it without quotes"
    elif path == ("version",):
        hint = "this tocsin reads version 1 of the language"
    elif isinstance(value, str) and (close := near(value, words)):
        hint = f"did you mean `{close}`?"
    elif isinstance(value, str) and (begun := [word for word in words if len(value) > 2 and word.startswith(value)]):
        hint = f"did you mean {_either(begun, '`')}?"
    elif len(words) == 1:
        hint = f"write `{words[0]}`"
    log.error("SPC111", f"`{path[-1]}` must be {_either(words)}, found {kind(value)}", places.value(*path), hint)


def _is_in(path: Path, patterns: Iterable[str]) -> bool:
    """Whether a path is one of some dotted ones, in which a `*` is any name."""
    steps = [str(step) for step in path]
    return any(
        len(parts) == len(steps) and all(p in ("*", s) for p, s in zip(parts, steps, strict=True))
        for parts in (pattern.split(".") for pattern in patterns)
    )


def _words(expected: str) -> list[str]:
    """The choices in pydantic's `'a', 'b' or 'c'`."""
    return [text or number for text, number in re.findall(r"'([^']*)'|(\d+)", expected)]


def _named(path: Path) -> str:
    return f"`{'.'.join(map(str, path))}`" if path else "the spec"


def _either(words: Sequence[str], quote: str = "", joint: str = "or") -> str:
    *first, last = (f"{quote}{word}{quote}" for word in words)
    return f"{', '.join(first)} {joint} {last}" if first else last
