"""Samples that belong together (texts of one document, prompt or author) and change sides together.

Where the reference and the candidate answer the same prompts, a group stands on both sides: it does not move as a
whole, its two parts change places. Items in pairs are groups of one sample a side.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from ..geometry.labels import Labels
from .plans import BLOCK_CELLS, Plan, Pvalue, chosen_rows


@dataclass(frozen=True, eq=False)
class Groups:
    """The group of every pooled sample, references first."""

    number: np.ndarray
    """(samples,) from 0 on"""
    references: int
    """How many of the samples are references."""

    @classmethod
    def of(cls, reference: Sequence[Any], candidate: Sequence[Any]) -> Groups:
        """From one label a sample; equal labels are one group, also across sides."""
        known: dict[Any, int] = {}
        number = np.array([known.setdefault(label, len(known)) for label in (*reference, *candidate)])
        return cls(number, len(reference))

    @classmethod
    def pairs(cls, items: int) -> Groups:
        """Item i of both sides together."""
        return cls(np.tile(np.arange(items), 2), items)

    @cached_property
    def sides(self) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Groups of the reference alone, of the candidate alone, and of both."""
        count = int(self.number.max()) + 1
        reference, candidate = (np.zeros(count, bool) for _ in range(2))
        reference[self.number[: self.references]] = True
        candidate[self.number[self.references :]] = True
        return tuple(
            np.flatnonzero(chosen) for chosen in (reference & ~candidate, candidate & ~reference, reference & candidate)
        )  # type: ignore[return-value]

    @property
    def partitions(self) -> int:
        """How many labellings there are that keep groups together and the numbers of groups a side."""
        reference, candidate, both = map(len, self.sides)
        return math.comb(reference + candidate, candidate) * (1 << both)

    def rows(self, groups: np.ndarray) -> np.ndarray:
        """(samples,) whether a sample is of one of these groups."""
        return np.isin(self.number, groups)

    @property
    def by_side(self) -> tuple[np.ndarray, np.ndarray]:
        """The groups of the references and of the candidates."""
        return self.number[: self.references], self.number[self.references :]

    @property
    def counted(self) -> dict[str, int]:
        """How many groups are the reference's alone, the candidate's alone, and both's."""
        return dict(zip(("reference", "candidate", "both"), map(len, self.sides), strict=True))

    @property
    def a_side(self) -> tuple[int, int]:
        """How many groups the reference and the candidate have, those of both included."""
        reference, candidate, both = map(len, self.sides)
        return reference + both, candidate + both

    def half(self, rng: np.random.Generator) -> np.ndarray:
        """(samples,) whether a sample is in a random half of its kind of groups; a group of both sides stays whole."""
        return self.rows(np.concatenate([rng.permutation(kind)[: len(kind) // 2] for kind in self.sides]))

    def labels(self, moved: np.ndarray, swapped: np.ndarray) -> Labels:
        """Labels where groups of one side stand as candidates (labellings, those groups) and groups of both are
        swapped (labellings, those groups).
        """
        reference, candidate, both = self.sides
        one_sided = np.concatenate([reference, candidate])
        is_candidate = np.arange(len(self.number)) >= self.references
        by_group = np.zeros((len(moved), int(self.number.max()) + 1), bool)
        by_group[:, one_sided], by_group[:, both] = moved, swapped
        labelled = by_group[:, self.number]
        crossed = self.rows(both)
        labelled[:, crossed] ^= is_candidate[crossed]
        return Labels(~labelled, labelled)


@dataclass(frozen=True)
class GroupPlan(Plan):
    """The labellings of a test that moves whole groups. The observed one always comes first."""

    groups: Groups

    def blocks(self, at_most: int | None = None) -> Iterator[Labels]:
        size = max(1, min(self.rows, BLOCK_CELLS // len(self.groups.number), at_most or self.rows))
        reference, candidate, both = map(len, self.groups.sides)
        drawn = self._every() if self.exact else self._random()
        while rows := list(itertools.islice(drawn, size)):
            moved = np.array([row[0] for row in rows], bool).reshape(len(rows), reference + candidate)
            swapped = np.array([row[1] for row in rows], bool).reshape(len(rows), both)
            yield self.groups.labels(moved, swapped)

    def _observed(self) -> tuple[np.ndarray, np.ndarray]:
        reference, candidate, both = map(len, self.groups.sides)
        return np.arange(reference + candidate) >= reference, np.zeros(both, bool)

    def _random(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        rng = np.random.default_rng(self.seed)
        moved, swapped = self._observed()
        yield moved, swapped
        for _ in range(self.rows - 1):
            yield rng.permutation(moved), rng.random(len(swapped)) < 0.5

    def _every(self) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        moved, swapped = self._observed()
        # Counted down, the first choice is the observed one.
        for chosen in itertools.combinations(range(len(moved) - 1, -1, -1), int(moved.sum())):
            now = np.zeros(len(moved), bool)
            now[list(chosen)] = True
            for flips in itertools.product((False, True), repeat=len(swapped)):
                yield now, np.array(flips, bool)


def groups_by_content(
    reference: np.ndarray, of_reference: np.ndarray, candidate: np.ndarray, of_candidate: np.ndarray
) -> Groups:
    """Groups of samples in order of content, from one number a sample and side, and the rank of its content there.

    Groups are numbered by what they hold, the reference's first. Those that hold the same on both sides can change
    places; so can equal samples, of which those of the first group come first.
    """
    held = [_held(*side) for side in ((reference, of_reference), (candidate, of_candidate))]
    known = sorted(
        held[0].keys() | held[1].keys(),
        key=lambda group: [group not in held[0], *(side.get(group, ()) for side in held)],
    )
    number = np.zeros(max(known) + 1, np.int64)
    number[known] = np.arange(len(known))
    sides = (number[reference], of_reference), (number[candidate], of_candidate)
    return Groups(np.concatenate([own[np.lexsort((own, ranks))] for own, ranks in sides]), len(reference))


def _held(groups: np.ndarray, ranks: np.ndarray) -> dict[int, tuple[int, ...]]:
    """The ranks of each group's samples, in rising order."""
    order = np.lexsort((ranks, groups))
    kinds, starts = np.unique(groups[order], return_index=True)
    listed = ranks[order].tolist()
    ends = [*starts[1:].tolist(), len(listed)]
    return {
        group: tuple(listed[start:end]) for group, start, end in zip(kinds.tolist(), starts.tolist(), ends, strict=True)
    }


def group_plan(groups: Groups, *, pvalue: Pvalue, samples: int, seed: int) -> GroupPlan:
    """As `plan`, for labellings that keep groups together."""
    reference = groups.references
    exact, rows, seed_used = chosen_rows(groups.partitions, "these groups", pvalue=pvalue, samples=samples, seed=seed)
    sizes = reference, len(groups.number) - reference
    return GroupPlan(*sizes, exact, rows, groups.partitions, seed_used, False, groups)


def group_halves(groups: Groups, draws: int, seed: int) -> Iterator[Labels]:
    """Seeded half-samples of both sides by whole groups, without replacement; a group of both sides stays whole."""
    rng = np.random.default_rng(seed)
    is_candidate = np.arange(len(groups.number)) >= groups.references
    block = max(1, min(draws, BLOCK_CELLS // len(groups.number)))
    for start in range(0, draws, block):
        kept = np.stack([groups.half(rng) for _ in range(min(block, draws - start))])
        yield Labels(kept & ~is_candidate, kept & is_candidate)
