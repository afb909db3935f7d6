"""The directions in which rows differ most (principal components), for maps."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from .parallel import blocks, one_blas_thread
from .sparse_rows import CentredTiles, Rows, SparseRows

_ROWS = 960
_MORE = 8
"""Directions beyond those wanted, which makes the wanted ones good."""
_STEPS = 30
_NUMBERS = 1 << 26
"""How many numbers the directions are found from; of larger sets some rows have to do, spread over all."""


class PrincipalPlane(NamedTuple):
    at: np.ndarray
    """(rows, directions) float64: along the direction of most variance, then of most of what is left."""
    shares: np.ndarray
    """Of all variance, by direction; all of it in the first where there is none."""


def principal_plane(
    rows: Rows | CentredTiles, weight: np.ndarray | None = None, seed: int = 0, directions: int = 2
) -> PrincipalPlane:
    """weight: how often each row counts (None: once). directions: how many.

    By subspace iteration from a seeded start: word counts with very many columns are never made whole. The sign of each
    direction is such that its largest coordinate is positive.
    """
    count = np.ones(len(rows)) if weight is None else weight.astype(np.float64)
    total = count.sum()
    held: Any = _Sparse(rows) if isinstance(rows, SparseRows) else _Dense(rows)
    width = min(directions + _MORE, *rows.shape)
    start = np.random.default_rng(seed).standard_normal((rows.shape[1], width))
    with one_blas_thread:  # several would round differently with their number
        mean = held.sums(count) / total
        base = np.linalg.qr(start)[0]
        for _ in range(_STEPS):
            base = np.linalg.qr(held.spread(base, mean, count))[0]
        at = held.along(base, mean)
        # Turned so that the directions are those of most variance among these few.
        sizes, turn = np.linalg.eigh((at * count[:, None]).T @ at)
        first = at @ turn[:, ::-1][:, :directions]
        every = held.squares(mean, count)
    plane = np.zeros((len(rows), directions))
    plane[:, : first.shape[1]] = first
    largest = plane[np.abs(plane).argmax(axis=0), np.arange(directions)]
    plane *= np.where(largest < 0, -1.0, 1.0)
    shares = np.zeros(directions)
    shares[0] = 1.0
    if every > 0:
        shares[: first.shape[1]] = np.clip(sizes[::-1][:directions] / every, 0.0, 1.0)
    return PrincipalPlane(plane, shares)


class _Dense:
    """Block by block, in float64."""

    def __init__(self, values: np.ndarray | CentredTiles) -> None:
        self.values: Any = values
        self.parts = blocks(len(values), _ROWS)
        step = max(1, -(-values.shape[0] * values.shape[1] // _NUMBERS))
        some = np.arange(0, len(values), step)
        self.some = [some[part] for part in blocks(len(some), _ROWS)]

    def _centred(self, part: Any, mean: np.ndarray) -> np.ndarray:
        centred: np.ndarray = self.values[part].astype(np.float64) - mean
        return centred

    def sums(self, count: np.ndarray) -> np.ndarray:
        every = [count[part] @ self.values[part].astype(np.float64) for part in self.parts]
        return np.asarray(np.sum(every, axis=0))

    def spread(self, base: np.ndarray, mean: np.ndarray, count: np.ndarray) -> np.ndarray:
        """The covariance, not divided by anything, times the directions."""
        spread = np.zeros_like(base)
        for part in self.some:
            block = self._centred(part, mean)
            spread += block.T @ (count[part, None] * (block @ base))
        return spread

    def along(self, base: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return np.concatenate([self._centred(part, mean) @ base for part in self.parts])

    def squares(self, mean: np.ndarray, count: np.ndarray) -> float:
        return float(sum(count[part] @ (self._centred(part, mean) ** 2).sum(axis=1) for part in self.parts))


class _Sparse:
    """What is 0 stays unwritten: the mean is taken off afterwards."""

    def __init__(self, rows: SparseRows) -> None:
        self.matrix: Any = rows.matrix.astype(np.float64)

    def sums(self, count: np.ndarray) -> np.ndarray:
        return np.asarray(self.matrix.T @ count)

    def spread(self, base: np.ndarray, mean: np.ndarray, count: np.ndarray) -> np.ndarray:
        at = count[:, None] * self.along(base, mean)
        return np.asarray(self.matrix.T @ at - np.outer(mean, at.sum(axis=0)))

    def along(self, base: np.ndarray, mean: np.ndarray) -> np.ndarray:
        return np.asarray(self.matrix @ base - mean @ base)

    def squares(self, mean: np.ndarray, count: np.ndarray) -> float:
        return float(count @ self.matrix.multiply(self.matrix).sum(axis=1)) - float(count.sum() * (mean @ mean))
