{ prometheusAlerts+:: { groups: std.repeat('x', 8000000000) } }
