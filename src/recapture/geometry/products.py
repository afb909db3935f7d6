"""Tiles of distance bounds from one matrix product, and exact distances for the few pairs that need them.

A float32 product gives every squared distance within a known margin. Write x for a centred row and let

    h(x, y) = x.y - (1/2 - eta) |x|^2 - (1/2 - eta) |y|^2,      eta = gamma(d + 2) + gamma64(d) / 2 + 2u,

where u is the unit roundoff, gamma64 stands for the norms, which are summed in float64, 2u for the rounding of centred
rows and norm terms, and gamma(n) = n u / (1 - n u) bounds the relative error of an n-term sum in any order
of summation (Higham, Accuracy and Stability of Numerical Algorithms, 2nd ed., section 3.1). Two extra columns put
both norm terms into the product itself, so the tile the BLAS returns *is* h, and

    low = -2 h <= |x - y|^2 <= low + margin(x) + margin(y),     margin(x) = 4 eta |x|^2.

Who is near a boundary is decided from `low` and the margins; what stays undecided is computed by `exact`, in float64
from coordinate differences. Where *both* sides are small integers no margin is needed: every partial sum is exact.

Word counts (`SparseRows`) stay as they are: the origin is 0, and a tile is the product of one side's few numbers with
the other side as an array.
"""

from __future__ import annotations

import threading
from dataclasses import dataclass
from typing import Any

import numpy as np

from .parallel import blocks, run_tiles
from .sparse_rows import Rows, SparseRows

# Sums of integers and halves stay exact while every |x|^2 is at most this.
EXACT_NORM: dict[type, float] = {np.float32: 2.0**21, np.float64: 2.0**50}
# A product that underflows is wrong by at most the smallest normal float32; doubled for good measure.
_UNDERFLOW = 2.0**-125
# Data between these keep their scale; larger or smaller ones could overflow or vanish in float32.
_SMALL, _LARGE = 1e-8, 1e8
_CHUNK = 256


def finite_products() -> np.errstate:
    """For products of float32 numbers that are all finite: NumPy then warns of no invalid ones.

    Where OpenBLAS (0.3.31, AVX-512) multiplies five columns by a single vector, it also adds up, and throws away, what
    happens to lie on the stack beside its own numbers. The product is right, but what lies there may be a signalling
    NaN, of which the processor tells.
    """
    return np.errstate(invalid="ignore")


