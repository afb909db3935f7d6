"""Fréchet distance between the Gaussians fitted to two sets (FID, without the Inception network).

Heusel, Ramsauer, Unterthiner, Nessler and Hochreiter (2017), GANs Trained by a Two Time-Scale Update Rule, Eq. 6:

    |mu - mu'|^2 + tr C + tr C' - 2 tr (C C')^(1/2)

With A and B the centred rows over sqrt(n - 1) and sqrt(m - 1), C = A'A and C' = B'B, and the last trace is the sum of
the singular values of A B'. No matrix square root is taken: nothing can turn complex or, when n < d, break down.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..geometry.products import power_of_two_below
from ..results.result import Result
from .metric import INFINITY, Measurement, Metric, Output
from .pair import Pair
from .run import measure

_BLOCK = 4096
# Largest share of the total variance that the fast route may be wrong by.
_TOLERANCE = 1e-9


def frechet(
    reference: Any, candidate: Any, *, balance: bool | int = False, seed: int = 0, encoder: Any = None
) -> Result:
    """Squared Fréchet distance of two sets, 0 at best; `.value`."""
    return measure(METRIC, reference, candidate, balance=balance, seed=seed, encoder=encoder)


def _measure(pair: Pair) -> Measurement:
    # Fourth powers of the data appear on the way: very large or small ones are brought near 1 first.
    reach = max(abs(float(bound)) for points in (pair.reference, pair.candidate) for bound in points.bounds)
    scale = 1.0 if 1e-60 < reach < 1e60 else power_of_two_below(reach)
    a, b = _Rows(pair.reference.values, scale), _Rows(pair.candidate.values, scale)
    gap = float(np.sum((a.mean - b.mean) ** 2)) / scale**2
    spread = _covariance_distance(a, b) / scale**2
    return Measurement(
        values={"value": gap + spread},
        details={"mean_part": gap, "covariance_part": spread},
        warnings=tuple(_warnings(pair)),
    )


def _warnings(pair: Pair) -> list[str]:
    few, dimensions = min(pair.sizes.values()), pair.reference.values.shape[1]
    if few <= dimensions:
        return [
            f"{few} samples are few for a covariance in {dimensions} dimensions: "
            "the distance is biased upwards; compare only sets of equal size"
        ]
    return pair.unequal_sizes("smaller sets have a larger distance")


def _covariance_distance(a: _Rows, b: _Rows) -> float:
    if a.count > a.dimensions and b.count > b.dimensions:
        distance = _by_covariances(a.covariance(), b.covariance())
        if distance is not None:
            return distance
    left, right = a.factor(), b.factor()
    shared = np.linalg.svd(left @ right.T, compute_uv=False).sum()
    return max(0.0, float(np.sum(left**2) + np.sum(right**2) - 2 * shared))


def _by_covariances(c: np.ndarray, c_other: np.ndarray) -> float | None:
    """The faster way: tr (C C')^(1/2) from the eigenvalues of L'C'L, C = L L'.

    None where C is singular or digits would be lost.
    """
    try:
        lower = np.linalg.cholesky(c)
    except np.linalg.LinAlgError:
        return None
    squares = np.linalg.eigvalsh(lower.T @ c_other @ lower)
    if squares[0] <= 0:
        return None
    roots = np.sqrt(squares)
    # An eigenvalue is right to about eps |C| |C'|; its root loses digits where it is small.
    error = 8 * np.finfo(float).eps * float(np.linalg.norm(c) * np.linalg.norm(c_other)) * float(np.sum(0.5 / roots))
    total = float(np.trace(c) + np.trace(c_other))
    return max(0.0, total - 2 * float(roots.sum())) if error <= _TOLERANCE * total else None


class _Rows:
    """Centred rows over sqrt(count - 1), never held as a whole when there are many."""

    def __init__(self, values: np.ndarray, scale: float) -> None:
        self.values, self.scale = values, scale
        self.count, self.dimensions = values.shape
        self.mean = values.mean(axis=0, dtype=np.float64) * scale

    def _blocks(self) -> Iterator[np.ndarray]:
        size = max(_BLOCK, 2 * self.dimensions)
        for start in range(0, self.count, size):
            block = self.values[start : start + size]
            block = (block if self.scale == 1 else block * self.scale) - self.mean
            block *= 1 / np.sqrt(self.count - 1)
            yield block

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


METRIC = Metric(
    name="frechet",
    title="Fréchet distance",
    outputs=(Output("value", "squared Fréchet distance of the fitted Gaussians", (0.0, INFINITY)),),
    direction="lower",
    measure=_measure,
    swapped={"value": "value"},
    order=50,
    citation="Heusel et al. 2017, GANs Trained by a Two Time-Scale Update Rule, NeurIPS",
)
