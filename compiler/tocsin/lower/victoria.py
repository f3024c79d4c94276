"""VictoriaMetrics: an instance a store, with filters where the Enterprise edition has them, and vmagent's writes.

Sources of the arguments: docs.victoriametrics.com, #retention, #retention-filters, #downsampling, #deduplication,
vmagent, vmalert.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from tocsin.lower.tiers import PERIOD_PACE, in_one_unit, names_of, recorded_names, selection
from tocsin.plan.programs import ArgumentFile, SettingsFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.retention import Store, Tier
    from tocsin.plan.rules import RuleFile
    from tocsin.units import Duration

_FOLDER = "long_term/victoriametrics/"
_NOTE = "How {} is started, beside the arguments of its place (paths, addresses)."


def arguments(factory: Factory, periods: Mapping[str, RuleFile]) -> Iterator[ArgumentFile]:
    """One file an instance, one of vmagent, one of vmalert for each tier that rules look back on."""
    tiers = [(tier, tier.store) for tier in factory.retention.tiers if tier.store]
    instances: dict[str, list[Tier]] = {}
    for tier, store in tiers:
        instances.setdefault(store.url, []).append(tier)
    for shared in instances.values():
        note = _NOTE.format("VictoriaMetrics")
        yield ArgumentFile(
            f"{_FOLDER}vmsingle-{shared[0].name}.yml", note, tuple(_instance(factory, shared)), shared[0].origin
        )
    note = _NOTE.format("vmagent, where it scrapes in Prometheus' place,")
    yield ArgumentFile(f"{_FOLDER}vmagent.yml", note, tuple(_writes(factory, tiers)), tiers[0][0].origin)
    for tier, store in tiers:
        if tier.name in periods:
            note, found = _NOTE.format("vmalert"), _vmalert(store, periods[tier.name])
            yield ArgumentFile(f"{_FOLDER}vmalert-{tier.name}.yml", note, found, tier.origin)


def relabel_files(factory: Factory, rules: Iterable[RuleFile]) -> Iterator[SettingsFile]:
    """What vmagent writes to each store that does not get everything."""
    recorded = recorded_names(rules)
    for tier in factory.retention.tiers:
        steps = [
            {"action": step.action, "source_labels": list(step.source), "regex": step.regex}
            for step in selection(factory, tier, recorded)
        ]
        if steps:
            note = f"What vmagent leaves of all series: those that the tier {tier.name} holds."
            yield SettingsFile(_relabel_path(tier), note, steps, tier.origin)


def _relabel_path(tier: Tier) -> str:
    return f"{_FOLDER}vmagent-{tier.name}.relabel.yml"


def _instance(factory: Factory, tiers: Sequence[Tier]) -> Iterator[str]:
    """A tier of all series may share its instance with tiers of some: of the filters that match, the smallest holds."""
    longest = max(tier.keep for tier in tiers)
    if factory.servers.replicas > 1:
        # Of what two replicas write, one sample an interval stays; with a longer one, jobs that are scraped more often
        # would lose some.
        yield f"-dedup.minScrapeInterval={_shortest(factory)}"
    yield f"-retentionPeriod={in_one_unit(longest)}"
    for tier in tiers:
        longer = {name for other in tiers if other.keep > tier.keep for name in other.metrics}
        if tier.keep < longest and (tier.series == "all" or set(tier.metrics) - longer):
            yield f"-retentionFilter={_matcher(tier, longer)}:{in_one_unit(tier.keep)}"
        if tier.resolution != "full":
            others = {name for other in tiers if other is not tier for name in other.metrics}
            where = f"{_matcher(tier, others)}:" if len(tiers) > 1 else ""
            yield f"-downsampling.period={where}{in_one_unit(factory.retention.hot.keep)}:{tier.resolution}"


def _shortest(factory: Factory) -> Duration:
    """The shortest interval that anything is scraped or recorded at."""
    found = [factory.interval, *([factory.deep.interval] if factory.deep else [])]
    for cluster in factory.clusters.values():
        found += [job.interval for job in cluster.jobs]
        found += [exporter.interval for exporter in cluster.exporters]
    return min(found)


def _matcher(tier: Tier, but: set[str]) -> str:
    """A selector of what is in the tier and in none that goes before it."""
    if tier.series == "all":
        return f'{{__name__!~"{names_of(sorted(but))}"}}'
    return f'{{__name__=~"{names_of([name for name in tier.metrics if name not in but])}"}}'


def _writes(factory: Factory, tiers: Sequence[tuple[Tier, Store]]) -> Iterator[str]:
    """Targets of vmagent. What is said of each goes by its order, so an argument is given to all or to none."""
    for tier, store in tiers:
        yield f"-remoteWrite.url={_item(store.url)}"
        yield f"-remoteWrite.urlRelabelConfig={_item(_relabel_path(tier) if _is_selective(factory, tier) else '')}"
    for name, values in (
        ("bearerTokenFile", [store.token_file for _, store in tiers]),
        ("basicAuth.username", [store.username for _, store in tiers]),
        ("basicAuth.passwordFile", [store.password_file for _, store in tiers]),
    ):
        if any(values):
            yield from (f"-remoteWrite.{name}={_item(value)}" for value in values)


def _item(value: str) -> str:
    """A value of an argument that is a list: quoted where it would be read as several, or, empty, as none at all."""
    return json.dumps(value, ensure_ascii=False) if not value or set(value) & set(",'\"{[(\n") else value


def _is_selective(factory: Factory, tier: Tier) -> bool:
    return tier.series != "all" or bool(factory.retention.restricted)


def _vmalert(store: Store, file: RuleFile) -> tuple[str, ...]:
    base = store.url.removesuffix("/api/v1/write")
    return (
        f"-rule={file.path}",
        f"-evaluationInterval={PERIOD_PACE}",
        f"-datasource.url={base}",
        f"-remoteWrite.url={base}",
    )
