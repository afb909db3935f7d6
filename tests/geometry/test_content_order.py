"""The order of content: the same list of rows, or the same matrix, from any order of the samples."""

import itertools
import time

import numpy as np
import pytest

from recapture.geometry.content_order import content_order, content_ranks, square_order
from recapture.geometry.parallel import engine

KINDS = {
    "normal": lambda rng: rng.standard_normal((60, 5)),
    "repeats": lambda rng: rng.standard_normal((7, 5))[rng.integers(0, 7, 60)],
    "grid": lambda rng: rng.integers(0, 2, (60, 4)),
    "bytes": lambda rng: rng.integers(0, 255, (60, 3)).astype(np.uint8),
    "half": lambda rng: rng.standard_normal((60, 3)).astype(np.float16),
    "wide": lambda rng: rng.poisson(0.02, (60, 900)).astype(np.float32),
    "zeros": lambda rng: np.where(rng.random((60, 3)) < 0.5, -0.0, 0.0),
    # Sums that lose all but the first column, so that whole rows must be compared.
    "lost digits": lambda rng: np.column_stack([np.full(60, 1e150), rng.integers(0, 2, (60, 3))]),
    "too small": lambda rng: rng.integers(0, 3, (60, 2)) * 5e-324,
    "one column": lambda rng: rng.integers(0, 9, (60, 1)).astype(float),
}


@pytest.mark.parametrize("kind", KINDS)
def test_rows_come_out_alike_from_any_order(kind):
    rows = KINDS[kind](np.random.default_rng(0))
    expected = rows[content_order(rows)]
    assert sorted(content_order(rows).tolist()) == list(range(60))
    for seed in range(5):
        mixed = np.random.default_rng(seed).permutation(rows)
        np.testing.assert_array_equal(mixed[content_order(mixed)], expected)
        with engine(threads=3):
            np.testing.assert_array_equal(mixed[content_order(mixed)], expected)
    # Equal rows follow each other, so that ranks count different ones: as many as a set of tuples has.
    ranks = content_ranks(rows, content_order(rows))
    by_rank = {}
    for row, rank in zip((rows + 0.0).tolist(), ranks.tolist(), strict=True):
        by_rank.setdefault(rank, set()).add(tuple(row))
    assert sorted(by_rank) == list(range(len({tuple(row) for row in (rows + 0.0).tolist()})))
    assert all(len(different) == 1 for different in by_rank.values())
    assert (np.diff(ranks[content_order(rows)]) >= 0).all()


def test_rounding_moves_next_to_nothing():
    """Vectors of another machine differ in their last digits: nearly all samples keep their places."""
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((2000, 32)).astype(np.float32)
    other = (rows * (1 + 1e-7 * rng.standard_normal(rows.shape))).astype(np.float32)
    assert np.mean(content_order(rows) == content_order(other)) > 0.99


@pytest.mark.slow
def test_many_rows_are_ordered_within_seconds():
    rng = np.random.default_rng(0)
    rows = rng.standard_normal((50_000, 384), dtype=np.float32)
    for each in (rows, rows[rng.integers(0, 500, len(rows))]):
        start = time.process_time()
        content_order(each)
        assert time.process_time() - start < 3


def matrices():
    rng = np.random.default_rng(0)
    yield "not symmetric", rng.random((9, 9)), 4
    yield "whole", rng.integers(0, 3, (9, 9)), 5
    points = rng.standard_normal((4, 2))[[0, 0, 1, 2, 2, 2, 3]]
    yield "repeats", np.linalg.norm(points[:, None] - points, axis=2), 3
    yield "all equal", 1 - np.eye(8), 4
    ring = np.abs(np.subtract.outer(np.arange(6), np.arange(6)))
    yield "a ring", np.minimum(ring, 6 - ring).astype(float), 6
    couples = np.full((8, 8), 2.0)
    for at in range(0, 8, 2):
        couples[at, at + 1] = couples[at + 1, at] = 1
    np.fill_diagonal(couples, 0)
    yield "couples", couples, 4
    triangles = np.where(np.add.outer(np.arange(6) // 3, -(np.arange(6) // 3)) == 0, 1.0, 2.0) * (1 - np.eye(6))
    yield "two triangles", triangles, 6


@pytest.mark.parametrize("name, matrix, n", list(matrices()), ids=lambda each: each if isinstance(each, str) else "")
def test_matrices_come_out_alike_from_any_order(name, matrix, n):
    """Also where no text can be told from another by its distances, but pairs of them can."""
    order = square_order(matrix, n)
    assert sorted(order[:n].tolist()) == list(range(n)) and sorted(order.tolist()) == list(range(len(matrix)))
    expected = matrix[np.ix_(order, order)]
    rng = np.random.default_rng(1)
    for _ in range(20):
        mixed = np.concatenate([rng.permutation(n), n + rng.permutation(len(matrix) - n)])
        other = matrix[np.ix_(mixed, mixed)]
        order = square_order(other, n)
        np.testing.assert_array_equal(other[np.ix_(order, order)], expected)


@pytest.mark.traced
@pytest.mark.slow
def test_all_small_graphs_come_out_alike():
    """Every graph on five texts: as many forms as there are graphs but for the names of their points (OEIS A000088)."""
    edges = list(itertools.combinations(range(5), 2))
    forms = set()
    for chosen in itertools.product((1.0, 2.0), repeat=10):
        matrix = np.zeros((5, 5))
        for (i, j), weight in zip(edges, chosen, strict=True):
            matrix[i, j] = matrix[j, i] = weight
        order = square_order(matrix, 5)
        forms.add(matrix[np.ix_(order, order)].tobytes())
    assert len(forms) == 34
