"""What human texts would score in a candidate's place, against parts measured one by one and against theorems."""

import math

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError
from recapture.geometry.points import PointSet
from recapture.sets.declaration import Measurement, Output, SetMetric
from recapture.sets.evaluate import Job, measure_pair, with_defaults
from recapture.sets.human import CandidateSamples, HumanSplits
from recapture.sets.metric_functions import measure
from recapture.sets.pair import Pair

METRICS = list(rc.list_metrics().values())
EACH = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)


def two_sets(n=62, m=40, shift=0.4, seed=0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)), rng.standard_normal((m, 5)) + shift


@EACH
def test_bands_are_of_parts_measured_one_by_one(metric):
    """Mean and mean -+ 1.96 standard deviations of the metric's own function on every pair of parts."""
    reference, candidate = two_sets()
    job = with_defaults([Job(metric, {})], 5)[0]
    made = HumanSplits([job], PointSet(reference), [CandidateSamples(40)], 6, 5)
    (terms,) = made.terms(0, Pair(PointSet(reference), PointSet(candidate)))
    assert made.size == terms.record["size"] == 31
    fixed = {}
    if metric.name == "mmd":  # one kernel for all parts: half the median distance in the reference
        apart = np.linalg.norm(reference[:, None] - reference, axis=2)[np.triu_indices(62, 1)]
        fixed = {"bandwidth": np.median(apart) / 2}
    human, own = [], []
    parts = zip(made._references, made._others, made._candidates[0], strict=True)
    for number, (first, second, rows) in enumerate(parts):
        assert len(first) == len(second) == len(rows) == 31
        assert not set(first) & set(second)
        if metric.depends_on_pool:
            fixed = {"clusterings": 1, "seed": 5 + number}
        human.append(measure(metric, reference[first], reference[second], **fixed))
        own.append(measure(metric, reference[first], candidate[rows], **fixed))
    for output in metric.outputs:
        for band, scored in ((terms.human, human), (terms.at_human_size, own)):
            numbers = [result.values[output.name] for result in scored]
            mean, low, high = band[output.name]
            assert mean == pytest.approx(np.mean(numbers), rel=1e-7, abs=1e-12)
            assert high - mean == pytest.approx(mean - low)
            assert high - mean == pytest.approx(1.96 * np.std(numbers, ddof=1), rel=1e-6, abs=1e-12)
        low, high = terms.human[output.name][1:]
        inside = [low <= result.values[output.name] <= high for result in own]
        assert terms.inside[output.name] == np.mean(inside)


def _difference(pair):
    return Measurement({"value": float(pair.candidate.values.mean() - pair.reference.values.mean())})


def _difference_under(pair):
    pooled = np.concatenate([pair.reference.values, pair.candidate.values]).mean(axis=1)

    def under(labels):
        n, m = labels.counts
        return {"value": labels.candidate @ pooled / m - labels.reference @ pooled / n}

    return under


def means(**more):
    return SetMetric(
        name="means", title="difference of means", outputs=(Output("value", "", (-np.inf, np.inf)),),
        direction="lower", measure=_difference, citation="none", **more,
    )  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("more", [{"relabel": _difference_under}, {}])
def test_the_band_is_as_wide_as_theory_says(more):
    """Halves a and b of n = 2h numbers: mean(b) - mean(a) = 2 (mean(b) - mean of all), and a half drawn without
    replacement has variance s^2 / 2h, so the difference has 2 s^2 / h. A candidate that is drawn whole adds nothing:
    its difference has the variance of mean(a) alone, s^2 / 2h.
    """
    rng = np.random.default_rng(0)
    reference, candidate = rng.standard_normal((400, 1)), rng.standard_normal((200, 1)) + 1
    pair = Pair(PointSet(reference), PointSet(candidate))
    (result,) = measure_pair([Job(means(**more), {})], pair, ceiling=600)
    s = reference.std(ddof=1)
    # From 600 splits a standard deviation is known to about 3 %.
    assert result.human["value"].high - result.human["value"].mean == pytest.approx(
        1.96 * s * math.sqrt(2 / 200), rel=0.12
    )
    own = result.at_human_size["value"]
    assert own.high - own.mean == pytest.approx(1.96 * s * math.sqrt(1 / 400), rel=0.12)
    assert own.mean == pytest.approx(candidate.mean() - reference.mean(), abs=0.02)
    assert result.inside["value"] == 0
    assert result.ceiling == result.human["value"].mean == pytest.approx(0, abs=0.02)


