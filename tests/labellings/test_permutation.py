"""Permutation p-values: against SciPy and plain loops over fractions, and as p-values must behave."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

import recapture as rc
from recapture.labellings import permutation
from recapture.labellings import plans as labellings


def apart(references, candidates):
    """Absolute difference of means: symmetric, real."""
    return abs(float(np.mean(references)) - float(np.mean(candidates)))


def shift(references, candidates):
    """Signed: larger candidates are further off."""
    return float(np.mean(candidates) - np.mean(references))


def plain_test(references, candidates, statistic):
    """p, smallest p and the counts above and equal, from fractions over all partitions."""
    pooled = [Fraction(x) for x in (*references, *candidates)]
    n = len(references)
    values = []
    for chosen in itertools.combinations(range(len(pooled)), len(candidates)):
        rest = [x for position, x in enumerate(pooled) if position not in chosen]
        values.append(statistic(rest, [pooled[position] for position in chosen]))
    observed = statistic(pooled[:n], pooled[n:])
    at_least = sum(value >= observed for value in values)
    above = sum(value > observed for value in values)
    return (
        Fraction(at_least, len(values)),
        Fraction(sum(value == max(values) for value in values), len(values)),
        above,
        at_least - above,
        len(values),
    )


def fraction_apart(a, b):
    return abs(sum(a) / Fraction(len(a)) - sum(b) / Fraction(len(b)))


def fraction_shift(a, b):
    return sum(b) / Fraction(len(b)) - sum(a) / Fraction(len(a))


@pytest.mark.parametrize("n, m", [(4, 4), (5, 3), (2, 6)])
@pytest.mark.parametrize("seed", range(3))
def test_against_scipy(n, m, seed):
    rng = np.random.default_rng(seed)
    a, b = rng.normal(size=n), rng.normal(0.7, size=m)
    theirs = stats.permutation_test(
        (b, a), lambda x, y: np.mean(x) - np.mean(y), n_resamples=np.inf, alternative="greater"
    )
    ours = rc.permutation_test(a, b, shift)
    assert ours.pvalue == pytest.approx(theirs.pvalue, abs=1e-12) and ours.statistic == pytest.approx(theirs.statistic)
    assert ours.exact and ours.labellings == math.comb(n + m, n)
    np.testing.assert_allclose(np.sort(ours.null), np.sort(theirs.null_distribution), atol=1e-12)


whole = st.integers(-3, 3)


@pytest.mark.slow
@settings(max_examples=60, deadline=None)
@given(st.lists(whole, min_size=1, max_size=4), st.lists(whole, min_size=1, max_size=4))
def test_ties_against_fractions(references, candidates):
    """Small whole numbers tie everywhere, and thirds are not exact in binary: the slack has to hold them together."""
    for ours, theirs in ((apart, fraction_apart), (shift, fraction_shift)):
        p, smallest, above, equal, partitions = plain_test(references, candidates, theirs)
        for symmetric in (False, True) if ours is apart else (False,):
            found = rc.permutation_test(references, candidates, ours, symmetric=symmetric)
            assert found.pvalue == float(p) and found.smallest == float(smallest)
            assert (found.greater, found.equal, found.labellings) == (above, equal, partitions)


@given(st.lists(whole, min_size=1, max_size=4), st.lists(whole, min_size=1, max_size=4))
@settings(max_examples=40, deadline=None)
def test_whole_numbers_are_compared_as_such(references, candidates):
    """Huge sums that differ by 1 are far below the slack of real numbers."""
    far = 10**12
    a, b = [far + x for x in references], [far + x for x in candidates]
    p, smallest, *_ = plain_test(a, b, lambda x, y: sum(y))
    found = rc.permutation_test(a, b, lambda x, y: sum(y))
    assert (found.pvalue, found.smallest) == (float(p), float(smallest))


def test_real_numbers_have_a_slack_of_a_billionth():
    """Of two values a 1e-10 apart both count as equal; 1e-8 apart they are different."""
    for gap, p in ((1e-10, 1.0), (1e-8, 0.5)):
        found = rc.permutation_test([0.0], [1.0], lambda a, b, gap=gap: 1.0 + gap * b[0])
        assert found.pvalue == p


def test_the_observed_labelling_counts_once_and_comes_first():
    found = rc.permutation_test([1, 2, 3], [10, 11], shift)
    assert found.pvalue == found.smallest == 1 / 10
    assert found.null[0] == found.statistic == 8.5 and len(found.null) == 10
    assert (found.greater, found.equal) == (0, 1)


def test_two_equal_sized_sets_of_a_symmetric_statistic_reach_2_of_252():
    a, b = np.arange(5) ** 1.1, 100 + np.arange(5) ** 1.3
    for symmetric in (False, True):
        found = rc.permutation_test(a, b, apart, symmetric=symmetric)
        assert found.pvalue == found.smallest == 2 / 252
        assert found.labellings == 252 and found.equal == 2 and found.greater == 0


def test_all_equal_samples_give_1():
    for sides in (([1.1] * 4, [1.1] * 4), (["a"] * 3, ["a"] * 2)):
        found = rc.permutation_test(*sides, lambda a, b: abs(len(set(a)) - len(set(b))) / 3)
        assert found.pvalue == found.smallest == 1


def test_sampled_p_counts_the_observed_labelling_too():
    """(c + 1) / (B + 1), from the null distribution itself."""
    rng = np.random.default_rng(0)
    a, b = rng.normal(size=15), rng.normal(0.5, size=15)
    found = rc.permutation_test(a, b, apart, pvalue=499, seed=7)
    assert not found.exact and found.labellings == len(found.null) == 500
    assert found.null[0] == found.statistic == pytest.approx(apart(a, b))
    beyond = sum(value >= found.null[0] - 1e-9 * max(abs(found.null)) for value in found.null[1:])
    assert found.pvalue == (beyond + 1) / 500
    assert found.smallest == 1 / 500
    again = rc.permutation_test(a, b, apart, pvalue=499, seed=7)
    assert np.array_equal(found.null, again.null)
    assert not np.array_equal(found.null, rc.permutation_test(a, b, apart, pvalue=499, seed=8).null)


def test_sampled_comes_near_exact():
    """9,999 draws of a p near 1/3: three standard errors are .0142."""
    rng = np.random.default_rng(2)
    a, b = rng.normal(size=6), rng.normal(0.4, size=6)
    exact = rc.permutation_test(a, b, shift)
    sampled = rc.permutation_test(a, b, shift, pvalue="sampled")
    assert sampled.labellings == 10_000
    assert abs(sampled.pvalue - exact.pvalue) < 3 * math.sqrt(exact.pvalue * (1 - exact.pvalue) / 9_999)


def test_vectorised_and_one_by_one_agree():
    rng = np.random.default_rng(4)
    a, b = rng.normal(size=5), rng.normal(size=6)
    pooled = np.concatenate([a, b])
    batches = []

    def together(labels):
        batches.append(len(labels))
        return labels.candidate @ pooled / 6 - labels.reference @ pooled / 5

    one, many = rc.permutation_test(a, b, shift), rc.permutation_test(a, b, together, vectorized=True)
    assert batches == [462]
    np.testing.assert_allclose(many.null, one.null, rtol=1e-12)
    assert many.pvalue == one.pvalue


def test_10_v_10_is_enumerated():
    """184,756 partitions; candidates 11..20 above references 1..10 reach the largest rank sum in one of them."""
    ranks = np.arange(20)
    found = rc.permutation_test(ranks[:10], ranks[10:], lambda labels: labels.candidate @ ranks, vectorized=True)
    assert found.exact and found.labellings == 184_756 and found.pvalue == found.smallest == 1 / 184_756
    # The Mann-Whitney U of a middling labelling, by SciPy's own enumeration.
    mixed = np.random.default_rng(1).permutation(20)
    found = rc.permutation_test(mixed[:10], mixed[10:], lambda labels: labels.candidate @ mixed, vectorized=True)
    theirs = stats.mannwhitneyu(mixed[10:], mixed[:10], alternative="greater", method="exact")
    assert found.pvalue == pytest.approx(theirs.pvalue, abs=1e-12)


def test_blocks_change_nothing(monkeypatch):
    rng = np.random.default_rng(5)
    pooled = rng.integers(0, 5, 11)

    def together(labels):
        return labels.candidate @ pooled

    whole = rc.permutation_test(pooled[:5], pooled[5:], together, vectorized=True)
    monkeypatch.setattr(labellings, "BLOCK_CELLS", 11 * 17)
    monkeypatch.setattr(permutation, "_LOOP", 13)
    parts = rc.permutation_test(pooled[:5], pooled[5:], together, vectorized=True)
    alone = rc.permutation_test(pooled[:5], pooled[5:], lambda a, b: int(sum(b)))
    assert np.array_equal(whole.null, parts.null) and np.array_equal(whole.null, alone.null)
    assert whole.pvalue == parts.pvalue == alone.pvalue


@pytest.mark.slow
@pytest.mark.parametrize("kind", [float, int])
def test_p_values_are_valid_and_randomised_ones_uniform(kind):
    """400 contexts of 4 v 3 from one distribution: P(p <= a) <= a, within three binomial standard errors; with ties
    broken at random exactly uniform (Kolmogorov-Smirnov, fixed seeds, so no chance of failing anew)."""
    rng = np.random.default_rng(11)
    drawn = rng.normal(size=(400, 7)) if kind is float else rng.integers(0, 3, (400, 7))
    tests = [rc.permutation_test(row[:4], row[4:], apart) for row in drawn]
    p = np.array([test.pvalue for test in tests])
    for level in (0.05, 0.1, 0.2, 0.5, 0.8):
        assert np.mean(p <= level) <= level + 3 * math.sqrt(level * (1 - level) / len(p))
    randomised = [test.randomised(u) for test, u in zip(tests, rng.uniform(size=len(tests)), strict=True)]
    assert stats.kstest(randomised, "uniform").pvalue > 0.01
    for test in tests[:20]:
        assert test.randomised(1.0) == test.pvalue
        assert test.randomised(0.0) == test.greater / test.labellings < test.pvalue


def test_what_is_sampled_from_one_distribution_is_uniform_too():
    rng = np.random.default_rng(12)
    p = []
    for seed, row in enumerate(rng.normal(size=(200, 24))):
        labels_by = row

        def together(labels, labels_by=labels_by):
            return np.abs(labels.candidate @ labels_by - labels.reference @ labels_by)

        p.append(rc.permutation_test(row[:12], row[12:], together, vectorized=True, pvalue=199, seed=seed).pvalue)
    assert stats.kstest(p, "uniform").pvalue > 0.01
    assert np.mean(np.array(p) <= 0.05) <= 0.05 + 3 * math.sqrt(0.05 * 0.95 / 200)


def test_anything_can_be_a_sample():
    found = rc.permutation_test(["a", "bb"], ["ccc", "dddd"], lambda a, b: sum(map(len, b)) - sum(map(len, a)))
    assert found.pvalue == 1 / 6  # whole numbers 1..4: only {3, 4} reaches the observed difference
    rows = np.eye(4)
    found = rc.permutation_test(rows[:2], rows[2:], lambda a, b: float(b[:, 3].sum()))
    assert found.pvalue == 1 / 2  # the fourth row is a candidate in half of the partitions


@pytest.mark.parametrize(
    "sides, statistic, options, words",
    [
        (([], [1]), apart, {}, "no references"),
        (([1], []), apart, {}, "no candidates"),
        (([1, 2], [3]), lambda a, b: float("nan"), {}, "the statistic is nan"),
        (([1, 2], [3]), lambda a, b: float("inf") if b == [1] else 0.0, {}, "the statistic is inf"),
        (([1, 2], [3]), lambda a, b: "far", {}, "must return numbers"),
        (([1, 2], [3]), lambda a, b: None, {}, "must return numbers"),
        (([1, 2], [3]), lambda a, b: [1, 2], {}, r"shape \(3, 2\) for 3 labellings"),
        (([1, 2], [3]), lambda labels: 1.0, {"vectorized": True}, r"shape \(\) for 3 labellings"),
        (([1, 2], [3]), apart, {"pvalue": False}, "pvalue must be"),
        (([1, 2], [3]), apart, {"pvalue": "sometimes"}, "'sometimes'"),
        ((range(50), range(50)), apart, {"pvalue": "exact"}, "too many for an exact p-value"),
        ((range(50), range(50)), apart, {"seed": -1}, "seed"),
    ],
)  # fmt: skip
def test_what_cannot_be_tested(sides, statistic, options, words):
    with pytest.raises(rc.InputError, match=words):
        rc.permutation_test(*sides, statistic, **options)


@pytest.mark.parametrize("kind", ["numbers", "rows", "texts", "lists"])
def test_drawn_partitions_do_not_depend_on_the_order_of_samples(kind):
    """The statistic tells samples apart by what they are, never by their place."""
    rng = np.random.default_rng(0)
    values = rng.integers(0, 6, 30).astype(float)
    make = {
        "numbers": lambda chosen: chosen,
        "rows": lambda chosen: np.column_stack([chosen, chosen**2]),
        "texts": lambda chosen: [f"t{value}" for value in chosen],
        "lists": lambda chosen: [[value, 1.0] for value in chosen.tolist()],
    }[kind]

    def number(sample):
        return float(sample[1:]) if isinstance(sample, str) else np.ravel(sample)[0]

    def apart(references, candidates):
        sides = ([number(sample) for sample in side] for side in (references, candidates))
        return abs(int(sum(next(sides))) - int(sum(next(sides))))

    first, second = values[:16], values[16:] + 1
    plain = rc.permutation_test(make(first), make(second), apart, pvalue=50, seed=4)
    again = rc.permutation_test(make(rng.permutation(first)), make(rng.permutation(second)), apart, pvalue=50, seed=4)
    assert not plain.exact and plain.pvalue == again.pvalue
    np.testing.assert_array_equal(plain.null, again.null)


def test_many_labellings_at_once_are_of_samples_in_the_order_given():
    rng = np.random.default_rng(1)
    references, candidates = rng.standard_normal(14), rng.standard_normal(12)
    pooled = np.concatenate([references, candidates])

    def apart(batch):
        assert batch.reference[0].tolist() == [True] * 14 + [False] * 12 or not first
        first.clear()
        return np.abs(batch.candidate @ pooled / 12 - batch.reference @ pooled / 14)

    first = [True]
    together = rc.permutation_test(references, candidates, apart, pvalue=40, seed=1, vectorized=True)
    one_by_one = rc.permutation_test(
        references, candidates, lambda r, c: abs(np.mean(c) - np.mean(r)), pvalue=40, seed=1
    )
    np.testing.assert_allclose(together.null, one_by_one.null)
    assert together.statistic == pytest.approx(abs(candidates.mean() - references.mean()))


def test_analytic_p_values_are_of_triangle_ranks_alone():
    for call in (
        lambda: rc.permutation_test([1, 2], [3, 4], lambda r, c: 0, pvalue="analytic"),
        lambda: rc.mmd(np.eye(4), np.eye(4), pvalue="analytic"),
        lambda: rc.evaluate(np.eye(4), np.eye(4), "mmd", pvalue="analytic"),
        lambda: rc.aggregate(["a", "b"], ["c", "d"], "chrf", pvalue="analytic"),
    ):
        with pytest.raises(rc.InputError, match="triangle ranks alone have analytic p-values"):
            call()
