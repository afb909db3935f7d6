"""`recapture compare` on sets says what `rc.compare` finds; kinds of comparison and names of metrics do not mix."""

import json
import shlex
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run


@pytest.fixture
def sets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people, near, far = np.random.default_rng(0).standard_normal((3, 30, 2)).astype(np.float32)
    made = {"people": people, "near": near, "far": far + 3}
    for name, rows in made.items():
        np.save(f"{name}.npy", rows)
    return made


SIDES = ["-r", "people.npy", "-c", "near.npy", "-c", "far.npy"]


def test_numbers_are_those_of_python(sets, capsys):
    assert run(["compare", *SIDES, "--metrics", "mmd", "--no-ceiling", "--seed", "3", "--format", "json"]) == 0
    read = json.loads(capsys.readouterr().out)
    systems = {f"{name}.npy": sets[name] for name in ("near", "far")}
    same = rc.compare(sets["people"], systems, "mmd", ceiling=False, seed=3)
    (difference,) = read["results"]["differences"]
    (found,) = difference["numbers"].values()
    assert found == pytest.approx(vars(same.differences["near.npy", "far.npy"]["mmd"]))
    assert same.ranks == {"near.npy": 1, "far.npy": 2}  # one of two equal normal samples, and one that is far away


def test_the_answer_comes_first_and_into_a_file(sets, capsys):
    arguments = ["--metrics", "mmd", "--no-ceiling", "--name", "A", "--name", "B"]
    assert run(["compare", *SIDES, *arguments]) == 0
    assert capsys.readouterr().out.startswith("A is closest to people; B is further away than A (")
    assert run(["compare", *SIDES, *arguments, "-o", "out.md"]) == 0
    assert "A is closest to people" in Path("out.md").read_text("utf-8")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--all", "--metrics", "mmd"], "leave out either"),
        (["--pairs", "--contexts"], "two kinds of comparison"),
        (["--metrics", "mmdd"], "did you mean mmd?"),
        (["--metrics", "bleu"], "recapture compare --pairs has it"),
    ],
)
def test_what_does_not_go_together_is_refused(sets, capsys, arguments, said):
    assert run(["compare", *SIDES, *arguments]) == 2
    printed = capsys.readouterr()
    assert said in printed.err and len(printed.err.strip().splitlines()) == 1 and not printed.out


def test_a_sample_is_in_the_record(sets):
    assert (
        run(["compare", *SIDES, "--no-ceiling", "--metrics", "mmd", "--sample", "20", "--seed", "3", "-o", "out.json"])
        == 0
    )
    assert json.loads(Path("out.json").read_text())["settings"]["sample"] == {"size": 20, "seed": 3}


def test_the_answer_is_printed_where_the_rest_goes_into_a_file(sets, capsys):
    arguments = ["--metrics", "mmd", "--no-ceiling"]
    assert run(["compare", *SIDES, *arguments]) == 0
    shown = capsys.readouterr().out
    for form in ("json", "csv", "md", "tex", "txt"):
        assert run(["compare", *SIDES, *arguments, "-o", f"out.{form}"]) == 0
        printed = capsys.readouterr()
        assert printed.out == shown[: shown.index("\n\nSystems") + 1]  # the sentences alone, as above the tables
        assert f"recapture: wrote out.{form}" in printed.err.splitlines()
    assert run(["score", "-r", "people.npy", "-c", "far.npy", "--metrics", "mmd", "-o", "out.json"]) == 0
    assert capsys.readouterr().out.splitlines() == json.loads(Path("out.json").read_text())["verdict"]


def test_the_file_is_written_where_nobody_hears_the_answer(sets):
    """Standard output is closed: `>&-` in a shell."""
    command = [
        sys.executable,
        "-m",
        "recapture",
        "compare",
        *SIDES,
        "--metrics",
        "mmd",
        "--no-ceiling",
        "-o",
        "out.json",
    ]
    done = subprocess.run(["sh", "-c", f"{shlex.join(command)} >&-"], capture_output=True, text=True, check=False)
    assert done.returncode == 0 and "Traceback" not in done.stderr
    assert json.loads(Path("out.json").read_text())["verdict"]


HINT = "recapture: all sets have 30 texts: if text i of each answers the same prompt, say --paired"


def test_equally_many_texts_are_a_hint_at_pairs(sets, capsys):
    np.save("few.npy", sets["far"][:20])
    arguments = ["--metrics", "mmd", "--no-ceiling", "-o", "out.json"]

    def hinted(*command):
        assert run([*command, *arguments]) == 0
        return sum(line.startswith(HINT) for line in capsys.readouterr().err.splitlines())

    assert hinted("compare", *SIDES) == 1
    assert hinted("compare", *SIDES, "--paired") == 0
    assert hinted("compare", *SIDES, "--sample", "10") == 0  # equal because they were cut
    assert hinted("compare", *SIDES, "-c", "few.npy") == 0
    assert hinted("score", "-r", "people.npy", "-c", "near.npy", "--pvalue", "19") == 1
    assert hinted("score", "-r", "people.npy", "-c", "near.npy") == 0  # nothing is tested


def test_labellings_of_frechet_can_be_asked_for(sets, capsys):
    """Without asking its differences have no p-value of writing alike, which relabelling gives."""
    arguments = ["compare", *SIDES, "--metrics", "mmd,frechet", "--no-ceiling", "--format", "json"]
    for more, known in (([], False), (["--labelled", "frechet, mmd"], True)):
        assert run([*arguments, *more]) == 0
        (difference,) = json.loads(capsys.readouterr().out)["results"]["differences"]
        assert (difference["numbers"]["frechet"]["distinct"] is not None) == known
    assert run([*arguments, "--labelled", "prd"]) == 2
    assert "labellings of 'prd' were asked for, which is not measured" in capsys.readouterr().err
