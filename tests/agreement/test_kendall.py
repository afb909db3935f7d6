"""Kendall's variants, acc-eq and tie calibration against scipy, mt-metrics-eval's own values, loops and hand counts."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest
from scipy import stats

from recapture.agreement.statistics import kendall as module
from recapture.agreement.statistics.coefficients import ALL_COEFFICIENTS, correlation, row_correlations
from recapture.agreement.statistics.kendall import VARIANTS, kendall_tau, pair_counts, row_taus
from recapture.agreement.statistics.tie_calibration import tie_calibration
from recapture.errors import InputError

# google-research/mt-metrics-eval, stats_test.py: testKendallVariants and testKendallWithTiesOpt.
PEOPLE, SCORES = [1, 2, 2, 3, 4], [2, 1, 1.5, 5, 3]

# By hand. Items and their (human, metric): p (1, 1), q (1, 2), r (2, 2), s (3, 1), t (3, 1).
# pq: people tie. pr: alike. ps, pt: the metric ties. qr: the metric ties. qs, qt, rs, rt: the other way. st: both tie.
HUMAN, METRIC = [1, 1, 2, 3, 3], [1, 2, 2, 1, 1]
BY_HAND = {  # C = 1, D = 4, H = 1, M = 3, B = 1, N = 10, n = 5, m = 2
    "a": -3 / 10,
    "b": -3 / math.sqrt((1 + 4 + 1) * (1 + 4 + 3)),
    "c": 2 * -3 / (25 * (2 - 1) / 2),
    "gamma": -3 / 5,
    "13": -3 / 5,
    "10": (1 - 4 - 3) / (1 + 4 + 3),
    "14": (1 - 4) / (1 + 4 + 3),
    "eq": (1 + 1 - 4 - 1 - 3) / 10,
    "acc-eq": (1 + 1) / 10,
}


def counted(human, metric, epsilon=0.0):
    """The kinds of pairs by looking at each."""
    kinds = Counter()
    for (a, x), (b, y) in itertools.combinations(zip(human, metric, strict=True), 2):
        tied = abs(x - y) <= epsilon
        if a == b:
            kinds["both" if tied else "human"] += 1
        elif tied:
            kinds["metric"] += 1
        else:
            kinds["alike" if (a < b) == (x < y) else "opposed"] += 1
    return [kinds[kind] for kind in ("alike", "opposed", "human", "metric", "both")]


@pytest.mark.parametrize("variant", VARIANTS)
def test_variants_counted_by_hand(variant):
    assert set(BY_HAND) == set(VARIANTS)
    assert kendall_tau(METRIC, HUMAN, variant) == pytest.approx(BY_HAND[variant], abs=1e-15)


def test_values_of_mt_metrics_eval():
    assert kendall_tau(SCORES, PEOPLE, "b") == pytest.approx(0.316227766, abs=1e-9)
    assert kendall_tau(SCORES, PEOPLE, "c") == pytest.approx(0.32, abs=1e-15)
    assert kendall_tau(SCORES, PEOPLE, "eq") == pytest.approx(0.2, abs=1e-15)
    assert kendall_tau(SCORES, PEOPLE, "acc-eq") == pytest.approx(0.6, abs=1e-15)
    assert kendall_tau(SCORES, PEOPLE, "acc-eq", epsilon=2) == pytest.approx(0.4, abs=1e-15)
    assert tie_calibration(SCORES, PEOPLE).value == pytest.approx(0.7, abs=1e-15)
    # testKendallVariants_23: 14 of 21 pairs alike, 7 not.
    one, other = [1, 1, 1, 2, 2, 3, 4], [1, 1, 2, 2, 4, 3, 3]
    assert kendall_tau(other, one, "eq") == pytest.approx((14 - 7) / 21, abs=1e-15)
    assert kendall_tau(other, one, "acc-eq") == pytest.approx(14 / 21, abs=1e-15)


@pytest.mark.parametrize("size", [2, 3, 9, 99, 100, 101, 102, 333])
def test_b_and_c_are_those_of_scipy_short_and_long(size):
    rng = np.random.default_rng(size)
    for human, metric in (
        (rng.normal(size=(5, size)), rng.normal(size=(5, size))),
        (rng.integers(0, 4, (5, size)).astype(float), np.round(rng.normal(size=(5, size)), 1)),
    ):
        for variant in ("b", "c"):
            expected = [stats.kendalltau(a, b, variant=variant)[0] for a, b in zip(human, metric, strict=True)]
            assert row_taus(human, metric, variant) == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("size", [1, 2, 7, 30, 110])
@pytest.mark.parametrize("epsilon", [0.0, 0.3])
def test_counts_by_both_ways_are_those_of_a_loop(size, epsilon, monkeypatch):
    rng = np.random.default_rng(1)
    human, metric = rng.integers(0, 5, (4, size)).astype(float), np.round(rng.normal(size=(4, size)), 1)
    expected = np.array([counted(a, b, epsilon) for a, b in zip(human, metric, strict=True)])
    for short in (0, 1000):
        for tile in (1, 1 << 20):
            monkeypatch.setattr(module, "_SHORT", short)
            monkeypatch.setattr(module, "_TILE", tile)
            found = np.stack(pair_counts(human, metric, epsilon)[:5], axis=1)
            assert (found == expected).all()


def test_a_hundred_thousand_items():
    """No table of pairs: 10^10 cells would not fit. The value is scipy's."""
    rng = np.random.default_rng(3)
    human = rng.integers(0, 100, 100_000).astype(float)
    metric = human + rng.normal(0, 50, len(human)).round(1)
    assert correlation(human, metric, "kendall") == pytest.approx(stats.kendalltau(human, metric)[0], abs=1e-12)


