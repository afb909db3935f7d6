"""p-values that hold for many numbers together, against the definitions spelt out."""

import itertools

import numpy as np
import pytest

from recapture.labellings.step_down import holm_over_families, step_down


def by_definition(nulls):
    """Westfall and Young's free step-down max-T by closure: a number's adjusted p is the largest, over all sets of
    numbers that hold it, of the share of labellings whose largest standardised number reaches the observed largest."""
    table = np.array([(null - np.mean(null)) / np.std(null) for null in nulls])
    adjusted = []
    for number in range(len(table)):
        others = [other for other in range(len(table)) if other != number]
        shares = []
        for count in range(len(others) + 1):
            for chosen in itertools.combinations(others, count):
                rows = table[[number, *chosen]]
                top = rows.max(axis=0)
                shares.append(np.mean(top >= top[0] - 1e-9))
        adjusted.append(max(shares))
    return adjusted


@pytest.mark.parametrize("seed", range(5))
def test_step_down_equals_closed_testing(seed):
    """For max-T the step-down procedure is the closed test (Westfall and Young 1993, section 2.6)."""
    rng = np.random.default_rng(seed)
    nulls = rng.standard_normal((4, 200)) @ np.diag(rng.uniform(0.5, 2, 200))
    nulls[:, 0] += rng.uniform(0, 4, 4)
    np.testing.assert_allclose(step_down(list(nulls)), by_definition(nulls))


def test_units_do_not_matter_and_one_number_keeps_its_pvalue():
    rng = np.random.default_rng(1)
    null = rng.standard_normal(500)
    assert step_down([null])[0] == np.mean(null >= null[0])
    other = rng.standard_normal(500)
    np.testing.assert_array_equal(step_down([null, other]), step_down([1e6 * null - 3, 1e-6 * other]))
    np.testing.assert_array_equal(step_down([null, null]), [np.mean(null >= null[0])] * 2)


def test_a_number_that_never_moves_has_p_1():
    null = np.random.default_rng(2).standard_normal(50)
    assert step_down([np.full(50, 0.3), null])[0] == 1
    assert step_down([np.full(50, 0.3), null])[1] == np.mean(null >= null[0])
    assert step_down([np.zeros(5)]).tolist() == [1.0]


@pytest.mark.slow
def test_familywise_false_alarms_keep_their_level():
    """14 dependent numbers without a difference, 1,000 times: at least one below .05 in 3 to 7 %."""
    rng = np.random.default_rng(3)
    mixing = rng.standard_normal((14, 6))
    alarms = sum(step_down(list(mixing @ rng.standard_normal((6, 200)))).min() <= 0.05 for _ in range(1000))
    assert 30 <= alarms <= 70


def test_holm_across_candidates():
    """By hand: three families of one number, p .01, .02, .03: 3 x .01, max(.03, 2 x .02), max(.04, .03)."""
    families = [np.array([0.02]), np.array([0.01]), np.array([0.03])]
    assert np.concatenate(holm_over_families(families)).tolist() == pytest.approx([0.04, 0.03, 0.04])
    held = holm_over_families([np.array([0.01, 0.4]), np.array([0.02, 0.6])])
    assert held[0].tolist() == pytest.approx([0.02, 0.8]) and held[1].tolist() == pytest.approx([0.02, 0.6])
    # A family without tests is charged to nobody.
    assert [each.tolist() for each in holm_over_families([np.ones(0), np.array([0.5])])] == [[], [0.5]]
