"""Groups and pairs of samples: every metric under labellings that move them, and what is refused."""

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError
from recapture.geometry.content_order import content_order
from recapture.labellings.groups import Groups, group_halves, group_plan
from recapture.sets.metric_functions import measure

METRICS = list(rc.list_metrics().values())
EACH = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def grouped_sets(seed=0):
    """Documents of 1 to 4 samples that lie near each other: sizes of sides differ from labelling to labelling.

    In order of content, from which labellings are drawn: groups are then numbered as they appear.
    """
    rng = np.random.default_rng(seed)
    sizes = rng.integers(1, 5, 24)
    labels = np.repeat(np.arange(24), sizes)
    values = rng.standard_normal((24, 4))[labels] + 0.3 * rng.standard_normal((len(labels), 4))
    sides = [np.flatnonzero(side) for side in (labels < 12, labels >= 12)]
    reference, candidate = (side[content_order(values[side])] for side in sides)
    return values[reference], values[candidate], labels[reference].tolist(), labels[candidate].tolist()


def own(metric, reference, candidate):
    """Bandwidth and clusters that do not depend on the sizes of the sides."""
    fixed = {"mmd": {"bandwidth": rc.mmd(reference, candidate).bandwidth}, "mauve": {"clusters": 4}}
    return fixed.get(metric.name, {})


@EACH
def test_pvalues_are_shares_of_sets_whose_groups_were_moved(metric):
    """By the definition: sets are made for real, whatever their sizes."""
    reference, candidate, of_reference, of_candidate = grouped_sets()
    parameters = own(metric, reference, candidate)
    result = measure(
        metric, reference, candidate, pvalue=9, seed=3, reference_groups=of_reference, candidate_groups=of_candidate,
        **parameters,
    )  # fmt: skip
    pooled = np.concatenate([reference, candidate])
    chosen = group_plan(Groups.of(of_reference, of_candidate), pvalue=9, samples=999, seed=3)
    (labels,) = chosen.blocks()
    assert not labels.even
    sides = zip(labels.reference, labels.candidate, strict=True)
    values = [measure(metric, pooled[r], pooled[c], seed=3, **parameters).values for r, c in sides]
    for output in metric.outputs:
        null = np.array([value[output.name] for value in values])
        np.testing.assert_allclose(result.nulls[output.name], null, rtol=1e-7, atol=1e-10)
        farther = null <= null[0] + 1e-9 if metric.direction == "higher" else null >= null[0] - 1e-9
        assert result.pvalues[output.name] == farther.mean()
    assert result.inference["pvalues"]["groups"] == {"reference": 12, "candidate": 12, "both": 0}


@pytest.mark.slow
@EACH
def test_intervals_come_from_halves_of_the_groups(metric):
    reference, candidate, of_reference, of_candidate = grouped_sets()
    parameters = own(metric, reference, candidate)
    groups = {"reference_groups": of_reference, "candidate_groups": of_candidate}
    result = measure(metric, reference, candidate, interval=0.9, seed=2, **groups, **parameters)
    pooled = np.concatenate([reference, candidate])
    (labels,) = group_halves(Groups.of(of_reference, of_candidate), 200, 2)
    if metric.relabel is None or metric.depends_on_pool:  # clusters there are those of the whole sets
        assert result.intervals
        return
    scored = [
        measure(metric, pooled[r], pooled[c], **parameters).values
        for r, c in zip(labels.reference, labels.candidate, strict=True)
    ]
    for name, error in result.inference["intervals"]["standard_error"].items():
        assert error == pytest.approx(np.std([value[name] for value in scored], ddof=1), rel=1e-6)


@pytest.mark.slow
def test_doubled_texts_raise_no_false_alarms_once_grouped():
    """Every sample twice: without groups p is far too small, with each pair as a group it keeps its level."""
    wrong = right = 0
    for seed in range(60):
        rng = np.random.default_rng(seed)
        reference, candidate = (np.repeat(rng.standard_normal((20, 3)), 2, axis=0) for _ in range(2))
        labels = np.repeat(np.arange(20), 2)
        wrong += rc.mmd(reference, candidate, pvalue=39).pvalue <= 0.05
        grouped = rc.mmd(reference, candidate, pvalue=39, reference_groups=labels, candidate_groups=labels + 20)
        right += grouped.pvalue <= 0.05
    # 60 draws at .05: 3 expected, above 9 in fewer than one case in 1,000 (binomial).
    assert right <= 9 < wrong


