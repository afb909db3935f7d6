"""N-grams that hypotheses share with references, for many small score matrices at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .ngrams import Runs

Sides = tuple[Sequence[str], Sequence[str]]
"""Hypotheses (rows of a score matrix) and references (its columns)."""


class Cells:
    """The cells of several score matrices in one line: which texts meet in each, and back to the matrices."""

    def __init__(self, pairs: Sequence[Sides]) -> None:
        self.texts: list[str] = []
        self._matrices: list[tuple[int, int]] = []
        first_row, first_column, counts = [], [], []
        for hypotheses, references in pairs:
            same = hypotheses is references
            first_row.append(len(self.texts))
            self.texts += hypotheses
            first_column.append(first_row[-1] if same else len(self.texts))
            self.texts += () if same else references
            self._matrices.append((len(hypotheses), len(references)))
            counts.append(len(self.texts) - first_row[-1])
        self._row, self._column = np.array(first_row), np.array(first_column)
        height, self._width = np.array(self._matrices).T
        self._ends = np.cumsum(height * self._width)
        self._starts = self._ends - height * self._width
        matrix = np.repeat(np.arange(len(pairs)), height * self._width)
        down, across = np.divmod(np.arange(len(matrix)) - self._starts[matrix], self._width[matrix])
        self.row, self.column = self._row[matrix] + down, self._column[matrix] + across
        self.matrix = np.repeat(np.arange(len(pairs)), counts)
        """The matrix each text belongs to."""
        position = np.arange(len(self.texts))
        self.is_row = position < (self._row + height)[self.matrix]
        self.is_column = position >= self._column[self.matrix]

    def at(self, row: np.ndarray, column: np.ndarray) -> np.ndarray:
        """The cells where texts of one matrix meet."""
        matrix = self.matrix[row]
        down, across = row - self._row[matrix], column - self._column[matrix]
        cells: np.ndarray = self._starts[matrix] + down * self._width[matrix] + across
        return cells

    def split(self, values: np.ndarray) -> list[np.ndarray]:
        parts = np.split(values, self._ends[:-1])
        return [part.reshape(shape) for part, shape in zip(parts, self._matrices, strict=True)]


class Frequencies(NamedTuple):
    """How often each n-gram occurs in each text that has it."""

    text: np.ndarray
    number: np.ndarray
    times: np.ndarray

    @classmethod
    def of(cls, runs: Runs) -> Frequencies:
        distinct = max(1, len(runs.keys))
        pairs, times = np.unique(runs.text * distinct + runs.number, return_counts=True)
        text, number = np.divmod(pairs, distinct)
        return cls(text, number, times)


def clipped_sums(cells: Cells, ngrams: Frequencies, value: np.ndarray) -> np.ndarray:
    """For every cell the sum of min(h, r) v over its n-grams: h and r how often row and column have it, v the column's.

    value: v for each entry of `ngrams`. Sums are exact, whatever their order, where those of whole numbers would be.
    """
    from scipy.sparse import csr_array

    # min(h, r) counts the t from 1 on that neither h nor r is below: one sparse column per matrix, n-gram and t.
    entry = np.repeat(np.arange(len(ngrams.text)), ngrams.times)
    t = np.arange(len(entry)) - np.repeat(np.cumsum(ngrams.times) - ngrams.times, ngrams.times)
    text, number = ngrams.text[entry], ngrams.number[entry]
    place = (cells.matrix[text] * (number.max(initial=0) + 1) + number) * ngrams.times.max(initial=1) + t
    columns, place = np.unique(place, return_inverse=True)
    shape = (len(cells.texts), len(columns))
    held, wanted = cells.is_row[text], cells.is_column[text]
    left = csr_array((np.ones(np.count_nonzero(held), value.dtype), (text[held], place[held])), shape)
    right = csr_array((value[entry[wanted]], (text[wanted], place[wanted])), shape)
    products = (left @ right.T).tocoo()
    sums = np.zeros(len(cells.row), value.dtype)
    sums[cells.at(products.row, products.col)] = products.data
    return sums
