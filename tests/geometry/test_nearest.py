"""Nearest rows of another set against whole distance tables in float64 (tests/oracles.py)."""

import numpy as np
import pytest
from oracles import squared_distances
from scipy.sparse import csr_array

from recapture.geometry.nearest import nearest_rows
from recapture.geometry.parallel import engine
from recapture.geometry.sparse_rows import SparseRows


def brute(rows, targets, apart=(), part=None):
    table = squared_distances(rows, targets)
    for mine, theirs in apart:
        table[mine[:, None] == theirs[None, :]] = np.inf
    if part is not None:
        table[:, ~part] = np.inf
    place = table.argmin(axis=1)
    squared = table[np.arange(len(table)), place]
    return np.where(np.isinf(squared), -1, place), squared


def rows_of(kind, rng, count):
    if kind == "whole":
        return rng.integers(0, 4, (count, 3)).astype(np.float32)
    if kind == "far":  # float32 products round away the differences between these
        return (1e4 + 1e-3 * rng.standard_normal((count, 6))).astype(np.float64)
    return rng.standard_normal((count, 8)).astype(np.float32)


@pytest.mark.parametrize("kind", ["usual", "whole", "far"])
@pytest.mark.parametrize("tile", [7, 64, 960])
def test_as_from_the_whole_table(kind, tile):
    rng = np.random.default_rng(1)
    rows, targets = rows_of(kind, rng, 90), rows_of(kind, rng, 130)
    groups = rng.integers(0, 9, 90), rng.integers(0, 9, 130)
    parts = [rng.random(130) < share for share in (0.9, 0.1)]
    with engine(tile=tile, threads=2):
        found = nearest_rows(rows, targets, [groups], [None, *parts])
    for line, part in enumerate([None, *parts]):
        place, squared = brute(rows, targets, [groups], part)
        np.testing.assert_array_equal(found.place[line], place)
        np.testing.assert_allclose(found.squared[line], squared, rtol=1e-12)


def test_own_rows_without_themselves():
    rng = np.random.default_rng(2)
    rows = rng.standard_normal((200, 5))
    number = np.arange(200)
    place, squared = brute(rows, rows, [(number, number)])
    found = nearest_rows(rows, rows, [(number, number)])
    np.testing.assert_array_equal(found.place[0], place)
    np.testing.assert_allclose(found.squared[0], squared, rtol=1e-12)


def test_where_nothing_counts():
    rows, none = np.ones((3, 2)), np.zeros(3, int)
    found = nearest_rows(rows, rows, [(none, none)], [None, np.zeros(3, bool)])
    assert (found.place == -1).all() and np.isinf(found.squared).all()


def test_whole_numbers_on_one_side_alone():
    rng = np.random.default_rng(3)
    rows, targets = rng.standard_normal((40, 3)), rng.integers(0, 3, (50, 3)).astype(np.float64)
    np.testing.assert_array_equal(nearest_rows(rows, targets).place[0], brute(rows, targets)[0])
    np.testing.assert_array_equal(nearest_rows(targets, rows).place[0], brute(targets, rows)[0])


def test_counts_of_words():
    rng = np.random.default_rng(4)
    rows, targets = (rng.poisson(0.3, (count, 30)).astype(np.float32) for count in (60, 80))
    found = nearest_rows(SparseRows(csr_array(rows)), SparseRows(csr_array(targets)))
    place, squared = brute(rows, targets)
    np.testing.assert_array_equal(found.place[0], place)  # of ties the first
    np.testing.assert_array_equal(found.squared[0], squared)


def test_very_many_near_ties(monkeypatch):
    """Pairs that wait are computed before there are too many, and nothing is lost by it."""
    from recapture.geometry import nearest

    monkeypatch.setattr(nearest, "_PAIRS_AT_ONCE", 50)
    rng = np.random.default_rng(5)
    rows, targets = rows_of("far", rng, 30), rows_of("far", rng, 200)
    with engine(tile=20):
        found = nearest_rows(rows, targets)
    np.testing.assert_array_equal(found.place[0], brute(rows, targets)[0])
