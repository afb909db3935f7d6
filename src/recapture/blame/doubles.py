"""Texts that stand twice: repeated in the candidate, or copied from the reference, beside the rate at which people do.

What is a copy and what a repeat is told by `texts/copies` alone, so that counts are those of all other commands. People
repeat each other, too, so every rate has its human twin: how many reference texts stand in *other* reference texts
(each left out in turn), and how many repeat others of their set at the same size.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from ..geometry.distinct import distinct_rows
from ..geometry.sparse_rows import together
from ..labellings.combine import benjamini_hochberg
from ..texts.copies import Repeats, Sources, echoes, normalised, repeats, sources
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
    """Of repeated texts: its own place and those of all that repeat it: that equal it or are near it."""
    match: str
    """"equal" or "near"."""
    score: float
    """How many these places are; of copies the share of its words that one reference text has."""
    pvalue: float
    adjusted: float
    """By Benjamini and Hochberg."""
    source: int
    """The reference text that it stands in; -1: none."""


class Occurrences(NamedTuple):
    """How many texts of a list there are, in the candidate and among people."""

    equal: int
    near: int
    human: int
    human_of: int
    elsewhere: int | None = None
    """Of copies where there are groups: how many stand in a text of another group."""


class Doubles(NamedTuple):
    repeated: list[Double]
    copied: list[Double]
    rates: list[Rate]
    counts: dict[str, Occurrences]


def doubles(sides: TwoSides) -> Doubles:
    twice = _twice(sides)
    grouped = sides.reference_groups is not None
    found, own = _sources(sides, twice, grouped)
    # A copy is a fact, whatever its group; groups matter for what chance explains.
    every = _sources(sides, twice, False)[0] if grouped else found
    equal, near = int((every.equal >= 0).sum()), int((every.near >= 0).sum())
    human = int(((own.equal >= 0) | (own.near >= 0)).sum())
    elsewhere = int(((found.equal >= 0) | (found.near >= 0)).sum()) if grouped else None
    counts = {
        "copied": Occurrences(equal, near, human, sides.sizes[0], elsewhere),
        "repeated": Occurrences(*twice.candidate.counts, sum(twice.reference.counts), sides.sizes[0]),
    }
    rates = [*_copy_rates(sides, found, own), *_repeat_rates(sides, twice)]
    return Doubles(_repeated(sides, twice.candidate), _copied(sides, every, found, own), rates, counts)


class _Twice(NamedTuple):
    """Repeats within each side, and in the texts of both together."""

    reference: Repeats
    candidate: Repeats
    pooled: Repeats


def _twice(sides: TwoSides) -> _Twice:
    """Of vectors only equal ones are repeats."""
    if sides.reference_texts is not None and sides.candidate_texts is not None:
        pooled = [*sides.reference_texts, *sides.candidate_texts]
        # In order of content, so that neither side comes first: a phrase of very many texts is known by the first few.
        order = np.array(sorted(range(len(pooled)), key=lambda at: normalised(pooled[at])))
        found = repeats([pooled[at] for at in order.tolist()])
        back = np.argsort(order)
        both = Repeats(found.equal[back], order[found.stays][back])
        return _Twice(repeats(sides.reference_texts), repeats(sides.candidate_texts), both)
    rows = distinct_rows(together([sides.reference.values, sides.candidate.values])).inverse
    n = sides.sizes[0]
    parts = rows[:n], rows[n:], rows
    return _Twice(*(Repeats(part, _first_equal(part)) for part in parts))


def _first_equal(number: np.ndarray) -> np.ndarray:
    _, first, inverse = np.unique(number, return_index=True, return_inverse=True)
    places: np.ndarray = first[inverse.reshape(-1)]
    return places


def _sources(sides: TwoSides, twice: _Twice, grouped: bool) -> tuple[Sources, Sources]:
    """Of the candidate's texts in the reference, and of the reference's in others of it; grouped: of other groups."""
    if sides.reference_texts is not None and sides.candidate_texts is not None:
        groups = [sides.reference_groups, sides.candidate_groups] if grouped else None
        found = sources(sides.reference_texts, sides.candidate_texts, groups)
        return found[0], found[1]
    return _equal_rows(sides, twice, grouped, False), _equal_rows(sides, twice, grouped, True)


def _equal_rows(sides: TwoSides, twice: _Twice, grouped: bool, within: bool) -> Sources:
    """The same for vectors, of which only equal ones are copies."""
    equal, references = twice.pooled.equal, sides.sizes[0]
    places: dict[int, list[int]] = {}
    for place, number in enumerate(equal[:references].tolist()):
        places.setdefault(number, []).append(place)
    mine = equal[:references] if within else equal[references:]
    groups = (sides.reference_groups, sides.reference_groups if within else sides.candidate_groups)
    at = np.full(len(mine), -1)
    for place, number in enumerate(mine.tolist()):
        for other in places.get(number, ()):
            apart = not grouped or groups[0] is None or groups[1] is None or groups[0][other] != groups[1][place]
            if apart and not (within and other == place):
                at[place] = other
                break
    return Sources(at, np.full(len(mine), -1), (at >= 0).astype(np.float64))


def _copied(sides: TwoSides, every: Sources, found: Sources, own: Sources) -> list[Double]:
    """Copies and near-copies, the longest shares first; p is about texts of other groups alone."""
    p = conformal(found.share, own.share, sides.units[0])
    adjusted = benjamini_hochberg(p)
    source = np.where(every.equal >= 0, every.equal, every.near)
    chosen = np.flatnonzero(source >= 0)
    chosen = chosen[np.lexsort((chosen, -every.share[chosen], every.equal[chosen] < 0))]
    return [
        Double(
            at, (at,), "equal" if every.equal[at] >= 0 else "near", float(every.share[at]), float(p[at]),
            float(adjusted[at]), int(source[at]),
        )
        for at in chosen.tolist()
    ]  # fmt: skip


def _repeated(sides: TwoSides, twice: Repeats) -> list[Double]:
    """Texts of the candidate that stay, with those that could be left out for them; the largest first.

    The p-value is exact. Given one text of the candidate and how many texts (units, where there are groups) of both
    sides repeat it, which of these are candidates is chance. All texts that any other repeats are tested, not only
    those that stay, which are chosen for being repeated most.
    """
    members: dict[int, list[int]] = {}
    for place, stays in enumerate(twice.stays.tolist()):
        members.setdefault(stays, []).append(place)
    p = _repeated_by_chance(sides)
    adjusted = dict(zip(p, benjamini_hochberg(np.array(list(p.values()))).tolist(), strict=True)) if p else {}
    rows = []
    for stays, places in members.items():
        if len(places) > 1:
            ordered = [stays, *(place for place in places if place != stays)]
            same = len(np.unique(twice.equal[places])) == 1
            match = "equal" if same else "near"
            rows.append(Double(stays, tuple(ordered), match, float(len(places)), p[stays], adjusted[stays], -1))
    return sorted(rows, key=lambda row: (-row.score, row.pvalue, row.index))


def _repeated_by_chance(sides: TwoSides) -> dict[int, float]:
    """By place, of each text of the candidate (of equal ones the first) that another of either side repeats."""
    m = sides.sizes[1]
    if sides.reference_texts is not None and sides.candidate_texts is not None:
        echo, text = echoes(sides.candidate_texts, sides.reference_texts)
    else:
        echo, text = _equal_pairs(sides)
    if not len(text):
        return {}
    units = np.concatenate([sides.units[1], sides.unit_counts[1] + sides.units[0]])
    every = sum(sides.unit_counts)
    keys = np.unique(text * every + units[echo])
    text, unit = np.divmod(keys, every)
    others = unit != units[text]  # a text's own group is given
    text, unit = text[others], unit[others]
    mine = unit < sides.unit_counts[1]
    counts = [np.bincount(text[flags], minlength=m) for flags in (mine, ~mine)]
    tested = np.unique(np.divmod(keys, every)[0])
    p = more_often(counts[0][tested], counts[1][tested], sides.unit_counts[1] - 1, sides.unit_counts[0])
    return dict(zip(tested.tolist(), p.tolist(), strict=True))


def _equal_pairs(sides: TwoSides) -> tuple[np.ndarray, np.ndarray]:
    """As `echoes` for vectors: places among those of candidate and reference, and the first candidate they equal."""
    n, m = sides.sizes
    rows = distinct_rows(together([sides.candidate.values, sides.reference.values])).inverse
    first = np.full(int(rows.max()) + 1, -1)
    first[rows[:m][::-1]] = np.arange(m)[::-1]
    text = first[rows]
    kept = np.flatnonzero((text >= 0) & (text != np.arange(n + m)))
    return kept, text[kept]


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


def _repeat_rates(sides: TwoSides, twice: _Twice) -> list[Rate]:
    """The shares of texts that repeat others of their set, at one size; p by relabelling, groups moved whole."""
    what = ["repeat others of their set", "nearly repeat others"][: 1 if sides.reference_texts is None else 2]
    shares = []
    for found, cuts in zip((twice.reference, twice.candidate), sides.cuts(CUTS), strict=True):
        every = np.ones(len(found.equal), bool)
        shares.append(np.mean([_shares(found, every if cut is None else cut) for cut in cuts], axis=0))
    pooled = twice.pooled
    p = np.ones(2)
    if any(pooled.counts):  # else nothing stands twice anywhere
        ordered = Repeats(pooled.equal[sides.order], pooled.stays[sides.order])
        gap = np.array(
            [
                _shares(ordered, candidate) - _shares(ordered, reference)
                for labels in sides.labellings(_LABELLINGS)
                for reference, candidate in zip(labels.reference, labels.candidate, strict=True)
            ]
        )
        p = (gap >= gap[0] - 1e-9).mean(axis=0)
    return [Rate(name, float(shares[1][at]), float(shares[0][at]), float(p[at])) for at, name in enumerate(what)]


def _shares(found: Repeats, texts: np.ndarray) -> np.ndarray:
    """Of some texts, one bool each: how many equal another of them, and how many more are near one."""
    return np.array(found.counts_of(texts)) / max(1, int(np.count_nonzero(texts)))
