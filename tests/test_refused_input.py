"""Public functions refuse what they cannot use with one sentence, and take what is unusual but right."""

import importlib
import os
from pathlib import Path

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError

ROWS = np.random.default_rng(0).normal(size=(30, 3))

REFUSED = {
    "rows without columns": (lambda: rc.frechet(np.empty((9, 0)), np.empty((9, 0))), "no dimensions"),
    "no k": (lambda: rc.mark_evaluate_sweep(ROWS, ROWS, []), "no k to sweep over"),
    "two systems of one name": (lambda: rc.bleu(["a b"], {1: ["a"], "1": ["b"]}), "two candidates have the same name"),
    "words of a bag of words": (
        lambda: rc.precision_recall_words(["a b"], ["a b"], encoder="bag-of-words"),
        "no vectors of single words",
    ),
}


@pytest.mark.parametrize("case", REFUSED)
def test_refused_with_a_sentence(case):
    call, sentence = REFUSED[case]
    with pytest.raises(InputError, match=sentence):
        call()


def test_numbers_of_every_width_are_taken():
    """Longer floats are rounded to float64; true and false are 1 and 0."""
    expected = rc.frechet(ROWS, ROWS + 1).value
    assert rc.frechet(ROWS.astype(np.longdouble), (ROWS + 1).astype(np.longdouble)).value == expected
    bits = ROWS > 0
    other = ROWS > 0.5
    assert rc.precision_recall(bits, other).values == rc.precision_recall(bits * 1.0, other * 1.0).values


def test_records_read_as_lines_bring_a_warning(tmp_path):
    """A JSONL file under another name is read as plain lines: that is worth a word."""
    path = tmp_path / "texts.data"
    path.write_text('{"text": "one"}\n{"text": "two"}\n')
    with pytest.warns(UserWarning, match="texts.data"):
        assert rc.read(path) == ['{"text": "one"}', '{"text": "two"}']


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="only where processes can be bound to cores")
def test_without_a_say_about_cores_all_are_used(monkeypatch):
    monkeypatch.delattr(os, "sched_getaffinity")
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    expected = rc.precision_recall(ROWS, ROWS + 0.5).values
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert rc.precision_recall(ROWS, ROWS + 0.5).values == expected


def test_one_machine_sentence_for_a_missing_wordnet(monkeypatch, tmp_path):
    """`auto` looks where WordNets are usually kept, and says what to do where there is none."""
    for name in ("WNHOME", "WNSEARCHDIR", "NLTK_DATA"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    real = Path.is_file
    monkeypatch.setattr(Path, "is_file", lambda path: "wordnet" not in str(path).lower() and real(path))
    monkeypatch.setattr(Path, "is_dir", lambda path: False)
    with pytest.raises(InputError, match="no WordNet was found on this machine"):
        rc.meteor(["a boat"], ["a ship"], wordnet="auto")


@pytest.mark.parametrize("kind", ["csr_matrix", "csr_array", "coo_array", "csc_matrix"])
def test_sparse_matrices_are_refused_with_a_sentence(kind):
    matrix = getattr(importlib.import_module("scipy.sparse"), kind)(np.eye(30))
    for given in ((matrix, matrix), (np.eye(30), matrix)):
        with pytest.raises(InputError, match=r"is a sparse matrix .*toarray"):
            rc.mmd(*given)
        with pytest.raises(InputError, match=r"is a sparse matrix .*toarray"):
            rc.evaluate(*given)
