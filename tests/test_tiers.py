"""Retention tiers: what every store is told, by its own documentation, and that nothing looks back on what is gone.

Thanos, Mimir, Cortex, VictoriaMetrics and Loki are not run here. What is written for them is compared with what is
expected word by word, and each name with a list that says where its documentation has it.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import pytest

from conftest import ROOT
from tier_specs import ECC, HOT, KINDS, RECEIVE, XID, arguments, compiled, configurations, said, settings
from tocsin import versions
from tocsin.diagnostics import Log
from tocsin.pipeline import compile_spec
from tocsin.plan.rules import Record
from tocsin.promql import Range, Subquery, parse, walk
from tocsin.verify import Tool as Judge
from tocsin.verify import verify

if TYPE_CHECKING:
    from pathlib import Path

    from tocsin.pipeline import Compiled
    from toolbox import Tool

_THANOS, _VICTORIA = "thanos.io/tip/components/", "docs.victoriametrics.com/victoriametrics/"
SOURCES = {
    "--storage.tsdb.retention.time": "prometheus.io/docs/prometheus/latest/storage/",
    "--storage.tsdb.retention.size": "prometheus.io/docs/prometheus/latest/storage/",
    "--web.enable-remote-write-receiver": "prometheus.io/docs/prometheus/latest/command-line/prometheus/",
    "--storage.tsdb.min-block-duration": f"{_THANOS}sidecar.md",
    "--storage.tsdb.max-block-duration": f"{_THANOS}sidecar.md",
    "--objstore.config-file": f"{_THANOS}sidecar.md",
    "--wait": f"{_THANOS}compact.md",
    "--downsampling.disable": f"{_THANOS}compact.md",
    "--retention.resolution-raw": f"{_THANOS}compact.md",
    "--retention.resolution-5m": f"{_THANOS}compact.md",
    "--retention.resolution-1h": f"{_THANOS}compact.md",
    "--query.replica-label": f"{_THANOS}query.md",
    "--query.auto-downsampling": f"{_THANOS}query.md",
    # Not shown by --help: pkg "cmd/thanos/query.go" of thanos-io/thanos registers it.
    "--query.instant.default.max_source_resolution": "github.com/thanos-io/thanos/blob/main/cmd/thanos/query.go",
    "--label": f"{_THANOS}rule.md",
    "--rule-file": f"{_THANOS}rule.md",
    "--eval-interval": f"{_THANOS}rule.md",
    "--query": f"{_THANOS}rule.md",
    "-retentionPeriod": f"{_VICTORIA}#retention",
    "-retentionFilter": f"{_VICTORIA}#retention-filters",
    "-downsampling.period": f"{_VICTORIA}#downsampling",
    "-remoteWrite.url": f"{_VICTORIA}vmagent/",
    "-remoteWrite.urlRelabelConfig": f"{_VICTORIA}vmagent/",
    "-remoteWrite.basicAuth.username": f"{_VICTORIA}vmagent/",
    "-remoteWrite.basicAuth.passwordFile": f"{_VICTORIA}vmagent/",
    "-rule": f"{_VICTORIA}vmalert/",
    "-evaluationInterval": f"{_VICTORIA}vmalert/",
    "-datasource.url": f"{_VICTORIA}vmalert/",
    "compactor_blocks_retention_period": "grafana.com/docs/mimir/latest/configure/configure-metrics-storage-retention",
    "max_query_lookback": "grafana.com/docs/mimir/latest/configure/configuration-parameters/",
    "retention_enabled": "grafana.com/docs/loki/latest/operations/storage/retention/",
    "delete_request_store": "grafana.com/docs/loki/latest/operations/storage/retention/",
    "retention_period": "grafana.com/docs/loki/latest/operations/storage/retention/",
    "retention_stream": "grafana.com/docs/loki/latest/operations/storage/retention/",
}
SPECS = sorted((ROOT / "specs").glob("*.yaml"))


@pytest.fixture(params=KINDS)
def kind(request: pytest.FixtureRequest) -> str:
    return str(request.param)


def test_every_argument_and_setting_is_documented(tmp_path: Path) -> None:
    """And nothing is documented that is not written."""
    found = set()
    for kind, tiers in KINDS.items():
        spec = said(kind, tiers) | {"logs": {"keep": "31d", "errors": "90d", "object_store": "s3"}}
        result = compiled(tmp_path, spec)
        found |= {one.partition("=")[0] for file in arguments(result).values() for one in file if one.startswith("-")}
        for path, tree in settings(result).items():
            found |= set(re.findall(r"'(\w+_\w+)':", str(tree))) - {"limits_config", "source_labels"}
            assert not path.endswith(".relabel.yml") or isinstance(tree, list)
    found |= {one for one in arguments(compiled(tmp_path, only_full()))["long_term/thanos/compact.yml"] if "dow" in one}
    assert found == SOURCES.keys()


def only_full() -> dict[str, Any]:
    return said("thanos", {"hot": HOT, "raw": {"keep": "1y"}})


# --- each store -------------------------------------------------------------------------------------------------------


def test_thanos_keeps_each_resolution_as_long_as_said_and_none_for_ever(tmp_path: Path) -> None:
    found = arguments(compiled(tmp_path, said("thanos", KINDS["thanos"])))
    bucket, own = (f"--objstore.config-file=/etc/thanos/bucket{name}.yml" for name in ("", "-evidence"))
    assert {path.removeprefix("long_term/thanos/"): args for path, args in found.items()} == {
        "start/prometheus/east/prometheus.yml": [
            "--storage.tsdb.retention.time=7d",
            "--storage.tsdb.min-block-duration=2h",
            "--storage.tsdb.max-block-duration=2h",
        ],
        "sidecar.yml": ["sidecar", bucket],
        "store.yml": ["store", bucket],
        "compact.yml": [
            "compact",
            "--wait",
            "--retention.resolution-raw=7d",
            "--retention.resolution-5m=180d",
            "--retention.resolution-1h=730d",
            bucket,
        ],
        "receive-evidence.yml": ["receive", '--label=receive="evidence"', own],
        "store-evidence.yml": ["store", own],
        "compact-evidence.yml": [
            "compact",
            "--wait",
            "--downsampling.disable",
            "--retention.resolution-raw=365d",
            "--retention.resolution-5m=365d",
            "--retention.resolution-1h=365d",
            own,
        ],
        "query.yml": [
            "query",
            "--query.replica-label=receive",
            "--query.auto-downsampling",
            "--query.instant.default.max_source_resolution=1h",
        ],
        "rule-warm.yml": [
            "rule",
            "--rule-file=rules/slo_periods-warm.yml",
            "--eval-interval=1m",
            "--query=http://prometheus:9090",
            '--label=ruler="lab"',
            bucket,
        ],
    }


@pytest.mark.parametrize(
    ("tiers", "levels"),
    [
        ({"warm": {"resolution": "5m", "keep": "180d"}}, ("7d", "180d", "180d")),
        ({"raw": {"keep": "30d"}, "warm": {"resolution": "5m", "keep": "180d"}}, ("30d", "180d", "180d")),
        ({"cold": {"resolution": "1h", "keep": "2y"}}, ("7d", "10d", "730d")),  # 5m blocks until 1h ones are made
        ({"raw": {"keep": "1y"}}, ("365d", "365d", "365d")),
    ],
)
def test_what_a_level_is_made_of_lives_until_it_is_made(
    tmp_path: Path, tiers: dict[str, Any], levels: tuple[str, ...]
) -> None:
    found = arguments(compiled(tmp_path, said("thanos", {"hot": HOT, **tiers})))["long_term/thanos/compact.yml"]
    wanted = zip(("raw", "5m", "1h"), levels, strict=True)
    assert [one for one in found if "retention" in one] == [f"--retention.resolution-{key}={k}" for key, k in wanted]


def test_mimir_and_cortex_keep_by_tenant(tmp_path: Path) -> None:
    result = compiled(tmp_path, said("mimir", KINDS["mimir"]))
    assert settings(result) == {
        "long_term/mimir/overrides.yml": {
            "overrides": {
                "people": {"compactor_blocks_retention_period": "30d", "max_query_lookback": "30d"},
                "gpu": {"compactor_blocks_retention_period": "180d", "max_query_lookback": "180d"},
            }
        }
    }
    result = compiled(tmp_path, said("cortex", KINDS["cortex"]))
    assert [*settings(result)] == ["long_term/cortex/overrides.yml"]
    text = next(one.text for one in result.artifacts if one.path == "long_term/cortex/overrides.yml")
    assert "# The ruler of tenant few evaluates rules/slo_periods-few.yml." in text


def test_victoriametrics_enterprise_tells_series_apart_by_filters(tmp_path: Path) -> None:
    """The smallest matching filter holds, so what lives longer is left out of each."""
    result = compiled(tmp_path, said("victoriametrics", KINDS["victoriametrics"]))
    found = {path.rpartition("/")[2]: args for path, args in arguments(result).items() if path.startswith("long")}
    both = f"{ECC}|{XID}"
    assert found == {
        "vmsingle-warm.yml": [
            "-retentionPeriod=730d",
            f'-retentionFilter={{__name__!~"{both}"}}:180d',
            f'-downsampling.period={{__name__!~"{both}"}}:7d:5m',
        ],
        "vmsingle-people.yml": ["-retentionPeriod=30d"],
        "vmagent.yml": [
            *("-remoteWrite.url=http://people:8428/api/v1/write",),
            "-remoteWrite.urlRelabelConfig=long_term/victoriametrics/vmagent-people.relabel.yml",
            *("-remoteWrite.url=http://victoria:8428/api/v1/write",),
            "-remoteWrite.urlRelabelConfig=long_term/victoriametrics/vmagent-warm.relabel.yml",
            *("-remoteWrite.url=http://victoria:8428/api/v1/write",),
            "-remoteWrite.urlRelabelConfig=long_term/victoriametrics/vmagent-evidence.relabel.yml",
            *("-remoteWrite.url=http://victoria:8428/api/v1/write",),
            "-remoteWrite.urlRelabelConfig=long_term/victoriametrics/vmagent-proof.relabel.yml",
            *("-remoteWrite.basicAuth.username=tocsin", *['-remoteWrite.basicAuth.username=""'] * 3),
            *("-remoteWrite.basicAuth.passwordFile=secrets/people", *['-remoteWrite.basicAuth.passwordFile=""'] * 3),
        ],
        "vmalert-warm.yml": [
            "-rule=rules/slo_periods-warm.yml",
            "-evaluationInterval=1m",
            "-datasource.url=http://victoria:8428",
            "-remoteWrite.url=http://victoria:8428",
        ],
    }
    relabel = settings(result)["long_term/victoriametrics/vmagent-evidence.relabel.yml"]
    assert relabel == [{"action": "keep", "source_labels": ["__name__"], "regex": XID}]


def test_what_replicas_write_is_one_in_victoriametrics(tmp_path: Path) -> None:
    """It takes for duplicates what has the same labels, so these lose the replica's; one server needs nothing of it."""
    spec = said("victoriametrics", KINDS["victoriametrics"])
    spec["collection"] = {"servers": {"replicas": 2}, "intervals": {"default": "15s", "inference": "5s"}}
    result = compiled(tmp_path, spec)
    for tier in ("warm", "people"):
        assert "-dedup.minScrapeInterval=5s" in arguments(result)[f"long_term/victoriametrics/vmsingle-{tier}.yml"]
    for server in configurations(result).values():
        steps = [write["write_relabel_configs"][-1] for write in server["remote_write"]]
        assert steps == [{"regex": "replica", "action": "labeldrop"}] * 4


