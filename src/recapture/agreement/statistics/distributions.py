"""How a metric's scores are distributed over texts that people find good, and over those they find bad."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...checks import MOST_OF_ANYTHING, check_count, check_number, plain_arguments
from ...declarations import Direction
from ...errors import InputError
from ..data.directions import as_floats, oriented
from .argument_checks import check_choice


@dataclass(frozen=True, eq=False)
class Group:
    """Texts whose ratings lie between two bounds."""

    low: float
    high: float
    """Excluded, but for the last group."""
    count: int
    mean: float
    spread: float
    """Standard deviation, of the group as it is."""
    quartiles: tuple[float, float, float, float, float]
    """Smallest, 25%, median, 75%, largest."""
    scores: np.ndarray
    """Sorted, as given."""


@dataclass(frozen=True)
class Distributions:
    groups: tuple[Group, ...]
    """From the lowest ratings to the highest."""
    auc: float
    """The chance that a text of the highest group has a better score than one of the lowest; ties count half."""
    missing: int
    """Cells without a score or a rating."""


@plain_arguments
def score_distributions(
    metric: ArrayLike,
    human: ArrayLike,
    threshold: float = 0.5,
    *,
    quantiles: int | None = None,
    direction: Direction = "higher",
) -> Distributions:
    """How a metric's scores are distributed over texts that people find good, and over those they find bad.

    Parameters
    ----------
    metric, human
        Arrays of one shape; cells with a NaN are left out and counted.
    threshold
        Texts rated below it are one group, those from it upwards the other.
    quantiles
        As many groups of equal size instead. Ratings that are equal fall into one group, so there may be fewer, of
        unequal size.
    direction
        Which way the metric is better.

    Returns
    -------
    Distributions
        The groups, and the chance that a text of the best has a better score than one of the worst (auc).

    Examples
    --------
    Of 2 x 2 pairs of a good and a bad text three are told apart rightly.

    >>> import recapture as rc
    >>> result = rc.score_distributions([0.2, 0.5, 0.4, 0.9], [1, 2, 4, 5], threshold=3)
    >>> result.auc, [(group.count, round(group.mean, 2)) for group in result.groups]
    (0.75, [(2, 0.35), (2, 0.65)])
    """
    check_choice("direction", direction, ("higher", "lower"))
    scores, ratings = as_floats(metric), as_floats(human, "ratings")
    if scores.shape != ratings.shape:
        raise InputError(f"ratings have the shape {ratings.shape}, but scores {scores.shape}")
    known = np.isfinite(scores) & np.isfinite(ratings)
    scores, ratings = scores[known], ratings[known]
    if not len(scores):
        raise InputError("no text has both a score and a rating")
    if quantiles is None:
        inner = np.array([check_number("threshold", threshold)])
    else:
        quantiles = check_count("quantiles", quantiles, 2, MOST_OF_ANYTHING)
        inner = np.unique(np.quantile(ratings, np.arange(1, quantiles) / quantiles))
    place = np.searchsorted(inner, ratings, side="right")
    bounds = [float(ratings.min()), *inner.tolist(), float(ratings.max())]
    groups = tuple(
        _group(scores[place == at], bounds[at], bounds[at + 1]) for at in range(len(inner) + 1) if (place == at).any()
    )
    if len(groups) < 2:
        where = f"{threshold:g}" if quantiles is None else "the quantiles"
        raise InputError(f"all ratings lie on one side of {where}: from {bounds[0]:g} to {bounds[-1]:g}")
    good, bad = (oriented(groups[at].scores, direction) for at in (-1, 0))
    return Distributions(groups, area_under_curve(good, bad), int((~known).sum()))


def area_under_curve(good: np.ndarray, bad: np.ndarray) -> float:
    """P(good > bad) + P(good = bad) / 2: Mann and Whitney's U as a share of all pairs."""
    ordered = np.sort(bad)
    below = np.searchsorted(ordered, good, side="left") + np.searchsorted(ordered, good, side="right")
    return float(below.sum() / (2 * len(good) * len(bad)))


def _group(scores: np.ndarray, low: float, high: float) -> Group:
    ordered = np.sort(scores)
    q = np.quantile(ordered, [0, 0.25, 0.5, 0.75, 1]).tolist()
    return Group(
        low, high, len(ordered), float(ordered.mean()), float(ordered.std()), (q[0], q[1], q[2], q[3], q[4]), ordered
    )
