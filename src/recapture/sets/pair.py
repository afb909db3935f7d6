"""Reference and candidate side by side, with the neighbourhoods they share found once for all metrics."""

from __future__ import annotations

import weakref
from collections.abc import Iterable, Mapping
from functools import cached_property
from typing import Any

import numpy as np

from ..checks import is_whole, plain_value
from ..errors import InputError, shown
from ..geometry.exchanged import ExchangedNeighbours
from ..geometry.labels import Labels
from ..geometry.overlap import Overlap, OverlapAt, overlap
from ..geometry.points import PointSet
from ..geometry.pooled import PooledNeighbours
from ..geometry.relabelled import SphereCounts, relabelled_counts
from ..geometry.sparse_rows import together

_TINY = 50
_MANY_DUPLICATES = 0.1
_UNEQUAL = 1.1
_SMALLEST_REACH = 1e-150
"""Sets that reach no further from 0 have squared distances of 0, as if all of their samples were the same."""


class Pair:
    """Two sets of samples under comparison."""

    def __init__(self, reference: PointSet, candidate: PointSet) -> None:
        if reference.values.shape[1] != candidate.values.shape[1]:
            raise InputError(
                f"{reference.name} has {reference.values.shape[1]} dimensions and {candidate.name} has "
                f"{candidate.values.shape[1]}: both must come from the same encoder"
            )
        self.reference = reference
        self.candidate = candidate
        self._sides = (reference.name, len(reference)), (candidate.name, len(candidate))
        self._ks: set[int] = set()
        self._overlap: Overlap | None = None
        self._labels: weakref.ref[Labels] | None = None
        self._counts: Mapping[int, SphereCounts] = {}
        self._first: weakref.ref[np.ndarray] | None = None
        self._exchange: ExchangedNeighbours | None = None
        self._exchanged: Mapping[int, tuple[SphereCounts, SphereCounts]] = {}
        # Weak: two pairs that hold each other would keep large arrays for longer than either is needed.
        self._given: weakref.ref[Pair] | None = None

    @cached_property
    def ordered(self) -> Pair:
        """Both sets in order of content: what is drawn at random is drawn from these, so that neither the draws nor any
        sum depend on how samples were listed. The pair itself where it is so already.
        """
        ordered = Pair(self.reference.ordered, self.candidate.in_order())
        if ordered.reference is self.reference and ordered.candidate is self.candidate:
            return self
        ordered._given = weakref.ref(self)
        return ordered

    @property
    def already_ordered(self) -> Pair | None:
        """`ordered`, where it was asked for and is another pair."""
        made: Pair | None = self.__dict__.get("ordered")
        return None if made is self else made

    def forget_neighbours(self) -> None:
        """Of this pair and of the same in order of content: they may be large, and are found again where needed."""
        for pair in {self, self.already_ordered or self}:
            pair.__dict__.pop("pooled", None)
            pair._overlap = pair._exchange = None
            pair._counts, pair._exchanged = {}, {}

    @property
    def given(self) -> Pair | None:
        """The pair whose samples these are in order of content, where it is another one."""
        return None if self._given is None else self._given()

    @property
    def order(self) -> np.ndarray:
        """The places of the pooled samples, references first, in order of content."""
        return np.concatenate([self.reference.order, len(self.reference) + self.candidate.order])

    @property
    def sizes(self) -> dict[str, int]:
        return {"reference": len(self.reference), "candidate": len(self.candidate)}

    def expect(self, ks: Iterable[int]) -> None:
        """Neighbourhood sizes that will be asked for: all of them are then found in one pass."""
        self._ks |= {check_k(k, *self._sides) for k in ks}

    def know(self, found: Overlap) -> None:
        """Memberships that were found elsewhere: they need not be found again."""
        self._overlap = found

    def overlap_at(self, k: int) -> OverlapAt:
        """Memberships at one k."""
        self.expect([k])
        if self._overlap is None or k not in self._overlap.ks:
            self._overlap = overlap(self.reference, self.candidate, tuple(self._ks))
        return self._overlap.at(k)

    @cached_property
    def pooled(self) -> PooledNeighbours:
        """Neighbours among the samples of both sets, references first."""
        return PooledNeighbours(together([self.reference.values, self.candidate.values]))

    def counts_under(self, labels: Labels, k: int) -> SphereCounts:
        """Counts at one k under many labellings, found with those of all other k expected: ask for the same labels."""
        asked, there = labels.reference.shape[1], sum(self.sizes.values())
        if asked != there:
            raise InputError(f"labels are for {asked} samples, but there are {there}")
        n, m = labels.smallest
        k = check_k(k, (self.reference.name, n), (self.candidate.name, m))
        if self._labels is None or self._labels() is not labels or k not in self._counts:
            ks = {k, *(each for each in self._ks if each < min(n, m))}
            self._counts = relabelled_counts(self.pooled, labels, tuple(ks))
            self._labels = weakref.ref(labels)
        return self._counts[k]

    def exchanged_counts(self, first: np.ndarray, k: int) -> tuple[SphereCounts, SphereCounts]:
        """Counts at one k of two systems that share out the candidates, under many labellings of these; found with
        those of all other k expected: ask for the same array. first: (labellings, candidates), half of them each.
        """
        (name, n), (both, m) = self._sides
        k = check_k(k, (name, n), (both, m // 2))
        if self._exchange is None:
            self._exchange = ExchangedNeighbours(self.pooled, n)
        if self._first is None or self._first() is not first or k not in self._exchanged:
            ks = tuple(sorted({k, *(each for each in self._ks if each < min(n, m // 2))}))
            self._exchanged = self._exchange.counts(first, ks)
            self._first = weakref.ref(first)
        return self._exchanged[k]

    def neighbourhood_warnings(self) -> list[str]:
        """Warnings where numbers of nearest neighbours say less than they seem to."""
        warnings = []
        for points in (self.reference, self.candidate):
            if len(points) < _TINY:
                warnings.append(f"{points.name} has only {len(points)} samples: scores of such small sets vary widely")
            if points.duplicates > _MANY_DUPLICATES * len(points):
                warnings.append(
                    f"{points.duplicates} of {len(points)} samples of {points.name} repeat others: "
                    "their spheres shrink to points"
                )
        effect = "this shifts quality against diversity; sets of equal size (or balanced subsamples) do not"
        return [*warnings, *self.unequal_sizes(effect)]

    def unequal_sizes(self, effect: str) -> list[str]:
        """A warning that the sets differ by more than a tenth, and what that does; nothing where they do not."""
        n, m = len(self.reference), len(self.candidate)
        differ = max(n, m) > _UNEQUAL * min(n, m)
        return [f"set sizes differ ({n} reference, {m} candidate): {effect}"] if differ else []


def check_k(k: Any, *sides: tuple[str, int]) -> int:
    """A neighbourhood size that every side (its name and number of samples) can serve."""
    k = plain_value(k, "k")
    if not is_whole(k):
        raise InputError(f"k must be a whole number, not {shown(k)}")
    if k < 1:
        raise InputError(f"k must be at least 1, not {k}")
    name, count = min(sides, key=lambda side: side[1], default=("", k + 1))
    if k >= count:
        raise InputError(f"k = {k} needs at least {k + 1} samples a side, but {name} has {count}")
    return int(k)


def check_reach(reference: PointSet, candidate: PointSet) -> None:
    reach = max(abs(float(bound)) for points in (reference, candidate) for bound in points.bounds)
    refuse_tiny(reach, reference.name, candidate.name)


def refuse_tiny(reach: float, reference: str, candidate: str) -> None:
    """reach: how far from 0 the numbers of two sets go."""
    if 0 < reach < _SMALLEST_REACH:
        raise InputError(
            f"{reference} and {candidate} hold no value beyond {_SMALLEST_REACH:g}: squared distances would all be 0"
        )
