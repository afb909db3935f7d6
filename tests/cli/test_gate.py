"""`recapture compare --fail-if` and `recapture baseline`: exit codes, one sentence, nothing half-written."""

import io
import json
import os
import re
import subprocess
import sys
from itertools import product

import numpy as np
import pytest
from safetensors import safe_open
from safetensors.numpy import load_file, save_file

import recapture as rc
from recapture.cli.app import run
from recapture.systems.gate import conditions, full_name
from recapture.systems.stored_baseline import is_stored_baseline

VECTORS = ["--metrics", "mmd,precision-recall"]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    for name, shift in (("human", 0), ("old", 0), ("new", 0), ("bad", 1.5)):
        np.save(tmp_path / f"{name}.npy", rng.standard_normal((60, 4)) + shift)
    words = ["sun", "rain", "wind", "snow", "fog", "hail"]
    people = [f"{a} then {b} over town {at}" for at, (a, b) in enumerate(product(words, words[:4]))]
    (tmp_path / "refs.txt").write_text("\n".join(people) + "\n")
    (tmp_path / "good.txt").write_text("\n".join(people[:12] + [f"{text} maybe" for text in people[12:]]) + "\n")
    (tmp_path / "poor.txt").write_text("\n".join(text.split()[0] for text in people) + "\n")
    return tmp_path


def said(capsys):
    return capsys.readouterr().err.strip().splitlines()


def test_worse_fails_with_one_sentence_and_all_else_passes(folder, capsys):
    sets = ["compare", "-r", "human.npy", "-c", "bad.npy", *VECTORS, "--output", "out.json"]
    assert run([*sets, "--baseline", "old.npy", "--fail-if", "worse"]) == 1
    assert (folder / "out.json").exists()  # a build that fails has its report all the same
    last = said(capsys)[-1]
    assert last.startswith("recapture: failed: bad.npy is worse than old.npy by ")
    assert "half-widths of the human band, p 0.00" in last
    found = json.loads((folder / "out.json").read_text())["results"]["values"]
    assert set(found) == {"bad.npy", "old.npy"}
    sets[4] = "new.npy"
    assert run([*sets, "--baseline", "old.npy", "--fail-if", "worse"]) == 0
    assert said(capsys)[-1] == "recapture: passed: none is surely worse than old.npy"
    assert run([*sets, "--baseline", "old.npy"]) == 0 and "passed" not in said(capsys)[-1]


@pytest.mark.traced
@pytest.mark.slow
def test_a_baseline_by_name_by_file_of_a_candidate_and_with_tolerance(folder, capsys):
    named = ["compare", "-r", "human.npy", "-c", "bad.npy", "-c", "old.npy", "--metrics", "mmd", "-o", "out.json"]
    names = ["--name", "this", "--name", "that"]
    assert run([*named, *names, "--baseline", "that", "--fail-if", "worse"]) == 1
    assert "this is worse than that by mmd" in said(capsys)[-1]
    assert run([*named, *names, "--baseline", "./old.npy", "--fail-if", "worse"]) == 1
    assert "this is worse than that by mmd" in said(capsys)[-1]
    assert run([*named, "--baseline", "bad.npy", "--fail-if", "worse"]) == 0
    assert run([*named, "--baseline", "old.npy", "--fail-if", "worse", "--tolerance", "1000"]) == 0


@pytest.mark.traced
@pytest.mark.slow
def test_limits_on_numbers(folder, capsys):
    sets = ["compare", "-r", "human.npy", "-c", "new.npy", "-c", "bad.npy", *VECTORS, "--no-ceiling", "-o", "out.json"]
    whole = rc.precision_recall(np.load("human.npy"), np.load("bad.npy")).precision
    assert run([*sets, "--fail-if", f"precision < {whole + 1e-9}"]) == 1
    assert f"bad.npy has precision-recall.precision {whole:.4f}, which is below" in said(capsys)[-1]
    assert run([*sets, "--fail-if", f"precision-recall.precision < {whole}"]) == 0
    assert run([*sets, "--fail-if", f"precision <= {whole}"]) == 1
    assert run([*sets, "--fail-if", "mmd.value>=0.1", "--fail-if", "recall > 0.999"]) == 1
    assert said(capsys)[-1].count("bad.npy has mmd") == 1
    # Of the baseline nothing is asked.
    assert run([*sets, "--baseline", "bad.npy", "--fail-if", "mmd > 0.1"]) == 0
    assert said(capsys)[-1] == "recapture: passed: no number is beyond its limit"


