"""What went in: copies, repeats and what was not seen, in results, tables and JSON."""

import copy
import json
import pickle

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run as recapture

HUMAN = [f"the {colour} {animal} of the {place} sleeps by the old stone wall" for colour in ("red", "grey", "small")
         for animal in ("fox", "hare", "owl", "cat") for place in ("north", "south")]  # fmt: skip
OTHER = [f"we {verb} a {thing} every {day} and talk about nothing much at all" for verb in ("buy", "sell", "paint")
         for thing in ("chair", "lamp", "boat", "door") for day in ("May", "June")]  # fmt: skip
MORE = [text.replace("sleeps by", "waits behind") for text in HUMAN]
KEYS = {"copied", "near_copied", "repeated", "near_repeated", "beyond_limit", "unseen_tokens", "unknown_pieces"}


def scored(candidates, **options):
    return rc.evaluate(HUMAN, candidates, "mmd", "bag-of-words", ceiling=False, **options)


def test_copies_and_repeats_are_counted_for_every_set():
    half = [*OTHER[:12], *HUMAN[:10], HUMAN[10].replace("  ", " ") + " ", HUMAN[3]]
    results = scored({"half": half, "own": OTHER}, reference_name="people")
    assert set(results.inputs) == {"people", "half", "own"}
    assert all(set(of_set) == KEYS for of_set in results.inputs.values())
    assert results.inputs["half"]["copied"] == 12  # ten, one with another blank, and one of the ten again
    assert results.inputs["half"]["repeated"] == 1
    assert results.inputs["own"]["copied"] == results.inputs["people"]["copied"] == 0
    assert results.inputs["people"]["beyond_limit"] is None or results.inputs["people"]["beyond_limit"] == 0
    assert "texts that the reference has word for word: half 12 of 24\n" in str(results)
    assert json.loads(results.to_json())["inputs"]["half"]["copied"] == 12


def test_a_reference_called_human_stands_beside_a_second_human_set():
    results = rc.evaluate(
        [*HUMAN, HUMAN[0]], OTHER, "mmd", "bag-of-words", ceiling=2, human=MORE, reference_name="human"
    )
    assert list(results.inputs) == ["human", "human (human)", "candidate"]
    assert [of_set["repeated"] for of_set in results.inputs.values()] == [1, 0, 0]


def test_ready_vectors_are_compared_row_by_row():
    rng = np.random.default_rng(0)
    reference = rng.standard_normal((30, 3))
    candidate = np.concatenate([reference[:4], rng.standard_normal((10, 3)), reference[:1]])
    inputs = rc.evaluate(reference, candidate, "mmd", ceiling=False).inputs
    assert inputs["candidate"]["copied"] == 5 and inputs["candidate"]["repeated"] == 1
    assert inputs["reference"]["copied"] == 0 and inputs["candidate"]["near_copied"] is None


def test_copies_are_held_against_how_often_these_people_repeat_each_other():
    """Twelve people say nearly the same in pairs: a system that says it as often copies no more than they do."""
    rng = np.random.default_rng(5)
    words = [f"{a}{b}" for a in ("ta", "ko", "mi", "re", "su", "po") for b in ("na", "li", "ve", "do", "ra", "shi")]

    def sentence():
        return " ".join(rng.choice(words, 12))

    alone = [sentence() for _ in range(16)]
    pairs = [sentence() for _ in range(12)]
    people = [
        *alone,
        *pairs,
        *(f"well then {text}" for text in pairs),
    ]  # 12 of 40 are near another, so 24 have a double
    new = [sentence() for _ in range(32)]
    usual = [*new, *(f"so now {text}" for text in pairs[:8])]  # 8 of 40 are near one of people's
    copier = [*new[:8], *(f"so now {text}" for text in (*alone, *pairs, *pairs[:4]))]  # 32 of 40

    def warned(candidate, reference=people):
        results = rc.evaluate(reference, {"it": candidate}, "mmd", "bag-of-words", ceiling=False)
        return [note for note in results["it"]["mmd"].warnings if "copies" in note]

    assert not warned(usual)
    (said,) = warned(copier)
    assert "0 of 40 samples of candidate 'it' stand in the reference and 32 nearly (12 of the reference's own" in said
    (plain,) = warned(usual, [*alone, *pairs])  # people who do not repeat each other
    assert "own" not in plain and "8 nearly: near copies flatter a model" in plain
    # Word for word is another matter: no two of these people did that.
    assert "scores of copies say nothing" in warned([*new, *people[:8]])[0]