def test_the_order_of_vmagents_targets_survives_what_is_not_said(tmp_path: Path) -> None:
    """Releases differ on an empty value, which some leave out of the list; a comma begins the next item."""
    basic = {"username": "a,b", "password_file": "secrets/b"}
    tiers = {"hot": HOT, "all": {"keep": "30d", "store": {"url": "http://all/w"}}}
    tiers["own"] = {"keep": "1y", "signals": ["xid"], "store": {"url": "http://own/w", "basic_auth": basic}}
    spec = said("victoriametrics", tiers)
    found = arguments(compiled(tmp_path, spec))["long_term/victoriametrics/vmagent.yml"]
    names = [one for one in found if "username" in one]
    assert names == ['-remoteWrite.basicAuth.username=""', '-remoteWrite.basicAuth.username="a,b"']


def test_what_is_no_whole_day_is_told_in_hours(tmp_path: Path) -> None:
    """Not every store reads two units in one period; rounding up keeps what was asked for."""
    logs = {"keep": "36h", "errors": "2d12h30m", "object_store": "gcs"}
    limits = settings(compiled(tmp_path, said("", {}) | {"logs": logs}))["long_term/loki.yml"]["limits_config"]
    assert (limits["retention_period"], limits["retention_stream"][0]["period"]) == ("36h", "61h")


