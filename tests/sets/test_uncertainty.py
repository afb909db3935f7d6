"""Intervals and p-values of large sets, from relabelled and halved sets made for real."""

import itertools
import math

import numpy as np
import pytest

import recapture as rc
from recapture.checks import check_level
from recapture.errors import InputError
from recapture.geometry.content_order import content_order
from recapture.geometry.points import PointSet
from recapture.labellings.plans import plan, subsamples
from recapture.sets.declaration import Measurement, Output, SetMetric
from recapture.sets.evaluate import Job, check_splits, measure_pair
from recapture.sets.human import SPLITS
from recapture.sets.metric_functions import measure
from recapture.sets.pair import Pair

METRICS = list(rc.list_metrics().values())
EACH = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def two_sets(n=24, m=20, shift=0.4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)), rng.standard_normal((m, 5)) + shift


def own(metric, reference, candidate):
    """Parameters that do not depend on which samples are on which side: the pooled bandwidth is a constant then."""
    return {"bandwidth": rc.mmd(reference, candidate).bandwidth} if metric.name == "mmd" else {}


@pytest.mark.slow
@EACH
def test_pvalues_are_shares_of_relabelled_sets(metric):
    """(c + 1) / (B + 1) over sets that were relabelled for real, by the definition."""
    reference, candidate = two_sets()
    # Labellings are drawn for samples in order of content.
    pooled = np.concatenate([side[content_order(side)] for side in (reference, candidate)])
    parameters = own(metric, reference, candidate)
    result = measure(metric, reference, candidate, pvalue=19, seed=3, **parameters)
    made = plan(len(reference), len(candidate), pvalue=19, seed=3)
    labels = next(made.blocks())
    sides = zip(labels.reference, labels.candidate, strict=True)
    values = [measure(metric, pooled[r], pooled[c], seed=3, **parameters).values for r, c in sides]
    for output in metric.outputs:
        null = np.array([value[output.name] for value in values])
        farther = null <= null[0] + 1e-9 if metric.direction == "higher" else null >= null[0] - 1e-9
        assert result.pvalues[output.name] == farther.mean()
        np.testing.assert_allclose(result.nulls[output.name], null, rtol=1e-7, atol=1e-10)
    assert result.inference["pvalues"]["method"] == "sampled"
    assert result.inference["pvalues"]["labellings"] == 20
    # Of 20 labellings: 1 where one alone is farthest, more where several tie.
    assert all(value >= 1 / 20 for value in result.inference["pvalues"]["smallest"].values())


def test_small_sets_are_enumerated():
    reference, candidate = two_sets(4, 4)
    result = rc.mmd(reference, candidate, pvalue=True)
    assert result.inference["pvalues"]["method"] == "exact"
    assert len(result.nulls["value"]) == math.comb(8, 4)
    # Exchanging the sides changes nothing, so every value comes at least twice.
    assert result.inference["pvalues"]["smallest"]["value"] >= 2 / math.comb(8, 4)
    assert result.pvalue * math.comb(8, 4) == pytest.approx(round(result.pvalue * math.comb(8, 4)))


def test_a_clear_difference_has_the_smallest_pvalue():
    reference, candidate = two_sets(40, 40, shift=5)
    results = rc.evaluate(reference, candidate, pvalue=49, ceiling=False)["candidate"]
    for name in ("mark-evaluate", "precision-recall", "mauve", "frechet", "mmd", "prd"):
        assert set(results[name].pvalues.values()) == {1 / 50}, name


@pytest.mark.slow
def test_false_alarms_are_as_rare_as_promised():
    """200 pairs from one distribution: p <= .1 in at most 10 %, within 4 standard deviations of the binomial."""
    alarms = dict.fromkeys(("mark-evaluate", "precision-recall", "frechet", "mmd"), 0)
    for seed in range(200):
        results = rc.evaluate(
            *two_sets(15, 15, shift=0, seed=seed), metrics=list(alarms), pvalue=19, ceiling=False, seed=seed
        )
        for name, result in results["candidate"].items():
            alarms[name] += next(iter(result.pvalues.values())) <= 0.1
    limit = 200 * 0.1 + 4 * math.sqrt(200 * 0.1 * 0.9)
    assert all(count <= limit for count in alarms.values()), alarms


def _difference(pair):
    return Measurement({"value": float(pair.candidate.values.mean() - pair.reference.values.mean())})


def _difference_under(pair):
    pooled = np.concatenate([pair.reference.values, pair.candidate.values]).mean(axis=1)

    def under(labels):
        n, m = labels.sizes
        return {"value": labels.candidate @ pooled / m - labels.reference @ pooled / n}

    return under


MEANS = SetMetric(
    name="means",
    title="difference of means",
    outputs=(Output("value", "difference", (-np.inf, np.inf)),),
    direction="lower",
    measure=_difference,
    relabel=_difference_under,
    citation="none",
)


