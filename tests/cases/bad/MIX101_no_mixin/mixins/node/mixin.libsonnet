{ alerts: [] }
