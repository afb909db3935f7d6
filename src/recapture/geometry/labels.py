"""Who counts as reference and who as candidate among pooled samples, for many labellings at once."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

_LONG = 1 << 12


@dataclass(frozen=True, eq=False)
class Labels:
    """One row per labelling, one column per pooled sample (references first, then candidates, as observed).

    A sample may be neither (left out of a subsample), never both. Where whole groups change sides, labellings of one
    batch may differ in their numbers of references and candidates (`even` is false).
    """

    reference: np.ndarray
    """(labellings, samples) bool"""
    candidate: np.ndarray
    """(labellings, samples) bool"""

    def __len__(self) -> int:
        return len(self.candidate)

    @cached_property
    def counts(self) -> tuple[np.ndarray, np.ndarray]:
        """(labellings,) how many references and how many candidates each labelling has."""
        return _counted(self.reference), _counted(self.candidate)

    @property
    def even(self) -> bool:
        """Whether all labellings have the same numbers of references and candidates."""
        return all(bool((count == count[0]).all()) for count in self.counts)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many references and how many candidates every labelling has, where all have the same."""
        reference, candidate = self.counts
        return int(reference[0]), int(candidate[0])

    @property
    def smallest(self) -> tuple[int, int]:
        """The fewest references and the fewest candidates of any labelling."""
        reference, candidate = self.counts
        return int(reference.min()), int(candidate.min())

    def by_size(self) -> Iterator[tuple[np.ndarray, Labels]]:
        """Labellings of the same sizes together: their rows, and the labels of those."""
        kinds, place = np.unique(np.stack(self.counts), axis=1, return_inverse=True)
        place = place.reshape(-1)  # NumPy 2.0 gave it another shape
        for kind in range(kinds.shape[1]):
            rows = np.flatnonzero(place == kind)
            yield rows, Labels(self.reference[rows], self.candidate[rows])


def _counted(flags: np.ndarray) -> np.ndarray:
    """How many each row has. Long rows are counted one by one, which is ten times as fast."""
    if flags.shape[1] < _LONG:
        return np.asarray(flags.sum(axis=1))
    return np.array([np.count_nonzero(row) for row in flags], np.int64)
