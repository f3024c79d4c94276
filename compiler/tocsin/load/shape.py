"""The shape of the language: which type stands below a path, and which keys are known there."""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any, get_args, get_origin

from pydantic import BaseModel

from tocsin.spec import Spec

if TYPE_CHECKING:
    from collections.abc import Iterator

    from pydantic.fields import FieldInfo

    from tocsin.document import Path
    from tocsin.source import Node


def is_model(shape: Any) -> bool:
    """Whether a type is a section with fixed keys."""
    return isinstance(shape, type) and issubclass(shape, BaseModel)


def child(shape: Any, step: str | int) -> Any:
    """The type below a type: a section's field, a mapping's or list's values; None below a scalar."""
    if is_model(shape):
        field = _fields(shape).get(step)
        annotation: Any = field.annotation if field is not None else None
        return _without_none(annotation)
    return _values(shape)


@cache
def _fields(shape: Any) -> dict[str | int, FieldInfo]:
    """A section's fields by their names in the spec; none of another shape."""
    fields = shape.model_fields.items() if is_model(shape) else ()
    return {field.alias or name: field for name, field in fields}


@cache
def _values(shape: Any) -> Any:
    """The type of a mapping's or list's values; None below a scalar."""
    arguments = get_args(shape)
    return _without_none(arguments[-1]) if arguments else None


def shape_at(path: Path) -> Any:
    """The type that stands at a path."""
    shape: Any = Spec
    for step in path:
        shape = child(shape, step)
    return shape


def known_keys(path: Path) -> list[str]:
    """The keys of the section at a path; none where the keys are names that people choose."""
    shape = shape_at(path)
    return [field.alias or name for name, field in shape.model_fields.items()] if is_model(shape) else []


def required_keys(path: Path) -> list[str]:
    """The keys that the section at a path cannot do without."""
    shape = shape_at(path)
    fields = shape.model_fields.items() if is_model(shape) else ()
    return [field.alias or name for name, field in fields if field.is_required()]


def has_entries(path: Path) -> bool:
    """Whether the keys at a path are names that people choose."""
    return get_origin(shape_at(path)) is dict


def optional(path: Path) -> Path:
    """The smallest part around a path that the spec can do without: a named entry, or a key with a default."""
    found: Path = ()
    shape: Any = Spec
    for depth, step in enumerate(path):
        field = _fields(shape).get(step)
        if get_origin(shape) is dict or (field is not None and not field.is_required()):
            found = path[: depth + 1]
        shape = child(shape, step)
    return found


def nameless(node: Node, shape: Any = Spec, path: Path = ()) -> Iterator[tuple[Path, str]]:
    """Mappings of entries that hold the keys of one, where its name was forgotten: their path, and its first key."""
    if node.kind != "mapping" or shape is None:
        return
    if get_origin(shape) is dict:
        known = known_keys((*path, ""))
        found = [key for key in node.entries if key in known]
        if len(found) > max(1, len(node.entries) // 2):
            yield path, found[0]
            return
    for key, (_, value) in node.entries.items():
        yield from nameless(value, child(shape, key), (*path, key))


def sunken(node: Node, shape: Any = Spec, path: Path = ()) -> Iterator[Path]:
    """Named entries that have the name of a key one level above, and hold nothing that an entry would: their paths."""
    if node.kind != "mapping" or shape is None:
        return
    above = known_keys(path[:-1]) if get_origin(shape) is dict and path else ()
    for key, (_, value) in node.entries.items():
        entry, inner = (*path, key), child(shape, key)
        if key in above and is_model(inner) and value.entries and value.entries.keys().isdisjoint(known_keys(entry)):
            yield entry
        else:
            yield from sunken(value, inner, entry)


@cache
def _without_none(annotation: Any) -> Any:
    """`X | None` as X."""
    choices = [a for a in get_args(annotation) if a is not type(None)]
    return choices[0] if len(choices) == 1 and len(get_args(annotation)) == 2 else annotation
