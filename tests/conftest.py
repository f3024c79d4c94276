"""What the tests share: where the checkout is, which tool versions there are, and how goldens are updated."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

from toolbox import INSTALL, NEEDED, dotted, found

if TYPE_CHECKING:
    from collections.abc import Iterator

    from toolbox import Tool

ROOT = Path(__file__).resolve().parent.parent

settings.register_profile("tocsin", derandomize=True, deadline=None, database=None)
settings.load_profile("tocsin")

# promtool and the servers spend a fifth of their time on collecting garbage, and memory is cheap here.
os.environ.setdefault("GOGC", "400")


def pytest_addoption(parser: pytest.Parser) -> None:
    """`--update` rewrites the expected outputs; the run after it must be plain."""
    parser.addoption("--update", action="store_true", help="rewrite the expected outputs")


def pytest_configure(config: pytest.Config) -> None:
    """A CI run that cannot ask promtool and amtool proves nothing."""
    missing = [name for name in NEEDED if not found(name)]
    if missing and os.environ.get("CI") == "true":
        raise pytest.UsageError(f"{', '.join(missing)} not found. {INSTALL}")


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """A test that takes `promtool`, `amtool`, `prometheus` or `alertmanager` runs once for every version found.

    Older servers are started by `make test-live`: they take their time, and two tools of a release judge alike.
    """
    for name in ("promtool", "amtool", "prometheus", "alertmanager"):
        if name in metafunc.fixturenames:
            tools = found(name)
            older = tools[:-1] if name in ("prometheus", "alertmanager") else []
            marks = [
                pytest.param(tool, id=f"{name}-{dotted(tool.version)}", marks=pytest.mark.live if tool in older else ())
                for tool in tools
            ]
            absent = [pytest.param(None, marks=pytest.mark.skip(reason=f"{name} not found: run `make tools`"))]
            metafunc.parametrize(name, marks or absent)


@pytest.hookimpl(wrapper=True, trylast=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """A test marked `no_cover` runs untraced in a worker of xdist as well.

    pytest-cov 7.1 starts a collector in each worker twice, and pauses one of them.
    """
    tracer = sys.gettrace()
    if tracer is None or item.get_closest_marker("no_cover") is None:
        return (yield)
    sys.settrace(None)
    try:
        return (yield)
    finally:
        sys.settrace(tracer)


@pytest.fixture
def root() -> Path:
    """The checkout."""
    return ROOT


@pytest.fixture
def update(request: pytest.FixtureRequest) -> bool:
    """Whether expected outputs are to be rewritten."""
    return bool(request.config.getoption("--update"))


@pytest.fixture
def newest(monkeypatch: pytest.MonkeyPatch) -> dict[str, Tool]:
    """The newest promtool and amtool, named in the environment as the command line looks for them."""
    tools = {name: found(name)[-1] for name in ("promtool", "amtool")}
    for name, tool in tools.items():
        monkeypatch.setenv(name.upper(), str(tool.path))
    return tools
