(import 'config.libsonnet') +
(import 'alerts/alerts.libsonnet') +
(import 'rules.libsonnet') +
(import 'dashboards.libsonnet')
