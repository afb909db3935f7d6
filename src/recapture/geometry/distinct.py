"""Fold repeated rows together."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from .parallel import blocks, run_tiles
from .sparse_rows import Rows, SparseRows, equal_rows

_TOGETHER = 1 << 19
"""Numbers whose bits are looked at together: they stay in a core's cache."""
_NUMBERS = 1 << 23
"""That one thread hashes in some milliseconds."""


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a set. Collapsed generators repeat themselves: each distinct row is handled once."""

    values: Rows
    """(distinct, dimensions), in the caller's dtype; the caller's own rows where none repeats."""
    weight: np.ndarray
    """How often each distinct row occurs (int64)."""
    inverse: np.ndarray
    """For every original row, its distinct row."""

    @property
    def all_different(self) -> bool:
        return len(self.values) == len(self.inverse)


class Folding(NamedTuple):
    """Which rows of a set are equal, without the rows: nothing as large as the set itself."""

    first: np.ndarray
    """Of each distinct row, where it stands first, in rising order."""
    weight: np.ndarray
    inverse: np.ndarray

    @property
    def all_different(self) -> bool:
        return len(self.first) == len(self.inverse)


def distinct_rows(values: Rows, folding: Folding | None = None) -> DistinctRows:
    """Fold equal rows (0.0 equals -0.0), in order of first appearance. folding: of these rows, where it is known."""
    folding = fold_rows(values) if folding is None else folding
    rows = values if folding.all_different else values[folding.first]
    return DistinctRows(rows, folding.weight, folding.inverse)


def fold_rows(values: Rows, hashes: np.ndarray | None = None) -> Folding:
    """Find equal rows (0.0 equals -0.0). hashes: of these rows, where they are known."""
    count = len(values)
    hashes = row_hashes(values) if hashes is None else hashes
    ordered = np.sort(hashes)
    if (ordered[1:] != ordered[:-1]).all():
        return Folding(np.arange(count), np.ones(count, np.int64), np.arange(count))
    _, first, inverse = np.unique(hashes, return_index=True, return_inverse=True)
    if len(first) < count and not _all_equal(values, first[inverse]):
        # Two different rows have the same 64-bit hash: compare whole rows instead.
        if isinstance(values, SparseRows):
            whole = np.array(values.keys(), dtype=object)
            _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
        else:
            whole = values + values.dtype.type(0)
            _, first, inverse = np.unique(whole, axis=0, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
    if len(first) == count:
        return Folding(np.arange(count), np.ones(count, np.int64), np.arange(count))
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    inverse = rank[inverse]
    return Folding(first[order], np.bincount(inverse).astype(np.int64), inverse)


def fold_codes(codes: np.ndarray) -> Folding:
    """Of samples that are equal where their codes are: whole numbers from 0 on, none far above their number. Nothing is
    sorted, which would take several times as much memory."""
    places = np.arange(len(codes))
    where = np.empty(int(codes.max()) + 1, np.int64)
    where[codes[::-1]] = places[::-1]  # what comes last stays: the first place
    first = where[codes]
    new = first == places
    inverse = (np.cumsum(new) - 1)[first]
    return Folding(np.flatnonzero(new), np.bincount(inverse).astype(np.int64), inverse)


def row_hashes(values: Rows, dtype: np.dtype | None = None) -> np.ndarray:
    """A random linear hash of each row's bits, modulo 2^64. Equal hashes are checked, so chance makes no error.

    dtype: as numbers of that type (None: their own).
    """
    dtype = values.dtype if dtype is None else dtype
    bits = np.dtype(f"u{dtype.itemsize}")
    drawn = np.random.default_rng(20).integers(0, 2**64, values.shape[1], dtype=np.uint64)
    factors = np.asarray(drawn | np.uint64(1))
    if isinstance(values, SparseRows):
        return values.hashes(factors)
    hashes = np.empty(len(values), np.uint64)
    width = max(1, values.shape[1])
    together = max(1, _TOGETHER // width)

    def fill(part: slice) -> None:
        # One small room for all rows of a part: cores that ask the system for memory wait for each other.
        room = np.empty((min(together, part.stop - part.start), values.shape[1]), dtype)
        for start in range(part.start, part.stop, together):
            rows = slice(start, min(start + together, part.stop))
            block = room[: rows.stop - rows.start]
            np.add(values[rows], dtype.type(0), out=block)  # -0.0 becomes 0.0
            hashes[rows] = np.einsum("ij,j->i", block.view(bits), factors)

    # Few calls a thread would not be worth starting it.
    run_tiles(fill, blocks(len(values), max(1, _NUMBERS // width)), "finding repeats")
    return hashes


def _all_equal(values: Rows, representative: np.ndarray, chunk: int = 4096) -> bool:
    return all(
        equal_rows(values[start : start + chunk], values[representative[start : start + chunk]])
        for start in range(0, len(values), chunk)
    )


def occurring_in(known: Rows, rows: Rows, hashes: tuple[np.ndarray, np.ndarray] | None = None) -> np.ndarray:
    """Which rows are among the known ones: the same numbers, whatever their type.

    hashes: of both, where they are known.
    """
    if isinstance(known, SparseRows) or isinstance(rows, SparseRows):
        if not (isinstance(known, SparseRows) and isinstance(rows, SparseRows)):
            return occurring_in(np.asarray(known), np.asarray(rows))
        keys = set(known.keys())
        return np.array([key in keys for key in rows.keys()], bool)  # noqa: SIM118 (no mapping)
    if hashes is None or known.dtype != rows.dtype:
        # Equal numbers of different types have different bits.
        hashes = row_hashes(known, np.dtype(np.float64)), row_hashes(rows, np.dtype(np.float64))
    found = np.zeros(len(rows), bool)
    ordered, sought = np.sort(hashes[0]), np.sort(hashes[1])
    if not (ordered[np.searchsorted(ordered[:-1], sought)] == sought).any():
        return found  # as usual; to look for every row takes several times as long
    order = np.argsort(hashes[0])
    first, behind = (np.searchsorted(ordered, hashes[1], side) for side in ("left", "right"))
    # Once, but for different rows with the same hash.
    while len(left := np.flatnonzero(~found & (first < behind))):
        for part in np.array_split(left, 1 + len(left) // 4096):
            others = known[order[first[part]]]
            found[part] = (rows[part].astype(np.float64) == others.astype(np.float64)).all(axis=1)
        first[left] += 1
    return found