@pytest.mark.slow
def test_bands_do_not_depend_on_balance():
    reference, candidate = two_sets(50, 20)
    plain, balanced = (rc.evaluate(reference, candidate, balance=balance)["candidate"] for balance in (False, 2))
    for metric, result in plain.items():
        assert (result.human, result.inside) == (balanced[metric].human, balanced[metric].inside)
        assert result.at_human_size == balanced[metric].at_human_size


@pytest.mark.slow
def test_one_part_of_a_held_out_human_set_is_inside():
    """40 human sets, each with a held-out one: the share of parts inside is 95 % on average, for every number.

    The spread of that mean over 40 sets is at most .026, so .86 to .99 is wide for a right band and far from a wrong
    one. Metrics that cluster vary less from set to set: over 16 sets the spread of their means is .025, too.
    `recapture reproduce promises` has 300 of them.
    """
    inside = {}
    quickly = [metric.name for metric in METRICS if not metric.depends_on_pool]
    for seed in range(40):
        rng = np.random.default_rng(seed)
        reference, held_out = rng.standard_normal((60, 6)), rng.standard_normal((30, 6))
        metrics = None if seed < 16 else ",".join(quickly)
        results = rc.evaluate(reference, held_out, metrics, seed=seed)["candidate"]
        for name, result in results.items():
            for number, share in result.inside.items():
                inside.setdefault((name, number), []).append(share)
    shares = {key: np.mean(each) for key, each in inside.items()}
    assert len(shares) == 15
    assert all(0.86 <= share <= 0.99 for share in shares.values()), shares


@pytest.mark.slow
def test_mauve_of_human_parts_is_high_where_the_candidate_is_small():
    """Halves of one sample have few clusters with many points each: MAUVE is near 1 (Pillutla et al. 2021, section 3),
    whatever the size of the whole reference."""
    rng = np.random.default_rng(0)
    reference, candidate = rng.standard_normal((1500, 4)), rng.standard_normal((150, 4))
    result = rc.evaluate(reference, candidate, "mauve", balance=True)["candidate"]["mauve"]
    assert result.inference["human"]["size"] == 150
    assert result.human["value"].mean > 0.9
    assert result.human["value"].mean == pytest.approx(rc.mauve(reference[:150], reference[150:300]).value, abs=0.05)


@pytest.mark.traced
@pytest.mark.slow
def test_the_human_column_is_the_same_for_every_candidate():
    reference, candidate = two_sets(40, 40)
    sets = {"a": candidate, "b": candidate[:30] + 1}
    results = rc.evaluate(reference, sets, metrics="precision-recall,mmd,prd")
    for metric in ("precision-recall", "mmd", "prd"):
        assert results["a"][metric].human == results["b"][metric].human != {}
        assert results["a"][metric].inference["human"]["size"] == 20
    assert not rc.evaluate(reference, candidate, metrics="mmd", ceiling=False)["candidate"]["mmd"].human


def test_scores_without_their_floor_have_a_band_too():
    """CAPTURE's floor at k = 1 depends on sizes alone, so both bands are those of the score, moved and stretched."""
    reference, candidate = two_sets(60, 60)
    result = rc.mark_evaluate(reference, candidate, ceiling=True)
    floor = rc.mark_evaluate(np.zeros((30, 1)) + np.arange(30)[:, None], 1e6 + np.arange(30.0)[:, None]).capture
    for bands in (result.human, result.at_human_size):
        for plain, adjusted in zip(bands["capture"], bands["capture adjusted"], strict=True):
            assert adjusted == pytest.approx((plain - floor) / (1 - floor))


