"""MMD and Fréchet distances on a device, against definitions in many digits and against LAPACK's singular values."""

import math
import warnings
from fractions import Fraction

import mpmath
import numpy as np
import pytest

import recapture as rc
from recapture.geometry import device_gaussians, device_kernels, device_walks, devices, gaussians
from recapture.geometry.distinct import distinct_rows
from recapture.geometry.kernels import cross_row_sums, row_sums
from recapture.geometry.labels import Labels
from recapture.geometry.parallel import engine
from recapture.geometry.points import PointSet
from recapture.sets.declaration import METRICS
from recapture.sets.pair import Pair

torch = pytest.importorskip("torch")


def clouds(n, m, d, seed=0, shift=0.0):
    rng = np.random.default_rng(seed)
    return rng.standard_normal((n, d)), rng.standard_normal((m, d)) + shift


def mmd_by_fractions(a, b, width):
    """Gretton et al. 2012, Eq. 3: squared distances as fractions, kernels in 30 digits, sums exact."""
    with mpmath.workdps(30):
        a, b = ([[Fraction(float(x)) for x in row] for row in side] for side in (a, b))

        def kernel(u, v):
            squared = sum((x - y) ** 2 for x, y in zip(u, v, strict=True))
            exponent = squared / (2 * Fraction(width) ** 2)
            return mpmath.exp(-mpmath.mpf(exponent.numerator) / exponent.denominator)

        def within(rows):
            return sum(kernel(u, v) for i, u in enumerate(rows) for v in rows[:i]) * 2 / (len(rows) * (len(rows) - 1))

        return float(within(a) + within(b) - 2 * sum(kernel(u, v) for u in a for v in b) / (len(a) * len(b)))


SETS = {
    "apart": clouds(25, 20, 3, shift=1.0),
    # About 1e-3: what is left of kernel means near .3 that cancel.
    "of one kind": clouds(40, 40, 2, seed=3),
    "float32": tuple(side.astype(np.float32) for side in clouds(20, 22, 5, seed=4)),
    "whole numbers": tuple(np.rint(3 * side).astype(np.int8) for side in clouds(25, 25, 2, seed=5)),
    "repeats, also across": tuple(np.concatenate([side, np.ones((4, 3))]) for side in clouds(20, 15, 3, seed=6)),
    "far from the origin": tuple(side + 2.0**20 for side in clouds(15, 15, 2, seed=7)),
    "next to each other": (clouds(15, 15, 2, seed=8)[0], clouds(15, 15, 2, seed=8)[0] * (1 + 1e-9)),
}


@pytest.mark.parametrize("name", SETS)
@pytest.mark.parametrize("tile", [8192, 7])
def test_mmd_to_the_last_digits(name, tile, there, monkeypatch):
    """Kernel means are at most 1, so that 1e-15 is what rounding alone may change."""
    monkeypatch.setattr(device_kernels, "_TILE", tile)
    reference, candidate = SETS[name]
    found = rc.mmd(reference, candidate, bandwidth=1.3).value
    assert found == pytest.approx(mmd_by_fractions(reference, candidate, 1.3), rel=1e-9, abs=1e-15)
    with engine(accelerator=None):
        assert found == pytest.approx(rc.mmd(reference, candidate, bandwidth=1.3).value, rel=1e-9, abs=1e-15)


def test_mmd_of_pairs_much_closer_than_others(there):
    """A width of 1e-6 sees nothing but how far two almost equal rows are apart, which no product of rows tells."""
    a, b = clouds(12, 12, 3, seed=11)
    a[6:] = a[:6] + 1e-6 * clouds(6, 6, 3, seed=12)[0]
    b[:4] = a[:4] + 1e-6 * clouds(4, 4, 3, seed=13)[0]
    expected = mmd_by_fractions(a, b, 1e-6)
    assert abs(expected) > 1e-3
    assert rc.mmd(a, b, bandwidth=1e-6).value == pytest.approx(expected, rel=1e-8)


@pytest.mark.parametrize("name", SETS)
def test_bandwidths_are_those_of_the_processor(name, there):
    reference, candidate = SETS[name]
    pooled = np.concatenate(SETS[name]).astype(np.float64)
    distances = [math.dist(u, v) for i, u in enumerate(pooled) for v in pooled[:i]]
    found = rc.mmd(reference, candidate)
    assert found.bandwidth == pytest.approx(np.median(distances) / 2, rel=1e-9)
    with engine(accelerator=None):
        assert found.bandwidth == pytest.approx(rc.mmd(reference, candidate).bandwidth, rel=1e-9)


