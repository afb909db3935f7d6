"""Evidence about systems that are sets of samples, each against one reference set.

All systems are measured at one size, that of the smallest, since every number depends on sizes. The difference of two
is looked at twice: under labellings of their pooled samples, with the reference as it is, and over half-samples of all
sets, in which both systems meet the same half of the reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np

from ..declarations import number_label
from ..errors import InputError, nearest_names, shown
from ..geometry.content_order import content_order, content_ranks
from ..geometry.labels import Labels
from ..geometry.points import PointSet
from ..geometry.sparse_rows import together
from ..labellings.groups import Groups
from ..progress import Progress
from ..sets.declaration import SetMetric
from ..sets.evaluate import Job, PreparedSets, with_defaults
from ..sets.pair import Pair
from .evidence import LABELLINGS, Evidence, PairOfSystems, enough_labellings, pairs_of, spread_tells, worth_more
from .set_labellings import CUTS, PairLabellings, check_sides, cut_to, needed, numbered

HALF_SAMPLES = 200
DRAWS = 10
"""Subsamples of a system that has more samples than the smallest."""
_ALIKE_RUNS, _FEWEST_ALIKE = 15, 2
"""Parts of all pairs of systems together, and of one at least, where systems are measured against each other."""
_HALVED, _CUT, _MATCHED = 2, 3, 4
"""Streams of random numbers."""


@dataclass(frozen=True)
class SystemNumbers:
    """The numbers of all systems, at one size."""

    names: tuple[str, ...]
    """Of the numbers: METRIC.NUMBER, or METRIC where it has one alone."""
    directions: tuple[str, ...]
    values: Mapping[str, np.ndarray]
    """By system."""
    errors: Mapping[str, np.ndarray]
    """By system: standard errors that half-samples do not show (of clusterings, of subsamples)."""


class SetSystems:
    """Several systems against one reference."""

    def __init__(self, prepared: PreparedSets, seed: int, *, labelled: Sequence[str] | None = None) -> None:
        """labelled: metrics whose labellings are looked at (None: all but those that declare them costly)."""
        self.seed = seed
        self.reference = prepared.reference.ordered
        self.pairs = {name: Pair(prepared.reference, points) for name, points in prepared.candidates.items()}
        """Of the reference with each system: whoever measures them again finds their clusters here."""
        self.systems = {name: pair.ordered.candidate for name, pair in self.pairs.items()}
        self.size = min(map(len, self.systems.values()))
        """Of every system, where it is compared."""
        jobs = with_defaults(prepared.jobs, seed)
        for metric, parameters in jobs:
            least = needed(metric, parameters)
            for points in (self.reference, *self.systems.values()):
                if len(points) < 2 * least:
                    raise InputError(
                        f"{points.name} has {len(points)} samples: {metric.name} needs {2 * least} to compare systems"
                    )
        self.jobs = [_settled(job, self.reference) for job in jobs]
        if labelled is None:
            labelled = [metric.name for metric, _ in self.jobs if not metric.costly_labellings]
        measured = [metric.name for metric, _ in self.jobs]
        for name in labelled:
            if name not in measured:
                near = nearest_names(name, measured)
                raise InputError(f"labellings of {shown(name)} were asked for, which is not measured; {near}")
        self.labelled = [job for job in self.jobs if job.metric.name in labelled and job.metric.relabel is not None]
        coded = prepared.groups
        self._reference_groups = None if coded.reference is None else coded.reference[prepared.reference.order]
        self._groups = {name: codes[prepared.candidates[name].order] for name, codes in coded.candidates.items()}
        # Draws of a system follow its content, neither its name nor its place.
        self._stream = _streams(self.systems)
        self.halves: dict[str, np.ndarray] = {}
        """What `resampled` gave, once there is evidence."""

    @property
    def numbers(self) -> list[tuple[SetMetric, str, str]]:
        """Metric, output and the name of the number, for every number."""
        return [
            (metric, output.name, metric.name if len(metric.outputs) == 1 else f"{metric.name}.{output.name}")
            for metric, _ in self.jobs
            for output in metric.outputs
        ]

    def measured(self) -> SystemNumbers:
        values, errors = {}, {}
        with Progress("systems at one size", len(self.systems), "system") as progress:
            for name in self.systems:
                values[name], errors[name] = self._at_size(name)
                progress.advance()
        listed = self.numbers
        return SystemNumbers(
            tuple(name for *_, name in listed), tuple(metric.direction for metric, *_ in listed), values, errors
        )

    def _at_size(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        points = self.systems[name]
        rng = np.random.default_rng([self.seed, _CUT, self._stream[name]])
        draws = 1 if len(points) == self.size else DRAWS
        runs, noise = [], []
        for _ in range(draws):
            pair = self.pairs[name].ordered
            if draws > 1:
                part = _rows(points, np.sort(rng.choice(len(points), self.size, replace=False)))
                pair = Pair(self.reference, part)
            pair.expect(parameters["k"] for metric, parameters in self.jobs if metric.uses_neighbours)
            measured = [metric.measure(pair, **parameters) for metric, parameters in self.jobs]
            runs.append(
                [
                    each.values[output.name]
                    for (metric, _), each in zip(self.jobs, measured, strict=True)
                    for output in metric.outputs
                ]
            )
            noise.append(
                [
                    each.details.get("spread", {}).get(output.name, 0.0) / math.sqrt(parameters.get("clusterings", 1))
                    for (metric, parameters), each in zip(self.jobs, measured, strict=True)
                    for output in metric.outputs
                ]
            )
        table, over = np.array(runs, float), np.array(noise, float)
        spread = table.std(axis=0, ddof=1) / math.sqrt(draws) if draws > 1 else np.sqrt(np.mean(over**2, axis=0))
        return table.mean(axis=0), spread

    # Half-samples

    def resampled(self) -> dict[str, np.ndarray]:
        """(numbers, half-samples) of every system; all meet the same halves of the reference."""
        halves = self._halves()
        found = {}
        with Progress("half-samples", len(self.systems) * len(self.jobs), "system") as progress:
            for name, points in self.systems.items():
                pair = self.pairs[name].ordered
                draws = 1 if len(points) == self.size else CUTS
                rng = np.random.default_rng([self.seed, _CUT, 100 + self._stream[name]])
                reference = np.repeat(halves[0], draws, axis=0)
                candidate = np.repeat(halves[1][name], draws, axis=0)
                if draws > 1:
                    candidate = cut_to(candidate, self.size // 2, rng)
                rows = np.zeros((len(reference), len(self.reference) + len(points)), bool)
                whole = Labels(rows.copy(), rows)
                whole.reference[:, : len(self.reference)] = reference
                whole.candidate[:, len(self.reference) :] = candidate
                if self._groups:
                    check_sides(self.jobs, min(whole.smallest), points.name, "halves of the groups")
                columns = self._under(pair, whole, progress)
                found[name] = _without_cuts(columns.reshape(len(columns), HALF_SAMPLES, draws))
                self.pairs[name].forget_neighbours()
        return found

    def _halves(self) -> tuple[np.ndarray, dict[str, np.ndarray]]:
        """Halves of the reference, and of every system."""
        if self._reference_groups is None and not self._groups:
            rng = np.random.default_rng([self.seed, _HALVED])
            reference = _random_halves(len(self.reference), rng)
            by_system = {
                name: _random_halves(len(points), np.random.default_rng([self.seed, _HALVED, 1 + self._stream[name]]))
                for name, points in self.systems.items()
            }
            return reference, by_system
        # Whole groups, wherever they are: a prompt's texts of all sides come or stay away together.
        every = [self._reference_groups, *self._groups.values()]
        kinds = np.unique(np.concatenate([codes for codes in every if codes is not None]))
        held = np.array([codes is not None and np.isin(kinds, codes) for codes in every])
        chosen = _matched_halves(held, np.random.default_rng([self.seed, _HALVED]))
        flags = np.zeros((HALF_SAMPLES, int(kinds.max()) + 1), bool)
        flags[:, kinds] = chosen
        assert self._reference_groups is not None
        return flags[:, self._reference_groups], {name: flags[:, codes] for name, codes in self._groups.items()}

    def _under(self, pair: Pair, labels: Labels, progress: Progress) -> np.ndarray:
        """(numbers, labellings)"""
        pair.expect(parameters["k"] for metric, parameters in self.jobs if metric.uses_neighbours)
        found = []
        for metric, parameters in self.jobs:
            assert metric.relabel is not None
            numbers = metric.relabel(pair, **parameters)(labels)
            found += [np.asarray(numbers[output.name], float) for output in metric.outputs]
            progress.advance(len(labels))
        return np.stack(found)

    # Labellings

    def labellings(self, a: str, b: str, most: int) -> PairLabellings:
        """Of two systems, each in the other's place where that is their order of content: which of them is named first
        must not change what is drawn.
        """
        first, second = sorted((a, b), key=self._stream.__getitem__)
        groups = None
        if self._groups:
            codes = np.concatenate([self._groups[first], self._groups[second]])
            groups = numbered(Groups(codes, len(self.systems[first])))
        sides = self.systems[first], self.systems[second]
        return PairLabellings(self.labelled, self.reference, *sides, groups, self.size, most, self.seed)

    def _signed(self, differences: np.ndarray, a: str, b: str) -> np.ndarray:
        """(numbers, labellings) a - b; NaN for numbers without labellings."""
        names = [name for *_, name in self.numbers]
        table = np.full((len(names), differences.shape[1]), np.nan)
        rows = [names.index(name) for name in number_names(metric for metric, _ in self.labelled)]
        table[rows] = differences if self._stream[a] < self._stream[b] else -differences
        return table

    # All of it

    def evidence(self, numbers: SystemNumbers, level: float) -> dict[PairOfSystems, Evidence]:
        """Of every pair of systems. Labellings are raised where a smaller p-value would count."""
        halves = self.halves = self.resampled()
        pairs = pairs_of(list(self.systems))
        found = {}
        for a, b in pairs:
            slack = self.pairs[a].ordered
            found[a, b] = Evidence(
                numbers.values[a] - numbers.values[b],
                halves[a] - halves[b],
                np.full((len(numbers.names), 1), np.nan),
                np.hypot(numbers.errors[a], numbers.errors[b]),
                np.array([2 * metric.rounding(slack) for metric, *_ in self.numbers]),
            )
        if not self.labelled:
            return found
        enough = enough_labellings(len(pairs), level)
        # Where half-samples alone say that two systems may be equally close, no labelling can change that.
        open_still = spread_tells(found, level, self.seed)
        for a, b in pairs:
            labelled = self.labellings(a, b, enough)
            nulls = self._signed(labelled.upto(LABELLINGS), a, b)
            if (a, b) in open_still and worth_more(nulls):
                nulls = self._signed(labelled.upto(enough), a, b)
            every = (1 + labelled.mirrored) / nulls.shape[1] if labelled.exact else 0.0
            first = LABELLINGS + 1 if enough > LABELLINGS and not labelled.exact else 0
            found[a, b] = replace(found[a, b], nulls=nulls, first=first, every=every)
        return found

    def alike(self, size: int) -> dict[PairOfSystems, np.ndarray]:
        """The numbers of systems against each other, in parts of this size, by (a, b) and by (b, a): the first is in
        the reference's place. As for parts of human texts, metrics that cluster do so once a part: parts average over
        clusterings.
        """
        found = {}
        pairs = pairs_of(list(self.systems))
        draws = min(5, max(_FEWEST_ALIKE, _ALIKE_RUNS // len(pairs)))
        with Progress("systems against each other", len(pairs), "pair") as progress:
            for a, b in pairs:
                runs = [self._one_alike(self.systems[a], self.systems[b], size, draw) for draw in range(draws)]
                found[a, b], found[b, a] = np.mean(runs, axis=0)
                progress.advance()
        return found

    def _one_alike(self, first: PointSet, second: PointSet, size: int, draw: int) -> np.ndarray:
        """(2, numbers) as they are named, and with the second in the reference's place"""
        rng = np.random.default_rng([self.seed, _MATCHED, draw])
        sides = [_rows(points, np.sort(rng.choice(len(points), size, replace=False))) for points in (first, second)]
        pair, turned = Pair(*sides), Pair(*sides[::-1])
        pair.expect(parameters["k"] for metric, parameters in self.jobs if metric.uses_neighbours)
        values: list[tuple[float, float]] = []
        for metric, parameters in self.jobs:
            own = dict(parameters)
            if metric.depends_on_pool and metric.settle is not None:
                own |= {**metric.settle(self.reference, parameters), "seed": parameters["seed"] + draw}
            there = metric.measure(pair, **own).values
            if all(output.name in metric.swapped for output in metric.outputs):
                back = {name: there[other] for name, other in metric.swapped.items()}
            else:
                back = dict(metric.measure(turned, **own).values)
            values += [(there[output.name], back[output.name]) for output in metric.outputs]
        return np.array(values).T


