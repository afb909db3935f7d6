"""`recapture inspect`: what it writes, and what it refuses before the work."""

import csv
import json

import numpy as np
import pytest

from recapture.cli.app import run

_VERBS, _THINGS, _PLACES = ("see", "like", "sell"), ("hats", "pears", "maps"), ("rain", "town", "park", "hall")
HUMAN = [f"people {verb} {thing} in the {place}" for verb in _VERBS for thing in _THINGS for place in _PLACES]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.txt").write_text("\n".join(HUMAN) + "\n")
    (tmp_path / "model.txt").write_text("\n".join([*HUMAN[:10], *["zq xv wk jj qq"] * 26]) + "\n")
    return tmp_path


SETS = ["inspect", "-r", "human.txt", "-c", "model.txt", "--encoder", "bag-of-words", "--no-cache"]


def test_lists_and_a_row_for_every_text(folder, capsys):
    assert run([*SETS, "--output", "found.json", "--per-text", "texts.csv"]) == 0
    said = capsys.readouterr()
    assert said.out.startswith("Invented: ") and "wrote found.json" in said.err and "wrote texts.csv" in said.err
    found = json.loads((folder / "found.json").read_text())
    assert [row["index"] for row in found["results"]["invented"]] == list(range(10, 36))
    assert [row["index"] for row in found["results"]["copied"]] == list(range(10))
    (repeated,) = found["results"]["repeated"]
    assert repeated["score"] == 26 and repeated["places"] == list(range(10, 36))
    rows = list(csv.DictReader((folder / "texts.csv").open(encoding="utf-8")))
    assert [row["text"] for row in rows[:36]] == HUMAN
    assert [row["flags"] for row in rows[36:46]] == ["copied"] * 10
    # The first of equal texts stays: 25 repeat it.
    assert [row["flags"] for row in rows[46:]] == ["invented", *["invented repeated"] * 25]


def test_table_and_markdown(folder, capsys):
    assert run([*SETS]) == 0
    table = capsys.readouterr().out
    assert table.startswith("Invented: 26 of 36 texts of model.txt") and "zq xv wk" in table
    assert run([*SETS, "--format", "md", "--name", "model 7"]) == 0
    assert "texts of model 7" in capsys.readouterr().out


def test_a_sample_is_said(folder, capsys):
    assert run([*SETS, "--sample", "20", "--format", "json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["signature"]["sample"] == {"size": 20, "seed": 0}
    assert found["signature"]["sizes"] == {"reference": 20, "candidate": 20}
    assert any("indices count among the 20 texts" in note for note in found["warnings"])


def test_vectors_groups_and_parquet(folder, capsys):
    rng = np.random.default_rng(0)
    np.save(folder / "human.npy", rng.standard_normal((40, 3)))
    np.save(folder / "model.npy", rng.standard_normal((30, 3)))
    assert run(["inspect", "-r", "human.npy", "-c", "model.npy", "--per-text", "texts.jsonl", "--clusters", "3"]) == 0
    lines = [json.loads(line) for line in (folder / "texts.jsonl").read_text().splitlines()]
    assert len(lines) == 70 and lines[0]["text"] is None and {line["cluster"] for line in lines} == {0, 1, 2}
    for name in ("human", "model"):
        texts = (folder / f"{name}.txt").read_text().splitlines()
        records = [json.dumps({"text": text, "of": f"{name} {at // 3}"}) for at, text in enumerate(texts)]
        (folder / f"{name}.jsonl").write_text("\n".join(records))
    pytest.importorskip("pyarrow", reason="pyarrow is not installed")
    arguments = ["inspect", "-r", "human.jsonl", "-c", "model.jsonl", "--group", "of", "--encoder", "bag-of-words"]
    assert run([*arguments, "--no-cache", "--per-text", "texts.parquet", "--level", "0.3"]) == 0
    assert (folder / "texts.parquet").read_bytes().startswith(b"PAR1")


@pytest.mark.parametrize(
    "more, message",
    [
        (["--per-text", "texts.txt"], "the name must end in .jsonl, .csv, .parquet"),
        (["--per-text", "model.txt"], "it is an input"),
        (["--per-text", "nowhere/texts.csv"], "there is no directory"),
        (["--per-text", "-"], "--output and --per-text name files"),
        (["--per-text", "same.csv", "--output", "same.csv"], "--output and --per-text both name same.csv"),
        (["--level", "1.5"], "--level takes a number between 0 and 1"),
        (["--clusters", "0"], "--clusters"),
        (["--group", "prompt"], "has no fields"),
        (["--name", "a", "--name", "b"], "candidates and names must be equally many"),
    ],
)
def test_refused(folder, more, message, capsys):
    check_refused(folder, [*SETS, *more], message, capsys)


def test_paired_sets_have_one_size(folder, capsys):
    sets = [{"human.txt": "short.txt"}.get(word, word) for word in SETS]
    check_refused(folder, [*sets, "--paired"], "paired sets have one size", capsys)


def check_refused(folder, command, message, capsys):
    (folder / "short.txt").write_text("one\ntwo\n")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    assert run(command) == 2
    assert message in capsys.readouterr().err
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before
