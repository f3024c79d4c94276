// What tocsin reads of a mixin. `mixin` and `config` are defined above.
local whole = if std.isObject(mixin) then mixin { _config+:: config } else {};
local part(name) = if std.objectHasAll(whole, name) then whole[name] else null;
{
  kind: std.type(mixin),
  known: if std.isObject(mixin) && std.objectHasAll(mixin, '_config') then std.objectFieldsAll(mixin._config) else [],
  alerts: part('prometheusAlerts'),
  rules: part('prometheusRules'),
  dashboards: part('grafanaDashboards'),
}
