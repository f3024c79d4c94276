"""What long-term stores are called, and what bounds their retention: facts of the products, with their sources."""

from tocsin.units import Duration

NAMES = {
    "prometheus": "Prometheus",
    "thanos": "Thanos",
    "mimir": "Mimir",
    "cortex": "Cortex",
    "victoriametrics": "VictoriaMetrics",
}
# grafana.com/docs/mimir/latest/configure/configure-metrics-storage-retention: by tenant, not by series; Cortex too.
BY_TENANT = ("mimir", "cortex")
# thanos.io/tip/components/compact.md: 5m blocks are made of raw ones after 40 h, 1h blocks of 5m ones after 10 d.
RAW_FOR_5M, FIVE_MINUTES_FOR_1H = Duration.of(hours=40), Duration.of(days=10)
# thanos.io/tip/components/sidecar.md: three blocks of two hours, for the time that an upload fails.
SIDECAR_LEAST = Duration.of(hours=6)
# docs.victoriametrics.com, #retention: the shortest -retentionPeriod.
VICTORIA_LEAST = Duration.of(days=1)
# grafana.com/docs/loki/latest/operations/storage/retention: the shortest period, that of its index.
LOKI_LEAST = Duration.of(hours=24)
