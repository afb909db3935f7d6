"""The paired bootstrap against plain loops over the same draws, and against what theory says."""

import math
from statistics import fmean

import numpy as np
import pytest
from made_up import scores
from scipy import stats

from recapture.agreement.statistics import common_cells
from recapture.agreement.statistics.argument_checks import OVER
from recapture.agreement.statistics.paired_bootstrap import paired_bootstrap
from recapture.errors import InputError

SCIPY = {
    "pearson": lambda a, b: stats.pearsonr(a, b)[0],
    "spearman": lambda a, b: stats.spearmanr(a, b)[0],
    "kendall": lambda a, b: stats.kendalltau(a, b)[0],
}


def plain(human, metric, systems, inputs, level, of):
    """The agreement in one resample, number by number; None where there is none."""

    def coefficient(pairs):
        pairs = [pair for pair in pairs if not any(math.isnan(each) for each in pair)]
        if any(len(set(np.round(side, 12))) < 2 for side in zip(*pairs, strict=True)) or not pairs:
            return None
        return of(*zip(*pairs, strict=True))

    def cell(at):
        return (float(human[at]), float(metric[at]))

    if level == "system":
        return coefficient([tuple(fmean(cell((s, i))[k] for i in inputs) for k in (0, 1)) for s in systems])
    if level == "global":
        return coefficient([cell((s, i)) for s in systems for i in inputs])
    found = [coefficient([cell((s, i)) for s in systems]) for i in inputs]
    found = [each for each in found if each is not None]
    return fmean(found) if found else None


def looped(first, second, human, level, coefficient, over, resamples, seed):
    """Draws as documented: per resample one number in [0, 1) for each system, then for each input; what is not drawn
    stays as it is. At the system level fewer than three different systems give nothing."""
    rng = np.random.default_rng(seed)
    differences = []
    for _ in range(resamples):
        chosen = []
        for size, kind in zip(human.shape, ("systems", "inputs"), strict=True):
            drawn = over in (kind, "both")
            chosen.append([int(rng.random() * size) for _ in range(size)] if drawn else list(range(size)))
        if level == "system" and len(set(chosen[0])) < 3:
            differences.append(None)
            continue
        sides = [plain(human, metric, *chosen, level, SCIPY[coefficient]) for metric in (first, second)]
        differences.append(None if None in sides else sides[0] - sides[1])
    return differences


@pytest.mark.slow
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("level", ["system", "text", "global"])
@pytest.mark.parametrize("coefficient", SCIPY)
def test_loops_over_the_same_draws(level, coefficient, over):
    rng = np.random.default_rng(9)
    human = rng.integers(0, 5, (5, 6)).astype(float)
    first, second = human + rng.normal(0, 1, human.shape), human + rng.normal(0, 2, human.shape)
    if level != "system":
        human[1, 2] = first[0, 3] = second[0, 3] = np.nan
    whole = [np.where(np.isnan(human + first + second), np.nan, each) for each in (first, second, human)]
    expected = looped(*whole, level, coefficient, over, 60, 3)
    found = paired_bootstrap(first, second, human, level, coefficient, over, resamples=60, seed=3)
    left = [each for each in expected if each is not None]
    assert found.samples == pytest.approx(left, abs=1e-10)
    assert found.left_out == len(expected) - len(left)
    assert (found.low, found.high) == pytest.approx(tuple(np.quantile(left, [0.025, 0.975])), abs=1e-10)
    below, above = (sum(sign * each <= 1e-10 for each in left) for sign in (1, -1))
    assert found.under("greater") == pytest.approx((1 + below) / (1 + len(left)))
    assert found.pvalue == pytest.approx(min(1, 2 * (1 + min(below, above)) / (1 + len(left))))


def test_resamples_without_agreement_are_counted():
    """Four systems: of 4^4 draws 4 are of one system and 6 (2^4 - 2) of two. At the other levels all draws are one
    system with chance 1/64, and then no input's side varies."""
    human, good, weak, _ = scores()
    for level, chance in (("system", 88 / 256), ("text", 1 / 64)):
        found = paired_bootstrap(good[:4], weak[:4], human[:4], level, over="systems", resamples=2000)
        assert len(found.samples) + found.left_out == 2000
        low, high = stats.binom.ppf([1e-4, 1 - 1e-4], 2000, chance)
        assert low <= found.left_out <= high
        assert found.too_few == (found.left_out if level == "system" else 0)


