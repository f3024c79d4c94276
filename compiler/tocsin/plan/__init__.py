"""The compiler's intermediate form: what will be written, decided to the last number, but not yet text."""

from typing import NamedTuple

from tocsin.plan.dashboards import Dashboard, Page
from tocsin.plan.notifications import Notifications
from tocsin.plan.programs import ArgumentFile, CounterFile, JobHooks, SettingsFile
from tocsin.plan.rules import RuleFile
from tocsin.plan.servers import Server
from tocsin.plan.sizes import Sizes


class Plan(NamedTuple):
    """Everything that will be written for one factory. `first_steps` are what to do about its own alerts, by name."""

    factory: str
    servers: tuple[Server, ...]
    rules: tuple[RuleFile, ...]
    notifications: Notifications
    dashboards: tuple[Dashboard, ...]
    datasource_url: str
    counter_files: tuple[CounterFile, ...]
    sizes: Sizes
    arguments: tuple[ArgumentFile, ...] = ()
    settings: tuple[SettingsFile, ...] = ()
    job_hooks: tuple[JobHooks, ...] = ()
    pages: tuple[Page, ...] = ()
    first_steps: tuple[tuple[str, tuple[str, ...]], ...] = ()

    @property
    def tests(self) -> int:
        """How many unit tests of rules are written."""
        forms: set[int] = set()
        count = 0
        for file in self.rules:
            is_first = id(file.groups) not in forms
            forms.add(id(file.groups))
            count += sum(is_first or not test.once for group in file.groups for test in group.tests)
        return count
