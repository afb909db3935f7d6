"""Principal components against NumPy's singular values, which the module does not use."""

import math

import numpy as np
import pytest
from scipy.sparse import csr_array

from recapture.geometry.clusters import ClusterRows
from recapture.geometry.principal_plane import principal_plane
from recapture.geometry.sparse_rows import SparseRows


def test_a_plane_that_was_made_by_hand():
    """Corners of a rectangle with sides 6 and 2, turned and moved: along its long side first, +-3 and +-1; the share of
    variance is 9 to 1 (36 of 40 in squares)."""
    corners = np.array([[3, 1], [3, -1], [-3, 1], [-3, -1]], float)
    first, second = np.array([2, 1, 2]) / 3, np.array([1, 2, -2]) / 3  # of length 1, at right angles
    rows = corners[:, :1] * first + corners[:, 1:] * second + [5, -7, 11]
    plane = principal_plane(rows)
    assert np.abs(plane.at) == pytest.approx(np.abs(corners))
    assert plane.shares == pytest.approx([0.9, 0.1])
    # Twice the same corner pulls the middle there; weights do as repeats do.
    weighed, repeated = principal_plane(rows, np.array([2, 1, 1, 1])), principal_plane(rows[[0, 0, 1, 2, 3]])
    assert weighed.at == pytest.approx(repeated.at[1:]) and weighed.shares == pytest.approx(repeated.shares)


@pytest.mark.parametrize("directions", [2, 5])
def test_it_is_that_of_the_singular_values(directions):
    """Of centred rows; word counts by the same rule."""
    rng = np.random.default_rng(3)
    rows = rng.standard_normal((300, 12)) * 0.8 ** np.arange(12)
    counts = rng.poisson(2.0 * 0.7 ** np.arange(30), (200, 30)).astype(np.float32)
    for given, whole in ((rows, rows), (SparseRows(csr_array(counts)), counts.astype(float))):
        plane = principal_plane(given, directions=directions)
        centred = whole - whole.mean(axis=0)
        _, sizes, turn = np.linalg.svd(centred)
        assert np.abs(plane.at) == pytest.approx(np.abs(centred @ turn[:directions].T), abs=2e-2)
        assert plane.shares == pytest.approx(sizes[:directions] ** 2 / (sizes**2).sum(), abs=1e-4)
        np.testing.assert_array_equal(plane.at, principal_plane(given, directions=directions).at)


@pytest.mark.parametrize("shape", [(60, 5), (20, 40), (1, 3), (50, 1)])
def test_rows_that_repeat_count_as_often(shape):
    rng = np.random.default_rng(4)
    values = (rng.standard_normal(shape) * 0.8 ** np.arange(shape[1])).astype(np.float32)
    values = np.concatenate([values, values[: shape[0] // 3]])
    rows = ClusterRows.of(values).centred()
    plane = principal_plane(rows.values, rows.weight).at[rows.inverse]
    centred = values - values.mean(axis=0)
    left, size, _ = np.linalg.svd(centred, full_matrices=False)
    expected = np.zeros((len(values), 2))
    expected[:, : min(2, len(size))] = (left * size)[:, :2]
    for axis in range(2):
        one, other = plane[:, axis], expected[:, axis]
        ratio = np.linalg.norm(one) / max(np.linalg.norm(other), 1e-12)
        if np.linalg.norm(other) > 1e-6:
            power = math.log2(ratio)  # rows were scaled by a power of two
            assert abs(power - round(power)) < 1e-4
            assert abs(one @ other) == pytest.approx(np.linalg.norm(one) * np.linalg.norm(other), rel=1e-4)


def test_rows_that_do_not_differ():
    plane = principal_plane(np.ones((4, 3)))
    assert not plane.at.any() and plane.shares.tolist() == [1, 0]
