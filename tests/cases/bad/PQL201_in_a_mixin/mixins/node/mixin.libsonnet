{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeLow',
          expr: 'rate(node_memory_MemAvailable_bytes[5m]) > 1e9',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
      ],
    }],
  },
}