def test_loki_keeps_errors_longer(tmp_path: Path) -> None:
    logs = {"keep": "31d", "errors": "90d", "selector": '{level="error", job="kmsg"}', "object_store": "s3"}
    assert settings(compiled(tmp_path, said("", {}) | {"logs": logs})) == {
        "long_term/loki.yml": {
            "compactor": {"retention_enabled": True, "delete_request_store": "s3"},
            "limits_config": {
                "retention_period": "31d",
                "retention_stream": [{"selector": logs["selector"], "priority": 1, "period": "90d"}],
                "max_query_lookback": "90d",
            },
        }
    }


def test_every_tier_that_is_looked_back_on_has_its_rules_and_who_evaluates_them(tmp_path: Path, kind: str) -> None:
    """Of two SLOs each is computed in the shortest tier that lasts, and no file is written twice."""
    by_kind: dict[str, list[dict[str, Any]]] = {
        "prometheus": [{"store": {"url": f"http://{name}/w"}} for name in ("a", "b")],
        "thanos": [{"resolution": "5m"}, {"resolution": "1h"}],
        "mimir": [{"store": {"url": "http://mimir/w", "tenant": name}} for name in ("a", "b")],
        "cortex": [{"store": {"url": "http://cortex/w", "tenant": name}} for name in ("a", "b")],
        "victoriametrics": [{"store": {"url": f"http://{name}/api/v1/write"}} for name in ("a", "b")],
    }
    a, b = by_kind[kind]
    spec = said(kind, {"hot": HOT, "vmagent": {"keep": "30d", **a}, "later": {"keep": "1y", **b}})
    spec["slos"]["long"] = {**spec["slos"]["chat"], "period": "90d"}
    result = compiled(tmp_path, spec)
    paths = [one.path for one in result.artifacts]
    assert len(set(paths)) == len(paths)
    groups = {file.name: [group.name for group in file.groups] for file in result.plan.rules if "periods" in file.name}
    assert groups == {"slo_periods-vmagent": ["slo-chat-period"], "slo_periods-later": ["slo-long-period"]}
    others = "".join(
        one.text for one in result.artifacts if one.path.startswith(("long_term/", "prometheus/long_term/"))
    )
    assert all(f"rules/{name}.yml" in others for name in groups)


