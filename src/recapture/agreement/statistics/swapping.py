"""The permutation test that swaps two metrics' scores: does one agree with people better than the other?

Deutsch, Dror and Roth (2021), A statistical analysis of summarization evaluation metrics using resampling methods. If
the metrics agree equally well, it does not matter which of the two a score comes from: scores are swapped at random and
the difference of agreement is looked at again. Metrics are put on one scale first (mean 0 and spread 1 over all cells).

swap: "both" swaps every cell on its own (PERM-BOTH as in mt-metrics-eval; nlpstats 0.0.1 swaps whole systems, then
whole inputs, under that name), "inputs" all systems' scores of an input together, "systems" all of a system's.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from ...checks import check_seed, plain_arguments
from ...progress import Progress
from .argument_checks import Alternative, check_alternative, check_choice, check_resamples
from .coefficients import Coefficient
from .common_cells import CommonCells, check_defined, common_cells, mean_known, rows_agree
from .levels import Level
from .system_means import settled, slack_of, system_means

Swap = Literal["both", "inputs", "systems"]
SWAPS: tuple[Swap, ...] = ("both", "inputs", "systems")
_SLACK = 1e-9
"""Differences this much nearer to 0 (as a share, and a hundredth of it at least) are taken as equal: rounding."""


@dataclass(frozen=True, eq=False)
class Swapping:
    """One test of "the two metrics agree with people equally well"."""

    delta: float
    """Agreement of the first metric less that of the second, on the cells that both have."""
    first: float
    second: float
    pvalue: float
    """For the alternative asked for."""
    exact: bool
    """Whether all ways to swap were looked at."""
    dropped: int
    """Inputs left out, because a score is missing."""
    null: np.ndarray
    """The difference under every swapping looked at, the observed one first; NaN where a side is constant."""

    def under(self, alternative: str) -> float:
        """The p-value for another alternative: the share of swappings as far out as the observed one, itself included.
        A swapping without agreement counts as one."""
        check_alternative(alternative)
        return _pvalue(self.null, alternative)

    def smallest(self, alternative: str = "two-sided") -> float:
        """The smallest p-value that can come out: the observed swapping counts, and of all swappings the one of
        everything, which turns the difference round."""
        check_alternative(alternative)
        return (2 if self.exact and alternative == "two-sided" else 1) / len(self.null)


def _pvalue(null: np.ndarray, alternative: str) -> float:
    delta = null[0]
    slack = _SLACK * (0.01 + abs(delta))
    null = np.where(np.isnan(null), np.inf, null)
    far = np.abs(null) >= abs(delta) - slack if alternative == "two-sided" else null >= delta - slack
    return float(np.count_nonzero(far) / len(null))


@plain_arguments
def swapping_test(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    swap: Swap = "both",
    resamples: int = 1000,
    seed: int = 0,
    alternative: Alternative = "two-sided",
) -> Swapping:
    """The permutation test that two metrics agree with people equally well, which swaps their scores.

    p is (1 + swappings as far out) / (1 + resamples); all swappings are looked at instead where there are no more than
    `resamples`. For several metrics at once see `compare_metrics`.

    Parameters
    ----------
    first, second
        The metrics' scores, (systems, inputs); higher is better.
    human
        Ratings of the same shape, at the system level also one number per system.
    level, coefficient
        As for `correlate`.
    swap
        "both" swaps every cell on its own, "inputs" all systems' scores of an input together, "systems" all of a
        system's.
    resamples, seed
        Of what is drawn.
    alternative
        "greater" means that the first metric agrees better.

    Returns
    -------
    Swapping
        delta (the difference of agreement), pvalue, and the whole null distribution.

    Examples
    --------
    >>> import recapture as rc
    >>> people = [[0, 2], [1, 3], [2, 4], [3, 5]]
    >>> good, poor = [[1, 1], [2, 2], [4, 4], [3, 3]], [[2, 2], [1, 1], [4, 4], [3, 3]]
    >>> result = rc.swapping_test(good, poor, people, swap="systems")
    >>> round(result.first, 3), round(result.second, 3), round(result.delta, 3)
    (0.8, 0.6, 0.2)
    >>> result.exact, len(result.null)  # all ways to swap four systems
    (True, 16)
    """
    check_choice("swap", swap, SWAPS)
    check_alternative(alternative)
    cells = common_cells([first, second], human, level, coefficient)
    return swapped(cells, [(0, 1)], level, coefficient, swap, resamples, seed, alternative)[0]


def swapped(
    cells: CommonCells,
    pairs: Sequence[tuple[int, int]],
    level: str,
    coefficient: str,
    swap: str = "both",
    resamples: int = 1000,
    seed: int = 0,
    alternative: str = "two-sided",
) -> list[Swapping]:
    """The same of pairs of the cells' metrics, by position: what is swapped is drawn once for all of them."""
    check_choice("swap", swap, SWAPS)
    resamples, seed = check_resamples(resamples), check_seed(seed)
    make = {"system": _system, "text": _text, "global": _global}[level]
    agreements = [make(cells, (cells.metrics[one], cells.metrics[other]), coefficient) for one, other in pairs]
    units = {"both": int(cells.known.sum()), "inputs": cells.shape[1], "systems": cells.shape[0]}[swap]
    exact = units < 63 and 2**units <= resamples
    rows = 2**units if exact else 1 + resamples
    parts: list[list[np.ndarray]] = [[] for _ in pairs]
    here: list[tuple[float, float]] = []
    with Progress("swappings", rows * len(pairs), "swapping") as progress:
        for masks in _enumerated(cells, swap, units) if exact else _sampled(cells, swap, rows, seed):
            for own, agree in zip(parts, agreements, strict=True):
                sides = agree(masks)
                if not own:
                    here.append((float(sides[0][0]), float(sides[1][0])))
                    check_defined(*here[-1])
                own.append(sides[0] - sides[1])
                progress.advance(len(masks))
    return [
        Swapping(float(null[0]), *both, _pvalue(null, alternative), exact, cells.dropped, null)
        for null, both in zip(map(np.concatenate, parts), here, strict=True)
    ]


