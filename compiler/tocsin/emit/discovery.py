"""Discovery in Prometheus' configuration: one source of targets a job."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.emit.text import scalar

if TYPE_CHECKING:
    from tocsin.emit.text import Lines
    from tocsin.plan.servers import Discovery


def discovery(lines: Lines, source: Discovery) -> None:
    """The block of a source, one field a line."""
    lines.add(f"  {source.kind}_sd_configs:")
    for index, (field, value) in enumerate(source.settings.items()):
        lines.add(f"  {' ' if index else '-'} {field}: {_inline(value)}")


def _inline(value: object) -> str:
    """A setting on one line: a text, a number, a list, or fields of its own."""
    if isinstance(value, dict):
        return f"{{{', '.join(f'{scalar(key)}: {_inline(item)}' for key, item in value.items())}}}"
    if isinstance(value, tuple):
        return f"[{', '.join(map(_inline, value))}]"
    return scalar(value) if isinstance(value, str) else str(value)