def test_the_spread_of_half_samples_is_the_standard_error():
    """For a difference of means the variance over half-samples is s^2/n + s'^2/m: a half drawn without replacement
    has variance (1 - 1/2) s^2 / (n/2)."""
    rng = np.random.default_rng(0)
    reference, candidate = rng.standard_normal((400, 1)), 2 * rng.standard_normal((300, 1))
    (result,) = measure_pair([Job(MEANS, {})], Pair(PointSet(reference), PointSet(candidate)), interval=0.9)
    expected = math.sqrt(reference.var(ddof=1) / 400 + candidate.var(ddof=1) / 300)
    found = result.inference["intervals"]["standard_error"]["value"]
    # A standard deviation from 200 draws is known to about 5 %.
    assert found == pytest.approx(expected, rel=0.2)
    low, high = result.interval
    assert (low + high) / 2 == pytest.approx(result.value)
    assert (high - low) / 2 == pytest.approx(1.6448536 * found)  # the 95 % point of the normal distribution


@EACH
def test_intervals_hold_the_value_and_stay_in_range(metric):
    result = measure(metric, *two_sets(60, 50), interval=0.95)
    for name, (low, high) in result.intervals.items():
        assert result.ranges[name][0] <= low <= result.values[name] <= high <= result.ranges[name][1]
    assert set(result.intervals) == set(result.values)
    again = measure(metric, *two_sets(60, 50), interval=0.95)
    assert again.intervals == result.intervals
    wider = measure(metric, *two_sets(60, 50), interval=0.99)
    assert all(wider.intervals[n][0] <= result.intervals[n][0] for n in result.intervals)


def test_sets_too_small_to_be_halved_say_so():
    reference, candidate = two_sets(5, 5)
    result = rc.precision_recall(reference, candidate, k=3, interval=0.95, ceiling=True, pvalue=9)
    assert not result.intervals and not result.ceilings and result.pvalues
    assert "no interval: halves of 2 samples are too few for precision-recall" in result.warnings
    assert "no human band: parts of 2 samples are too few for precision-recall" in result.warnings


def test_half_samples_have_no_repeats_and_both_halves():
    for labels in subsamples((9, 7), (4, 3), 50, 1):
        assert labels.sizes == (4, 3)
        assert not (labels.reference & labels.candidate).any()
        assert not labels.reference[:, 9:].any() and not labels.candidate[:, :9].any()
        assert (labels.reference.sum(axis=1) == 4).all() and (labels.candidate.sum(axis=1) == 3).all()


def test_balanced_values_get_intervals_of_their_size():
    reference, candidate = two_sets(80, 40)
    result = rc.precision_recall(reference, candidate, balance=3, interval=0.95)
    assert result.inference["intervals"]["size"] == (20, 20)
    low, high = result.intervals["precision"]
    assert low <= result.precision <= high


@pytest.mark.parametrize(
    "options, message",
    [
        ({"interval": 95}, "between 0 and 1"),
        ({"interval": True}, "between 0 and 1"),
        ({"pvalue": "yes"}, "pvalue must be"),
        ({"pvalue": 0}, "pvalue must be"),
        ({"pvalue": "exact"}, "too many for an exact p-value"),
        ({"ceiling": -1}, "ceiling must be"),
        ({"seed": -1, "pvalue": True}, "seed must be"),
    ],
)
def test_bad_options_are_refused(options, message):
    with pytest.raises(InputError, match=message):
        rc.mmd(*two_sets(40, 40), **options)


def test_a_number_that_no_half_sample_moves_has_no_interval():
    """Two clumps far apart: precision is 0 in every half-sample, which says nothing of how sure it is."""
    reference, candidate = two_sets(20, 20, shift=99)
    result = rc.precision_recall(reference, candidate, interval=0.95)
    assert not result.intervals
    assert "no interval for precision: all 200 half-samples give the same number" in result.warnings


def test_a_number_that_no_relabelling_moves_says_so():
    """All distances are equal, so every sphere holds every sample whatever the labels."""
    result = rc.precision_recall(np.eye(12)[:6], np.eye(12)[6:], k=1, pvalue=True)
    assert result.pvalues["precision"] == result.adjusted_pvalues["precision"] == 1
    assert "no relabelling changes precision: its p-value says nothing" in result.warnings


@EACH
def test_repeats_bring_a_warning_by_every_metric(metric):
    reference, candidate = two_sets(30, 30)
    doubled = np.concatenate([reference, reference])
    warned = [w for w in measure(metric, doubled, candidate, pvalue=9).warnings if "not independent" in w]
    assert len(warned) == 1 and warned[0].startswith("30 of 60 samples of reference repeat others")
    labels = [*range(30), *range(30)]
    grouped = measure(metric, doubled, candidate, pvalue=9, reference_groups=labels, candidate_groups=range(30, 60))
    assert not any("not independent" in warning for warning in grouped.warnings)
    assert not any("not independent" in warning for warning in measure(metric, doubled, candidate).warnings)


