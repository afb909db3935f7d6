"""The margins of the fast products: the true distance lies between the bounds, always."""

import numpy as np
import oracles
import pytest

from recapture.geometry.distinct import distinct_rows
from recapture.geometry.products import BoundedRows, Frame, exact


@pytest.mark.parametrize("dimensions", [1, 7, 384, 3000])
@pytest.mark.parametrize("shift, spread", [(0, 1), (1e4, 1), (-7, 1e-6), (1e12, 1e3), (0, 1e-30)])
@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_true_distance_lies_between_the_bounds(dimensions, shift, spread, dtype):
    rng = np.random.default_rng(1)
    points = shift + spread * rng.standard_normal((40, dimensions))
    rows = BoundedRows.of(points, Frame.of(points), dtype)
    low = -2.0 * (rows.left(slice(None)) @ rows.right.T).astype(np.float64) / rows.unit
    high = low + (rows.margin[:, None] + rows.margin) / rows.unit
    true = oracles.squared_distances(points, points)
    assert (low <= true).all()
    assert (true <= high).all()
    # ... and the bounds are of use: for centred data the gap is a small part of a typical distance.
    assert np.median(high - low) < 0.01 * np.median(true)


def test_small_integers_need_no_margin():
    grid = np.random.default_rng(2).integers(-50, 50, (60, 20))
    rows = BoundedRows.of(grid, Frame.of(grid))
    assert rows.is_exact
    low = -2.0 * (rows.left(slice(None)) @ rows.right.T)
    np.testing.assert_array_equal(low, oracles.squared_distances(grid, grid))


def test_large_integers_keep_their_margin():
    grid = np.random.default_rng(3).integers(0, 10**6, (60, 20))
    assert not BoundedRows.of(grid, Frame.of(grid)).is_exact


def test_integers_just_too_large_to_add_exactly():
    """Squared norms beyond 2^21: sums of halves could pass 2^24, where float32 begins to skip integers."""
    row = np.array([[1448, 1, 0]])  # 1448^2 + 1 = 2^21 - 447, the last that fits
    assert BoundedRows.of(row, Frame(np.zeros(3), 1.0)).is_exact
    assert not BoundedRows.of(np.array([[1449, 1, 0]]), Frame(np.zeros(3), 1.0)).is_exact


@pytest.mark.parametrize("spread", [1, 1e-3])
def test_bounds_hold_between_integers_and_fractions(spread):
    rng = np.random.default_rng(8)
    whole, fractions = rng.integers(-700, 700, (50, 3)), spread * rng.standard_normal((60, 3))
    frame = Frame.of(whole, fractions)
    left = BoundedRows.of(whole, frame, may_be_exact=False)
    right = BoundedRows.of(fractions, frame)
    low = -2.0 * (left.left(slice(None)) @ right.right.T).astype(np.float64)
    true = oracles.squared_distances(whole, fractions)
    assert (low <= true).all() and (true <= low + left.margin[:, None] + right.margin).all()


def test_thresholds_round_outwards():
    """A pair exactly on the threshold must pass: float32 rounding may only lower it."""
    rows = BoundedRows.of(np.eye(3), Frame.of(np.eye(3)))
    squared = np.random.default_rng(4).random(1000)
    assert (rows.near(squared).astype(np.float64) <= -0.5 * rows.unit * squared).all()


def test_exact_distances_of_listed_pairs():
    rng = np.random.default_rng(5)
    a, b = rng.standard_normal((50, 9)), rng.standard_normal((70, 9)).astype(np.float32)
    i, j = rng.integers(0, 50, 1000), rng.integers(0, 70, 1000)
    np.testing.assert_allclose(exact(a, i, b, j), oracles.squared_distances(a, b)[i, j], rtol=1e-14)


def test_distinct_rows_fold_and_unfold():
    rng = np.random.default_rng(6)
    values = rng.integers(0, 2, (200, 4)).astype(np.float32)
    rows = distinct_rows(values)
    np.testing.assert_array_equal(rows.values[rows.inverse], values)
    assert len(rows.values) == len(np.unique(values, axis=0)) == len(rows.weight)
    assert rows.weight.sum() == 200


def test_rows_without_numbers_are_all_the_same():
    rows = distinct_rows(np.empty((3, 0)))
    assert rows.weight.tolist() == [3] and rows.inverse.tolist() == [0, 0, 0]


def test_distinct_rows_survive_hash_collisions(monkeypatch):
    from recapture.geometry import distinct

    monkeypatch.setattr(distinct, "row_hashes", lambda values, dtype=None: np.zeros(len(values), np.uint64))
    values = np.random.default_rng(7).integers(0, 2, (50, 4)).astype(np.float64)
    rows = distinct_rows(values)
    np.testing.assert_array_equal(rows.values[rows.inverse], values)
    assert len(rows.values) == len(np.unique(values, axis=0))
