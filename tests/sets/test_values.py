"""Each metric's numbers against an outside source: settled values, other packages, closed forms, slow definitions."""

import contextlib
import io
import itertools
import math

import numpy as np
import oracles
import pytest
import scipy.linalg
import scipy.spatial.distance

import recapture as rc
from recapture.sets.metrics.prd import f_beta, prd_curve

X = np.random.RandomState(0).randn(200, 8)
Y = np.random.RandomState(1).randn(150, 8) * 1.3 + 0.7


@pytest.mark.parametrize("k, expected", [(3, (0.42, 0.91, 0.2844444, 0.335)), (5, (0.4666667, 0.96, 0.264, 0.45))])
def test_settled_precision_recall_density_coverage(k, expected):
    both, other = rc.precision_recall(X, Y, k=k), rc.density_coverage(X, Y, k=k)
    assert (both.precision, both.recall, other.density, other.coverage) == pytest.approx(expected, abs=5e-8)


def test_default_neighbourhoods():
    assert rc.mark_evaluate(X, Y).signature["k"] == 1
    assert rc.precision_recall(X, Y).signature["k"] == 3
    assert rc.density_coverage(X, Y).signature["k"] == 5


@pytest.mark.parametrize("k", [1, 3, 5])
def test_prdc_agrees_where_no_point_lies_on_a_sphere(k):
    """prdc 0.2 uses open spheres, ours are closed: on continuous data nobody lies on a boundary."""
    prdc = pytest.importorskip("prdc", reason="prdc, the peer, is not installed")
    with contextlib.redirect_stdout(io.StringIO()):  # it prints
        theirs = prdc.compute_prdc(real_features=X, fake_features=Y, nearest_k=k)
    ours = {**rc.precision_recall(X, Y, k=k).values, **rc.density_coverage(X, Y, k=k).values}
    assert ours == pytest.approx(theirs, abs=1e-12)


def test_prdc_differs_on_ties():
    """On an integer grid open and closed spheres part: ours must be the closed count."""
    rng = np.random.default_rng(2)
    grid, other = rng.integers(0, 4, (80, 3)), rng.integers(0, 4, (80, 3))
    expected = oracles.counts(grid, other, 3)
    assert rc.density_coverage(grid, other, k=3).density == expected["b"] / (3 * 80)
    assert rc.density_coverage(grid, other, k=3).coverage == expected["covered"] / 80


def test_prd_of_two_histograms():
    """Sajjadi et al.'s worked case: candidate [.5, .5], reference [1, 0], 11 angles: .5 and .5 in the middle."""
    precision, recall = prd_curve(np.array([1.0, 0.0]), np.array([0.5, 0.5]), angles=11)
    assert precision[5] == pytest.approx(0.5) and recall[5] == pytest.approx(0.5)
    # Along the curve: precision min(l, .5), recall min(1, .5 / l), in closed form.
    slope = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 11))
    np.testing.assert_allclose(precision, np.minimum(slope, 0.5))
    np.testing.assert_allclose(recall, np.minimum(1, 0.5 / slope))


def test_prd_extremes():
    same = np.array([0.2, 0.3, 0.5])
    precision, recall = prd_curve(same, same)
    assert f_beta(precision, recall, 8) == pytest.approx(1) == f_beta(precision, recall, 1 / 8)
    precision, recall = prd_curve(np.array([1.0, 0]), np.array([0, 1.0]))
    assert f_beta(precision, recall, 8) == 0
    # F_beta of precision 1 and recall 1/2 is (1 + b^2) / 2 / (b^2 + 1/2).
    assert f_beta(np.array([1.0]), np.array([0.5]), 8) == pytest.approx(32.5 / 64.5)


