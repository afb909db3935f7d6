"""Evidence about systems that are sets of samples, each against one reference set.

All systems are measured at one size, that of the smallest, since every number depends on sizes. The difference of two
is looked at twice: under labellings of their pooled samples, with the reference as it is, and over half-samples of all
sets, in which both systems meet the same half of the reference.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

from ..errors import InputError, nearest_names, shown
from ..geometry.content_order import content_order, content_ranks
from ..geometry.labels import Labels
from ..geometry.points import PointSet
from ..geometry.sparse_rows import together
from ..labellings.groups import Groups, group_plan
from ..labellings.plans import BLOCK_CELLS, plan
from ..progress import Progress
from ..sets.declaration import SetMetric
from ..sets.evaluate import Job, PreparedSets, with_defaults
from ..sets.pair import Pair, check_k
from .evidence import LABELLINGS, Evidence, PairOfSystems, enough_labellings, pairs_of, spread_tells

HALF_SAMPLES = 200
DRAWS = 10
"""Subsamples of a system that has more samples than the smallest."""
_CUTS = 4
"""Subsamples of each side of a labelling, where systems differ in size."""
_RAISED = 10
"""A p-value of at most so many labellings is worth more of them."""
_ALIKE_RUNS = 15
"""Of all pairs of systems together, where systems are measured against each other: that costs as much as measuring."""
_LABELLED, _HALVED, _CUT, _MATCHED = 1, 2, 3, 4
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
        self.systems = {name: points.ordered for name, points in prepared.candidates.items()}
        self.size = min(map(len, self.systems.values()))
        """Of every system, where it is compared."""
        jobs = with_defaults(prepared.jobs, seed)
        for metric, parameters in jobs:
            least = max(metric.least_samples, check_k(parameters["k"]) + 1 if "k" in parameters else 0)
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
        self._kept: tuple[PairOfSystems, Pair] | None = None
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
            part = points if draws == 1 else _rows(points, np.sort(rng.choice(len(points), self.size, replace=False)))
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
                pair = Pair(self.reference, points)
                draws = 1 if len(points) == self.size else _CUTS
                rng = np.random.default_rng([self.seed, _CUT, 100 + self._stream[name]])
                reference = np.repeat(halves[0], draws, axis=0)
                candidate = np.repeat(halves[1][name], draws, axis=0)
                if draws > 1:
                    candidate = _cut(candidate, self.size // 2, rng)
                rows = np.zeros((len(reference), len(self.reference) + len(points)), bool)
                whole = Labels(rows.copy(), rows)
                whole.reference[:, : len(self.reference)] = reference
                whole.candidate[:, len(self.reference) :] = candidate
                columns = self._under(self.jobs, pair, [whole], progress)
                found[name] = columns.reshape(len(columns), HALF_SAMPLES, draws).mean(axis=2)
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

    # Labellings

    def labellings(self, first: str, second: str, least: int) -> np.ndarray:
        """(numbers, labellings) first - second, the observed labelling first; NaN for numbers without labellings."""
        if self._stream[second] < self._stream[first]:  # which of them is named first must not change what is drawn
            return -self.labellings(second, first, least)
        pair = self._pooled(first, second)
        names = [name for *_, name in self.numbers]
        own = number_names(metric for metric, _ in self.labelled)
        table = np.full((len(names), 1), np.nan)
        if not own:
            return table
        differences = self._differences(pair, len(self.systems[first]), first, second, least)
        table = np.full((len(names), differences.shape[1]), np.nan)
        table[[names.index(name) for name in own]] = differences
        return table

    def _pooled(self, first: str, second: str) -> Pair:
        """Kept until other systems are asked for: more labellings need no new neighbours and clusters."""
        if self._kept is None or self._kept[0] != (first, second):
            both = together([self.systems[first].values, self.systems[second].values])
            self._kept = (first, second), Pair(self.reference, PointSet(both, f"{first} and {second}"))
        return self._kept[1]

    def _differences(self, pair: Pair, first: int, a: str, b: str, least: int) -> np.ndarray:
        groups = Groups(np.concatenate([self._groups[a], self._groups[b]]), first) if self._groups else None
        second = len(pair.candidate) - first
        chosen = (
            plan(first, second, pvalue=least, samples=least, seed=self.seed)
            if groups is None
            else group_plan(_numbered(groups), pvalue=least, samples=least, seed=self.seed)
        )
        cut = first != second or groups is not None
        cuts = _CUTS if cut else 1
        rng = np.random.default_rng([self.seed, _LABELLED])

        def blocks() -> Iterator[Labels]:
            at_most = max(1, min(512, BLOCK_CELLS // (4 * cuts * (len(self.reference) + first + second))))
            for drawn in chosen.blocks(at_most):
                sides = [np.repeat(side, cuts, axis=0) for side in (drawn.reference, drawn.candidate)]
                if cut:
                    size = min(self.size, int(min(side.sum(axis=1).min() for side in sides)))
                    sides = [_cut(side, size, rng) for side in sides]
                both = np.stack(sides, axis=1).reshape(-1, first + second)  # A, B, A, B, ...
                rows = np.zeros((2, len(both), len(self.reference) + both.shape[1]), bool)
                rows[0, :, : len(self.reference)] = True
                rows[1, :, len(self.reference) :] = both
                yield Labels(*rows)

        with Progress(f"{a} and {b}", 2 * cuts * chosen.rows * len(self.labelled), "labelling") as progress:
            columns = self._under(self.labelled, pair, blocks(), progress)
        scored = columns.reshape(len(columns), chosen.rows, cuts, 2).mean(axis=2)
        return np.asarray(scored[..., 0] - scored[..., 1])

    @staticmethod
    def _under(jobs: Sequence[Job], pair: Pair, blocks: Any, progress: Progress) -> np.ndarray:
        pair.expect(parameters["k"] for metric, parameters in jobs if metric.uses_neighbours)
        prepared = [metric.relabel(pair, **parameters) for metric, parameters in jobs if metric.relabel]
        parts: list[list[np.ndarray]] = []
        for labels in blocks:
            parts.append([])
            for (metric, _), score in zip(jobs, prepared, strict=True):
                numbers = score(labels)
                parts[-1] += [np.asarray(numbers[output.name], float) for output in metric.outputs]
                progress.advance(len(labels))
        return np.concatenate([np.stack(part) for part in parts], axis=1)

    # All of it

    def evidence(self, numbers: SystemNumbers, level: float) -> dict[PairOfSystems, Evidence]:
        """Of every pair of systems. Labellings are raised where a smaller p-value would count."""
        halves = self.halves = self.resampled()
        pairs = pairs_of(list(self.systems))
        found = {}
        for a, b in pairs:
            slack = Pair(self.reference, self.systems[a])
            found[a, b] = Evidence(
                numbers.values[a] - numbers.values[b],
                halves[a] - halves[b],
                np.full((len(numbers.names), 1), np.nan),
                np.hypot(numbers.errors[a], numbers.errors[b]),
                np.array([2 * metric.rounding(slack) for metric, *_ in self.numbers]),
            )
        enough = enough_labellings(len(pairs), level)
        # Where half-samples alone say that two systems may be equally close, no labelling can change that.
        open_still = spread_tells(found, level, self.seed)
        for a, b in pairs:
            nulls = self.labellings(a, b, LABELLINGS)
            if enough > LABELLINGS and (a, b) in open_still and _smallest(nulls) <= _RAISED / (LABELLINGS + 1):
                nulls = self.labellings(a, b, enough)
            found[a, b] = replace(found[a, b], nulls=nulls)
        return found

    def alike(self, size: int) -> dict[PairOfSystems, np.ndarray]:
        """The numbers of systems against each other, in parts of this size: the first in the reference's place."""
        found = {}
        pairs = pairs_of(list(self.systems))
        draws = min(5, max(1, _ALIKE_RUNS // len(pairs)))
        with Progress("systems against each other", len(pairs), "pair") as progress:
            for a, b in pairs:
                runs = []
                for draw in range(draws):
                    rng = np.random.default_rng([self.seed, _MATCHED, draw])
                    sides = [
                        _rows(points, np.sort(rng.choice(len(points), size, replace=False)))
                        for points in (self.systems[a], self.systems[b])
                    ]
                    pair = Pair(*sides)
                    pair.expect(parameters["k"] for metric, parameters in self.jobs if metric.uses_neighbours)
                    values = [metric.measure(pair, **parameters).values for metric, parameters in self.jobs]
                    runs.append(
                        [
                            of[output.name]
                            for (metric, _), of in zip(self.jobs, values, strict=True)
                            for output in metric.outputs
                        ]
                    )
                found[a, b] = np.mean(runs, axis=0)
                progress.advance()
        return found


def number_names(metrics: Iterable[SetMetric]) -> list[str]:
    """What the numbers of metrics are called."""
    return [
        metric.name if len(metric.outputs) == 1 else f"{metric.name}.{output.name}"
        for metric in metrics
        for output in metric.outputs
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


def _cut(flags: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """At most so many of the samples of each row, drawn at random."""
    keys = np.where(flags, rng.random(flags.shape, np.float32), np.float32(2))
    kept: np.ndarray = np.argpartition(keys, min(size, flags.shape[1]) - 1, axis=1)[:, :size]
    few = np.zeros_like(flags)
    np.put_along_axis(few, kept, True, axis=1)
    cut: np.ndarray = few & flags
    return cut


def _numbered(groups: Groups) -> Groups:
    """The same groups with numbers from 0 on, without gaps."""
    _, number = np.unique(groups.number, return_inverse=True)
    return Groups(number.reshape(-1), groups.references)


def _smallest(nulls: np.ndarray) -> float:
    """The smallest two-sided p-value of all numbers."""
    tested = nulls[~np.isnan(nulls).any(axis=1)]
    if not len(tested):
        return 1.0
    sizes = np.abs(tested)
    return float(np.min(np.mean(sizes >= sizes[:, :1] * (1 - 1e-9), axis=1)))
