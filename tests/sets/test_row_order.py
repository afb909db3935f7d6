"""Nothing that is drawn at random depends on how samples were listed: every metric, every kind of draw.

No number is expected here: the same call with its rows in another order says what must come out, to the last digit
where it is drawn; scores of whole sets are sums in the order given, and their rounding may differ.
"""

import numpy as np
import pytest

import recapture as rc
from recapture.geometry.parallel import engine
from recapture.labellings.groups import groups_by_content
from recapture.sets.metric_functions import measure

METRICS = list(rc.list_metrics().values())
EACH = pytest.mark.parametrize("metric", METRICS, ids=lambda metric: metric.name)
KINDS = pytest.mark.parametrize("kind", ["normal", "grid", "repeats"])
ALL_AT_ONCE = {"pvalue": 19, "interval": 0.9, "ceiling": 4}
DRAWS = {"plain": ALL_AT_ONCE, "balanced": {"balance": 3, "interval": 0.9}, "exact": {"pvalue": "exact"}}


def two_sets(kind="normal", n=26, m=22, d=3, seed=1):
    rng = np.random.default_rng(seed)
    if kind == "grid":
        return rng.integers(0, 3, (n, d)).astype(float), rng.integers(0, 3, (m, d)).astype(float)
    if kind == "repeats":
        return rng.standard_normal((9, d))[rng.integers(0, 9, n)], rng.standard_normal((9, d))[rng.integers(0, 9, m)]
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)) + 0.3


def same(one, other):
    """Whatever was drawn is equal; scores of the sets themselves, and ends that hang on them, but for rounding."""
    # A Fréchet distance is a small difference of large numbers.
    close = {"rel": 1e-9 if one.metric == "frechet" else 1e-12, "abs": 1e-13}
    if "balance" in one.signature:
        assert one.values == other.values
        assert one.details["balance_spread"] == other.details["balance_spread"]
    assert one.values == pytest.approx(other.values, **close)
    assert one.pvalues == other.pvalues and one.adjusted_pvalues == other.adjusted_pvalues
    assert one.nulls.keys() == other.nulls.keys()
    for name, null in one.nulls.items():
        np.testing.assert_array_equal(null, other.nulls[name])
    assert one.human == other.human and one.at_human_size == other.at_human_size and one.inside == other.inside
    assert one.inference == other.inference
    for name, bounds in one.intervals.items():
        assert bounds == pytest.approx(other.intervals[name], **close)
    assert one.warnings == other.warnings


def shuffles(n, m, seed):
    rng = np.random.default_rng(seed)
    return rng.permutation(n), rng.permutation(m)


@EACH
@KINDS
@pytest.mark.parametrize("draw", DRAWS)
def test_rows_in_another_order(metric, kind, draw):
    reference, candidate = two_sets(kind)
    if draw == "exact":
        reference, candidate = reference[:6], candidate[:6]
    plain = measure(metric, reference, candidate, seed=3, **DRAWS[draw])
    if kind == "normal":
        made = {
            "plain": plain.human and plain.intervals and plain.pvalues,
            "balanced": plain.details.get("balance_spread"),
        }
        assert made.get(draw, plain.pvalues)
    first, second = shuffles(len(reference), len(candidate), 0)
    again = measure(metric, reference[first], candidate[second], seed=3, **DRAWS[draw])
    same(plain, again)
    for name, rows in (("reference_inside", first), ("candidate_inside", second), ("reference_covered", first)):
        if name in plain.arrays:  # one entry a sample, in the order given
            np.testing.assert_array_equal(plain.arrays[name][rows], again.arrays[name])


@pytest.mark.traced
@pytest.mark.slow
@EACH
@KINDS
def test_groups_in_another_order_and_by_other_labels(metric, kind):
    """Also where equal samples are in different groups, and where groups hold the same samples."""
    reference, candidate = two_sets(kind)
    rng = np.random.default_rng(2)
    of_reference, of_candidate = rng.integers(0, 9, 26), rng.integers(5, 14, 22)
    names = rng.permutation(14)
    options = {**ALL_AT_ONCE, "balance": 2, "seed": 3}
    plain = measure(
        metric, reference, candidate, reference_groups=of_reference, candidate_groups=of_candidate, **options
    )
    first, second = shuffles(26, 22, 5)
    again = measure(
        metric, reference[first], candidate[second],
        reference_groups=[f"g{names[label]}" for label in of_reference[first]],
        candidate_groups=[f"g{names[label]}" for label in of_candidate[second]], **options,
    )  # fmt: skip
    same(plain, again)


@EACH
@KINDS
def test_pairs_in_another_order(metric, kind):
    reference, candidate = (rows[:22] for rows in two_sets(kind))
    plain = measure(metric, reference, candidate, paired=True, seed=3, **ALL_AT_ONCE)
    order = np.random.default_rng(6).permutation(22)
    same(plain, measure(metric, reference[order], candidate[order], paired=True, seed=3, **ALL_AT_ONCE))


