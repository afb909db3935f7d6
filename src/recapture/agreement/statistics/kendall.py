"""Pairs ordered alike: Kendall's tau and its relatives, which differ in what they make of ties.

Of all pairs of items people and the metric order some alike (C) and some the other way round (D); others are tied by
people alone (H), by the metric alone (M) or by both (B). With n items, N = n (n - 1) / 2 = C + D + H + M + B:

- a: (C - D) / N
- b: (C - D) / sqrt((C + D + H) (C + D + M)), Kendall (1945)
- c: 2 (C - D) / (n^2 (m - 1) / m), m the smaller number of different values on a side, Stuart (1953)
- gamma: (C - D) / (C + D), Goodman and Kruskal (1954); at WMT 2013 as tau, hence also 13
- 10: (C - D - M) / (C + D + M), WMT 2010
- 14: (C - D) / (C + D + M), WMT 2014
- eq: (C + B - D - H - M) / N, and acc-eq: (C + B) / N, the share of pairs ordered or tied alike

Names as in Deutsch, Foster and Freitag (2023), Ties Matter, NaN where a formula divides by zero.
Ties are exact ones.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Literal, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ...checks import check_number, is_one_of, numbers_of, plain_arguments
from ...errors import InputError, nearest_names, shown

Variant = Literal["a", "b", "c", "gamma", "10", "13", "14", "eq", "acc-eq"]
_SHORT = 100
"""Rows up to this long are compared pair by pair, many at once; longer ones are sorted."""
_TILE = 1 << 20
"""Cells of the rows that are looked at together: what bounds memory."""


class PairCounts(NamedTuple):
    """One whole number per row each."""

    concordant: np.ndarray
    discordant: np.ndarray
    tied_human: np.ndarray
    """By people alone."""
    tied_metric: np.ndarray
    """By the metric alone."""
    tied_both: np.ndarray
    items: np.ndarray
    classes: np.ndarray
    """The smaller number of different values on a side."""

    @property
    def pairs(self) -> np.ndarray:
        return np.asarray(self.items * (self.items - 1) // 2)


def pair_counts(human: np.ndarray, metric: np.ndarray, epsilon: float = 0.0) -> PairCounts:
    """Of every row of two equal shapes without NaN. epsilon: metric scores no further apart are tied.

    O(n log n) for a row of n; with an epsilon O(n^2), with memory for n.
    """
    rows, items = human.shape
    by_pairs = items <= _SHORT or epsilon > 0
    step = max(1, _TILE // max(1, items))
    parts = [np.empty((4, 0), np.int64)]
    for start in range(0, rows, step):
        sides = human[start : start + step], metric[start : start + step]
        parts.append(_paired(*sides, epsilon) if by_pairs else _sorted(*sides))
    balance, untied_human, untied_metric, untied = np.concatenate(parts, axis=1)
    classes = np.minimum(_different(human), _different(metric))
    pairs = items * (items - 1) // 2
    return PairCounts(
        concordant=(untied + balance) // 2,
        discordant=(untied - balance) // 2,
        tied_human=untied_metric - untied,
        tied_metric=untied_human - untied,
        tied_both=pairs - untied_human - untied_metric + untied,
        items=np.full(rows, items),
        classes=classes,
    )


def _paired(human: np.ndarray, metric: np.ndarray, epsilon: float) -> np.ndarray:
    """(C - D, pairs people tell apart, pairs the metric tells apart, both) of every row, by looking at every pair."""
    human, metric = np.ascontiguousarray(human.T), np.ascontiguousarray(metric.T)
    totals = np.zeros((4, human.shape[1]), np.int64)
    for lag in range(1, len(human)):  # all pairs that lie this far apart
        signs = _signs(human[lag:] - human[:-lag], 0.0), _signs(metric[lag:] - metric[:-lag], epsilon)
        product = signs[0] * signs[1]
        for row, part in zip(totals, (product, *map(np.abs, (*signs, product))), strict=True):
            row += part.sum(axis=0, dtype=np.int64)
    return totals


def _signs(difference: np.ndarray, epsilon: float) -> np.ndarray:
    above, below = difference > epsilon, difference < -epsilon
    return above.view(np.int8) - below.view(np.int8)


def _sorted(human: np.ndarray, metric: np.ndarray) -> np.ndarray:
    """The same by sorting: in the order of people's ranks (ties by the metric's) a pair is discordant when the metric's
    ranks fall."""
    items = human.shape[1]
    ranks = [_dense_ranks(side) for side in (human, metric)]
    joint = np.sort(ranks[0] * items + ranks[1], axis=1)
    pairs = items * (items - 1) // 2
    untied_human, untied_metric = (pairs - _tied(np.sort(side, axis=1)) for side in ranks)
    untied = untied_human + untied_metric - (pairs - _tied(joint))
    return np.stack([untied - 2 * _falls(joint % items), untied_human, untied_metric, untied])


def _dense_ranks(side: np.ndarray) -> np.ndarray:
    order = np.argsort(side, axis=1)
    ordered = np.take_along_axis(side, order, axis=1)
    ranks = np.zeros(side.shape, np.int64)
    np.put_along_axis(ranks, order[:, 1:], np.cumsum(ordered[:, 1:] != ordered[:, :-1], axis=1), axis=1)
    return ranks


def _tied(ordered: np.ndarray) -> np.ndarray:
    """Pairs of equal numbers in sorted rows: each number's distance from the first of its kind, summed."""
    place = np.arange(ordered.shape[1])
    fresh = np.ones(ordered.shape, bool)
    fresh[:, 1:] = ordered[:, 1:] != ordered[:, :-1]
    return np.asarray((place - np.maximum.accumulate(np.where(fresh, place, 0), axis=1)).sum(axis=1))


