"""`targets`: the versions that the output must run on."""

from tocsin.spec.scalars import Section, Version


class Targets(Section):
    """One version per product; what it cannot do is refused with the version that could."""

    prometheus: Version
    alertmanager: Version
    grafana: Version
    dcgm_exporter: Version
