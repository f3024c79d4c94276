"""The dashboard of the lab. `generate-dashboard -o boards.json boards.dashboard.py` writes the JSON beside it."""

from grafanalib.core import (
    Dashboard,
    GridPos,
    Stat,
    Table,
    Target,
    Template,
    Templating,
    Text,
    Threshold,
    Time,
    TimeSeries,
)

dashboard = Dashboard(
    title="Boards of the lab",
    uid="lab-boards",
    tags=["boards"],
    timezone="browser",
    time=Time("now-3h", "now"),
    templating=Templating(
        list=[
            Template(
                name="cluster",
                query="label_values(DCGM_FI_DEV_GPU_TEMP, cluster)",
                dataSource="prom",
                includeAll=True,
                multi=True,
            ),
        ]
    ),
    panels=[
        TimeSeries(
            title="Temperature",
            description="The hottest board of each node.",
            dataSource="prom",
            targets=[
                Target(
                    expr='max by (cluster, node) (DCGM_FI_DEV_GPU_TEMP{cluster=~"$cluster"})',
                    legendFormat="{{node}}",
                    refId="A",
                )
            ],
            unit="celsius",
            gridPos=GridPos(h=8, w=12, x=0, y=0),
        ),
        Stat(
            title="Boards with a new XID",
            dataSource="prom",
            targets=[Target(expr='count(gpu:xid_new:max1h{cluster=~"$cluster"}) or vector(0)')],
            thresholds=[Threshold("green", 0, 0.0), Threshold("red", 1, 1.0)],
            gridPos=GridPos(h=8, w=12, x=12, y=0),
        ),
        Text(
            title="Whom to ask",
            content="Infra, day and night.",
            gridPos=GridPos(h=4, w=24, x=0, y=8),
        ),
        Table(
            title="Targets",
            dataSource="prom",
            targets=[Target(expr="up == 0", format="table", instant=True)],
            gridPos=GridPos(h=4, w=24, x=0, y=8),
        ),
    ],
).auto_panel_ids()
