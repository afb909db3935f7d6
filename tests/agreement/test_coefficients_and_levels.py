"""Coefficients and the text level against scipy."""

import math

import numpy as np
import pytest
from scipy import stats

from recapture.agreement.data.directions import oriented
from recapture.agreement.statistics.coefficients import COEFFICIENTS, correlation
from recapture.agreement.statistics.levels import agreement
from recapture.errors import InputError

SCIPY = {
    "pearson": lambda a, b: stats.pearsonr(a, b)[0],
    "spearman": lambda a, b: stats.spearmanr(a, b)[0],
    "kendall": lambda a, b: stats.kendalltau(a, b)[0],  # tau-b
}


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_coefficients_are_those_of_scipy(coefficient):
    rng = np.random.default_rng(1)
    for size in (2, 3, 5, 16, 200):
        human, scores = rng.integers(0, 6, size) / 7, rng.normal(size=size)  # ties on one side
        human[:2] = 0, 1
        assert correlation(human, scores, coefficient) == pytest.approx(SCIPY[coefficient](human, scores), abs=1e-12)
        tied = np.round(scores)
        tied[:2] = 0, 3
        assert correlation(human, tied, coefficient) == pytest.approx(SCIPY[coefficient](human, tied), abs=1e-12)
        assert correlation(human, oriented(tied, "lower"), coefficient) == pytest.approx(
            -correlation(human, oriented(tied, "higher"), coefficient), abs=1e-12
        )


@pytest.mark.parametrize("coefficient", COEFFICIENTS)
def test_text_level_is_a_loop_over_inputs(coefficient):
    rng = np.random.default_rng(2)
    human, scores = rng.integers(0, 4, (6, 40)).astype(float), rng.integers(0, 5, (6, 40)) / 3
    human[:, 3] = 2.0  # people see no difference
    scores[:, 5] = 0.1 + 0.2  # nor does the metric
    scores[:, 7] = 1 / 3 + 1e-17 * np.arange(6)
    human[2, 9] = np.nan  # a rating is missing
    human[1:, 11] = np.nan  # one rating says nothing
    expected = []
    for one, other in zip(human.T, scores.T, strict=True):
        known = ~np.isnan(one)
        if len(set(one[known])) > 1 and len(set(np.round(other[known], 12))) > 1:
            expected.append(SCIPY[coefficient](one[known], other[known]))
    found = agreement(scores, human, "text", coefficient)
    assert found.value == pytest.approx(np.mean(expected), abs=1e-12)
    assert (found.inputs, found.dropped) == (len(expected), 40 - len(expected))
    assert found.dropped >= 4


def test_nothing_to_compare():
    assert math.isnan(correlation(np.ones(4), np.arange(4)))
    assert math.isnan(correlation(np.arange(1), np.arange(1)))
    nothing = agreement(np.ones((3, 2)), np.ones((3, 2)), "text")
    assert math.isnan(nothing.value) and nothing.dropped == 2
    with pytest.raises(InputError, match="did you mean kendall"):
        correlation(np.arange(3), np.arange(3), "kendal")
    with pytest.raises(InputError, match="one vector each"):
        correlation(np.arange(3), np.arange(4))
    with pytest.raises(InputError, match="systems x inputs"):
        agreement(np.ones((3, 2)), np.ones((2, 3)), "text")
