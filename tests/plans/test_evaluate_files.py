"""Files to results in one call: what `evaluate` has for the same sets, kept in parts that survive."""

import tempfile
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.cli.app import run
from recapture.errors import InputError

METRICS = ["mark-evaluate", "precision-recall", "density-coverage"]


@pytest.fixture
def sets(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))  # copies of what lies elsewhere go there
    human, good, bad = np.random.default_rng(3).standard_normal((3, 90, 5))
    for name, values in {"human": human, "good": good, "bad": bad[:50] + 1}.items():
        np.save(f"{name}.npy", values)
    return human, {"good": good, "bad: 1/2": bad[:50] + 1}


@pytest.mark.parametrize("storage", ["kept", "memory://kept/here"])
def test_several_candidates_as_from_evaluate(sets, storage):
    if storage.startswith("memory"):
        pytest.importorskip("fsspec", reason="fsspec is not installed").filesystem("memory").store.clear()
    human, candidates = sets
    files = {"good": "good.npy", "bad: 1/2": "bad.npy"}
    results = rc.evaluate_files("human.npy", files, storage, parts=2)
    expected = rc.evaluate(human, candidates, METRICS, ceiling=False, reference_name="human.npy")
    assert results.to_json(arrays=True) == expected.to_json(arrays=True)
    assert (results.inputs, results.notes) == (expected.inputs, expected.notes)
    again = rc.evaluate_files("human.npy", files, storage, parts=2)
    assert again.to_json(arrays=True) == expected.to_json(arrays=True)


def test_what_is_there_is_not_done_again(sets, monkeypatch):
    rc.evaluate_files("human.npy", "good.npy", "kept", k=2)
    monkeypatch.setattr("recapture.plans.planned_work.PlannedParts.make", None)  # nobody calls it
    assert list(rc.evaluate_files("human.npy", "good.npy", "kept", k=2)) == ["good.npy"]
    with pytest.raises(InputError, match="holds a plan for other files or settings"):
        rc.evaluate_files("human.npy", "good.npy", "kept", k=3)


def test_score_with_storage_prints_what_score_prints(sets, capsys):
    command = ["score", "-r", "human.npy", "-c", "good.npy", "-c", "bad.npy", "--metrics", ",".join(METRICS)]
    for form in ("table", "json", "csv"):
        assert run([*command, "--storage", "kept", "--format", form]) == 0
        planned = capsys.readouterr().out
        assert run([*command, "--no-ceiling", "--format", form]) == 0
        assert planned == capsys.readouterr().out


def test_score_reads_urls_where_parts_are_kept(sets, tmp_path, capsys):
    pytest.importorskip("fsspec", reason="fsspec is not installed")
    url = f"local://{tmp_path}"
    score = ["score", "--metrics", "precision-recall", "--format", "csv"]
    assert run([*score, "-r", f"{url}/human.npy", "-c", f"{url}/good.npy", "--storage", f"{url}/kept"]) == 0
    planned = capsys.readouterr().out
    assert run([*score, "-r", "human.npy", "-c", "good.npy", "--no-ceiling"]) == 0
    assert planned == capsys.readouterr().out


@pytest.mark.parametrize(
    ("options", "told"),
    [
        (["--storage", "kept", "--metrics", "mmd"], "plans are for metrics of neighbourhoods ("),
        (["--storage", "kept", "--pvalue"], "--pvalue cannot be had from parts: leave out --pvalue or --storage"),
        (["--storage", "kept", "--sample", "9"], "--sample cannot be had from parts"),
        (
            ["--storage", "kept", "--dry-run"],
            "--dry-run cannot be had from parts: leave out --dry-run or --storage "
            "(recapture plan --dry-run foretells parts)",
        ),
        (["--storage", "kept", "--budget", "9s"], "--budget cannot be had from parts"),
        (["--storage", "kept", "--dtype", "bfloat16"], "an encoder was named, but the sets are vectors already"),
        (["--storage", "kept", "--reference-format", "npz"], "parts are of files that are read alike"),
        (["--engine", "ray"], "--engine and --address are for work in parts: say --storage where they are kept"),
        (["--storage", "kept", "--engine", "spark"], "no engine 'spark'; there are local and ray"),
        (["--storage", "no/such/folder"], "cannot write no/such/folder: No such file or directory"),
    ],
)
def test_what_parts_cannot_say(sets, options, told, capsys):
    assert run(["score", "-r", "human.npy", "-c", "good.npy", *options]) == 2
    printed = capsys.readouterr()
    assert printed.out == "" and printed.err.splitlines()[-1].startswith(f"recapture: {told}")
    assert not list(Path().glob("kept/*"))


@pytest.mark.parametrize(("metrics", "left_out"), [([], "other metrics and "), (["--metrics", "precision-recall"], "")])
def test_score_with_storage_says_what_it_leaves_out(sets, metrics, left_out, capsys):
    assert run(["score", "-r", "human.npy", "-c", "good.npy", "--storage", "kept", *metrics]) == 0
    assert f"recapture: {left_out}what human texts score cannot be had from parts: " in capsys.readouterr().err
