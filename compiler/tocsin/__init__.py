"""tocsin compiles one YAML spec of an AI factory into everything its monitoring runs on, and proves it.

A spec names owners, labels, signals, clusters and SLOs; out come Prometheus configurations, rules, Alertmanager routes,
Grafana dashboards, dcgm-exporter counters files and the tests that prove them. `pipeline` shows how.
"""

__version__ = "0.1.0"