def test_a_second_human_set_stands_for_human_texts():
    """The second set is another kind of text: the band is where it falls, and the reference's own parts do not."""
    rng = np.random.default_rng(0)
    reference, other, candidate = rng.standard_normal((3, 60, 3)) + np.array([0, 3, 3])[:, None, None]
    split = rc.evaluate(reference, candidate, "mmd")["candidate"]["mmd"]
    given = rc.evaluate(reference, candidate, "mmd", human=other)["candidate"]["mmd"]
    assert split.inside["value"] == 0 and given.inside["value"] > 0.8
    assert given.human["value"].mean > 0.3 > abs(split.human["value"].mean)
    assert given.inference["human"]["human"] == "a second human set"


def test_groups_are_split_whole_and_candidates_get_other_prompts():
    """Prompts on both sides: a candidate's part answers prompts that the reference's part does not, as human ones."""
    rng = np.random.default_rng(0)
    groups = np.repeat(np.arange(12), 3)
    jobs = with_defaults([Job(rc.list_metrics()["mmd"], {})], 0)
    points = PointSet(rng.standard_normal((36, 2)))
    made = HumanSplits(jobs, points, [CandidateSamples(36, groups)], 20, 0, groups=groups)
    for first, second, third in zip(made._references, made._others, made._candidates[0], strict=True):
        of_first, of_second, of_third = (set(groups[part].tolist()) for part in (first, second, third))
        assert not of_first & of_second and not of_first & of_third and of_second == of_third
        assert len(first) == len(second) == len(third) == 18


@pytest.mark.traced
@pytest.mark.slow
def test_uneven_groups_make_parts_of_one_size_all_the_same():
    """Groups of 40, 10, 8, 5, 3, 2, ...: a human candidate falls inside as often as it does without groups."""
    sizes = [40, 20, 10, 8, 5, 3, 2, 2]
    labels = np.repeat(np.arange(len(sizes)), sizes)
    inside = []
    for seed in range(25):
        reference, candidate = np.random.default_rng(seed).standard_normal((2, len(labels), 4))
        result = rc.mmd(reference, candidate, ceiling=True, reference_groups=labels, candidate_groups=labels + 99)
        assert result.inference["human"]["size"] < 45
        inside.append(result.inside["value"])
    assert np.mean(inside) > 0.85


def test_a_tiny_candidate_leaves_the_others_their_bands():
    reference, candidate = two_sets(60, 60)
    metrics = ["precision-recall", "mmd"]
    alone = rc.evaluate(reference, {"good": candidate}, metrics)["good"]
    both = rc.evaluate(reference, {"good": candidate, "tiny": candidate[:2]}, metrics, pvalue=99, balance=True)
    assert both["good"]["mmd"].human == alone["mmd"].human
    assert both["good"]["precision-recall"].inference["human"]["size"] == 30
    assert "no human band: candidate 'tiny' has no parts of 30 samples" in both["tiny"]["mmd"].warnings
    assert math.isnan(both["tiny"]["precision-recall"].precision)


def test_a_second_human_set_without_the_references_own_samples():
    rng = np.random.default_rng(0)
    reference, other, candidate = rng.standard_normal((3, 60, 3))
    mixed = np.concatenate([reference[:20], other])
    clean, shared = (rc.evaluate(reference, candidate, "mmd", human=each) for each in (other, mixed))
    assert clean["candidate"]["mmd"].human == shared["candidate"]["mmd"].human
    said = "20 of 80 samples of the second human set are in the reference, too: they were left out of it"
    assert said in shared["candidate"]["mmd"].warnings and shared.inputs["human"]["copied"] == 20
    with pytest.raises(InputError, match="holds samples of reference alone"):
        rc.evaluate(reference, candidate, "mmd", human=reference)
    with pytest.raises(InputError, match="no ceiling is asked for"):
        rc.evaluate(reference, candidate, "mmd", human=other, ceiling=False)