def _falls(ranks: np.ndarray) -> np.ndarray:
    """Pairs of which the earlier is the larger. From the highest bit down: two numbers are told apart by the first bit
    in which they differ, and a stable sort keeps those that agree so far together and in order."""
    falls = np.zeros(len(ranks), np.int64)
    place = np.arange(ranks.shape[1])
    for bit in reversed(range(int(ranks.max(initial=0)).bit_length())):
        group, ones = ranks >> (bit + 1), (ranks >> bit) & 1
        before = np.cumsum(ones, axis=1) - ones
        fresh = np.ones(ranks.shape, bool)
        fresh[:, 1:] = group[:, 1:] != group[:, :-1]
        start = np.maximum.accumulate(np.where(fresh, place, 0), axis=1)
        falls += ((before - np.take_along_axis(before, start, axis=1)) * (1 - ones)).sum(axis=1)
        ranks = np.take_along_axis(ranks, np.argsort(ranks >> bit, axis=1, kind="stable"), axis=1)
    return falls


def _different(side: np.ndarray) -> np.ndarray:
    if not side.shape[1]:
        return np.zeros(len(side), np.int64)
    ordered = np.sort(side, axis=1)
    return np.asarray(1 + (ordered[:, 1:] != ordered[:, :-1]).sum(axis=1))


def _ratio(above: np.ndarray, below: np.ndarray) -> np.ndarray:
    return np.asarray(np.divide(above, below, out=np.full(len(above), np.nan), where=below > 0))


def _tau_b(of: PairCounts) -> np.ndarray:
    told = of.concordant + of.discordant
    # A root each: the product of two counts of 10^5 items' pairs does not fit into 64 bits.
    return _ratio(of.concordant - of.discordant, np.sqrt(told + of.tied_human) * np.sqrt(told + of.tied_metric))


def _tau_c(of: PairCounts) -> np.ndarray:
    return _ratio(2 * of.classes * (of.concordant - of.discordant), of.items**2 * (of.classes - 1))


VARIANTS: Mapping[str, Callable[[PairCounts], np.ndarray]] = {
    "a": lambda of: _ratio(of.concordant - of.discordant, of.pairs),
    "b": _tau_b,
    "c": _tau_c,
    "gamma": lambda of: _ratio(of.concordant - of.discordant, of.concordant + of.discordant),
    "10": lambda of: _ratio(
        of.concordant - of.discordant - of.tied_metric, of.concordant + of.discordant + of.tied_metric
    ),
    "13": lambda of: _ratio(of.concordant - of.discordant, of.concordant + of.discordant),
    "14": lambda of: _ratio(of.concordant - of.discordant, of.concordant + of.discordant + of.tied_metric),
    "eq": lambda of: _ratio(2 * (of.concordant + of.tied_both) - of.pairs, of.pairs),
    "acc-eq": lambda of: _ratio(of.concordant + of.tied_both, of.pairs),
}
"""Names of the variants, each a function of counts."""


def row_taus(human: np.ndarray, metric: np.ndarray, variant: str = "b", epsilon: float = 0.0) -> np.ndarray:
    """One number for each row of two equal shapes without NaN."""
    if not is_one_of(variant, VARIANTS):
        raise InputError(f"unknown variant {shown(variant)} of Kendall's tau: {nearest_names(variant, VARIANTS)}")
    epsilon = check_number("epsilon", epsilon, 0)
    if epsilon > 0 and variant == "c":
        raise InputError("tau-c counts different values, which an epsilon does not give: take another variant")
    return VARIANTS[variant](pair_counts(human, metric, epsilon))


@plain_arguments
def kendall_tau(metric: ArrayLike, human: ArrayLike, variant: Variant = "b", epsilon: float = 0.0) -> float:
    """Kendall's tau of two vectors, in any of the forms that treat ties differently.

    Parameters
    ----------
    metric, human
        A score and a rating of each item; items with a NaN are left out. Higher is better on both sides.
    variant
        "a", "b" or "c"; "gamma", "10", "13", "14" (as at WMT), "eq" and "acc-eq", the share of pairs ordered or tied
        alike. The formulas stand above.
    epsilon
        Metric scores no further apart are tied.

    Returns
    -------
    float
        NaN where the formula divides by zero.

    Examples
    --------
    Of six pairs five are ordered alike, one the other way round.

    >>> import recapture as rc
    >>> round(rc.kendall_tau([0.1, 0.2, 0.4, 0.3], [1, 2, 3, 4]), 4)
    0.6667
    >>> round(rc.kendall_tau([0.1, 0.2, 0.4, 0.3], [1, 2, 3, 3], "acc-eq", epsilon=0.15), 4)
    0.6667
    """
    ratings, scores = numbers_of(human, "ratings"), numbers_of(metric, "scores")
    if ratings.shape != scores.shape:
        raise InputError(f"ratings have the shape {ratings.shape}, but scores {scores.shape}: they must be equal")
    if ratings.ndim != 1:
        raise InputError("Kendall's tau is of two vectors")
    known = np.isfinite(ratings) & np.isfinite(scores)
    return float(row_taus(ratings[known][None], scores[known][None], variant, epsilon)[0])