@pytest.mark.slow
def test_pairs_and_contexts_have_gates(folder, capsys):
    pairs = ["compare", "--pairs", "-r", "refs.txt", "--metrics", "bleu,chrf", "-o", "out.json"]
    assert run([*pairs, "-c", "poor.txt", "--baseline", "good.txt", "--fail-if", "worse"]) == 1
    last = said(capsys)[-1]
    assert "poor.txt is worse than good.txt by " in last and "half-widths" not in last
    assert run([*pairs, "-c", "good.txt", "--baseline", "poor.txt", "--fail-if", "worse"]) == 0
    assert run([*pairs, "-c", "good.txt", "-c", "poor.txt", "--fail-if", "bleu < 0.2"]) == 1
    rows = [{"id": str(at), "references": [f"a cat {at}", f"the cat {at}"]} for at in range(12)]
    for name, texts in (("near", ["a cat {}", "the cat {}"]), ("far", ["dogs", "dogs run"])):
        lines = [json.dumps({**row, "candidates": [text.format(row["id"]) for text in texts]}) for row in rows]
        (folder / f"{name}.jsonl").write_text("\n".join(lines))
    contexts = ["compare", "--contexts", "--metrics", "rouge-l", "-o", "out.json", "--no-cache"]
    assert run([*contexts, "-c", "far.jsonl", "--baseline", "near.jsonl", "--fail-if", "worse"]) == 1
    assert "far.jsonl is worse than near.jsonl by rouge-l" in said(capsys)[-1]
    both = [json.dumps({**row, "one": ["a cat", "cat"], "two": ["x", "y"]}) for row in rows]
    (folder / "both.jsonl").write_text("\n".join(both))
    fields = ["both.jsonl", "--candidates-field", "one", "--candidates-field", "two"]
    assert run([*contexts, *fields, "--baseline", "one", "--fail-if", "worse"]) == 1
    assert run([*contexts, *fields, "--baseline", "two", "--fail-if", "worse"]) == 0


def test_so_few_items_that_none_can_be_worse(folder, capsys):
    """Of four items one way to swap is one of sixteen: 0.0625."""
    for name in ("refs", "good", "poor"):
        lines = (folder / f"{name}.txt").read_text().splitlines()[12:16]
        (folder / f"{name}.txt").write_text("\n".join(lines) + "\n")
    pairs = ["compare", "--pairs", "-r", "refs.txt", "-c", "poor.txt", "--metrics", "chrf", "-o", "out.json"]
    assert run([*pairs, "--baseline", "good.txt", "--fail-if", "worse"]) == 0
    assert said(capsys)[-1].endswith("none is surely worse than good.txt (too few items to call any worse)")
    assert run([*pairs, "--baseline", "good.txt", "--fail-if", "worse", "--level", "0.07"]) == 1
    for alone in (pairs, ["compare", "-r", "human.npy", "-c", "new.npy"]):
        assert run(alone) == 2
        assert "comparing takes two systems or more: -c twice, or --baseline" in said(capsys)[-1]


BAD = {
    "a number that nobody knows": (["--fail-if", "precison < 1"], "no number is called 'precison'; did you mean prec"),
    "no condition": (["--fail-if", "mmd"], "cannot read the condition 'mmd'"),
    "a limit that is no number": (["--fail-if", "mmd < few"], "cannot read the condition 'mmd < few'"),
    "a limit without end": (["--fail-if", "mmd < inf"], "cannot read the condition"),
    "worse than nothing": (["--fail-if", "worse"], "worse than what? Name the baseline (see --baseline)"),
    "tolerance alone": (["--tolerance", "1"], "--tolerance goes with --fail-if worse"),
    "tolerance of limits": (["--tolerance", "1", "--fail-if", "mmd < 1"], "--tolerance goes with --fail-if worse"),
    "tolerance below 0": (
        ["--tolerance", "-1", "--fail-if", "worse", "--baseline", "new.npy"], "tolerance must be a number from 0 on"
    ),
    "tolerance without a band": (
        ["--tolerance", "1", "--fail-if", "worse", "--baseline", "new.npy", "--no-ceiling"], "has none here"
    ),
    "no such baseline": (
        ["--fail-if", "worse", "--baseline", "nww.npy"],
        "--baseline nww.npy is neither a file nor the name of a system; did you mean new.npy",
    ),
    "paired sets of two sizes": (
        ["--paired", "-c", "short.npy"],
        "paired sets have one size, but reference human.npy has 60 samples and candidate 'short.npy' has 30",
    ),
    "a report where none can be": (
        ["--report", "missing/out.html"], "cannot write missing/out.html: there is no directory missing"
    ),
    "a report that is a folder": (["--report", "folder.html"], "cannot write folder.html: it is a directory"),
    "a report that is an input": (["--report", "page.html", "--baseline", "page.html"], "it is an input"),
}  # fmt: skip