# --- remote_write -----------------------------------------------------------------------------------------------------


def writes(result: Compiled) -> dict[str, Any]:
    (found,) = [one["remote_write"] for one in configurations(result).values() if "scrape_configs" in one]
    return {write["name"]: write for write in found}


def test_each_tier_is_written_its_own_series(tmp_path: Path) -> None:
    """Restricted ones to their own store, and to no other."""
    result = compiled(tmp_path, said("prometheus", KINDS["prometheus"]))
    found, restricted = writes(result), result.factory.retention.restricted
    waits = {f"user_wait_seconds_{part}" for part in ("bucket", "count", "sum")}
    assert {"logged_in_users", *waits} <= set(restricted)
    people = "|".join(restricted)
    steps = {name: write["write_relabel_configs"] for name, write in found.items()}
    name = {"source_labels": ["__name__"]}
    assert steps == {
        "all": [{**name, "regex": people, "action": "drop"}],
        "people": [{**name, "regex": people, "action": "keep"}],
        "few": [{**name, "regex": "(gpu|node|slo):.+", "action": "keep"}],
        "evidence": [{**name, "regex": f"{ECC}|{XID}", "action": "keep"}],
    }


def test_a_store_is_told_the_tenant_and_only_ever_files_of_secrets(tmp_path: Path) -> None:
    people = writes(compiled(tmp_path, said("mimir", KINDS["mimir"])))["people"]
    assert people["headers"] == {"X-Scope-OrgID": "people"}
    assert people["authorization"] == {"credentials_file": "token"}
    people = writes(compiled(tmp_path, said("victoriametrics", KINDS["victoriametrics"])))["people"]
    assert people["basic_auth"] == {"username": "tocsin", "password_file": "secrets/people"}
    assert people["queue_config"] == {"max_shards": 4}


@pytest.mark.parametrize("spec", SPECS, ids=lambda spec: spec.stem)
def test_recorded_series_are_told_from_all_others_by_their_names(spec: Path) -> None:
    """Whatever is recorded is kept, and none of what is scraped."""
    from tocsin.lower.tiers import recorded_names

    result = compile_spec(str(spec), Log(), {})
    assert result is not None
    rules = [file for file in result.plan.rules if not file.name.startswith("slo_periods")]
    rule = re.compile(recorded_names(rules))
    records = {one.name for file in rules for group in file.groups for one in group.rules if isinstance(one, Record)}
    assert records
    assert [name for name in records if not rule.fullmatch(name)] == []
    assert [name for name in (*result.factory.metrics, "up", "ALERTS") if rule.fullmatch(name)] == []


# --- ranges and versions ----------------------------------------------------------------------------------------------


