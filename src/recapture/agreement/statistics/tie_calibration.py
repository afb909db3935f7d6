"""Tie calibration: how far apart a metric's scores must be to count as different.

Deutsch, Foster and Freitag (2023), Ties Matter: real scores hardly ever tie, people's do; so every metric is given the
epsilon with which the share of pairs ordered or tied alike (acc-eq) is highest.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ...errors import InputError
from .kendall import matched_rows

_MOST_PAIRS = 1 << 24
"""All pairs are sorted: this bounds memory."""


class Calibration(NamedTuple):
    epsilon: float
    """Metric scores no further apart are tied; the smallest of the best."""
    value: float
    """acc-eq with that epsilon, the mean over groups."""
    before: float
    """acc-eq with exact ties only."""


def tie_calibration(human: np.ndarray, metric: np.ndarray) -> Calibration:
    """The epsilon for which the metric's acc-eq is highest, of 0 and all differences of two scores of one group.

    human, metric: one vector each, or groups in rows (the transposed (systems, inputs) arrays: pairs of systems on one
    input), where the mean over groups counts; NaN is left out. Chosen and measured on the same scores, so it flatters a
    little; the same for all metrics compared.
    """
    human, metric = matched_rows(human, metric)
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
    human, metric, known, pairs = (each[pairs > 0] for each in (human, metric, known, pairs))
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
