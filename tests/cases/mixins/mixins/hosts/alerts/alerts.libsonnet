{
  prometheusAlerts+:: {
    groups+: [
      {
        name: 'hosts',
        rules: [
          {
            alert: 'HostMemoryShort',
            expr: |||
              host:memory_available:ratio < 0.05
            ||| % $._config,
            'for': '15m',
            keep_firing_for: '10m',
            labels: { severity: 'urgent' },
            annotations: {
              summary: 'A host has little memory left',
              description: '{{ $labels.node }} has {{ $value | humanizePercentage }} of its memory left.',
              runbook_url: 'https://example.com/mixins/hosts/HostMemoryShort',
            },
          },
          {
            alert: 'HostMemoryPressure',
            expr: 'rate(node_pressure_memory_stalled_seconds_total{%(hostSelector)s}[5m]) > 0.1' % $._config,
            'for': '10m',
            labels: { severity: 'warning', kind: 'pressure' },
            annotations: {
              summary: 'Work waits for memory',
              description: 'All work on {{ $labels.node }} waits for {{ printf "%.2f" $value }} of each second.',
            },
          },
          {
            alert: 'HostFilesystemFull',
            expr: |||
              (
                node_filesystem_avail_bytes{%(hostSelector)s, fstype!="tmpfs"} < %(fullBelow)d * 1e9
                and on (cluster, node, device, mountpoint) node_filesystem_readonly{%(hostSelector)s} == 0
              )
            ||| % $._config,
            'for': '30m',
            labels: { severity: 'critical' },
            annotations: {
              summary: 'A filesystem is almost full',
              description: '{{ $labels.mountpoint }} of {{ $labels.node }} is almost full.',
            },
          },
          {
            alert: 'HostFilesystemFull',
            expr: |||
              node_filesystem_avail_bytes{%(hostSelector)s, fstype!="tmpfs"} < 2 * %(fullBelow)d * 1e9
            ||| % $._config,
            'for': '1h',
            labels: { severity: 'warning' },
            annotations: {
              message: '{{ $labels.mountpoint }} of {{ $labels.node }} fills.',
            },
          },
          {
            alert: 'HostAlwaysWrong',
            expr: 'rate(node_filesystem_avail_bytes[5m]) > 0',
            labels: { severity: 'warning' },
            annotations: { summary: 'The rate of a gauge', description: 'Left out by the spec.' },
          },
        ],
      },
    ],
  },
}
