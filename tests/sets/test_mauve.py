"""MAUVE: values from mauve-text 0.4.0, from closed forms and from definitions written out."""

import math
import sys
from itertools import pairwise

import numpy as np
import pytest
import scipy.integrate
from hypothesis import given, settings
from hypothesis import strategies as st

import recapture as rc
from curves import divergence_curve
from recapture.errors import InputError
from recapture.geometry.parallel import engine
from recapture.sets.metrics.mauve import area, frontier_integral

X = np.random.RandomState(0).randn(200, 8)
Y = np.random.RandomState(1).randn(150, 8) * 1.3 + 0.7


def mauve_of(reference, candidate, scaling=5.0, weights=25):
    return float(area(*divergence_curve(np.asarray(reference), np.asarray(candidate), scaling, weights)))


def by_definition(p, q, scaling, weights):
    """Loops over mixtures and bins; the area between the axes and straight lines, triangle by triangle from 0."""

    def divergence(a, r):
        return sum(x * math.log(x / y) for x, y in zip(a, r, strict=True) if x > 0)

    points = [(1.0, 0.0)]
    for number in range(weights):
        w = 1e-6 + number * (1 - 2e-6) / (weights - 1)
        r = [w * x + (1 - w) * y for x, y in zip(p, q, strict=True)]
        points.append((math.exp(-scaling * divergence(q, r)), math.exp(-scaling * divergence(p, r))))
    points.append((0.0, 1.0))
    return sum((a[0] * b[1] - b[0] * a[1]) / 2 for a, b in pairwise(points))


def histograms(seed):
    rng = np.random.default_rng(seed)
    bins = int(rng.integers(2, 60))
    p, q = (rng.dirichlet(np.full(bins, rng.choice([0.3, 1, 5]))) for _ in range(2))
    for each in (p, q):
        each[1:][rng.random(bins - 1) < 0.2] = 0
        each /= each.sum()
    return p, q


def peer():
    pytest.importorskip("faiss", reason="faiss, which mauve-text needs, is not installed")
    return pytest.importorskip("mauve", reason="mauve-text, the peer, is not installed")


def test_worked_pair_of_histograms():
    """mauve-text 0.4.0."""
    assert mauve_of([0.5, 0.3, 0.2, 0], [0.2, 0.3, 0.4, 0.1]) == pytest.approx(0.7323895, abs=5e-8)


@settings(max_examples=60, deadline=None)
@given(seed=st.integers(0, 10_000), scaling=st.sampled_from([1.0, 5.0, 9.5]), weights=st.sampled_from([2, 7, 25]))
def test_histograms_by_definition(seed, scaling, weights):
    p, q = histograms(seed)
    value = mauve_of(p, q, scaling, weights)
    assert value == pytest.approx(by_definition(p.tolist(), q.tolist(), scaling, weights), rel=1e-9)
    assert value == pytest.approx(mauve_of(q, p, scaling, weights), rel=1e-9)


@pytest.mark.slow
def test_mauve_text_agrees_on_histograms():
    peer()
    theirs = sys.modules["mauve.compute_mauve"]
    for seed in range(100):
        p, q = histograms(seed)
        for scaling, weights in ((5.0, 25), (2.0, 40)):
            grid = np.linspace(1e-6, 1 - 1e-6, weights)
            curve = theirs.get_divergence_curve_for_multinomials(p, q, grid, scaling)
            assert mauve_of(p, q, scaling, weights) == pytest.approx(
                theirs.compute_area_under_curve(*curve.T), abs=1e-9
            )
            ours = np.transpose(divergence_curve(p, q, scaling, weights))
            np.testing.assert_allclose(ours, curve if curve[0, 0] == 1 else curve[::-1], atol=1e-9)
        assert frontier_integral(p, q).sum() == pytest.approx(theirs.get_fronter_integral(p, q), abs=1e-7)


@pytest.mark.parametrize("seed", range(8))
def test_frontier_integral_is_the_integral(seed):
    """Liu et al. 2021: 2 x the integral over w of w KL(p | r) + (1 - w) KL(q | r), here by quadrature."""
    p, q = histograms(seed)
    if seed % 2:  # close to each other, where the closed form cancels
        q = p * (1 + 1e-4 * np.cos(np.arange(len(p))))
        q /= q.sum()
    p, q = p[(p > 0) | (q > 0)], q[(p > 0) | (q > 0)]

    def mixed(w):
        r = w * p + (1 - w) * q
        kl_p, kl_q = (np.sum(a * np.log(a / r, out=np.zeros_like(a), where=a > 0)) for a in (p, q))
        return 2 * (w * kl_p + (1 - w) * kl_q)

    expected = scipy.integrate.quad(mixed, 0, 1, epsabs=1e-14, epsrel=1e-12)[0]
    assert frontier_integral(p, q).sum() == pytest.approx(expected, rel=1e-6, abs=1e-13)


