local count(n) = 1 + count(n);

{ prometheusAlerts+:: { groups: count(1) } }
