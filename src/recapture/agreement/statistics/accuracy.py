"""How many pairs of systems a metric ranks as people do, hard and soft.

Pairwise accuracy (Kocmi et al. 2021, To ship or not to ship): the share of pairs of systems whose means differ in the
same direction. A pair that people and the metric both tie counts as ranked alike, one that a single side ties as not
(signs are compared, 0 being one of three).

Soft pairwise accuracy (Thompson et al. 2024, Improving statistical significance in human evaluation of automatic
metrics via soft pairwise accuracy): 1 - mean |p of people - p of the metric|, where p is the one-sided p-value of "i is
better than j" in a paired permutation test: the share of random signs s_k, one per input, for which
sum s_k (x_ik - x_jk) >= sum (x_ik - x_jk). The same signs serve all pairs and both sides. Sums that tie with the
observed one count for "i is better" and for "j is better", so the two p-values of a pair add up to more than 1, and it
matters which of them is taken. ties="both-orders": the mean over both, so that the order of systems does not matter.
ties="listed-order": of every pair the one of the system that stands first, as mt-metrics-eval (pce.py) does.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...checks import check_seed, plain_arguments
from ...declarations import Direction
from ...errors import InputError
from ...progress import Progress
from ..data.directions import as_floats, oriented
from ..data.scores_and_ratings import ScoresAndRatings
from .argument_checks import check_choice, check_resamples, check_share
from .common_cells import common_cells
from .correlation_values import check_sides
from .system_means import system_means

SoftTies = Literal["both-orders", "listed-order"]
SOFT_TIES: tuple[SoftTies, ...] = ("both-orders", "listed-order")
_TILE = 1 << 21
"""Numbers that are looked at together: what bounds memory."""
_SLACK = 1e-12
"""Sums this near for each input, on the standard scale, are equal: rounding."""


@dataclass(frozen=True)
class Accuracy:
    value: float
    """NaN where no pair is left."""
    pairs: int
    """That count."""
    systems: int
    dropped: int
    """Inputs left out, because a score is missing."""
    inputs: int = 0
    """That count; 0 where all scores are of whole systems."""
    ties: SoftTies | None = None
    """The rule for sums that tie with the observed one; None for the hard form, which draws no sums."""


@plain_arguments
def pairwise_accuracy(
    metric: ArrayLike,
    human: ArrayLike,
    alpha: float | None = None,
    resamples: int = 1000,
    seed: int = 0,
    direction: Direction = "higher",
) -> Accuracy:
    """The share of pairs of systems that a metric ranks as people do (Kocmi et al. 2021).

    Parameters
    ----------
    metric, human
        (systems, inputs), or one number per system.
    alpha
        Only pairs whose human scores differ with a two-sided p-value of at most this count (paired permutation test
        over inputs, `resamples` random signs; all signs where there are no more).
    resamples, seed
        Of those signs.
    direction
        Which way the metric is better.

    Returns
    -------
    Accuracy
        value, and how many pairs, systems and inputs it is of.

    Examples
    --------
    Of six pairs one is ranked the other way round.

    >>> import recapture as rc
    >>> accuracy = rc.pairwise_accuracy([0.1, 0.2, 0.4, 0.3], [1, 2, 3, 4])
    >>> round(accuracy.value, 4), accuracy.pairs
    (0.8333, 6)
    """
    resamples, seed = check_resamples(resamples), check_seed(seed)
    scores, ratings = _turned(metric, direction), as_floats(human, "ratings")
    whole = scores.ndim == ratings.ndim == 1
    if scores.ndim == 1:
        scores = np.repeat(scores[:, None], ratings.shape[1] if ratings.ndim == 2 else 1, axis=1)
    cells = common_cells([scores], ratings, "system", "pearson")
    sides = [side if side.ndim == 1 else system_means(side) for side in (cells.human, cells.metrics[0])]
    signs = [np.sign(side[:, None] - side[None, :]) for side in sides]
    counted = np.triu(np.ones(signs[0].shape, bool), 1)
    if alpha is not None:
        alpha = check_share("alpha", alpha)
        if cells.human.ndim == 1 or cells.shape[1] < 2:
            raise InputError("which pairs people tell apart needs ratings of single inputs, not one per system")
        (better,) = _better([cells.human], resamples, seed)
        counted &= 2 * np.minimum(better, better.T) <= alpha
    alike = (signs[0] == signs[1])[counted]
    value = float(alike.mean()) if len(alike) else float("nan")
    return Accuracy(value, len(alike), cells.shape[0], cells.dropped, 0 if whole else cells.shape[1])


@plain_arguments
def soft_pairwise_accuracy(
    metric: ArrayLike,
    human: ArrayLike,
    resamples: int = 1000,
    seed: int = 0,
    direction: Direction = "higher",
    ties: SoftTies = "both-orders",
) -> Accuracy:
    """Whether a metric is as sure of each pair of systems as people are (Thompson et al. 2024).

    Parameters
    ----------
    metric, human
        (systems, inputs).
    resamples, seed
        Of random signs of inputs; all signs are looked at where there are no more than `resamples`.
    direction
        Which way the metric is better.
    ties
        A pair of systems has two p-values, one for each order, which say the same unless random sums tie with the
        observed one. "both-orders" takes the mean over the two, so that the order of systems does not matter;
        "listed-order" the p-value of "the system listed first is better" alone, as the authors' program and
        mt-metrics-eval do.

    Returns
    -------
    Accuracy
        value, 1 less the mean difference of people's p-value of a pair and the metric's; how many pairs, systems
        and inputs it is of; and the rule for ties.

    Examples
    --------
    >>> import recapture as rc
    >>> people = [[1, 2, 1], [2, 2, 3]]
    >>> rc.soft_pairwise_accuracy([[0.1, 0.3, 0.2], [0.3, 0.2, 0.4]], people).value
    0.9375
    >>> rc.soft_pairwise_accuracy(people, people).value
    1.0
    """
    check_choice("rule for ties", ties, SOFT_TIES)
    scores, ratings = _turned(metric, direction), as_floats(human, "ratings")
    if ratings.ndim != 2 or scores.ndim != 2:
        raise InputError("soft pairwise accuracy needs scores of single inputs: (systems, inputs) for both sides")
    cells = common_cells([scores], ratings, "system", "pearson")
    if cells.shape[0] < 2:
        raise InputError("soft pairwise accuracy needs at least two systems")
    people, metrics = _better([cells.human, cells.metrics[0]], resamples, seed)
    listed = np.triu(np.ones(people.shape, bool), 1)
    pairs = listed | listed.T if ties == "both-orders" else listed
    value = 1 - float(np.abs(people - metrics)[pairs].mean())
    return Accuracy(value, int(listed.sum()), cells.shape[0], cells.dropped, cells.shape[1], ties)


@dataclass(frozen=True)
class MetricAccuracy:
    """Of one metric against one criterion."""

    metric: str
    criterion: str
    accuracy: float
    soft: float | None
    """None where scores or ratings are of whole systems."""
    pairs: int
    systems: int
    inputs: int
    dropped: int
    resamples: int
    seed: int
    soft_ties: SoftTies = "both-orders"
    """Which rule for ties the soft form follows."""


def accuracies_of(
    sides: ScoresAndRatings, resamples: int, seed: int, soft_ties: SoftTies = "both-orders"
) -> tuple[MetricAccuracy, ...]:
    """Pairwise accuracy, hard and soft, of every metric against every criterion."""
    accuracies = []
    for criterion, ratings in sides.human.items():
        for metric, scores in sides.metrics.items():
            check_sides(sides, metric, criterion, "system")
            hard = pairwise_accuracy(scores, ratings)
            whole = scores.ndim == 1 or ratings.ndim == 1  # the soft form is about single inputs
            soft = None if whole else soft_pairwise_accuracy(scores, ratings, resamples, seed, ties=soft_ties).value
            accuracies.append(
                MetricAccuracy(
                    metric, criterion, hard.value, soft, hard.pairs, hard.systems, hard.inputs, hard.dropped,
                    resamples, seed, soft_ties,
                )
            )  # fmt: skip
    return tuple(accuracies)


def _turned(metric: ArrayLike, direction: Direction) -> np.ndarray:
    check_choice("direction", direction, ("higher", "lower"))
    return oriented(metric, direction)


def _better(sides: list[np.ndarray], resamples: int, seed: int) -> list[np.ndarray]:
    """(systems, systems) for each side: the p-value of "the row's system is better than the column's"."""
    systems, inputs = sides[0].shape
    totals = [side.sum(axis=1) for side in sides]
    apart = [total[:, None] - total[None, :] - _SLACK * inputs for total in totals]
    counts = [np.zeros((systems, systems), np.int64) for _ in sides]
    rows = 0
    resamples, width = check_resamples(resamples), max(inputs, systems**2)
    with Progress("signs of inputs", min(resamples, 2 ** min(inputs, 62)), "resample") as progress:
        for signs in _signs(inputs, width, resamples, check_seed(seed)):
            rows += len(signs)
            for side, observed, count in zip(sides, apart, counts, strict=True):
                drawn = signs @ side.T
                count += (drawn[:, :, None] - drawn[:, None, :] >= observed).sum(axis=0)
            progress.advance(len(signs))
    return [count / rows for count in counts]


def _signs(inputs: int, width: int, resamples: int, seed: int) -> Iterator[np.ndarray]:
    """Tiles of random signs, one row a resample; of all there are where there are no more than `resamples`."""
    every = inputs < 63 and 2**inputs <= resamples
    rng = np.random.default_rng(seed)
    rows, step = 2**inputs if every else resamples, max(1, _TILE // width)
    for start in range(0, rows, step):
        count = min(step, rows - start)
        if every:
            up = (np.arange(start, start + count)[:, None] >> np.arange(inputs)) & 1 > 0
        else:  # one number after another from the stream, so that tiles do not matter
            up = rng.random((count, inputs)) < 0.5
        yield np.where(up, 1.0, -1.0)