def test_bandwidth_of_sets_that_repeat_one_text(there):
    """More than half of all pairs are equal: the others decide."""
    reference = np.concatenate([np.zeros((30, 1)), [[1.0], [3.0]]])
    found = rc.mmd(reference, np.zeros((30, 1)))
    assert found.bandwidth == 1.0  # 60 pairs at 1, 60 at 3, one at 2: half of 2
    assert rc.mmd(np.zeros((3, 1)), np.zeros((3, 1))).bandwidth == 1.0


def test_sums_of_rows(there):
    """Every row's own sum, by the definition: what labellings of two systems are made of."""
    values = np.concatenate([clouds(30, 5, 3)[0], clouds(30, 5, 3)[0][:9]])
    rows, others = distinct_rows(values), distinct_rows(clouds(7, 11, 3, seed=2)[1])
    kernel = lambda u, v: math.exp(-(math.dist(u, v) ** 2) / 2 / 0.8**2)  # noqa: E731
    expected = [math.fsum(kernel(u, v) for v in values) - 1 for u in rows.values]
    np.testing.assert_allclose(row_sums(rows, np.zeros(3), 0.8), expected, rtol=1e-13)
    expected = [math.fsum(kernel(u, v) for v in others.values) for u in rows.values]
    np.testing.assert_allclose(cross_row_sums(rows, others, np.zeros(3), 0.8), expected, rtol=1e-13)


@pytest.mark.parametrize("cells", [1, 400, 1 << 27])
@pytest.mark.parametrize("left_out", [0, 6])
def test_strips_of_the_pooled_kernel_change_nothing(cells, left_out, there, monkeypatch):
    """Kept or made anew, a row or all rows at a time, few labellings or all at a time."""
    a, b = SETS["repeats, also across"]
    sides = np.repeat([0, 1, 2], [len(a) - left_out, len(b), left_out])
    rows = np.random.default_rng(5).permuted(np.tile(sides, (9, 1)), axis=1)
    pooled = np.concatenate([a, b])
    monkeypatch.setattr(device_kernels, "_STRIP", cells)
    monkeypatch.setattr(device_kernels, "_HELD", 0 if cells == 400 else 1 << 20)
    pair = Pair(PointSet(a, "reference"), PointSet(b, "candidate"))
    found = METRICS.find("mmd").relabel(pair, bandwidth=1.1, form="unbiased")(Labels(rows == 0, rows == 1))["value"]
    with engine(accelerator=None):
        expected = [rc.mmd(pooled[row == 0], pooled[row == 1], bandwidth=1.1).value for row in rows]
    np.testing.assert_allclose(found, expected, rtol=0, atol=1e-14)


# Sums of singular values


def graded(n, m, least, seed=0):
    rng = np.random.default_rng(seed)
    size = min(n, m)
    left, right = (np.linalg.qr(rng.standard_normal((each, size)))[0] for each in (n, m))
    return left * np.logspace(0, least, size) @ right.T


MATRICES = {
    "random": np.random.default_rng(1).standard_normal((40, 40)),
    "wide": np.random.default_rng(2).standard_normal((10, 60)),
    "tall": np.random.default_rng(3).standard_normal((60, 10)),
    "one number": np.array([[-3.0]]),
    "nothing": np.zeros((4, 6)),
    "of rank 2": np.random.default_rng(4).standard_normal((30, 2)) @ np.random.default_rng(5).standard_normal((2, 25)),
    "of rank 1": np.ones((12, 12)),
    "graded": graded(50, 40, -4),
    "steeply graded": graded(40, 40, -12),
    "beyond all digits": graded(40, 40, -30),
    "huge": 1e100 * graded(20, 20, -6),
    "tiny": 1e-100 * graded(20, 20, -6),
}


@pytest.mark.parametrize("name", MATRICES)
def test_sums_of_singular_values_equal_lapacks(name, there):
    matrix = MATRICES[name]
    norms, sure, nearest = device_gaussians.nuclear_norms(torch.as_tensor(matrix, device=there)[None])
    expected = np.linalg.svd(matrix, compute_uv=False).sum()
    assert bool(sure[0]) and float(norms[0]) == pytest.approx(expected, rel=1e-12)
    assert nearest.shape[1:] == matrix.shape


