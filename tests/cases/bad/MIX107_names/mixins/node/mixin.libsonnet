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
        {
          alert: 'NodeLow',
          expr: 'node_memory_MemAvailable_bytes < 2e9',
          labels: { severity: 'minor' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
        {
          alert: 'NodeHot',
          expr: 'node_memory_MemAvailable_bytes < 1e9',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
        {
          alert: 'Watchdog',
          expr: 'node_memory_MemAvailable_bytes < 1e9',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low', description: 'Memory is low.' },
        },
        { record: 'node:gpus_present:count', expr: 'count by (cluster, node) (up)' },
      ],
    }],
  },
}
