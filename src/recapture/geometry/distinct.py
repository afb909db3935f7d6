"""Fold repeated rows together."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from .parallel import blocks, run_tiles


@dataclass(frozen=True)
class DistinctRows:
    """The different rows of a set. Collapsed generators repeat themselves: each distinct row is handled once."""

    values: np.ndarray
    """(distinct, dimensions), in the caller's dtype; the caller's own array where no row repeats."""
    weight: np.ndarray
    """How often each distinct row occurs (int64)."""
    inverse: np.ndarray
    """For every original row, its distinct row."""

    @property
    def all_different(self) -> bool:
        return len(self.values) == len(self.inverse)


def distinct_rows(values: np.ndarray) -> DistinctRows:
    """Fold equal rows (0.0 equals -0.0), in order of first appearance."""
    count = len(values)
    _, first, inverse = np.unique(_row_hashes(values), return_index=True, return_inverse=True)
    if len(first) < count and not _all_equal(values, first[inverse]):
        # Two different rows have the same 64-bit hash: compare whole rows instead.
        _, first, inverse = np.unique(values + values.dtype.type(0), axis=0, return_index=True, return_inverse=True)
        inverse = inverse.reshape(-1)
    if len(first) == count:
        return DistinctRows(values, np.ones(count, np.int64), np.arange(count))
    order = np.argsort(first)
    rank = np.empty_like(order)
    rank[order] = np.arange(len(order))
    inverse = rank[inverse]
    return DistinctRows(values[first[order]], np.bincount(inverse).astype(np.int64), inverse)


def _row_hashes(values: np.ndarray) -> np.ndarray:
    """A random linear hash of each row's bits, modulo 2^64. Equal hashes are checked, so chance makes no error."""
    bits = np.dtype(f"u{values.dtype.itemsize}")
    factors = np.random.default_rng(20).integers(0, 2**64, values.shape[1], dtype=np.uint64) | np.uint64(1)
    hashes = np.empty(len(values), np.uint64)

    def fill(part: slice) -> None:
        block = values[part] + values.dtype.type(0)  # -0.0 becomes 0.0
        hashes[part] = block.view(bits).astype(np.uint64) @ factors

    run_tiles(fill, blocks(len(values), 512), "finding repeats")
    return hashes


def _all_equal(values: np.ndarray, representative: np.ndarray, chunk: int = 4096) -> bool:
    return all(
        np.array_equal(values[start : start + chunk], values[representative[start : start + chunk]])
        for start in range(0, len(values), chunk)
    )