def test_rounding_makes_neither_pvalues_nor_intervals_nor_bands():
    """Rows of a rotation are all equally far apart: the unbiased MMD is 0 whatever the labels, up to rounding."""
    rows, _ = np.linalg.qr(np.random.default_rng(34).standard_normal((24, 24)))
    results = rc.evaluate(rows[:12], rows[12:], "mmd", pvalue=99, interval=0.95)
    result = results["candidate"]["mmd"]
    assert result.pvalue == result.adjusted_pvalue == results.any_difference["candidate"] == 1
    assert not result.intervals and not result.human


def test_relabellings_that_leave_too_few_on_a_side_are_told():
    """One group of one sample, one of 59, one of 60: some labellings have a side of a single sample."""
    reference, candidate = two_sets(60, 60)
    groups = {"reference_groups": [0] + [1] * 59, "candidate_groups": [2] * 60}
    for metric in METRICS:
        result = measure(metric, reference, candidate, pvalue=True, **groups)
        assert not result.pvalues and "leave a side of 1, too few" in " ".join(result.warnings), metric.name


def test_few_groups_have_no_interval():
    reference, candidate = two_sets(30, 30)
    labels = np.arange(30) % 3
    result = rc.mmd(reference, candidate, interval=0.9, reference_groups=labels, candidate_groups=labels + 9)
    assert "no interval: fewer than 4 groups a side are too few to halve" in result.warnings


def test_one_number_needs_no_name():
    reference, candidate = two_sets(30, 30)
    one = rc.mmd(reference, candidate, pvalue=9, interval=0.9, ceiling=2)
    assert one.pvalue == one.pvalues["value"] and one.interval == one.intervals["value"]
    assert one.ceiling == one.ceilings["value"] and len(one.null) == 10
    assert rc.mmd(reference, candidate).pvalue is None
    with pytest.raises(AttributeError, match=r"several numbers: see \.pvalues"):
        _ = rc.precision_recall(reference, candidate, pvalue=9).pvalue


def test_levels_and_splits_are_checked_where_they_are_named():
    assert check_level(None) is None and check_level(0.5) == 0.5
    assert check_splits(True) == SPLITS >= 40 and check_splits(False) == 0


@pytest.mark.parametrize("sets", [(np.eye(10)[:5], np.eye(10)[5:]), (np.zeros((6, 1)), np.array([[2.0], [0.0]]))])
def test_rounding_decides_no_pvalue(sets):
    """All distances equal, or all points but one: the unbiased MMD is 0 under every partition, so p is 1."""
    assert rc.mmd(*sets, pvalue="exact").pvalue == 1


def test_wide_kernels_keep_their_pvalue():
    """Two sets apart, a kernel so wide that MMD is some 1e-12: p is still that of two mirror images of 70."""
    reference = np.arange(8.0).reshape(4, 2)
    result = rc.mmd(reference, reference + 50, bandwidth=1e6, pvalue="exact")
    assert result.pvalue == pytest.approx(2 / 70)


def test_one_huge_labelling_makes_no_ties():
    """Variance ratios reach 1e13 here; the share of partitions at or above the observed one is 8 of 28."""

    def ratio(references, candidates):
        one, other = np.var(references), np.var(candidates)
        return max(one, other) / max(min(one, other), 1e-300)

    references, candidates = [0.0, 9.0], [3.0, 3.000001, 3.4, 2.7, 3.2, 2.9]
    pooled = references + candidates
    observed, farther = ratio(references, candidates), 0
    for chosen in itertools.combinations(range(8), 2):
        rest = [value for at, value in enumerate(pooled) if at not in chosen]
        farther += ratio([pooled[at] for at in chosen], rest) >= observed * (1 - 1e-12)
    assert rc.permutation_test(references, candidates, ratio).pvalue == farther / 28


def test_spread_of_balanced_values():
    """Means over subsamples of the larger set vary less than one subsample does: nearly all of the larger set is seen,
    so the variance of the difference of means is near s^2/m, the smaller set's alone (m = 40 of 40 v 4,000)."""
    rng = np.random.default_rng(0)
    reference, candidate = rng.standard_normal((4000, 1)), rng.standard_normal((40, 1))
    pair = Pair(PointSet(reference), PointSet(candidate))
    (result,) = measure_pair([Job(MEANS, {})], pair, interval=0.9, balance=10)
    one_by_one = math.sqrt(candidate.var(ddof=1) / 40 + reference.var(ddof=1) / 40)
    expected = math.sqrt(candidate.var(ddof=1) / 40 + reference.var(ddof=1) / 400)
    found = result.inference["intervals"]["standard_error"]["value"]
    # From 60 half-samples a standard deviation is known to about 9 %.
    assert found == pytest.approx(expected, rel=0.3) and found < one_by_one
