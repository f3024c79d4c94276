"""What can ail a Prometheus or an Alertmanager, by their own counters and flags."""

from typing import NamedTuple

HERE = "{{ $labels.instance }}"
COUNT = "{{ $value | humanize }}"  # what a counter rose by is extrapolated, and seldom whole


class Fault(NamedTuple):
    """A counter that should stand still (`sign` rises), one that should be 0 (some), a flag that should be 1 (unset).

    `by` are labels beside the server's that tell what is ill; `hold` how many minutes it must last.
    """

    alert: str
    metric: str
    sign: str
    severity: str
    summary: str
    description: str
    by: tuple[str, ...] = ()
    hold: int = 0


_LIMIT = "Nothing of these answers is stored: raise what the spec says there is, or mend what shows more."
FAULTS = (
    Fault(
        "PrometheusSampleLimitHit",
        "prometheus_target_scrapes_exceeded_sample_limit_total",
        "rises",
        "ticket",
        f"{HERE} refuses answers with too many samples",
        f"{HERE} refused {COUNT} scrapes within 15 minutes for more samples than the job may bring. {_LIMIT}",
    ),
    Fault(
        "PrometheusBodySizeLimitHit",
        "prometheus_target_scrapes_exceeded_body_size_limit_total",
        "rises",
        "ticket",
        f"{HERE} refuses pages that are too large",
        f"{HERE} refused {COUNT} scrapes within 15 minutes for pages above the job's size. {_LIMIT}",
    ),
    Fault(
        "PrometheusLabelLimitHit",
        "prometheus_target_scrape_pool_exceeded_label_limits_total",
        "rises",
        "ticket",
        f"{HERE} refuses answers for their labels",
        f"{HERE} refused {COUNT} scrapes within 15 minutes for too many or too long labels. {_LIMIT}",
    ),
    Fault(
        "PrometheusTargetLimitHit",
        "prometheus_target_scrape_pool_exceeded_target_limit_total",
        "rises",
        "page",
        f"A job of {HERE} has more targets than it may have",
        f"{HERE} scrapes no target at all of a job that its discovery tells too many of.",
    ),
    Fault(
        "PrometheusRuleFailures",
        "prometheus_rule_evaluation_failures_total",
        "rises",
        "page",
        f"Rules of {HERE} cannot be evaluated",
        f"{COUNT} evaluations of {{{{ $labels.rule_group }}}} at {HERE} failed within 15 minutes: its alerts "
        "cannot fire.",
        by=("rule_group",),
        hold=5,
    ),
    Fault(
        "PrometheusRulesTooSlow",
        "prometheus_rule_group_iterations_missed_total",
        "rises",
        "ticket",
        f"Rules of {HERE} are evaluated too slowly",
        f"{{{{ $labels.rule_group }}}} at {HERE} left out {COUNT} evaluations within 15 minutes, since the "
        "one before took longer than the interval.",
        by=("rule_group",),
        hold=5,
    ),
    Fault(
        "PrometheusNotificationsDropped",
        "prometheus_notifications_dropped_total",
        "rises",
        "page",
        f"Alerts of {HERE} reach no Alertmanager",
        f"{HERE} dropped {COUNT} alerts within 15 minutes, which nobody was told.",
        hold=5,
    ),
    Fault(
        "PrometheusNotificationsFailing",
        "prometheus_notifications_errors_total",
        "rises",
        "ticket",
        f"Alerts of {HERE} do not reach an Alertmanager",
        f"{HERE} could not send {COUNT} alerts within 15 minutes to {{{{ $labels.alertmanager }}}}.",
        by=("alertmanager",),
        hold=10,
    ),
    Fault(
        "PrometheusConfigReloadFailed",
        "prometheus_config_last_reload_successful",
        "unset",
        "ticket",
        f"{HERE} refused its last configuration",
        f"{HERE} goes on with the configuration before. Its log says what is wrong with the new one.",
        hold=10,
    ),
    Fault(
        "PrometheusWalCorruptions",
        "prometheus_tsdb_wal_corruptions_total",
        "some",
        "ticket",
        f"The write-ahead log of {HERE} was corrupt",
        f"{HERE} found {COUNT} corruptions of its write-ahead log since it started, and lost what stood "
        "behind them: look at its disk.",
    ),
    Fault(
        "PrometheusWalTruncationsFailing",
        "prometheus_tsdb_wal_truncations_failed_total",
        "rises",
        "ticket",
        f"The write-ahead log of {HERE} is not shortened",
        f"{COUNT} truncations failed at {HERE} within 15 minutes: the log grows until the disk is full.",
    ),
    Fault(
        "PrometheusCompactionsFailing",
        "prometheus_tsdb_compactions_failed_total",
        "rises",
        "ticket",
        f"{HERE} cannot compact its blocks",
        f"{COUNT} compactions failed at {HERE} within 15 minutes: memory and disk grow.",
    ),
    Fault(
        "PrometheusRemoteWriteFailing",
        "prometheus_remote_storage_samples_failed_total",
        "rises",
        "ticket",
        f"A store refuses samples of {HERE}",
        f"{{{{ $labels.remote_name }}}} refused {COUNT} samples of {HERE} within 15 minutes for ever: they "
        "are missing there.",
        by=("remote_name",),
        hold=5,
    ),
    Fault(
        "AlertmanagerNotificationsFailing",
        "alertmanager_notifications_failed_total",
        "rises",
        "page",
        f"{HERE} cannot reach people by {{{{ $labels.integration }}}}",
        f"{COUNT} notifications of {HERE} by {{{{ $labels.integration }}}} failed within 15 minutes: whoever "
        "they were for does not know.",
        by=("integration",),
        hold=5,
    ),
    Fault(
        "AlertmanagerConfigReloadFailed",
        "alertmanager_config_last_reload_successful",
        "unset",
        "ticket",
        f"{HERE} refused its last configuration",
        f"{HERE} goes on with the configuration before. Its log says what is wrong with the new one.",
        hold=10,
    ),
)