@pytest.mark.parametrize("case", BAD)
def test_bad_input_is_one_sentence_and_nothing_is_written(case, folder, capsys):
    options, words = BAD[case]
    np.save(folder / "short.npy", np.zeros((30, 4)) + np.arange(30)[:, None])
    (folder / "folder.html").mkdir()
    (folder / "page.html").write_text("some text\n" * 30)
    before = sorted(path.name for path in folder.iterdir())
    sets = ["compare", "-r", "human.npy", "-c", "new.npy", "-c", "old.npy", "-o", "out.json"]
    assert run([*sets, *([] if "--metrics" in options else VECTORS), *options]) == 2
    (line,) = said(capsys)
    assert words in line
    assert sorted(path.name for path in folder.iterdir()) == before


def test_names_of_numbers():
    known = ["mmd", "precision-recall.precision", "prd.precision", "prd.f8"]
    assert full_name("f8", known) == "prd.f8" and full_name("mmd.value", known) == "mmd"
    assert full_name("prd.precision", known) == "prd.precision"
    with pytest.raises(rc.InputError, match=r"'precision' may be precision-recall\.precision or prd\.precision: write"):
        full_name("precision", known)
    for wrong in (3, {"mmd": 1}, []):
        with pytest.raises(rc.InputError, match="condition"):
            conditions(wrong, None)


def test_limits_that_a_number_cannot_reach_are_refused():
    """Shares lie between 0 and 1, distances above 0: percents would always fail a build, or never."""
    people, old, new = np.random.default_rng(0).standard_normal((3, 40, 4))
    compared = rc.compare(people, {"old": old, "new": new}, "precision-recall,frechet", ceiling=False)
    for condition, words in {
        "recall < 90": "precision-recall.recall is from 0 to 1: 'precision-recall.recall < 90' always holds",
        "recall > 90": "precision-recall.recall is from 0 to 1: 'precision-recall.recall > 90' never holds",
        "recall < 0": "precision-recall.recall is from 0 to 1: 'precision-recall.recall < 0' never holds",
        "recall > -1": "precision-recall.recall is from 0 to 1: 'precision-recall.recall > -1' always holds",
        "frechet < -1": "frechet is never below 0: 'frechet < -1' never holds",
    }.items():
        with pytest.raises(rc.InputError, match=re.escape(words)):
            compared.gate(condition)
    assert not compared.gate(["recall <= 0", "frechet > 1000"]).failed


def test_gates_say_what_people_score_and_by_what_the_worse_one_wins():
    """Half of people's texts lie elsewhere. The old system has that half alone not; the new one has all, and much that
    no human wrote: worse in precision, better in recall.
    """
    rng = np.random.default_rng(3)
    people = rng.standard_normal((160, 3)) + np.repeat([[0.0], [9.0]], 80, axis=0)
    old = rng.standard_normal((160, 3))
    new = rng.standard_normal((160, 3)) + np.repeat([[0.0], [9.0], [-9.0]], (50, 50, 60), axis=0)
    compared = rc.compare(people, {"old": old, "new": new}, "precision-recall")
    sentence = compared.gate("worse", baseline="old").sentence
    assert sentence.startswith("failed: new is worse than old by precision-recall.precision (")
    assert sentence.endswith("), but closer to people by precision-recall.recall")
    assert "but closer" not in compared.gate("worse", baseline="new").sentence.partition(" by ")[0]
    human = compared.results["old"]["precision-recall"].human["recall"].mean
    said = f"(human parts have {human:.4f})"
    assert compared.gate("recall < 0.7", baseline="new").sentence.endswith(f"which is below 0.7 {said}")
    with pytest.raises(rc.InputError, match=re.escape(f"'precision-recall.recall > 90' never holds {said}")):
        compared.gate("recall > 90")


