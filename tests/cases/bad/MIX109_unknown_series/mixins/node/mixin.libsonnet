{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeLow',
          expr: 'node_load1 > 100',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
        {
          alert: 'NodeLower',
          expr: 'node_load5 / node_load15 > 2',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
      ],
    }],
  },
}
