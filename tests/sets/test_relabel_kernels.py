"""MMD and Fréchet distance under many labellings, against sets that were really relabelled and against definitions."""

import itertools
import tracemalloc

import mpmath
import numpy as np
import pytest
import scipy.linalg

import recapture as rc
from recapture.geometry import pooled_gaussians, pooled_kernel
from recapture.geometry.labels import Labels
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet
from recapture.sets.declaration import METRICS
from recapture.sets.pair import Pair


def relabelled(name, reference, candidate, labels, **parameters):
    metric = METRICS.find(name)
    pair = Pair(PointSet(reference, "reference"), PointSet(candidate, "candidate"))
    found = metric.relabel(pair, **{**metric.defaults, **parameters})(labels)
    assert list(found) == ["value"]
    assert found["value"].shape == (len(labels),) and found["value"].dtype == np.float64
    return found["value"]


def every_partition(n, m):
    chosen = list(itertools.combinations(range(n + m), m))
    candidate = np.zeros((len(chosen), n + m), bool)
    for row, columns in zip(candidate, chosen, strict=True):
        row[list(columns)] = True
    return Labels(~candidate, candidate)


def observed(n, m):
    candidate = (np.arange(n + m) >= n)[None]
    return Labels(~candidate, candidate)


def drawn(n, m, labellings, seed, left_out=0):
    """The observed labelling where nobody is left out, and others; what is left out comes from either side."""
    sides = np.repeat([0, 1, 2], [n, m, left_out])
    rows = np.random.default_rng(seed).permuted(np.tile(sides, (labellings, 1)), axis=1)
    if not left_out:
        rows[0] = sides
    return Labels(rows == 0, rows == 1)


def one_by_one(labels, pooled, function):
    """`function` of the two sets of every labelling, really taken apart, here."""
    sides = zip(labels.reference, labels.candidate, strict=True)
    with engine(accelerator=None):
        return np.array([function(pooled[reference], pooled[candidate]) for reference, candidate in sides])


def cloud(n, m, d, seed, shift=0.4):
    rng = np.random.default_rng(seed)
    mixing = rng.standard_normal((d, d))
    return rng.standard_normal((n, d)) @ mixing, rng.standard_normal((m, d)) @ mixing * 0.8 + shift


def mmd_by_loops(a, b, s):
    """Gretton et al. 2012, Eq. 3, pair by pair."""
    kernel = lambda u, v: np.exp(-sum((x - y) ** 2 for x, y in zip(u, v, strict=True)) / (2 * s * s))  # noqa: E731
    within = [
        np.mean([kernel(rows[i], rows[j]) for i in range(len(rows)) for j in range(len(rows)) if i != j])
        for rows in (a, b)
    ]
    return within[0] + within[1] - 2 * np.mean([kernel(u, v) for u in a for v in b])


def frechet_by_square_root(a, b):
    """Heusel et al. 2017, Eq. 6, with SciPy's general matrix square root; for covariances of full rank."""
    c, d = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    gap = a.mean(axis=0) - b.mean(axis=0)
    return float(gap @ gap + np.trace(c + d) - 2 * np.trace(scipy.linalg.sqrtm(c @ d)).real)


def frechet_in_many_digits(a, b):
    """The same in 50 digits, for any rank: with C = H H' from eigenvectors, the trace is that of (H'C'H)^1/2.

    Rounding of eigenvalues that should be 0 leaves roots of about 1e-25.
    """
    with mpmath.workdps(50):
        mean, covariance = [], []
        for rows in (a, b):
            table = mpmath.matrix([[mpmath.mpf(float(x)) for x in row] for row in rows])
            centre = [sum(table[i, j] for i in range(table.rows)) / table.rows for j in range(table.cols)]
            for i, j in itertools.product(range(table.rows), range(table.cols)):
                table[i, j] -= centre[j]
            mean.append(centre)
            covariance.append(table.T * table / (table.rows - 1))
        root = lambda x: mpmath.sqrt(x) if x > 0 else mpmath.mpf(0)  # noqa: E731
        values, vectors = mpmath.eigsy(covariance[0])
        half = vectors * mpmath.diag([root(w) for w in values])
        shared = sum(root(w) for w in mpmath.eigsy(half.T * covariance[1] * half, eigvals_only=True))
        traces = sum(covariance[side][j, j] for side in (0, 1) for j in range(covariance[0].rows))
        gap = sum((x - y) ** 2 for x, y in zip(*mean, strict=True))
        return float(gap + traces - 2 * shared)


