"""From differences between two systems to p-values that hold for all numbers and all pairs of systems.

Two questions are kept apart. Do A and B write alike? Their samples are relabelled, people's stay where they are, and
the difference A - B under all labellings says how often chance alone makes it so large: exact. Are A and B equally
close to people? Systems may differ and yet be equally close (each has lost another topic), so relabelling answers only
the first question: the spread of A - B over resampled data (half-samples, or a bootstrap over items) has to agree.

- within a pair, over its numbers: step-down max-T on the pair's own labellings (Westfall and Young 1993), and on normal
  variables with the correlations of the resampled differences (Hothorn, Bretz and Westfall 2008, Simultaneous Inference
  in General Parametric Models);
- across pairs: Holm (1979), by the closed test over families (`labellings/step_down`).

Whether a system is worse than another (`losses`, `judged_losses`) is asked in the same way with one side alone: only
labellings and normal variables on the worse side count, and the families are the systems that are asked about.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import combinations
from typing import Any

import numpy as np

from ..errors import InputError, shown
from ..labellings.permutation import moves
from ..labellings.step_down import holm_over_families, step_down

PairOfSystems = tuple[str, str]
LABELLINGS = 999
"""Least number of labellings beside the observed one."""
LEAST_LEVEL = 0.0001
"""Of the tests: one pair of systems takes 50,000 labellings then."""
_DRAWS = 20_000
"""Normal vectors that tell how large the largest of several correlated numbers gets by chance."""
_FEW = 100
"""Exceedances below which their share is rough: Bonferroni's bound, which is sharp there, is taken instead."""
_BLOCK = 2_000
_RAISED = 10
"""A p-value of at most so many of the first labellings is worth more of them."""


@dataclass(frozen=True)
class Difference:
    """One number of system A minus that of system B.

    Attributes
    ----------
    value : float
        A - B.
    low, high : float
        Its interval, from the spread over resampled data; NaN where there is none.
    pvalue : float
        Of "A and B are equally close to people".
    adjusted : float
        That p-value, adjusted for all numbers of the comparison and all pairs of systems.
    distinct : float
        p-value of "A and B write alike", by relabelling; NaN where no labellings were looked at.
    """

    value: float
    low: float
    high: float
    pvalue: float
    adjusted: float
    distinct: float

    def turned(self) -> Difference:
        """B - A."""
        return replace(self, value=-self.value, low=-self.high, high=-self.low)

    @property
    def sure(self) -> bool:
        """Whether the interval excludes 0: what is said of a difference needs this beside its p-value."""
        return self.low > 0 or self.high < 0


@dataclass(frozen=True)
class Evidence:
    """What was found about one pair of systems; arrays have one row a number."""

    values: np.ndarray
    """(numbers,) A - B"""
    resampled: np.ndarray
    """(numbers, draws) A - B over resampled data"""
    nulls: np.ndarray
    """(numbers, labellings) A - B under labellings, the observed one first; rows of NaN where a number has none"""
    extra: np.ndarray
    """(numbers,) standard error that resampling does not show, such as that of clusterings"""
    rounding: np.ndarray = field(default_factory=lambda: np.zeros(0))
    """(numbers,) how far rounding alone may move a difference"""
    degrees: float = math.inf
    """Of freedom of the spread: Student's distribution stands for the normal one where few items were resampled"""
    mirrored: bool = False
    """Whether every labelling stands for its mirror image, too, whose differences are turned"""
    first: int = 0
    """Labellings after which more were made only where `worth_more`; 0: all were made at once"""
    every: float = 0.0
    """Where `nulls` are all labellings there are: the smallest two-sided p-value of theirs; else 0"""


@dataclass(frozen=True)
class Loss:
    """How much worse than another a system is by one number.

    Attributes
    ----------
    value : float
        In the number's own units; below 0 where the system is better.
    halves : float
        The same in halves of the width of the number's human band; NaN where there is no band.
    pvalue : float
        Of "it is no worse than the other, but for what is tolerated": one-sided.
    adjusted : float
        That p-value, adjusted for all numbers and all systems that were asked about.
    """

    value: float
    halves: float
    pvalue: float
    adjusted: float


@dataclass(frozen=True)
class Losses:
    """What there is to say on how much worse one system is than another, number by number."""

    values: np.ndarray
    """(numbers,) how much worse; below 0: better"""
    errors: np.ndarray
    """(numbers,) standard errors; NaN where no resample moves a number, 0 where all resamples show the same loss"""
    correlations: np.ndarray
    """(numbers, numbers) of the resampled losses, where errors are above 0"""
    alike: np.ndarray
    """(numbers,) one-sided p-values by labelling; NaN where a number has no labellings"""
    adjusted_alike: np.ndarray
    """(numbers,) the same, for all numbers together"""
    degrees: float
    smallest: float
    """The smallest p-value there can be; 0 where no number has labellings"""


