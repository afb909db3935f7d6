"""Parts of a page from results of any metrics: forest plots, planes, null distributions."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence

import numpy as np

from ..report.result import Result
from .curve_pictures import outline
from .page_parts import Card, Curve, Forest, HumanBand, Line, Mark, Plane, Point, Stroke

ByCandidate = Mapping[str, Mapping[str, Result]]
"""{candidate: {metric: Result}}"""
Words = Callable[[str, str], str]
"""(metric, number) -> what is said of it."""

_PARTS = (
    "dot: mean of the system's parts; line: where 95 % of its single parts fall",
    "shaded: where 95 % of single human parts of the same size fall; dotted: their mean",
)


def number_name(metric: str, result: Result, name: str) -> str:
    """What a page calls a number of a metric."""
    return metric if len(result.values) == 1 or name == "value" else f"{metric} {name}"


def forests_of(results: ByCandidate, meaning: Words, whole: str = "Whole sets") -> list[Forest]:
    """Numbers beside human ones where there are such; numbers with their intervals. whole: the title of the second."""
    banded, plain, sure = [], [], False
    for metric, first in _first(results).items():
        for name in first.details.get("main", first.values):
            columns = [by_metric[metric] for by_metric in results.values()]
            named = list(enumerate(zip(results, columns, strict=True)))
            title, note = number_name(metric, first, name), meaning(metric, name)
            known = next((column for column in columns if name in column.human), None)
            if known is not None:
                lines = [_part(label, column, name, at) for at, (label, column) in named]
                banded.append(Card(title, lines, known.direction, band_of(known, name), note))
            lines = [_whole(label, column, name, at) for at, (label, column) in named]
            sure = sure or any(name in column.intervals for column in columns)
            plain.append(Card(title, lines, first.direction, None, note))
    if not banded:
        return [Forest("", plain, ["line: interval of the number"] if sure else [])]
    forests = [Forest("On equal terms: parts of equal size against the same human part", banded, _PARTS)]
    return [*forests, Forest(whole, plain, ["line: interval of the number"])] if sure else forests


def _first(results: ByCandidate) -> Mapping[str, Result]:
    return next(iter(results.values()), {})


def band_of(result: Result, name: str) -> HumanBand:
    """Where human texts fall, cut where the number's range ends."""
    band, (low, high) = result.human[name], result.ranges.get(name, (-math.inf, math.inf))
    return HumanBand(max(low, band.low), band.mean, min(high, band.high))


def _part(label: str, result: Result, name: str, system: int) -> Line:
    own = result.at_human_size.get(name)
    if own is None:
        return Line(label, math.nan, system=system)
    low, high = result.ranges.get(name, (-math.inf, math.inf))
    return Line(label, own.mean, max(low, own.low), min(high, own.high), system)


def _whole(label: str, result: Result, name: str, system: int) -> Line:
    low, high = result.intervals.get(name, (math.nan, math.nan))
    return Line(label, result.values[name], low, high, system)


def planes_of(results: ByCandidate, aspects: Mapping[str, Mapping[str, str]]) -> list[Plane]:
    """A plane for every metric with a number of either kind. aspects: by metric {"fidelity": number, ...}."""
    planes = []
    for metric, first in _first(results).items():
        across, up = (aspects.get(metric, {}).get(aspect, "") for aspect in ("fidelity", "variety"))
        if not across or not up or across not in first.values or up not in first.values:
            continue
        columns = {label: by_metric[metric] for label, by_metric in results.items()}
        known = next((column for column in columns.values() if across in column.human and up in column.human), None)
        points = []
        for system, (label, column) in enumerate(columns.items()):
            at = column.at_human_size if known is not None else {}
            x, y = ((at[name].mean if name in at else math.nan if known else column.values[name])
                    for name in (across, up))  # fmt: skip
            points.append(Point(label, x, y, system))
        band = None if known is None else (band_of(known, across), band_of(known, up))
        planes.append(Plane(metric, f"fidelity: {across} →", f"variety: {up} →", points, band))
    return planes


def null_curves(results: ByCandidate) -> list[Curve]:
    """What relabelled samples score, with the observed value, for every number that was tested."""
    curves = []
    for metric, first in _first(results).items():
        for name in first.details.get("main", first.values):
            tested = {
                system: (label, np.asarray(by_metric[metric].nulls[name], np.float64))
                for system, (label, by_metric) in enumerate(results.items())
                if name in by_metric[metric].nulls and len(by_metric[metric].nulls[name]) > 1
            }
            known = [each[np.isfinite(each)] for _, each in tested.values()]
            if not any(map(len, known)):
                continue
            ends = (
                min(float(each.min()) for each in known if len(each)),
                max(float(each.max()) for each in known if len(each)),
            )
            strokes = [Stroke(label, *outline(each[1:], *ends), system) for system, (label, each) in tested.items()]
            marks = [Mark(f"{label}, observed", float(each[0]), system) for system, (label, each) in tested.items()]
            title = number_name(metric, first, name)
            curves.append(
                Curve(
                    f"{title}: observed and by chance",
                    title,
                    "share of labellings",
                    strokes,
                    marks,
                    filled=True,
                    note="filled: what relabelled samples score; dashed: the observed value",
                )
            )
    return curves


def metric_curves(results: ByCandidate, drawn: Mapping[str, Sequence[tuple[str, str, str, str, str]]]) -> list[Curve]:
    """Curves that results hold. drawn: by metric (title, array across, array up, name across, name up)."""
    curves = []
    for metric in _first(results):
        for title, across, up, x, y in drawn.get(metric, ()):
            strokes = [
                Stroke(label, by_metric[metric].arrays[across].tolist(), by_metric[metric].arrays[up].tolist(), system)
                for system, (label, by_metric) in enumerate(results.items())
                if across in by_metric[metric].arrays
            ]
            if strokes:
                curves.append(Curve(title, x, y, strokes))
    return curves
