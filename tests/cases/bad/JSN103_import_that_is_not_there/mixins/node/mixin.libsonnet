(import 'grafonnet/grafana.libsonnet') + { prometheusAlerts+:: {} }
