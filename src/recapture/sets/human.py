"""What human texts would score in the candidates' place, and what candidates score on the same terms.

Every split parts the reference in two. The first part is compared with the second, and with an equal part of each
candidate: the same sizes, the same settings, the same human texts on the other side. So numbers that depend on size
(all do) can stand side by side, and a candidate that is human scores like the second part.

    human           mean over splits, and mean - and + 1.96 x the spread of single splits: where one human part falls
    at_human_size   the same for single parts of a candidate
    inside          the share of a candidate's parts that fall where human ones do

Numbers that can be read off one preparation of all samples are (`SetMetric.relabel`). Metrics that cluster are measured
part by part: clusters of another number of samples, or of other samples, would be another measure. Parts have then at
most 1,000 samples, and one clustering each: forty parts average over clusterings already.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..geometry.labels import Labels
from ..geometry.parallel import engine, run_tiles
from ..geometry.points import PointSet
from ..labellings.permutation import moves
from ..progress import Progress
from .declaration import SetMetric
from .pair import Pair

SPLITS = 40
"""Unless the caller says how many."""
REACH = 1.96
"""Standard deviations on either side: 95 % of single parts, where they are about normal."""
MOST_CLUSTERED = 1000
_MOST_PLACES = 200_000_000
"""Samples of all splits, which are drawn before the first is scored: some gigabytes."""
_FEWEST_GROUPS = 4
_FEWEST_SAMPLES = 5
"""Of a part: single scores of fewer jump so much that every candidate would fall inside."""

Jobs = Sequence[tuple[SetMetric, Mapping[str, Any]]]
Numbers = dict[str, np.ndarray]
"""One number a split, by name."""


class Band(NamedTuple):
    """Where single parts fall."""

    mean: float
    low: float
    high: float


@dataclass(frozen=True)
class HumanTerms:
    """What the splits say about one metric of one candidate."""

    human: Mapping[str, Band] = field(default_factory=dict)
    at_human_size: Mapping[str, Band] = field(default_factory=dict)
    inside: Mapping[str, float] = field(default_factory=dict)
    record: Mapping[str, Any] = field(default_factory=dict)
    warnings: tuple[str, ...] = ()
    means: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Of human parts and of the candidate's, of all numbers: where there is no band, too."""


class CandidateSamples(NamedTuple):
    """How many samples a candidate has, and the group of each where samples come in groups."""

    size: int
    groups: np.ndarray | None = None


