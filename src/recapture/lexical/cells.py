"""Many small score matrices worked out at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

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
