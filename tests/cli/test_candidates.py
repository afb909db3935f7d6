"""Which files are candidates, how many texts are taken of each, and under which names results are written."""

import csv
import io
import json
import re
from pathlib import Path

import numpy as np
import pytest

from recapture.cli.app import run
from recapture.cli.options import _with_option_before_each
from recapture.texts.sampling import sample_places

ROWS = np.random.default_rng(0).normal(size=(60, 4))
QUICK = ("--metrics", "precision-recall", "--no-ceiling")


@pytest.fixture
def runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    np.save("human.npy", ROWS)
    Path("runs/deep").mkdir(parents=True)
    for name, shift in {"b": 0, "a": 1, "c": 9, ".hidden": 3, "deep/d": 2}.items():
        np.save(f"runs/{name}.npy", ROWS[:40] + shift)
    Path("runs/notes.md").write_text("not for reading\n")
    Path("empty").mkdir()
    Path("others").mkdir()
    Path("others/picture.png").write_bytes(b"\x89PNG")
    return tmp_path


def call(capsys, *arguments, code=0):
    assert run([*map(str, arguments)]) == code
    return capsys.readouterr()


def names(capsys, *candidates):
    shown = call(capsys, "score", "-r", "human.npy", *candidates, *QUICK, "--format", "json")
    return list(json.loads(shown.out)["results"]), shown.err


ABC = ["a.npy", "b.npy", "c.npy"]
GIVEN = {
    "as the shell expands it": (["-c", "runs/a.npy", "runs/b.npy", "runs/c.npy"], ABC),
    "before other options": (["-c", "runs/b.npy", "runs/a.npy", "--k", "2"], ["b.npy", "a.npy"]),
    "in the order of the line": (["-c", "runs/c.npy", "runs/a.npy", "-c", "runs/b.npy"], ["c.npy", "a.npy", "b.npy"]),
    "the long option": (["--candidate=runs/c.npy", "runs/a.npy"], ["c.npy", "a.npy"]),
    "without a blank": (["-cruns/c.npy", "runs/a.npy"], ["c.npy", "a.npy"]),
    "a pattern": (["-c", "runs/*.npy"], ABC),
    "one letter": (["-c", "runs/[ac].npy"], ["a.npy", "c.npy"]),
    "a deep pattern": (["-c", "runs/**/*.npy"], [*ABC, "d.npy"]),
    "a folder": (["-c", "runs/"], ABC),
    "a folder without a slash": (["-c", "runs", "human.npy"], [*ABC, "human.npy"]),
}


@pytest.mark.parametrize("case", GIVEN)
def test_candidates_by_name_pattern_and_folder(runs, capsys, case):
    given, expected = GIVEN[case]
    found, said = names(capsys, *given)
    assert found == expected
    assert ("left out notes.md" in said) == ("folder" in case)


def test_names_follow_the_expanded_order(runs, capsys):
    found, _ = names(capsys, "-c", "runs/*.npy", "--name", "one", "--name", "two", "--name", "three")
    assert found == ["one", "two", "three"]
    shown = call(capsys, "score", "-r", "human.npy", "-c", "runs/", "--name", "one", *QUICK, code=2)
    assert "candidates and names must be equally many, not 3 and 1" in shown.err


def test_a_file_whose_name_looks_like_a_pattern_is_itself(runs, capsys):
    np.save("runs/[ab].npy", ROWS)
    assert names(capsys, "-c", "runs/[ab].npy")[0] == ["[ab].npy"]


def test_a_named_format_takes_all_of_a_folder(runs, capsys):
    Path("lines").mkdir()
    for name in ("x.out", "y"):
        Path("lines", name).write_text("a cat\na dog\na cow\na hen\n")
    options = ("--encoder", "bag-of-words", "--k", "1", *QUICK, "--format", "csv")
    shown = call(capsys, "score", "-r", "lines/y", "-c", "lines", "--input-format", "lines", *options)
    assert {row["candidate"] for row in csv.DictReader(io.StringIO(shown.out))} == {"x.out", "y"}


