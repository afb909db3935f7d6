"""Scores by human quality: groups by hand, the area under the curve against scipy and scikit-learn."""

import numpy as np
import pytest
from scipy import stats

from recapture.agreement.statistics.distributions import area_under_curve, score_distributions
from recapture.errors import InputError


@pytest.mark.parametrize("digits", [6, 0])
def test_area_is_that_of_others(digits):
    random = np.random.default_rng(0)
    good, bad = np.round(random.normal(0.5, 1, 40), digits), np.round(random.normal(0, 1, 60), digits)
    found = area_under_curve(good, bad)
    assert found == pytest.approx(stats.mannwhitneyu(good, bad).statistic / (40 * 60))
    metrics = pytest.importorskip("sklearn.metrics", reason="scikit-learn is not installed")
    assert found == pytest.approx(metrics.roc_auc_score([1] * 40 + [0] * 60, [*good, *bad]))


def test_groups_by_a_threshold():
    """Ratings below .5: scores 1, 3, 2; from .5 upwards: 5, 2. Of six pairs 5 beats three, 2 beats one and ties one."""
    human = np.array([[0.1, 0.2, 0.4], [0.5, 0.9, np.nan]])
    metric = np.array([[1.0, 3, 2], [5, 2, 7]])
    found = score_distributions(metric, human)
    low, high = found.groups
    assert (low.count, low.mean, low.quartiles) == (3, 2, (1, 1.5, 2, 2.5, 3)) and low.spread == pytest.approx(
        np.sqrt(2 / 3)
    )
    assert (high.count, high.mean, high.quartiles[2], found.missing) == (2, 3.5, 3.5, 1)
    assert (low.low, low.high, high.low, high.high) == (0.1, 0.5, 0.5, 0.9)
    assert found.auc == pytest.approx(4.5 / 6)
    assert score_distributions(-metric, human, direction="lower").auc == pytest.approx(4.5 / 6)
    assert score_distributions(metric, human, direction="lower").auc == pytest.approx(1.5 / 6)


def test_groups_by_quantiles():
    found = score_distributions(np.arange(12), np.arange(12), quantiles=4)
    assert [group.scores.tolist() for group in found.groups] == [[0, 1, 2], [3, 4, 5], [6, 7, 8], [9, 10, 11]]
    assert found.auc == 1
    tied = score_distributions(np.arange(6), [1, 1, 1, 1, 2, 3], quantiles=3)
    assert [group.count for group in tied.groups] == [4, 2]


@pytest.mark.parametrize("metric, human, options, message", [
    ([1, 2], [0.1, 0.2], {}, "all ratings lie on one side of 0.5: from 0.1 to 0.2"),
    ([1, 2], [0.1], {}, "shape"), ([np.nan], [1], {}, "no text has both"),
    ([1, 2], [1, 2], {"quantiles": 1}, "quantiles"),
    ([1, 2], [1, 1], {"quantiles": 2}, "one side of the quantiles"),
])  # fmt: skip
def test_bad_input(metric, human, options, message):
    with pytest.raises(InputError, match=message):
        score_distributions(np.array(metric, float), np.array(human, float), **options)