def test_a_number_that_is_not_there_cannot_be_judged(folder):
    compared = rc.compare(np.load("human.npy"), {"a": np.load("old.npy"), "b": np.load("new.npy")}, "mmd")
    compared.values["a"]["mmd"] = float("nan")
    with pytest.raises(rc.InputError, match="a has no mmd, so that 'mmd < 1' cannot be told"):
        compared.gate("mmd < 1")
    with pytest.raises(rc.InputError, match="no system 'c'"):
        compared.gate("worse", baseline="c")


# Stored baselines

KEEP = ["baseline", "-r", "human.npy", "-c", "old.npy", "--name", "released", "--output", "kept.safetensors"]


@pytest.mark.traced
@pytest.mark.slow
def test_a_stored_baseline_gives_the_numbers_of_its_files(folder, capsys):
    assert run([*KEEP, *VECTORS]) == 0
    (line,) = said(capsys)
    assert line.startswith("recapture: wrote kept.safetensors: vectors of 60 human texts and 60 of released, no texts")
    with safe_open("kept.safetensors", "numpy") as file:
        assert set(file.keys()) == {"reference", "system"}
        assert file.metadata()["holds"].startswith("vectors of people's texts and of a system's texts; no texts")
        assert np.array_equal(file.get_tensor("system"), np.load("old.npy"))
    assert (
        run(["compare", "-c", "bad.npy", "--baseline", "kept.safetensors", "--fail-if", "worse", "-o", "kept.json"])
        == 1
    )
    assert "bad.npy is worse than released by" in said(capsys)[-1]
    plain = ["compare", "-r", "human.npy", "-c", "bad.npy", "-c", "old.npy", "--name", "bad.npy", "--name", "released"]
    assert run([*plain, *VECTORS, "-o", "plain.json"]) == 0
    kept, files = (json.loads((folder / name).read_text())["results"] for name in ("kept.json", "plain.json"))
    assert kept["values"] == files["values"] and kept["differences"] == files["differences"]


@pytest.mark.traced
@pytest.mark.slow
def test_a_stored_baseline_counts_among_systems_in_an_order(folder, capsys):
    rc.save_baseline("kept.safetensors", np.load("human.npy"), np.load("old.npy"), "mmd", name="old")
    command = ["compare", "-c", "new.npy", "--baseline", "kept.safetensors", "--no-ceiling", "--report", "out.html"]
    assert run([*command, "--series", "1"]) == 2
    assert "a series of 2 systems takes 2 numbers" in said(capsys)[-1] and not (folder / "out.html").exists()
    assert run([*command, "--series", "1,2"]) == 0
    assert "mmd, in order" in (folder / "out.html").read_text("utf-8")


def test_a_baseline_of_texts_takes_texts_of_the_same_encoder(folder, monkeypatch):
    people = (folder / "refs.txt").read_text().splitlines()
    old, new = people[::-1], [text.upper() for text in people]

    def lengths(texts):
        return np.array([[len(text), text.count(" "), ord(text[0]), text.count("a")] for text in texts], float)

    lengths.name = "lengths"
    rc.save_baseline("kept.safetensors", people, old, "mmd", lengths, name="old")
    found = rc.compare(None, {"new": new}, None, lengths, baseline="kept.safetensors")
    assert found.systems == ["new", "old"] and list(found.numbers) == ["mmd"]
    together = rc.compare(people, {"new": new, "old": old}, "mmd", lengths)
    assert found.values == together.values
    assert found.results["new"]["mmd"].signature["encoder"] == together.results["new"]["mmd"].signature["encoder"]
    with pytest.raises(rc.InputError, match=r"made with another encoder: encoder .*, not 'bag-of-words'"):
        rc.compare(None, {"new": new}, None, "bag-of-words", baseline="kept.safetensors")
    with pytest.raises(rc.InputError, match="was made from texts, but the systems are ready vectors"):
        rc.compare(None, {"new": lengths(new)}, baseline="kept.safetensors")
    with pytest.raises(rc.InputError, match="two systems are called 'old'"):
        rc.compare(None, {"old": new}, None, lengths, baseline="kept.safetensors")


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"metrics": "prd"}, "made with other settings: metrics mmd, precision-recall, not prd"),
        ({"k": 4}, "made with other settings: k each metric's own, not 4"),
        ({"options": {"mmd": {"bandwidth": 1.0}}}, "made with other settings: options"),
        ({"paired": True}, "made with other settings: paired False, not True"),
        ({"reference": [[0.0] * 4] * 60}, "brings people's texts: leave reference out"),
        ({"human": [[0.0] * 4] * 60}, "brings people's texts: leave human out"),
    ],
)
def test_other_settings_are_refused(options, words, folder):
    rc.save_baseline("kept.safetensors", np.load("human.npy"), np.load("old.npy"), "mmd,precision-recall")
    reference = options.pop("reference", None)
    with pytest.raises(rc.InputError, match=words):
        rc.compare(reference, {"new": np.load("new.npy")}, baseline="kept.safetensors", **options)


