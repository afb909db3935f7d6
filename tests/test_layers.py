"""The drawing of import layers in ARCHITECTURE.md is true, and names are used once."""

from __future__ import annotations

import ast
import functools
import re
from collections import Counter, defaultdict
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[1]
PACKAGE = ROOT / "src" / "recapture"
ROOMS = {"declaration", "evaluate", "uncertainty", "table"}
"""Sets, pairs and contexts have these four under the same names."""


class Import(NamedTuple):
    importer: str
    imported: str
    kind: str
    """now: when the module is imported; lazy: at first use; types: for type checkers alone."""


def modules() -> dict[str, Path]:
    """Every module by its dotted name inside the package; packages by the name of their folder."""
    found = {}
    for path in PACKAGE.rglob("*.py"):
        parts = path.relative_to(PACKAGE).with_suffix("").parts
        found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def statements(node: ast.AST, kind: str = "now") -> Iterator[tuple[ast.AST, str]]:
    """All statements inside, each with the kind that an import there would have: what is inside of `if TYPE_CHECKING`
    is for type checkers, also in a function."""
    for part in ("body", "orelse", "finalbody", "handlers", "cases"):  # imports stand nowhere else
        own = kind
        if isinstance(node, ast.If) and part == "body" and ast.unparse(node.test) == "TYPE_CHECKING":
            own = "types"
        elif isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) and kind == "now":
            own = "lazy"
        for child in getattr(node, part, ()):
            yield child, own
            yield from statements(child, own)


@functools.cache
def tree(path: Path) -> ast.Module:
    return ast.parse(path.read_text(encoding="utf-8"))


@functools.cache
def imports() -> list[Import]:
    known = modules()
    found = []
    for name, path in known.items():
        package = name.split(".") if path.stem == "__init__" else name.split(".")[:-1]
        for node, kind in statements(tree(path)):
            if isinstance(node, ast.ImportFrom) and node.level:
                base = [part for part in package[: len(package) - node.level + 1] if part]
                base += node.module.split(".") if node.module else []
                for alias in node.names:
                    whole = ".".join([*base, alias.name])
                    found.append(Import(name, whole if whole in known else ".".join(base), kind))
            elif isinstance(node, (ast.Import, ast.ImportFrom)):
                names = [node.module or ""] if isinstance(node, ast.ImportFrom) else [one.name for one in node.names]
                assert not any(each.split(".")[0] == "recapture" for each in names), f"{name} imports by whole names"
    return found


def layers() -> list[set[str]]:
    """The drawing, lowest layer first."""
    text = (ROOT / "ARCHITECTURE.md").read_text(encoding="utf-8")
    block = re.search(r"## Import layers\n(?:.*\n)*?((?:    .+\n)+)", text)
    assert block, "ARCHITECTURE.md has no drawing under 'Import layers'"
    return [set(line.split()) for line in reversed(block[1].splitlines())]


def unit(module: str) -> str:
    return module.split(".")[0]


def folder(module: str) -> str:
    return module if MODULES[module].stem == "__init__" else module.rpartition(".")[0]


MODULES = modules()
HEIGHT = {name: height for height, layer in enumerate(layers()) for name in layer}


def test_every_part_of_the_package_is_in_the_drawing():
    doors = {"", "__main__"}  # the public names, and python -m recapture: above everything
    assert {unit(name) for name in MODULES} - doors == set(HEIGHT)
    assert sum(map(len, layers())) == len(HEIGHT), "a part is drawn twice"


@pytest.mark.parametrize("kind", ["now", "lazy", "types"])
def test_nothing_imports_upwards(kind):
    """Neither when a module is imported, nor at first use, nor for type checkers."""
    upwards = [
        f"{one.importer} -> {one.imported}"
        for one in imports()
        if one.kind == kind
        and unit(one.importer) in HEIGHT
        and unit(one.importer) != unit(one.imported)
        and HEIGHT.get(unit(one.imported), len(HEIGHT)) >= HEIGHT[unit(one.importer)]
    ]
    assert upwards == []


@pytest.mark.parametrize("kinds", [{"now"}, {"now", "lazy", "types"}])
def test_no_cycle_between_folders(kinds):
    edges = defaultdict(set)
    for one in imports():
        # The public names of the whole package come from everywhere.
        if one.kind in kinds and folder(one.importer) != folder(one.imported) and folder(one.importer):
            edges[folder(one.importer)].add(folder(one.imported))
    for start in list(edges):
        reached, waiting = set(), [start]
        while waiting:
            for target in edges[waiting.pop()] - reached:
                reached.add(target)
                waiting.append(target)
        assert start not in reached, f"{start} imports itself by way of {sorted(reached)}"


def test_no_two_files_of_one_name():
    counted = Counter(path.stem for path in PACKAGE.rglob("*.py"))
    assert {name for name, times in counted.items() if times > 1} <= {"__init__", *ROOMS}
    for room in ROOMS:
        assert counted[room] == 3, f"sets, pairs and contexts each have {room}"


def test_no_two_files_of_one_name_in_the_studies():
    names = [path.stem for path in (ROOT / "studies" / "src").rglob("*.py") if path.stem != "__init__"]
    assert [name for name, times in Counter(names).items() if times > 1] == []


def test_no_two_classes_of_one_name():
    defined = Counter(
        node.name for path in PACKAGE.rglob("*.py") for node in tree(path).body if isinstance(node, ast.ClassDef)
    )
    assert [name for name, times in defined.items() if times > 1] == []
