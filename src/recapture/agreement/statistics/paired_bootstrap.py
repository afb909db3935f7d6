"""The paired bootstrap: how sure is the difference of two metrics' agreement with people?

Systems, inputs or both are drawn with replacement, the same for both metrics and for people (Koehn 2004; Deutsch, Dror
and Roth 2021), and the difference of agreement is looked at again. With B resamples that can be used:

- interval: percentiles of the differences;
- p, "greater": (1 + resamples with a difference of 0 or less) / (1 + B);
- p, "two-sided": twice the smaller of that and its mirror image, at most 1.

Resamples in which a side is constant have no agreement, and at the system level those with fewer than three different
systems have one of 1 or -1 whatever the scores: they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...checks import check_seed, plain_arguments
from ...errors import InputError
from ...progress import Progress
from .argument_checks import OVER, Alternative, Over, check_alternative, check_choice, check_resamples, check_share
from .coefficients import Coefficient
from .common_cells import CommonCells, check_defined, common_cells, mean_known, rows_agree
from .levels import FEWEST, Level
from .resampling import too_few
from .system_means import settled, slack_of

_ZERO = 1e-11
"""Differences this near to 0 are rounding."""


@dataclass(frozen=True, eq=False)
class PairedBootstrap:
    delta: float
    """Agreement of the first metric less that of the second, on the cells that both have."""
    first: float
    second: float
    low: float
    high: float
    confidence: float
    pvalue: float
    """For the alternative asked for."""
    left_out: int
    """Resamples in which a side is constant, and those with too few systems."""
    dropped: int
    """Inputs left out, because a score is missing."""
    samples: np.ndarray
    """The difference in every resample that is left."""
    too_few: int = 0
    """Resamples with fewer than three different systems, at the system level."""

    def under(self, alternative: str) -> float:
        """The p-value for another alternative."""
        check_alternative(alternative)
        return _pvalue(self.samples, alternative)

    def smallest(self, alternative: str = "two-sided") -> float:
        """The smallest p-value that can come out of so many resamples."""
        check_alternative(alternative)
        return (1 if alternative == "greater" else 2) / (1 + len(self.samples))


def _pvalue(samples: np.ndarray, alternative: str) -> float:
    shares = [(1 + np.count_nonzero(side <= _ZERO)) / (1 + len(samples)) for side in (samples, -samples)]
    return float(shares[0] if alternative == "greater" else min(1.0, 2 * min(shares)))


@plain_arguments
def paired_bootstrap(
    first: ArrayLike,
    second: ArrayLike,
    human: ArrayLike,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    over: Over = "both",
    resamples: int = 1000,
    seed: int = 0,
    confidence: float = 0.95,
    alternative: Alternative = "two-sided",
) -> PairedBootstrap:
    """Interval and p-value of the difference of two metrics' agreement with people.

    For several metrics at once see `compare_metrics`.

    Parameters
    ----------
    first, second
        The metrics' scores, (systems, inputs); higher is better.
    human
        Ratings of the same shape, at the system level also one number per system.
    level, coefficient
        As for `correlate`.
    over
        What is drawn anew, with repeats.
    resamples, seed
        Of what is drawn.
    confidence
        Of the interval.
    alternative
        "greater" means that the first metric agrees better.

    Returns
    -------
    PairedBootstrap
        delta (the difference), low and high, pvalue, and the difference in every resample.

    Examples
    --------
    >>> import recapture as rc
    >>> people = [[1, 2, 1], [2, 3, 3], [4, 3, 3], [5, 4, 5]]
    >>> good = [[1, 1, 2], [2, 2, 2], [3, 4, 3], [5, 5, 4]]
    >>> poor = [[2, 3, 4], [5, 1, 3], [1, 2, 1], [3, 4, 2]]
    >>> result = rc.paired_bootstrap(good, poor, people, over="inputs", resamples=100)
    >>> result.low < result.delta < result.high, result.pvalue < 0.05
    (True, True)
    """
    check_choice("unit to resample", over, OVER)
    check_alternative(alternative)
    confidence = check_share("confidence", confidence)
    cells = common_cells([first, second], human, level, coefficient)
    drawn = resampled_agreements(cells, level, coefficient, over, resamples, seed)
    return drawn.paired(0, 1, confidence, alternative)


@dataclass(frozen=True, eq=False)
class Drawn:
    """Agreements of several metrics in the same resamples."""

    here: tuple[float, ...]
    """By metric, in the data as they are."""
    values: np.ndarray
    """(metrics, resamples); NaN where there is none."""
    too_few: int
    dropped: int

    def paired(
        self, first: int, second: int, confidence: float = 0.95, alternative: str = "two-sided"
    ) -> PairedBootstrap:
        one, other = self.here[first], self.here[second]
        check_defined(one, other)
        samples = self.values[first] - self.values[second]
        left = samples[~np.isnan(samples)]
        if self.too_few * 2 > len(samples):
            raise InputError(
                f"{self.too_few:,} of {len(samples):,} resamples have fewer than {FEWEST} different systems: there are "
                "too few systems for the bootstrap over systems"
            )
        if len(left) < 2:
            raise InputError("scores or ratings are constant in nearly all resamples: there are too few systems")
        tail = 50 * (1 - confidence)
        low, high = np.percentile(left, [tail, 100 - tail])
        return PairedBootstrap(
            delta=one - other,
            first=one,
            second=other,
            low=float(low),
            high=float(high),
            confidence=confidence,
            pvalue=_pvalue(left, alternative),
            left_out=len(samples) - len(left),
            dropped=self.dropped,
            samples=left,
            too_few=self.too_few,
        )


def resampled_agreements(
    cells: CommonCells, level: str, coefficient: str, over: str = "both", resamples: int = 1000, seed: int = 0
) -> Drawn:
    """Of all the cells' metrics, each measured once in every resample, however many pairs they make."""
    check_choice("unit to resample", over, OVER)
    resamples, seed = check_resamples(resamples), check_seed(seed)
    systems, inputs = cells.shape
    agreements = {"system": _system, "text": _text, "global": _global}[level](cells, coefficient)
    here = [float(side[0]) for side in agreements(np.arange(systems)[None], np.arange(inputs)[None])]
    rng = np.random.default_rng(seed)
    parts = []
    few = 0
    with Progress("resamples", resamples, "resample") as progress:
        for count in cells.tiles(resamples):
            drawn = rng.random((count, systems * (over != "inputs") + inputs * (over != "systems")))
            # One number after another from the stream, so that tiles do not matter.
            chosen = _places(drawn[:, :systems], systems) if over != "inputs" else None
            seen = _places(drawn[:, -inputs:], inputs) if over != "systems" else None
            sides = np.stack(agreements(chosen, seen))
            if level == "system" and chosen is not None:
                lost = too_few(chosen)
                few += int(lost.sum())
                sides = np.where(lost, np.nan, sides)
            parts.append(sides)
            progress.advance(count)
    return Drawn(tuple(here), np.concatenate(parts, axis=1), few, cells.dropped)