@pytest.mark.traced
@pytest.mark.slow
def test_groups_and_pairs_are_kept(folder):
    people, old, new = (np.load(f"{name}.npy") for name in ("human", "old", "new"))
    labels = [f"text {place // 3}" for place in range(60)]
    rc.save_baseline("kept.safetensors", people, old, "mmd", name="old", reference_groups=labels, groups=labels)
    found = rc.compare(None, {"new": new}, baseline="kept.safetensors", groups={"new": labels})
    given = {"new": labels, "old": labels}
    plain = rc.compare(people, {"new": new, "old": old}, "mmd", reference_groups=labels, groups=given)
    assert found.differences["new", "old"]["mmd"] == plain.differences["new", "old"]["mmd"]
    with pytest.raises(rc.InputError, match=r"has groups and .* has none"):
        rc.compare(None, {"new": new}, baseline="kept.safetensors")
    rc.save_baseline("pairs.safetensors", people, old, "mmd", name="old", paired=True)
    found = rc.compare(None, {"new": new}, baseline="pairs.safetensors")
    plain = rc.compare(people, {"new": new, "old": old}, "mmd", paired=True)
    assert found.differences["new", "old"]["mmd"] == plain.differences["new", "old"]["mmd"]


def test_files_that_are_no_baseline(folder, capsys):
    rc.save_baseline("kept.safetensors", np.load("human.npy"), np.load("old.npy"), "mmd")
    whole = (folder / "kept.safetensors").read_bytes()
    (folder / "cut.safetensors").write_bytes(whole[:-100])
    (folder / "newer.safetensors").write_bytes(whole.replace(b'\\"schema\\": 1', b'\\"schema\\": 7'))
    save_file({"embeddings": np.load("old.npy")}, "plain.safetensors")
    for name, words in (
        ("cut", "cut.safetensors is cut off or damaged"),
        ("newer", "is a baseline of schema 7, written by recapture"),
        ("plain", "plain.safetensors is no stored baseline"),
        ("none", "none.safetensors cannot be read"),
    ):
        with pytest.raises(rc.InputError, match=words):
            rc.compare(None, {"new": np.load("new.npy")}, baseline=f"{name}.safetensors")
    # Plain vectors are a system like others.
    assert load_file("plain.safetensors")
    sets = ["compare", "-r", "human.npy", "-c", "bad.npy", "--metrics", "mmd", "-o", "out.json"]
    assert run([*sets, "--baseline", "plain.safetensors", "--fail-if", "worse"]) == 1
    capsys.readouterr()
    assert run([*sets, "--baseline", "kept.safetensors"]) == 2
    assert "kept.safetensors is a stored baseline, which brings human texts: leave out --reference" in said(capsys)[0]
    assert run(["compare", "--pairs", "-r", "refs.txt", "-c", "good.txt", "--baseline", "kept.safetensors"]) == 2
    assert "is a stored baseline of sets" in said(capsys)[0]
    assert run(["compare", "-c", "bad.npy", "-c", "old.npy"]) == 2
    assert "Missing option '--reference'" in said(capsys)[0]


@pytest.mark.parametrize(
    ("key", "value"),
    [("name", []), ("reference", None), ("encoder", "x"), ("options", 5), ("paired", "no"), ("k", "5"), ("usual", 1)],
)
def test_a_damaged_description_is_one_sentence(key, value, folder):
    rc.save_baseline("kept.safetensors", np.load("human.npy"), np.load("old.npy"), "mmd")
    with safe_open("kept.safetensors", "numpy") as file:
        words = file.metadata()
    described = json.loads(words["description"])
    (described if key in described else described["settings"])[key] = value
    save_file(load_file("kept.safetensors"), "odd.safetensors", {**words, "description": json.dumps(described)})
    with pytest.raises(rc.InputError, match=f"odd.safetensors is damaged: {key} is "):
        rc.compare(None, {"new": np.load("new.npy")}, baseline="odd.safetensors")


