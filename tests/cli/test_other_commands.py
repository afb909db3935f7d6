"""`embed`, `list`, `cache`, help and the program as a whole."""

import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run

LINES = ["one boat", "two boats and a net", "the net", "one boat"]


@pytest.fixture
def texts(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "human.txt").write_text("\n".join(LINES) + "\n")
    return tmp_path


@pytest.mark.parametrize("suffix", ["npy", "npz", "safetensors"])
def test_embed_writes_what_score_reads(texts, capsys, suffix):
    assert run(["embed", "human.txt", "--encoder", "bag-of-words", "--output", f"v.{suffix}"]) == 0
    assert "4 vectors of" in capsys.readouterr().err
    from recapture.texts import read_samples

    np.testing.assert_array_equal(read_samples(f"v.{suffix}").vectors, rc.encode(LINES, "bag-of-words"))
    arguments = ["score", "-r", f"v.{suffix}", "-c", "human.txt", "--metrics", "mmd"]
    assert run(arguments) == 2  # texts beside vectors
    (texts / "same").mkdir()
    assert run(["embed", "human.txt", "--encoder", "bag-of-words", "-o", f"same/w.{suffix}"]) == 0
    capsys.readouterr()
    assert run(["score", "-r", f"v.{suffix}", "-c", f"same/w.{suffix}", "--metrics", "frechet", "--format", "csv"]) == 0
    value = float(capsys.readouterr().out.splitlines()[1].split(",")[3])
    assert value == pytest.approx(0, abs=1e-12)


def test_embed_with_words_from_another_file(texts, capsys):
    (texts / "other.txt").write_text("boat\nnet net map\n")
    assert run(["embed", "other.txt", "--encoder", "bag-of-words", "--fit", "human.txt", "-o", "o.npy"]) == 0
    vectors = np.load("o.npy")
    assert vectors.shape == (2, len({"one", "boat", "two", "boats", "and", "a", "net", "the"}))
    assert sorted(vectors[1], reverse=True)[:2] == [2, 0]  # net twice, map unknown


@pytest.mark.parametrize("name, word", [("v.txt", ".npy"), ("no/v.npy", "directory")])
def test_embed_refuses_bad_targets(texts, capsys, name, word):
    assert run(["embed", "human.txt", "--encoder", "bag-of-words", "-o", name]) == 2
    assert word in capsys.readouterr().err


def test_list_shows_every_declaration(capsys):
    assert run(["list"]) == 0
    shown = capsys.readouterr().out
    for metric in rc.list_metrics().values():
        assert metric.name in shown and metric.citation in shown and f"{metric.direction} is better" in shown
        assert all(output.name in shown and output.meaning in shown for output in metric.outputs)
    assert run(["list", "--format", "json"]) == 0
    listed = json.loads(capsys.readouterr().out)
    assert [metric["name"] for metric in listed] == list(rc.list_metrics())
    density = next(metric for metric in listed if metric["name"] == "density-coverage")
    assert density["numbers"][0]["range"] == [0, None]


def test_cache_shows_and_prunes(tmp_path, monkeypatch, capsys):
    from recapture.representations.vector_cache import VectorCache

    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path / "kept"))
    space = {"encoder": "toy", "kind": "test", "revision": "1"}
    VectorCache().put(space, ["a", "b", "c"], np.ones((3, 4), np.float32))
    assert run(["cache"]) == 0
    shown = capsys.readouterr().out
    assert "3 vectors" in shown and "toy" in shown and str(tmp_path / "kept") in shown
    assert run(["cache", "--all"]) == 0
    shown = capsys.readouterr()
    assert "removed 3 vectors" in shown.err and "0 vectors" in shown.out
    assert run(["cache", "--max-size", "lots"]) == 2
    assert "500MB" in capsys.readouterr().err


def test_cache_refuses_what_it_cannot_do(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("RECAPTURE_CACHE", str(tmp_path))
    for arguments, word in (
        (["--max-size", "9" * 400], "500MB"),
        (["--all", "--encoder", "x"], "--all"),
        (["--encoder", "x"], "no vectors of encoder 'x'"),
    ):
        assert run(["cache", *arguments]) == 2
        assert word in capsys.readouterr().err


def test_embed_learns_only_with_an_encoder_that_can(texts, capsys):
    assert run(["embed", "human.txt", "--fit", "human.txt", "-o", "v.npy"]) == 2
    assert "--fit" in capsys.readouterr().err


@pytest.mark.slow
def test_full_output_device_is_one_sentence():
    device = Path("/dev/full")
    if not device.exists():
        pytest.skip("this system has no /dev/full")
    command = [sys.executable, "-m", "recapture", "list"]
    with device.open("w") as full:
        ran = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True)
    assert ran.returncode == 2 and ran.stderr == "recapture: cannot write the results: No space left on device\n"