class HumanSplits:
    """The splits of one reference: human parts are scored once, each candidate's when it is asked for."""

    def __init__(
        self,
        jobs: Jobs,
        reference: PointSet,
        candidates: Sequence[CandidateSamples],
        draws: int,
        seed: int,
        *,
        human: PointSet | None = None,
        groups: np.ndarray | None = None,
        human_groups: np.ndarray | None = None,
    ) -> None:
        """candidates: all that will be compared; those too small for some job do not make the others' parts small.
        human: a second human set, instead of other parts of the reference. groups, human_groups: of the samples of
        either, which are then split by whole groups.
        """
        samples = len(reference) + max(each.size for each in candidates)
        if draws * samples > _MOST_PLACES:
            raise InputError(f"at most {_MOST_PLACES // samples:,} splits of {samples:,} samples fit, not {draws:,}")
        self._jobs = [_settled(*job, reference) for job in jobs]
        self._reference, self._human = reference, human
        self._groups, self._draws, self._seed = groups, draws, seed
        least = max(max(metric.least_samples, parameters.get("k", 0) + 1) for metric, parameters in jobs)
        large = [each for each in candidates if each.size >= least] or candidates
        whole = min([len(reference) // 2, *([len(human) // 2] if human is not None else [])])
        size = min([whole, *(each.size for each in large)])
        known = [each for each in (groups, human_groups, *(each.groups for each in large)) if each is not None]
        self._too_few_groups = any(len(set(each.tolist())) < _FEWEST_GROUPS for each in known)
        self._references: list[np.ndarray] = []
        self._others: list[np.ndarray] = []
        self._candidates: list[list[np.ndarray]] = [[] for _ in candidates]
        if not self._too_few_groups:
            self._draw(size, candidates, human_groups)
            sides = [self._references, self._others]
            sides += [parts for parts, each in zip(self._candidates, candidates, strict=True) if each.size >= size]
            # Whole groups differ in size, and every score depends on sizes: all parts are cut to the smallest.
            size = min(len(part) for parts in sides for part in parts)
        self.size = size
        """Samples of one part."""
        self._narrow = (
            f"parts have {size:,} samples, as many as the smallest candidate has: human bands are wide"
            if size < whole / 2 and groups is None
            else ""
        )
        self._stretch = 1.0 if human is None else _stretch(len(reference) / size, len(human) / size) if size else 1.0
        self._scores = self._score(None, self._others)

    def terms(self, place: int, pair: Pair) -> list[HumanTerms]:
        """Of every job, for the candidate at this place, which is that of the pair."""
        parts = self._candidates[place]
        if not self._too_few_groups and any(len(part) < self.size for part in parts):
            few = f"no human band: {pair.candidate.name} has no parts of {self.size:,} samples"
            return [HumanTerms(warnings=(few,)) for _ in self._jobs]
        scored = self._score(pair, parts)
        return [
            _terms(human, own, self._record(metric), metric.rounding(pair), self._stretch, self._narrow)
            if isinstance(human, dict) and isinstance(own, dict)
            else HumanTerms(warnings=(f"no human band: {human if isinstance(human, str) else own}",))
            for (metric, _), human, own in zip(self._jobs, self._scores, scored, strict=True)
        ]

    def _record(self, metric: SetMetric) -> dict[str, Any]:
        record = {"splits": self._draws, "size": self._part_size(metric), "seed": self._seed}
        if self._groups is not None:
            record["groups"] = len(set(self._groups.tolist()))
        return {**record, "human": "a second human set" if self._human is not None else "the reference, split"}

    def _part_size(self, metric: SetMetric) -> int:
        return min(self.size, MOST_CLUSTERED) if _by_parts(metric) else self.size

    def _draw(self, size: int, candidates: Sequence[CandidateSamples], human_groups: np.ndarray | None) -> None:
        rng = np.random.default_rng([self._seed, 0])
        taken: list[frozenset[Any]] = []
        for _ in range(self._draws):
            order = _shuffled(len(self._reference), self._groups, rng)
            first = _taken(order, self._groups, size)
            taken.append(frozenset() if self._groups is None else frozenset(self._groups[first].tolist()))
            rest, of_rest = order[len(first) :], self._groups
            if self._human is not None:
                of_rest = human_groups
                rest = _without(_shuffled(len(self._human), human_groups, rng), human_groups, taken[-1])
            self._references.append(_mixed(first, of_rest, rng))
            self._others.append(_mixed(_taken(rest, of_rest, size), of_rest, rng))
        for parts, (samples, groups) in zip(self._candidates, candidates, strict=True):
            rng = np.random.default_rng([self._seed, 1])  # the same draws for all candidates
            for of_reference in taken:
                order = _without(_shuffled(samples, groups, rng), groups, of_reference)
                parts.append(_mixed(_taken(order, groups, size), groups, rng))

    def _score(self, pair: Pair | None, parts: Sequence[np.ndarray]) -> list[Numbers | str]:
        """Every job's numbers over all splits, or why it has none. pair: None for the human parts."""
        scores: list[Numbers | str] = [self._reason(*job) for job in self._jobs]
        able = [number for number, reason in enumerate(scores) if not reason]
        name = "human parts" if pair is None else f"parts of {pair.candidate.name}"
        with Progress(name, self._draws * len(able), "part") as progress:
            for by_parts in (False, True):
                chosen = [number for number in able if _by_parts(self._jobs[number][0]) == by_parts]
                if not chosen:
                    continue
                jobs = [self._jobs[number] for number in chosen]
                size = self._part_size(jobs[0][0])
                references, others = ([rows[:size] for rows in side] for side in (self._references, parts))
                score = self._part_by_part if by_parts else self._relabelled
                for number, numbers in zip(chosen, score(jobs, pair, references, others, progress), strict=True):
                    scores[number] = numbers
        return scores

    def _reason(self, metric: SetMetric, parameters: Mapping[str, Any]) -> str:
        """Why there can be no parts; "" where there can."""
        if self._too_few_groups:
            return f"fewer than {_FEWEST_GROUPS} groups are too few to split"
        size = self._part_size(metric)
        if size < max(metric.least_samples, _FEWEST_SAMPLES) or size <= parameters.get("k", 0):
            return f"parts of {size} sample{'s' * (size != 1)} are too few for {metric.name}"
        return ""

    def _relabelled(
        self,
        jobs: Jobs,
        pair: Pair | None,
        references: Sequence[np.ndarray],
        others: Sequence[np.ndarray],
        progress: Progress,
    ) -> list[Numbers]:
        """All parts from one preparation of all samples."""
        first = len(self._reference)
        if pair is None and self._human is not None:
            pair = Pair(self._reference, self._human)
        elif pair is None:  # both parts are the reference's own
            values, half = self._reference.values, first // 2
            pair = Pair(*(PointSet(values[rows], self._reference.name) for rows in (slice(half), slice(half, None))))
            first = 0
        reference, other = (np.zeros((len(others), sum(pair.sizes.values())), bool) for _ in range(2))
        for row, (own, rows) in enumerate(zip(references, others, strict=True)):
            reference[row, own] = True
            other[row, first + rows] = True
        labels = Labels(reference, other)
        pair.expect(parameters["k"] for metric, parameters in jobs if metric.uses_neighbours)
        scored = []
        for metric, parameters in jobs:
            assert metric.relabel is not None
            numbers = {name: np.asarray(each) for name, each in metric.relabel(pair, **parameters)(labels).items()}
            scored.append(_with_adjusted(metric, parameters, numbers, *labels.counts))
            progress.advance(len(labels))
        return scored

    def _part_by_part(
        self,
        jobs: Jobs,
        pair: Pair | None,
        references: Sequence[np.ndarray],
        others: Sequence[np.ndarray],
        progress: Progress,
    ) -> list[Numbers]:
        points = pair.candidate if pair is not None else self._human or self._reference
        scored: list[list[Mapping[str, float]]] = [[{} for _ in others] for _ in jobs]

        def measure(number: int) -> None:
            part = Pair(_part(self._reference, references[number]), _part(points, others[number]))
            with engine(threads=1):  # parts are small: one core each
                for of_job, (metric, parameters) in zip(scored, jobs, strict=True):
                    seed = {"seed": parameters["seed"] + number} if "seed" in parameters else {}
                    of_job[number] = metric.measure(part, **{**parameters, **seed}).values

        run_tiles(measure, range(len(others)), "parts")
        progress.advance(len(others) * len(jobs))
        sizes = np.array([[len(rows) for rows in references], [len(rows) for rows in others]])
        return [
            _with_adjusted(
                metric, parameters, {name: np.array([each[name] for each in of_job]) for name in of_job[0]}, *sizes
            )
            for (metric, parameters), of_job in zip(jobs, scored, strict=True)
        ]


def _part(points: PointSet, rows: np.ndarray) -> PointSet:
    return PointSet(points.values[rows], points.name)


def _shuffled(samples: int, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """Samples in a random order; those of one group follow each other, whole groups in a random order."""
    if groups is None:
        return rng.permutation(samples)
    kinds, number = np.unique(groups, return_inverse=True)
    rank = rng.permutation(len(kinds))[number.reshape(-1)]
    return np.lexsort((rng.random(samples), rank))


def _mixed(part: np.ndarray, groups: np.ndarray | None, rng: np.random.Generator) -> np.ndarray:
    """A part in random order, so that a cut takes from all of its groups alike."""
    return part if groups is None else rng.permutation(part)


def _without(order: np.ndarray, groups: np.ndarray | None, taken: frozenset[Any]) -> np.ndarray:
    """Samples whose group the first human part does not have: the second human part has none of those either."""
    if groups is None or not taken:
        return order
    return order[~np.isin(groups[order], list(taken))]


def _taken(order: np.ndarray, groups: np.ndarray | None, size: int) -> np.ndarray:
    """The first samples: as many as asked for, or the whole groups that come nearest to that."""
    if groups is None or not len(order):
        return order[:size]
    ends = np.append(np.flatnonzero(np.diff(groups[order])) + 1, len(order))
    return order[: ends[int(np.argmin(np.abs(ends - size)))]]


def _stretch(references: float, humans: float) -> float:
    """How much wider than the spread over splits the band of a second human set must be, for a mean; both sets as
    multiples of a part.

    Parts of one set have samples in common, so they vary less than parts of different sets do: with h samples a part of
    n, by 1 - h / n of the variance. Two halves of one reference make up for that, since one has what the other lacks.
    """
    own, second = 1 - 1 / references, 1 / humans
    return float(np.sqrt((own + 1 + second) / (own + 1 - second)))


def _terms(
    human: Numbers, candidate: Numbers, record: dict[str, Any], rounding: float, stretch: float, narrow: str
) -> HumanTerms:
    # Where no split moves a number, nothing shows how far human parts may lie from each other.
    still = tuple(name for name, values in human.items() if not moves(values, rounding))
    bands = {name: _band(values, stretch) for name, values in human.items() if name not in still}
    inside = {
        name: float(np.mean((values >= bands[name].low) & (values <= bands[name].high)))
        for name, values in candidate.items()
        if name in bands
    }
    said = tuple(f"no human band for {name}: all {record['splits']} splits give the same number" for name in still)
    if record["splits"] < SPLITS:
        said += (f"{record['splits']} splits are few: ends of human bands are rough below {SPLITS}",)
    said += (narrow,) if narrow else ()
    parts = {name: _band(values) for name, values in candidate.items() if name in bands}
    means = {name: (float(human[name].mean()), float(candidate[name].mean())) for name in human}
    return HumanTerms(bands, parts, inside, record, said, means)


def _band(values: np.ndarray, stretch: float = 1.0) -> Band:
    mean, spread = float(values.mean()), stretch * float(np.std(values, ddof=min(1, len(values) - 1)))
    return Band(mean, mean - REACH * spread, mean + REACH * spread)


def _by_parts(metric: SetMetric) -> bool:
    return metric.relabel is None or metric.depends_on_pool


def _settled(
    metric: SetMetric, parameters: Mapping[str, Any], reference: PointSet
) -> tuple[SetMetric, Mapping[str, Any]]:
    """What would be chosen anew for every pair is chosen once, from the reference, for all parts."""
    return metric, {**parameters, **metric.settle(reference, parameters)} if metric.settle else parameters


def _with_adjusted(
    metric: SetMetric, parameters: Mapping[str, Any], numbers: Numbers, n: np.ndarray, m: np.ndarray
) -> Numbers:
    """With scores without their floor beside those that have one, as tables show them."""
    if metric.floors is None:
        return numbers
    floors = [metric.floors(int(a), int(b), **parameters) for a, b in zip(n, m, strict=True)]
    for name in floors[0]:
        floor = np.array([of_split[name] for of_split in floors])
        if ((floor > 0) & (floor < 1)).all():
            numbers[f"{name} adjusted"] = (numbers[name] - floor) / (1 - floor)
    return numbers
