"""Intervals over systems: by formulas worked out plainly, and that they hold the truth as often as they say."""

import math
from itertools import product

import numpy as np
import pytest
from scipy import stats

import recapture as rc

SCIPY = {
    "pearson": lambda a, b: stats.pearsonr(a, b)[0],
    "spearman": lambda a, b: stats.spearmanr(a, b)[0],
    "kendall": lambda a, b: stats.kendalltau(a, b)[0],
}


def data(systems=9, inputs=30, seed=0):
    rng = np.random.default_rng(seed)
    quality = rng.normal(size=(systems, 1))
    return tuple(quality + 0.5 * rng.normal(size=(systems, 1)) + rng.normal(size=(systems, inputs)) for _ in range(2))


def plainly(level, coefficient, metric, human):
    of = SCIPY[coefficient]
    if level == "system":
        return of(metric.mean(axis=1), human.mean(axis=1))
    if level == "global":
        return of(metric.ravel(), human.ravel())
    return np.mean([of(metric[:, at], human[:, at]) for at in range(metric.shape[1])])


@pytest.mark.parametrize("level, coefficient", list(product(("system", "text", "global"), SCIPY)))
def test_formula(level, coefficient):
    """Fisher's z and its standard error: of the jackknife (Efron and Tibshirani 1993, eq. 11.5) and, for systems'
    means, at least that of normal theory (Bonett and Wright 2000)."""
    metric, human = data()
    n = len(metric)
    value = plainly(level, coefficient, metric, human)
    left = [plainly(level, coefficient, np.delete(metric, at, 0), np.delete(human, at, 0)) for at in range(n)]
    error = math.sqrt((n - 1) * np.var([math.atanh(r) for r in left]))
    quantile = stats.t.ppf(0.95, n - 1)
    if level == "system":
        quantile = stats.norm.ppf(0.95)
        theory = {"pearson": 1 / (n - 3), "spearman": (1 + value**2 / 2) / (n - 3), "kendall": 0.437 / (n - 4)}
        error = max(error, math.sqrt(theory[coefficient]))
    expected = [math.tanh(math.atanh(value) + sign * quantile * error) for sign in (-1, 1)]
    found = rc.correlate(metric, human, level, coefficient, interval=0.9, over="systems")
    assert found.interval == pytest.approx(tuple(expected), abs=1e-9)
    # Nothing is drawn, so nothing is said of it.
    assert "resamples" not in found.settings and found.settings["interval_method"] == "jackknife"
    assert "0.9 interval for other systems and these inputs, on Fisher's z" in str(found)


@pytest.mark.parametrize("level", ["text", "global"])
def test_other_inputs_add_their_variance(level):
    """Text level: the mean of one number for each input, whose variance is theirs / inputs; z' = 1 / (1 - r^2)."""
    metric, human = data(inputs=60)
    alone, both = (
        rc.correlate(metric, human, level, interval=0.95, over=over, resamples=4000) for over in ("systems", "both")
    )
    widths = [np.diff(np.arctanh(found.interval))[0] / 2 / stats.t.ppf(0.975, 8) for found in (alone, both)]
    added = widths[1] ** 2 - widths[0] ** 2
    assert added > 0 and "and other inputs" in str(both) and "4,000 resamples of them, seed 0" in str(both)
    if level == "text":
        each = [stats.pearsonr(metric[:, at], human[:, at])[0] for at in range(60)]
        assert added == pytest.approx(np.var(each) / 60 / (1 - np.mean(each) ** 2) ** 2, rel=0.1)


def test_noise_of_single_texts_is_not_counted_twice():
    """At the system level, noise on its own in every cell is in the spread between systems; what is left of the part of
    inputs is chance. Where one input in four turns the metric round for half of the systems, inputs matter."""
    rng = np.random.default_rng(3)
    quality = rng.normal(size=(12, 1))
    human = quality + rng.normal(size=(12, 40))
    metric = quality + 0.5 * rng.normal(size=(12, 1)) + rng.normal(size=(12, 40))
    turned = metric + 4 * np.where(np.arange(12) % 2, 1, -1)[:, None] * rng.normal(size=(1, 40))

    def wider(scores):
        ends = [rc.correlate(scores, human, interval=0.95, over=over).interval for over in ("systems", "both")]
        return np.divide(*(np.diff(np.arctanh(end))[0] for end in ends[::-1]))

    assert 1 <= wider(metric) < 1.1 < wider(turned)


def test_ends():
    """Eight systems in perfect order: the upper end is 1, the lower below it; three systems say nothing."""
    line = np.arange(8.0)[:, None]
    bent = line**3
    for coefficient in ("spearman", "kendall", "gamma", "acc-eq"):
        low, high = rc.correlate(line, bent, coefficient=coefficient, interval=0.95).interval
        assert high == 1 and 0 < low < 0.95
        turned = rc.correlate(-line, bent, coefficient=coefficient, interval=0.95).interval
        # Kendall's tau t is the share (1 + t) / 2 of pairs.
        assert turned == pytest.approx((1 - high, 1 - low) if coefficient == "acc-eq" else (-high, -low))
    three = rc.correlate(line[:3], np.array([[0.0], [9], [8]]), interval=0.95)
    assert three.interval is None and three.warnings == (
        "metric: 3 systems are too few for an interval over systems, which takes 4",
    )
    four = rc.correlate(line[:4], bent[:4], coefficient="kendall", interval=0.95)
    assert four.interval == (-1, 1)
    # Without the last system the metric is constant.
    flat = rc.correlate(np.array([0.0, 0, 0, 0, 1])[:, None], line[:5], interval=0.95)
    assert flat.interval is None and "without one of the systems there is no correlation" in flat.warnings[0]


def covered(systems, coefficients, skewed, repeats=400, error=0.6):
    """Numbers of whole systems, so that the truth is known: quality v quality with an error, among 200,000 systems."""
    rng = np.random.default_rng(11)

    def draw(shape):
        quality = rng.exponential(size=shape) if skewed else rng.normal(size=shape)
        return quality, quality + error * rng.normal(size=shape)

    many = draw(200_000)
    pairs = [np.sign(side[::2] - side[1::2]) for side in many]
    truth = {
        "pearson": stats.pearsonr(*many)[0],
        "spearman": stats.spearmanr(*many)[0],
        "kendall": np.mean(pairs[0] * pairs[1]),
    }
    held = dict.fromkeys(coefficients, 0)
    for _ in range(repeats):
        for row in rc.correlate(*draw(systems), coefficient=coefficients, interval=0.95, over="systems"):
            held[row.coefficient] += row.interval[0] <= truth[row.coefficient] <= row.interval[1]
    return held


@pytest.mark.slow
@pytest.mark.parametrize(("systems", "skewed"), [(8, False), (8, True), (12, True), (20, False)])
def test_intervals_hold_the_truth_as_often_as_they_say(systems, skewed):
    """93 to 97 of 100 are wanted (ranks of few systems move in steps, so theirs may hold more); what 400 data sets can
    tell of that is binomial. Of percentiles of resampled systems, Pearson's held less."""
    low = stats.binom.ppf(0.01, 400, 0.93)
    high = stats.binom.ppf(0.99, 400, 0.97)
    held = covered(systems, ["pearson", "spearman", "kendall"], skewed)
    assert low <= min(held.values()), held
    assert held["pearson"] <= high, held
