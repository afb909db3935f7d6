"""Systems compared from saved results: the tests that texts would give where scores are there, and one sentence where
they are not.
"""

import json

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run

PEOPLE = [f"it rained for {n} days in town {n % 7}" for n in range(30)]
SYSTEMS = {
    "good": [text if n % 3 else text[8:] for n, text in enumerate(PEOPLE)],
    "poor": [text.split()[0] if n % 2 else text[5:] for n, text in enumerate(PEOPLE)],
}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, texts in SYSTEMS.items():
        results = rc.evaluate_pairs(PEOPLE, {name: texts}, "bleu,rouge,ter")
        (tmp_path / f"{name}.json").write_text(results.to_json(arrays=True))
        (tmp_path / f"{name}-bare.json").write_text(results.to_json())
    return tmp_path


def changed(folder, name, change):
    content = json.loads((folder / name).read_text())
    change(content)
    (folder / "other.json").write_text(json.dumps(content))
    return "other.json"


def test_pairs_are_tested_as_their_texts_would_be(folder):
    """The same scores, swaps and resamples: all p-values of numbers that are means are those of `compare_pairs`, where
    items stand in order of content, as they do here for both.
    """
    order = sorted(range(30), key=lambda at: (PEOPLE[at], SYSTEMS["good"][at], SYSTEMS["poor"][at]))
    people = [PEOPLE[at] for at in order]
    systems = {name: [texts[at] for at in order] for name, texts in SYSTEMS.items()}
    for name, texts in systems.items():
        results = rc.evaluate_pairs(people, {name: texts}, "bleu,rouge,ter")
        (folder / f"{name}.json").write_text(results.to_json(arrays=True))
    saved = rc.compare_saved([folder / "good.json", folder / "poor.json"])
    whole = rc.compare_pairs(people, systems, "rouge")
    assert saved.systems == ["good", "poor"] and saved.ranks == whole.ranks
    for name, there in whole.differences["good", "poor"].items():
        here = saved.differences["good", "poor"][name]
        assert (here.value, here.low, here.high) == pytest.approx((there.value, there.low, there.high), abs=1e-12)
        assert (here.pvalue, here.distinct) == pytest.approx((there.pvalue, there.distinct), abs=1e-12)
    assert "bleu" not in saved.numbers and "bleu, ter (of the whole corpus" in " ".join(saved.notes)
    assert saved.gate("worse", baseline="good").failed and not saved.gate("worse", baseline="poor").failed


def test_contexts_are_tested_as_their_texts_would_be(tmp_path):
    people = {f"{n:02d}": [f"a cat on mat {n}", f"mat {n} has a cat"] for n in range(14)}
    systems = {
        "near": {name: [texts[0], f"{texts[1]} too"] for name, texts in people.items()},
        "far": {name: ["a dog", f"dogs {name}"] for name in people},
    }
    paths = []
    for name, own in systems.items():
        given = [{"id": key, "references": people[key], "candidates": own[key]} for key in people]
        results = rc.evaluate_contexts(given, "trm-rouge-l,rouge-l,dispersion-rouge-l", resume=False)
        paths.append(tmp_path / f"{name}.json")
        paths[-1].write_text(results.to_json(arrays=True))
    saved = rc.compare_saved(paths)
    whole = rc.compare_contexts(people, {f"{name}.json": own for name, own in systems.items()}, "trm-rouge-l,rouge-l",
                                resume=False)  # fmt: skip
    assert saved.values == whole.values and saved.ranks == whole.ranks
    for name, there in whole.differences["near.json", "far.json"].items():
        here = saved.differences["near.json", "far.json"][name]
        assert (here.value, here.distinct) == pytest.approx((there.value, there.distinct), abs=1e-12)
    assert any("dispersion-rouge-l" in note for note in saved.notes)
    other = json.loads(paths[0].read_text())
    del other["results"]["records"]
    paths[0].write_text(json.dumps(other))
    with pytest.raises(rc.InputError, match=r"near.json hold no scores of single contexts, which a test needs: save"):
        rc.compare_saved(paths)
    other["results"]["records"] = json.loads(paths[1].read_text())["results"]["records"][::-1]
    paths[0].write_text(json.dumps(other))
    with pytest.raises(rc.InputError, match=r"near.json and far.json have different contexts"):
        rc.compare_saved(paths)


