"""`tenants`: who shares the factory."""

from tocsin.spec.scalars import Namespaces, Section, Texts


class Tenant(Section):
    """A tenant, and the scheduler accounts and Kubernetes namespaces whose series are its own."""

    accounts: Texts = ()
    namespaces: Namespaces = ()
