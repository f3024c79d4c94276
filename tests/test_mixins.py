"""Mixins: rules that others wrote, with our owners, severities and names; and our own rules as a mixin."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from functools import cache
from typing import TYPE_CHECKING, Any

import _jsonnet
import pytest
import yaml

from conftest import ROOT
from tocsin.check.mixins import asked
from tocsin.cli import run
from tocsin.diagnostics import Log
from tocsin.document import Made
from tocsin.pipeline import compile_spec
from tocsin.plan.rules import Alert
from tocsin.source import Source

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from tocsin.pipeline import Compiled
    from toolbox import Tool

CASE = ROOT / "tests" / "cases" / "mixins"
TEXT = (CASE / "spec.yaml").read_text("utf-8")
MIXIN = "mixins/hosts/mixin.libsonnet"


def compiled(folder: Path, text: str = TEXT, **files: str) -> tuple[Compiled | None, Log]:
    """The case in a folder of its own, with some of its files written anew."""
    shutil.copytree(CASE, folder, dirs_exist_ok=True, ignore=shutil.ignore_patterns("out"))
    (folder / "spec.yaml").write_text(text, "utf-8")
    for name, content in files.items():
        (folder / "mixins" / "hosts" / f"{name}.libsonnet").write_text(content, "utf-8")
    log = Log()
    return compile_spec(str(folder / "spec.yaml"), log, {}), log


def whole(folder: Path, text: str = TEXT, **files: str) -> Compiled:
    made, log = compiled(folder, text, **files)
    assert made is not None, log.sorted()
    return made


def rules(made: Compiled) -> dict[str, dict[str, Any]]:
    """What Prometheus reads, by path."""
    return {one.path: yaml.safe_load(one.text) for one in made.artifacts if one.path.startswith("rules/")}


def alert(name: str, expr: str, **more: object) -> str:
    """A mixin of one alert."""
    rule = {"alert": name, "expr": expr, "labels": {"severity": "warning"}, **more}
    return json.dumps({"prometheusAlerts": {"groups": [{"name": "g", "rules": [rule]}]}})


def spec(entry: str) -> str:
    """The case's spec with another entry in place of its mixin, and no dashboards."""
    return re.sub(r"  hosts:\n.*?\n(?=alerting:)", f"  hosts: {entry}\n\n", TEXT, flags=re.DOTALL)


PLAIN = spec(f"{{path: {MIXIN}, owner: infra, layer: runtime}}")


# --- the case ---------------------------------------------------------------------------------------------------------


@cache
def case() -> Compiled:
    log = Log()
    made = compile_spec(str(CASE / "spec.yaml"), log, {})
    assert made is not None, log.sorted()
    assert log.sorted() == []
    return made


def test_it_comes_to_these_files(update: bool) -> None:
    parts = ("rules/mixin-", "grafana/dashboards/hosts/", "grafana/dashboards/teams/", "mixin/", "docs/runbooks/Host")
    made = {one.path: one.text for one in case().artifacts if one.path.startswith(parts)}
    assert len(made) == 10
    for path, text in made.items():
        golden = CASE / "out" / path
        if update:
            golden.parent.mkdir(parents=True, exist_ok=True)
            golden.write_text(text, "utf-8")
        assert text == golden.read_text("utf-8"), path
    assert {str(one.relative_to(CASE / "out")) for one in (CASE / "out").rglob("*") if one.is_file()} == made.keys()


def test_a_build_proves_it(newest: dict[str, Tool], tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["build", "--out", str(tmp_path), str(CASE / "spec.yaml")]) == 0, capsys.readouterr().out
    assert run(["build", "--check", "--out", str(tmp_path), str(CASE / "spec.yaml")]) == 0


