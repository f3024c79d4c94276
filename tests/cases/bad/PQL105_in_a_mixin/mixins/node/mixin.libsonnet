{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeLow',
          expr: 'min by (cluster (node_memory_MemAvailable_bytes) < 1e9',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
        {
          alert: 'NodeMade',
          expr: |||
            node_memory_MemAvailable_bytes
            < bool 5 by (node) %s
          ||| % 'and',
          labels: { severity: 'warning' },
        },
      ],
    }],
  },
}
