"""Fold repeated rows together."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

import numpy as np

from .parallel import blocks, run_tiles
from .sparse_rows import Rows, SparseRows, equal_rows


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


def fold_rows(values: Rows) -> Folding:
    """Find equal rows (0.0 equals -0.0)."""
    count = len(values)
    _, first, inverse = np.unique(_row_hashes(values), return_index=True, return_inverse=True)
    if len(first) < count and not _all_equal(values, first[inverse]):
        # Two different rows have the same 64-bit hash: compare whole rows instead.
        if isinstance(values, SparseRows):
            whole = np.array(values.keys(), dtype=object)
            _, first, inverse = np.unique(whole, return_index=True, return_inverse=True)
        else:
            whole = values + values.dtype.type(0)
            _, first, inverse = np.unique(whole, axis=0, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
    return _folding(first, inverse)


def fold_codes(codes: np.ndarray) -> Folding:
    """Of samples that are equal where their codes are."""
    _, first, inverse = np.unique(codes, return_index=True, return_inverse=True)
    return _folding(first, inverse)


def _folding(first: np.ndarray, inverse: np.ndarray) -> Folding:
    """In order of first appearance, from what `np.unique` says."""
    count = len(inverse)
    if len(first) == count:
        return Folding(np.arange(count), np.ones(count, np.int64), np.arange(count))
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    inverse = rank[inverse]
    return Folding(first[order], np.bincount(inverse).astype(np.int64), inverse)


def _row_hashes(values: Rows, kind: np.dtype | None = None) -> np.ndarray:
    """A random linear hash of each row's bits, modulo 2^64. Equal hashes are checked, so chance makes no error.

    kind: the type whose bits are taken, where rows of several types are compared.
    """
    kind = values.dtype if kind is None else kind
    bits = np.dtype(f"u{kind.itemsize}")
    drawn = np.random.default_rng(20).integers(0, 2**64, values.shape[1], dtype=np.uint64)
    factors = np.asarray(drawn | np.uint64(1))
    if isinstance(values, SparseRows):
        return values.hashes(factors)
    hashes = np.empty(len(values), np.uint64)

    def fill(part: slice) -> None:
        block = values[part].astype(kind, copy=False) + kind.type(0)  # -0.0 becomes 0.0
        hashes[part] = block.view(bits).astype(np.uint64) @ factors

    run_tiles(fill, blocks(len(values), 512), "finding repeats")
    return hashes


def _all_equal(values: Rows, representative: np.ndarray, chunk: int = 4096) -> bool:
    return all(
        equal_rows(values[start : start + chunk], values[representative[start : start + chunk]])
        for start in range(0, len(values), chunk)
    )


def count_among(values: Rows, others: Rows) -> int:
    """How many rows of one set are equal to some row of another, whatever their types of numbers."""
    if values.shape[1] != others.shape[1]:
        return 0
    if isinstance(values, SparseRows) or isinstance(others, SparseRows):
        known = set(row_digests(others))
        return sum(digest in known for digest in row_digests(values))
    kind = np.dtype(np.float64)
    mine, theirs = _row_hashes(values, kind), _row_hashes(others, kind)
    maybe = np.flatnonzero(np.isin(mine, theirs))
    known = set(_digests_at(others, np.flatnonzero(np.isin(theirs, mine[maybe]))))
    return sum(digest in known for digest in _digests_at(values, maybe))


def _digests_at(values: np.ndarray, places: np.ndarray, chunk: int = 4096) -> Iterator[bytes]:
    for start in range(0, len(places), chunk):
        yield from row_digests(values[places[start : start + chunk]])


def row_digests(values: Rows) -> list[bytes]:
    """A short key of every row; rows of one length that are equal, whatever their type of numbers, have the same."""
    if isinstance(values, SparseRows):
        return [_digest(key) for key in values.keys()]  # noqa: SIM118 (no mapping)
    # Adding 0 turns -0 into 0: equal numbers then have equal bytes, whatever their type.
    return [_digest((row.astype(np.float64) + 0.0).tobytes()) for row in values]


def _digest(key: bytes) -> bytes:
    return blake2b(key, digest_size=16).digest()