def test_the_same_samples_on_both_sides_bring_a_warning():
    results = scored({"again": list(HUMAN), "other": OTHER})
    assert any("in the same order: is it the same file?" in warning for warning in results["again"]["mmd"].warnings)
    assert not any("same file" in warning for warning in results["other"]["mmd"].warnings)
    array = np.eye(6)
    same = rc.evaluate(array, array.copy(), "mmd", ceiling=False)["candidate"]["mmd"]
    assert any("is it the same file?" in warning for warning in same.warnings)


def test_a_candidate_may_have_the_name_of_the_reference():
    results = scored({"human.txt": OTHER}, reference_name="human.txt")
    assert set(results.inputs) == {"human.txt (reference)", "human.txt"}


def test_a_set_that_copies_brings_a_warning():
    results = scored({"half": [*OTHER[:12], *HUMAN[:12]], "own": OTHER})
    (said,) = (each for each in results["half"]["mmd"].warnings if each.endswith("of copies say nothing about a model"))
    assert said.startswith(
        "12 of 24 samples of candidate 'half' stand in the reference (23 of the reference's own 24 repeat"
    )
    assert not any("copies" in warning for warning in results["own"]["mmd"].warnings)


def test_candidates_may_be_called_as_the_other_sets_are():
    results = rc.evaluate(np.eye(12), {"reference": np.eye(12) * 2, "human": np.eye(12) * 3}, "mmd")
    assert set(results.inputs) == {"reference (reference)", "reference", "human"}


def test_copies_of_results_keep_what_belongs_to_all():
    results = scored({"one": OTHER, "two": OTHER[:20]})
    for again in (results.copy(), results | {}, copy.copy(results), pickle.loads(pickle.dumps(results))):
        assert type(again) is type(results) and again.inputs == results.inputs
    del results["two"]
    assert "two" not in str(results)
    results.clear()
    assert str(results) == "no results" and json.loads(results.to_json())["results"] == {}


def test_tensors_are_taken_as_before():
    torch = pytest.importorskip("torch")
    values = torch.eye(8, dtype=torch.bfloat16).requires_grad_()
    assert rc.evaluate(values, values * 2, "mmd", ceiling=False).inputs["candidate"]["copied"] == 0


def test_tables_say_what_the_vectors_cannot_see():
    assert "blind to the order of words" in str(scored({"own": OTHER}))
    assert "order of words" not in str(rc.evaluate(np.eye(6), np.eye(6)[::-1] * 2, "mmd", ceiling=False))


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, texts in (("human", HUMAN), ("model", OTHER), ("more", MORE)):
        rows = [{"text": text, "doc": place // 2} for place, text in enumerate(texts)]
        (tmp_path / f"{name}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))


def run(capsys, *arguments):
    given = ["-r", "human.jsonl", "-c", "model.jsonl", "--metrics", "mmd", "--encoder", "bag-of-words"]
    code = recapture(["score", *given, *arguments])
    return code, capsys.readouterr()


def test_groups_pairs_and_a_second_human_set_on_the_command_line(files, capsys):
    code, shown = run(capsys, "--pvalue", "9", "--group", "doc", "--format", "json")
    groups = json.loads(shown.out)["results"]["model.jsonl"]["mmd"]["inference"]["pvalues"]["groups"]
    assert code == 0 and groups == {"reference": 0, "candidate": 0, "both": 12}  # the same labels on both sides
    code, shown = run(capsys, "--pvalue", "9", "--paired", "--format", "json")
    content = json.loads(shown.out)
    assert content["results"]["model.jsonl"]["mmd"]["inference"]["pvalues"]["groups"]["both"] == 24
    assert content["any_difference"]["model.jsonl"] == pytest.approx(0.1)  # the smallest of 10 labellings
    code, shown = run(capsys, "--human", "more.jsonl")
    assert code == 0 and "against a second human set" in shown.out
    code, shown = run(capsys, "--human", "more.jsonl", "--group", "doc", "--sample", "20", "--format", "json")
    assert code == 0 and json.loads(shown.out)["results"]["model.jsonl"]["mmd"]["human"]["value"]["mean"] is not None


@pytest.mark.parametrize(
    "arguments, message",
    [
        (["--group", "author"], "no field 'author'"),
        (["--group", "doc", "--paired"], "paired samples are groups already"),
        (["--human", "nofile.txt"], "nofile.txt cannot be read"),
        (["--human", "more.jsonl", "--paired"], "a second human set has no pairs; give prompts as groups"),
    ],
)
def test_what_is_refused(files, capsys, arguments, message):
    code, shown = run(capsys, *arguments)
    assert code == 2 and message in shown.err and not shown.out