def test_coefficients_by_name():
    rng = np.random.default_rng(4)
    human, metric = rng.integers(0, 4, (30, 7)).astype(float), rng.integers(0, 5, (30, 7)).astype(float)
    human[3, 2] = metric[5, :4] = np.nan
    human[7], metric[8], human[9, 1:] = 2.0, 3.0, np.nan
    for name, variant in (("kendall", "b"), ("kendall-a", "a"), ("kendall-c", "c"), ("gamma", "gamma")):
        found = row_correlations(human, metric, name)
        for row, value in enumerate(found):
            assert value == pytest.approx(kendall_tau(metric[row], human[row], variant), nan_ok=True) or row in (7, 8)
        assert np.isnan(found[[7, 8, 9]]).all()  # a constant side, or one item
    alike = row_correlations(human, metric, "acc-eq")
    assert alike[7] == counted(human[7], metric[7])[4] / 21  # ties that the metric sees are its merit
    assert math.isnan(alike[9])
    assert list(ALL_COEFFICIENTS) == ["pearson", "spearman", "kendall", "kendall-a", "kendall-c", "gamma", "acc-eq"]
    with pytest.raises(InputError, match="did you mean kendall"):
        correlation(np.arange(3), np.arange(3), "kendall-d")


@pytest.mark.parametrize("coefficient", ALL_COEFFICIENTS)
def test_missing_numbers_are_left_out_row_by_row(coefficient):
    rng = np.random.default_rng(5)
    human, metric = rng.normal(size=(40, 9)), rng.normal(size=(40, 9))
    human[rng.random(human.shape) < 0.3] = np.nan
    metric[rng.random(metric.shape) < 0.2] = np.nan
    metric[0], human[1, 1:] = np.nan, np.nan
    found = row_correlations(human, metric, coefficient)
    for row, value in enumerate(found):
        known = ~np.isnan(human[row]) & ~np.isnan(metric[row])
        expected = correlation(human[row, known], metric[row, known], coefficient) if known.sum() > 1 else math.nan
        assert value == pytest.approx(expected, abs=1e-12, nan_ok=True)


def calibrated(human, metric):
    """Every epsilon tried on every group, as acc-eq defines it."""
    groups = [(a[~np.isnan(a + b)], b[~np.isnan(a + b)]) for a, b in zip(human, metric, strict=True)]
    groups = [(a, b) for a, b in groups if len(a) > 1]
    gaps = {0.0} | {abs(x - y) for _, b in groups for x, y in itertools.combinations(b, 2)}
    best = {}
    for epsilon in sorted(gaps):
        kinds = [counted(a, b, epsilon) for a, b in groups]
        best[epsilon] = np.mean([(each[0] + each[4]) / sum(each) for each in kinds])
    top = max(best.values())
    return min(epsilon for epsilon, value in best.items() if value > top - 1e-12), top, best[0.0]


@pytest.mark.parametrize("seed", range(6))
def test_tie_calibration_tries_every_epsilon(seed):
    rng = np.random.default_rng(seed)
    human = rng.integers(0, 3, (6, 5)).astype(float)
    metric = human + rng.normal(0, 0.5, human.shape)
    if seed % 2:
        metric = metric.round(1)
        human[0, 1] = metric[2, 3] = np.nan
        human[4, 1:] = np.nan
    found = tie_calibration(metric.T, human.T)
    epsilon, value, before = calibrated(human, metric)
    assert found.epsilon == pytest.approx(epsilon, abs=1e-12)
    assert found.value == pytest.approx(value, abs=1e-12)
    assert found.before == pytest.approx(before, abs=1e-12)
    assert found.value >= found.before


def test_tie_calibration_of_a_metric_that_needs_none():
    found = tie_calibration([10, 20, 30, 40], [1, 2, 3, 4])
    assert found == (0.0, 1.0, 1.0)


def test_bad_input():
    with pytest.raises(InputError, match="unknown variant"):
        kendall_tau([1, 2], [1, 2], "d")
    with pytest.raises(InputError, match="at least 0"):
        kendall_tau([1, 2], [1, 2], epsilon=-1)
    with pytest.raises(InputError, match="at least 0"):
        kendall_tau([1, 2], [1, 2], epsilon=math.nan)
    with pytest.raises(InputError, match="take another variant"):
        kendall_tau([1, 2], [1, 2], "c", epsilon=1)
    with pytest.raises(InputError, match="must be equal"):
        kendall_tau([1, 2], [1, 2, 3])
    with pytest.raises(InputError, match="two vectors"):
        kendall_tau(np.ones((2, 2)), np.ones((2, 2)))
    with pytest.raises(InputError, match="at least two items"):
        tie_calibration([1, 2], [1, np.nan])
    with pytest.raises(InputError, match="group the scores by input"):
        tie_calibration(np.zeros(6000), np.zeros(6000))