def test_prd_of_two_clumps_in_closed_form():
    """Half of the reference in each of two far clumps, all candidates in one: any 2-means finds the clumps, so
    q = [1/2, 1/2], p = [1, 0], and along the curve precision = min(l / 2, 1), recall = min(1/2, 1 / l).
    """
    rng = np.random.default_rng(3)
    reference = rng.standard_normal((400, 5)) + np.where(np.arange(400) % 2, 1000, 0)[:, None]
    candidate = rng.standard_normal((400, 5))
    result = rc.prd(reference, candidate, clusters=2)
    slope = np.tan(np.linspace(1e-10, np.pi / 2 - 1e-10, 1001))
    precision, recall = np.minimum(slope / 2, 1), np.minimum(0.5, 1 / slope)
    np.testing.assert_allclose(result.precision, precision, atol=1e-12)
    np.testing.assert_allclose(result.recall, recall, atol=1e-12)
    best = {beta: np.max((1 + beta**2) * precision * recall / (beta**2 * precision + recall)) for beta in (8, 1 / 8)}
    assert (result.f8, result.f1_8) == pytest.approx((best[8], best[1 / 8]), abs=1e-12)
    assert max(result.spread.values()) < 1e-15


def test_prd_is_seeded_and_reports_its_spread():
    first, again, other = rc.prd(X, Y, seed=1), rc.prd(X, Y, seed=1), rc.prd(X, Y, seed=100)
    assert first.to_dict(arrays=True) == again.to_dict(arrays=True)
    assert first.f8 != other.f8
    assert 0 < first.spread["f8"] < 0.2
    runs = [rc.prd(X, Y, clusterings=1, seed=1 + number).f8 for number in range(10)]
    assert first.f8 == pytest.approx(np.mean(runs))
    assert first.spread["f8"] == pytest.approx(np.std(runs, ddof=1))
    assert len(first.precision) == len(first.recall) == 1001


def frechet_by_square_root(a, b):
    """The textbook route, with SciPy's general matrix square root."""
    c, d = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    root = scipy.linalg.sqrtm(c @ d)
    gap = a.mean(axis=0) - b.mean(axis=0)
    return float(gap @ gap + np.trace(c) + np.trace(d) - 2 * np.trace(root).real)


@pytest.mark.parametrize("n, m, d", [(200, 150, 8), (60, 90, 40), (500, 400, 64)])
def test_frechet_equals_the_square_root_route(n, m, d):
    rng = np.random.default_rng(4)
    a = rng.standard_normal((n, d)) @ rng.standard_normal((d, d))
    b = rng.standard_normal((m, d)) + 0.3
    assert rc.frechet(a, b).value == pytest.approx(frechet_by_square_root(a, b), rel=1e-8)


def test_frechet_of_diagonal_covariances_in_closed_form():
    """Columns that do not mix: the sum over coordinates of (mean gap)^2 + (s - s')^2, when n < d too.

    Rows +-s_i e_i have mean 0 and covariance diag(2 s_i^2 / (n - 1)).
    """
    d = 30
    s, t = np.linspace(0.1, 2, d), np.linspace(3, 0.5, d)
    a, b = np.vstack([np.diag(s), -np.diag(s)]), np.vstack([np.diag(t), -np.diag(t)]) + 0.25
    scale = 2 / (2 * d - 1)
    expected = d * 0.25**2 + scale * np.sum((s - t) ** 2)
    assert rc.frechet(a, b).value == pytest.approx(expected, rel=1e-12)
    wide = 100
    a, b = (np.hstack([points, np.zeros((2 * d, wide))]) for points in (a, b))
    assert rc.frechet(a, b).value == pytest.approx(expected, rel=1e-12)


def test_frechet_of_shifted_copies():
    """Equal covariances: only the means count. 2048 dimensions, shift 1: exactly 2048."""
    points = np.random.default_rng(5).standard_normal((100, 2048))
    assert rc.frechet(points, points + 1).value == pytest.approx(2048, rel=1e-9)
    assert rc.frechet(points, points).value == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize("d", [3, 50, 400])
def test_frechet_is_never_negative_and_always_real(d):
    rng = np.random.default_rng(6)
    for rank in (1, 2, d):
        a = rng.standard_normal((60, rank)) @ rng.standard_normal((rank, d))
        for b in (a, a.copy()[::-1], a + 1e-9, np.zeros((5, d))):
            value = rc.frechet(a, b).value
            assert isinstance(value, float) and value >= 0


