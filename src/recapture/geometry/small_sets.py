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

    @property
    def width(self) -> int:
        """How many dimensions there are; 0 where no set has a sample."""
        return next((each.shape[1] for each in self.values if len(each)), 0)


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


def similar_sizes(sizes: np.ndarray, width: int, cells: int, numbers: int, similar: int = 1) -> Iterator[np.ndarray]:
    """Positions of pairs of similar sizes (pairs, 2), as many together as, filled up to one size, have at most so many
    distances (cells) and so many numbers in their rows; a larger pair comes alone.

    similar: first sizes that differ by less than this may be as good as equal, so that second ones are similar, too.
    """
    order = np.lexsort((sizes[:, 1], -(-sizes[:, 0] // similar)))
    start = tall = wide = 0
    for at, (first, second) in enumerate(sizes[order].tolist()):
        tall, wide, count = max(tall, first), max(wide, second), at - start + 1
        if count > 1 and (count * tall * wide > cells or count * (tall + wide) * width > numbers):
            yield order[start:at]
            start, tall, wide = at, first, second
    if len(order):
        yield order[start:]
