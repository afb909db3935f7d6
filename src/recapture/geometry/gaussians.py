"""How far apart the covariances of two sets of rows are, in the sense of the Fréchet distance of Gaussians.

With A and B the centred rows over sqrt(n - 1) and sqrt(m - 1), C = A'A and C' = B'B,

    tr C + tr C' - 2 tr (C C')^(1/2),

and the last trace is the sum of the singular values of A B'. No matrix square root is taken: nothing can turn complex
or, when n < d, break down.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import nullcontext
from functools import cached_property

import numpy as np

from ..progress import Progress
from .devices import accelerator_for, tried_on
from .sparse_rows import Rows, SparseRows

_BLOCK = 4096
# Largest share of the total variance that the fast route may be wrong by.
_TOLERANCE = 1e-9


class CentredRows:
    """Centred rows over sqrt(count - 1), never held as a whole when there are many."""

    def __init__(self, values: Rows, scale: float = 1.0) -> None:
        self.values, self.scale = values, scale
        self.count, self.dimensions = values.shape

    @cached_property
    def mean(self) -> np.ndarray:
        """Unless a device has found it."""
        return np.asarray(self.values.mean(axis=0, dtype=np.float64) * self.scale)

    def _blocks(self) -> Iterator[np.ndarray]:
        size = max(_BLOCK, 2 * self.dimensions)
        starts = range(0, self.count, size)
        with Progress("covariance", len(starts), "block") if len(starts) > 1 else nullcontext() as progress:
            for start in starts:
                part = self.values[start : start + size]
                if isinstance(part, SparseRows):
                    block = np.asarray(part, np.float64)
                    block *= self.scale
                    block -= self.mean
                else:
                    block = (part if self.scale == 1 else part * self.scale) - self.mean
                block *= 1 / np.sqrt(self.count - 1)
                yield block
                if progress is not None:
                    progress.advance()

    def covariance(self) -> np.ndarray:
        total = np.zeros((self.dimensions, self.dimensions))
        for block in self._blocks():
            total += block.T @ block
        return total

    def factor(self) -> np.ndarray:
        """F with F'F = C and at most `dimensions` rows: the rows themselves, or the R of their QR decomposition."""
        factor: np.ndarray = np.empty((0, self.dimensions))
        for block in self._blocks():
            factor = np.concatenate([factor, block])
            if len(factor) > self.dimensions:
                factor = np.asarray(np.linalg.qr(factor, mode="r"))
        return factor


def device_for(n: int, m: int, dimensions: int, labellings: int = 1) -> str | None:
    """Where the distance of so many rows from so many others is made, for so many labellings; None: here.

    In pairs of vectors with 384 numbers, which take as long. Each row is multiplied by as many others, or coordinates,
    as the root has rows; the root itself takes as long as 16 rows for each of its own.
    """
    root = min(n, m, dimensions)
    return accelerator_for(labellings * (n + m + 16 * root), dimensions * root // 384)


def _made_there(device: str, a: CentredRows, b: CentredRows) -> float | None:
    from .device_gaussians import covariance_distance_on

    return covariance_distance_on(device, a, b)


def covariance_distance(a: CentredRows, b: CentredRows) -> float:
    """tr C + tr C' - 2 tr (C C')^(1/2), never below 0."""
    if isinstance(a.values, np.ndarray) and isinstance(b.values, np.ndarray):
        there = tried_on(device_for(a.count, b.count, a.dimensions), lambda device: _made_there(device, a, b))
        if there is not None:
            return there
    if a.count > a.dimensions and b.count > b.dimensions:
        c, c_other = a.covariance(), b.covariance()
        total = float(np.trace(c) + np.trace(c_other))
        lower = lower_factor(c)
        if lower is not None:
            size = float(np.linalg.norm(c) * np.linalg.norm(c_other))
            # What is not needed any more makes room: these matrices are large where there are many dimensions.
            del c
            squared = lower.T @ c_other
            del c_other
            squared = squared @ lower
            del lower
            shared = root_trace(squared, size, total)
            if shared is not None:
                return max(0.0, total - 2 * shared)
    left, right = a.factor(), b.factor()
    return max(0.0, float(np.sum(left**2) + np.sum(right**2) - 2 * shared_spread(left, right)))


def lower_factor(c: np.ndarray) -> np.ndarray | None:
    """L with C = L L', None where C is singular."""
    try:
        return np.linalg.cholesky(c)
    except np.linalg.LinAlgError:
        return None


def root_trace(squared: np.ndarray, size: float, total: float) -> float | None:
    """The faster way: tr (C C')^(1/2) from the eigenvalues of F C' F', C = F'F.

    size: what the rounding error of `squared` is relative to, such as |C| |C'|; total: tr C + tr C'.
    None where `squared` is singular or digits would be lost.
    """
    squares = np.linalg.eigvalsh(squared)
    if squares[0] <= 0:
        return None
    roots = np.sqrt(squares)
    # An eigenvalue is right to about eps `size`; its root loses digits where it is small.
    error = 8 * np.finfo(float).eps * size * float(np.sum(0.5 / roots))
    return float(roots.sum()) if error <= _TOLERANCE * total else None


def shared_spread(left: np.ndarray, right: np.ndarray) -> float:
    """The careful way: tr (C C')^(1/2) from factors of C and C'."""
    return float(np.linalg.svd(left @ right.T, compute_uv=False).sum())
