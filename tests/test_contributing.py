"""CONTRIBUTING.md's worked example runs; citation, pins and changelog say what the package says."""

import re
import subprocess
import sys
from importlib.metadata import requires
from pathlib import Path

import pytest

import recapture as rc

ROOT = Path(__file__).parent.parent
PYTHON_BLOCK = re.compile(r"^```python\n(.*?)^```", re.MULTILINE | re.DOTALL)


@pytest.mark.traced
@pytest.mark.slow
def test_the_worked_example_is_a_metric_in_one_file(tmp_path):
    """The first block as if it lay in the folder that the page names; the second is what a user then types."""
    page = (ROOT / "CONTRIBUTING.md").read_text(encoding="utf-8")
    metric, use = PYTHON_BLOCK.findall(page)
    (place,) = re.findall(r"The whole of `src/(recapture/\S+)\.py`", page)
    package, _, name = place.replace("/", ".").rpartition(".")
    (tmp_path / f"{name}.py").write_text(metric, encoding="utf-8")
    as_if_there = f"import {package}\n{package}.__path__.append({str(tmp_path)!r})\n"
    listed = "from recapture.cli import main\nmain(['list'])\n"
    ran = subprocess.run([sys.executable, "-c", as_if_there + use + listed], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
    assert "mean-gap" in ran.stdout


@pytest.mark.parametrize("page", ["CONTRIBUTING.md", "RELEASING.md", "ARCHITECTURE.md", "CHANGELOG.md"])
def test_links_and_targets_exist(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    for target in re.findall(r"\]\(([^)#:]+)\)", text):
        assert (ROOT / target).exists(), target
    for target in re.findall(r"`(src/[\w/.]+)`", text):
        assert (ROOT / target).exists() or target.endswith("mean_gap.py"), target
    for target in re.findall(r"^make (\w+)", text, re.MULTILINE):
        subprocess.run(["make", "-n", target], cwd=ROOT, check=True, capture_output=True)


def test_citation_has_the_version_and_all_that_the_format_asks_for():
    text = (ROOT / "CITATION.cff").read_text(encoding="utf-8")
    top = dict(re.findall(r"^([a-z-]+): *(.*)$", text, re.MULTILINE))
    assert {"cff-version", "message", "title", "authors"} <= set(top)
    assert (top["cff-version"], top["version"], top["license"]) == ("1.2.0", rc.__version__, "Apache-2.0")
    assert text.count("\n  - type: ") == 3 == text.count("\n    title: ") == text.count("\n    authors:")


def test_changelog_begins_with_this_version_and_dates_the_rest():
    headings = re.findall(r"^## (.*)$", (ROOT / "CHANGELOG.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert headings[0].startswith(f"{rc.__version__} ")
    assert all(re.fullmatch(r"\d+\.\d+\.\d+ \((unreleased|\d{4}-\d{2}-\d{2})\)", heading) for heading in headings)


def test_oldest_pins_are_the_declared_bounds():
    """constraints-oldest.txt: for every declared `name>=version`, exactly that version; torch apart."""
    pinned = dict(re.findall(r"^([\w-]+)==([\w.]+)$", (ROOT / "constraints-oldest.txt").read_text(), re.MULTILINE))
    extras = ("models", "offline", "parquet", "storage", "pandas", "plot", "test")
    declared = {}
    own = {"recapture", "recapture-studies"}
    for requirement in [*requires("recapture"), *requires("recapture-studies")]:
        wanted, _, marker = requirement.partition(";")
        extra = re.search(r"extra == ['\"]([\w-]+)", marker)
        if extra is None or extra[1] in extras:
            declared.update(re.findall(r"^([\w-]+)>=([\w.]+)", wanted.strip()))
    declared = {name: bound for name, bound in declared.items() if name not in own}
    del declared["torch"], pinned["torch"]
    assert set(pinned) == set(declared)
    for name, bound in declared.items():
        assert [*pinned[name].split("."), "0", "0"][:3] == [*bound.split("."), "0", "0"][:3], name
