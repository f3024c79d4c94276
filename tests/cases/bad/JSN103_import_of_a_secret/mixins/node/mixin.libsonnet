{
  prometheusAlerts+:: { groups: [] },
  secret: importstr '/etc/passwd',
  prometheusRules+:: { groups: [{ name: $.secret, rules: [] }] },
}