def test_too_few_samples_or_groups_say_so():
    reference, candidate = two_sets(10, 10)
    result = rc.evaluate(reference, candidate, ["density-coverage", "mmd"])["candidate"]
    few = rc.mmd(reference[:8], candidate, ceiling=True)
    assert "no human band: parts of 4 samples are too few for mmd" in few.warnings
    assert "no human band: parts of 5 samples are too few for density-coverage" in result["density-coverage"].warnings
    labels = [0, 0, 0, 1, 1, 1, 2, 2, 2, 2]
    grouped = rc.mmd(reference, candidate, ceiling=True, reference_groups=labels, candidate_groups=labels)
    assert "no human band: fewer than 4 groups are too few to split" in grouped.warnings


def test_numbers_that_no_split_moves_have_no_band():
    reference = np.eye(12)
    result = rc.precision_recall(reference, 2 * np.eye(12), k=1, ceiling=True)
    assert not result.human
    assert "no human band for precision: all 40 splits give the same number" in result.warnings


def test_metrics_that_cannot_be_computed_leave_the_others_alone():
    reference, candidate = two_sets(5, 5)
    results = rc.evaluate(reference, candidate, pvalue=9, interval=0.9)
    missing = results["candidate"]["density-coverage"]
    assert all(math.isnan(value) for value in missing.values.values())
    assert missing.warnings == ("not computed: k = 5 needs at least 6 samples a side, but reference has 5",)
    assert results["candidate"]["mmd"].value < 2
    assert "density            ↑" in str(results.all_rows()) and "null" in results.to_json()
    with pytest.raises(InputError, match="k = 5 needs at least 6 samples a side"):
        rc.evaluate(reference, candidate, "density-coverage")
    with pytest.raises(InputError, match="k = 7 needs at least 8 samples a side"):
        rc.evaluate(reference, candidate, k=7)


def test_tables_show_parts_beside_human_parts():
    reference, candidate = two_sets(80, 80)
    shown = str(rc.evaluate(reference, {"model": candidate}, "precision-recall"))
    assert "\n\nOn equal terms" in shown and "Whole sets" in shown
    assert "another part of it" in shown and "(40 samples)" in shown
    page = rc.evaluate(reference, {"model": candidate}, "precision-recall").to_markdown()
    assert page.count("| candidate | precision ↑ | recall ↑ |") == 2 and "\n| human | " in page


@pytest.mark.slow
def test_an_encoder_that_learns_is_blind_to_sides():
    """Two halves of one set of texts: words learnt from one half alone make the halves differ."""
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(400)]
    texts = [" ".join(rng.choice(words, 6)) for _ in range(80)]
    plain = rc.evaluate(texts[:40], texts[40:], "mmd", "bag-of-words", ceiling=False)["candidate"]["mmd"]
    assert plain.signature["encoder"]["learnt from"] == "the reference"
    for asked in ({"ceiling": True}, {"pvalue": 9}, {"interval": 0.9}):
        result = rc.mmd(texts[:40], texts[40:], encoder="bag-of-words", **asked)
        assert result.signature["encoder"]["learnt from"] == "all texts, blind to sides"
        mirrored = rc.mmd(texts[40:], texts[:40], encoder="bag-of-words", **asked)
        assert result.value == pytest.approx(mirrored.value, abs=1e-12)
    alarms = 0
    for seed in range(40):
        order = np.random.default_rng(seed).permutation(80)
        halves = [[texts[at] for at in part] for part in (order[:40], order[40:])]
        alarms += rc.mmd(*halves, encoder="bag-of-words", pvalue=19, seed=seed).pvalue <= 0.05
    assert alarms <= 7  # 2 expected; more than 7 in fewer than one case in 1,000 (binomial)


@pytest.mark.slow
def test_a_second_human_set_gives_a_band_for_other_human_sets():
    """40 times three sets of one distribution; unstretched, the bands of some numbers hold 86 %."""
    inside = {}
    for seed in range(40):
        reference, human, candidate = np.random.default_rng(seed).standard_normal((3, 80, 6))
        metrics = ["mark-evaluate", "precision-recall", "density-coverage", "mmd"]
        for result in rc.evaluate(reference, candidate, metrics, human=human, seed=seed)["candidate"].values():
            for number, share in result.inside.items():
                inside.setdefault(number, []).append(share)
    assert all(0.9 <= np.mean(shares) <= 0.995 for shares in inside.values()), inside
