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


@pytest.mark.parametrize("seed", range(5))
def test_holm_across_candidates_is_no_sharper_than_the_closed_test(seed):
    """A number's adjusted p is at least, over all sets of families with its own, Bonferroni's for the set: the size of
    the set times the smallest of this number and the other families' smallest (Marcus, Peritz and Gabriel 1976)."""
    rng = np.random.default_rng(seed)
    families = [rng.integers(1, 8, rng.integers(1, 4)) / 100 for _ in range(5)]
    held = holm_over_families(families)
    for family, own in enumerate(families):
        others = [float(each.min()) for place, each in enumerate(families) if place != family]
        for p, found in zip(own.tolist(), held[family].tolist(), strict=True):
            sets = [chosen for count in range(5) for chosen in itertools.combinations(others, count)]
            assert found >= max(min(1, (1 + len(chosen)) * min((p, *chosen))) for chosen in sets) - 1e-12
        assert held[family].min() == pytest.approx(
            max(min(1, (5 - sum(each < least for each in (own.min(), *others))) * least) for least in
                {float(own.min()), *(each for each in others if each < own.min())})
        )  # fmt: skip
    order = rng.permutation(5)
    again = holm_over_families([families[at] for at in order])
    assert [each.tolist() for each in again] == [held[at].tolist() for at in order]


def test_holm_across_candidates():
    """By hand: three families of one number, p .01, .02, .03: 3 x .01, max(.03, 2 x .02), max(.04, .03)."""
    families = [np.array([0.02]), np.array([0.01]), np.array([0.03])]
    assert np.concatenate(holm_over_families(families)).tolist() == pytest.approx([0.04, 0.03, 0.04])
    held = holm_over_families([np.array([0.01, 0.4]), np.array([0.02, 0.6])])
    assert held[0].tolist() == pytest.approx([0.02, 0.8]) and held[1].tolist() == pytest.approx([0.02, 0.6])
    # Equal smallest ones: both are held up to 2 x .01, the others are charged once, whichever family comes first.
    for families in ([[0.01, 0.4], [0.01, 0.6]], [[0.01, 0.6], [0.01, 0.4]]):
        held = holm_over_families([np.array(each) for each in families])
        assert [each.tolist() for each in held] == [[0.02, each[1]] for each in families]
    # A family without tests is charged to nobody.
    assert [each.tolist() for each in holm_over_families([np.ones(0), np.array([0.5])])] == [[], [0.5]]
