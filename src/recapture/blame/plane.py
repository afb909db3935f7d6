"""A map of texts: the two directions in which the pooled texts differ most (principal components)."""

from __future__ import annotations

import numpy as np

from ..geometry.clusters import ClusterRows
from ..geometry.parallel import blocks, one_blas_thread
from ..geometry.sparse_rows import SparseRows

_ROWS = 960
_DIRECTIONS = 10
"""More than two, which makes the first two good."""
_STEPS = 30
_NUMBERS = 1 << 26
"""How many numbers the directions are found from; of larger sets some rows have to do, spread over all."""


def principal_plane(rows: ClusterRows, seed: int = 0) -> np.ndarray:
    """(samples, 2) float64 coordinates: along the direction of most variance, and of most of what is left.

    By subspace iteration from a seeded start, so that word counts with very many columns cost little, too. The sign
    of each direction is such that its largest coordinate is positive.
    """
    values, weight = rows.values, rows.weight.astype(np.float64)
    assert not isinstance(values, SparseRows)  # centred, they are not sparse
    parts = blocks(len(values), _ROWS)
    step = -(-values.shape[0] * values.shape[1] // _NUMBERS)
    some = _every(len(values), max(1, step))
    total = weight.sum()
    width = min(_DIRECTIONS, *values.shape)
    start = np.random.default_rng(seed).standard_normal((values.shape[1], width))
    with one_blas_thread:  # several would round differently with their number
        mean = np.sum([weight[part] @ values[part].astype(np.float64) for part in parts], axis=0) / total
        base = np.linalg.qr(start)[0]
        for _ in range(_STEPS):
            spread = np.zeros_like(base)
            for part in some:
                block = values[part].astype(np.float64) - mean
                spread += block.T @ (weight[part, None] * (block @ base))
            base = np.linalg.qr(spread)[0]
        at = np.concatenate([(values[part].astype(np.float64) - mean) @ base for part in parts])
        # Turned so that the directions are those of most variance among these few.
        turn = np.linalg.eigh((at * weight[:, None]).T @ at)[1]
        two = at @ turn[:, ::-1][:, :2]
    plane = np.zeros((len(values), 2))
    plane[:, : two.shape[1]] = two
    largest = plane[np.abs(plane).argmax(axis=0), [0, 1]]
    plane *= np.where(largest < 0, -1.0, 1.0)
    placed: np.ndarray = plane[rows.inverse]
    return placed


def _every(count: int, step: int) -> list[np.ndarray]:
    """Every so many rows, in blocks."""
    chosen = np.arange(0, count, step)
    return [chosen[part] for part in blocks(len(chosen), _ROWS)]
