"""The studies are users of recapture: what its __all__ does not have they must do without."""

import ast
from pathlib import Path

import pytest

import recapture as rc

SOURCES = sorted((Path(__file__).parents[1] / "src" / "recapture_studies").rglob("*.py"))
PUBLIC = {*rc.__all__, "__version__"}


def used_names(tree):
    """(line, what is wrong) of imports of recapture's modules, and of rc.NAME that is not public."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            for alias in node.names:
                if alias.name.split(".")[0] == "recapture" and (alias.name, alias.asname) != ("recapture", "rc"):
                    yield node.lineno, f"import {alias.name}"
        elif isinstance(node, ast.ImportFrom) and not node.level and (node.module or "").split(".")[0] == "recapture":
            for alias in node.names:
                if node.module != "recapture" or alias.name not in PUBLIC:
                    yield node.lineno, f"from {node.module} import {alias.name}"
        elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "rc":
            yield from [(node.lineno, f"rc.{node.attr}")] if node.attr not in PUBLIC else []


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.stem)
def test_public_names_alone(path):
    assert list(used_names(ast.parse(path.read_text(encoding="utf-8")))) == []


def test_the_check_sees_what_is_not_public():
    lines = [
        "import recapture.geometry",
        "from recapture.errors import InputError",
        "from recapture import no",
        "rc._no",
    ]
    assert [line for line, _ in used_names(ast.parse("\n".join(lines)))] == [1, 2, 3, 4]


def test_there_is_something_to_check():
    assert len(SOURCES) > 40