@pytest.mark.slow
@pytest.mark.parametrize("over", OVER)
@pytest.mark.parametrize("level", ["system", "text", "global"])
def test_scale_side_and_tiles_do_not_matter(level, over, monkeypatch):
    human, good, weak, _ = scores()
    found = paired_bootstrap(good, weak, human, level, "kendall", over, resamples=80)
    scaled = paired_bootstrap(5 * good + 3, weak / 9 - 1e3, 2 * human, level, "kendall", over, resamples=80)
    turned = paired_bootstrap(weak, good, human, level, "kendall", over, resamples=80)
    assert scaled.samples == pytest.approx(found.samples, abs=1e-12) and scaled.pvalue == found.pvalue
    assert turned.samples == pytest.approx(-found.samples, abs=1e-12) and turned.pvalue == found.pvalue
    assert (turned.low, turned.high) == pytest.approx((-found.high, -found.low), abs=1e-12)
    monkeypatch.setattr(common_cells, "_TILE", 1)
    assert (paired_bootstrap(good, weak, human, level, "kendall", over, resamples=80).samples == found.samples).all()


@pytest.mark.slow
def test_interval_of_a_difference_that_is_known():
    """Text level, inputs drawn: the mean of one number per input, whose standard error is theirs / sqrt(inputs)."""
    rng = np.random.default_rng(10)
    human = rng.normal(size=(6, 400))
    first, second = human + rng.normal(size=human.shape), human + 2 * rng.normal(size=human.shape)
    each = [[stats.pearsonr(human[:, at], side[:, at])[0] for at in range(400)] for side in (first, second)]
    apart = np.subtract(*each)
    error = apart.std() / 20
    found = paired_bootstrap(first, second, human, "text", over="inputs", resamples=4000)
    assert found.delta == pytest.approx(apart.mean(), abs=1e-12)
    assert found.samples.std() == pytest.approx(error, rel=0.06)
    assert (found.low, found.high) == pytest.approx(
        (found.delta - 1.96 * error, found.delta + 1.96 * error), abs=0.2 * error
    )
    narrow = paired_bootstrap(first, second, human, "text", over="inputs", resamples=4000, confidence=0.5)
    assert narrow.high - narrow.low == pytest.approx(2 * 0.6745 * error, rel=0.1)


@pytest.mark.slow
def test_two_noisy_metrics_are_told_apart_about_as_often_as_chance_allows():
    rng = np.random.default_rng(11)
    pvalues = []
    for seed in range(300):
        human = rng.normal(size=(6, 40))
        first, second = (human + rng.normal(size=human.shape) for _ in range(2))
        pvalues.append(paired_bootstrap(first, second, human, "text", over="inputs", resamples=199, seed=seed).pvalue)
    low, high = stats.binom.ppf([1e-4, 1 - 1e-4], 300, 0.05)
    assert low <= np.sum(np.array(pvalues) <= 0.05) <= high


def test_a_metric_and_itself():
    human, good, _, _ = scores()
    found = paired_bootstrap(good, 2 * good, human, resamples=50)
    assert found.delta == pytest.approx(0, abs=1e-12) and found.pvalue == 1 and found.under("greater") == 1


def test_bad_input():
    human, good, weak, _ = scores()
    with pytest.raises(InputError, match="unknown unit to resample"):
        paired_bootstrap(good, weak, human, over="cells")
    with pytest.raises(InputError, match="confidence"):
        paired_bootstrap(good, weak, human, confidence=95)
    with pytest.raises(InputError, match="resamples must be"):
        paired_bootstrap(good, weak, human, resamples=True)
    with pytest.raises(InputError, match="second metric's agreement is undefined"):
        paired_bootstrap(good, np.zeros_like(weak), human)
    with pytest.raises(InputError, match="too few systems"):
        paired_bootstrap(good[:3], weak[:3], human[:3])
    with pytest.raises(InputError, match="too few systems"):
        paired_bootstrap(good[:2], weak[:2], human[:2], resamples=2, seed=1, over="systems")
