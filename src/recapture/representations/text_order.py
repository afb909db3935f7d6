"""The order in which texts are encoded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import overload

import numpy as np

_AT_ONCE = 1024


class LongestFirst(Sequence[str]):
    """Some of the texts by length, ties by alphabet: batches are then the same in whatever order the texts came, and
    one that is too large for the memory fails at once.

    Ties are sorted as they are asked for, so that a GPU has the first texts while the others are still to be sorted.
    """

    def __init__(self, texts: Sequence[str], chosen: np.ndarray) -> None:
        lengths = np.fromiter(map(len, map(texts.__getitem__, chosen.tolist())), np.int64, len(chosen))
        order = np.argsort(-lengths, kind="stable")
        self._texts = texts
        self.positions = chosen[order]
        """Where they stand among all texts; final for those that have been asked for."""
        self._ends = iter((np.flatnonzero(np.diff(lengths[order], append=-1)) + 1).tolist())
        self._sorted = 0

    def __len__(self) -> int:
        return len(self.positions)

    @overload
    def __getitem__(self, at: int) -> str: ...
    @overload
    def __getitem__(self, at: slice) -> list[str]: ...
    def __getitem__(self, at: int | slice) -> str | list[str]:
        places = range(len(self))[at]
        if isinstance(places, int):
            self._sort(places + 1)
            return self._texts[int(self.positions[places])]
        self._sort(max(places, default=-1) + 1)
        return [self._texts[position] for position in self.positions[at].tolist()]

    def __iter__(self) -> Iterator[str]:
        for start in range(0, len(self), _AT_ONCE):
            yield from self[start : start + _AT_ONCE]

    def _sort(self, stop: int) -> None:
        while self._sorted < stop:
            end = next(self._ends)
            if end - self._sorted > 1:
                tied = slice(self._sorted, end)
                self.positions[tied] = sorted(self.positions[tied].tolist(), key=self._texts.__getitem__)
            self._sorted = end
