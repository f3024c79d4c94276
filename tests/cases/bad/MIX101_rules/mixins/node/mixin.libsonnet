{
  prometheusAlerts+:: {
    groups+: [
      'node',
      {
        name: 'node',
        limit: 5,
        interval: 'soon',
        rules: [
          { alert: 'NodeLow', 'for': '5m' },
          { expr: 'up == 0' },
          { alert: 'Node low', expr: 'up == 0' },
          { alert: 'NodeDownLong', expr: 'up == 0', 'for': 'long', labels: { severity: 1 } },
          { alert: 'NodeOdd', expr: 'up == 0', labels: { severity: 'info' }, query: 'up' },
          { record: 'node:up:count', expr: 'count(up)', annotations: { summary: 'x' } },
        ],
      },
    ],
  },
  prometheusRules+:: ['node'],
  grafanaDashboards+:: { 'node.json': 'a page' },
}
