{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeLow',
          expr: 'node_memory_MemAvailable_bytes < 1e9',
          labels: { severity: 'sev1' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
        {
          alert: 'NodeLower',
          expr: 'node_memory_MemAvailable_bytes < 1e9',
          labels: {  },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
      ],
    }],
  },
}
