{
  title: 'Pressure',
  description: 'Who waits for what.',
  schemaVersion: 39,
  panels: [
    {
      id: 7,
      type: 'timeseries',
      title: 'Waiting for %s' % kind,
      description: 'Share of time.',
      gridPos: { x: 0, y: 8 * index, w: 24, h: 8 },
      targets: [{ expr: 'max by (cluster, node) (rate(node_pressure_%s_waiting_seconds_total[5m]))' % kind }],
    }
    for index in [0, 1, 2]
    for kind in [['cpu', 'io', 'memory'][index]]
  ],
}
