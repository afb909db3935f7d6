"""Samples of both sides made ready for clustering, in an order of their own: row order and side change no cluster."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from .distinct import distinct_rows
from .parallel import blocks, one_blas_thread, run_tiles
from .products import finite_products, power_of_two_below
from .sparse_rows import CentredTiles, Rows, SparseRows, together

# Rows handled at once. Sums depend on it, so it is no engine option.
_ROWS = 512
# Entries of the square matrices kept at once, where those are large.
_SQUARES = 2**25
# Mean square of differences that are rounding errors of float32, for rows of a size around 1.
_SAME = 1e-13
# Numbers of sparse rows that are worth having as one array.
_AS_ARRAY = 2**24


def unit_rows(values: Rows) -> Rows:
    """Rows of length 1 (float32), so that rows of one direction become equal; zeros stay zeros."""
    if isinstance(values, SparseRows):
        return values.unit()
    unit = np.empty(values.shape, np.float32)

    def fill(part: slice) -> None:
        block = values[part].astype(np.float64)
        # Squares must neither overflow nor vanish; powers of two change no digit.
        np.ldexp(block, -np.frexp(np.abs(block).max(axis=1))[1][:, None], out=block)
        length = np.sqrt(np.einsum("ij,ij->i", block, block))
        np.divide(block, np.where(length > 0, length, 1)[:, None], out=block)
        unit[part] = block

    run_tiles(fill, blocks(len(values), _ROWS), "unit rows")
    return unit


@dataclass(frozen=True)
class ClusterRows:
    """The different rows of all samples, sorted."""

    values: Rows | CentredTiles
    """(different rows, dimensions)"""
    weight: np.ndarray
    """How many samples each row stands for."""
    inverse: np.ndarray
    """For every sample its row."""

    @classmethod
    def of(cls, *sets: Rows) -> ClusterRows:
        pooled = together(sets)
        if isinstance(pooled, SparseRows) and pooled.shape[0] * pooled.shape[1] <= _AS_ARRAY:
            pooled = np.asarray(pooled)
        distinct = distinct_rows(pooled)
        values = distinct.values
        order = values.order() if isinstance(values, SparseRows) else _sorted_rows(values)
        rank = np.empty_like(order)
        rank[order] = np.arange(len(order))
        return cls(distinct.values[order], distinct.weight[order], rank[distinct.inverse])

    def __len__(self) -> int:
        return len(self.values)

    def centred(self) -> ClusterRows:
        """Rows around their mean, of a size around 1, in float32, which halves the work of a clustering."""
        if isinstance(self.values, SparseRows):
            centre = self.values.mean(axis=0)
            # No number is below 0, so that none is less than 0 - centre.
            reach = max(float(np.abs(self.values.largest() - centre).max()), float(centre.max()))
            return replace(self, values=CentredTiles(self.values, centre, power_of_two_below(reach)))
        assert isinstance(self.values, np.ndarray)
        values, parts = self.values, blocks(len(self.values), _ROWS)
        mean: np.ndarray = values.mean(axis=0, dtype=np.float64)
        farthest, made = np.empty(len(parts)), np.empty(values.shape, np.float32)

        def measure(number: int) -> None:
            farthest[number] = np.abs(values[parts[number]] - mean).max()

        def fill(part: slice) -> None:
            made[part] = (values[part] - mean) * scale

        run_tiles(measure, range(len(parts)), "centring")
        scale = power_of_two_below(float(farthest.max()))  # which changes no digit
        run_tiles(fill, parts, "centring")
        return replace(self, values=made)

    def principal(self, variance: float) -> ClusterRows:
        """Coordinates along the fewest principal axes that hold this share of the samples' variance (float32).

        Rows should be of a size around 1. No axis is left where they differ by less than float32 can tell.
        """
        with one_blas_thread:  # several would round differently with their number
            assert not isinstance(self.values, CentredTiles)
            if len(self.values) < self.values.shape[1]:
                rows = _by_rows(np.asarray(self.values), self.weight, variance)
            else:
                rows = _by_columns(self.values, self.weight, variance)
        return replace(self, values=rows)


def _sorted_rows(values: np.ndarray) -> np.ndarray:
    """The order of different rows by their first column, ties by the next, and so on."""
    columns = 1
    order = np.argsort(values[:, 0], kind="stable")
    while columns < values.shape[1] and not _all_differ(values[order, :columns]):
        columns = min(2 * columns, values.shape[1])
        order = np.lexsort(values[:, :columns].T[::-1])
    return order


def _all_differ(ordered: np.ndarray) -> bool:
    return bool((ordered[1:] != ordered[:-1]).any(axis=1).all())


def _by_columns(rows: Rows, weight: np.ndarray, variance: float) -> np.ndarray:
    """Principal axes from the covariance matrix."""
    count, dimensions = rows.shape
    parts = blocks(count, _ROWS)
    sums = np.empty((len(parts), dimensions))
    total = np.zeros((dimensions, dimensions))
    # Few products are kept at a time, and they are added in their order, whichever thread was first.
    for group in blocks(len(parts), int(np.clip(_SQUARES // dimensions**2, 2, 16))):
        squares = np.empty((len(parts[group]), dimensions, dimensions))

        def add(number: int, start: int = group.start, squares: np.ndarray = squares) -> None:
            part = parts[number]
            block = np.asarray(rows[part], np.float64)
            sums[number] = weight[part] @ block
            np.dot((block * weight[part, None]).T, block, out=squares[number - start])

        run_tiles(add, range(len(parts))[group], "principal axes")
        total += squares.sum(axis=0)
    mean = sums.sum(axis=0) / weight.sum()
    share, axes = np.linalg.eigh(total / weight.sum() - np.outer(mean, mean))
    axes = axes[:, ::-1][:, : _kept(share[::-1], variance)].astype(np.float32)
    projected = np.empty((count, axes.shape[1]), np.float32)

    def project(part: slice) -> None:
        centred = (rows[part] - mean).astype(np.float32)
        with finite_products():
            np.dot(centred, axes, out=projected[part])

    run_tiles(project, parts, "principal axes")
    return projected


def _by_rows(rows: np.ndarray, weight: np.ndarray, variance: float) -> np.ndarray:
    """The same from products of rows, of which there are fewer than columns."""
    scaled = rows.astype(np.float64)
    scaled -= weight @ scaled / weight.sum()
    root = np.sqrt(weight)
    # With centred rows X, Z = diag(root) X and Z Z^T = U diag(s) U^T, coordinates are diag(1 / root) U diag(s)^(1/2).
    scaled *= root[:, None]
    size, vectors = np.linalg.eigh(scaled @ scaled.T)
    kept = _kept(size[::-1] / weight.sum(), variance)
    projected: np.ndarray = vectors[:, ::-1][:, :kept] * np.sqrt(size[::-1][:kept]) / root[:, None]
    return projected.astype(np.float32)


def _kept(share: np.ndarray, variance: float) -> int:
    """How many of the largest variances (largest first) make up this share of the whole."""
    share = np.maximum(share, 0)
    if share.sum() <= _SAME:
        return 0
    reached = np.cumsum(share) >= variance * share.sum() * (1 - 1e-12)
    return min(int(np.argmax(reached)) + 1, int(np.count_nonzero(share)))