@dataclass(frozen=True)
class Frame:
    """The origin and power-of-two scale in which rows are rounded: near the data, so that rounding is small."""

    centre: np.ndarray
    scale: float

    @classmethod
    def of(cls, values: Rows, *others: Rows) -> Frame:
        """An origin among `values` and a scale at which they, and `others`, stay finite when squared in float32."""
        if isinstance(values, SparseRows):  # shifted, they would be 0 nowhere; whole numbers lose no digits at 0
            return cls(np.zeros(values.shape[1]), 1.0)
        # The median of some rows: unlike the mean it does not follow a few extreme rows.
        sample = values[:: max(1, len(values) // 256)].astype(np.float64)
        centre = np.median(sample, axis=0)
        if _integral(sample):
            centre = np.rint(centre)  # integers stay integers
        reach = max(largest(points) for points in (values, *others)) + float(np.abs(centre).max())
        return cls(centre, 1.0 if _SMALL < reach < _LARGE else power_of_two_below(reach))

    def holds(self, values: Rows) -> bool:
        """Whether these rows, too, stay finite when squared in float32."""
        return self.holds_reach(largest(values))

    def holds_reach(self, reach: float) -> bool:
        """The same of rows whose numbers go so far from 0."""
        return (reach + float(np.abs(self.centre).max())) * self.scale < _LARGE

    def apply(self, values: np.ndarray) -> np.ndarray:
        centred: np.ndarray = (values - self.centre) * self.scale
        return centred


@dataclass(frozen=True)
class BoundedRows:
    """Rows made ready for products that bound distances."""

    right: Any
    """(rows, d + 2): the centred row, its norm term, 1. An array, or scipy's `csr_array` for rows of counts."""
    margin: np.ndarray
    """Each row's share of the gap between the lower and the upper bound (float64, in scaled units)."""
    unit: float
    """Scaled squared distance of one true squared distance (a power of two)."""

    @classmethod
    def of(
        cls, values: Rows, frame: Frame, dtype: type[np.floating] = np.float32, *, may_be_exact: bool = True
    ) -> BoundedRows:
        """may_be_exact: whether rows of small integers go without a margin; only if the other side of the product is
        integral, too.
        """
        dimensions = values.shape[1]
        if isinstance(values, SparseRows):
            assert values.whole and frame.scale == 1 and not frame.centre.any()
            right, norms, integral = np.empty(0), values.squares(), True
        else:
            right, norms, integral = _centred(values, frame, dtype)
        if may_be_exact and integral and norms.max() <= EXACT_NORM[dtype]:
            eta = floor = 0.0
        else:
            roundoff = float(np.finfo(dtype).eps) / 2
            # 1.01 absorbs second-order terms.
            eta = 1.01 * (_gamma(dimensions + 2, roundoff) + _gamma(dimensions, 2.0**-53) / 2 + 2 * roundoff)
            floor = (dimensions + 2) * _UNDERFLOW
        term = -(0.5 - eta) * norms + floor
        if isinstance(values, SparseRows):
            return cls(_with_columns(values, term, dtype), 4 * eta * norms + 4 * floor, 1.0)
        right[:, dimensions] = term
        right[:, dimensions + 1] = 1
        return cls(right, 4 * eta * norms + 4 * floor, frame.scale**2)

    def __len__(self) -> int:
        return int(self.right.shape[0])

    @property
    def is_exact(self) -> bool:
        return not self.margin.any()

    @property
    def is_sparse(self) -> bool:
        return not isinstance(self.right, np.ndarray)

    def left(self, rows: slice | np.ndarray) -> Any:
        """The same rows as the product's left factor: norm term and 1 change places."""
        if self.is_sparse:
            part = self.right[rows].copy()
            last = part.indptr[1:] - 1  # each row ends with these two, in this order
            part.data[last], part.data[last - 1] = part.data[last - 1], 1
            return part
        block = np.array(self.right[rows])
        block[:, -1] = self.right[rows, -2]
        block[:, -2] = 1
        return block

    def left_factor(self) -> np.ndarray:
        """All rows as a left factor, as an array: for few rows."""
        left = self.left(slice(None))
        return np.asarray(left.toarray() if self.is_sparse else left)

    def products_with(self, left: np.ndarray) -> np.ndarray:
        """h of every row of a left factor with every one of these rows."""
        if self.is_sparse:
            return np.asarray(self.right @ np.ascontiguousarray(left.T)).T
        with finite_products():
            return np.asarray(left @ self.right.T)

    def near(self, squared: np.ndarray) -> np.ndarray:
        """Thresholds t such that h < t proves a distance to be more than `squared`."""
        limit = (-0.5 * self.unit) * squared
        with np.errstate(over="ignore"):
            rounded = limit.astype(self.right.dtype)
        # Rounding must never lift the threshold, or a pair on the boundary would be lost.
        lower = np.nextafter(rounded, self.right.dtype.type(-np.inf))
        return np.where(rounded.astype(np.float64) > limit, lower, rounded)


def power_of_two_below(reach: float) -> float:
    """A power of two that brings `reach` to about 1; its square, too, is a finite float64. 1 for nothing to scale."""
    return float(2.0 ** np.clip(-np.ceil(np.log2(reach)), -500, 400)) if reach else 1.0


def _gamma(terms: int, roundoff: float) -> float:
    return terms * roundoff / (1 - terms * roundoff)


def _centred(values: np.ndarray, frame: Frame, dtype: type[np.floating]) -> tuple[np.ndarray, np.ndarray, bool]:
    """(rows, d + 2) with the centred rows filled in, their squared lengths, and whether all are whole numbers."""
    rows, dimensions = values.shape
    right = np.empty((rows, dimensions + 2), dtype)
    norms = np.empty(rows)
    integral = np.zeros(rows, bool)
    integral_frame = frame.scale == 1 and _integral(frame.centre[None])

    def fill(part: slice) -> None:
        block = frame.apply(values[part])
        right[part, :dimensions] = block
        norms[part] = np.einsum("ij,ij->i", block, block)
        # Of the rows as given: near zero, subtracting the centre would round a fraction to an integer.
        integral[part] = integral_frame and _integral(values[part])

    run_tiles(fill, blocks(rows, 512), "preparing rows")
    return right, norms, bool(integral.all())


def _with_columns(values: SparseRows, term: np.ndarray, dtype: type[np.floating]) -> Any:
    """Counts with two more columns: the norm terms, 1."""
    from scipy.sparse import csr_array, hstack

    rows = len(values)
    two = csr_array(
        (np.stack([term, np.ones(rows)], axis=1).ravel(), np.tile([0, 1], rows), np.arange(rows + 1) * 2),
        shape=(rows, 2),
    )
    wide = hstack([values.matrix, two], format="csr", dtype=dtype)
    wide.sort_indices()
    return wide


def largest(values: Rows) -> float:
    """How far from 0 numbers go."""
    return max(abs(float(values.min())), abs(float(values.max())))


def _integral(block: np.ndarray) -> bool:
    # Most data fail on the first row, without a pass over the rest.
    return bool((np.rint(block[0]) == block[0]).all() and (np.rint(block) == block).all())


class TileProducts:
    """h for all pairs of a tile of rows and columns. Each thread has room of its own, kept from tile to tile."""

    def __init__(self, rows: BoundedRows, columns: BoundedRows, tile: int) -> None:
        self._rows, self._columns = rows, columns
        self._size = min(tile, len(rows)) * min(tile, len(columns))
        self._dtype = rows.right.dtype
        self._local = threading.local()

    def tile(self, i: slice, j: slice) -> np.ndarray:
        """(rows, columns), free to be changed until the thread asks for the next tile."""
        local = self._local
        if not hasattr(local, "left"):
            local.block = local.left = None
            local.room = _ColumnRoom(self._columns) if self._columns.is_sparse else np.empty(self._size, self._dtype)
        if local.block != i:
            local.block, local.left = i, self._rows.left(i)
        if isinstance(local.room, _ColumnRoom):
            return local.room.product(local.left, j)
        shape = i.stop - i.start, j.stop - j.start
        if shape[0] * shape[1] > len(local.room):
            local.room = np.empty(shape[0] * shape[1], self._dtype)
        tile: np.ndarray = local.room[: shape[0] * shape[1]].reshape(shape)
        with finite_products():
            return np.dot(local.left, self._columns.right[j].T, out=tile)


def whole_products(rows: Rows, columns: Rows, tile: int) -> TileProducts | None:
    """Products that are exact, -2 h being the squared distance; None unless both sides are whole numbers, not huge."""
    if not (all_whole(rows) and (columns is rows or all_whole(columns))):
        return None
    frame = Frame.of(rows, columns)
    for dtype in (np.float32, np.float64):
        left = BoundedRows.of(rows, frame, dtype)
        right = left if columns is rows else BoundedRows.of(columns, frame, dtype)
        if left.is_exact and right.is_exact:
            return TileProducts(left, right, tile)
    return None


def all_whole(values: Rows) -> bool:
    """Whether there are only whole numbers."""
    if isinstance(values, SparseRows):
        return values.whole
    return all(_integral(values[part]) for part in blocks(len(values), 512))


class _ColumnRoom:
    """A block of sparse rows as the right factor of a product: an array with a line for every word that occurs."""

    def __init__(self, rows: BoundedRows) -> None:
        self._right = rows.right
        self._block: slice | None = None
        self._lines = np.zeros(self._right.shape[1], self._right.indices.dtype)
        self._room = np.zeros(0, self._right.dtype)
        self._filled = np.zeros(0, np.int64)

    def product(self, left: Any, block: slice) -> np.ndarray:
        from scipy.sparse import csr_array

        if self._block != block:
            self._fill(block)
        # What occurs nowhere in the block has the last line, of zeros.
        shape = left.shape[0], len(self._factor)
        return np.asarray(csr_array((left.data, self._lines[left.indices], left.indptr), shape=shape) @ self._factor)

    def _fill(self, block: slice) -> None:
        part = self._right[block]
        width = part.shape[0]
        occurs = np.zeros(len(self._lines), bool)
        occurs[part.indices] = True
        columns = np.flatnonzero(occurs)
        self._lines[:] = len(columns)
        self._lines[columns] = np.arange(len(columns))
        self._room[self._filled] = 0  # far fewer numbers than the whole room has
        size = (len(columns) + 1) * width
        if size > len(self._room):
            self._room = np.zeros(size + size // 8, self._right.dtype)
        self._filled = self._lines[part.indices].astype(np.int64) * width
        self._filled += np.repeat(np.arange(width), np.diff(part.indptr))
        self._room[self._filled] = part.data
        self._factor = self._room[:size].reshape(-1, width)
        self._block = block


def exact(left: Rows, i: np.ndarray, right: Rows, j: np.ndarray) -> np.ndarray:
    """|left[i] - right[j]|^2 for listed pairs, in float64 from coordinate differences."""
    squared = np.empty(len(i))
    size = _CHUNK * max(1, 384 // left.shape[1])
    a, b, difference = _scratch(size, left, right)
    for start in range(0, len(i), size):
        count = min(size, len(i) - start)
        _take(left, i[start : start + count], a[:count])
        _take(right, j[start : start + count], b[:count])
        np.subtract(a[:count], b[:count], out=difference[:count], dtype=np.float64)
        squared[start : start + count] = np.einsum("ij,ij->i", difference[:count], difference[:count])
    return squared


def _take(values: Rows, chosen: np.ndarray, room: np.ndarray) -> None:
    if isinstance(values, SparseRows):
        values[chosen].matrix.toarray(out=room)
    else:
        # mode="clip" lets take write straight into the buffer; the indices are in range.
        np.take(values, chosen, axis=0, out=room, mode="clip")


_kept = threading.local()


def _scratch(size: int, left: Rows, right: Rows) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Room for rows of either side and their differences, kept for the thread's next call: there are thousands."""
    shape = (size, left.shape[1])
    if getattr(_kept, "kind", None) != (shape, left.dtype, right.dtype):
        _kept.kind = (shape, left.dtype, right.dtype)
        _kept.rooms = np.empty(shape, left.dtype), np.empty(shape, right.dtype), np.empty(shape)
    rooms: tuple[np.ndarray, np.ndarray, np.ndarray] = _kept.rooms
    return rooms
