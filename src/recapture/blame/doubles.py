"""Texts that stand twice: repeated in the candidate, or copied from the reference, beside the rate at which people do.

People repeat each other, too, so every rate has its human twin: how many reference texts stand in *other* reference
texts (each left out in turn), and how many repeat others of their set at the same size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..geometry.distinct import distinct_rows
from ..geometry.sparse_rows import together
from ..labellings.combine import benjamini_hochberg
from ..texts.copies import Sources, alike, sources
from .exact_tests import more_often
from .reach import CUTS, conformal
from .sides import TwoSides

_LABELLINGS = 999


@dataclass(frozen=True)
class Rate:
    """How many texts stand twice, in the candidate and among people."""

    what: str
    candidate: float
    """Share of texts."""
    human: float
    pvalue: float
    """One-sided: that the candidate does it no more than people."""


@dataclass(frozen=True)
class Double:
    """A candidate text that stands twice."""

    index: int
    places: tuple[int, ...]
    """Where it stands in the candidate."""
    match: str
    """"equal" or "near"."""
    score: float
    """How often it stands in the candidate; of copies the share of its words that one reference text has."""
    pvalue: float
    adjusted: float
    """By Benjamini and Hochberg."""
    source: int
    """The reference text that it stands in; -1: none."""


class Doubles(NamedTuple):
    repeated: list[Double]
    copied: list[Double]
    rates: list[Rate]


def doubles(sides: TwoSides) -> Doubles:
    equal, near = _alike(sides)
    found, own = _sources(sides, equal)
    rates = _copy_rates(sides, found, own)
    for what, number in (("repeat others of their set", equal), *_if_texts(sides, "nearly repeat others", near)):
        rates.append(_repeat_rate(sides, what, number))
    return Doubles(_repeated(sides, equal, near), _copied(sides, found, own), rates)


def _if_texts(sides: TwoSides, what: str, number: np.ndarray) -> list[tuple[str, np.ndarray]]:
    return [] if sides.reference_texts is None else [(what, number)]


def _alike(sides: TwoSides) -> tuple[np.ndarray, np.ndarray]:
    """Of the pooled texts, references first: numbers that equal texts share, and near ones; vectors: equal ones."""
    if sides.reference_texts is None or sides.candidate_texts is None:
        number = distinct_rows(together([sides.reference.values, sides.candidate.values])).inverse
        return number, number
    return alike([*sides.reference_texts, *sides.candidate_texts])


def _sources(sides: TwoSides, equal: np.ndarray) -> tuple[Sources, Sources]:
    """Of the candidate's texts in the reference, and of the reference's in others of it."""
    n = sides.sizes[0]
    if sides.reference_texts is not None and sides.candidate_texts is not None:
        groups = None if sides.reference_groups is None else [sides.reference_groups, sides.candidate_groups]
        found = sources(sides.reference_texts, sides.candidate_texts, groups)
        return found[0], found[1]
    return _equal_rows(equal, n, sides, False), _equal_rows(equal, n, sides, True)


def _equal_rows(equal: np.ndarray, references: int, sides: TwoSides, within: bool) -> Sources:
    """The same for vectors, of which only equal ones are copies."""
    places: dict[int, list[int]] = {}
    for place, number in enumerate(equal[:references].tolist()):
        places.setdefault(number, []).append(place)
    mine = equal[:references] if within else equal[references:]
    groups = (sides.reference_groups, sides.reference_groups if within else sides.candidate_groups)
    at = np.full(len(mine), -1)
    for place, number in enumerate(mine.tolist()):
        for other in places.get(number, ()):
            apart = groups[0] is None or groups[1] is None or groups[0][other] != groups[1][place]
            if apart and not (within and other == place):
                at[place] = other
                break
    return Sources(at, np.full(len(mine), -1), (at >= 0).astype(np.float64))


def _copied(sides: TwoSides, found: Sources, own: Sources) -> list[Double]:
    """Copies and near-copies, the longest shares first."""
    p = conformal(found.share, own.share, sides.units[0])
    adjusted = benjamini_hochberg(p)
    source = np.where(found.equal >= 0, found.equal, found.near)
    chosen = np.flatnonzero(source >= 0)
    chosen = chosen[np.lexsort((chosen, -found.share[chosen], found.equal[chosen] < 0))]
    return [
        Double(
            at, (at,), "equal" if found.equal[at] >= 0 else "near", float(found.share[at]), float(p[at]),
            float(adjusted[at]), int(source[at]),
        )
        for at in chosen.tolist()
    ]  # fmt: skip


def _repeated(sides: TwoSides, equal: np.ndarray, near: np.ndarray) -> list[Double]:
    """Groups of equal or near texts of which the candidate has two or more, the largest first.

    The p-value is exact: given in how many texts (units, where there are groups) of both sides a group has members,
    which of them are candidates is chance.
    """
    n = sides.sizes[0]
    _, number = np.unique(near, return_inverse=True)
    number = number.reshape(-1)
    kinds = int(number.max()) + 1
    counts = [
        np.bincount(np.unique(number[part] * units + unit) // units, minlength=kinds)
        for part, unit, units in zip((slice(0, n), slice(n, None)), sides.units, sides.unit_counts, strict=True)
    ]
    tested = np.flatnonzero(np.bincount(number) > 1)
    if not len(tested):
        return []
    p = more_often(counts[1][tested], counts[0][tested], sides.unit_counts[1], sides.unit_counts[0])
    adjusted = benjamini_hochberg(p)
    members: dict[int, list[int]] = {int(kind): [] for kind in tested}
    for place, kind in enumerate(number[n:].tolist()):
        if kind in members:
            members[kind].append(place)
    rows = []
    for at, kind in enumerate(tested.tolist()):
        places = members[kind]
        if len(places) > 1:
            same = len({int(equal[n + place]) for place in places}) == 1
            rows.append(
                Double(
                    places[0], tuple(places), "equal" if same else "near", float(len(places)), float(p[at]),
                    float(adjusted[at]), -1,
                )
            )  # fmt: skip
    return sorted(rows, key=lambda row: (-row.score, row.pvalue, row.index))


def _copy_rates(sides: TwoSides, found: Sources, own: Sources) -> list[Rate]:
    kinds = [("stand in the reference", [each.equal >= 0 for each in (found, own)])]
    if sides.reference_texts is not None:
        kinds.append(("nearly stand in it", [each.near >= 0 for each in (found, own)]))
        kinds.append(("share a run of six words with it", [each.share > 0 for each in (found, own)]))
    rates = []
    for what, (mine, human) in kinds:
        counts = [len(np.unique(unit[flag])) for unit, flag in zip(sides.units[::-1], (mine, human), strict=True)]
        p = more_often(np.array(counts[:1]), np.array(counts[1:]), sides.unit_counts[1], sides.unit_counts[0])
        rates.append(Rate(what, float(mine.mean()), float(human.mean()), float(p[0])))
    return rates


def _repeat_rate(sides: TwoSides, what: str, number: np.ndarray) -> Rate:
    """The share of texts that others of their set repeat, at one size; p by relabelling, groups moved whole."""
    n = sides.sizes[0]
    shares = []
    for numbers, cuts in zip((number[:n], number[n:]), sides.cuts(CUTS), strict=True):
        shares.append(float(np.mean([_share_twice(numbers if cut is None else numbers[cut]) for cut in cuts])))
    if len(np.unique(number)) == len(number):  # nothing stands twice anywhere
        return Rate(what, shares[1], shares[0], 1.0)
    ordered = number[sides.order]
    gaps = []
    for labels in sides.labellings(_LABELLINGS):
        for reference, candidate in zip(labels.reference, labels.candidate, strict=True):
            gaps.append(_share_twice(ordered[candidate]) - _share_twice(ordered[reference]))
    gap = np.array(gaps)
    return Rate(what, shares[1], shares[0], float((gap >= gap[0] - 1e-9).mean()))


def _share_twice(numbers: np.ndarray) -> float:
    return float((np.bincount(numbers)[numbers] > 1).mean()) if len(numbers) else 0.0