def _places(uniform: np.ndarray, size: int) -> np.ndarray:
    return np.minimum((uniform * size).astype(np.intp), size - 1)


_Chosen = np.ndarray | None
"""(resamples, drawn) places; None: all as they are."""
_Agreements = Callable[[_Chosen, _Chosen], list[np.ndarray]]


def _system(cells: CommonCells, coefficient: str) -> _Agreements:
    def means(scores: np.ndarray, systems: _Chosen, inputs: _Chosen) -> np.ndarray:
        if scores.ndim == 2:
            by_system = scores.mean(axis=1) if inputs is None else scores[:, inputs].mean(axis=2).T
            scores = settled(by_system, slack_of(scores))
        if systems is None:
            return scores
        return scores[systems] if scores.ndim == 1 else np.take_along_axis(scores, systems, axis=1)

    def agreements(systems: _Chosen, inputs: _Chosen) -> list[np.ndarray]:
        human = means(cells.human, systems, inputs)
        return [rows_agree(human, means(metric, systems, inputs), coefficient) for metric in cells.metrics]

    return agreements


def _text(cells: CommonCells, coefficient: str) -> _Agreements:
    human = cells.human.T

    def agreements(systems: _Chosen, inputs: _Chosen) -> list[np.ndarray]:
        values = []
        for metric in cells.metrics:
            if systems is None:
                by_input = rows_agree(human, metric.T, coefficient)[None]
            else:  # (resamples, inputs, systems)
                chosen = [side[:, systems].transpose(1, 0, 2) for side in (human, metric.T)]
                by_input = rows_agree(chosen[0], chosen[1], coefficient)
            if inputs is not None:
                by_input = np.take_along_axis(np.broadcast_to(by_input, inputs.shape), inputs, axis=1)
            values.append(mean_known(by_input))
        return values

    return agreements


def _global(cells: CommonCells, coefficient: str) -> _Agreements:
    def drawn(scores: np.ndarray, systems: _Chosen, inputs: _Chosen) -> np.ndarray:
        rows = np.arange(len(scores))[None] if systems is None else systems
        columns = np.arange(scores.shape[1])[None] if inputs is None else inputs
        chosen = scores[rows[:, :, None], columns[:, None, :]]
        return chosen.reshape(len(chosen), -1)

    def agreements(systems: _Chosen, inputs: _Chosen) -> list[np.ndarray]:
        human = drawn(cells.human, systems, inputs)
        return [rows_agree(human, drawn(metric, systems, inputs), coefficient) for metric in cells.metrics]

    return agreements
