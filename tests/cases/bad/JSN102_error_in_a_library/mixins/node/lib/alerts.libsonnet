{
  _config+:: {},
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [{ alert: 'NodeLow', expr: 'up < %d' % $._config.treshold }],
    }],
  },
}
