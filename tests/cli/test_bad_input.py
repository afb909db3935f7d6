"""Whatever a user can mend: one sentence on stderr that says what and where, exit code 2, nothing written."""

import json

import numpy as np
import pytest

from recapture.cli.app import run

LINES = "one boat\ntwo boats\nthree boats\nfour nets\n"


@pytest.fixture
def files(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.txt").write_text(LINES)
    (tmp_path / "model.txt").write_text(LINES)
    (tmp_path / "empty.txt").write_text("")
    (tmp_path / "single.txt").write_text("alone\n")
    (tmp_path / "latin.txt").write_bytes(b"fine\ncaf\xe9\n")
    (tmp_path / "records.jsonl").write_text("".join(json.dumps({"id": i, "txt": "a"}) + "\n" for i in range(5)))
    (tmp_path / "broken.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n{"text": \n')
    points = np.random.default_rng(1).standard_normal((20, 4))
    np.save("points.npy", points)
    np.save("wide.npy", np.hstack([points, points]))
    points[7, 2] = np.nan
    np.save("nan.npy", points)
    points[7, 2] = np.inf
    np.save("inf.npy", points)
    return tmp_path


BAG = ("--encoder", "bag-of-words")
CASES = {
    "missing file": (["-r", "nowhere.txt", "-c", "model.txt"], ["nowhere.txt", "No such file"]),
    "a directory": (["-r", ".", "-c", "model.txt"], [".", "directory"]),
    "undecodable bytes": (["-r", "latin.txt", "-c", "model.txt"], ["latin.txt", "line 2", "UTF-8"]),
    "empty set": (["-r", "human.txt", "-c", "empty.txt"], ["empty.txt", "no texts"]),
    "a set of one": (["-r", "human.txt", "-c", "single.txt", *BAG], ["single.txt", "1"]),
    "k of zero": (["-r", "human.txt", "-c", "model.txt", "--k", "0", *BAG], ["k must be at least 1, not 0"]),
    "k too large": (["-r", "human.txt", "-c", "model.txt", "--k", "4", *BAG], ["k = 4", "5 samples", "4"]),
    "k not a number": (["-r", "human.txt", "-c", "model.txt", "--k", "x"], ["--k", "'x'"]),
    "NaN": (["-r", "points.npy", "-c", "nan.npy"], ["nan.npy", "row 7", "NaN"]),
    "infinite": (["-r", "inf.npy", "-c", "points.npy"], ["inf.npy", "row 7", "infinite"]),
    "dimensions": (["-r", "points.npy", "-c", "wide.npy"], ["points.npy", "4 dimensions", "wide.npy", "8"]),
    "wrong field": (["-r", "records.jsonl", "-c", "model.txt"], ["records.jsonl line 1", "'text'", "id, txt"]),
    "misspelt field": (
        ["-r", "records.jsonl", "-c", "model.txt", "--field", "tx"],
        ["records.jsonl line 1", "'tx'", "did you mean txt"],
    ),
    "field where there is none": (["-r", "human.txt", "-c", "model.txt", "--field", "text"], ["human.txt", "'text'"]),
    "unknown metric": (["-r", "human.txt", "-c", "model.txt", "--metrics", "petersn,mmd"], ["petersn"]),
    "misspelt metric": (["-r", "human.txt", "-c", "model.txt", "--metrics", "frechett"], ["did you mean frechet"]),
    "unknown encoder": (
        ["-r", "human.txt", "-c", "model.txt", "--encoder", "bag-of-word", "--offline"],
        ["bag-of-word", "did you mean bag-of-words"],
    ),
    "broken JSON": (["-r", "human.txt", "-c", "broken.jsonl"], ["broken.jsonl", "line 3"]),
    "texts and vectors": (["-r", "human.txt", "-c", "points.npy"], ["human.txt", "points.npy", "one form"]),
    "encoder for vectors": (["-r", "points.npy", "-c", "points.npy", *BAG], ["vectors already"]),
    "unknown format": (["-r", "human.txt", "-c", "model.txt", "--format", "jsn"], ["'jsn'", "did you mean json"]),
    "unknown input format": (["-r", "human.txt", "-c", "model.txt", "--input-format", "cvs"], ["'cvs'", "csv"]),
    "unwritable output": (["-r", "points.npy", "-c", "points.npy", "-o", "no/such/out.txt"], ["no/such"]),
    "output is a directory": (["-r", "points.npy", "-c", "points.npy", "-o", "."], ["directory"]),
    "standard input twice": (["-r", "-", "-c", "-"], ["standard input"]),
    "candidate twice": (["-r", "human.txt", "-c", "model.txt", "-c", "model.txt"], ["model.txt", "twice"]),
    "no candidate": (["-r", "human.txt"], ["--candidate"]),
    "unknown option": (["-r", "human.txt", "-c", "model.txt", "--encodr", "x"], ["--encodr", "--encoder"]),
    "flags without JSON": (
        ["-r", "points.npy", "-c", "points.npy", "--arrays", "--format", "md"],
        ["--arrays", "json", "md"],
    ),
    "k without neighbours": (["-r", "points.npy", "-c", "wide.npy", "--metrics", "mmd", "--k", "2"], ["k", "mmd"]),
    "analytic p-values of sets": (
        ["-r", "points.npy", "-c", "points.npy", "--metrics", "mmd", "--pvalue", "analytic"],
        ["triangle ranks alone have analytic p-values"],
    ),
    "too few names": (
        ["-r", "human.txt", "-c", "model.txt", "-c", "single.txt", "--name", "a"],
        ["equally many, not 2 and 1"],
    ),
    "one name twice": (
        ["-r", "human.txt", "-c", "model.txt", "-c", "single.txt", "--name", "a", "--name", "a"],
        ["same name"],
    ),
    "reference field where there is none": (
        ["-r", "human.txt", "--reference-field", "text", "-c", "records.jsonl", "--field", "txt"],
        ["human.txt", "'text'"],
    ),
    "a name too long": (["-r", "points.npy", "-c", "points.npy", "-o", "x" * 300], ["too long"]),
    "an encoder too long": (
        ["-r", "human.txt", "-c", "model.txt", "--encoder", "x" * 300, "--offline"],
        ["no encoder"],
    ),
    "nobody's home": (["-r", "human.txt", "-c", "model.txt", "--encoder", "~nobody-here/m"], ["~nobody-here/m"]),
    "device not there": (["-r", "human.txt", "-c", "model.txt", *BAG, "--device", "cuda:77"], ["cannot be used here"]),
    "pooling": (["-r", "human.txt", "-c", "model.txt", "--pooling", "median"], ["median", "mean"]),
}


@pytest.mark.parametrize("name", CASES)
def test_one_sentence_and_exit_code_2(files, capsys, name):
    arguments, words = CASES[name]
    before = sorted(path.name for path in files.iterdir())
    code = run(["score", "--output", "out.json", *arguments] if "-o" not in arguments else ["score", *arguments])
    shown = capsys.readouterr()
    assert code == 2, shown
    assert shown.out == ""
    lines = shown.err.strip().splitlines()
    assert len(lines) == 1 and lines[0].startswith("recapture: "), shown.err
    for word in words:
        assert word in lines[0], (word, lines[0])
    assert sorted(path.name for path in files.iterdir()) == before


def test_unreadable_file(files, capsys, monkeypatch):
    """Refused by the system; acted out, since file rights do not stop every user who may run the tests."""
    import builtins
    import pathlib

    def refuse(*_, **__):
        raise PermissionError(13, "Permission denied", "human.txt")

    monkeypatch.setattr(builtins, "open", refuse)
    monkeypatch.setattr(pathlib.Path, "open", refuse)
    assert run(["score", "-r", "human.txt", "-c", "model.txt"]) == 2
    assert "human.txt" in (shown := capsys.readouterr().err) and "Permission denied" in shown


@pytest.mark.parametrize(
    ("command", "flag"),
    [
        *(([*names, "-c", "model.txt"], "-r") for names in (["score"], ["compare"], ["compare", "--contexts"])),
        *(([name, other, "model.txt"], flag) for name in ("inspect", "baseline", "plan", "contexts")
          for flag, other in (("-r", "-c"), ("-c", "-r"))),
    ],
)  # fmt: skip
def test_a_second_file_is_not_taken_in_the_place_of_the_first(command, flag, capsys):
    """As programs that take the last word would, and leave a system out unseen."""
    assert run([*command, flag, "a.txt", flag, "b.txt"]) == 2
    whole = {"-r": "--reference", "-c": "--candidate"}[flag]
    assert capsys.readouterr() == ("", f"recapture: {whole} is for one file here, but 2 are given: a.txt, b.txt\n")