@pytest.mark.parametrize("scale", [1e-120, 1e-70, 1e75, 1e140])
def test_frechet_of_very_large_and_small_numbers(scale):
    """A squared length: it grows with the square of the data."""
    assert rc.frechet(scale * X, scale * Y).value == pytest.approx(scale**2 * rc.frechet(X, Y).value, rel=1e-9)


def test_frechet_keeps_its_digits_on_ill_conditioned_data():
    """Variances from 1 down to 1e-24: the fast route must hand over to the careful one."""
    rng = np.random.default_rng(7)
    scales = np.logspace(0, -12, 20)
    points = rng.standard_normal((300, 20)) * scales
    assert rc.frechet(points, points).value == pytest.approx(0, abs=1e-12)
    assert rc.frechet(points, 2 * points).value == pytest.approx(
        np.sum(points.mean(axis=0) ** 2) + np.trace(np.cov(points, rowvar=False)), rel=1e-9
    )


def mmd_by_definition(a, b, s):
    """Python loops over all pairs."""
    kernel = lambda u, v: np.exp(-np.sum((u - v) ** 2) / (2 * s**2))  # noqa: E731
    n, m = len(a), len(b)
    within_a = sum(kernel(a[i], a[j]) for i in range(n) for j in range(n) if i != j)
    within_b = sum(kernel(b[i], b[j]) for i in range(m) for j in range(m) if i != j)
    across = 2 * sum(kernel(u, v) for u in a for v in b) / (n * m)
    return within_a / (n * (n - 1)) + within_b / (m * (m - 1)) - across, (within_a + n) / n**2 + (
        within_b + m
    ) / m**2 - across


def test_mmd_equals_its_definition():
    a, b = X[:30], Y[:25]
    for width in (0.5, 3.0):
        result = rc.mmd(a, b, bandwidth=width)
        unbiased, biased = mmd_by_definition(a, b, width)
        assert result.value == pytest.approx(unbiased, rel=1e-10)
        assert result.biased == pytest.approx(biased, rel=1e-10)


def test_mmd_default_bandwidth_is_half_the_median_distance():
    expected = np.median(scipy.spatial.distance.pdist(np.vstack([X, Y]))) / 2
    assert rc.mmd(X, Y).bandwidth == pytest.approx(expected, rel=1e-12)
    assert "half the median" in rc.mmd(X, Y).signature["bandwidth_rule"]


def test_mmd_of_degenerate_sets():
    assert rc.mmd(np.ones((5, 3)), np.ones((4, 3))).value == 0
    mostly = np.vstack([np.zeros((30, 2)), np.eye(2)])
    distances = scipy.spatial.distance.pdist(np.vstack([mostly, mostly]))
    result = rc.mmd(mostly, mostly)
    assert result.bandwidth == pytest.approx(np.median(distances[distances > 0]) / 2)
    assert "non-zero" in result.signature["bandwidth_rule"]
    assert result.biased == pytest.approx(0, abs=1e-12)


@pytest.mark.slow
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_mmd_with_many_copies_of_one_row(dtype):
    """Their distances are 0, not the rounding error of a product: the median of the others counts."""
    rng = np.random.default_rng(9)
    points = rng.standard_normal((40, 100)).astype(dtype)
    points /= np.linalg.norm(points, axis=1, keepdims=True)
    copies = np.repeat(points[:1], 200, axis=0)
    distances = scipy.spatial.distance.pdist(np.vstack([points, copies]).astype(np.float64))
    result = rc.mmd(points, copies)
    assert result.bandwidth == pytest.approx(np.median(distances[distances > 0]) / 2, rel=1e-6)
    assert result.value == pytest.approx(mmd_by_definition(*map(np.float64, (points, copies)), result.bandwidth)[0])


def test_mmd_of_sets_far_apart():
    a = np.random.default_rng(10).standard_normal((30, 3))
    b = np.random.default_rng(11).standard_normal((25, 3)) + 1e8
    assert rc.mmd(a, b, bandwidth=1).value == pytest.approx(mmd_by_definition(a, b, 1)[0], rel=1e-6)