def number_names(metrics: Iterable[SetMetric]) -> list[str]:
    """What the numbers of metrics are called."""
    return [
        number_label(metric.name, output.name, len(metric.outputs)) for metric in metrics for output in metric.outputs
    ]


def _settled(job: Job, reference: PointSet) -> Job:
    """What every pair would choose for itself (a bandwidth) is chosen once, from the reference: else two systems would
    be measured with different rulers.
    """
    metric, parameters = job
    if metric.settle is None or metric.depends_on_pool:
        return job
    return Job(metric, {**parameters, **metric.settle(reference, parameters)})


def _streams(systems: Mapping[str, PointSet]) -> dict[str, int]:
    """The place of every system among all, by content: their samples, in order of content, are compared one by one."""
    pool = together([points.values for points in systems.values()])
    ranks = content_ranks(pool, content_order(pool))
    starts = np.cumsum([0, *map(len, systems.values())]).tolist()
    held = {name: ranks[start:end].tolist() for name, (start, end) in zip(systems, pairwise(starts), strict=True)}
    ordered = sorted(systems, key=held.__getitem__)
    return {name: place for place, name in enumerate(ordered)}


def _rows(points: PointSet, rows: np.ndarray) -> PointSet:
    return PointSet(points.values[rows], points.name)


def _random_halves(samples: int, rng: np.random.Generator) -> np.ndarray:
    """(half-samples, samples)"""
    flags = np.zeros((HALF_SAMPLES, samples), bool)
    flags[:, : samples // 2] = True
    halves: np.ndarray = rng.permuted(flags, axis=1)
    return halves


def _without_cuts(drawn: np.ndarray) -> np.ndarray:
    """(numbers, half-samples) means over cuts, drawn together around their own mean by what cuts alone add to their
    spread: what subsamples add to a system's numbers is counted once (`SystemNumbers.errors`).

    drawn: (numbers, half-samples, cuts)
    """
    means = drawn.mean(axis=2)
    if drawn.shape[2] == 1:
        return np.asarray(means)
    whole = means.var(axis=1, ddof=1)
    by_cuts = drawn.var(axis=2, ddof=1).mean(axis=1) / drawn.shape[2]
    share = np.sqrt(np.clip(1 - np.divide(by_cuts, whole, out=np.zeros_like(whole), where=whole > 0), 0, 1))
    middle = means.mean(axis=1, keepdims=True)
    return np.asarray(middle + share[:, None] * (means - middle))


def _matched_halves(held: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """(half-samples, groups) one of every two groups that the same sets have, so that no set loses nearly all of its.

    held: (sets, groups) which sets have samples of which group. What is left over where sets have odd numbers of groups
    is matched with each other.
    """
    _, pattern = np.unique(held, axis=1, return_inverse=True)
    pattern = pattern.reshape(-1)
    halves = np.zeros((HALF_SAMPLES, len(pattern)), bool)
    for row in halves:
        order = np.lexsort((rng.random(len(pattern)), rng.permutation(int(pattern.max()) + 1)[pattern]))
        pairs = order[: len(order) // 2 * 2].reshape(-1, 2)
        row[pairs[np.arange(len(pairs)), rng.integers(0, 2, len(pairs))]] = True
    return halves