def losses(evidence: Mapping[PairOfSystems, Evidence], directions: Sequence[str]) -> dict[PairOfSystems, Losses]:
    """By (a, b) and (b, a): how much worse the first is than the second. directions: which way each number is better.

    Less than the evidence itself: what does not depend on what will be tolerated, and by whom.
    """
    down = np.array([1.0 if direction == "lower" else -1.0 for direction in directions])
    return {
        named: _losses(each, sign * down)
        for (a, b), each in evidence.items()
        for named, sign in (((a, b), 1.0), ((b, a), -1.0))
    }


def _losses(evidence: Evidence, signs: np.ndarray) -> Losses:
    """signs: by number, 1 where a larger difference is worse, -1 where a smaller one is."""
    errors = _errors(evidence)
    known = np.flatnonzero(errors > 0)
    correlations = np.full((len(errors), len(errors)), np.nan)
    if len(known):
        correlations[np.ix_(known, known)] = _correlations(signs[known, None] * evidence.resampled[known])
    nulls = signs[:, None] * evidence.nulls
    turned = np.concatenate([nulls, -nulls], axis=1) if evidence.mirrored else nulls
    alike = _by_labelling(turned, evidence.rounding, 1, evidence.first)
    smallest = 0.0 if np.isnan(alike[0]).all() else 1 / turned.shape[1]
    return Losses(signs * evidence.values, errors, correlations, *alike, evidence.degrees, smallest)


def judged_losses(
    found: Mapping[str, Losses], names: Sequence[str], tolerated: np.ndarray, units: np.ndarray, seed: int
) -> dict[str, dict[str, Loss]]:
    """One-sided p-values of "no worse, but for what is tolerated", for all systems and numbers together.

    found: by system. tolerated: by number, how much worse counts as no worse. units: by number, half of the width of
    the human band.
    """
    close = {system: _no_worse(each, tolerated, seed) for system, each in found.items()}
    adjusted_alike = holm_over_families([each.adjusted_alike for each in found.values()])
    adjusted_close = holm_over_families([each[1] for each in close.values()])
    judged = {}
    for (system, each), held_alike, held_close in zip(found.items(), adjusted_alike, adjusted_close, strict=True):
        pvalue = np.fmax(close[system][0], each.alike)
        adjusted = np.fmax(held_close, np.where(np.isnan(each.alike), np.nan, held_alike))
        with np.errstate(divide="ignore", invalid="ignore"):
            halves = np.where(units > 0, each.values / units, np.nan)
        rows = zip(names, each.values, halves, pvalue, adjusted, strict=True)
        judged[system] = {name: Loss(*map(float, numbers)) for name, *numbers in rows}
    return judged


