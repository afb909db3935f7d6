"""Many numbers tested on the same labellings: p-values that hold for all of them together.

Westfall and Young (1993), Resampling-Based Multiple Testing, algorithm 2.8 (free step-down max-T). Each number is first
measured in standard deviations of its own null, since raw ones have different units and smallest p-values of 999
labellings would tie. Across candidates: Holm (1979), A Simple Sequentially Rejective Multiple Test Procedure.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

_SLACK = 1e-9
"""Standard deviations below which statistics count as equal."""


def step_down(nulls: Sequence[np.ndarray], moving: Sequence[bool] | None = None) -> np.ndarray:
    """Adjusted p-values of several numbers, each larger for sides that differ more.

    nulls: for every number its value under every labelling, the observed one first, labellings in the same order.
    moving: whether labellings move a number by more than rounding (None: all that differ at all); one that they do not
    has p = 1. The smallest of all is that of "no number differs".
    """
    adjusted = np.ones(len(nulls))
    moving = [bool(np.ptp(null) > 0) for null in nulls] if moving is None else moving
    places = np.flatnonzero(moving)
    if not len(places):
        return adjusted
    table = np.stack([_standardised(np.asarray(nulls[place], np.float64)) for place in places.tolist()])
    order = np.argsort(-table[:, 0], kind="stable")
    # From the least different number upwards: the largest of this one and all that differ less.
    largest = np.maximum.accumulate(table[order][::-1], axis=0)[::-1]
    shares = np.mean(largest >= table[order, :1] - _SLACK, axis=1)
    adjusted[places[order]] = np.maximum.accumulate(shares)
    return adjusted


def _standardised(null: np.ndarray) -> np.ndarray:
    """In standard deviations from its mean."""
    standard: np.ndarray = (null - null.mean()) / null.std()
    return standard


def holm_over_families(pvalues: Sequence[np.ndarray]) -> list[np.ndarray]:
    """Adjusted p-values of several families (a candidate's numbers each), made to hold for all families together.

    A family's smallest p-value is that of its common hypothesis. Families are taken in that order; the first is charged
    for all, the next for one less, and none gets below the smallest of the one before it. Of families whose smallest
    are equal each is charged as the last of them, so that it does not matter which is named first: the smallest is then
    held up by the charge of the first, and no other number needs it (by the closed test over families).
    """
    smallest = {family: float(np.min(own)) for family, own in enumerate(pvalues) if len(own)}
    held: list[np.ndarray] = [np.ones(0)] * len(pvalues)
    reached, left = 0.0, len(smallest)
    for least in sorted(set(smallest.values())):
        equal = [family for family, own in smallest.items() if own == least]
        reached = max(reached, left * least)
        left -= len(equal)
        for family in equal:
            held[family] = np.minimum(1.0, np.maximum(reached, (left + 1) * np.asarray(pvalues[family])))
    return held
