local panels = import 'lib/panels.libsonnet';

local page(uid, title, panels) = {
  uid: uid,
  title: title,
  tags: ['hosts'],
  schemaVersion: 36,
  time: { from: 'now-1h', to: 'now' },
  templating: {
    list: [
      { type: 'datasource', name: 'datasource', query: 'prometheus' },
      {
        type: 'query',
        name: 'cluster',
        datasource: '$datasource',
        query: 'label_values(node_memory_MemTotal_bytes, cluster)',
        refresh: 2,
      },
      {
        type: 'query',
        name: 'node',
        datasource: '$datasource',
        query: 'label_values(node_memory_MemTotal_bytes{cluster=~"$cluster"}, node)',
        refresh: 2,
        multi: true,
        includeAll: true,
      },
    ],
  },
  panels: panels,
};

{
  grafanaDashboards+:: {
    'hosts.json': page('hosts-overview', 'Hosts', [
      panels.graph('Memory', 'host:memory_available:ratio{node=~"$node"}', 0, 0),
      panels.graph(
        'Pressure',
        'rate(node_pressure_memory_stalled_seconds_total{%s, node=~"$node"}[$__rate_interval])' % $._config.hostSelector,
        12,
        0,
      ) { links: [{ title: 'One host', url: '/d/hosts-one?var-node=$node' }] },
    ]),
    'One host.json': page('hosts-one', 'One host', [
      panels.graph('Memory', 'host:memory_available:ratio{node="$node"}', 0, 0),
    ]),
  },
}
