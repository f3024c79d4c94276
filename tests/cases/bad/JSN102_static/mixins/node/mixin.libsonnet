{
  prometheusAlerts+:: {
    groups+: [
      { name: 'node' rules: [] },
    ],
  },
}
