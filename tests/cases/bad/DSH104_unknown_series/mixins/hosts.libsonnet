{
  grafanaDashboards+:: {
    'hosts.json': {
      title: 'Hosts',
      schemaVersion: 39,
      panels: [
        { type: 'timeseries', title: 'Load', targets: [{ expr: 'max by (node) (node_load1)', legendFormat: '{{node}}' }] },
        { type: 'timeseries', title: 'Queue', targets: [{ expr: 'sum(host_queue_length)' }, { expr: 'up == 0' }] },
      ],
    },
  },
}
