"""Pairwise accuracy and soft pairwise accuracy: by hand, by loops, and with mt-metrics-eval's signs and value."""

import itertools
import math
from statistics import fmean

import numpy as np
import pytest
from made_up import scores
from scipy import stats

import recapture as rc
from recapture.agreement.statistics import accuracy as module
from recapture.agreement.statistics.accuracy import pairwise_accuracy, soft_pairwise_accuracy
from recapture.agreement.statistics.kendall import kendall_tau
from recapture.errors import InputError


def test_pairwise_accuracy_by_hand():
    # Pairs of 1, 2, 2, 3: (1, 2) twice and (2, 3) twice alike, (1, 3) alike; people tie (2, 2), this metric does not.
    assert pairwise_accuracy([1.0, 2, 4, 5], [1.0, 2, 2, 3]).value == 5 / 6
    assert pairwise_accuracy([1.0, 2, 2, 5], [1.0, 2, 2, 3]).value == 1.0  # a tie seen by both
    assert pairwise_accuracy([1.0, 2, 2, 5], [1.0, 2, 3, 4]).value == 5 / 6  # a tie where people see none
    assert pairwise_accuracy([4.0, 3, 2, 1], [1.0, 2, 3, 4]).value == 0.0
    found = pairwise_accuracy([1.0, 2, 2, 5], [1.0, 2, 3, 4])
    assert (found.pairs, found.systems, found.dropped) == (6, 4, 0)


def test_pairwise_accuracy_is_agreement_of_signs():
    """stats_test.py of mt-metrics-eval, testAgreement: 5 of 10 pairs. Also acc-eq of the means, by definition."""
    assert pairwise_accuracy([1.0, 1, 2, 1, 2], [1.0, 2, 3, 3, 4]).value == 0.5
    human, good, _, other = scores()
    human[2, 7] = np.nan
    for metric in (good, other):
        found = pairwise_accuracy(metric, human)
        kept = [at for at in range(40) if at != 7]
        expected = kendall_tau(metric[:, kept].mean(axis=1), human[:, kept].mean(axis=1), "acc-eq")
        assert found.value == expected and found.dropped == 1


def test_direction_turns_scores_round():
    human, good, _, _ = scores()
    for accuracy in (pairwise_accuracy, soft_pairwise_accuracy):
        assert accuracy(-good, human, direction="lower") == accuracy(good, human)
        with pytest.raises(InputError, match="unknown direction 'down'"):
            accuracy(good, human, direction="down")
    assert pairwise_accuracy([4.0, 3, 2, 1], [1.0, 2, 3, 4], direction="lower").value == 1.0


def test_pairs_that_people_tell_apart():
    """Systems 0 and 1 have equal means, p = 1; 2 is above both on all 8 inputs, p = 2 / 2^8."""
    rng = np.random.default_rng(12)
    base = rng.integers(0, 3, 8).astype(float)
    human = np.stack([base, np.roll(base, 1), base + 10])
    metric = np.array([1.0, 0.0, 2.0])  # wrong or right about 0 and 1: it must not matter
    found = pairwise_accuracy(metric, human, alpha=0.05)
    assert (found.value, found.pairs) == (1.0, 2)
    assert pairwise_accuracy(metric, human).pairs == 3
    assert pairwise_accuracy(np.repeat(metric[:, None], 8, axis=1), human, alpha=0.05) == found
    none = pairwise_accuracy(metric[:2], human[:2], alpha=0.05)
    assert math.isnan(none.value) and none.pairs == 0
    # The exact test is scipy's paired permutation test.
    theirs = stats.permutation_test(
        (human[2], human[0]), lambda a, b: np.mean(a - b), permutation_type="samples", n_resamples=np.inf
    )
    assert theirs.pvalue == 2 / 2**8


def test_soft_pairwise_accuracy_by_hand():
    """Two systems, two inputs, signs ++, +-, -+, --.

    People: differences 2, 1: sums 3, 1, -1, -3, so p = 1/4; the other way -2, -1: p = 4/4.
    Metric: differences 1, -3: sums -2, 4, -4, 2, so p = 3/4; the other way -1, 3: sums 2, -4, 4, -2, p = 2/4.
    1 - (|1/4 - 3/4| + |1 - 1/2|) / 2 = 1/2.
    """
    human, metric = np.array([[2.0, 5.0], [0.0, 4.0]]), np.array([[1.0, 0.0], [0.0, 3.0]])
    found = soft_pairwise_accuracy(metric, human)
    assert found.value == pytest.approx(0.5, abs=1e-15)
    assert (found.pairs, found.systems) == (1, 2)
    assert soft_pairwise_accuracy(human, human).value == 1.0


def looped(metric, human, signs):
    """All ordered pairs, number by number."""

    def pvalue(side, i, j):
        apart = [float(a - b) for a, b in zip(side[i], side[j], strict=True)]
        return fmean(sum(s * d for s, d in zip(row, apart, strict=True)) >= sum(apart) - 1e-9 for row in signs)

    pairs = itertools.permutations(range(len(human)), 2)
    return 1 - fmean(abs(pvalue(human, i, j) - pvalue(metric, i, j)) for i, j in pairs)


