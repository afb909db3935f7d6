"""How numbers of neighbourhoods move with k, beside human parts: whether a finding hangs on the k that was chosen."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from ..geometry.points import PointSet
from ..page.page_parts import Curve, HumanBand, Mark, Stroke
from ..page.result_parts import number_name
from .human import Band, CandidateSamples, HumanSplits, HumanTerms
from .pair import Pair

if TYPE_CHECKING:
    from .evaluate import PreparedSets
    from .table import SetResults

KS = (1, 2, 3, 5, 7, 10, 15, 20, 30)
SPLITS = 20
MOST = 2_000
"""Samples of a set; of larger ones so many are drawn, which keeps the cost of a page small."""


def _gone() -> None:
    return None


@dataclass(frozen=True)
class KeptSets:
    """The sets that results are of, for what a page measures further; a pickled or copied result leaves them behind."""

    prepared: PreparedSets
    seed: int

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return _gone, ()


def k_curves(results: SetResults) -> list[Curve]:
    """A curve for every number of every metric of neighbourhoods, against k; none where the sets are not known."""
    if results.kept is None:
        return []
    prepared, seed = results.kept.prepared, results.kept.seed
    jobs = [job for job in prepared.jobs if job.metric.uses_neighbours and job.metric.relabel is not None]
    if not jobs:
        return []
    reference, of_reference = _some(prepared.reference, prepared.moved.reference, seed)
    sets = {name: _some(points, prepared.moved.of(name), seed) for name, points in prepared.candidates.items()}
    human = None if prepared.human is None else _some(prepared.human, prepared.moved.human, seed)
    used = {job.metric.name: int(job.parameters.get("k", job.metric.defaults["k"])) for job in jobs}
    ks = [
        k
        for k in sorted({*KS, *used.values()})
        if 2 * k < min(map(len, (reference, *(each for each, _ in sets.values())))) // 2
    ]
    if len(ks) < 2:
        return []
    # k after k of one metric: all of them are found in one pass.
    swept = [(job.metric, {**job.metric.defaults, **job.parameters, "k": k}) for job in jobs for k in ks]
    splits = HumanSplits(
        swept,
        reference,
        [CandidateSamples(len(points), groups) for points, groups in sets.values()],
        SPLITS,
        seed,
        human=None if human is None else human[0],
        groups=of_reference,
        human_groups=None if human is None else human[1],
    )
    terms = [splits.terms(at, Pair(reference, points)) for at, (points, _) in enumerate(sets.values())]
    curves = []
    for number, job in enumerate(jobs):
        rows = slice(number * len(ks), (number + 1) * len(ks))
        own = {system: dict(zip(ks, of[rows], strict=True)) for system, of in zip(sets, terms, strict=True)}
        known = next(by_metric[job.metric.name] for by_metric in results.values())
        for name in known.details.get("main", known.values):
            title = number_name(job.metric.name, known, name)
            reach = known.ranges.get(name, (-math.inf, math.inf))
            curves += _curve(title, name, own, reach, used[job.metric.name], f"{splits.size:,}")
    return curves


def _some(points: PointSet, groups: np.ndarray | None, seed: int) -> tuple[PointSet, np.ndarray | None]:
    """In order of content, with their groups, and no more than are looked at."""
    ordered = points.ordered
    if len(ordered) <= MOST:
        return ordered, groups
    rows = np.sort(np.random.default_rng(seed).choice(len(ordered), MOST, replace=False))
    return PointSet(ordered.values[rows], points.name), None if groups is None else groups[rows]


def _curve(
    title: str, name: str, own: dict[str, dict[int, HumanTerms]], reach: tuple[float, float], used: int, size: str
) -> list[Curve]:
    strokes = []
    for at, (system, of) in enumerate(own.items()):
        there = [k for k, terms in of.items() if name in terms.means]
        strokes.append(Stroke(system, list(map(_across, there)), [of[k].means[name][1] for k in there], at))
    if not any(len(stroke.x) > 1 for stroke in strokes):
        return []
    first = next(of for of in own.values() if any(name in terms.means for terms in of.values()))
    bands = []
    for k, terms in first.items():
        if name in terms.means:
            mean = terms.means[name][0]
            band = terms.human.get(name, Band(mean, mean, mean))  # all human parts score the same
            bands.append((_across(k), HumanBand(max(reach[0], band.low), band.mean, min(reach[1], band.high))))
    return [
        Curve(
            f"{title} against k",
            "k",
            title,
            strokes,
            [Mark(f"k = {used}, as in the tables", _across(used))],
            bands=bands,
            places=[(_across(k), str(k)) for k in first],
            note=f"parts of {size} samples; shaded: human parts; dashed: k = {used}, as in the tables",
        )
    ]


def _across(k: int) -> float:
    """Steps of one ratio are equally wide: most happens at small k."""
    return math.log2(k)
