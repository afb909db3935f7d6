"""What every pairwise metric of the registry must respect, checked from its declaration alone."""

import random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from recapture.errors import InputError
from recapture.lexical.ngrams import DocumentFrequencies
from recapture.similarity.scorer import METRICS, Similarity

DECLARED = list(METRICS.all().values())
EACH = pytest.mark.parametrize("declared", DECLARED, ids=lambda declared: declared.name)
WORDS = [
    *("a", "the", "dog", "cat", "child", "man", "runs", "sits", "jumps", "on", "over", "grass", "red", "ball", "old"),
    *("bench", "near", "tree", "with", "hat"),
]


def sentences(seed, count):
    """At least four words each: shorter texts do not reach CIDEr-D's 10 against themselves."""
    rng = random.Random(seed)
    return [" ".join(rng.choices(WORDS, k=rng.randint(4, 14))) for _ in range(count)]


OPTIONS = {
    "cider": {"df": DocumentFrequencies.from_references([sentences(seed, 2) for seed in range(200, 240)])},
    "embedding": {"encoder": "bag-of-words"},
}
_scorers = {}


def scorer_of(declared):
    if declared.name not in _scorers:
        _scorers[declared.name] = declared.scorer(**OPTIONS.get(declared.name, {}))
    return _scorers[declared.name]


SEEDS = st.integers(0, 10_000)
few = settings(max_examples=10, deadline=None)


@EACH
def test_declarations_are_complete(declared):
    assert isinstance(declared, Similarity)
    assert declared.name == declared.name.lower()
    assert declared.title
    assert any(year in declared.citation for year in map(str, range(1990, 2030)))
    assert declared.range[0] < declared.range[1]
    assert declared.direction in ("higher", "lower")
    assert declared.over_references in ("best", "mean")
    assert "numpy" in declared.libraries
    assert METRICS.find(declared.name.replace("-", "_").upper()) is declared
    assert isinstance(scorer_of(declared).settings, dict)


@EACH
@few
@given(seed=SEEDS)
def test_scores_lie_in_their_range(declared, seed):
    rows, columns = sentences(seed, 4), [*sentences(seed + 1, 3), "", "?", "word"]
    scores = scorer_of(declared).cross(rows, columns)
    assert scores.shape == (4, 6)
    assert scores.dtype == np.float64
    assert np.isfinite(scores).all()
    assert (scores >= declared.range[0]).all()
    assert (scores <= declared.range[1]).all()


@EACH
@few
@given(seed=SEEDS)
def test_a_text_is_at_distance_zero_from_itself(declared, seed):
    group = sentences(seed, 5)
    group.append(group[1])
    distances = declared.distance(scorer_of(declared).squares([group])[0])
    assert np.abs(np.diag(distances)).max() <= 1e-6
    assert abs(distances[1, 5]) <= 1e-6
    assert abs(distances[5, 1]) <= 1e-6
    assert (distances >= -1e-12).all()


@EACH
@few
@given(seed=SEEDS)
def test_equal_texts_have_equal_rows_and_columns(declared, seed):
    group = sentences(seed, 5)
    group.insert(3, group[0])
    square = scorer_of(declared).squares([group])[0]
    assert np.array_equal(square[3], square[0])
    assert np.array_equal(square[:, 3], square[:, 0])


@EACH
@few
@given(seed=SEEDS)
def test_cross_is_a_block_of_the_square(declared, seed):
    group = sentences(seed, 7)
    scorer = scorer_of(declared)
    square = scorer.squares([group])[0]
    np.testing.assert_allclose(scorer.cross(group[:3], group[3:]), square[:3, 3:], rtol=0, atol=1e-12)
    np.testing.assert_allclose(scorer.cross(group, list(group)), square, rtol=0, atol=1e-12)


@EACH
@few
@given(seed=SEEDS)
def test_the_order_of_texts_permutes_the_matrix(declared, seed):
    group = sentences(seed, 6)
    order = np.random.default_rng(seed).permutation(6)
    scorer = scorer_of(declared)
    square = scorer.squares([group])[0]
    shuffled = scorer.squares([[group[i] for i in order]])[0]
    assert np.array_equal(shuffled, square[np.ix_(order, order)])


@pytest.mark.traced
@pytest.mark.slow
@EACH
@few
@given(seed=SEEDS)
def test_groups_do_not_hang_on_each_other(declared, seed):
    groups = [sentences(seed + shift, 2 + shift) for shift in range(4)]
    scorer = scorer_of(declared)
    for group, square in zip(groups, scorer.squares(groups), strict=True):
        assert np.array_equal(scorer.squares([group])[0], square)


@EACH
def test_no_texts_make_empty_matrices(declared):
    scorer = scorer_of(declared)
    assert scorer.squares([]) == []
    assert scorer.cross([], ["a dog runs home"]).shape == (0, 1)
    assert scorer.cross(["a dog runs home"], []).shape == (1, 0)


@EACH
def test_unknown_options_are_refused(declared):
    with pytest.raises(InputError, match="no option 'colour'"):
        declared.scorer(**OPTIONS.get(declared.name, {}), colour="red")


def test_unknown_names_are_refused():
    with pytest.raises(InputError, match="did you mean sentence-bleu"):
        METRICS.find("sentence-blue")


@EACH
def test_two_empty_texts_are_equal(declared):
    """However many blanks they have; triangle ranks would else hold two empty texts for the farthest of all."""
    texts = ["", " ", "\t\n", "the dog runs on grass"]
    scores = scorer_of(declared).cross(texts, texts)
    np.testing.assert_array_equal(scores[:3, :3], declared.range[1])
    np.testing.assert_array_equal(scorer_of(declared).squares([texts])[0], scores)
    assert (scores[:3, 3] == 0).all() and (scores[3, :3] == 0).all()