@pytest.mark.slow
@KINDS
@pytest.mark.parametrize("grouped", [False, True])
def test_several_candidates_and_a_second_human_set(kind, grouped):
    """Neither rows nor the order in which candidates are named change any candidate's numbers."""
    reference, candidate = two_sets(kind, 40, 30)
    human, other = two_sets("normal", 36, 24, seed=2)
    sets = {"b": candidate, "a": other + 0.1, "c": candidate[:25] * 1.1}
    names = "precision-recall,mmd,frechet"
    rng = np.random.default_rng(7)
    labels = {
        name: rng.integers(0, 12, len(rows)) for name, rows in {**sets, "reference": reference, "human": human}.items()
    }
    options = {"ceiling": 4, "pvalue": 9, "interval": 0.9, "seed": 3}

    def grouping(rows):
        if not grouped:
            return {}
        chosen = {name: [f"x{13 - label}" for label in labels[name][order]] for name, order in rows.items()}
        return {
            "reference_groups": chosen.pop("reference"), "human_groups": chosen.pop("human"), "candidate_groups": chosen
        }  # fmt: skip

    as_given = {name: np.arange(len(each)) for name, each in labels.items()}
    mixed = {name: rng.permutation(each) for name, each in as_given.items()}
    plain = rc.evaluate(reference, sets, names, human=human, **grouping(as_given), **options)
    again = rc.evaluate(
        reference[mixed["reference"]], {name: sets[name][mixed[name]] for name in ("c", "a", "b")}, names,
        human=human[mixed["human"]], **grouping(mixed), **options,
    )  # fmt: skip
    alone = rc.evaluate(
        reference, {"c": sets["c"]}, names, human=human, **options,
        **{key: {"c": value["c"]} if isinstance(value, dict) else value for key, value in grouping(as_given).items()},
    )  # fmt: skip
    for name in sets:
        for metric, result in plain[name].items():
            same(result, again[name][metric])
    for metric, result in alone["c"].items():  # human parts are as large as the smallest candidate: c
        assert (result.nulls.keys(), result.intervals) == (
            plain["c"][metric].nulls.keys(),
            plain["c"][metric].intervals,
        )
        assert result.pvalues == plain["c"][metric].pvalues


@pytest.mark.traced
@pytest.mark.slow
def test_texts_in_another_order():
    """From texts on: what is learnt from them, and their vectors, do not hang on their order either."""
    rng = np.random.default_rng(0)
    words = [f"w{number}" for number in range(30)]
    reference, candidate = ([" ".join(rng.choice(words, 5)) for _ in range(size)] for size in (24, 20))
    options = {"encoder": "bag-of-words", "interval": 0.9, "pvalue": 9, "balance": 2}
    plain = rc.evaluate(reference, candidate, "precision-recall,mmd,prd", **options)["candidate"]
    first, second = shuffles(24, 20, 1)
    again = rc.evaluate(
        [reference[at] for at in first], [candidate[at] for at in second], "precision-recall,mmd,prd", **options
    )["candidate"]
    for metric, result in plain.items():
        same(result, again[metric])


def test_the_kernel_width_of_many_samples(monkeypatch):
    """Above 5,000 pooled samples (here 50) the median distance is that of some: which ones follows content, too."""
    monkeypatch.setattr("recapture.sets.metrics.mmd._POOL_FOR_MEDIAN", 50)
    reference, candidate = two_sets("normal", 90, 70, 2)
    first, second = shuffles(90, 70, 0)
    one, other = rc.mmd(reference, candidate), rc.mmd(reference[first], candidate[second])
    assert "50 rows" in one.signature["bandwidth_rule"]
    assert one.bandwidth == pytest.approx(other.bandwidth, rel=1e-13)
    assert one.value == pytest.approx(other.value, rel=1e-11)


@pytest.mark.traced
@pytest.mark.slow
@EACH
def test_threads_and_tiles_draw_the_same(metric):
    reference, candidate = two_sets()
    plain = measure(metric, reference, candidate, seed=3, balance=2, **ALL_AT_ONCE)
    for options in ({"threads": 1}, {"threads": 3, "tile": 7}):
        with engine(**options):
            again = measure(metric, reference, candidate, seed=3, balance=2, **ALL_AT_ONCE)
        close = {"rel": 1e-9, "abs": 1e-12}
        assert again.values == pytest.approx(plain.values, **close) and again.pvalues == plain.pvalues
        for name, null in plain.nulls.items():
            np.testing.assert_allclose(again.nulls[name], null, rtol=1e-9, atol=1e-12)
        for name, band in plain.human.items():
            assert again.human[name] == pytest.approx(band, **close)
        for name, bounds in plain.intervals.items():
            assert again.intervals[name] == pytest.approx(bounds, **close)


def test_what_belongs_together_stays_together():
    """Numbers of groups in order of content, against pairs of (content, label) sorted by hand."""
    rng = np.random.default_rng(0)
    for _ in range(50):
        n, m = 12, 10
        ranks = rng.integers(0, 5, n), rng.integers(0, 5, m)
        labels = rng.integers(0, 6, n), rng.integers(3, 9, m)
        found = groups_by_content(labels[0], ranks[0], labels[1], ranks[1])

        def contents(numbers, content):
            """What every group holds on both sides, whatever it is called."""
            groups = set(numbers[0]) | set(numbers[1])
            return sorted(
                tuple(
                    tuple(sorted(rank for rank, own in zip(content[side], numbers[side], strict=True) if own == group))
                    for side in (0, 1)
                )
                for group in groups
            )

        ordered = [np.sort(side) for side in ranks]
        assert contents([side.tolist() for side in found.by_side], ordered) == contents(
            [side.tolist() for side in labels], ranks
        )
        # Another order and other labels: the very same numbers.
        first, second = rng.permutation(n), rng.permutation(m)
        names = rng.permutation(9)
        again = groups_by_content(names[labels[0][first]], ranks[0][first], names[labels[1][second]], ranks[1][second])
        np.testing.assert_array_equal(found.number, again.number)
