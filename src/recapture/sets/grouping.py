"""Which samples of several sets belong together: from the callers' labels to numbers that all sets share."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError, shown
from ..geometry.points import PointSet
from ..labellings.groups import Groups, groups_by_content

Labelled = Sequence[str | int]
"""One label a sample: which samples belong together."""


class Sized(NamedTuple):
    """A set's name and how many samples it has: all that labels need."""

    name: str
    size: int


class ContentGroups(NamedTuple):
    """The groups of several sets whose samples stand in order of content."""

    reference: np.ndarray | None
    human: np.ndarray | None
    pooled: Mapping[str, Groups]
    """Of the reference's and each candidate's samples; empty where there are no groups."""

    def of(self, name: str) -> np.ndarray | None:
        """The groups of a candidate's samples."""
        return self.pooled[name].by_side[1] if self.pooled else None


class SetGroups:
    """Which samples of several sets belong together, as numbers that all sets share."""

    def __init__(
        self,
        paired: bool,
        reference: Sized,
        reference_labels: Labelled | None,
        human: Sized | None = None,
        human_labels: Labelled | None = None,
    ) -> None:
        if paired and reference_labels is not None:
            raise InputError("paired samples are groups already: leave out either")
        if human is not None and paired:
            raise InputError("a second human set has no pairs; give prompts as groups of all sets instead")
        self.paired, self._codes = paired, dict[Any, int]()
        self.candidates: dict[str, np.ndarray] = {}
        self._reference_set = reference
        self.reference = np.arange(reference.size) if paired else self._coded(reference_labels, reference)
        self.human = None if human is None else self._coded(human_labels, human)
        if human is not None and (self.human is None) != (self.reference is None):
            raise InputError(self._lacking("human", self.human is not None))

    def add(self, candidates: Mapping[str, Sized], labels: Labelled | Mapping[str, Labelled] | None) -> None:
        known: dict[str, Any] = dict.fromkeys(candidates, labels)
        if isinstance(labels, Mapping):
            known = {str(name): own for name, own in labels.items()}
        if unknown := [name for name in known if name not in candidates]:
            raise InputError(f"there are groups for {unknown[0]!r}, but no such candidate")
        if labels is not None and not isinstance(labels, Mapping) and len(candidates) > 1:
            raise InputError("groups of several candidates are a mapping from name to labels")
        for name, points in candidates.items():
            if self.paired:
                if points.size != self._reference_set.size:
                    raise InputError(
                        f"paired sets have one size, but {self._reference_set.name} has {self._reference_set.size:,} "
                        f"samples and {points.name} has {points.size:,}"
                    )
                if known.get(name) is not None:
                    raise InputError("paired samples are groups already: leave out either")
                self.candidates[name] = np.arange(points.size)
                continue
            coded = self._coded(known.get(name), points)
            if (coded is None) != (self.reference is None):
                raise InputError(self._lacking(points.name, coded is not None))
            if coded is not None:
                self.candidates[name] = coded
                if self.reference is not None and max(len(set(self.reference)), len(set(coded))) == 1:
                    both = f"{self._reference_set.name} and {points.name}"
                    raise InputError(
                        f"all samples of {both} have one group each: nothing can be moved; is it the right field?"
                    )

    def only_human(self, reference: PointSet, human: PointSet) -> tuple[PointSet, list[str]]:
        """A second human set without what the reference has, too, and what there is to say: shared samples would make
        human texts look closer to the reference than they are.
        """
        kept = ~reference.which_has(human)
        if kept.all():
            return human, []
        if kept.sum() < 4:
            raise InputError(f"the second human set holds samples of {reference.name} alone: give other human texts")
        if self.human is not None:
            self.human = self.human[kept]
        said = f"{np.count_nonzero(~kept):,} of {len(kept):,} samples of the second human set are in the reference, too"
        return PointSet(human.values[kept], human.name), [f"{said}: they were left out of it"]

    def by_content(
        self, reference: PointSet, human: PointSet | None, candidates: Mapping[str, PointSet]
    ) -> ContentGroups:
        """For sets in order of content, numbered by content: neither labels nor the order of samples change a draw."""
        if self.reference is None:
            return ContentGroups(None, None, {})
        ranks = reference.ranks
        pooled = {
            name: groups_by_content(self.reference, ranks, self.candidates[name], points.ranks)
            for name, points in candidates.items()
        }
        of_human = None
        if human is not None and self.human is not None:
            of_human = groups_by_content(self.reference, ranks, self.human, human.ranks).by_side[1]
        # Groups with the same reference samples can change places, so every candidate's numbers give the same here.
        return ContentGroups(next(iter(pooled.values())).by_side[0], of_human, pooled)

    def _coded(self, labels: Labelled | None, points: Sized) -> np.ndarray | None:
        if labels is None:
            return None
        listed = checked_labels(labels, points.size, points.name)
        return np.array([self._codes.setdefault(label, len(self._codes)) for label in listed])

    def _lacking(self, name: str, has: bool) -> str:
        with_groups, without = (name, self._reference_set.name) if has else (self._reference_set.name, name)
        return f"{with_groups} has groups and {without} has none: give both"


def checked_labels(labels: Any, samples: int, name: str, unit: str = "sample") -> list[Any]:
    """One label a sample, none missing."""
    if isinstance(labels, (str, bytes)):
        raise InputError(f"groups of {name} must be a list of labels, one for each {unit}, not one string")
    if isinstance(labels, Mapping) or not isinstance(labels, Iterable) or getattr(labels, "ndim", 1) != 1:
        raise InputError(f"groups of {name} must be a list of labels, one for each {unit}, not {shown(labels)}")
    listed = [each.item() if isinstance(each, np.generic) else each for each in labels]
    if len(listed) != samples:
        raise InputError(f"{name} has {samples:,} {unit}s and {len(listed):,} group labels: give one for each {unit}")
    for position, label in enumerate(listed):
        if label is None or (isinstance(label, float) and math.isnan(label)):
            raise InputError(f"{unit} {position} of {name} has no group")
        if not isinstance(label, (str, int, float)):
            raise InputError(
                f"the group of {unit} {position} of {name} must be a text or a number, not {type(label).__name__}"
            )
    return listed
