"""What pyproject.toml declares is what the package imports, no more and no less."""

import ast
import re
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

import recapture

PACKAGE = Path(recapture.__file__).parent
# Where the name to import is not the name to install.
IMPORTED_AS = {"pot": "ot", "rouge-score": "rouge_score", "huggingface-hub": "huggingface_hub", "opentsne": "openTSNE"}

# torch brings it where it has CUDA; elsewhere its import fails and torch alone does the work.
BROUGHT_ALONG = {"triton"}


def declared():
    """Import names of what is declared, without the extras for benchmarks, tests and development."""
    names = set()
    for requirement in requires("recapture"):
        wanted, _, marker = requirement.partition(";")
        extra = re.search(r"extra == ['\"]([\w-]+)", marker)
        if extra is None or extra[1] not in ("bench", "test", "dev"):
            name = re.match(r"[\w-]+", wanted)[0].lower()
            names.add(IMPORTED_AS.get(name, name.replace("-", "_")))
    return names


@pytest.fixture(scope="module")
def trees():
    return [ast.parse(path.read_text(encoding="utf-8")) for path in PACKAGE.rglob("*.py")]


def imported(trees):
    """Top names of absolute imports that run: what only type checkers see does not count."""
    names = set()
    nodes = list(trees)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            continue
        if isinstance(node, ast.Import):
            names |= {alias.name.partition(".")[0] for alias in node.names}
        elif isinstance(node, ast.ImportFrom) and node.level == 0:
            names.add(node.module.partition(".")[0])
        nodes += [child for child in ast.iter_child_nodes(node) if not isinstance(child, ast.expr)]
    return names


def words(trees):
    """Top names in strings: packages that are imported or looked for by name."""
    strings = {node.value for tree in trees for node in ast.walk(tree) if isinstance(node, ast.Constant)}
    return {text.partition(".")[0] for text in strings if isinstance(text, str) and re.fullmatch(r"[\w.]+", text)}


@pytest.mark.slow
def test_everything_imported_is_declared(trees):
    assert imported(trees) - set(sys.stdlib_module_names) - {"recapture"} - BROUGHT_ALONG <= declared()


@pytest.mark.slow
def test_everything_declared_is_imported(trees):
    assert declared() <= imported(trees) | words(trees)