def test_soft_pairwise_accuracy_by_loops():
    rng = np.random.default_rng(13)
    human = rng.integers(0, 4, (4, 6)).astype(float)  # many ties
    metric = human + rng.normal(size=human.shape)
    metric[1, 2] = np.nan
    kept = [0, 1, 3, 4, 5]
    every = list(itertools.product([1, -1], repeat=5))
    found = soft_pairwise_accuracy(metric, human)
    assert found.value == pytest.approx(looped(metric[:, kept], human[:, kept], every), abs=1e-12)
    assert found.dropped == 1
    # The order of systems, the scale and the tiles do not matter.
    turned = soft_pairwise_accuracy(metric[::-1] * 9 + 2, human[::-1] - 4)
    assert turned.value == pytest.approx(found.value, abs=1e-12)


def test_value_of_mt_metrics_eval(monkeypatch):
    """pce.py's computation (seed 4, 1000 permutations, float32) on the made-up scores: .9168667 and .5802.

    With its signs ours is the same, as no sum ties with the observed one; with others it is near.
    """
    human, good, _, other = scores()
    near = [soft_pairwise_accuracy(each, human, resamples=5000).value for each in (good, other)]
    assert near == pytest.approx([0.9168666666666667, 0.5802], abs=0.02)
    signs = 2 * np.rint(np.random.default_rng(4).random((1000, 40), dtype=np.float32)).astype(float) - 1
    monkeypatch.setattr(module, "_signs", lambda *_: iter([signs]))
    same = [soft_pairwise_accuracy(each, human).value for each in (good, other)]
    assert same == pytest.approx([0.9168666666666667, 0.5802], abs=1e-9)


def test_tiles_do_not_matter(monkeypatch):
    human, good, _, _ = scores()
    found = soft_pairwise_accuracy(good, human, resamples=300)
    monkeypatch.setattr(module, "_TILE", 1)
    assert soft_pairwise_accuracy(good, human, resamples=300) == found


def test_bad_input():
    human, good, _, _ = scores()
    with pytest.raises(InputError, match="single inputs"):
        soft_pairwise_accuracy(good, human.mean(axis=1))
    with pytest.raises(InputError, match="at least two systems"):
        soft_pairwise_accuracy(good[:1], human[:1])
    with pytest.raises(InputError, match="ratings of single inputs"):
        pairwise_accuracy(good, human.mean(axis=1), alpha=0.05)
    with pytest.raises(InputError, match="alpha"):
        pairwise_accuracy(good, human, alpha=5)
    with pytest.raises(InputError, match="resamples"):
        soft_pairwise_accuracy(good, human, resamples=0)


def test_rules_for_ties_by_hand():
    """Two systems, two inputs, signs ++, +-, -+, --.

    People: differences 1, 1: sums 2, 0, 0, -2, so p = 1/4; the other way -1, -1: all sums >= -2, p = 4/4.
    Metric: differences 1, 0: sums 1, 1, -1, -1, so p = 2/4; the other way all sums >= -1, p = 4/4.
    mt-metrics-eval (pce.py, compute_one_minus_pce: the upper triangle alone): 1 - |1/4 - 2/4| = 3/4, and with systems
    listed the other way 1 - |1 - 1| = 1. The mean over both orders is 7/8, whatever the list.
    """
    human, metric = np.array([[1.0, 1.0], [0.0, 0.0]]), np.array([[1.0, 0.0], [0.0, 0.0]])
    for rule, values in {"listed-order": (3 / 4, 1.0), "both-orders": (7 / 8, 7 / 8)}.items():
        found = [
            soft_pairwise_accuracy(metric[at], human[at], ties=rule) for at in (slice(None), slice(None, None, -1))
        ]
        assert tuple(each.value for each in found) == pytest.approx(values, abs=1e-15)
        assert {each.ties for each in found} == {rule} and {each.pairs for each in found} == {1}
    assert soft_pairwise_accuracy(metric, human).ties == "both-orders"
    assert pairwise_accuracy(metric, human).ties is None
    with pytest.raises(InputError, match="unknown rule for ties 'none'"):
        soft_pairwise_accuracy(metric, human, ties="none")


def test_listed_order_is_the_reference_implementations():
    """pce.py's p-values, written again: for i < j the share of sign vectors with sum >= the observed one, in whole
    numbers, so that ties are exact; all 2^6 sign vectors."""
    rng = np.random.default_rng(5)
    human, metric = rng.integers(0, 3, (2, 5, 6))

    def upper(side):
        every = np.array(list(itertools.product([1, -1], repeat=6)))
        pairs = itertools.combinations(range(5), 2)
        return np.array([np.mean(every @ (side[i] - side[j]) >= (side[i] - side[j]).sum()) for i, j in pairs])

    expected = 1 - np.abs(upper(human) - upper(metric)).mean()
    found = soft_pairwise_accuracy(metric, human, ties="listed-order")
    assert found.value == pytest.approx(expected, abs=1e-12)
    assert abs(soft_pairwise_accuracy(metric, human).value - expected) > 1e-3  # ties matter here


def test_tables_say_which_rule_for_ties():
    human, good, _, _ = scores()
    for rule, said in {"both-orders": "the mean over both orders", "listed-order": "as in mt-metrics-eval"}.items():
        shown = rc.correlate(good, human, accuracy=True, resamples=50, soft_ties=rule)
        assert f"{rule}: " in str(shown) and said in str(shown)
        assert shown.accuracies[0].soft_ties == rule
    with pytest.raises(InputError, match="unknown rule for ties 'both'"):
        rc.correlate(good, human, soft_ties="both")
