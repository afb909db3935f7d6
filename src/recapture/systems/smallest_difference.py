"""The smallest difference between two systems that a comparison would have found in four of five cases, by simulation.

What a difference must reach to be claimed follows from the evidence on a pair (`reach_in_data`): its labellings, the
spread over resampled data, the interval. What chance does to it is seen in the resampled data. Sets: the same damage as
in `sets/unseen` is added to that. Items: their scores are shifted, and so are the swaps of a pair that was shifted.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from ..sets.unseen import FOUND, TOO_FEW, People, Shifts, SmallestFound
from .evidence import Evidence, PairOfSystems, reach_of

_DRAWS = 10_000
"""Normal vectors that tell how large the largest of several correlated numbers gets by chance."""
_STEPS = 60


@dataclass(frozen=True)
class Reach:
    """What the test of one pair of systems can see; one row a number."""

    needed: np.ndarray
    """(numbers,) a difference is claimed if it is at least so large"""
    chance: np.ndarray
    """(numbers, draws) what chance adds to a difference"""

    @property
    def spread(self) -> np.ndarray:
        return np.asarray(self.chance.std(axis=1))


def reach_in_data(evidence: Evidence, level: float, interval: float, seed: int) -> Reach:
    """level: of the pair, after what other pairs take away."""
    error = _errors(evidence)
    reached = np.fmax(_needed_by_labelling(evidence, level), _needed_by_resampling(evidence, error, level, seed))
    reached = np.fmax(reached, reach_of(interval, evidence.degrees) * error)
    # Around their own mean: half-samples also differ from the whole because they are smaller, which is no chance.
    chance = evidence.resampled - evidence.resampled.mean(axis=1, keepdims=True)
    return Reach(np.where(np.isnan(error), math.inf, reached), chance)


def twins(halves: np.ndarray, extra: np.ndarray) -> Evidence:
    """What would be found about a system and another that writes just like it. halves: (numbers, half-samples) of it.

    Both meet the same people, whose part in the spread is counted here for each: a little more than the truth.
    """
    apart = math.sqrt(2) * (halves - halves.mean(axis=1, keepdims=True))
    none = np.zeros(len(halves))
    return Evidence(none, apart, np.full((len(halves), 1), np.nan), math.sqrt(2) * extra, none)


def _errors(evidence: Evidence) -> np.ndarray:
    spread = np.hypot(np.std(evidence.resampled, axis=1, ddof=1), evidence.extra)
    return np.where(spread > 1e-12, spread, np.nan)


def _needed_by_labelling(evidence: Evidence, level: float) -> np.ndarray:
    """NaN for numbers without labellings."""
    needed = np.full(len(evidence.values), np.nan)
    sizes, places = _sizes(evidence)
    if len(places):
        mean, spread = sizes.mean(axis=1), sizes.std(axis=1)
        needed[places] = mean + spread * _largest(sizes, level)
    return needed


def _sizes(evidence: Evidence) -> tuple[np.ndarray, np.ndarray]:
    """Sizes of differences under labellings, and the numbers that have them."""
    known = ~np.isnan(evidence.nulls).any(axis=1)
    moving = np.abs(np.where(known[:, None], evidence.nulls, 0.0)).std(axis=1) > 1e-12
    places = np.flatnonzero(known & moving)
    return np.abs(evidence.nulls[places]), places


def _largest(sizes: np.ndarray, level: float) -> float:
    """What the largest of all numbers, each in units of its own labellings, exceeds with this probability."""
    return float(np.quantile(_standardised(sizes).max(axis=0), 1 - level, method="higher"))


def _standardised(sizes: np.ndarray) -> np.ndarray:
    return np.asarray((sizes - sizes.mean(axis=1, keepdims=True)) / sizes.std(axis=1, keepdims=True))


def _needed_by_resampling(evidence: Evidence, error: np.ndarray, level: float, seed: int) -> np.ndarray:
    from scipy.stats import norm, t

    known = np.flatnonzero(~np.isnan(error))
    needed = np.full(len(error), np.nan)
    if not len(known):
        return needed
    correlations = np.atleast_2d(np.corrcoef(evidence.resampled[known]))
    values, vectors = np.linalg.eigh(correlations)
    factor = vectors * np.sqrt(np.clip(values, 0, None))
    rng = np.random.default_rng([seed, 31])
    largest = np.abs(rng.standard_normal((_DRAWS, len(known))) @ factor.T).max(axis=1)
    normal = float(np.quantile(largest, 1 - level))
    many = normal if math.isinf(evidence.degrees) else float(t.isf(norm.sf(normal), evidence.degrees))
    needed[known] = many * error[known]
    return needed


# Sets


class SmallestDifference:
    """Between systems that are sets of samples. Made when it is asked for, as it takes a few seconds."""

    def __init__(
        self,
        people: People | None,
        reaches: Mapping[PairOfSystems, Reach],
        twin_reaches: Mapping[str, Reach],
        names: Sequence[str],
        directions: Sequence[str],
        size: int,
    ) -> None:
        self._people, self._reaches, self._twins, self._size = people, dict(reaches), dict(twin_reaches), size
        self._names, self._directions = list(names), list(directions)
        self._found: SmallestFound | None = None

    @property
    def silence(self) -> str:
        """What is said where nothing can be found."""
        return TOO_FEW if self._people is None else self._people.silence

    def found(
        self, deciding: Sequence[str], pairs: Sequence[PairOfSystems], best: Sequence[str]
    ) -> SmallestFound | None:
        """None where there is nothing to simulate from. deciding: the numbers by which a system is found further away;
        pairs: those with the best ranks; best: systems of rank 1.

        What is simulated writes nearly like people, and what chance does to the numbers of a system that repeats six
        texts says nothing of that. So twins of the best systems are looked at beside pairs, and whichever is easier to
        tell apart counts; of several pairs, or twins, the hardest.
        """
        if self._found is None and self._people is not None:
            every = self._people.shifts(self._size)
            shifts = None if every is None else every.of(deciding)
            if shifts is None:
                return None
            of_pairs = [self._of(self._reaches[pair], shifts, self._people.seed) for pair in pairs]
            of_twins = [self._of(self._twins[name], shifts, self._people.seed) for name in best]
            self._found = min(max(of_pairs, key=_hardness), max(of_twins, key=_hardness), key=_hardness)
        return self._found

    def _of(self, reach: Reach, shifts: Shifts, seed: int) -> SmallestFound:
        places = [self._names.index(name) for name in shifts.names]
        worse = np.array([-1.0 if self._directions[place] == "higher" else 1.0 for place in places])
        needed, chance = reach.needed[places, None], worse[:, None] * reach.chance[places]

        usual = np.maximum(reach.spread[places] ** 2, np.finfo(float).tiny)

        def found(moved: np.ndarray, by_chance: np.ndarray, by_mixture: np.ndarray) -> float:
            # Only one of two systems is damaged. What has to be reached grows with the spread that resampling shows.
            lucky, asked = (np.sqrt(1 + added / usual)[:, None] for added in (by_chance, by_chance + by_mixture))
            return float(np.mean(((worse * moved)[:, None] + lucky * chance >= asked * needed).any(axis=0)))

        return SmallestFound.of(shifts, found, reach.spread[places], shifts.names, seed)


def _hardness(found: SmallestFound) -> float:
    return sum(math.inf if each.share is None else each.share for each in (found.lost, found.foreign))


# Items


def smallest_shifts(
    evidence: Mapping[PairOfSystems, Evidence],
    names: Sequence[str],
    signs: np.ndarray,
    level: float,
    interval: float,
    seed: int,
    widest: Mapping[str, float] | None = None,
    pairs: int | None = None,
) -> dict[str, float]:
    """By number, the difference that is found in 80 % of cases, for the pair of systems that is hardest to tell apart.

    signs: (labellings,) the mean sign of the items that a labelling swaps (-1) or leaves (1). widest: by number, the
    largest difference that there can be. pairs: how many there are, where these are some of them alone.
    Infinite where none would be found, however large; NaN where nothing shows how sure a difference is.
    """
    each_level = level / (pairs or len(evidence))
    shifts: dict[str, list[float]] = {name: [] for name in names}
    for each in evidence.values():
        # As if the two were equally close: under every labelling, without what their difference adds to it.
        equal = replace(each, nulls=each.nulls - each.values[:, None] * signs)
        reach = reach_in_data(equal, each_level, interval, seed)
        sizes, places = _sizes(equal)
        standard = _standardised(sizes)
        for place, name in enumerate(names):
            null, others = None, np.zeros(0)
            if place in places:
                null = equal.nulls[place]
                others = np.delete(standard, np.flatnonzero(places == place), axis=0)
            shifts[name].append(_smallest_shift(reach, place, null, others, signs, each_level))
    largest = {name: largest_of(own) for name, own in shifts.items()}
    return {name: math.inf if widest is not None and size > widest[name] else size for name, size in largest.items()}


def largest_of(shifts: Iterable[float]) -> float:
    """NaN where all are."""
    return max((shift for shift in shifts if not math.isnan(shift)), default=math.nan)


def _smallest_shift(
    reach: Reach, place: int, null: np.ndarray | None, others: np.ndarray, signs: np.ndarray, level: float
) -> float:
    """null: differences under labellings of a pair without any; those of a shifted pair are shifted, too, by as much as
    more items stay than are swapped. others: those of other numbers, each in units of its own.
    """
    needed, chance = float(reach.needed[place]), reach.chance[place]
    if math.isinf(needed):
        return math.nan  # no resample moves it: nothing shows how sure it is
    unlucky = float(np.quantile(chance, 1 - FOUND))
    shift = needed - unlucky
    if null is None:
        return shift
    by_others = others.max(axis=0) if len(others) else np.full(len(null), -math.inf)
    for _ in range(_STEPS):
        sizes = np.abs(null + shift * signs)
        largest = np.maximum(by_others, _standardised(sizes[None])[0])
        wanted = float(sizes.mean() + sizes.std() * np.quantile(largest, 1 - level, method="higher"))
        if max(needed, wanted) - unlucky <= shift * (1 + 1e-6):
            return shift
        shift = max(needed, wanted) - unlucky
    return math.inf
