"""Means of systems that do not depend on the order in which they are summed.

0.1 + 0.2 + 0.3 and 0.3 + 0.2 + 0.1 are different floats, and Kendall's or Spearman's coefficient takes the difference
for an order of two systems that have equal means. Means that lie no further apart than rounding can move them are made
equal here, for every part of this package.
"""

from __future__ import annotations

import numpy as np

_SHARE = 1e-12
"""Of the spread of scores: far above what sums in another order differ by, far below what any score says."""
_UNITS = 8
"""Roundings of the largest score: 0.1 is not quite a tenth, and beside a large number that is much."""

_SMALL = 1e-100


def unit_scale(scores: np.ndarray, axis: int | None = None) -> np.ndarray:
    """Scores of a size whose squares, sums and differences are neither too large nor too small for a float: as they
    are if they can be, else times a power of two, which is exact, that takes the largest to between 1/2 and 1."""
    shift = exponents(np.fmax.reduce(np.abs(scores), axis=axis, keepdims=True, initial=0.0))
    return scores if shift is None else np.asarray(np.ldexp(scores, shift))


def exponents(largest: np.ndarray) -> np.ndarray | None:
    """Of those powers of two; None where all numbers may stay as they are."""
    if ((largest == 0) | (largest > _SMALL) & (largest < 1 / _SMALL)).all():
        return None
    return np.asarray(-np.frexp(largest)[1])


def system_means(scores: np.ndarray) -> np.ndarray:
    """(systems, inputs) without NaN: settled means by system, up to scale and shift, which no coefficient sees."""
    centred, slack = centred_scores(scores)
    return settled(centred.mean(axis=1), slack)


def centred_scores(scores: np.ndarray) -> tuple[np.ndarray, float]:
    """Scores of one scale from 0 upwards, and how far apart equal means of them may come to lie."""
    scaled = unit_scale(scores)
    return scaled - scaled.min(), slack_of(scaled)


def slack_of(*scores: np.ndarray) -> float:
    known = [side[np.isfinite(side)] for side in scores]
    spread = max((float(np.ptp(side)) for side in known if len(side)), default=0.0)
    largest = max((float(np.abs(side).max()) for side in known if len(side)), default=0.0)
    return _SHARE * spread + _UNITS * float(np.finfo(np.float64).eps) * largest


def settled(means: np.ndarray, slack: float) -> np.ndarray:
    """Along the last axis, neighbours no further apart than the slack are made equal, to the smallest of them; NaN
    stays."""
    order = np.argsort(means, axis=-1, kind="stable")
    ordered = np.take_along_axis(means, order, axis=-1)
    fresh = np.ones(means.shape, bool)
    fresh[..., 1:] = ~(ordered[..., 1:] - ordered[..., :-1] <= slack)
    place = np.where(fresh, np.arange(means.shape[-1]), 0)
    first = np.take_along_axis(ordered, np.maximum.accumulate(place, axis=-1), axis=-1)
    equalled = np.empty_like(means)
    np.put_along_axis(equalled, order, first, axis=-1)
    return equalled
