"""Two sets whose texts are to be told one by one: vectors, texts, groups, and the order in which things are drawn."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from ..geometry.labels import Labels
from ..geometry.points import PointSet
from ..labellings.groups import Groups, group_plan
from ..labellings.plans import plan


@dataclass(frozen=True)
class Folded:
    """The different rows of a set, where groups are given once for each group that has them."""

    points: PointSet
    row: np.ndarray
    """Of each, its number among the set's different rows: equal rows of two groups share it."""
    group: np.ndarray
    first: np.ndarray
    """The first sample that is such a row."""
    inverse: np.ndarray
    """For every sample its place here."""

    @classmethod
    def of(cls, points: PointSet, group: np.ndarray | None) -> Folded:
        distinct = points.distinct
        keys = distinct.inverse if group is None else distinct.inverse * (int(group.max()) + 1) + group
        _, first, inverse = np.unique(keys, return_index=True, return_inverse=True)
        first, inverse = first.astype(np.int64), inverse.reshape(-1)
        of_group = np.arange(len(first)) if group is None else group[first]
        return cls(points, distinct.inverse[first], of_group, first, inverse)

    @cached_property
    def values(self) -> np.ndarray:
        return self.points.values[self.first]  # type: ignore[return-value]

    def part(self, samples: np.ndarray) -> np.ndarray:
        """Which of the rows some samples (one bool each) have."""
        return np.bincount(self.inverse[samples], minlength=len(self.first)) > 0


@dataclass(frozen=True)
class TwoSides:
    """Reference and candidate."""

    reference: PointSet
    candidate: PointSet
    reference_texts: list[str] | None
    """None where vectors were given."""
    candidate_texts: list[str] | None
    reference_groups: np.ndarray | None
    """A number for each text; texts that belong together share it, also across sides. None: no groups."""
    candidate_groups: np.ndarray | None
    pooled_groups: Groups | None
    """The same for the pooled texts in order of content, references first."""
    names: tuple[str, str]
    seed: int
    apart: str = ""
    """Which texts of the other side are left out where the nearest one is looked for; "": none."""

    @property
    def sizes(self) -> tuple[int, int]:
        return len(self.reference), len(self.candidate)

    @cached_property
    def units(self) -> tuple[np.ndarray, np.ndarray]:
        """The unit of every text, numbered from 0 on each side: its group, or itself."""
        groups = self.reference_groups, self.candidate_groups
        if groups[0] is None or groups[1] is None:
            return np.arange(self.sizes[0]), np.arange(self.sizes[1])
        return _renumbered(groups[0]), _renumbered(groups[1])

    @cached_property
    def unit_counts(self) -> tuple[int, int]:
        return int(self.units[0].max()) + 1, int(self.units[1].max()) + 1

    @cached_property
    def folded(self) -> tuple[Folded, Folded]:
        return (
            Folded.of(self.reference, self.reference_groups),
            Folded.of(self.candidate, self.candidate_groups),
        )

    @cached_property
    def order(self) -> np.ndarray:
        """The pooled texts, references first, each side in order of content."""
        return np.concatenate([self.reference.order, len(self.reference) + self.candidate.order])

    def text(self, side: int, place: int) -> str | None:
        texts = (self.reference_texts, self.candidate_texts)[side]
        return None if texts is None else texts[place]

    def cuts(self, count: int) -> tuple[list[np.ndarray | None], list[np.ndarray | None]]:
        """Both sides at the size of the smaller: of each side the texts that count (one bool each), `count` times for
        the larger one and once (None: all) for the other; once where both have one size.
        """
        size = min(self.sizes)
        rng = np.random.default_rng(self.seed)
        cut: list[list[np.ndarray | None]] = []
        for points in (self.reference, self.candidate):
            if len(points) == size:
                cut.append([None])
                continue
            of_side: list[np.ndarray | None] = []
            for _ in range(count):
                chosen = np.zeros(len(points), bool)
                chosen[points.order[rng.choice(len(points), size, replace=False)]] = True
                of_side.append(chosen)
            cut.append(of_side)
        return cut[0], cut[1]

    def labellings(self, count: int) -> Iterator[Labels]:
        """Seeded relabellings of the pooled texts in order of content, the observed one first; groups move whole."""
        if self.pooled_groups is not None:
            return group_plan(self.pooled_groups, pvalue=count, samples=count, seed=self.seed).blocks()
        return plan(*self.sizes, pvalue=count, samples=count, seed=self.seed, symmetric=False).blocks()


def _renumbered(numbers: np.ndarray) -> np.ndarray:
    """From 0 on, without gaps."""
    return np.unique(numbers, return_inverse=True)[1].reshape(-1)
