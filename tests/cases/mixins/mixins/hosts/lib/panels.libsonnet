{
  graph(title, expr, x, y): {
    type: 'timeseries',
    title: title,
    description: 'One line a host.',
    datasource: { type: 'prometheus', uid: '$datasource' },
    gridPos: { x: x, y: y, w: 12, h: 8 },
    targets: [{ refId: 'A', expr: expr, legendFormat: '{{node}}' }],
    fieldConfig: { defaults: { unit: 'percentunit' }, overrides: [] },
    options: {
      legend: { showLegend: true, displayMode: 'list', placement: 'bottom', calcs: [] },
      tooltip: { mode: 'multi', sort: 'desc' },
    },
  },
}
