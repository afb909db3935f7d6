"""The notebooks in docs are valid, have no outputs, and say in the end what their texts were built to give."""

import ast
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))
EACH = pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)


def test_there_are_three():
    names = ["choose-a-temperature", "watch-checkpoints", "which-texts-to-blame"]
    assert [path.stem for path in NOTEBOOKS] == names


@EACH
def test_valid_and_without_outputs(path):
    """nbformat 4.5's own demands: https://nbformat.readthedocs.io/en/latest/format_description.html"""
    content = json.loads(path.read_text(encoding="utf-8"))
    assert set(content) == {"cells", "metadata", "nbformat", "nbformat_minor"}
    assert (content["nbformat"], content["nbformat_minor"]) == (4, 5)
    assert content["metadata"]["kernelspec"]["name"] == "python3"
    names = [cell["id"] for cell in content["cells"]]
    assert len(set(names)) == len(names) and all(re.fullmatch(r"[A-Za-z0-9_-]{1,64}", name) for name in names)
    for cell in content["cells"]:
        assert isinstance(cell["metadata"], dict) and cell["cell_type"] in ("markdown", "code")
        assert all(isinstance(line, str) for line in cell["source"])
        assert all(line.endswith("\n") for line in cell["source"][:-1])
        keys = {"cell_type", "id", "metadata", "source"}
        if cell["cell_type"] == "code":
            assert (cell["outputs"], cell["execution_count"]) == ([], None)
            keys |= {"outputs", "execution_count"}
        assert set(cell) == keys
    kinds = [cell["cell_type"] for cell in content["cells"]]
    assert kinds[0] == kinds[-1] == "markdown"  # a story with an end
    assert content["cells"][0]["source"][0].startswith("# ")
    assert any("## The answer" in "".join(cell["source"]) for cell in content["cells"])


def executed(path):
    """All code cells in one namespace, in order; what a cell ends with is shown as a notebook would show it."""
    space: dict = {}
    for cell in json.loads(path.read_text(encoding="utf-8"))["cells"]:
        if cell["cell_type"] != "code":
            continue
        tree = ast.parse("".join(cell["source"]))
        last = ast.Expression(tree.body.pop().value) if isinstance(tree.body[-1], ast.Expr) else None
        exec(compile(tree, f"{path.name} {cell['id']}", "exec"), space)
        if last is not None:
            value = eval(compile(last, f"{path.name} {cell['id']}", "eval"), space)
            for form in ("_repr_html_", "_repr_png_"):
                shown = getattr(value, form, None)
                assert shown is None or shown() is None or len(shown()) > 100
    return space


@pytest.fixture
def offline(tmp_path, monkeypatch):
    """Neither a network nor files of the repository."""
    import socket

    pytest.importorskip("pandas")
    pytest.importorskip("matplotlib")
    monkeypatch.setattr(socket.socket, "connect", lambda *_: pytest.fail("a notebook asked for the network"))
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.mark.slow
def test_the_temperature_is_found(offline, capsys):
    """The model's weights are square roots of people's, and 1 / 0.5 squares them: T = 0.5 is exactly right."""
    space = executed(NOTEBOOKS[0])
    assert space["best"] == ["T = 0.5"]
    assert "So sample at T = 0.5" in capsys.readouterr().out


@pytest.mark.slow
def test_the_checkpoint_is_found(offline, capsys):
    """Step 800 has people's own weights (power 1), and no other step has."""
    space = executed(NOTEBOOKS[1])
    assert [step for step, power in space["learnt"].items() if power == 1] == [800]
    assert space["alike"] == ["step 800"] and "Stop at step 800." in capsys.readouterr().out


@pytest.mark.slow
def test_the_texts_are_found(offline, capsys):
    """What was planted: ten texts, a topic, a sentence twelve times, five copies."""
    space = executed(NOTEBOOKS[2])
    assert set(space["invented"]) <= space["on_list"] and len(space["others"]) <= 2  # at most a tenth of the list
    museums = [text for text in space["people"] if "museum" in text]
    assert all("museum" in text for text in space["lost"]) and len(space["lost"]) > len(museums) / 2
    assert space["again"][0].text == space["repeated"] and space["again"][0].score == 12
    assert {row.text for row in space["taken"]} >= set(space["copied"])
    assert "10 of 10 tax forms found" in capsys.readouterr().out


def test_the_documentation_leads_to_them():
    page = (ROOT / "docs" / "papers-and-notebooks.md").read_text(encoding="utf-8")
    assert all(f"(notebooks/{path.name})" in page for path in NOTEBOOKS)
