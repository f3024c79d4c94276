"""`targets`: the versions that the output must run on, and the long-term store."""

from typing import Literal

from tocsin.spec.scalars import Section, Version


class Targets(Section):
    """One version per product; what it cannot do is refused with the version that could."""

    prometheus: Version
    alertmanager: Version
    grafana: Version
    dcgm_exporter: Version
    long_term: Literal["prometheus", "thanos", "mimir", "cortex", "victoriametrics"] | None = None
