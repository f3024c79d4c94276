{ _config+:: { nodeSelector: 'job="node"' }, prometheusRules+:: { groups: [] } }
