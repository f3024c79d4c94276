
// Every rule and dashboard of the factory as a monitoring mixin, read from the files beside it.
local groups = std.flattenArrays([std.parseYaml(text).groups for text in rules]);
local alerts(group) = std.length([rule for rule in group.rules if std.objectHas(rule, 'alert')]) > 0;
{
  // A group with an alert stays whole: its alerts read what the records before them have recorded.
  prometheusAlerts+:: { groups+: [group for group in groups if alerts(group)] },
  prometheusRules+:: { groups+: [group for group in groups if !alerts(group)] },
  grafanaDashboards+:: dashboards,
}
