"""What each product can do since when: the gates that keep a line out of a file that its reader would refuse.

Sources: the diffs of Prometheus' and Alertmanager's configuration structs over their release tags, and runs of
promtool 2.42, 2.53, 3.5 and amtool 0.25, 0.28, 0.33 on probe files.
"""

from __future__ import annotations

Version = tuple[int, ...]

# The releases that this compiler knows: first and last (inclusive, by the numbers given).
KNOWN: dict[str, tuple[Version, Version]] = {
    "prometheus": ((2, 42), (3, 14)),  # keep_firing_for came with 2.42
    "alertmanager": ((0, 25), (0, 34)),  # routing_key_file came with 0.25
    "grafana": ((10,), (13,)),  # schema version 39 is loaded by all of them
    "dcgm_exporter": ((3, 3, 6), (4, 9)),  # err_code came with 3.3.6; names and units beyond 4.9 are not verified
}

# Feature -> product and first release.
SINCE: dict[str, tuple[str, Version]] = {
    "webhook.url_file": ("alertmanager", (0, 26)),
    # --kubernetes-pod-label-allowlist-regex, without which all labels of a pod come (dcgm-exporter, 4.4.1-4.6.0).
    "dcgm.pod_labels": ("dcgm_exporter", (4, 6)),
    # Until then no labels of the pods that share a board (dcgm-exporter, 4.6.0-4.8.3, #660).
    "dcgm.labels_of_shares": ("dcgm_exporter", (4, 8, 3)),
    # The job mapping has a file for each MIG instance (dcgm-exporter, 4.5.3-4.8.2, #602).
    "dcgm.jobs_of_instances": ("dcgm_exporter", (4, 8, 2)),
    "telegram.bot_token_file": ("alertmanager", (0, 26)),
    "discord.webhook_url_file": ("alertmanager", (0, 28)),  # in 0.27 the file was not read (alertmanager#3728)
    "teams.webhook_url_file": ("alertmanager", (0, 28)),  # as workflows take it; connectors are no more
    "jira": ("alertmanager", (0, 29)),  # since 0.28, but Debian's 0.28 was built without it
    "remote_write.sample_age_limit": ("prometheus", (2, 50)),
    # Kept as an experiment since 2.40, and promtool reads them in tests since 2.47.
    "native_histograms": ("prometheus", (2, 47)),
    "scrape_native_histograms": ("prometheus", (3, 8)),  # before, it was a flag for all jobs
    "always_scrape_classic_histograms": ("prometheus", (3, 0)),  # before, `scrape_classic_histograms`
    # In the file since 3.8, but up to 3.10 it was kept a million times longer than written there (prometheus#18200).
    "storage.tsdb.retention": ("prometheus", (3, 11)),
}


def parse(text: str) -> Version:
    """`4.8.2` as (4, 8, 2)."""
    return tuple(int(part) for part in text.split("."))


def show(version: Version) -> str:
    """(4, 8, 2) as `4.8.2`."""
    return ".".join(map(str, version))


def is_known(product: str, version: Version) -> bool:
    """Whether the release lies between the first and the last that were verified."""
    first, last = KNOWN[product]
    return first <= version + (0,) * (len(first) - len(version)) and version[: len(last)] <= last


def has(feature: str, version: Version) -> bool:
    """Whether a release of the feature's product knows the feature."""
    return version >= SINCE[feature][1]