SHAPES = [(2, 2, 3), (5, 5, 8), (12, 7, 40), (3, 30, 2), (150, 140, 6)]


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("n, m, d", SHAPES)
@pytest.mark.parametrize("left_out", [0, 3])
def test_mmd_of_sets_really_relabelled(n, m, d, left_out):
    a, b = cloud(n + left_out, m, d, seed=1)
    width = rc.mmd(a, b).bandwidth
    labels = drawn(n, m, 20, seed=2, left_out=left_out)
    expected = one_by_one(labels, np.vstack([a, b]), lambda r, c: rc.mmd(r, c, bandwidth=width).value)
    np.testing.assert_allclose(relabelled("mmd", a, b, labels), expected, rtol=0, atol=1e-13)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("n, m, left_out", [(4, 4, 0), (5, 3, 0), (3, 5, 0), (4, 3, 2)])
def test_mmd_of_all_partitions_by_its_definition(n, m, left_out):
    """Also with repeated texts."""
    a, b = cloud(n + left_out, m, 5, seed=3)
    b[0] = a[0]
    a[1] = a[0]
    labels = drawn(n, m, 70, seed=4, left_out=left_out) if left_out else every_partition(n, m)
    expected = one_by_one(labels, np.vstack([a, b]), lambda r, c: mmd_by_loops(r, c, 2.5))
    np.testing.assert_allclose(relabelled("mmd", a, b, labels, bandwidth=2.5), expected, rtol=0, atol=1e-13)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("name", ["mmd", "frechet"])
@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64, np.int8, np.uint8])
def test_the_observed_labelling_has_the_measured_value(name, dtype):
    rng = np.random.default_rng(5)
    a, b = (np.abs(rng.standard_normal((count, 20)) * 20).astype(dtype) for count in (60, 45))
    value = getattr(rc, name)(a, b).value
    assert relabelled(name, a, b, observed(60, 45))[0] == pytest.approx(value, rel=1e-12, abs=1e-13)


