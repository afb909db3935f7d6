"""Nearest-neighbour metrics under many labellings equal the same metrics on sets that were relabelled by hand."""

import numpy as np
import pytest

import recapture as rc
from recapture.errors import InputError
from recapture.geometry import relabelled
from recapture.geometry.labels import Labels
from recapture.geometry.points import PointSet
from recapture.sets import pair as pair_module
from recapture.sets.declaration import METRICS
from recapture.sets.pair import Pair

NAMES = ["mark-evaluate", "precision-recall", "density-coverage"]


def sets(seed=0, n=120, m=90):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, 5)), np.round(1.2 * rng.standard_normal((m, 5)) + 0.3, 1)


def labellings(n, m, kept=1.0, count=70, seed=1):
    """The observed labelling first; then shuffled ones, of this share of both sides."""
    rng = np.random.default_rng(seed)
    observed = np.arange(n + m) < n
    reference, candidate = np.zeros((2, count, n + m), bool)
    for number in range(count):
        order = rng.permutation(n + m)
        reference[number, order[: int(kept * n)]] = True
        candidate[number, order[n : n + int(kept * m)]] = True
    if kept == 1:
        reference[0], candidate[0] = observed, ~observed
    return Labels(reference, candidate)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("k", [1, 2, 5])
@pytest.mark.parametrize("kept", [1.0, 0.5])
def test_equals_the_metric_on_relabelled_sets(name, k, kept):
    reference, candidate = sets()
    pooled = np.concatenate([reference, candidate])
    pair = Pair(PointSet(reference), PointSet(candidate))
    labels = labellings(len(reference), len(candidate), kept)
    found = METRICS.find(name).relabel(pair, k=k)(labels)
    measure = getattr(rc, name.replace("-", "_"))
    for number in (0, 1, 63, 64, 69):
        alone = measure(pooled[labels.reference[number]], pooled[labels.candidate[number]], k=k)
        assert {output: values[number] for output, values in found.items()} == dict(alone.values)
    for output in METRICS.find(name).outputs:
        assert found[output.name].shape == (70,)
        assert found[output.name].dtype == np.float64


def observed(name, reference, candidate, k):
    labels = labellings(len(reference), len(candidate), count=1)
    found = METRICS.find(name).relabel(Pair(PointSet(reference), PointSet(candidate)), k=k)(labels)
    return {output: values.item() for output, values in found.items()}


def test_equal_sets_and_sets_that_never_meet():
    points = np.arange(10.0)[:, None] ** 2
    # Theorem A.3: equal sets of ten at k = 1, every estimate is P.
    assert set(observed("mark-evaluate", points, points, 1).values()) == {1}
    # Nothing recaptured: Petersen is infinite, Schnabel has the floor 1 - 1/k (the arithmetic of Eqs. 3 and 4).
    apart = observed("mark-evaluate", points, points + 1000, 2)
    assert (apart["petersen"], apart["quality"], apart["diversity"]) == (0, 0.5, 0.5)


def test_settled_values():
    """Counted straight from the definitions, outside this library, as in test_values."""
    reference = np.random.RandomState(0).randn(200, 8)
    candidate = np.random.RandomState(1).randn(150, 8) * 1.3 + 0.7
    scores = observed("mark-evaluate", reference, candidate, 1)
    expected = {"petersen": 0.885714, "quality": 0.742991, "diversity": 0.834625, "capture": 0.925714}
    assert scores == pytest.approx(expected, abs=5e-7)
    shares = observed("precision-recall", reference, candidate, 3)
    assert shares == pytest.approx({"precision": 0.42, "recall": 0.91}, abs=1e-12)
    found = observed("density-coverage", reference, candidate, 5)
    assert found == pytest.approx({"density": 0.264, "coverage": 0.45}, abs=1e-12)


def test_all_metrics_share_one_pass(monkeypatch):
    passes = []

    def counted(pooled, labels, ks):
        passes.append(sorted(ks))
        return relabelled.relabelled_counts(pooled, labels, ks)

    monkeypatch.setattr(pair_module, "relabelled_counts", counted)
    reference, candidate = sets()
    pair = Pair(PointSet(reference), PointSet(candidate))
    metrics = [METRICS.find(name) for name in NAMES]
    pair.expect(metric.defaults["k"] for metric in metrics)
    prepared = [metric.relabel(pair, **metric.defaults) for metric in metrics]
    for seed in (1, 2):
        labels = labellings(120, 90, seed=seed)
        for score in prepared:
            score(labels)
    assert passes == [[1, 3, 5], [1, 3, 5]]


def test_types_of_both_sides_may_differ():
    rng = np.random.default_rng(3)
    reference = rng.integers(0, 4, (60, 3)).astype(np.uint8)
    candidate = np.concatenate([rng.integers(0, 4, (30, 3)), rng.integers(0, 4, (30, 3)) + 0.1]).astype(np.float16)
    pair = Pair(PointSet(reference), PointSet(candidate))
    labels = labellings(60, 60)
    found = METRICS.find("precision-recall").relabel(pair, k=3)(labels)
    observed = rc.precision_recall(reference, candidate, k=3)
    assert (found["precision"][0], found["recall"][0]) == (observed.precision, observed.recall)


def test_sizes_too_small_for_k():
    reference, candidate = sets()
    pair = Pair(PointSet(reference, "reference"), PointSet(candidate, "candidate"))
    pair.expect([5])
    labels = labellings(120, 90, kept=0.05)  # 6 references, 4 candidates
    assert pair.counts_under(labels, 3).x.shape == (70,)
    with pytest.raises(InputError, match="k = 5 needs at least 6 samples a side, but candidate has 4"):
        pair.counts_under(labels, 5)
    with pytest.raises(InputError, match="labels are for 150 samples, but there are 210"):
        pair.counts_under(labellings(100, 50), 1)