def test_histograms_that_never_meet():
    """KL(q | r) = -ln(1 - w) and KL(p | r) = -ln w: the curve is ((1 - w)^c, w^c). c = 1 is a straight line, area 1/2;
    c = 5 and many weights come near 5 B(6, 5) = 1/252. The integral is 1, its largest.
    """
    p, q = np.array([0.25, 0.75, 0, 0]), np.array([0, 0, 0.5, 0.5])
    assert mauve_of(p, q, scaling=1) == pytest.approx(0.5, abs=1e-12)
    assert mauve_of(p, q, scaling=5, weights=4001) == pytest.approx(1 / 252, rel=1e-5)
    assert frontier_integral(p, q).sum() == 1


def test_equal_histograms():
    p = np.random.default_rng(0).dirichlet(np.ones(30))
    assert mauve_of(p, p) == 1 and frontier_integral(p, p).sum() == 0


def test_two_clumps_in_closed_form():
    """Any 2-means finds two far clumps: reference [1/2, 1/2], candidate [1, 0], smoothed by 1/2 a cluster."""
    rng = np.random.default_rng(3)
    ends = np.array([[1.0, 0, 0, 0], [0, 1.0, 0, 0]])
    reference = ends[np.arange(120) % 2] + 0.01 * rng.standard_normal((120, 4))
    candidate = ends[[0] * 100] + 0.01 * rng.standard_normal((100, 4))
    result = rc.mauve(reference, candidate, clusters=2)
    plain, smooth = ([0.5, 0.5], [1.0, 0.0]), ([0.5, 0.5], [100.5 / 101, 0.5 / 101])
    assert result.value == pytest.approx(by_definition(*plain, 5, 25), rel=1e-12)
    assert result.smoothed == pytest.approx(by_definition(*smooth, 5, 25), rel=1e-12)
    for pair, name in ((plain, "frontier_integral"), (smooth, "smoothed_frontier_integral")):
        assert result.details[name] == pytest.approx(frontier_integral(*map(np.array, pair)).sum(), rel=1e-12)
    assert max(result.spread.values()) < 1e-15
    np.testing.assert_allclose(
        np.array([result.candidate_curve, result.reference_curve]), divergence_curve(*map(np.array, plain)), atol=1e-12
    )


def test_smoothing_is_mauve_texts():
    """Its mauve_star, from the histograms it gives out."""
    theirs = peer().compute_mauve(p_features=X, q_features=Y, verbose=False)
    half = theirs.num_buckets / 2
    p, q = ((hist * n + 0.5) / (n + half) for hist, n in ((theirs.p_hist, len(X)), (theirs.q_hist, len(Y))))
    assert mauve_of(p, q) == pytest.approx(theirs.mauve_star, abs=1e-9)
    assert frontier_integral(p, q).sum() == pytest.approx(theirs.frontier_integral_star, abs=1e-7)


def mixture(count, seed, shares):
    """Gaussian clumps in 384 dimensions."""
    shape = np.random.default_rng(5)
    means, scales = shape.standard_normal((30, 384)), shape.uniform(0.3, 1.2, 30)
    rng = np.random.default_rng(seed)
    clump = rng.choice(30, count, p=np.random.default_rng(shares).dirichlet(np.full(30, 2.0)))
    return means[clump] + scales[clump, None] * rng.standard_normal((count, 384))


@pytest.mark.slow
@pytest.mark.parametrize("shares", [9, 10])
def test_mauve_text_agrees_on_whole_sets(shares):
    """Our mean over seeds lies amid what mauve-text gives from seed to seed."""
    compute = peer().compute_mauve
    reference, candidate = mixture(600, 1, 9), mixture(500, 2, shares)
    theirs = [compute(p_features=reference, q_features=candidate, verbose=False, seed=seed) for seed in range(8)]
    ours = rc.mauve(reference, candidate, clusterings=16)
    assert ours.signature["clusters"] == theirs[0].num_buckets == 50
    for name, other in (("value", "mauve"), ("smoothed", "mauve_star"), ("frontier_integral", "frontier_integral")):
        values = [getattr(each, other) for each in theirs]
        assert min(values) < getattr(ours, name) < max(values)