def test_sets_are_told_without_any_test(tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, near, far = np.random.default_rng(0).standard_normal((3, 60, 4))
    for name, rows in (("near", near), ("far", far[:50] + 1)):
        results = rc.evaluate(people, {name: rows}, "precision-recall,mmd")
        (tmp_path / f"{name}.json").write_text(results.to_json())
    saved = rc.compare_saved(["near.json", "far.json"])
    assert saved.values["far"]["precision-recall.precision"] == rc.precision_recall(people, far[:50] + 1).precision
    assert "hold no vectors" in saved.verdict[0] and "cannot be told" in saved.verdict[0]
    assert saved.left_out == {"mmd": "each file chose another bandwidth from its own texts"}
    assert "mmd (each file chose another bandwidth from its own texts)" in " ".join(saved.notes)
    assert "This is without mmd (each file chose another bandwidth" in saved.verdict[1]
    assert "systems differ in size (near 60, far 50 samples)" in " ".join(saved.notes)
    assert not {"pvalue", "adjusted", "distinct"} & set(json.loads(saved.to_json())["results"])
    assert run(["compare", "near.json", "far.json", "--fail-if", "precision < 0.9"]) == 1
    assert "failed: far has precision-recall.precision" in capsys.readouterr().err
    assert run(["compare", "near.json", "far.json", "--baseline", "near", "--fail-if", "worse", "-o", "out.json"]) == 2
    assert "whether one system is worse than another cannot be told" in capsys.readouterr().err
    assert not (tmp_path / "out.json").exists()
    with pytest.raises(rc.InputError, match="no system 'nar'; did you mean near"):
        saved.gate("precision < 1", baseline="nar")
    assert run(["compare", "near.json", "far.json", "--report", "page.html", "-o", "out.csv"]) == 0
    assert "hold no vectors" in (tmp_path / "page.html").read_text()
    compared = rc.compare(people, {"a": near, "b": far + 1}, "precision-recall")
    (tmp_path / "both.json").write_text(compared.to_json())
    again = rc.compare_saved(["both.json", "near.json"])
    assert again.systems == ["a", "b", "near"] and "hold no vectors" in again.verdict[0]
    assert str(saved).startswith("Saved results") and saved.to_markdown().startswith("- Saved results")


def other_encoder(content):
    for own in content["results"]["poor"].values():
        own["signature"]["encoder"] = {"encoder": "some/model", "torch": "1"}


def other_settings(content):
    content["results"]["poor"]["rouge"]["signature"]["stemmer"] = True


WRONG = {
    "schema": (lambda content: content.update(schema=7), "other.json has schema 7, written by recapture"),
    "kind": (lambda content: content.update(kind="sets"), "good.json holds results of pairs and other.json of sets"),
    "no systems": (lambda content: content.update(kind="agreement"), "results of 'agreement', which are none of"),
    "encoder": (other_encoder, "were made with different encoders: encoder None and 'some/model'"),
    "settings": (other_settings, "rouge, were made with different settings: stemmer False and True"),
    "reference": (
        lambda content: content.update(reference_content="0"),
        "good.json and other.json are of different human texts: their numbers cannot",
    ),
    "sizes": (
        lambda content: content["results"]["poor"]["bleu"]["sizes"].update(reference=9),
        "good.json and other.json are of different human texts: 30 and 9 of them",
    ),
    "metrics": (
        lambda content: content.update(results={"poor": {"x": content["results"]["poor"]["bleu"]}}),
        "have no metric in common: bleu, rouge, ter and x",
    ),
    "damage": (lambda content: content["results"]["poor"]["rouge"].pop("values"), "the saved result of poor, rouge is"),
    "no results": (lambda content: content.pop("kind"), "other.json holds no results that recapture saved as JSON"),
}  # fmt: skip


@pytest.mark.parametrize("what", WRONG)
def test_results_that_do_not_go_together_are_one_sentence(what, folder, capsys):
    change, words = WRONG[what]
    other = changed(folder, "poor.json", change)
    before = sorted(path.name for path in folder.iterdir())
    assert run(["compare", "good.json", other, "--output", "out.json"]) == 2
    (line,) = capsys.readouterr().err.strip().splitlines()
    assert words in line
    assert sorted(path.name for path in folder.iterdir()) == before


def test_a_verdict_says_which_numbers_it_is_without(folder, capsys):
    compared = rc.compare_saved(["good.json", "poor.json"])
    corpus = {"bleu", "ter"}  # numbers of the whole corpus: their counts are in no file
    assert set(compared.left_out) == corpus and not corpus & set(compared.numbers)
    assert compared.verdict[1].startswith("This is without bleu, ter (of the whole corpus, and no file")
    assert compared.verdict[1] in str(compared) and compared.verdict[1] in json.loads(compared.to_json())["verdict"]
    assert run(["compare", "good.json", "poor.json"]) == 0
    assert "This is without bleu, ter" in capsys.readouterr().out
    fewer = changed(folder, "poor.json", lambda content: content["results"]["poor"].pop("ter"))
    left = rc.compare_saved(["good.json", fewer]).left_out
    assert left["ter"] == "not in all files" and "bleu" in left
    assert len(compared.verdict) <= 5


def test_what_is_missing_is_said(folder, capsys):
    assert run(["compare", "good.json", "poor-bare.json"]) == 2
    said = capsys.readouterr().err
    assert "the results of poor hold no scores of single items, which a test needs: save them with arrays" in said
    assert "(see --arrays)" in said
    silent = changed(folder, "poor.json", lambda content: content.pop("reference_content"))
    assert any(
        "does not say which human texts it is of" in note for note in rc.compare_saved(["good.json", silent]).notes
    )
    with pytest.raises(rc.InputError, match=r"good.json holds one system alone, 'good'"):
        rc.compare_saved(["good.json"])
    with pytest.raises(rc.InputError, match="a list of files"):
        rc.compare_saved("good.json")
    with pytest.raises(rc.InputError, match="there are no saved results"):
        rc.compare_saved([])
    with pytest.raises(rc.InputError, match=r"good.json is given twice"):
        rc.compare_saved(["good.json", "good.json"])
    both = rc.compare_saved(["good.json", changed(folder, "good.json", lambda content: None)])
    assert both.systems == ["good.json: good", "other.json: good"]
    assert both.tied(*both.systems)


def test_only_what_goes_with_saved_results(folder, capsys):
    assert run(["compare", "good.json", "poor.json", "--metrics", "rouge"]) == 2
    assert "good.json is taken for saved results, which --metrics does not go with" in capsys.readouterr().err
    assert run(["compare", "human.txt", "model.txt"]) == 2
    assert "name human texts with -r, others with -c" in capsys.readouterr().err
    assert run(["compare", "good.json", "poor.json", "--output", "good.json"]) == 2
    assert "it is an input" in capsys.readouterr().err
    assert run(["compare", "good.json", "poor.json", "--report", "page.html", "-o", "out.json", "--level", "0.1"]) == 0
    assert "good is closest to people" in (folder / "page.html").read_text()
    found = json.loads((folder / "out.json").read_text())
    assert found["level"] == 0.1 and found["kind"] == "compare pairs"
    # What was compared once holds the results of its systems, but not their scores.
    assert run(["compare", "out.json"]) == 2
    assert "hold no scores of single items" in capsys.readouterr().err
    (folder / "texts.txt").write_text("\n".join(PEOPLE))
    (folder / "same.txt").write_text("\n".join(PEOPLE))
    assert run(["pairs", "-r", "texts.txt", "-c", "same.txt", "--metrics", "rouge", "--arrays", "--format", "md"]) == 2
    assert "--arrays goes with --format json, not md" in capsys.readouterr().err


@pytest.mark.parametrize(
    "change",
    [
        lambda own: own.update(poor=None),
        lambda own: own["poor"].update(rouge=5),
        lambda own: own["poor"]["rouge"].update(signature=None),
        lambda own: own["poor"]["rouge"].update(direction="sideways"),
        lambda own: own["poor"]["rouge"]["arrays"]["rougeL_scores"].pop(),
    ],
)
def test_damaged_results_are_one_sentence(change, folder, capsys):
    other = changed(folder, "poor.json", lambda content: change(content["results"]))
    assert run(["compare", other, "good.json", "-o", "found.txt"]) == 2
    said = capsys.readouterr().err.strip()
    assert "other.json" in said and "damaged" in said and len(said.splitlines()) == 1
    assert not (folder / "found.txt").exists()