def test_paired_items_swap_within_the_item():
    """Differences within items are small against those between: only the paired test sees them."""
    rng = np.random.default_rng(0)
    prompt = 5 * rng.standard_normal((30, 2))
    reference, candidate = prompt, prompt + 0.8
    assert rc.mmd(reference, candidate, pvalue=199, bandwidth=30.0).pvalue > 0.2
    paired = rc.mmd(reference, candidate, pvalue=199, bandwidth=30.0, paired=True)
    assert paired.pvalue == 1 / 200
    assert paired.inference["pvalues"]["groups"]["both"] == 30


@pytest.mark.parametrize(
    "options, message",
    [
        ({"reference_groups": [1] * 9}, "reference has 10 samples and 9 group labels"),
        ({"reference_groups": list(range(10))}, "reference has groups and candidate has none"),
        ({"candidate_groups": list(range(10))}, "candidate has groups and reference has none"),
        ({"reference_groups": [*range(9), None], "candidate_groups": range(10)}, "sample 9 of reference has no group"),
        ({"reference_groups": "abcdefghij"}, "not one string"),
        ({"reference_groups": [[1]] * 10}, "must be a text or a number, not list"),
        ({"reference_groups": ["a"] * 10, "candidate_groups": ["b"] * 10}, "have one group each: nothing can be moved"),
        ({"paired": True, "reference_groups": range(10)}, "groups already"),
        ({"paired": True, "candidate_groups": range(10)}, "groups already"),
    ],
)
def test_bad_groups_are_refused(options, message):
    points = np.random.default_rng(0).standard_normal((10, 2))
    with pytest.raises(InputError, match=message):
        rc.mmd(points, points + 1, pvalue=9, **options)


def test_groups_by_candidate():
    points = np.random.default_rng(0).standard_normal((12, 2))
    sets = {"a": points + 1, "b": points[:9]}
    labels = np.arange(12) // 3
    known = {"a": labels + 10, "b": labels[:9] + 20}
    results = rc.evaluate(points, sets, "mmd", pvalue=9, ceiling=False, reference_groups=labels, candidate_groups=known)
    counted = [results[name]["mmd"].inference["pvalues"]["groups"] for name in sets]
    assert counted == [{"reference": 4, "candidate": 4, "both": 0}, {"reference": 4, "candidate": 3, "both": 0}]
    with pytest.raises(InputError, match="groups for 'c', but no such candidate"):
        rc.evaluate(points, sets, "mmd", reference_groups=labels, candidate_groups={**known, "c": labels})
    with pytest.raises(InputError, match="mapping from name to labels"):
        rc.evaluate(points, sets, "mmd", reference_groups=labels, candidate_groups=labels)
    with pytest.raises(InputError, match="paired sets have one size"):
        rc.evaluate(points, sets, "mmd", paired=True)


def test_candidates_that_were_not_tested_are_charged_to_nobody():
    rng = np.random.default_rng(5)
    reference, far = rng.standard_normal((40, 3)), rng.standard_normal((40, 3)) + 3
    both = rc.evaluate(reference, {"tiny": far[:2], "far": far}, "precision-recall", pvalue=99, ceiling=False)
    assert both.any_difference == {"far": 1 / 100} and "Holm" not in str(both)


def test_names_of_candidates_may_be_numbers():
    points = np.random.default_rng(0).standard_normal((12, 2))
    labels = list(range(12))
    results = rc.evaluate(
        points, {1: points + 1}, "mmd", pvalue=9, ceiling=False, reference_groups=labels, candidate_groups={1: labels}
    )
    assert results["1"]["mmd"].inference["pvalues"]["groups"]["both"] == 12


def test_adjusted_pvalues_hold_for_numbers_and_candidates():
    rng = np.random.default_rng(8)
    reference = rng.standard_normal((40, 3))
    sets = {"same": rng.standard_normal((40, 3)), "far": rng.standard_normal((40, 3)) + 3}
    results = rc.evaluate(reference, sets, pvalue=199, ceiling=False)
    for by_metric in results.values():
        for result in by_metric.values():
            assert set(result.adjusted_pvalues) == set(result.pvalues)
            assert all(result.adjusted_pvalues[name] >= p for name, p in result.pvalues.items())
    assert results.any_difference["far"] == 2 / 200  # the smallest share there is, for two candidates
    assert results.any_difference["same"] > 0.05
    alone = rc.evaluate(reference, {"far": sets["far"]}, pvalue=199, ceiling=False)
    assert alone.any_difference["far"] == 1 / 200
    assert "any difference from the reference: p same" in str(results)
