"""Two systems under labellings: their pooled samples change sides, people's stay where they are."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.labels import Labels
from ..geometry.points import PointSet
from ..geometry.sparse_rows import together
from ..labellings.groups import Groups, group_plan
from ..labellings.plans import BLOCK_CELLS, plan
from ..progress import Progress
from ..sets.declaration import SetMetric
from ..sets.evaluate import Job
from ..sets.pair import Pair, check_k

CUTS = 4
"""Subsamples of each side of a labelling, where it has more samples than are compared."""
_AT_ONCE = 512
_LABELLED = 1
"""Stream of random numbers."""


class _Block:
    """Some labellings: which of the pooled samples are the first system's, and which the second's."""

    def __init__(self, references: int, first: np.ndarray, second: np.ndarray) -> None:
        self._references, self.first, self.second = references, first, second

    @cached_property
    def labels(self) -> Labels:
        """The first system against the reference, then the second: labelling by labelling."""
        both = np.stack([self.first, self.second], axis=1).reshape(-1, self.first.shape[1])
        rows = np.zeros((2, len(both), self._references + both.shape[1]), bool)
        rows[0, :, : self._references] = True
        rows[1, :, self._references :] = both
        return Labels(*rows)


Score = Callable[[_Block], list[np.ndarray]]
"""(labellings,) first - second of every number of a metric"""


class PairLabellings:
    """Differences of all numbers under labellings, the observed one first. More of them are made as they are asked for:
    neighbours and clusters are found once.
    """

    def __init__(
        self,
        jobs: Sequence[Job],
        reference: PointSet,
        first: PointSet,
        second: PointSet,
        groups: Groups | None,
        size: int,
        most: int,
        seed: int,
    ) -> None:
        """groups: of the pooled samples, where they come in groups. size: samples a side that are compared. most: how
        many labellings may be asked for, beside the observed one.
        """
        self._jobs = list(jobs)
        self._title = f"{first.name} and {second.name}"
        self._pair = Pair(reference, PointSet(together([first.values, second.values]), self._title))
        self._plan = (
            plan(len(first), len(second), pvalue=most, samples=most, seed=seed)
            if groups is None
            else group_plan(groups, pvalue=most, samples=most, seed=seed)
        )
        self.exact = self._plan.exact
        """Whether all labellings there are are looked at, which are then few."""
        self.mirrored = len(first) == len(second) if groups is None else len({*map(len, groups.sides[:2])}) == 1
        """Whether the mirror image of every labelling is one, too."""
        # Whole groups may differ in size, and so may the sides of labellings: all are cut to the smallest.
        even = groups is None or _even(groups)
        self._size = size if even else min(size, *(min(labels.smallest) for labels in self._plan.blocks()))
        if not even:
            check_sides(self._jobs, self._size, self._title, "labellings that move whole groups")
        self._cuts = 1 if even and self._size == len(first) == len(second) else CUTS
        """1: no side is cut, and both together are all of the pooled samples."""
        self._rng = np.random.default_rng([seed, _LABELLED])
        cells = 4 * self._cuts * (len(reference) + len(first) + len(second))
        self._blocks = self._plan.blocks(max(1, min(_AT_ONCE, BLOCK_CELLS // cells)))
        self._drawn: Labels | None = None
        self._scores: list[Score] = []
        self._parts: list[np.ndarray] = []

    def upto(self, labellings: int) -> np.ndarray:
        """(numbers, labellings) so many beside the observed one; all where these are few."""
        # The first ones of a list of all labellings would be no random ones.
        wanted = self._plan.rows if self.exact else min(labellings + 1, self._plan.rows)
        left = wanted - sum(part.shape[1] for part in self._parts)
        with Progress(self._title, max(0, left) * len(self._jobs), "labelling") as progress:
            if left > 0 and not self._scores:
                self._pair.expect(parameters["k"] for metric, parameters in self._jobs if metric.uses_neighbours)
                self._scores = [self._score_of(job) for job in self._jobs]
            while left > 0:
                self._parts.append(self._differences(self._next(left), progress))
                left -= self._parts[-1].shape[1]
        return np.concatenate(self._parts, axis=1)[:, :wanted]

    def _next(self, most: int) -> Labels:
        drawn = next(self._blocks) if self._drawn is None else self._drawn
        now, later = (Labels(drawn.reference[part], drawn.candidate[part]) for part in (slice(most), slice(most, None)))
        self._drawn = later if len(later) else None
        return now

    def _score_of(self, job: Job) -> Score:
        metric, parameters = job
        if self._cuts == 1 and metric.exchange is not None:
            exchanged = metric.exchange(self._pair, **parameters)

            def difference(block: _Block) -> list[np.ndarray]:
                numbers = exchanged(block.first)
                return [np.asarray(numbers[output.name], float) for output in metric.outputs]

            return difference
        assert metric.relabel is not None
        relabelled = metric.relabel(self._pair, **parameters)

        def subtracted(block: _Block) -> list[np.ndarray]:
            numbers = relabelled(block.labels)
            both = [np.asarray(numbers[output.name], float).reshape(-1, 2) for output in metric.outputs]
            return [each[:, 0] - each[:, 1] for each in both]

        return subtracted

    def _differences(self, drawn: Labels, progress: Progress) -> np.ndarray:
        """(numbers, labellings)"""
        sides = [drawn.reference, drawn.candidate]
        if self._cuts > 1:
            sides = [cut_to(np.repeat(side, self._cuts, axis=0), self._size, self._rng) for side in sides]
        block = _Block(len(self._pair.reference), *sides)
        found = []
        for score in self._scores:
            found += score(block)
            progress.advance(len(drawn))
        return np.asarray(np.stack(found).reshape(len(found), len(drawn), self._cuts).mean(axis=2))


def needed(metric: SetMetric, parameters: Mapping[str, Any]) -> int:
    """Samples that a metric needs on either side."""
    return max(metric.least_samples, check_k(parameters["k"]) + 1 if "k" in parameters else 0)


def check_sides(jobs: Sequence[Job], size: int, name: str, what: str) -> None:
    """Refuse groups so uneven that they leave a side with too few samples. what: leaves it so."""
    for metric, parameters in jobs:
        if size < needed(metric, parameters):
            raise InputError(
                f"the groups of {name} are too few or too uneven: {what} leave a side with {size} "
                f"sample{'s' * (size != 1)}, and {metric.name} needs {needed(metric, parameters)}"
            )


def cut_to(flags: np.ndarray, size: int, rng: np.random.Generator) -> np.ndarray:
    """At most so many of the samples of each row, drawn at random."""
    keys = np.where(flags, rng.random(flags.shape, np.float32), np.float32(2))
    kept: np.ndarray = np.argpartition(keys, min(size, flags.shape[1]) - 1, axis=1)[:, :size]
    few = np.zeros_like(flags)
    np.put_along_axis(few, kept, True, axis=1)
    cut: np.ndarray = few & flags
    return cut


def numbered(groups: Groups) -> Groups:
    """The same groups with numbers from 0 on, without gaps."""
    _, number = np.unique(groups.number, return_inverse=True)
    return Groups(number.reshape(-1), groups.references)


def _even(groups: Groups) -> bool:
    """Whether all labellings of groups have as many samples a side as the observed one."""
    first, second, both = groups.sides
    count = len(first) + len(second) + len(both)
    of_first, of_second = (np.bincount(side, minlength=count) for side in groups.by_side)
    alone = np.concatenate([of_first[first], of_second[second]])
    return len({*alone.tolist()}) <= 1 and bool((of_first[both] == of_second[both]).all())