def test_every_promtool_reads_the_rules_and_plays_them(promtool: Tool, tmp_path: Path) -> None:
    """One alert of the mixin fires, through a record of the mixin, with the labels that we put on it."""
    files = [one for one in case().artifacts if one.path.startswith("rules/mixin-")]
    for one in files:
        (tmp_path / one.path.rpartition("/")[2]).write_text(one.text, "utf-8")
    names = [one.path.rpartition("/")[2] for one in files]
    world = 'cluster="east", node="gpu-01", job="node", instance="gpu-01:9100"'
    at = {"cluster": "east", "node": "gpu-01", "job": "node", "instance": "gpu-01:9100"}
    ours = {"severity": "page", "owner": "infra", "layer": "runtime"}
    texts = {
        "summary": "A host has little memory left",
        "description": "gpu-01 has 1% of its memory left.",
        "runbook_url": "https://runbooks.example.com/infra/HostMemoryShort",
        "upstream_runbook_url": "https://example.com/mixins/hosts/HostMemoryShort",
        "dashboard_url": "https://grafana.example.com/d/lab-operations?var-cluster=east&var-node=gpu-01",
    }
    test = {
        "rule_files": names,
        "evaluation_interval": "1m",
        "tests": [
            {
                "interval": "1m",
                "input_series": [
                    {"series": f"node_memory_MemAvailable_bytes{{{world}}}", "values": "1x60"},
                    {"series": f"node_memory_MemTotal_bytes{{{world}}}", "values": "100x60"},
                ],
                "alert_rule_test": [
                    {"eval_time": "14m", "alertname": "HostMemoryShort", "exp_alerts": []},
                    {
                        "eval_time": "30m",
                        "alertname": "HostMemoryShort",
                        "exp_alerts": [{"exp_labels": {**at, **ours}, "exp_annotations": texts}],
                    },
                ],
            }
        ],
    }
    (tmp_path / "test.yml").write_text(json.dumps(test), "utf-8")
    for words in (["check", "rules", "--lint=all", "--lint-fatal", *names], ["test", "rules", "test.yml"]):
        done = subprocess.run([promtool.path, *words], cwd=tmp_path, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


def test_every_alert_has_an_owner_a_severity_and_a_way_on() -> None:
    alerts = [
        rule
        for path, file in rules(case()).items()
        for group in file["groups"]
        for rule in group["rules"]
        if "alert" in rule and path.startswith("rules/mixin-")
    ]
    told = {(one["alert"], one["labels"]["owner"], one["labels"]["severity"]) for one in alerts}
    assert told == {
        ("HostMemoryShort", "infra", "page"),  # `urgent`, by the spec
        ("HostMemoryPressure", "infra", "info"),  # what the spec says of this one
        ("HostFilesystemFull", "storage", "page"),  # the owner by the spec, `critical` as it usually is
        ("HostFilesystemFull", "storage", "ticket"),
    }
    for one in alerts:
        assert one["labels"]["layer"] == "runtime"
        assert one["annotations"]["runbook_url"].endswith(f"/{one['labels']['owner']}/{one['alert']}")
        assert one["annotations"]["dashboard_url"].startswith("https://grafana.example.com/d/lab-")
        assert one["annotations"]["summary"]
        assert one["annotations"]["description"]


def test_each_file_of_it_leads_back_to_the_mixin_in_the_spec() -> None:
    for one in case().artifacts:
        if one.path.startswith("rules/mixin-"):
            assert {place.route for _, place in one.origins} == {"mixins.hosts"}


def test_what_it_reads_is_collected() -> None:
    assert {"host_memory", "pressure", "filesystem", "gpu_temp"} <= case().factory.signals.keys()


# --- what the spec says of it -----------------------------------------------------------------------------------------


def made_alert(made: Compiled) -> Alert:
    (found,) = (
        rule
        for file in made.plan.rules
        if file.name.startswith("mixin-")
        for group in file.groups
        for rule in group.rules
        if isinstance(rule, Alert)
    )
    return found


@pytest.mark.parametrize(
    ("entry", "labels", "owner"),
    [
        ("owner: infra, layer: runtime", {"severity": "warning"}, "infra"),
        ("owner: infra, layer: runtime", {"severity": "warning", "owner": "storage"}, "storage"),
        ("layer: runtime", {"severity": "warning", "owner": "storage"}, "storage"),
        (
            "owner: storage, layer: runtime, alerts: {A: {owner: infra}}",
            {"severity": "warning", "owner": "storage"},
            "infra",
        ),
        ("layer: runtime, alerts: {A: {owner: infra}}", {"severity": "warning"}, "infra"),
        ("layer: runtime, alerts: {A: {owner: infra}}", {"severity": "warning", "owner": "who"}, "infra"),
    ],
)
def test_the_owner_is_the_one_who_is_named_most_closely(
    entry: str, labels: dict[str, str], owner: str, tmp_path: Path
) -> None:
    text = spec(f"{{path: {MIXIN}, {entry}}}")
    made = whole(tmp_path, text, mixin=alert("A", "up == 0", labels=labels))
    assert made_alert(made).labels["owner"] == owner


@pytest.mark.parametrize(
    ("entry", "written", "severity"),
    [
        ("", "critical", "page"),
        ("", "warning", "ticket"),
        ("", "info", "info"),
        ("", "page", "page"),
        ("severities: {critical: ticket}", "critical", "ticket"),
        ("severities: {P1: page}", "P1", "page"),
        ("severities: {critical: ticket}, alerts: {A: {severity: page}}", "critical", "page"),
        ("alerts: {A: {severity: info}}", "what", "info"),
    ],
)
def test_a_severity_is_what_the_spec_says_that_it_is(entry: str, written: str, severity: str, tmp_path: Path) -> None:
    text = spec(f"{{path: {MIXIN}, owner: infra, layer: runtime, {entry}}}")
    made = whole(tmp_path, text, mixin=alert("A", "up == 0", labels={"severity": written}))
    assert made_alert(made).labels["severity"] == severity


def test_a_setting_takes_the_place_of_the_mixins(tmp_path: Path) -> None:
    mixin = """
    {
      local c = $._config,
      _config+:: { a: 1, b: { c: 2, d: 3 }, e: 'x' },
      prometheusRules+:: { groups: [{ name: 'g', rules: [
        { record: 'a:b:c', expr: 'vector(%d) + %d' % [c.a, std.length(c.b)], labels: { e: c.e } },
      ] }] },
    }"""
    text = spec(f'{{path: {MIXIN}, owner: infra, layer: runtime, config: {{a: 5, b: {{c: 1}}, e: "it\'s \\""}}}}')
    made = rules(whole(tmp_path, text, mixin=mixin))
    ((group,),) = (file["groups"] for path, file in made.items() if path.startswith("rules/mixin-"))
    assert group["rules"] == [{"record": "a:b:c", "expr": "vector(5) + 1", "labels": {"e": "it's \""}}]


def test_an_included_file_may_name_one(tmp_path: Path) -> None:
    head, tail = TEXT.split("\nmixins:\n", 1)
    entry, rest = tail.split("\ndashboards:", 1)
    team = "mixins:\n" + entry
    (tmp_path / "team.yaml").write_text(team, "utf-8")
    text = head.replace("factory: lab\n", "factory: lab\ninclude: [team.yaml]\n") + "\ndashboards:" + rest
    assert rules(whole(tmp_path, text)) == rules(case())


# --- text that is none of our own -------------------------------------------------------------------------------------

ODD = [
    "a \"b\" 'c' \\ d",
    "x: y # no comment",
    "- one\n- two\n",
    "{{ $labels.node }}",
    "{{ $value | humanize }}{{ if $labels.node }} on {{ .Labels }}{{ end }}",
    ".*|^$|[[",
    "%(x)s ${HOME} $$ `id`",
    "\x85\u2028 ends",
    "'''\n---\n...",
    "!!python/object/apply:os.system [id]",
    "😀 ü",
    " ",
]


@pytest.mark.parametrize("odd", ODD)
def test_texts_and_labels_come_through_letter_by_letter(odd: str, newest: dict[str, Tool], tmp_path: Path) -> None:
    rule = alert("Odd", "up == 0", labels={"severity": "warning", "odd": odd}, annotations={"summary": odd, "odd": odd})
    made = whole(tmp_path, PLAIN, mixin=rule)
    (file,) = (one for one in made.artifacts if one.path.startswith("rules/mixin-"))
    (found,) = yaml.safe_load(file.text)["groups"][0]["rules"]
    assert found["labels"]["odd"] == odd
    assert found["annotations"]["odd"] == odd
    (tmp_path / "rules.yml").write_text(file.text, "utf-8")
    words = [newest["promtool"].path, "check", "rules", tmp_path / "rules.yml"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("name", ["a: b", "x\n  rules: []", "'", '"', "- name: silicon", "{}"])
def test_the_name_of_a_group_is_a_name(name: str, newest: dict[str, Tool], tmp_path: Path) -> None:
    rule = {"record": "a:b:c", "expr": "vector(1)"}
    mixin = json.dumps({"prometheusRules": {"groups": [{"name": name, "rules": [rule]}]}})
    made = rules(whole(tmp_path, PLAIN, mixin=mixin))
    ((group,),) = (file["groups"] for path, file in made.items() if path.startswith("rules/mixin-"))
    assert group == {"name": f"mixin-hosts: {name}", "rules": [rule]}


@pytest.mark.parametrize(
    ("action", "words"),
    [
        (" $labels.node ", []),
        (" $value | humanizePercentage ", []),
        (' printf "%.2f query" $value ', []),
        (" with $labels.cluster ", []),
        (" . | toUpper ", []),
        (' if eq $labels.device "sda" ', []),
        ("/* query */", []),
        (" `query` ", []),
        (' query "up" ', ["query"]),
        (' "up" | query | first | value ', ["query", "first", "value"]),
        (" $externalLabels.cluster ", ["$externalLabels.cluster"]),
        (" externalURL ", ["externalURL"]),
        (' template "x" . ', ["template"]),
        (' range query "up" ', ["range", "query"]),
        (" $.Labels.node ", []),
        (" $x := 1 ", ["$x"]),
    ],
)
def test_a_text_asks_for_nothing_but_what_it_was_given(action: str, words: list[str]) -> None:
    assert list(asked(action)) == words


# --- names ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["NodeDown", "DcgmExporterDown", "PrometheusRuleFailures"])
@pytest.mark.usefixtures("newest")
@pytest.mark.parametrize("command", ["check", "build"])
def test_an_alert_that_tocsin_makes_as_well_is_refused_at_the_mixin(
    name: str, command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert compiled(tmp_path, PLAIN, mixin=alert(name, "up == 0"))[0] is None
    assert run([command, str(tmp_path / "spec.yaml")]) == 1
    out = capsys.readouterr().out
    line = PLAIN[: PLAIN.index("  hosts:")].count("\n") + 1
    assert f"error[MIX110]: the mixin has {name}, which is the name of a generated alert" in out
    assert f"spec.yaml:{line}:3" in out


def test_groups_of_one_name_are_told_apart(tmp_path: Path) -> None:
    group = {"name": "g", "rules": [{"record": "a:b:c", "expr": "vector(1)"}]}
    other = {"name": "g", "rules": [{"record": "a:b:d", "expr": "vector(1)"}]}
    mixin = json.dumps({"prometheusRules": {"groups": [group, other]}, "prometheusAlerts": {"groups": []}})
    made = rules(whole(tmp_path, PLAIN, mixin=mixin))
    names = [group["name"] for group in made["rules/mixin-hosts.yml"]["groups"]]
    assert names == ["mixin-hosts: g", "mixin-hosts: g (2)"]


# --- where a rule is evaluated ----------------------------------------------------------------------------------------

SHARDS = 'collection: {servers: {shards: 2, address: "prometheus-{server}.{cluster}.example.com:9090"}}\n\nsignals:'


def test_on_shards_what_is_of_a_node_stays_there_and_the_rest_is_above(tmp_path: Path) -> None:
    rule = """
    {
      prometheusRules+:: { groups: [
        { name: 'a', rules: [{ record: 'host:mem:max', expr: 'node_memory_MemAvailable_bytes / 2' }] },
        { name: 'b', rules: [{ record: 'host:load:rate', expr: 'node_load1{job="node"} / 2' }] },
        { name: 'c', rules: [{ record: 'team:x:y', expr: 'team_x{job="elsewhere"}' }] },
      ] },
    }"""
    made = whole(tmp_path, PLAIN.replace("signals:", SHARDS, 1), mixin=rule)
    found = {server.path: [one for one in server.rule_files if "mixin-" in one] for server in made.plan.servers}
    shards = [files for path, files in found.items() if "shard-" in path]
    assert shards == [["rules/mixin-hosts-nodes.yml"]] * 2
    assert [files for path, files in found.items() if "shard-" not in path] == [["rules/mixin-hosts.yml"]]
    named = {path: [g["name"] for g in file["groups"]] for path, file in rules(made).items() if "mixin-" in path}
    assert named == {
        "rules/mixin-hosts-nodes.yml": ["mixin-hosts-nodes: a", "mixin-hosts-nodes: b"],
        "rules/mixin-hosts.yml": ["mixin-hosts: c"],
    }


def test_what_no_single_server_sees_is_refused(tmp_path: Path) -> None:
    mixin = alert("A", "sum by (cluster) (node_memory_MemAvailable_bytes) < 1e12")
    made, log = compiled(tmp_path, PLAIN.replace("signals:", SHARDS, 1), mixin=mixin)
    assert made is None
    assert {told.code for told in log.sorted()} == {"PQL218"}


# --- places -----------------------------------------------------------------------------------------------------------

FILES = Made(
    (
        Source("a.libsonnet", "x:\n  expr: |||\n    rate(a[5m])\n      > 1\n  |||\n'Name'"),
        Source("b.libsonnet", "'Name'"),
    )
)


@pytest.mark.parametrize(
    ("text", "start", "end", "place"),
    [
        ("rate(a[5m])\n  > 1\n", 5, 6, ("a.libsonnet", 3, 10, 3, 11)),
        ("rate(a[5m])\n  > 1\n", 0, 19, ("a.libsonnet", 3, 5, 3, 16)),
        ("rate(b[5m])", 0, 1, None),
        ("> 1", 0, 1, None),  # too short to be sure
    ],
)
def test_a_line_that_stands_once_in_the_files_has_a_place(
    text: str, start: int, end: int, place: tuple[object, ...] | None
) -> None:
    found = FILES.place(text, start, end)
    assert (found[:5] if found else None) == place


def test_a_name_that_stands_twice_has_none() -> None:
    assert FILES.named("Name") is None
    assert FILES._replace(texts=FILES.texts[1:]).named("Name") == ("b.libsonnet", 1, 1, 1, 7, "")


# --- our own rules as a mixin -----------------------------------------------------------------------------------------


def evaluated(folder: Path) -> dict[str, Any]:
    """What a user of mixins reads: the three parts of the file, evaluated by Jsonnet itself."""
    program = f"local m = import {json.dumps(str(folder / 'mixin' / 'mixin.libsonnet'))}; "
    program += "{ alerts: m.prometheusAlerts, rules: m.prometheusRules, dashboards: m.grafanaDashboards }"
    found: dict[str, Any] = json.loads(_jsonnet.evaluate_snippet("test", program))
    return found


def written(made: Compiled, folder: Path) -> Path:
    for one in made.artifacts:
        if one.path.startswith(("rules/", "mixin/", "grafana/dashboards/")):
            (folder / one.path).parent.mkdir(parents=True, exist_ok=True)
            (folder / one.path).write_text(one.text, "utf-8")
    return folder


def by_name(groups: Iterable[dict[str, Any]]) -> dict[str, dict[str, Any]]:
    found = list(groups)
    named = {group["name"]: group for group in found}
    assert len(named) == len(found), "Prometheus refuses a file with two groups of one name"
    return named


@pytest.mark.parametrize("path", [CASE / "spec.yaml", ROOT / "specs" / "ai-factory.yaml"], ids=["mixins", "ai-factory"])
def test_the_factory_as_a_mixin_is_what_was_emitted(path: Path, tmp_path: Path, newest: dict[str, Tool]) -> None:
    log = Log()
    made = compile_spec(str(path), log, {})
    assert made is not None, log.sorted()
    mixin = evaluated(written(made, tmp_path))
    alerts, records = by_name(mixin["alerts"]["groups"]), by_name(mixin["rules"]["groups"])
    assert {**alerts, **records} == by_name(group for file in rules(made).values() for group in file["groups"])
    assert not alerts.keys() & records.keys()
    assert all(any("alert" in rule for rule in group["rules"]) for group in alerts.values())
    assert all("record" in rule for group in records.values() for rule in group["rules"])
    pages = {one.path: json.loads(one.text) for one in made.artifacts if re.match("grafana/dashboards/", one.path)}
    assert mixin["dashboards"] == {path.rpartition("/")[2]: page for path, page in pages.items()}
    for part in ("alerts", "rules"):
        (tmp_path / f"{part}.yaml").write_text(yaml.safe_dump(mixin[part]), "utf-8")
        words = [newest["promtool"].path, "check", "rules", tmp_path / f"{part}.yaml"]
        done = subprocess.run(words, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr


def test_a_user_of_the_mixin_can_add_to_it(tmp_path: Path) -> None:
    folder = written(case(), tmp_path)
    program = f"""
    local ours = {{ prometheusAlerts+:: {{ groups+: [{{ name: 'mine', rules: [] }}] }} }};
    local both = ours + import {json.dumps(str(folder / "mixin" / "mixin.libsonnet"))};
    [group.name for group in both.prometheusAlerts.groups]
    """
    names = json.loads(_jsonnet.evaluate_snippet("test", program))
    assert names[0] == "mine"
    assert len(names) > 5


# --- what it costs ----------------------------------------------------------------------------------------------------


def test_a_spec_without_jsonnet_does_not_pay_for_it() -> None:
    program = (
        "import sys; from tocsin.cli import run; status = run(['check', 'specs/ai-factory.yaml']); "
        "print(status, sorted({'_jsonnet', 'subprocess', 'tocsin.jsonnet', 'tocsin.load.beside'} & sys.modules.keys()))"
    )
    done = subprocess.run([sys.executable, "-c", program], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == "0 []\n"
