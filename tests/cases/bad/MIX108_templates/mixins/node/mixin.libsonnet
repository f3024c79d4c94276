{
  prometheusAlerts+:: {
    groups+: [{
      name: 'node',
      rules: [
        {
          alert: 'NodeLow',
          expr: 'node_memory_MemAvailable_bytes < 1e9',
          labels: { severity: 'warning' },
          annotations: { summary: 'Low {{ query "up" | first | value }}', description: '{{ $externalLabels.cluster }} {{ $labels.node }}' },
        },
        {
          alert: 'NodeLower',
          expr: 'node_memory_MemAvailable_bytes < 1e9',
          labels: { severity: 'warning', hint: '{{ externalURL }}' },
          annotations: { summary: '{{ define "x" }}{{ end }}', description: '{{ with $labels.node }}{{ . | toUpper }}{{ end }}' },
        },
      ],
    }],
  },
}