@pytest.mark.parametrize("command", ["score", "embed", "list", "cache"])
def test_help_shows_examples(command, capsys):
    assert run([command, "--help"]) == 0
    shown = capsys.readouterr().out
    assert "Examples:" in shown and f"recapture {command}" in shown


@pytest.mark.slow
def test_terminals_without_arrows_get_the_numbers(texts):
    (texts / "model.txt").write_text("\n".join(LINES[::-1]) + "\n")
    command = [sys.executable, "-m", "recapture", "score", "-r", "human.txt", "-c", "model.txt"]
    command += ["--encoder", "bag-of-words", "--metrics", "frechet"]
    ran = subprocess.run(command, capture_output=True, text=True, env={**os.environ, "PYTHONIOENCODING": "ascii"})
    assert ran.returncode == 0 and "0.0000" in ran.stdout


@pytest.mark.slow
def test_program_as_a_whole(texts):
    """Through the shell: results on stdout alone, exit codes, and no traceback when the reader leaves early."""
    program = [sys.executable, "-m", "recapture"]
    ran = subprocess.run([*program, "--version"], capture_output=True, text=True)
    assert (ran.returncode, ran.stdout.strip()) == (0, f"recapture {rc.__version__}")
    ran = subprocess.run([*program, "score", "-r", "x", "-c", "y"], capture_output=True, text=True)
    assert ran.returncode == 2 and ran.stdout == "" and "Traceback" not in ran.stderr
    ran = subprocess.run([*program, "list"], capture_output=True, text=True)
    assert ran.returncode == 0 and "\x1b" not in ran.stdout
    piped = f"{sys.executable} -m recapture list --format json | head -c 1"
    ran = subprocess.run(piped, shell=True, capture_output=True, text=True)
    assert ran.stderr == ""


def test_a_package_that_cannot_be_loaded_takes_no_other_command_down(monkeypatch, capsys):
    """Half removed, or broken: one sentence for its command, and help for all others."""
    from importlib.metadata import EntryPoint

    from recapture.cli import app

    broken = EntryPoint("reproduce", "no_such_package:command", app.GROUP)
    monkeypatch.setattr(app, "entry_points", lambda group, name=None: [broken])
    assert app.run(["--help"]) == 0
    assert "reproduce" in capsys.readouterr().out
    assert app.run(["reproduce", "wmt17", "--quick"]) == 2
    shown = capsys.readouterr()
    assert shown.out == "" and shown.err.count("\n") == 1 and "no_such_package:command, which cannot be" in shown.err


def test_names_that_are_part_of_another_are_pointed_to(capsys):
    """BLEU of a corpus is no metric of contexts; the mean of sentence scores is."""
    from recapture.cli.app import run

    for name, meant in (("bleu", "sentence-bleu"), ("trm-bleu", "trm-sentence-bleu")):
        assert run(["contexts", "no-file.jsonl", "--metrics", name]) == 2
        assert f"unknown metric of contexts '{name}': did you mean" in (said := capsys.readouterr().err)
        assert meant in said


def test_word_counts_of_one_file_alone_are_told(tmp_path, monkeypatch, capsys):
    """Two files embedded one by one count words of their own: their vectors cannot be compared."""
    monkeypatch.chdir(tmp_path)
    for name in ("human", "model"):
        (tmp_path / f"{name}.txt").write_text(f"the {name} sat\na cat ran\n")
    assert run(["embed", "human.txt", "--encoder", "bag-of-words", "-o", "human.npy"]) == 0
    assert "the words counted are those of human.txt" in capsys.readouterr().err
    assert run(["embed", "model.txt", "--encoder", "bag-of-words", "--fit", "human.txt", "-o", "model.npy"]) == 0
    assert "the words counted" not in capsys.readouterr().err


def test_a_metric_of_another_command_is_answered_with_that_command(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "a.txt").write_text("one\ntwo\n")
    assert run(["score", "-r", "a.txt", "-c", "a.txt", "--metrics", "mmd,cross_entropy"]) == 2
    assert capsys.readouterr().err.endswith("with its own reference: recapture pairs has it\n")
