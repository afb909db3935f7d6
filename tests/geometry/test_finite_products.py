"""Products of finite numbers warn of nothing, whatever lies in memory that is not theirs.

By IEEE 754 (7.2) sums and products of finite numbers are never invalid. OpenBLAS with AVX-512 lets other numbers in
(see `finite_products`); elsewhere these tests cannot fail.
"""

import ctypes
import os
from itertools import combinations

import numpy as np
import pytest

import recapture as rc
from recapture.geometry import clusters, grid_kmeans, lloyd, products, triangles
from recapture.geometry.clusters import ClusterRows
from recapture.geometry.grid_kmeans import GridClustering, on_grid
from recapture.geometry.labels import Labels
from recapture.geometry.lloyd import Clustering, Points
from recapture.geometry.products import BoundedRows, Frame, TileProducts, finite_products

ROWS = np.random.default_rng(0).standard_normal((70, 5))
ONES = np.ones(70)
SIGNALLING = 0x7FA00001
"""A signalling NaN of float32."""

if os.name != "posix":
    pytest.skip("only there C's own functions are found without a name", allow_module_level=True)
_takes_nothing = ctypes.CDLL(None).getpid
_two = ctypes.c_uint64(SIGNALLING << 32 | SIGNALLING)


def litter():
    """Signalling NaNs in the free part of the stack: what a call was given stays there. Fewer each time, as each call
    itself needs what lies above."""
    count = 1024
    while count >= 8:
        _takes_nothing(*[_two] * count)
        count -= count // 8


def bounded(rows):
    return BoundedRows.of(rows, Frame.of(rows))


def few_rows():
    run = Clustering(Points.of(ROWS[:, :4].astype(np.float32), ONES), 3, 0)
    run.complete()
    return run.label


def many_rows():
    run = GridClustering(on_grid(ROWS[:, :4].astype(np.float32), ONES), 1, 0)
    run.complete()
    return run.centres


def one_row():
    return bounded(ROWS[:, :3]).products_with(bounded(ROWS[:1, :3]).left_factor())


def tile_of_one_row():
    return TileProducts(*[bounded(ROWS[:, :3])] * 2, 960).tile(slice(0, 1), slice(0, 70))


def one_axis():
    return ClusterRows.of(ROWS).principal(0.1).values


def five_texts():
    reference = np.array([[place in chosen for place in range(5)] for chosen in combinations(range(5), 3)])
    distances = np.abs(ROWS[:5, None] - ROWS[:5]).sum(axis=2)
    return triangles.counts_under(distances[None], Labels(reference, ~reference), "split")


@pytest.mark.parametrize(
    "product, module",
    [
        (few_rows, lloyd),
        (many_rows, grid_kmeans),
        (one_row, products),
        (tile_of_one_row, products),
        (one_axis, clusters),
        (five_texts, triangles),
    ],
)
def test_litter_in_memory_is_nobodys_number(product, module, monkeypatch):
    """Five numbers a row, and a single one on the other side."""
    before = product()
    littered = 0

    def after_litter():
        nonlocal littered
        littered += 1
        litter()
        return finite_products()

    monkeypatch.setattr(module, "finite_products", after_litter)
    with np.errstate(invalid="raise"):
        np.testing.assert_array_equal(product(), before)
    assert littered


def test_one_value_whatever_lies_in_memory():
    """40 and 30 rows of 4 numbers, with which it was first seen."""
    reference, candidate = np.split(ROWS[:, :4], [40])
    value = rc.prd(reference, candidate).f8
    with np.errstate(invalid="raise"):
        litter()
        assert rc.prd(reference, candidate).f8 == value
        litter()
        assert rc.evaluate(reference, candidate, "prd", ceiling=False)["candidate"]["prd"].f8 == value
