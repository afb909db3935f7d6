"""Metrics of vectors in contexts: every partition scored by itself gives the same values and the same p-value."""

import itertools

import numpy as np
import pytest

import recapture as rc
from recapture.contexts.declaration import METRICS, Batch, Settings
from recapture.contexts.uncertainty import Asked
from recapture.geometry.points import PointSet
from recapture.sets.declaration import list_metrics
from recapture.sets.pair import Pair

RNG = np.random.default_rng(0)
KINDS = {
    "spread": RNG.normal(size=(20, 5)),
    "tied": RNG.integers(0, 2, (20, 3)).astype(float),
    "equal": np.tile(RNG.normal(size=5), (20, 1)),
}


def alone(metric, reference, candidate):
    parameters = {**metric.defaults, **({"seed": 0} if "seed" in metric.defaults else {})}
    pair = Pair(PointSet(reference, "reference"), PointSet(candidate, "candidate"))
    return metric.measure(pair, **parameters).values


@pytest.mark.traced
@pytest.mark.slow
@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", list_metrics())
def test_every_partition_by_itself(name, kind):
    metric = list_metrics()[name]
    assert metric.relabel is not None  # every metric of two sets has a p-value
    (declared,) = METRICS.choose(name)
    n, m = max(3, declared.least[0]), max(3, declared.least[1])
    pooled = KINDS[kind][: n + m]
    (scored,) = declared.score(Batch(n, m, [], {}, [pooled]), Settings(), Asked(True))
    partitions = list(itertools.combinations(range(n + m), m))
    # The smallest sets of some metrics have many partitions: some of those will do.
    looked_at = partitions if len(partitions) <= 70 else partitions[:: len(partitions) // 30]
    observed = alone(metric, pooled[:n], pooled[n:])
    values = {output.name: [] for output in declared.outputs}
    for candidates in looked_at:
        references = [row for row in range(n + m) if row not in candidates]
        for output, value in alone(metric, pooled[references], pooled[list(candidates)]).items():
            if output in values:
                values[output].append(value)
    towards = -1 if metric.direction == "higher" else 1
    for output, found in values.items():
        test = scored.tests[output]
        assert scored.values[output] == pytest.approx(observed[output], abs=1e-9)
        assert test.labellings == len(partitions)
        null = towards * test.null
        for value in found:  # in no order: halves of the partitions stand for all where sides may change places
            assert np.abs(null - value).min() < 1e-9
        if looked_at == partitions:
            oriented = towards * np.array(found)
            slack = 1e-9 * max(1, np.abs(oriented).max())
            assert test.pvalue == np.mean(oriented >= towards * observed[output] - slack)


def test_an_encoder_that_learns_learns_from_all_references():
    """Words of candidates alone do not count; words of another context's references do."""
    given = [
        {"id": "x", "references": ["a", "b"], "candidates": ["c", "d"]},
        {"id": "y", "references": ["c", "c c"], "candidates": ["a", "e"]},
    ]
    found = rc.evaluate_contexts(given, "mmd,frechet", encoder="bag-of-words")
    counts = {"a": [1, 0, 0], "b": [0, 1, 0], "c": [0, 0, 1], "d": [0, 0, 0], "c c": [0, 0, 2], "e": [0, 0, 0]}
    for record, context in zip(found.contexts, given, strict=True):
        sides = [np.array([counts[text] for text in context[side]], float) for side in ("references", "candidates")]
        for metric in ("mmd", "frechet"):
            expected = getattr(rc, metric)(*sides).value
            assert record["scores"][metric]["value"] == pytest.approx(expected, abs=1e-9)


def test_p_values_need_no_null_distributions_in_memory():
    (declared,) = METRICS.choose("mmd")
    batch = Batch(3, 3, [], {}, [KINDS["spread"][:6]])
    kept, dropped = (declared.score(batch, Settings(), Asked(True, nulls=nulls))[0] for nulls in (True, False))
    assert len(kept.tests["value"].null) == 10 and len(dropped.tests["value"].null) == 0
    assert kept.tests["value"].pvalue == dropped.tests["value"].pvalue


def test_metrics_of_two_sets_take_options_in_contexts():
    """As the same call on the context's vectors alone; the signature says which."""
    context = {"id": "x", "references": ["a b", "b c", "c d a"], "candidates": ["a b", "x y", "z a"]}
    asked = {"mmd": {"form": "printed"}, "density_coverage": {"k": 1}}
    given = {"encoder": "bag-of-words", "resume": False}
    results = rc.evaluate_contexts([context], "mmd,density-coverage", options=asked, **given)
    scores = results.contexts[0]["scores"]
    sides = context["references"], context["candidates"]
    assert scores["mmd"]["value"] == pytest.approx(rc.mmd(*sides, form="printed", encoder="bag-of-words").value)
    expected = rc.density_coverage(*sides, k=1, encoder="bag-of-words")
    assert (scores["density-coverage"]["density"], scores["density-coverage"]["coverage"]) == (
        expected.density,
        expected.coverage,
    )
    assert results.signature["options"] == {"mmd": {"form": "printed"}, "density-coverage": {"k": 1}}
    assert "options" not in rc.evaluate_contexts([context], "mmd", **given).signature


@pytest.mark.parametrize(
    "options, said",
    [
        ({"mmd": {"form": "x"}}, "unknown form of MMD 'x'"),
        ({"mmd": {"frm": "printed"}}, "mmd has no option 'frm'"),
        ({"density-coverage": {"k": "x"}}, "k must be a whole number"),
        ({"frechet": {}}, "no metric is built on it"),
    ],
)
def test_bad_options_of_metrics_of_two_sets(options, said):
    context = {"id": "x", "references": ["a b", "b c"], "candidates": ["a b", "x y"]}
    with pytest.raises(rc.InputError, match=said):
        rc.evaluate_contexts([context], "mmd,density-coverage", options=options, encoder="bag-of-words", resume=False)