def test_nothing_looks_back_on_what_is_gone(tmp_path: Path) -> None:
    """With the shortest tier that is accepted: three days for the alerts, and the period where it is kept."""
    tiers = {"hot": {"keep": "3d"}, "warm": {"resolution": "5m", "keep": "28d"}}
    result = compiled(tmp_path, said("thanos", tiers))
    retention = result.factory.retention
    looked = 0
    for file in result.plan.rules:
        kept = retention.tiers[0].keep if file.name == "slo_periods-warm" else retention.hot.keep
        for rule in (rule for group in file.groups for rule in group.rules):
            ranges = [node for node in walk(parse(rule.expr)) if isinstance(node, Range | Subquery)]
            assert all(node.duration.milliseconds <= kept for node in ranges), rule.expr
            looked += len(ranges)
    assert looked > 20
    served = [path for server in result.plan.servers for path in server.rule_files]
    assert "rules/slo_periods-warm.yml" not in served


def test_without_tiers_the_servers_keep_as_long_as_the_longest_slo(tmp_path: Path) -> None:
    found = arguments(compiled(tmp_path, said("", {})))
    assert found == {"start/prometheus/east/prometheus.yml": ["--storage.tsdb.retention.time=28d"]}


@pytest.mark.parametrize("release", ["2.42", "2.53", "3.5", "3.8", "3.10", "3.11", "3.14"])
def test_retention_is_a_flag_until_the_file_can_be_trusted(tmp_path: Path, release: str, kind: str) -> None:
    """3.8 to 3.10 would keep a million times longer than what the file says."""
    result = compiled(tmp_path, said(kind, KINDS[kind], release))
    in_file = versions.parse(release) >= (3, 11)
    for path, configuration in configurations(result).items():
        flags = [one for one in arguments(result)[f"start/{path}"] if "retention" in one]
        assert bool(flags) is not in_file
        assert ("storage" in configuration) is in_file
    if kind == "prometheus":
        kept = {"time": "7d", "size": "400GB"}
        told = dict(
            one.removeprefix("--storage.tsdb.retention.").split("=") for one in scrapers(result) if "ret" in one
        )
        assert (configurations(result)["prometheus/east/prometheus.yml"].get("storage"), told) == (
            ({"tsdb": {"retention": kept}}, {}) if in_file else (None, kept)
        )


def scrapers(result: Compiled) -> list[str]:
    return arguments(result)["start/prometheus/east/prometheus.yml"]


def test_every_promtool_takes_what_is_written_for_the_oldest(
    tmp_path: Path, kind: str, promtool: Tool, newest: dict[str, Tool]
) -> None:
    """And so nothing in it is newer than 2.42; the rules of the periods are judged with all others."""
    result = compiled(tmp_path, said(kind, KINDS[kind], "2.42"))
    assert judged(result, promtool, newest["amtool"]) == []


def test_what_a_queue_may_have_depends_on_the_target(tmp_path: Path, promtool: Tool, newest: dict[str, Tool]) -> None:
    """A limit of age is refused by a promtool that is older than the release that the spec has to name for it."""
    store = {"url": "http://long:9090/api/v1/write", "queue": {"max_age": "2h"}}
    result = compiled(tmp_path, said("prometheus", {"hot": HOT, "long": {"keep": "1y", "store": store}}, "2.53"))
    assert writes(result)["long"]["queue_config"] == {"sample_age_limit": "2h"}
    found = judged(result, promtool, newest["amtool"])
    assert bool(found) is (promtool.version < (2, 50))
    assert all("sample_age_limit" in one for one in found)


def judged(result: Compiled, promtool: Tool, amtool: Tool) -> list[str]:
    """What the tools say of all but the tests of the alerts, which tiers do not change."""
    wanted = [one for one in result.artifacts if not one.path.startswith("tests/")]
    log = Log()
    tools = (Judge(tool.name, str(tool.path), ".".join(map(str, tool.version))) for tool in (promtool, amtool))
    verify(wanted, *tools, log)
    return [one.message for one in log.sorted()]


def test_restricted_series_are_not_in_a_bucket_of_whole_blocks(tmp_path: Path) -> None:
    """Where they have their own store, all others are written to Receive, without them."""
    people = {"keep": "30d", "series": "restricted", "store": {"url": "http://people:19291/api/v1/receive"}}
    tiers = {"hot": HOT, "warm": {"resolution": "5m", "keep": "180d", "store": RECEIVE}, "people": people}
    result = compiled(tmp_path, said("thanos", tiers))
    found = writes(result)
    assert [step["action"] for name in ("warm", "people") for step in found[name]["write_relabel_configs"]] == [
        "drop",
        "keep",
    ]
    assert "long_term/thanos/sidecar.yml" not in arguments(result)
    assert scrapers(result) == ["--storage.tsdb.retention.time=7d"]  # blocks may be merged where nobody uploads them
