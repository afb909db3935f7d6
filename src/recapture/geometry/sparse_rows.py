"""Rows of numbers that are nearly all 0, such as word counts: only the others are kept.

The engine takes such rows wherever it takes an array. Few places know the difference: products of tiles, repeats, sums
of columns. All others ask for the rows of one tile as an array (`np.asarray(rows[part])`), so that the same numbers go
through the same code, and results are the same to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any

import numpy as np


class SparseRows:
    """(rows, columns) of numbers that are never below 0; taken for an array of float32 wherever one is asked for."""

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, matrix: Any, *, whole: bool = True) -> None:
        """matrix: a `scipy.sparse.csr_array` of float32 without stored zeros, each row's columns in order and once.
        whole: whether these are whole numbers below 2^24, which float32 holds exactly.
        """
        self.matrix = matrix
        self.whole = whole
        self.shape: tuple[int, int] = matrix.shape

    @classmethod
    def of(cls, starts: np.ndarray, columns: np.ndarray, dimensions: int) -> SparseRows:
        """Counts of listed columns: those of row i are columns[starts[i] : starts[i + 1]], in any order."""
        from scipy.sparse import csr_array

        counts = np.ones(len(columns), np.float32)
        matrix = csr_array((counts, columns, starts), shape=(len(starts) - 1, dimensions))
        matrix.sum_duplicates()
        return cls(matrix)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> SparseRows:
        return SparseRows(self.matrix[rows], whole=self.whole)

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        # The few numbers are converted, not the many zeros.
        return np.asarray((self.matrix if dtype is None else self.matrix.astype(dtype)).toarray())

    def min(self) -> float:
        return float(self.matrix.min())

    def max(self) -> float:
        return float(self.matrix.max())

    def mean(self, axis: int = 0, dtype: Any = np.float64) -> np.ndarray:
        """Of every column. Sums of whole numbers are exact, in whatever order."""
        assert axis == 0 and self.whole
        sums = np.bincount(self.matrix.indices, weights=self.matrix.data, minlength=self.shape[1])
        means: np.ndarray = sums / len(self)
        return means.astype(dtype, copy=False)

    def largest(self) -> np.ndarray:
        """The largest number of every column."""
        return np.asarray(self.matrix.max(axis=0).toarray()).reshape(-1)

    def squares(self) -> np.ndarray:
        """The squared length of every row (float64)."""
        return self._sums(self.matrix.data.astype(np.float64) ** 2)

    def hashes(self, factors: np.ndarray) -> np.ndarray:
        """The sum over every row of the bits of its numbers times the factors of their columns, modulo 2^64."""
        bits = self.matrix.data.view(np.uint32).astype(np.uint64)
        return self._sums(bits * factors[self.matrix.indices])

    def keys(self) -> list[bytes]:
        """Bytes that are the same for equal rows, and for these alone."""
        ends = self.matrix.indptr.tolist()
        columns, counts = self.matrix.indices, self.matrix.data
        return [columns[start:end].tobytes() + counts[start:end].tobytes() for start, end in pairwise(ends)]

    def order(self) -> np.ndarray:
        """Rows sorted by their first column, ties by the next, and so on."""
        # The first number that two rows do not share decides: an earlier column, or more of the same one, is larger.
        # Positive floats compare as their bits do, and where a row ends before another it is the smaller one.
        pairs = np.empty((len(self.matrix.data), 2), ">u4")
        pairs[:, 0] = self.shape[1] - self.matrix.indices
        pairs[:, 1] = self.matrix.data.view(np.uint32)
        ends = (8 * self.matrix.indptr.astype(np.int64)).tolist()
        listed = pairs.tobytes()
        keys = [listed[start:end] for start, end in pairwise(ends)]
        return np.array(sorted(range(len(keys)), key=keys.__getitem__), np.int64)

    def unit(self) -> SparseRows:
        """Rows of length 1; zeros stay. The same digits as from whole arrays (`clusters.unit_rows`)."""
        from scipy.sparse import csr_array

        row = np.repeat(np.arange(len(self)), np.diff(self.matrix.indptr))
        length = np.sqrt(self.squares())
        # Scaled by a power of two on both sides, which changes no digit of the quotient.
        data = (self.matrix.data.astype(np.float64) / length[row]).astype(np.float32)
        parts = data, self.matrix.indices, self.matrix.indptr
        return SparseRows(csr_array(parts, shape=self.shape), whole=False)

    def equals(self, other: SparseRows) -> bool:
        mine, theirs = self.matrix, other.matrix
        return self.shape == other.shape and all(
            np.array_equal(getattr(mine, part), getattr(theirs, part)) for part in ("indptr", "indices", "data")
        )

    def _sums(self, of_entries: np.ndarray) -> np.ndarray:
        """Sums over the entries of each row."""
        sums = np.zeros(len(self), of_entries.dtype)
        starts = self.matrix.indptr
        filled = np.flatnonzero(np.diff(starts))
        if len(filled):
            sums[filled] = np.add.reduceat(of_entries, starts[filled])
        return sums


class CentredTiles:
    """Sparse rows around a centre, which are not sparse any more: an array (float32) of some is made when asked for."""

    def __init__(self, rows: SparseRows, centre: np.ndarray, scale: float) -> None:
        self._rows, self._centre, self._scale = rows, centre, scale
        self.shape = rows.shape

    def __len__(self) -> int:
        return len(self._rows)

    def __getitem__(self, rows: slice | np.ndarray) -> np.ndarray:
        return self.wide(rows, 0)

    def wide(self, rows: slice | np.ndarray, ones: int) -> np.ndarray:
        """Some rows, followed by so many columns of ones."""
        chosen = self._rows[rows].matrix
        made = np.ones((chosen.shape[0], self.shape[1] + ones), np.float32)
        made[:, : self.shape[1]] = (0.0 - self._centre) * self._scale  # what every 0 becomes
        row = np.repeat(np.arange(len(made)), np.diff(chosen.indptr))
        made[row, chosen.indices] = (chosen.data - self._centre[chosen.indices]) * self._scale
        return made


Rows = np.ndarray | SparseRows
"""What the engine takes: samples x dimensions."""


def together(sets: Sequence[Rows]) -> Rows:
    """The rows of several sets, one after another."""
    if all(isinstance(each, SparseRows) for each in sets):
        from scipy.sparse import vstack

        parts = [each for each in sets if isinstance(each, SparseRows)]
        return SparseRows(
            vstack([each.matrix for each in parts], format="csr"), whole=all(each.whole for each in parts)
        )
    return np.concatenate([np.asarray(each) for each in sets])


def equal_rows(one: Rows, other: Rows) -> bool:
    """Whether both hold the same numbers in the same places."""
    if isinstance(one, SparseRows) and isinstance(other, SparseRows):
        return one.equals(other)
    if one.shape != other.shape:
        return False
    one, other = np.asarray(one), np.asarray(other)
    # A block at a time: most sets differ in the first, and large ones leave no table of flags behind.
    return all(np.array_equal(one[part : part + 4096], other[part : part + 4096]) for part in range(0, len(one), 4096))
