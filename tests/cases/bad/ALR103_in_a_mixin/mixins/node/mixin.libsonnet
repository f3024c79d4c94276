{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeLow',
          expr: 'min by (cluster) (node_memory_MemAvailable_bytes) < 1e9',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low on {{ $labels.node }}', description: 'Low.' },
        },
      ],
    }],
  },
}
