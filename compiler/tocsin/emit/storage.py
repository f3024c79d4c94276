"""A server's storage in its configuration: how long it keeps, and what it writes to which store."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.emit.text import scalar

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from tocsin.emit.text import Lines
    from tocsin.plan.servers import Relabel, RemoteWrite, Server


def storage(lines: Lines, server: Server, relabel: Callable[[Relabel], Iterable[str]]) -> None:
    """`storage` and `remote_write`, where there is something to say."""
    if server.kept:
        lines.add("storage:")
        lines.add("  tsdb:")
        lines.add("    retention:")
        lines.add(f"      time: {server.kept.time}")
        if server.kept.size:
            lines.add(f"      size: {server.kept.size}")
    if server.remote_writes:
        lines.add("remote_write:")
    for write in server.remote_writes:
        lines.at(write.origin)
        _write(lines, write)
        for index, step in enumerate(write.relabel):
            if not index:
                lines.add("  write_relabel_configs:")
            lines.add(f"  - {{{', '.join(relabel(step))}}}")


def _write(lines: Lines, write: RemoteWrite) -> None:
    lines.add(f"- name: {scalar(write.name)}")
    lines.field("  ", "url", write.url)
    if write.tenant:
        lines.add(f"  headers: {{X-Scope-OrgID: {scalar(write.tenant)}}}")
    if write.token_file:
        lines.add(f"  authorization: {{credentials_file: {scalar(write.token_file)}}}")
    if write.username:
        password = f"password_file: {scalar(write.password_file)}"
        lines.add(f"  basic_auth: {{username: {scalar(write.username)}, {password}}}")
    if write.native:
        lines.add("  send_native_histograms: true")
    limits = []
    if write.max_shards is not None:
        limits.append(f"max_shards: {write.max_shards}")
    if write.max_age is not None:
        limits.append(f"sample_age_limit: {write.max_age}")
    if limits:
        lines.add(f"  queue_config: {{{', '.join(limits)}}}")