REFUSED = {
    "nothing matches": (["-c", "runs/*.txt"], ["no file matches 'runs/*.txt'"]),
    "an empty folder": (["-c", "empty"], ["folder empty holds no file"]),
    "no format": (["-c", "others/"], ["others/ holds no file", "1 others have endings of no format"]),
    "no such file": (["-c", "runs/x.npy"], ["runs/x.npy", "No such file"]),
    "twice": (["-c", "runs/", "runs/a.npy"], ["runs/a.npy is given twice"]),
    "a stray name": (["-c", "runs/a.npy", "--k", "2", "runs/b.npy"], ["unexpected extra argument", "runs/b.npy"]),
    "a stray name first": (["runs/b.npy", "-c", "runs/a.npy"], ["unexpected extra argument", "runs/b.npy"]),
    "names alone": (["runs/b.npy"], ["--candidate"]),
    "after two dashes": (["-c", "runs/a.npy", "--", "runs/b.npy"], ["unexpected extra argument"]),
    "output in the folder": (["-c", "runs", "-o", "runs/a.npy"], ["it is an input"]),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_in_one_sentence(runs, capsys, case):
    given, words = REFUSED[case]
    shown = call(capsys, "score", "-r", "human.npy", *given, *QUICK, code=2)
    assert shown.out == "" and all(word in shown.err for word in words), shown.err
    assert len([line for line in shown.err.splitlines() if "left out notes.md" not in line]) == 1


def test_pairs_take_them_too(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("systems").mkdir()
    for name in ("refs.txt", "systems/a.txt", "systems/b.txt"):
        Path(name).write_text("a cat sat\na dog ran\n")
    for given in (["systems/a.txt", "systems/b.txt"], ["systems/*.txt"], ["systems/"]):
        shown = call(capsys, "pairs", "-r", "refs.txt", "-c", *given, "--metrics", "chrf", "--format", "json")
        assert list(json.loads(shown.out)["results"]) == ["a.txt", "b.txt"]
    assert "no file matches" in call(capsys, "pairs", "-r", "refs.txt", "-c", "*.tsv", code=2).err


def test_rewriting_of_a_line_by_hand():
    assert _with_option_before_each(["-r", "h", "-c", "a", "-", "b", "-o", "x", "y"]) == [
        "-r", "h", "-c", "a", "-c", "-", "-c", "b", "-o", "x", "y",
    ]  # fmt: skip


# Samples


def test_places_are_a_seeded_choice_without_repeats():
    places = sample_places(1000, 100, 3)
    assert len(set(places.tolist())) == 100 and places.tolist() == sorted(places.tolist())
    assert places.min() >= 0 and places.max() < 1000
    assert places.tolist() == sample_places(1000, 100, 3).tolist() != sample_places(1000, 100, 4).tolist()
    for count, size in ((5, 5), (5, 9), (5, None)):
        assert sample_places(count, size, 0).tolist() == list(range(5))


def test_every_place_is_as_likely():
    """Binomial(4000, 1/4) has a standard deviation of 27.4: five of them are 137."""
    times = np.bincount(np.concatenate([sample_places(40, 10, seed) for seed in range(4000)]), minlength=40)
    assert abs(times - 1000).max() < 137


def test_a_sample_is_what_the_chosen_rows_score(runs, capsys):
    """The reference has 60 rows, candidates 40: both are cut to 25, and the same places of equally large sets stay."""
    np.save("sampled_human.npy", ROWS[sample_places(60, 25, 7)])
    np.save("sampled_a.npy", (ROWS[:40] + 1)[sample_places(40, 25, 7)])
    by_hand = call(capsys, "score", "-r", "sampled_human.npy", "-c", "sampled_a.npy", *QUICK, "--format", "json")
    wanted = json.loads(by_hand.out)["results"]["sampled_a.npy"]["precision-recall"]
    given = ("score", "-r", "human.npy", "-c", "runs/a.npy", *QUICK, "--sample", 25, "--seed", 7)
    content = json.loads(call(capsys, *given, "--format", "json").out)
    got = content["results"]["a.npy"]["precision-recall"]
    assert got["values"] == wanted["values"] and got["sizes"] == {"reference": 25, "candidate": 25}
    assert got["signature"]["sample"] == content["signature"]["sample"] == {"size": 25, "seed": 7}
    assert "; a sample of 25 of each set with more, seed 7" in call(capsys, *given).out
    assert "sample" not in wanted["signature"]


def test_texts_are_sampled_and_smaller_sets_stay_whole(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("human.txt").write_text("".join(f"word{n} and word{n + 1}\n" for n in range(50)))
    Path("few.txt").write_text("".join(f"word{n} and\n" for n in range(12)))
    options = (*QUICK, "--encoder", "bag-of-words", "--format", "json", "--sample")
    sizes = [
        json.loads(call(capsys, "score", "-r", "human.txt", "-c", "few.txt", *options, size).out)["results"]["few.txt"][
            "precision-recall"
        ]["sizes"]
        for size in (20, 10)
    ]
    assert sizes == [{"reference": 20, "candidate": 12}, {"reference": 10, "candidate": 10}]
    assert call(capsys, "score", "-r", "human.txt", "-c", "few.txt", *options, 0, code=2).out == ""


# Names of results


COMMANDS = {
    "score": ["score", "-r", "human.npy", "-c", "runs/a.npy", *QUICK],
    "pairs": ["pairs", "-r", "refs.txt", "-c", "refs.txt", "--metrics", "chrf"],
    "contexts": ["contexts", "contexts.jsonl", "--metrics", "rouge-l"],
    "correlate": ["correlate", "rated.csv", "--human", "people", "--metrics", "bleu"],
}


@pytest.fixture
def inputs(runs):
    Path("refs.txt").write_text("a cat sat\na dog ran\n")
    context = {"id": 1, "references": ["a cat", "a dog"], "candidates": ["a cat"]}
    Path("contexts.jsonl").write_text(json.dumps(context))
    rows = [f"s{number},{number},{number % 3 + number}\n" for number in range(6)]
    Path("rated.csv").write_text("system,bleu,people\n" + "".join(rows))


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name", ["x.png", "x.html", "x.XLSX", "x.jsonl", "x.json.gz", "v1.5"])
def test_an_ending_without_a_form_is_refused(inputs, capsys, command, name):
    for extra in ([], ["--format", "table"]):
        shown = call(capsys, *COMMANDS[command], "-o", name, *extra, code=2)
        assert shown.out == "" and not Path(name).exists() and len(shown.err.splitlines()) == 1
        assert Path(name).suffix.lower() in shown.err
        assert re.search(r"\.json, \.csv, \.md, \.tex, \.latex, and \.txt", shown.err)


@pytest.mark.parametrize("command", COMMANDS)
@pytest.mark.parametrize("name, start", [("x", ""), ("x.txt", ""), ("x.JSON", "{"), ("x.csv", ""), ("x.tex", "%")])
def test_endings_that_have_one(inputs, capsys, command, name, start):
    call(capsys, *COMMANDS[command], "-o", name)
    written = Path(name).read_text()
    assert written.startswith(start) or (start == "%" and written.startswith("\\begin"))
    assert ("↑" in written) == (name in ("x", "x.txt")) or command == "correlate" or start == "%"


def test_a_named_form_may_have_any_ending(inputs, capsys):
    call(capsys, *COMMANDS["score"], "-o", "x.results", "--format", "json")
    assert json.loads(Path("x.results").read_text())["kind"] == "sets"