@pytest.mark.slow
def test_mmd_keeps_the_observed_bandwidth_where_a_subsample_decides_it():
    """Over 5,000 pooled rows the median comes from a subsample, which relabelled sets would draw differently."""
    rng = np.random.default_rng(6)
    a, b = rng.standard_normal((3000, 2)), rng.standard_normal((2500, 2)) * 2
    labels = drawn(3000, 2500, 2, seed=7)
    width = rc.mmd(a, b).bandwidth
    pooled = np.vstack([a, b])
    expected = one_by_one(labels, pooled, lambda r, c: rc.mmd(r, c, bandwidth=width).value)
    own = one_by_one(labels, pooled, lambda r, c: rc.mmd(r, c).bandwidth)
    assert own[0] == width and width not in own[1:]
    np.testing.assert_allclose(relabelled("mmd", a, b, labels), expected, rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize("tile, threads", [(7, 1), (50, 3), (960, 2)])
@pytest.mark.parametrize("held", [0, 2**28])
@pytest.mark.parametrize("left_out", [0, 15])
def test_mmd_does_not_depend_on_tiles_or_on_what_is_held(monkeypatch, tile, threads, held, left_out):
    a, b = cloud(80, 70, 4, seed=8)
    b[:20] = a[:20]  # folded rows cross every border
    labels = drawn(80 - left_out, 70, 33, seed=9, left_out=left_out)
    plain = relabelled("mmd", a, b, labels)
    monkeypatch.setattr(pooled_kernel, "_HELD", held)
    monkeypatch.setattr(pooled_kernel, "_CELLS", 250)
    monkeypatch.setattr(pooled_kernel, "_PARTIAL", 500)
    with engine(tile=tile, threads=threads):
        np.testing.assert_allclose(relabelled("mmd", a, b, labels), plain, rtol=0, atol=1e-14)


def test_mmd_never_holds_a_large_kernel(monkeypatch):
    """3,000 pooled rows: half their kernel matrix alone would be 36 MB."""
    monkeypatch.setattr(pooled_kernel, "_HELD", 2**20)
    a, b = cloud(1500, 1500, 3, seed=10)
    labels = drawn(1500, 1500, 50, seed=11)
    with engine(tile=200, threads=2):
        relabelled("mmd", a[:10], b[:10], drawn(10, 10, 2, seed=0))  # libraries load
        tracemalloc.start()
        relabelled("mmd", a, b, labels, bandwidth=3.0)
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
    assert peak < 10e6


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("name", ["mmd", "frechet"])
@pytest.mark.parametrize("n, m, d", [(4, 5, 6), (60, 50, 3)])
def test_equal_samples_are_at_distance_0_from_each_other(name, n, m, d):
    row = np.full((1, d), 0.1) * np.arange(1, d + 1)
    a, b = np.repeat(row, n, axis=0), np.repeat(row, m, axis=0)
    np.testing.assert_array_equal(relabelled(name, a, b, drawn(n, m, 15, seed=12)), np.zeros(15))


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("name", ["mmd", "frechet"])
@pytest.mark.parametrize("n, d", [(5, 50), (5, 2), (60, 4)])
def test_partitions_equal_by_theory_have_equal_values(name, n, d):
    """Equal texts change places, or the two sides do: differences stay a thousandth of the 1e-9 that tests allow."""
    a, b = cloud(n, n, d, seed=13)
    a[1], b[2] = a[0], a[0]  # samples 0, 1 and n + 2 are one text
    labels = every_partition(n, n) if n == 5 else drawn(n, n, 50, seed=14)
    values = relabelled(name, a, b, labels)
    scale = 1 if name == "mmd" else np.trace(np.cov(np.vstack([a, b]), rowvar=False))
    changed = np.arange(2 * n)
    changed[[0, 1, n + 2]] = n + 2, 0, 1
    again = relabelled(name, a, b, Labels(labels.reference[:, changed], labels.candidate[:, changed]))
    mirrored = relabelled(name, a, b, Labels(labels.candidate, labels.reference))
    assert np.ptp(values) > 1e-3 * scale
    np.testing.assert_allclose(again, values, rtol=0, atol=1e-12 * scale)
    np.testing.assert_allclose(mirrored, values, rtol=0, atol=1e-12 * scale)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("shift, digits", [(5e3, 1e-12), (1e8, 1e-6)])
def test_mmd_of_sets_far_apart(shift, digits):
    """Distances within a set keep the digits that the data have, far as the other set may be."""
    a = np.random.default_rng(15).standard_normal((12, 3))
    b = np.random.default_rng(16).standard_normal((9, 3)) + shift
    value = relabelled("mmd", a, b, observed(12, 9), bandwidth=1.0)[0]
    assert value == pytest.approx(mmd_by_loops(a, b, 1.0), rel=digits)


@pytest.mark.usefixtures("anywhere")
def test_mmd_of_a_very_narrow_kernel():
    a = np.random.default_rng(15).standard_normal((12, 3))
    # Only equal rows see each other: 12 pairs across, none within.
    assert relabelled("mmd", a, a, observed(12, 12), bandwidth=1e-200)[0] == pytest.approx(-2 / 12, rel=1e-15)


# One shape for each way of computing: many small Gram blocks (fewer and more samples than dimensions), eigenvalues of
# large blocks, covariances of both sides, of the larger side alone.
ROUTES = {
    "small blocks": (6, 4, 30),
    "small blocks, few dimensions": (9, 9, 2),
    "small against large": (5, 70, 200),
    "large blocks": (60, 55, 130),
    "covariances": (70, 90, 6),
    "one covariance": (8, 300, 20),
    "one covariance, larger": (45, 300, 60),
}


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("n, m, d", ROUTES.values(), ids=ROUTES)
@pytest.mark.parametrize("left_out", [0, 5])
def test_frechet_of_sets_really_relabelled(n, m, d, left_out):
    a, b = cloud(n + left_out, m, d, seed=20)
    labels = drawn(n, m, 12, seed=21, left_out=left_out)
    expected = one_by_one(labels, np.vstack([a, b]), lambda r, c: rc.frechet(r, c).value)
    np.testing.assert_allclose(relabelled("frechet", a, b, labels), expected, rtol=1e-10)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("n, m, d", [(9, 9, 2), (8, 12, 5), (60, 80, 6), (300, 45, 30)])
@pytest.mark.parametrize("left_out", [0, 4])
def test_frechet_equals_the_square_root_route(n, m, d, left_out):
    a, b = cloud(n + left_out, m, d, seed=22)
    labels = drawn(n, m, 10, seed=23, left_out=left_out)
    expected = one_by_one(labels, np.vstack([a, b]), frechet_by_square_root)
    np.testing.assert_allclose(relabelled("frechet", a, b, labels), expected, rtol=1e-8)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.slow
@pytest.mark.parametrize("n, m, d", [(4, 4, 6), (5, 3, 7), (2, 2, 3), (3, 4, 2)])
def test_frechet_of_repeated_texts_in_many_digits(n, m, d):
    """Covariances of low rank, where matrix square roots and eigenvalues of products lose their digits."""
    a, b = cloud(n, m, d, seed=24)
    a[-1] = a[0]
    b[-1] = a[0] if m > 2 else b[0]
    labels = every_partition(n, m)
    labels = Labels(labels.reference[::3], labels.candidate[::3])
    expected = one_by_one(labels, np.vstack([a, b]), frechet_in_many_digits)
    # {x, y} against {x, y} is at 0: digits count relative to the other partitions.
    np.testing.assert_allclose(relabelled("frechet", a, b, labels), expected, rtol=1e-12, atol=1e-14 * expected.max())


@pytest.mark.usefixtures("anywhere")
def test_frechet_of_singular_covariances_in_many_digits():
    """More samples than dimensions, but on a line, a plane, or copies of one point: the fast route must hand over."""
    rng = np.random.default_rng(25)
    space = rng.standard_normal((60, 3))
    line = np.outer(rng.standard_normal(50), [1.0, 2.0, -1.0])
    point = np.repeat([[1.0, 1.0, 0.5]], 45, axis=0)
    for a, b in ((space, line), (line, space), (line, point), (point, space)):
        labels = drawn(len(a), len(b), 2, seed=26)
        expected = one_by_one(labels, np.vstack([a, b]), frechet_in_many_digits)
        np.testing.assert_allclose(relabelled("frechet", a, b, labels), expected, rtol=1e-11)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("n", [15, 300])
def test_frechet_keeps_its_digits_on_ill_conditioned_data(n):
    """Variances from 1 down to 1e-24. Twice the points: (2 - 1)^2 of the covariance, and of the mean."""
    points = np.random.default_rng(27).standard_normal((n, 20)) * np.logspace(0, -12, 20)
    expected = np.sum(points.mean(axis=0) ** 2) + np.trace(np.cov(points, rowvar=False))
    assert relabelled("frechet", points, 2 * points, observed(n, n))[0] == pytest.approx(expected, rel=1e-11)
    assert relabelled("frechet", points, points, observed(n, n))[0] == pytest.approx(0, abs=1e-12 * expected)


@pytest.mark.parametrize("repeated, tried", [(True, 1), (False, 31)])
def test_eigenvalues_that_lose_digits_are_not_made_for_every_labelling(monkeypatch, repeated, tried):
    """Texts that stand twice make blocks singular: what the first labelling cannot use, none of the others is given."""
    a, b = cloud(50, 50, 120, 3)
    if repeated:
        a[25:] = a[:25]
    labels = drawn(50, 50, 30, 4)
    calls = []
    usual = pooled_gaussians.root_trace
    monkeypatch.setattr(pooled_gaussians, "root_trace", lambda *given: calls.append(1) or usual(*given))
    found = relabelled("frechet", a, b, labels)
    assert len(calls) == tried
    np.testing.assert_allclose(found, one_by_one(labels, np.vstack([a, b]), frechet_by_square_root), rtol=1e-6)


def test_frechet_does_not_depend_on_the_route(monkeypatch):
    a, b = cloud(50, 48, 30, seed=28)
    labels = drawn(50, 48, 9, seed=29)
    by_covariances = relabelled("frechet", a, b, labels)
    with engine(threads=1):
        np.testing.assert_array_equal(relabelled("frechet", a, b, labels), by_covariances)
    monkeypatch.setattr(pooled_gaussians, "_SMALL", 60)
    by_blocks = relabelled("frechet", a, b, labels)
    monkeypatch.setattr(pooled_gaussians, "_KEPT", 0)
    monkeypatch.setattr(pooled_gaussians, "_CELLS", 3 * 50 * 48)
    in_tiles = relabelled("frechet", a, b, labels)
    for values in (by_blocks, in_tiles):
        np.testing.assert_allclose(values, by_covariances, rtol=1e-12)


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("scale", [1e-120, 1e-70, 1e75, 1e140])
@pytest.mark.parametrize("n", [6, 60])
def test_frechet_of_very_large_and_small_numbers(scale, n):
    """A squared length: it grows with the square of the data."""
    a, b = cloud(n, n, 5, seed=30)
    labels = drawn(n, n, 4, seed=31)
    plain = relabelled("frechet", a, b, labels)
    np.testing.assert_allclose(relabelled("frechet", scale * a, scale * b, labels), scale**2 * plain, rtol=1e-9)


@pytest.mark.usefixtures("anywhere")
def test_frechet_far_from_the_origin():
    """A common shift changes nothing; of 1e6 in numbers around 1 it costs six digits of the data themselves."""
    a, b = cloud(7, 9, 12, seed=32)
    labels = drawn(7, 9, 10, seed=33)
    np.testing.assert_allclose(
        relabelled("frechet", a + 1e6, b + 1e6, labels), relabelled("frechet", a, b, labels), rtol=1e-8
    )


@pytest.mark.usefixtures("anywhere")
@pytest.mark.parametrize("repeats", [False, True])
@pytest.mark.parametrize("fixed", ["reference", "candidate"])
def test_one_side_the_same_in_all_labellings(fixed, repeats):
    """As where the samples of two systems change sides and people's stay: against pair-by-pair sums."""
    reference, candidate = cloud(9, 14, 3, 21)
    if repeats:
        reference[3], candidate[[2, 5]] = candidate[0], candidate[1]
    few = drawn(0, 7, 12, 5, left_out=7).candidate if fixed == "reference" else drawn(0, 4, 12, 5, left_out=5).candidate
    rows = np.zeros((2, 12, 23), bool)
    rows[0, :, :9] = True if fixed == "reference" else few
    rows[1, :, 9:] = few if fixed == "reference" else True
    labels = Labels(*rows)
    found = relabelled("mmd", reference, candidate, labels, bandwidth=1.3)
    expected = one_by_one(labels, np.concatenate([reference, candidate]), lambda a, b: mmd_by_loops(a, b, 1.3))
    assert found == pytest.approx(expected, rel=1e-9, abs=1e-12)
