"""`tenants`: who shares the factory, and who of them is told of what is theirs."""

from tocsin.spec.receivers import Channels, TicketChannels
from tocsin.spec.scalars import Namespaces, Section, Texts


class Tenant(Section):
    """A tenant, and the scheduler accounts and Kubernetes namespaces whose series are its own.

    Alerts that name the tenant come to its own `page` and `ticket` as well as to their owner; with `instead` the owner
    is not told of them.
    """

    accounts: Texts = ()
    namespaces: Namespaces = ()
    page: Channels | None = None
    ticket: TicketChannels | None = None
    instead: bool = False
