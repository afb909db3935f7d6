"""PRD and MAUVE under many labellings: what measuring each relabelled pair by itself gives."""

from itertools import combinations

import numpy as np
import pytest

from curves import divergence_curve
from recapture.geometry import histograms
from recapture.geometry.histograms import Clusterings, Histograms
from recapture.geometry.labels import Labels
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet
from recapture.sets.declaration import METRICS
from recapture.sets.metrics import mauve, prd
from recapture.sets.pair import Pair

EACH = pytest.mark.parametrize("name", ["prd", "mauve"])
PARAMETERS = {
    "prd": {"clusters": 7, "angles": 201, "clusterings": 3, "seed": 2},
    "mauve": {"clusters": None, "variance": 0.9, "scaling": 5.0, "weights": 25, "clusterings": 3, "seed": 2},
}


def pair_of(reference, candidate):
    return Pair(PointSet(reference, "reference"), PointSet(candidate, "candidate"))


def samples(seed, kind):
    rng = np.random.default_rng(seed)
    n, m = (40, 40) if kind == "equal" else (55, 31)
    if kind == "repeats":
        return rng.integers(0, 3, (n, 3)).astype(float), rng.integers(0, 3, (m, 3)) + 0.0
    return rng.standard_normal((n, 5)), rng.standard_normal((m, 5)) + 0.4


def labellings(n, m, count, seed=0, keep=None):
    """The observed labelling and others at random; keep: sizes of subsamples."""
    rng = np.random.default_rng(seed)
    sizes = keep or (n, m)
    reference, candidate = np.zeros((count, n + m), bool), np.zeros((count, n + m), bool)
    for number in range(count):
        order = np.arange(n + m) if number == 0 and keep is None else rng.permutation(n + m)
        reference[number, order[: sizes[0]]] = True
        candidate[number, order[sizes[0] : sum(sizes)]] = True
    return Labels(reference, candidate)


@pytest.mark.slow
@EACH
@pytest.mark.parametrize("kind", ["equal", "unequal", "repeats"])
@pytest.mark.parametrize("seed", [0, 1])
def test_each_labelling_as_if_measured_alone(name, kind, seed):
    """Clusters are those of all samples, in an order of their own: the relabelled pair has the same."""
    metric = METRICS.find(name)
    reference, candidate = samples(seed, kind)
    pooled = np.concatenate([reference, candidate])
    labels = labellings(len(reference), len(candidate), 20, seed)
    found = metric.relabel(pair_of(reference, candidate), **PARAMETERS[name])(labels)
    assert set(found) == {output.name for output in metric.outputs}
    for number in range(len(labels)):
        alone = pair_of(pooled[labels.reference[number]], pooled[labels.candidate[number]])
        expected = metric.measure(alone, **PARAMETERS[name]).values
        assert {output: each[number] for output, each in found.items()} == pytest.approx(dict(expected), abs=1e-12)


@EACH
@pytest.mark.parametrize("kind", ["equal", "unequal", "repeats"])
def test_observed_labelling_to_the_last_digit(name, kind):
    metric = METRICS.find(name)
    reference, candidate = samples(3, kind)
    labels = labellings(len(reference), len(candidate), 50)
    found = metric.relabel(pair_of(reference, candidate), **PARAMETERS[name])(labels)
    expected = metric.measure(pair_of(reference, candidate), **PARAMETERS[name]).values
    assert {output: float(each[0]) for output, each in found.items()} == dict(expected)


@EACH
def test_batches_and_threads_change_no_digit(name, monkeypatch):
    metric = METRICS.find(name)
    reference, candidate = samples(4, "unequal")
    labels = labellings(len(reference), len(candidate), 30)
    relabelled = metric.relabel(pair_of(reference, candidate), **PARAMETERS[name])
    whole = relabelled(labels)
    single = [relabelled(Labels(labels.reference[[i]], labels.candidate[[i]])) for i in range(30)]
    monkeypatch.setattr(histograms, "_ENTRIES", 400)
    with engine(threads=3):
        small_tiles = relabelled(labels)
    for output, values in whole.items():
        np.testing.assert_array_equal(values, [float(each[output][0]) for each in single])
        np.testing.assert_array_equal(values, small_tiles[output])