@pytest.mark.parametrize("n, m, expected", [(5, 5, 2), (25, 90, 2), (90, 35, 4), (149, 200, 15)])
def test_number_of_clusters(n, m, expected):
    rng = np.random.default_rng(n)
    reference, candidate = rng.standard_normal((n, 6)), rng.standard_normal((m, 6))
    assert rc.mauve(reference, candidate).signature["clusters"] == expected
    if n > 20:
        theirs = peer().compute_mauve(p_features=reference, q_features=candidate, verbose=False)
        assert theirs.num_buckets == expected


def test_equal_sets():
    result = rc.mauve(X, X)
    assert (result.value, result.smoothed, result.frontier_integral) == (1, 1, 0)


@pytest.mark.parametrize("row", [[1.0, 2, 3], [0.0, 0, 0]])
def test_all_rows_equal(row):
    result = rc.mauve([row] * 7, [row] * 9)
    assert (result.value, result.smoothed, result.frontier_integral) == (1, 1, 0)
    assert any("only 1 different" in warning for warning in result.warnings)


def test_only_directions_count():
    """Rows of any length, from vanishing to huge, and zeros, which have no direction."""
    length = np.random.default_rng(1).choice([1e-160, 1e-3, 3.0, 1e100], (200, 1))
    stretched = X * length
    assert rc.mauve(stretched, Y).value == pytest.approx(rc.mauve(X, Y).value, rel=1e-9)
    one_way = np.arange(1, 60)[:, None] * np.array([[0.1, 0.7, 0.3]])
    assert rc.mauve(one_way[:30], one_way[30:]).value == 1
    with_zeros = rc.mauve(np.vstack([X, np.zeros((5, 8))]), Y)
    assert 0 < with_zeros.value < 1


def test_five_against_five():
    rng = np.random.default_rng(4)
    result = rc.mauve(rng.standard_normal((5, 384)), rng.standard_normal((5, 384)))
    assert 0 < result.value <= 1 and any("only 5 samples" in warning for warning in result.warnings)
    far = rc.mauve(rng.standard_normal((5, 384)) + 9, rng.standard_normal((5, 384)) - 9)
    assert far.value == pytest.approx(mauve_of([1, 0], [0, 1]))


def test_seeds_and_spread():
    first, again, other = rc.mauve(X, Y, seed=1), rc.mauve(X, Y, seed=1), rc.mauve(X, Y, seed=100)
    assert first.to_dict(arrays=True) == again.to_dict(arrays=True)
    assert first.value != other.value
    runs = [rc.mauve(X, Y, clusterings=1, seed=1 + number).value for number in range(8)]
    np.testing.assert_array_equal(first.by_clustering, runs)
    assert first.value == pytest.approx(np.mean(runs)) and first.spread["value"] == pytest.approx(np.std(runs, ddof=1))
    assert rc.mauve(X, Y, clusterings=1).spread["value"] == 0
    assert len(first.candidate_curve) == len(first.reference_curve) == 27


@pytest.mark.slow
def test_threads_change_nothing():
    """More rows than one tile of the clustering has."""
    rng = np.random.default_rng(6)
    reference, candidate = rng.standard_normal((1500, 40)), rng.standard_normal((1400, 40)) + 0.05
    expected = rc.mauve(reference, candidate, clusterings=2).to_dict(arrays=True)
    for options in ({"threads": 1, "tile": 100}, {"threads": 3}):
        with engine(**options):
            assert rc.mauve(reference, candidate, clusterings=2).to_dict(arrays=True) == expected


@pytest.mark.parametrize(
    "parameters, message",
    [
        ({"clusters": 1}, "clusters must be a whole number of at least 2"),
        ({"clusters": 2.5}, "clusters must be"),
        ({"clusterings": 0}, "clusterings must be a whole number of at least 1"),
        ({"weights": 1}, "weights must be a whole number of at least 2"),
        ({"variance": 0}, "variance must be a number above 0 and at most 1"),
        ({"variance": 1.01}, "variance must be"),
        ({"variance": "most"}, "variance must be"),
        ({"scaling": -1}, "scaling must be a number above 0, not -1"),
        ({"scaling": float("nan")}, "scaling must be"),
        ({"scaling": None}, "scaling must be"),
    ],
)
def test_bad_parameters(parameters, message):
    with pytest.raises(InputError, match=message):
        rc.mauve(X, Y, **parameters)


def test_warnings():
    assert any("sizes differ" in warning for warning in rc.mauve(X, Y).warnings)
    few = rc.mauve(X[:3], X[3:6], clusters=20)
    assert any("only 6 different samples for 20 clusters" in warning for warning in few.warnings)
    assert rc.mauve(X, X[::-1] + 0.1).warnings == ()


def test_balanced():
    result = rc.mauve(X, Y, balance=3)
    assert 0 < result.value < 1 and result.signature["balance"]["size"] == 150
    assert result.by_clustering.shape == (8,)
