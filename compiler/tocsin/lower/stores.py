"""Long-term stores: the arguments and settings that make Thanos, Mimir, Cortex, VictoriaMetrics and Loki keep tiers."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tocsin.lower import thanos, victoria
from tocsin.lower.tiers import in_one_unit
from tocsin.plan.programs import SettingsFile

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from tocsin.factory import Factory
    from tocsin.factory.retention import Logs
    from tocsin.plan.programs import ArgumentFile
    from tocsin.plan.rules import RuleFile
    from tocsin.plan.servers import Server


def store_arguments(
    factory: Factory, servers: Sequence[Server], periods: Mapping[str, RuleFile]
) -> tuple[ArgumentFile, ...]:
    """How the programs of a store are started."""
    match factory.targets.long_term:
        case "thanos":
            return tuple(thanos.arguments(factory, servers, periods))
        case "victoriametrics":
            return tuple(victoria.arguments(factory, periods))
    return ()


def store_settings(
    factory: Factory, rules: Iterable[RuleFile], periods: Mapping[str, RuleFile]
) -> tuple[SettingsFile, ...]:
    """Files of settings: of Mimir's or Cortex' tenants, of vmagent's writes, of Loki."""
    found = []
    if factory.targets.long_term in ("mimir", "cortex"):
        found.append(_overrides(factory, factory.targets.long_term, periods))
    if factory.targets.long_term == "victoriametrics":
        found += victoria.relabel_files(factory, rules)
    if factory.retention.logs:
        found.append(_loki(factory.retention.logs))
    return tuple(found)


def _overrides(factory: Factory, kind: str, periods: Mapping[str, RuleFile]) -> SettingsFile:
    """Runtime overrides, a tenant a tier; a general limit would delete what other factories keep in the same store.

    Source: grafana.com/docs/mimir/latest/configure/configure-metrics-storage-retention; Cortex has the same names.
    """
    tenants = {
        tier.store.tenant: {
            "compactor_blocks_retention_period": in_one_unit(tier.keep),
            # Blocks go one by one: what is half deleted is not to be queried.
            "max_query_lookback": in_one_unit(tier.keep),
        }
        for tier in factory.retention.tiers
        if tier.store
    }
    note = "Tenants and how long they keep: one of the files of -runtime-config.file."
    for tier in factory.retention.tiers:
        if tier.store and tier.name in periods:
            note += f"\nThe ruler of tenant {tier.store.tenant} evaluates {periods[tier.name].path}."
    return SettingsFile(
        f"long_term/{kind}/overrides.yml", note, {"overrides": tenants}, factory.retention.tiers[0].origin
    )


def _loki(logs: Logs) -> SettingsFile:
    """Source: grafana.com/docs/loki/latest/operations/storage/retention."""
    settings = {
        "compactor": {"retention_enabled": True, "delete_request_store": logs.object_store},
        "limits_config": {
            "retention_period": in_one_unit(logs.keep),
            "retention_stream": [{"selector": logs.selector, "priority": 1, "period": in_one_unit(logs.errors)}],
            "max_query_lookback": in_one_unit(logs.errors),
        },
    }
    note = "How long Loki keeps lines: these keys belong into its configuration. The index period must be 24h."
    return SettingsFile("long_term/loki.yml", note, settings, logs.origin)
