"""`grafana`: where the dashboards are, and where they read."""

from tocsin.spec.scalars import Section, Url


class Grafana(Section):
    """`url` is Grafana's own address, for links in alerts; `datasource` the Prometheus that it queries."""

    url: Url
    datasource: Url
