{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeLow',
          expr: 'node_memory_MemAvailable_bytes < 1e9',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
      ],
    }],
  },
}
