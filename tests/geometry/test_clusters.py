"""What clusterings rest on: the order of rows, principal axes, k-means."""

import numpy as np
import pytest
from scipy.spatial.distance import cdist, pdist

from recapture.geometry.clusters import ClusterRows, unit_rows
from recapture.geometry.kmeans import kmeans
from recapture.geometry.parallel import engine


def test_rows_stand_in_an_order_of_their_own():
    rng = np.random.default_rng(0)
    rows = rng.integers(0, 3, (60, 3)).astype(np.float32)
    expected = np.unique(rows, axis=0)
    for order in (np.arange(60), rng.permutation(60)):
        found = ClusterRows.of(rows[order[:20]], rows[order[20:]])
        np.testing.assert_array_equal(found.values, expected)
        np.testing.assert_array_equal(found.values[found.inverse], rows[order])
        np.testing.assert_array_equal(found.weight, np.bincount(found.inverse))


def test_unit_rows():
    rows = np.array([[3.0, 4], [3e150, 4e150], [3e-200, -4e-200], [0, 0]])
    np.testing.assert_allclose(unit_rows(rows), [[0.6, 0.8], [0.6, 0.8], [0.6, -0.8], [0, 0]], rtol=1e-7)


@pytest.mark.parametrize("n, d", [(200, 30), (25, 60), (1300, 12)])
@pytest.mark.parametrize("variance", [0.5, 0.9, 1.0])
def test_principal_axes_are_scikit_learns(n, d, variance):
    """Repeats counted; distances, since axes may point either way."""
    decomposition = pytest.importorskip("sklearn.decomposition", reason="scikit-learn is not installed")
    rng = np.random.default_rng(n)
    rows = (rng.standard_normal((n, d)) * np.linspace(1, 0.1, d) + 0.3).astype(np.float32)
    samples = rows[rng.integers(0, n, 2 * n)]
    pca = decomposition.PCA(svd_solver="full").fit(samples.astype(np.float64))
    kept = int(np.argmax(np.cumsum(pca.explained_variance_ratio_) >= variance - 1e-12)) + 1
    found = ClusterRows.of(samples).principal(variance)
    some = rng.integers(0, 2 * n, 80)
    expected = pca.transform(samples[some].astype(np.float64))[:, :kept]
    if variance < 1:
        assert found.values.shape[1] == kept
    np.testing.assert_allclose(pdist(found.values[found.inverse[some]]), pdist(expected), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", [np.float16, np.float32, np.float64, np.uint8])
def test_centred_rows(kind):
    """The definition in float64, all rows at once; a power of two changes no digit."""
    found = ClusterRows.of((20 * np.random.default_rng(0).random((1300, 5)) + 100).astype(kind))
    whole = found.values.astype(np.float64) - found.values.astype(np.float64).mean(axis=0)
    scale = 2.0 ** -np.ceil(np.log2(np.abs(whole).max()))
    np.testing.assert_array_equal(found.centred().values, (whole * scale).astype(np.float32))


def clumps(count, number, d=6, spread=0.02, seed=0):
    rng = np.random.default_rng(seed)
    centres = rng.standard_normal((number, d))
    return (centres[np.arange(count) % number] + spread * rng.standard_normal((count, d))).astype(np.float32)


@pytest.mark.parametrize("count", [300, 3000])
def test_clumps_are_found(count):
    rows = clumps(count, 6)
    for label in kmeans(rows, np.ones(count), 6, range(3)):
        # One label a clump, and another for each.
        assert len(set(zip(label, np.arange(count) % 6, strict=True))) == 6 == len(set(label))


@pytest.mark.parametrize("count, clusters", [(400, 5), (2500, 60), (2500, 250)])
def test_every_row_is_with_its_nearest_centre(count, clusters):
    """A fixed point of Lloyd's steps, checked with float64 distances; empty clusters have no rows."""
    rng = np.random.default_rng(count)
    rows = rng.standard_normal((count, 10)).astype(np.float32)
    rows = np.concatenate([rows, clumps(count, 9, 10)])
    weight = rng.integers(1, 4, len(rows))
    for label in kmeans(rows, weight, clusters, [0, 7]):
        used = np.unique(label)
        assert len(used) > 0.95 * clusters and label.max() < clusters
        mean = np.array([np.average(rows[label == each], axis=0, weights=weight[label == each]) for each in used])
        apart = cdist(rows.astype(np.float64), mean)
        own = apart[np.arange(len(rows)), np.searchsorted(used, label)]
        # At most the steps' limit may leave a few rows on their way.
        assert np.mean(own <= apart.min(axis=1) + 1e-5) > 0.995


@pytest.mark.slow
@pytest.mark.parametrize("clusters", [8, 40, 150])
def test_as_tight_as_scikit_learns(clusters):
    """Mean inertia over seeds, within 4 % of that of scikit-learn's greedy k-means++."""
    cluster = pytest.importorskip("sklearn.cluster", reason="scikit-learn is not installed")
    rows = np.concatenate([clumps(1200, 20, spread=0.3), clumps(1200, 50, spread=0.1, seed=1)])
    weight = np.random.default_rng(0).integers(1, 3, len(rows)).astype(float)

    def inertia(label):
        parts = [(rows[label == each], weight[label == each]) for each in np.unique(label)]
        return sum(
            float(w @ np.sum((part - np.average(part, axis=0, weights=w)) ** 2, axis=1)) for part, w in parts if len(w)
        )

    ours = np.mean([inertia(label) for label in kmeans(rows, weight, clusters, range(8))])
    peers = [cluster.KMeans(clusters, n_init=1, random_state=seed).fit(rows, sample_weight=weight) for seed in range(8)]
    assert ours < 1.04 * np.mean([each.inertia_ for each in peers])


@pytest.mark.slow
@pytest.mark.parametrize("count", [500, 2500])
def test_threads_tiles_and_company_change_no_label(count):
    rows = np.random.default_rng(1).standard_normal((count, 20)).astype(np.float32)
    expected = kmeans(rows, np.ones(count), 50, range(4))
    for options in ({"threads": 1}, {"threads": 4, "tile": 33}):
        with engine(**options):
            np.testing.assert_array_equal(kmeans(rows, np.ones(count), 50, range(4)), expected)
    np.testing.assert_array_equal(kmeans(rows, np.ones(count), 50, [2]), expected[2:3])


def test_few_rows():
    rows = np.eye(3, dtype=np.float32)
    np.testing.assert_array_equal(kmeans(rows, np.ones(3), 5, [0, 1]), [[0, 1, 2]] * 2)
    np.testing.assert_array_equal(kmeans(rows, np.ones(3), 1, [0]), [[0, 0, 0]])
    # Rows closer than float32 can tell: every row still has a cluster.
    near = (1e-6 * np.arange(50)[:, None] + np.ones((50, 4))).astype(np.float32)
    assert kmeans(near, np.ones(50), 20, [0]).shape == (1, 50)
