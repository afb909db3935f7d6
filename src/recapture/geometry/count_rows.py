"""Rows of whole numbers that are nearly all 0, such as word counts: only the others are kept.

The engine takes such rows wherever it takes an array. Few places know the difference: products of tiles, repeats, sums
of columns. All others ask for the rows of one tile as an array (`np.asarray(rows[part])`), so that the same numbers go
through the same code, and results are the same to the last digit.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np


class CountRows:
    """(rows, columns) of whole numbers below 2^24, which float32 holds exactly; behaves like an array of float32."""

    dtype = np.dtype(np.float32)
    ndim = 2

    def __init__(self, matrix: Any) -> None:
        """matrix: a `scipy.sparse.csr_array` of float32 without stored zeros, each row's columns in order and once."""
        self.matrix = matrix
        self.shape: tuple[int, int] = matrix.shape

    @classmethod
    def of(cls, starts: np.ndarray, columns: np.ndarray, dimensions: int) -> CountRows:
        """Counts of listed columns: those of row i are columns[starts[i] : starts[i + 1]], in any order."""
        from scipy.sparse import csr_array

        counts = np.ones(len(columns), np.float32)
        matrix = csr_array((counts, columns, starts), shape=(len(starts) - 1, dimensions))
        matrix.sum_duplicates()
        return cls(matrix)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, rows: slice | np.ndarray) -> CountRows:
        return CountRows(self.matrix[rows])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray:
        made: np.ndarray = self.matrix.toarray()
        return made if dtype is None else made.astype(dtype, copy=False)

    def min(self) -> float:
        return float(self.matrix.min())

    def max(self) -> float:
        return float(self.matrix.max())

    def mean(self, axis: int = 0, dtype: Any = np.float64) -> np.ndarray:
        """Of every column. Sums of whole numbers are exact, in whatever order."""
        assert axis == 0
        sums = np.bincount(self.matrix.indices, weights=self.matrix.data, minlength=self.shape[1])
        means: np.ndarray = sums / len(self)
        return means.astype(dtype, copy=False)

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
        return [
            columns[start:end].tobytes() + counts[start:end].tobytes()
            for start, end in zip(ends[:-1], ends[1:], strict=True)
        ]

    def equals(self, other: CountRows) -> bool:
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


Rows = np.ndarray | CountRows
"""What the engine takes: samples x dimensions."""


def together(sets: Sequence[Rows]) -> Rows:
    """The rows of several sets, one after another."""
    if all(isinstance(each, CountRows) for each in sets):
        from scipy.sparse import vstack

        return CountRows(vstack([each.matrix for each in sets if isinstance(each, CountRows)], format="csr"))
    return np.concatenate([np.asarray(each) for each in sets])


def equal_rows(one: Rows, other: Rows) -> bool:
    """Whether both hold the same numbers in the same places."""
    if isinstance(one, CountRows) and isinstance(other, CountRows):
        return one.equals(other)
    return one.shape == other.shape and np.array_equal(np.asarray(one), np.asarray(other))