def test_matrices_of_one_batch_do_not_wait_for_each_other(there):
    """Each takes as many rounds as it needs, and gets its own answer."""
    batch = np.stack([MATRICES["random"], graded(40, 40, -12), np.ones((40, 40)), np.eye(40)])
    norms, sure, _ = device_gaussians.nuclear_norms(torch.as_tensor(batch, device=there))
    expected = np.linalg.svd(batch, compute_uv=False).sum(axis=1)
    assert sure.all()
    np.testing.assert_allclose(norms.cpu().numpy(), expected, rtol=1e-12)


# Two sets


@pytest.mark.parametrize("n, m, d", [(80, 90, 12), (9, 8, 30), (9, 300, 30), (200, 9, 20)])
@pytest.mark.parametrize("cells", [1, 1 << 28])
def test_frechet_of_stretched_sets(n, m, d, cells, there, monkeypatch):
    """By definition: eigenvalues of C C' are squares of what the trace sums, for any ranks."""
    monkeypatch.setattr(device_gaussians, "_CELLS", cells)
    rng = np.random.default_rng(9)
    mixing = rng.standard_normal((d, d))
    a, b = rng.standard_normal((n, d)) @ mixing, 0.7 * rng.standard_normal((m, d)) @ mixing + 0.2
    c, e = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    centred = (a - a.mean(axis=0)) / math.sqrt(n - 1), (b - b.mean(axis=0)) / math.sqrt(m - 1)
    shared = np.linalg.svd(centred[0] @ centred[1].T, compute_uv=False).sum()
    expected = np.sum((a.mean(axis=0) - b.mean(axis=0)) ** 2) + np.trace(c) + np.trace(e) - 2 * shared
    assert rc.frechet(a, b).value == pytest.approx(expected, rel=1e-9)


def test_frechet_of_ill_conditioned_sets(there):
    """Variances from 1 down to 1e-24, which Cholesky factors of covariances do not hold: twice the points are apart by
    the mean's and the covariance's own size.
    """
    points = np.random.default_rng(27).standard_normal((300, 20)) * np.logspace(0, -12, 20)
    expected = np.sum(points.mean(axis=0) ** 2) + np.trace(np.cov(points, rowvar=False))
    assert rc.frechet(points, 2 * points).value == pytest.approx(expected, rel=1e-11)
    assert rc.frechet(points, points).value == pytest.approx(0, abs=1e-12 * expected)


def test_frechet_of_sets_that_are_wide_where_the_other_is_narrow(there):
    """Where one has variance 1e-14 and the other 1, squares of rows lose what their roots are made of."""
    rng = np.random.default_rng(28)
    turned = np.linalg.qr(rng.standard_normal((10, 10)))[0]
    a, b = (rng.standard_normal((300, 10)) * np.logspace(*ends, 10) @ turned for ends in ((0, -7), (-7, 0)))
    left, right = ((side - side.mean(axis=0)) / math.sqrt(299) for side in (a, b))
    shared = np.linalg.svd(np.linalg.qr(left)[1] @ np.linalg.qr(right)[1].T, compute_uv=False).sum()
    gap = np.sum((a.mean(axis=0) - b.mean(axis=0)) ** 2)
    expected = gap + np.sum(left**2) + np.sum(right**2) - 2 * shared
    assert rc.frechet(a, b).value == pytest.approx(expected, rel=1e-12)


def test_frechet_of_singular_sets(there):
    """On a line, 2 v 1 standard deviations, so that (2 - 1)^2 variances are left; all samples equal."""
    along = np.random.default_rng(1).standard_normal(50)
    line = np.outer(along, [3.0, 0, 4.0])
    expected = 25 * (np.var(along, ddof=1) + np.mean(along) ** 2)
    assert rc.frechet(line, 2 * line).value == pytest.approx(expected, rel=1e-12)
    assert rc.frechet(np.ones((9, 3)), np.ones((8, 3))).value == 0


def test_what_is_not_shown_to_be_right_is_left_to_the_processor(there, monkeypatch):
    monkeypatch.setattr(device_gaussians, "_ROUNDS", 0)
    a, b = clouds(60, 70, 8, seed=10, shift=0.3)
    asked = []
    usual = gaussians.root_trace
    monkeypatch.setattr(gaussians, "root_trace", lambda *given: asked.append(1) or usual(*given))
    found = rc.frechet(a, b).value
    with engine(accelerator=None):
        assert found == rc.frechet(a, b).value
    assert len(asked) == 2


