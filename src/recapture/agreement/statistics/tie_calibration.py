"""Tie calibration: how far apart a metric's scores must be to count as different.

Deutsch, Foster and Freitag (2023), Ties Matter: real scores hardly ever tie, people's do; so every metric is given the
epsilon with which the share of pairs ordered or tied alike (acc-eq) is highest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...declarations import Direction
from ...errors import InputError
from ..data.directions import as_floats, oriented
from .argument_checks import check_choice

_MOST_PAIRS = 1 << 24
"""All pairs are sorted: this bounds memory."""


class Calibration(NamedTuple):
    epsilon: float
    """Metric scores no further apart are tied; the smallest of the best."""
    value: float
    """acc-eq with that epsilon, the mean over groups."""
    before: float
    """acc-eq with exact ties only."""


def tie_calibration(metric: ArrayLike, human: ArrayLike, direction: Direction = "higher") -> Calibration:
    """The epsilon for which a metric's share of pairs ordered or tied as by people (acc-eq) is highest.

    Looked for among 0 and all differences of two scores that are compared. Chosen and measured on the same scores, so
    it flatters a little; the same for all metrics compared.

    Parameters
    ----------
    metric, human
        (systems, inputs): pairs of systems on one input, and the mean over inputs. Or one vector each: all pairs. NaN
        is left out.
    direction
        Which way the metric is better.

    Returns
    -------
    Calibration
        epsilon, the share with it (value) and with exact ties alone (before).

    Examples
    --------
    People tie the first two systems, which the metric tells apart by 0.01.

    >>> import recapture as rc
    >>> found = rc.tie_calibration([0.30, 0.31, 0.50, 0.90], [1, 1, 2, 3])
    >>> round(found.epsilon, 4), round(found.value, 4), round(found.before, 4)
    (0.01, 1.0, 0.8333)
    """
    check_choice("direction", direction, ("higher", "lower"))
    scores, ratings = oriented(metric, direction), as_floats(human, "ratings")
    if ratings.shape != scores.shape or ratings.ndim not in (1, 2):
        raise InputError(f"ratings have the shape {ratings.shape}, but scores {scores.shape}: they must be equal")
    return _calibrated(*(np.atleast_2d(side.T) for side in (ratings, scores)))


def _calibrated(human: np.ndarray, metric: np.ndarray) -> Calibration:
    """Of groups in rows."""
    known = np.isfinite(human) & np.isfinite(metric)
    counts = known.sum(axis=1)
    pairs = counts * (counts - 1) // 2
    total = int(pairs.sum())
    if not total:
        raise InputError("tie calibration needs at least two items with both scores")
    if total > _MOST_PAIRS:
        raise InputError(
            f"tie calibration sorts all pairs, {total:,} here and at most {_MOST_PAIRS:,}: "
            "group the scores by input, or take a sample of them"
        )
    human, metric, known, pairs = (side[pairs > 0] for side in (human, metric, known, pairs))
    weight = 1 / pairs / len(pairs)
    right = np.zeros(len(pairs), np.int64)
    gaps, gains = [], []
    for lag in range(1, human.shape[1]):
        both = known[:, lag:] & known[:, :-lag]
        which = np.nonzero(both)[0]
        sides = [(side[:, lag:] - side[:, :-lag])[both] for side in (human, metric)]
        agree = np.sign(sides[0]) == np.sign(sides[1])
        right += np.bincount(which[agree], minlength=len(right))
        # A pair that becomes a tie is right where people tie it.
        gains.append(weight[which] * ((sides[0] == 0).astype(np.float64) - agree))
        gaps.append(np.abs(sides[1]))
    gap, gain = np.concatenate(gaps), np.concatenate(gains)
    order = np.argsort(gap, kind="stable")
    gap = gap[order]
    last = np.append(gap[1:] != gap[:-1], True)
    reached = np.append(0.0, np.cumsum(gain[order])[last])
    best = int(np.argmax(np.round(reached, 12)))  # rounded, so that equal sums are equal
    alike = float((right / pairs).mean())
    return Calibration(float(np.append(0.0, gap[last])[best]), alike + float(reached[best]), alike)