def test_mmd_of_a_very_narrow_kernel_sees_only_equal_rows():
    assert rc.mmd(X[:20], Y[:20], bandwidth=1e-200).value == 0
    same = rc.mmd(X[:20], X[:20], bandwidth=1e-200)
    assert same.biased == pytest.approx(0, abs=1e-15) and same.value == pytest.approx(-2 / 20)


@pytest.mark.slow
def test_mmd_names_the_subsample_behind_its_bandwidth():
    rng = np.random.default_rng(8)
    result = rc.mmd(rng.standard_normal((3000, 2)), rng.standard_normal((2500, 2)))
    assert "5000 rows" in result.signature["bandwidth_rule"]


def test_mmd_of_one_distribution_is_around_zero():
    """Unbiased: over seeds its mean is 0 within three standard errors."""
    values = []
    for seed in range(30):
        rng = np.random.default_rng(seed)
        values.append(rc.mmd(rng.standard_normal((40, 3)), rng.standard_normal((50, 3)), bandwidth=1.0).value)
    assert abs(np.mean(values)) < 3 * np.std(values, ddof=1) / np.sqrt(30)
    assert min(values) < 0


def test_mmd_as_equation_6_prints_it():
    """The three double sums of Chan et al. (2022), Eq. 6, term by term: no means, no factor -2, diagonals included."""

    def kernel(u, v):
        return math.exp(-sum((x - y) ** 2 for x, y in zip(u, v, strict=True)) / (2 * 1.5**2))

    c, r = X[:7].tolist(), Y[:5].tolist()
    by_hand = sum(kernel(a, b) for a in c for b in c) + sum(kernel(a, b) for a in r for b in r)
    by_hand += sum(kernel(a, b) for a in c for b in r)
    result = rc.mmd(r, c, bandwidth=1.5, form="printed")
    assert result.value == pytest.approx(by_hand, rel=1e-12)
    assert result.signature["form"] == "printed" and result.range == (0.0, math.inf)
    assert result.biased == rc.mmd(r, c, bandwidth=1.5).biased
    # Why it is not the default: sets that are one repeated sample reach the largest value, n^2 + m^2 + nm.
    assert rc.mmd(np.ones((5, 3)), np.ones((4, 3)), form="printed").value == 25 + 16 + 20
    assert rc.mmd(r, c).signature["form"] == "unbiased" and rc.mmd(r, c).range == (-1.0, 2.0)


def test_mmd_as_printed_is_a_constant_less_the_sum_across_under_relabelling():
    """All kernels together do not depend on labels: with sides of one size both forms rank labellings alike."""
    printed, usual = (rc.mmd(X[:6], Y[:6], bandwidth=2.0, form=form, pvalue=True) for form in ("printed", "unbiased"))
    assert printed.pvalue == usual.pvalue
    order = np.argsort(usual.nulls["value"])
    assert (np.diff(printed.nulls["value"][order]) >= -1e-9).all()
    uneven = rc.mmd(X[:6], Y[:4], bandwidth=2.0, form="printed", pvalue=True)
    gaps = scipy.spatial.distance.cdist(np.vstack([X[:6], Y[:4]]), np.vstack([X[:6], Y[:4]]), "sqeuclidean")
    kernel = np.exp(-gaps / 8)
    across = [
        kernel[np.ix_([i for i in range(10) if i not in chosen], chosen)].sum()
        for chosen in itertools.combinations(range(10), 4)
    ]
    assert uneven.pvalue == np.mean(np.array(across) <= kernel[:6, 6:].sum() + 1e-9)


def test_mmd_as_printed_has_no_interval():
    """Sums of half-samples are about a quarter of the whole sets': their spread says nothing."""
    result = rc.mmd(X, Y, form="printed", interval=0.9)
    assert not result.intervals and any("half-samples" in warning for warning in result.warnings)


@pytest.mark.parametrize("form", ["prined", None, 3, ["printed"]])
def test_mmd_of_an_unknown_form(form):
    with pytest.raises(rc.InputError, match="unknown form of MMD"):
        rc.mmd(X[:5], Y[:5], form=form)
