(import 'lib/alerts.libsonnet') + { _config+:: { threshold: 5 } }
