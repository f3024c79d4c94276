"""The panels that Grafana has, those that it had, and those that show something without a query."""

# Of Grafana 10 to 13; those of plugins are not there on every Grafana.
CORE = frozenset(
    """
    alertlist annolist barchart bargauge candlestick canvas dashlist datagrid debug flamegraph gauge geomap
    gettingstarted heatmap histogram live logs news nodeGraph piechart row stat state-timeline status-history table text
    timeseries traces trend welcome xychart
    """.split()
)
# Grafana, getPanelPluginToMigrateTo: what Grafana 11 and newer make of the panels that are no more.
SUCCESSORS = {
    "graph": "timeseries",
    "singlestat": "stat",
    "grafana-singlestat-panel": "stat",
    "table-old": "table",
    "grafana-piechart-panel": "piechart",
    "grafana-worldmap-panel": "geomap",
    "natel-discrete-panel": "state-timeline",
    "heatmap-new": "heatmap",
}
WITHOUT_QUERIES = frozenset(
    "alertlist annolist canvas dashlist debug geomap gettingstarted live news row text welcome".split()
)
