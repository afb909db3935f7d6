"""Means of systems: ties are those of exact fractions, and numbers of any size agree as they do at scale 1."""

import warnings
from fractions import Fraction

import numpy as np
import pytest
from scipy import stats

import recapture as rc
from recapture.agreement.statistics.paired_bootstrap import paired_bootstrap
from recapture.agreement.statistics.resampling import BootstrapCase, bootstrap
from recapture.agreement.statistics.swapping import swapping_test
from recapture.agreement.statistics.system_means import settled, system_means

SCIPY = {"pearson": stats.pearsonr, "spearman": stats.spearmanr, "kendall": stats.kendalltau}


def ranks_of_exact_means(tenths):
    """By fractions: equal means are equal, whatever floats make of them."""
    means = [Fraction(int(sum(row)), 10 * len(row)) for row in tenths]
    return [sorted(set(means)).index(mean) for mean in means], [float(mean) for mean in means]


def test_three_tenths_in_any_order():
    """Means .2, .2, .5 v 1, 2, 3: of three pairs one is tied, two alike: 2 / sqrt(2 x 3) by tau-b."""
    human = np.array([1.0, 2, 3])
    rows = [[0.1, 0.2, 0.3], [0.3, 0.2, 0.1], [0.5, 0.5, 0.5]]
    for order in ([0, 1, 2], [1, 2, 0], [2, 0, 1], [2, 1, 0]):
        found = rc.correlate(np.array(rows)[:, order], human, coefficient="kendall").value
        assert found == pytest.approx(2 / np.sqrt(6), abs=1e-15)


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(50))
def test_ties_are_those_of_fractions(seed):
    random = np.random.default_rng(seed)
    tenths = random.integers(1, 6, size=(2, 8, 3 + seed % 9))  # few values: many equal means
    (metric_ranks, metric_means), (human_ranks, human_means) = map(ranks_of_exact_means, tenths)
    metric, human = tenths / 10
    expected = {
        "pearson": stats.pearsonr(metric_means, human_means)[0],
        "spearman": stats.spearmanr(metric_ranks, human_ranks)[0],
        "kendall": stats.kendalltau(metric_ranks, human_ranks)[0],
    }
    systems, inputs = metric.shape
    alike = np.sign(np.subtract.outer(metric_ranks, metric_ranks)) == np.sign(
        np.subtract.outer(human_ranks, human_ranks)
    )
    for turn in range(3):
        order = random.permutation(inputs) if turn else np.arange(inputs)
        mixed, rated = metric[:, order], human[:, order]
        for coefficient, value in expected.items():
            assert rc.correlate(mixed, rated, coefficient=coefficient).value == pytest.approx(value, abs=1e-12)
            # Other names put inputs into another order before anything is summed.
            names = [f"{number:02d}" for number in random.permutation(inputs)]
            named = [rc.ScoreMatrix.from_arrays({key: side}, list("abcdefgh"), names)
                     for key, side in (("bleu", mixed), ("h", rated))]  # fmt: skip
            assert rc.correlate(*named, coefficient=coefficient).value == pytest.approx(value, abs=1e-12)
            # The tests that resample see the same data, and the same ties.
            for test in (swapping_test, paired_bootstrap):
                pair = test(mixed, rated, rated, coefficient=coefficient, resamples=3) if test is swapping_test else \
                    test(mixed, rated, rated, coefficient=coefficient, resamples=20)  # fmt: skip
                assert pair.first == pytest.approx(value, abs=1e-12)
        assert rc.pairwise_accuracy(mixed, rated).value == pytest.approx(alike[np.triu_indices(systems, 1)].mean())


def test_resamples_do_not_hang_on_the_order_of_systems():
    """Systems are summed by one matrix product, in which columns need not be summed in one order."""
    metric, human = np.random.default_rng(3).integers(1, 4, size=(2, 6, 30)) / 10
    found = bootstrap([BootstrapCase(metric, human, "system", "kendall")], 30, 200, 0)
    turned = bootstrap([BootstrapCase(metric[::-1], human[::-1], "system", "kendall")], 30, 200, 0)
    np.testing.assert_allclose(found, turned, atol=1e-12)


def test_what_is_settled_and_what_is_not():
    np.testing.assert_array_equal(settled(np.array([0.3, 0.1 + 0.2, 0.2, np.nan]), 1e-15), [0.3, 0.3, 0.2, np.nan])
    near = np.array([[1e9, 1e9], [1e9 + 1e-3, 1e9], [1e9, 1e9 + 2e-3]])  # large numbers that differ in earnest
    assert len(set(system_means(near))) == 3


@pytest.mark.slow
@pytest.mark.parametrize("level", ["system", "text", "global"])
@pytest.mark.parametrize("coefficient", SCIPY)
def test_scale_does_not_matter(level, coefficient):
    """At scale 1 scipy decides; no coefficient sees the scale of a side."""
    random = np.random.default_rng(4)
    human = random.integers(0, 9, size=(6, 7)) / 8
    metric = human + random.integers(0, 9, size=(6, 7)) / 8
    other = metric + random.integers(0, 9, size=(6, 7)) / 8
    scipy = SCIPY[coefficient]
    expected = {
        "system": lambda: scipy(metric.mean(axis=1), human.mean(axis=1))[0],
        "text": lambda: np.mean([scipy(metric[:, at], human[:, at])[0] for at in range(7)]),
        "global": lambda: scipy(metric.ravel(), human.ravel())[0],
    }[level]()
    drawn = rc.correlate(metric, human, level, coefficient, interval=0.9, resamples=60).interval
    bounds = paired_bootstrap(metric, other, human, level, coefficient, resamples=60)
    p = swapping_test(metric, other, human, level, coefficient, resamples=60).pvalue
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        for power in (-200, -160, -20, 20, 153, 160, 200, 307):
            for first, second in ((power, 0), (power, power), (power, -power)):
                one, two, people = metric * 10.0**first, other * 10.0**first, human * 10.0**second
                found = rc.correlate(one, people, level, coefficient, interval=0.9, resamples=60)
                assert found.value == pytest.approx(expected, abs=1e-12)
                assert found.interval == pytest.approx(drawn, abs=1e-11)
                again = paired_bootstrap(one, two, people, level, coefficient, resamples=60)
                assert (again.low, again.high) == pytest.approx((bounds.low, bounds.high), abs=1e-11)
                assert swapping_test(one, two, people, level, coefficient, resamples=60).pvalue == p
