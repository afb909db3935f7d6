"""Word vectors by GloVe's rule: counts against brute force, the fit against what it must reach, the file as read."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pytest

pytest.importorskip("torch", reason="needs recapture[models]")
sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from training.word_vectors import Recipe, together, tokens, trained, vocabulary

from recapture.representations.encode import encode
from training import word_vectors


def test_words_are_those_that_the_encoder_looks_up() -> None:
    """What the reader of word vectors finds by its own rule (docs/encoders.md): parts of compounds, English endings."""
    assert tokens("The well-known dog's U.S. owner didn't bark.") == [
        "the", "well", "known", "dog", "'s", "u", "s", "owner", "did", "n't", "bark",
    ]  # fmt: skip


def test_frequent_words_come_first_and_rare_ones_are_left_out() -> None:
    paragraphs = [["b", "a", "c"], ["b", "a", "d", "b"]]
    assert vocabulary(paragraphs, words=3, least=2) == {"b": 0, "a": 1}
    assert vocabulary(paragraphs, words=1, least=1) == {"b": 0}


def test_nearness_is_one_over_the_distance_within_a_paragraph() -> None:
    """Brute force over all pairs of places; words that are left out take up room."""
    rng = np.random.default_rng(3)
    names = ["a", "b", "c", "d", "rare"]
    paragraphs = [[names[at] for at in rng.integers(0, 5, size)] for size in (9, 1, 6, 12)]
    known = {name: number for number, name in enumerate(names[:4])}
    expected = np.zeros((4, 4))
    for each in paragraphs:
        for i, one in enumerate(each):
            for j, other in enumerate(each):
                if i != j and abs(i - j) <= 3 and "rare" not in (one, other):
                    expected[known[one], known[other]] += 1 / abs(i - j)
    np.testing.assert_allclose(together(paragraphs, known, window=3).toarray(), expected, rtol=1e-6)


def test_the_fit_reaches_what_it_can_reach() -> None:
    """A matrix of e^(w.v + b + c) is fitted to nothing left: Eq. 8 of the paper is then 0."""
    from scipy.sparse import csr_matrix

    rng = np.random.default_rng(0)
    half = rng.normal(size=(12, 2)) * 0.7
    counts = np.exp(half @ half.T + 1.0)
    losses = []
    recipe = Recipe(dimensions=6, passes=400, x_max=1.0, batch=64, rate=0.1)
    near = csr_matrix(counts.astype(np.float32))
    first, again = (trained(near, recipe, log=losses.append) for _ in range(2))
    assert float(str(losses[recipe.passes - 1]).split()[4].rstrip(",")) < 1e-3
    np.testing.assert_array_equal(first, again)  # the seed decides
    assert not np.array_equal(first, trained(near, Recipe(dimensions=6, passes=1, seed=1), log=losses.append))


def test_the_file_is_what_the_encoder_reads(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    corpus = tmp_path / "corpus.txt"
    corpus.write_text("\n".join(["the old ferry was late", "the rain was old", "late ferry , old rain"] * 4))
    made = tmp_path / "tiny.txt"
    word_vectors.main(["--corpus", str(corpus), "--output", str(made), "--dimensions", "3", "--passes", "2"])
    assert "6 different ones kept" in capsys.readouterr().out
    rows = {line.split()[0]: [float(x) for x in line.split()[1:]] for line in made.read_text().splitlines()}
    assert set(rows) == {"the", "old", "ferry", "was", "late", "rain"} and all(len(row) == 3 for row in rows.values())
    found = encode(["The ferry!"], made, cache=False)
    np.testing.assert_allclose(found[0], np.mean([rows["the"], rows["ferry"]], axis=0), atol=1e-6)