def test_a_baseline_with_many_long_labels_is_known(folder):
    """More than a megabyte of description, as 100,000 labels of documents make."""
    people, old = np.load("human.npy"), np.load("old.npy")
    labels = [f"{place} {'x' * 20_000}" for place in range(len(people))]
    rc.save_baseline("kept.safetensors", people, old, "mmd", reference_groups=labels, groups=labels)
    assert is_stored_baseline("kept.safetensors")


def test_a_baseline_from_a_pipe_is_read_once(folder, monkeypatch, capsys):
    """Whether it is a stored one is not asked by reading what can be read only once."""
    texts = [f"it rained for {day} days" for day in range(60)]
    for name in ("human", "new"):
        (folder / f"{name}.txt").write_text("\n".join(texts))
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO("\n".join(texts).encode())))
    asked = ["compare", "-r", "human.txt", "-c", "new.txt", "--baseline", "-", "--metrics", "mmd", "--no-ceiling"]
    assert run([*asked, "--encoder", "bag-of-words", "-o", "found.json"]) == 0
    sizes = json.loads((folder / "found.json").read_text())["settings"]["size"]
    assert sizes == 60


def test_what_learns_cannot_be_kept(folder, capsys):
    texts = ["baseline", "-r", "refs.txt", "-c", "good.txt", "--encoder", "bag-of-words"]
    assert run([*texts, "-o", "kept.safetensors"]) == 2
    assert "bag-of-words learns from the texts that are compared" in said(capsys)[0]
    assert run([*KEEP[:-1], "kept.npz"]) == 2
    assert "the name of a baseline ends in .safetensors" in said(capsys)[0]
    assert not list(folder.glob("kept*"))


# Pages

PAGES = {
    "score": ["score", "-r", "human.npy", "-c", "new.npy", "--metrics", "mmd"],
    "compare": ["compare", "-r", "human.npy", "-c", "new.npy", "-c", "old.npy", "--metrics", "mmd"],
    "compare --pairs": [
        "compare",
        "--pairs",
        "-r",
        "refs.txt",
        "-c",
        "good.txt",
        "-c",
        "poor.txt",
        "--metrics",
        "chrf",
    ],
    "compare --contexts": ["compare", "--contexts", "-c", "one.jsonl", "-c", "two.jsonl", "--metrics", "rouge-l"],
    "compare saved": ["compare", "one.json", "two.json"],
    "inspect": ["inspect", "-r", "human.npy", "-c", "new.npy"],
    "pairs": ["pairs", "-r", "refs.txt", "-c", "good.txt", "--metrics", "chrf"],
    "contexts": ["contexts", "one.jsonl", "--metrics", "rouge-l"],
    "correlate": ["correlate", "scores.csv", "--human", "human", "--higher-is-better", "bleu"],
}


@pytest.mark.parametrize("command", PAGES)
@pytest.mark.parametrize("path", ["missing/page.html", "folder.html"])
def test_a_page_that_cannot_be_written_is_refused_before_the_work(command, path, folder, capsys):
    """Before any input is read: most of these files are not there."""
    (folder / "folder.html").mkdir()
    before = sorted(each.name for each in folder.iterdir())
    assert run([*PAGES[command], "--output", "out.json", "--report", path]) == 2
    (line,) = said(capsys)
    assert line.startswith(f"recapture: cannot write {path}: ")
    assert sorted(each.name for each in folder.iterdir()) == before


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="no device that is always full")  # noqa: PTH110
def test_a_disk_that_is_full_leaves_neither_results_nor_page(folder, capsys):
    (folder / "full.html").symlink_to("/dev/full")
    assert run([*PAGES["compare"], "--output", "out.json", "--report", "full.html"]) == 2
    assert said(capsys)[-1] == "recapture: cannot write full.html: No space left on device"
    assert not (folder / "out.json").exists() and not list(folder.glob(".*"))


@pytest.mark.slow
def test_a_page_needs_no_browser(folder):
    """Nothing that opens or drives one is imported, and no program can be found."""
    banned = ["webbrowser", "playwright", "selenium", "pyppeteer"]
    code = (
        "import sys, runpy\n"
        f"sys.modules.update(dict.fromkeys({banned!r}))\n"
        f"sys.argv = ['recapture', *{[*PAGES['compare'], '--report', 'page.html']!r}]\n"
        "runpy.run_module('recapture', run_name='__main__')\n"
    )
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env={**os.environ, "PATH": ""})
    assert ran.returncode == 0, ran.stderr
    assert (folder / "page.html").read_text().startswith("<!doctype html>")
