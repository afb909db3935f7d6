"""Contexts, their references and their candidates in another order: every number stays, whatever is drawn at random."""

import numpy as np
import pytest

import recapture as rc
from recapture.contexts.declaration import METRICS
from recapture.contexts.table import ContextResults
from recapture.pairs.to_similarity import pair_similarities

WORDS = ["a", "cat", "dog", "sat", "ran", "on", "the", "red", "mat", "and", "slept"]
ON_WORDS = set(pair_similarities())
"""They need models; float32 leaves them too few digits for the comparison below, see test_word_distances."""
NAMES = [name for name, metric in METRICS.all().items() if metric.similarity not in ON_WORDS]
TESTED = [name for name in NAMES if METRICS.find(name).tested]


def some_contexts(count=3, n=7, m=6):
    rng = np.random.default_rng(0)

    def texts(size):
        made = [" ".join(rng.choice(WORDS, rng.integers(2, 6))) for _ in range(size)]
        return (*made[:-1], made[0])  # one of them twice

    return [rc.Context(f"c{at}", texts(n), texts(m)) for at in range(count)]


def mixed(contexts, seed):
    rng = np.random.default_rng(seed)
    return [
        rc.Context(each.id, tuple(rng.permutation(each.references)), tuple(rng.permutation(each.candidates)))
        for each in (contexts[at] for at in rng.permutation(len(contexts)))
    ]


def scored(contexts, metrics, **options) -> ContextResults:
    return rc.evaluate_contexts(contexts, metrics, encoder="bag-of-words", seed=2, resume=False, **options)


def numbers(scores):
    """Without the places of most central texts, which are places in the list as given."""
    return {name: value for name, value in scores.items() if isinstance(value, (int, float))}


def same(one, other):
    records = {record["id"]: record["scores"] for record in other.contexts}
    for record in one.contexts:
        assert record["scores"].keys() == records[record["id"]].keys()
        for metric, scores in record["scores"].items():
            expected = numbers(records[record["id"]][metric])
            for name, value in numbers(scores).items():
                if "pvalue" in name or name in ("tied", "labellings"):
                    assert value == expected[name], (metric, name)
                else:
                    assert value == pytest.approx(expected[name], rel=1e-11, abs=1e-13), (metric, name)
    totals = {(total.metric, total.number): total for total in other.totals}
    for total in one.totals:
        again = totals[total.metric, total.number]
        assert (total.mean, *(total.interval or ())) == pytest.approx(
            (again.mean, *(again.interval or ())), rel=1e-11, nan_ok=True
        )


@pytest.mark.traced
@pytest.mark.slow
def test_every_metric_with_drawn_labellings():
    contexts = some_contexts()
    one = scored(contexts, TESTED, pvalue=30, interval=0.9)
    assert not one.contexts[0]["scores"]["trm-meteor"]["exact"]
    for seed in range(2):
        same(one, scored(mixed(contexts, seed), TESTED, pvalue=30, interval=0.9))


@pytest.mark.traced
@pytest.mark.slow
def test_every_metric_with_all_labellings_and_without():
    contexts = some_contexts(2, 4, 4)
    same(scored(contexts, NAMES, interval=0.9), scored(mixed(contexts, 3), NAMES, interval=0.9))
    same(scored(contexts, TESTED, pvalue="exact"), scored(mixed(contexts, 4), TESTED, pvalue="exact"))


@pytest.mark.parametrize("kind", ["any", "whole"])
def test_ready_matrices(kind):
    """Known by their distances alone: p-value and null are the same to the last digit."""
    rng = np.random.default_rng(0)
    for seed in range(10):
        made = rng.random((11, 11)) if kind == "any" else rng.integers(0, 3, (11, 11))
        np.fill_diagonal(made, 0)
        order = np.concatenate([rng.permutation(6), 6 + rng.permutation(5)])
        one, other = (
            rc.triangle_rank([None] * 6, [None] * 5, matrix, pvalue=40, seed=seed)
            for matrix in (made, made[np.ix_(order, order)])
        )
        assert (one.value, one.pvalue) == (other.value, other.pvalue)
        np.testing.assert_array_equal(one.null, other.null)
        texts = [f"t{at}" for at in range(11)]
        one, other = (
            rc.aggregate(texts[:6], texts[6:], "rouge-l", pvalue=40, seed=seed, scores=matrix)
            for matrix in (made, made[np.ix_(order, order)])
        )
        assert one.pvalue == other.pvalue
        np.testing.assert_array_equal(one.null, other.null)
