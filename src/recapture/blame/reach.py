"""How far texts are from the other side, as p-values that hold: what was invented, and what was lost.

Invented. d(y) is the distance of a candidate text y to the nearest reference text, d(x) that of a reference text x to
the nearest other one, where equal texts and texts of x's own group do not count. Were y one more human text, all n + 1
texts would be exchangeable, and so would be each one's distance to the nearest of the others. Among these d(x) may be
shortened by y, but never below d(y), which is the shortest distance that y has. So the rank of d(y) among the d(x) is
that among the shortened ones, and

    p(y) = (1 + number of x with d(x) >= d(y)) / (n + 1)

is at most u with a chance of at most u, for whatever distribution: full conformal prediction (Vovk, Gammerman and
Shafer 2005) without computing anything anew. Where texts come in groups, groups are exchangeable, not texts: each group
counts 1, shared by its texts (Dunn, Wasserman and Ramdas 2023). Texts are listed by Benjamini and Hochberg's rule; of
conformal p-values that holds (Bates and others 2023).

Lost. The same question of reference texts: is x further from the candidate than people are from each other? More texts
are nearer, so both sides are cut to one size: a(x) is the distance to the nearest text of the candidate's cut, r(x) to
the nearest other one of the reference's cut, and p(x) = (1 + number of x' with r(x') >= a(x)) / (n + 1), mean over
cuts. A text that people do not reach either is no loss: it makes r large as often as a.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from ..geometry.nearest import Apart, NearestRows, nearest_rows
from ..labellings.combine import benjamini_hochberg
from .sides import Folded, TwoSides

CUTS = 10
"""Seeded cuts of the larger side."""
_SLACK = 1 - 1e-12
"""Distances this close are equal: rounding must not make a p-value smaller."""


class Reached(NamedTuple):
    """One number for each text of a side."""

    place: np.ndarray
    """Of the nearest text on the other side, all of it."""
    distance: np.ndarray
    """To that one."""
    score: np.ndarray
    """The distance that p is about, in units of people's median distance from each other."""
    pvalue: np.ndarray
    adjusted: np.ndarray
    """By Benjamini and Hochberg."""
    least: int
    """The fewest texts that a list at this level can hold."""


def reached(sides: TwoSides, level: float) -> tuple[Reached, Reached]:
    """How far candidate texts are from people, and reference texts from the candidate."""
    reference, candidate = sides.folded
    cuts = [
        [None if chosen is None else folded.part(chosen) for chosen in of_side]
        for folded, of_side in zip(sides.folded, sides.cuts(CUTS), strict=True)
    ]
    # The whole sides come last: a side that is not cut is its own cut.
    parts = [cut if cut[0] is None else [*cut, None] for cut in cuts]
    own = _away(nearest_rows(reference.values, reference.values, _own(reference, sides), parts[0]), reference)
    to_reference = nearest_rows(candidate.values, reference.values, _across(candidate, reference, sides))
    to_candidate = nearest_rows(reference.values, candidate.values, _across(reference, candidate, sides), parts[1])
    far, away = _away(to_reference, candidate)[0], _away(to_candidate, reference)
    p_far = conformal(far, own[-1], sides.units[0])
    cut_own, cut_away = own[: len(cuts[0])], away[: len(cuts[1])]
    p_away = np.mean(
        [
            conformal(cut_away[at % len(cut_away)], cut_own[at % len(cut_own)], sides.units[0])
            for at in range(max(len(cut_own), len(cut_away)))
        ],
        axis=0,
    )
    units = sides.unit_counts[0]
    return (
        Reached(
            _samples(to_reference, candidate, reference),
            far,
            far / _usual(own[-1]),
            p_far,
            benjamini_hochberg(p_far),
            fewest(len(far), units, level),
        ),
        Reached(
            _samples(to_candidate, reference, candidate),
            away[-1],
            cut_away.mean(axis=0) / _usual(cut_own),
            p_away,
            benjamini_hochberg(p_away),
            fewest(len(p_away), units, level),
        ),
    )


def conformal(distance: np.ndarray, people: np.ndarray, unit: np.ndarray) -> np.ndarray:
    """The p-value of each distance: how many of people's are as large, where texts of one unit share 1.

    A distance that is infinite (nothing counted) has 1: there was nothing to be far from.
    """
    weight = 1 / np.bincount(unit)[unit]
    order = np.argsort(people)
    # beyond[i]: the weight of all distances from the i-th smallest on.
    beyond = np.append(np.cumsum(weight[order][::-1])[::-1], 0.0)
    as_large = beyond[np.searchsorted(people[order], distance * _SLACK, side="left")]
    p = (1 + as_large) / (2 + int(unit.max()))
    return np.where(np.isinf(distance), 1.0, np.minimum(p, 1.0))


def fewest(texts: int, units: int, level: float) -> int:
    """The fewest texts that a list by Benjamini and Hochberg can hold: the k-th smallest p must be at most k level over
    the number of texts, and no p is below 1 / (units + 1). One more than there are where none can hold any.
    """
    needed = texts / (units + 1) / level * (1 - 1e-12)
    return math.ceil(needed) if needed <= texts else texts + 1


def _own(folded: Folded, sides: TwoSides) -> list[Apart]:
    """Equal texts and those of one group are left out together."""
    grouped = [(folded.group, folded.group)] if sides.reference_groups is not None else []
    return [(folded.row, folded.row), *grouped]


def _across(rows: Folded, targets: Folded, sides: TwoSides) -> list[Apart]:
    """Groups that both sides have (answers to one prompt) are left out as people's own are."""
    if sides.reference_groups is None or not np.isin(rows.group, targets.group).any():
        return []
    return [(rows.group, targets.group)]


def _away(found: NearestRows, folded: Folded) -> np.ndarray:
    """(parts, samples) distances"""
    distances: np.ndarray = np.sqrt(found.squared[:, folded.inverse])
    return distances


def _samples(found: NearestRows, rows: Folded, targets: Folded) -> np.ndarray:
    """For every sample the nearest one of the other side, all of which is the last part; -1: none."""
    place = found.place[-1, rows.inverse]
    return np.where(place >= 0, targets.first[place], -1)


def _usual(people: np.ndarray) -> float:
    """The median of the distances that are; 1 where there are none, or none above 0."""
    known = people[np.isfinite(people)]
    median = float(np.median(known)) if len(known) else 0.0
    return median or 1.0