def _no_worse(found: Losses, tolerated: np.ndarray, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """p-values from the spread over resampled data, plain and adjusted for all numbers."""
    known = np.flatnonzero(found.errors > 0)
    plain = _certain(found.values - tolerated, found.errors)
    adjusted = plain.copy()
    if len(known):
        reached = (found.values - tolerated)[known] / found.errors[known]
        plain[known], adjusted[known] = _tails(
            reached, found.degrees, found.correlations[np.ix_(known, known)], seed, sides=1
        )
    return plain, adjusted


@dataclass(frozen=True)
class Judged:
    """What the evidence on one pair of systems says by itself, before other pairs are looked at; one row a number."""

    values: np.ndarray
    errors: np.ndarray
    degrees: float
    alike: np.ndarray
    """p-values of "both write alike"; NaN where a number has no labellings"""
    adjusted_alike: np.ndarray
    close: np.ndarray
    """p-values of "both are equally close", from the spread alone"""
    adjusted_close: np.ndarray


def judged(evidence: Evidence, seed: int) -> Judged:
    alike = _by_labelling(evidence.nulls, evidence.rounding, 2, evidence.first)
    return Judged(evidence.values, _errors(evidence), evidence.degrees, *alike, *_by_resampling(evidence, seed))


def differences(
    evidence: Mapping[PairOfSystems, Evidence], names: Sequence[str], level: float, seed: int
) -> dict[PairOfSystems, dict[str, Difference]]:
    """Every difference of every pair, with p-values that hold for all of them together.

    level: of the intervals, such as 0.95.
    """
    return held_together({pair: judged(each, seed) for pair, each in evidence.items()}, names, level)


def held_together(
    pairs: Mapping[PairOfSystems, Judged], names: Sequence[str], level: float
) -> dict[PairOfSystems, dict[str, Difference]]:
    """The same from what was found of each pair."""
    adjusted_alike = dict(zip(pairs, holm_over_families([each.adjusted_alike for each in pairs.values()]), strict=True))
    adjusted_close = dict(zip(pairs, holm_over_families([each.adjusted_close for each in pairs.values()]), strict=True))
    found = {}
    for pair, each in pairs.items():
        reach = reach_of(level, each.degrees)
        # What has no labellings is judged by the spread alone; what no resample moves has nothing to be judged by.
        pvalue = np.fmax(each.close, each.alike)
        adjusted = np.fmax(adjusted_close[pair], np.where(np.isnan(each.alike), np.nan, adjusted_alike[pair]))
        found[pair] = {
            name: Difference(
                float(each.values[place]),
                float(each.values[place] - reach * each.errors[place]),
                float(each.values[place] + reach * each.errors[place]),
                float(pvalue[place]),
                float(adjusted[place]),
                float(each.alike[place]),
            )
            for place, name in enumerate(names)
        }
    return found


def spread_tells(evidence: Mapping[PairOfSystems, Evidence], level: float, seed: int) -> set[PairOfSystems]:
    """The pairs of systems that the spread over resampled data tells apart by some number, labellings aside."""
    plain = [_by_resampling(each, seed)[1] for each in evidence.values()]
    adjusted = holm_over_families(plain)
    return {pair for pair, of_pair in zip(evidence, adjusted, strict=True) if (np.asarray(of_pair) < level).any()}


def check_tests(level: Any, interval: Any) -> tuple[float, float]:
    """The levels of the tests and of the intervals."""
    for name, value, usual in (("level", level, 0.05), ("interval", interval, 0.95)):
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0 < value < 1:
            raise InputError(f"{name} must be a number between 0 and 1 such as {usual}, not {shown(value)}")
    if level < LEAST_LEVEL:
        raise InputError(f"level must be {LEAST_LEVEL:g} at least, not {level:g}: it would take too many labellings")
    return float(level), float(interval)


def enough_labellings(pairs: int, level: float) -> int:
    """So many that the smallest adjusted p-value there can be, over all pairs, is below a fifth of the level."""
    return max(LABELLINGS, math.ceil(5 * pairs / level))


def smallest_adjusted(pairs: int, labellings: int) -> float:
    """The smallest adjusted p-value there can be. labellings: beside the observed one."""
    return min(1.0, pairs / (labellings + 1))


def pairs_of(systems: Sequence[str]) -> list[PairOfSystems]:
    """Every two systems once, in their order."""
    return list(combinations(systems, 2))


def reach_of(level: float, degrees: float) -> float:
    """Standard errors to each side of a difference that its interval takes."""
    from scipy.stats import norm, t

    return float(norm.ppf((1 + level) / 2) if math.isinf(degrees) else t.ppf((1 + level) / 2, degrees))


def _errors(evidence: Evidence) -> np.ndarray:
    """Standard errors of the differences; NaN where no resample moves a number by more than rounding.

    0 where all resamples show the very difference that was found (one system is better at every item, and by the same):
    they say that it is there, and labellings alone have to say whether chance makes it.
    """
    spread = np.std(evidence.resampled, axis=1, ddof=1)
    moving = [moves(row, slack) for row, slack in zip(evidence.resampled, evidence.rounding, strict=True)]
    still = [
        not np.isnan(null).any() and abs(value) > slack and not moves(np.append(row, value), slack)
        for value, row, null, slack in zip(
            evidence.values, evidence.resampled, evidence.nulls, evidence.rounding, strict=True
        )
    ]
    errors = np.where(moving, np.hypot(spread, evidence.extra), np.nan)
    return np.where(still, evidence.extra, errors)


def _certain(values: np.ndarray, errors: np.ndarray) -> np.ndarray:
    """p-values from the spread, of numbers that have none: 0 where a difference is always there, else 1."""
    return np.where((errors == 0) & (values > 0), 0.0, 1.0)


def worth_more(nulls: np.ndarray) -> bool:
    """Whether more labellings than these could make any difference surer. nulls: as in `Evidence`."""
    tested = np.abs(nulls[~np.isnan(nulls).any(axis=1)])
    return bool((np.sum(tested >= tested[:, :1] * (1 - 1e-9), axis=1) <= _RAISED).any())


def _by_labelling(nulls: np.ndarray, rounding: np.ndarray, sides: int, first: int) -> tuple[np.ndarray, np.ndarray]:
    """p-values of "both write alike", plain and adjusted for all numbers of the pair.

    nulls: (numbers, labellings) the observed labelling first. sides: 2, or 1 where only larger ones count.
    first: as in `Evidence`. A number whose p-value on the first labellings is above a limit c keeps it, however many
    more were made for other numbers; the others are judged by all. That is a test on either: p <= x for an x above c
    takes p <= x on the first labellings (a p-value kept is above c, and all labellings are looked at only where the
    first gave c at most), and p <= x for an x of at most c takes p <= x on all. Which of the two it takes does not
    depend on the data, and each is exact. (Pairs whose spread says that they may be equally close get no more
    labellings, either; nothing is claimed of these.)
    """
    last = _shares(nulls, rounding, sides)
    if not first:
        return last
    limit = _RAISED / first * sides / 2
    early = _shares(nulls[:, :first], rounding, sides)
    if nulls.shape[1] <= first and sides == 1:
        # More were made by the two-sided p-value: what a one-sided one would have become is not known.
        last = tuple(np.maximum(each, limit) for each in last)
    plain, adjusted = (np.where(begun > limit, begun, ended) for begun, ended in zip(early, last, strict=True))
    return plain, np.fmax(adjusted, plain)


def _shares(nulls: np.ndarray, rounding: np.ndarray, sides: int) -> tuple[np.ndarray, np.ndarray]:
    """p-values on these labellings, plain (NaN for numbers without any) and adjusted."""
    plain, adjusted = np.full(len(nulls), np.nan), np.ones(len(nulls))
    tested = np.flatnonzero(~np.isnan(nulls).any(axis=1))
    if not len(tested):
        return plain, adjusted
    sizes = np.abs(nulls[tested]) if sides == 2 else nulls[tested]
    slack = 1e-9 * np.abs(sizes[:, 0]) + rounding[tested]
    # Of differences that change their sign alone every labelling is as far as the observed one.
    moving = [moves(row, each) for row, each in zip(sizes, rounding[tested], strict=True)]
    plain[tested] = np.where(moving, np.mean(sizes >= (sizes[:, 0] - slack)[:, None], axis=1), 1.0)
    adjusted[tested] = np.maximum(step_down(list(sizes), moving), plain[tested])
    return plain, adjusted


def _by_resampling(evidence: Evidence, seed: int) -> tuple[np.ndarray, np.ndarray]:
    """Two-sided p-values of "both are equally close", plain and adjusted for all numbers of the pair."""
    error = _errors(evidence)
    known = np.flatnonzero(error > 0)
    plain = _certain(np.abs(evidence.values), error)
    adjusted = plain.copy()
    if len(known):
        reached = np.abs(evidence.values[known]) / error[known]
        plain[known], adjusted[known] = _tails(
            reached, evidence.degrees, _correlations(evidence.resampled[known]), seed, sides=2
        )
    return plain, adjusted


def _tails(
    reached: np.ndarray, degrees: float, correlations: np.ndarray, seed: int, sides: int
) -> tuple[np.ndarray, np.ndarray]:
    """p-values of differences that reach so many standard errors, plain and adjusted for all of them."""
    from scipy.stats import norm, t

    if math.isinf(degrees):
        plain = sides * norm.sf(reached)
    else:
        plain = sides * t.sf(reached, degrees)
        reached = norm.isf(plain / sides)  # as unlikely for a normal variable: correlations are looked at there
    return plain, _largest_of_normals(reached, plain, correlations, seed, sides)


def _correlations(rows: np.ndarray) -> np.ndarray:
    if len(rows) == 1:
        return np.ones((1, 1))
    return np.asarray(np.corrcoef(rows))


def _largest_of_normals(
    reached: np.ndarray, plain: np.ndarray, correlations: np.ndarray, seed: int, sides: int
) -> np.ndarray:
    """Step-down p-values of normal variables with these correlations: how often is the largest so large?"""
    order = np.argsort(-reached, kind="stable")
    values, vectors = np.linalg.eigh(correlations[np.ix_(order, order)])
    factor = vectors * np.sqrt(np.clip(values, 0, None))
    rng = np.random.default_rng([seed, 2])
    above = np.zeros(len(order), np.int64)
    for start in range(0, _DRAWS, _BLOCK):
        drawn = rng.standard_normal((min(_BLOCK, _DRAWS - start), len(order))) @ factor.T
        drawn = np.abs(drawn) if sides == 2 else drawn
        # From the smallest number upwards: the largest of this one and all that reached less.
        largest = np.maximum.accumulate(drawn[:, ::-1], axis=1)[:, ::-1]
        above += np.count_nonzero(largest >= reached[order], axis=0)
    shares = above / _DRAWS
    bonferroni = np.minimum(1.0, plain[order] * np.arange(len(order), 0, -1))
    stepped = np.where(above < _FEW, np.maximum(bonferroni, plain[order]), np.maximum(shares, plain[order]))
    adjusted = np.empty(len(order))
    adjusted[order] = np.minimum(1.0, np.maximum.accumulate(stepped))
    return adjusted
