"""`tenants`: who shares the factory."""

from tocsin.spec.scalars import Section, Texts


class Tenant(Section):
    """A tenant and the scheduler accounts whose series are its own."""

    accounts: Texts
