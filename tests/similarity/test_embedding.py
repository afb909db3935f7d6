"""Cosine similarity of sentence vectors: values from SciPy, exactness by comparison with itself in other company."""

import numpy as np
import pytest
from scipy.spatial.distance import cosine

from recapture.errors import InputError
from recapture.representations.encoders.bag_of_words import BagOfWords
from recapture.similarity.scorer import METRICS

TEXTS = [f"text {number}" for number in range(40)]


class Encoder:
    """A fixed random vector for every text; counts the texts it is asked for."""

    def __init__(self, dimensions=384, scale=1.0):
        self.asked = []
        self._dimensions, self._scale = dimensions, scale

    def __call__(self, texts):
        self.asked += texts
        return np.array([self.vector(text) for text in texts])

    def vector(self, text):
        if not text:
            return np.zeros(self._dimensions, np.float32)
        seed = list(text.encode())
        return (self._scale * np.random.default_rng(seed).standard_normal(self._dimensions)).astype(np.float32)


def scorer(encoder, **options):
    return METRICS.find("embedding").scorer(encoder=encoder, **options)


@pytest.mark.parametrize("scale", [1.0, 1e-30, 1e30])
def test_values_as_scipy(scale):
    encoder = Encoder(scale=scale)
    made = scorer(encoder).cross(TEXTS[:4], TEXTS[2:7])
    vectors = {text: encoder.vector(text).astype(np.float64) / scale for text in TEXTS[:7]}
    expected = [[1 - cosine(vectors[row], vectors[column]) for column in TEXTS[2:7]] for row in TEXTS[:4]]
    np.testing.assert_allclose(made, expected, rtol=0, atol=1e-7)
    assert made[2, 0] == made[3, 1] == 1


def test_equal_texts_have_equal_rows_and_score_one():
    group = [*TEXTS[:6], TEXTS[2], TEXTS[0], TEXTS[2]]
    square = scorer(Encoder()).squares([group])[0]
    assert np.array_equal(square, square.T)
    for i, row in enumerate(group):
        for j, column in enumerate(group):
            if row == column:
                assert square[i, j] == 1
                assert np.array_equal(square[i], square[j])


def test_a_group_does_not_hang_on_other_groups_or_on_order():
    groups = [TEXTS[:5], TEXTS[3:30], TEXTS[7:9], [], TEXTS[:1]]
    made = scorer(Encoder()).squares(groups)
    rng = np.random.default_rng(0)
    for group, square in zip(groups, made, strict=True):
        assert square.shape == (len(group), len(group))
        if not group:
            continue
        assert np.array_equal(scorer(Encoder()).squares([group])[0], square)
        order = rng.permutation(len(group))
        shuffled = scorer(Encoder()).squares([[group[i] for i in order]])[0]
        assert np.array_equal(shuffled, square[np.ix_(order, order)])
        assert np.array_equal(scorer(Encoder()).cross(group[:2], group), square[:2])


def test_every_distinct_text_is_encoded_once():
    encoder = Encoder()
    scorer(encoder).squares([TEXTS[:6], TEXTS[4:9], TEXTS[:6]])
    assert sorted(encoder.asked) == sorted(TEXTS[:9])


def test_a_vector_of_zeros_is_near_itself_alone():
    class Blank(Encoder):
        def vector(self, text):
            return super().vector("" if text.startswith("!") else text)

    square = scorer(Blank()).squares([["!", "!!", "word", "!"]])[0]
    assert square.tolist() == [[1, 0, 0, 1], [0, 1, 0, 0], [0, 0, 1, 0], [1, 0, 0, 1]]


def test_word_counts_by_hand():
    # Counts (dog, runs, cat, home): (1,1,0,0), (1,0,1,0), (2,0,0,1) and (1,1,0,0) again.
    group = ["dog runs", "dog cat", "dog dog home", "runs dog"]
    square = scorer("bag-of-words").squares([group])[0]
    expected = np.array([[1, 1 / 2, 2 / 10**0.5, 1], [1 / 2, 1, 2 / 10**0.5, 1 / 2]])
    np.testing.assert_allclose(square[:2], expected, rtol=1e-15)
    assert square[0, 2] == square[1, 2] == square[2, 0]
    assert square[0, 3] == 1


def test_an_encoder_that_learns_learns_from_each_group_alone():
    groups = [["a dog runs", "a cat sits"], ["other words", "of another group", "a dog"]]
    made = scorer("bag-of-words").squares(groups)
    for group, square in zip(groups, made, strict=True):
        assert np.array_equal(scorer("bag-of-words").squares([group])[0], square)
        assert np.array_equal(scorer("bag-of-words").cross(group[:1], group), square[:1])


def test_an_encoder_given_ready_is_used_as_it_is():
    square = scorer(BagOfWords(["dog"])).squares([["a dog", "the dog", "a cat"]])[0]
    assert square.tolist() == [[1, 1, 0], [1, 1, 0], [0, 0, 1]]
    with pytest.raises(InputError, match="no vocabulary"):
        scorer(BagOfWords()).squares([["a dog", "a cat"]])


def test_options_reach_the_encoder():
    with pytest.raises(InputError, match="bag-of-words has no pooling"):
        scorer("bag-of-words", pooling="max")
    with pytest.raises(InputError, match="batch size"):
        scorer(Encoder(), batch_size=0).cross(["a"], ["b"])
    assert scorer("bag-of-words").settings["encoder"]["encoder"] == "bag-of-words"


def test_distance_is_cosine_distance():
    declared = METRICS.find("embedding")
    assert declared.distance(np.array([1.0, 0.0, -1.0])).tolist() == [0, 1, 2]
