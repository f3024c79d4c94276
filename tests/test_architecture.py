"""The floors of the compiler: who may import whom, also inside of functions. The tables are the architecture."""

from __future__ import annotations

import ast
from typing import TYPE_CHECKING

import pytest

from conftest import ROOT

if TYPE_CHECKING:
    from pathlib import Path

PACKAGE = ROOT / "compiler" / "tocsin"

# A module belongs to the first entry that its name begins with. Lower numbers are further down.
GROUND = {
    "source",
    "composer",
    "offsets",
    "units",
    "codes",
    "hostlist",
    "hours",
    "pattern",
    "secrecy",
    "templates",
    "toolerror",
    "jsonnet",
    "jsontext",
}
NOUNS = {
    "artifact",
    "burn",
    "capacity",
    "catalog",
    "dashboard",
    "diagnostics",
    "discovery",
    "document",
    "examples",
    "factory",
    "fleet",
    "indicators",
    "ingest",
    "naming",
    "plan",
    "promql",
    "promtypes",
    "routes",
    "spec",
    "stores",
    "versions",
}
STAGES = {"load", "resolve", "check", "lower", "audit", "emit", "verify", "report", "write", "preview"}
ASSEMBLY = {"pipeline"}
THEATRE = {"drill", "stage"}  # what is done with a compiled spec by running it
DOOR = {"cli", "__main__"}
FLOORS = (GROUND, NOUNS, STAGES, ASSEMBLY, THEATRE, DOOR)

# What may be imported from outside, and where. Everything else is the standard library.
OUTSIDE = {
    "yaml": {"composer"},
    "re2": {"pattern"},
    "pydantic": {"spec", "load"},
    "pydantic_core": {"spec", "load"},
    "jsonschema": {"verify"},
    "_jsonnet": {"jsonnet"},
}

# The stages see each other's results only, and of the nouns only those of their side of the plan.
NEVER = {
    "load": {"factory", "plan", "artifact", "burn"},
    "resolve": {"plan", "artifact"},
    "check": {"plan", "artifact", "spec"},
    "lower": {"diagnostics", "artifact", "spec", "document", "source", "composer"},
    "audit": {"spec"},
    "emit": {"promtypes", "factory", "diagnostics", "spec", "document", "burn", "promql", "source", "composer"},
    "verify": {"spec", "factory", "plan", "document"},
    "report": {"spec", "factory", "plan", "artifact", "document"},
    "write": {"spec", "factory", "plan", "document", "diagnostics"},
    "preview": {"spec", "factory", "plan", "document", "diagnostics", "promql", "promtypes"},
}

# Effects have one home each.
HOMES = {
    "subprocess": {"verify/run.py", "fleet/program.py", "jsonnet/sandbox.py"},
    "argparse": {"cli/arguments.py", "cli/commands.py", "cli/completion.py"},
    "tempfile": {"verify/__init__.py", "stage/__init__.py"},
}


def modules() -> dict[str, Path]:
    """Every module below the package by its path there."""
    return {str(path.relative_to(PACKAGE)): path for path in sorted(PACKAGE.rglob("*.py"))}


def part(module: str) -> str:
    """The noun or stage that a module belongs to: `load/decode.py` is `load`."""
    return module.removesuffix(".py").split("/")[0]


def imports(path: Path) -> list[tuple[str, bool]]:
    """Every module that a file imports, and whether only for its types; functions are looked into."""
    found = []
    tree = ast.parse(path.read_text("utf-8"))
    typed = {
        id(node)
        for block in ast.walk(tree)
        if isinstance(block, ast.If) and "TYPE_CHECKING" in ast.dump(block.test)
        for node in ast.walk(block)
    }
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
            names = names if node.module == "tocsin" else [node.module]
            found += [(name, id(node) in typed) for name in names]
        elif isinstance(node, ast.Import):
            found += [(alias.name, id(node) in typed) for alias in node.names]
    return found


def floor(name: str) -> int:
    """The number of a part's floor."""
    return next(number for number, parts in enumerate(FLOORS) if name in parts)


MODULES = modules()


def test_every_module_has_a_floor() -> None:
    parts = {part(module) for module in MODULES} - {"__init__"}
    assert parts == set().union(*FLOORS)


@pytest.mark.parametrize("module", MODULES)
def test_imports_go_down(module: str) -> None:
    me = part(module)
    if me == "__init__":
        return
    for name, _ in imports(MODULES[module]):
        if not name.startswith("tocsin."):
            continue
        other = name.split(".")[1]
        if other in (me, "__version__"):
            continue
        assert floor(other) <= floor(me), f"{module} imports {name}, which lies above it"
        stage = me in STAGES and other in STAGES
        assert not stage, f"{module} imports {name}: stages do not know each other"
        ground = me in GROUND and other not in GROUND
        assert not ground, f"{module} imports {name}: the ground stands on nothing"


@pytest.mark.parametrize("module", MODULES)
def test_stages_see_only_their_side(module: str) -> None:
    for name, only_types in imports(MODULES[module]):
        other = name.split(".")[1] if name.startswith("tocsin.") else ""
        if other in NEVER.get(part(module), set()):
            # A span passes through every stage as a value; its type may be named.
            assert only_types, f"{module} imports {name}"


@pytest.mark.parametrize("module", MODULES)
def test_libraries_and_effects_have_one_home(module: str) -> None:
    for name, only_types in imports(MODULES[module]):
        top = name.split(".")[0]
        if top in OUTSIDE and not only_types:
            assert part(module) in OUTSIDE[top], f"{module} imports {name}"
        if top in HOMES and not only_types:
            assert module in HOMES[top], f"{module} imports {name}"


@pytest.mark.parametrize("module", [m for m in MODULES if part(m) not in DOOR])
def test_only_the_door_prints_and_reads_the_environment(module: str) -> None:
    tree = ast.parse(MODULES[module].read_text("utf-8"))
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name):
            assert node.func.id not in {"print", "input", "eval", "exec", "compile"}, f"{module} calls {node.func.id}"
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            used = f"{node.value.id}.{node.attr}"
            allowed = module == "verify/run.py"
            assert used not in {"os.environ", "os.getcwd", "sys.argv"} or allowed, f"{module} uses {used}"


def test_lower_and_emit_take_no_log() -> None:
    for module, path in MODULES.items():
        if part(module) in ("lower", "emit"):
            names = {node.arg for node in ast.walk(ast.parse(path.read_text("utf-8"))) if isinstance(node, ast.arg)}
            assert "log" not in names, f"{module}: a plan that passed its checks cannot fail"
