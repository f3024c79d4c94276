{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeExporterDown',
          expr: 'up{job="node"} == 0',
          labels: { severity: 'warning' },
          annotations: { summary: 'Down', description: 'It is down.' },
        },
      ],
    }],
  },
}
