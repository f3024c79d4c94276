{
  prometheusRules+:: {
    groups+: [
      {
        name: 'hosts',
        interval: '1m',
        rules: [
          {
            record: 'host:memory_available:ratio',
            expr: |||
              node_memory_MemAvailable_bytes{%(hostSelector)s}
              / node_memory_MemTotal_bytes{%(hostSelector)s}
            ||| % $._config,
          },
        ] + [
          {
            record: 'cluster:memory_available:quantile',
            expr: 'quantile by (cluster) (%s, host:memory_available:ratio)' % share,
            labels: { quantile: share },
          }
          for share in ['0.1', '0.5']
        ],
      },
    ],
  },
}
