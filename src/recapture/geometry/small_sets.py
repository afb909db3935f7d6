"""Many small sets of samples, checked once, and which of them are compared with which."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from .arrays import as_matrix


@dataclass(frozen=True)
class SmallSets:
    """Sets of any sizes, 0 included, over the same dimensions; a set that takes part in many pairs is here once."""

    values: list[np.ndarray]
    sizes: np.ndarray
    pairs: np.ndarray
    """(pairs, 2): number of the reference set, number of the candidate set."""

    @classmethod
    def of(cls, sets: Sequence[Any], pairs: Sequence[tuple[int, int]] | np.ndarray) -> SmallSets:
        values = [_checked(each, f"set {number} (counting from 0)") for number, each in enumerate(sets)]
        widths = {each.shape[1]: number for number, each in reversed(list(enumerate(values))) if len(each)}
        if len(widths) > 1:
            (width, number), (other_width, other_number) = sorted(widths.items(), key=lambda item: item[1])[:2]
            raise InputError(
                f"set {number} has {width} dimensions and set {other_number} has {other_width}: "
                "all must come from the same encoder"
            )
        sizes = np.array([len(each) for each in values], np.int64)
        return cls(values, sizes, _checked_pairs(pairs, len(values)))

    @property
    def pair_sizes(self) -> np.ndarray:
        """(pairs, 2): how many samples the two sets of each pair have."""
        sizes: np.ndarray = self.sizes[self.pairs]
        return sizes

    def pair_batches(self, which: np.ndarray, numbers: int) -> Iterator[np.ndarray]:
        """These pairs in parts whose different sets hold at most about so many numbers, a shared reference together."""
        batch: list[int] = []
        there: set[int] = set()
        held = 0
        for pair in which[np.lexsort(self.pairs[which].T[::-1])].tolist():
            new = set(self.pairs[pair].tolist()) - there
            more = sum(self.values[each].size for each in new)
            if batch and held + more > numbers:
                yield np.array(batch)
                batch, there, held = [], set(), 0
                new = set(self.pairs[pair].tolist())
                more = sum(self.values[each].size for each in new)
            batch.append(pair)
            there |= new
            held += more
        if batch:
            yield np.array(batch)


def _checked(values: Any, name: str) -> np.ndarray:
    # A text without samples is no mistake here: its pairs have no answer.
    if isinstance(values, np.ndarray) and values.ndim == 2 and len(values) == 0:
        return values
    return np.asarray(as_matrix(values, name))


def _checked_pairs(pairs: Sequence[tuple[int, int]] | np.ndarray, sets: int) -> np.ndarray:
    table = np.asarray(pairs)
    if table.size == 0:
        return np.empty((0, 2), np.int64)
    if table.ndim != 2 or table.shape[1] != 2 or table.dtype.kind not in "iu":
        raise InputError("pairs must be pairs of whole numbers: reference set, candidate set")
    wrong = np.flatnonzero(((table < 0) | (table >= sets)).any(axis=1))
    if len(wrong):
        pair = tuple(table[wrong[0]].tolist())
        raise InputError(f"pair {wrong[0]} (counting from 0) is {pair}, but sets are numbered from 0 to {sets - 1}")
    return table.astype(np.int64)
