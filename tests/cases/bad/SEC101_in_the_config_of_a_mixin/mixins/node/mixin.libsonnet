{ _config+:: { pagerToken: '' }, prometheusRules+:: { groups: [] } }