@EACH
def test_subsamples_keep_the_clusters_of_all(name):
    """Counted one by one over the clusters of all samples, and read off the whole curve."""
    metric, parameters = METRICS.find(name), PARAMETERS[name]
    reference, candidate = samples(5, "unequal")
    pair = pair_of(reference, candidate)
    labels = labellings(len(reference), len(candidate), 12, keep=(21, 15))
    found = metric.relabel(pair, **parameters)(labels)
    module = {"prd": prd, "mauve": mauve}[name]
    clusters = module._prepare(pair, **parameters)[0]
    for number in range(len(labels)):
        scores = []
        for label in clusters.label:
            counts = np.zeros((2, clusters.clusters))
            for sample, cluster in enumerate(label):
                counts[0, cluster] += labels.reference[number, sample]
                counts[1, cluster] += labels.candidate[number, sample]
            if name == "prd":
                curve = prd.prd_curve(counts[0] / 21, counts[1] / 15, parameters["angles"])
                scores.append([prd.f_beta(*curve, 8), prd.f_beta(*curve, 1 / 8)])
            else:
                smooth = (counts + 0.5) / (np.array([[21], [15]]) + clusters.clusters / 2)
                pairs = (counts[0] / 21, counts[1] / 15), (smooth[0], smooth[1])
                scores.append([mauve.area(*divergence_curve(*each)) for each in pairs])
        expected = dict(zip([output.name for output in metric.outputs], np.mean(scores, axis=0), strict=True))
        assert {output: each[number] for output, each in found.items()} == pytest.approx(expected, abs=1e-12)


@EACH
def test_all_partitions_of_a_small_context(name):
    """Mirror images swap as the metric declares."""
    metric = METRICS.find(name)
    rng = np.random.default_rng(6)
    pair = pair_of(rng.standard_normal((4, 20)), rng.standard_normal((4, 20)))
    candidate = np.zeros((70, 8), bool)
    for row, chosen in zip(candidate, combinations(range(8), 4), strict=True):
        row[list(chosen)] = True
    relabelled = metric.relabel(pair, **PARAMETERS[name])
    found, mirrored = relabelled(Labels(~candidate, candidate)), relabelled(Labels(candidate, ~candidate))
    for output, other in metric.swapped.items():
        np.testing.assert_allclose(found[output], mirrored[other], rtol=1e-12)


def test_equal_counts_are_scored_once():
    seen = []

    def score(pairs):
        seen.append(len(pairs.code))
        reference, candidate = pairs.shares(slice(None))
        return {"gap": np.abs(reference - candidate).sum(axis=1)}

    clusterings = Clusterings(np.array([[0, 0, 1, 1], [1, 0, 0, 1]]), 2)
    candidate = np.array([[1, 1, 0, 0], [0, 0, 1, 1], [1, 0, 1, 0], [0, 1, 0, 1]], bool)
    found = clusterings.score(Labels(~candidate, candidate), score)["gap"]
    # By hand: either both candidates share a cluster (gap 2), or each has one of its own (gap 0).
    np.testing.assert_array_equal(found, [[2, 0], [2, 0], [0, 0], [0, 0]])
    assert seen == [2]


@pytest.mark.parametrize("seed", range(5))
def test_prd_looks_at_the_angles_that_matter(seed):
    """The maximum over all angles, among them ties, empty clusters and sets that never meet."""
    rng = np.random.default_rng(seed)
    counts = rng.multinomial(60, rng.dirichlet(np.full(9, 0.4), 40)), rng.multinomial(45, rng.dirichlet(np.ones(9), 40))
    counts[0][:3], counts[1][:3] = [60, *[0] * 8], [0, 45, *[0] * 7]
    code = np.sort(counts[0] * 200 + counts[1], axis=1)
    for angles in (3, 10, 1001):
        found = prd.f_scores(Histograms(code, 200, (60, 45)), angles)
        for row in range(40):
            curve = prd.prd_curve(counts[0][row] / 60, counts[1][row] / 45, angles)
            for output, beta in (("f8", 8), ("f1_8", 1 / 8)):
                assert found[output][row] == pytest.approx(prd.f_beta(*curve, beta), rel=1e-12, abs=1e-15)