def _sampled(cells: CommonCells, swap: str, rows: int, seed: int) -> Iterator[np.ndarray]:
    """Masks that fit (resamples, systems, inputs); nothing is swapped in the first."""
    rng = np.random.default_rng(seed)
    systems, inputs = cells.shape
    of_one = {"both": (systems, inputs), "inputs": (1, inputs), "systems": (systems, 1)}[swap]
    first = True
    for count in cells.tiles(rows):
        # One number after another from the stream, so that tiles do not matter.
        mask = rng.random((count, *of_one)) < 0.5
        if first:
            mask[0], first = False, False
        yield mask


def _enumerated(cells: CommonCells, swap: str, units: int) -> Iterator[np.ndarray]:
    systems, inputs = cells.shape
    at = 0
    for count in cells.tiles(2**units):
        bits = (np.arange(at, at + count)[:, None] >> np.arange(units)) & 1 > 0
        at += count
        if swap == "both":
            mask = np.zeros((count, systems, inputs), bool)
            mask[:, cells.known] = bits
            yield mask
        else:
            yield bits[:, None, :] if swap == "inputs" else bits[:, :, None]


_Sides = tuple[np.ndarray, np.ndarray]
_Agreements = Callable[[np.ndarray], _Sides]


def _system(cells: CommonCells, pair: _Sides, coefficient: str) -> _Agreements:
    one, other = pair
    means, apart = (one.mean(axis=1), other.mean(axis=1)), other - one
    human, slack = cells.human if cells.human.ndim == 1 else system_means(cells.human), slack_of(one, other)

    def agreements(masks: np.ndarray) -> _Sides:
        moved = (masks * apart).mean(axis=2)
        return (
            rows_agree(human, settled(means[0] + moved, slack), coefficient),
            rows_agree(human, settled(means[1] - moved, slack), coefficient),
        )

    return agreements


def _text(cells: CommonCells, pair: _Sides, coefficient: str) -> _Agreements:
    one, other = (np.ascontiguousarray(metric.T) for metric in pair)
    human = np.ascontiguousarray(cells.human.T)

    def agreements(masks: np.ndarray) -> _Sides:
        turned = masks.transpose(0, 2, 1)
        return (
            mean_known(rows_agree(human, np.where(turned, other, one), coefficient)),
            mean_known(rows_agree(human, np.where(turned, one, other), coefficient)),
        )

    return agreements


def _global(cells: CommonCells, pair: _Sides, coefficient: str) -> _Agreements:
    one, other = (metric[cells.known] for metric in pair)
    human = cells.human[cells.known]

    def agreements(masks: np.ndarray) -> _Sides:
        flat = np.broadcast_to(masks, (len(masks), *cells.shape))[:, cells.known]
        return (
            rows_agree(human, np.where(flat, other, one), coefficient),
            rows_agree(human, np.where(flat, one, other), coefficient),
        )

    return agreements
