"""How likely a sum of absolute values of jointly normal numbers is to reach a limit, without drawing any.

With X = centre + L z, z standard normal in four dimensions, z = r e has a direction e, even on the sphere, and a length
r, independent of it, with P(r >= x) = exp(-x^2 / 2) (1 + x^2 / 2). Along a direction sum |X| is convex and piecewise
linear in r, so it is below the limit on one interval of lengths, whose ends are found exactly. What is left is a mean
over directions e = (sqrt(1 - s) (cos a, sin a), sqrt(s) (cos b, sin b)), which are even on the sphere where s is even
on [0, 1] and a, b on the circle: Gauss and Legendre's rule in s, equal steps in a and b. Small probabilities keep their
relative precision.
"""

from __future__ import annotations

import numpy as np

DIMENSIONS = 4
"""The covariance has at most this rank."""
_HEIGHTS = 24
_ANGLES = 96
"""Nodes: probabilities above .001 are right to 2e-4 of their value, those above 1e-15 to 4e-3."""


def tail_of_absolute_sum(limit: float, centre: np.ndarray, covariance: np.ndarray) -> float:
    """P(sum of |X_k| >= limit) for X normal with this mean (numbers,) and covariance (numbers, numbers)."""
    if limit <= 0:
        return 1.0
    first, second = _axes(covariance)
    heights, weights = np.polynomial.legendre.leggauss(_HEIGHTS)
    angles = 2 * np.pi * (np.arange(_ANGLES) + 0.5) / _ANGLES
    round_first, round_second = (axes @ np.stack([np.cos(angles), np.sin(angles)]) for axes in (first, second))
    total = 0.0
    for height, weight in zip((heights + 1) / 2, weights / 2, strict=True):
        steps = np.sqrt(1 - height) * round_first[:, :, None] + np.sqrt(height) * round_second[:, None, :]
        total += float(weight) * float(_beyond(limit, centre, steps.reshape(len(centre), -1)).mean())
    return min(1.0, total)


def mean_of_absolute_sum(centre: np.ndarray, covariance: np.ndarray) -> float:
    """The expected sum of |X_k|."""
    from scipy.special import ndtr

    spread = np.sqrt(np.maximum(np.diagonal(covariance), 0))
    moving = spread > 0
    ratio = centre[moving] / spread[moving]
    folded = spread[moving] * np.sqrt(2 / np.pi) * np.exp(-(ratio**2) / 2) + centre[moving] * (1 - 2 * ndtr(-ratio))
    return float(folded.sum() + np.abs(centre[~moving]).sum())


def _axes(covariance: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """(numbers, 2) twice: the two longest axes of the covariance, and the next two."""
    sizes, directions = np.linalg.eigh(covariance)
    axes = (directions * np.sqrt(np.maximum(sizes, 0)))[:, ::-1][:, :DIMENSIONS]
    axes = np.pad(axes, ((0, 0), (0, DIMENSIONS - axes.shape[1])))
    return axes[:, :2], axes[:, 2:]


def _beyond(limit: float, centre: np.ndarray, steps: np.ndarray) -> np.ndarray:
    """(directions,) the chance of a length at which the sum is at least the limit; steps: (numbers, directions)."""
    start = float(np.abs(centre).sum())
    slope = np.abs(steps).sum(axis=0)
    with np.errstate(divide="ignore"):
        far = np.where(slope > 0, (limit + start) / slope, np.inf)  # the sum has reached the limit by then
    if start == 0:
        return _longer(far)
    upper, met = _crossing(limit, centre, steps, far)
    beyond = np.where(met, _longer(upper), 1.0)
    if start >= limit:  # lengths near 0 count, too
        lower, fell = _crossing(limit, centre, steps, np.zeros_like(far))
        beyond = np.where(met & fell, beyond + 1 - _longer(lower), 1.0)
    return np.where(slope > 0, beyond, float(start >= limit))


def _crossing(limit: float, centre: np.ndarray, steps: np.ndarray, length: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Where the sum comes down to the limit on the way from these lengths to its lowest point, and whether it does.

    Newton's steps never leave that side of a convex function, and end on its last straight piece.
    """
    from_right = bool(length.any())
    met = np.isfinite(length)
    length = np.where(met, length, 0.0)
    for _ in range(len(centre) + 1):
        at = centre[:, None] + length * steps
        above = np.abs(at).sum(axis=0) - limit
        slope = (np.sign(at) * steps).sum(axis=0)
        downhill = slope > 0 if from_right else slope < 0
        met &= downhill | (above <= 0)
        move = np.divide(above, slope, out=np.zeros_like(slope), where=downhill & (above > 0))
        length = length - move
    return length, met


def _longer(length: np.ndarray) -> np.ndarray:
    """P(a standard normal in four dimensions is longer)."""
    half = length**2 / 2
    with np.errstate(invalid="ignore"):
        return np.where(np.isinf(half), 0.0, np.exp(-half) * (1 + half))