# Around it


@pytest.mark.parametrize("metric", [rc.mmd, rc.frechet, rc.mark_evaluate])
def test_samples_stay_as_they_were_given(metric, there):
    a, b = clouds(40, 40, 3)
    copies = a.copy(), b.copy()
    for side in (a, b):
        side.flags.writeable = False
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # torch's, of arrays that must not be written to
        metric(a, b, pvalue=9)
    assert (a == copies[0]).all() and (b == copies[1]).all()


def full(*_, **__):
    raise torch.OutOfMemoryError("CUDA out of memory. Tried to allocate 2.00 GiB.")


def fuller(usual, size, most):
    """`usual`, but for what is larger."""
    return lambda *given: full() if size(*given) > most else usual(*given)


def test_where_memory_is_short_less_is_held_at_once(there, monkeypatch):
    a, b = clouds(150, 150, 3, shift=0.2)
    expected = [metric(a, b, pvalue=9) for metric in (rc.mmd, rc.frechet, rc.mark_evaluate)]
    kernel, gaussian, walks = device_kernels.DevicePooledKernel, device_gaussians.DeviceGaussians, device_walks
    monkeypatch.setattr(device_kernels, "_LEAST_TILE", 1)
    monkeypatch.setattr(device_kernels, "_squared", fuller(device_kernels._squared, lambda a, *_: len(a[0]), 100))
    monkeypatch.setattr(device_kernels, "_LEAST_STRIP", 1)
    monkeypatch.setattr(kernel, "_strip", fuller(kernel._strip, lambda _, rows: rows.stop - rows.start, 40))
    monkeypatch.setattr(device_kernels, "middle_distances_on", lambda *_: (2.0, None))
    monkeypatch.setattr(device_gaussians, "_FEWEST_CELLS", 1)
    monkeypatch.setattr(gaussian, "_side", fuller(gaussian._side, lambda _, rows: len(rows), 2))
    monkeypatch.setattr(walks, "_FEWEST_CELLS", 1)
    monkeypatch.setattr(walks._DeviceWalks, "run", fuller(walks._DeviceWalks.run, lambda _, words, *__: words.stop, 1))
    for metric, usual in zip((rc.mmd, rc.frechet, rc.mark_evaluate), expected, strict=True):
        options = {"bandwidth": usual.bandwidth} if metric is rc.mmd else {}
        found = metric(a, b, pvalue=9, **options)
        assert found.values == pytest.approx(usual.values, rel=1e-12) and found.pvalues == usual.pvalues


@pytest.mark.parametrize("metric", [rc.mmd, rc.frechet, rc.mark_evaluate])
def test_where_memory_never_suffices(metric, monkeypatch):
    a, b = clouds(40, 40, 3, shift=0.2)
    expected = metric(a, b, pvalue=9)
    places = (device_kernels, "_squared"), (device_gaussians, "nuclear_norms"), (device_walks._DeviceWalks, "run")
    for owner, name in places:
        monkeypatch.setattr(owner, name, full)
    with engine(accelerator="cpu"), pytest.raises(rc.InputError, match=r"memory does not suffice .* allocate 2.00 GiB"):
        metric(a, b, pvalue=9)
    # Nobody asked for the device: then the processor does it, to the last digit.
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: True)
    monkeypatch.setattr(devices, "_WORTH", 0)
    monkeypatch.setattr(devices, "_AUTO", "cpu")
    found = metric(a, b, pvalue=9)
    assert found.values == expected.values and found.pvalues == expected.pvalues
    assert all((found.nulls[name] == expected.nulls[name]).all() for name in expected.nulls)


def test_a_device_is_taken_where_it_pays(monkeypatch):
    monkeypatch.setattr(devices, "_cuda_is_there", lambda: True)
    assert gaussians.device_for(10_000, 10_000, 384) is None  # some hundredths of a second
    assert gaussians.device_for(5_000, 5_000, 384, labellings=1000) == "cuda"
    assert gaussians.device_for(1_000, 1_000, 4096) is None
    assert gaussians.device_for(20_000, 20_000, 4096) == "cuda"
    with engine(device="cpu"):
        assert gaussians.device_for(20_000, 20_000, 4096) is None
    with engine(device="cuda"):
        assert gaussians.device_for(5, 5, 2) == "cuda"
