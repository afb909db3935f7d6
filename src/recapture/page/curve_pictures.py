"""Curves: of a metric, of a null distribution with the observed value, of systems in their order."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from .axes import Axis, box, clipped, finite, line, look, mark, number, svg, words
from .escaping import Html, element
from .page_parts import Curve, Stroke
from .quality_plane import frame

_WIDTH, _HEIGHT = 380, 270
_LEFT, _RIGHT, _TOP, _BOTTOM = 56, 14, 12, 46
_MOST = 240
"""Points of a curve that are drawn: more are not seen, and only make the page large."""


def curve_picture(curve: Curve) -> Html:
    strokes = [_finite(stroke) for stroke in curve.strokes]
    xs = [value for stroke in strokes for value in stroke.x] + [each.x for each in curve.marks if finite(each.x)]
    ys = [value for stroke in strokes for value in stroke.y] + [*(curve.band or ()), *([0.0] if curve.filled else [])]
    ys += [value for _, band in curve.bands for value in band]
    x = Axis(xs, _LEFT, _WIDTH - _RIGHT, 0.04)
    y = Axis(ys, _HEIGHT - _BOTTOM, _TOP, 0.06)
    if curve.filled:
        y.low = 0.0
    drawn: list[Html] = []
    if curve.band is not None and finite(curve.band.low, curve.band.high):
        drawn.append(box(x.start, y.at(curve.band.low), x.end, y.at(curve.band.high), "band"))
        drawn.append(line(x.start, y.at(curve.band.mean), x.end, y.at(curve.band.mean), "human-mean"))
    if curve.bands:
        around = [(at, band.low) for at, band in curve.bands] + [(at, band.high) for at, band in curve.bands[::-1]]
        drawn.append(element("polygon", points=_points(x, y, around), class_="band"))
        means = [(at, band.mean) for at, band in curve.bands]
        drawn.append(element("polyline", points=_points(x, y, means), class_="stroke human-mean"))
    drawn += frame(x, y, curve.x, curve.y, places=not curve.places)
    for at, name in curve.places:
        place = x.at(at)
        longest = max(4, round((x.end - x.start) / max(1, len(curve.places)) / 6.5))
        drawn += [line(place, y.start, place, y.start + 4, "axis"),
                  words(place, y.start + 17, clipped(name, longest), _anchor(x, place), "tick")]  # fmt: skip
    for stroke in strokes:
        if not len(stroke.x):
            continue
        points = _points(x, y, list(zip(stroke.x, stroke.y, strict=True)))
        if curve.filled:
            ends = f"{x.at(stroke.x[0]):g},{y.at(0):g} {points} {x.at(stroke.x[-1]):g},{y.at(0):g}"
            shape = element("polygon", points=ends, class_=f"area {look(stroke.system)}")
        else:
            shape = element("polyline", points=points, class_=f"stroke {look(stroke.system)}")
        drawn.append(element("g", element("title", stroke.label), shape))
    for point in curve.points:
        if finite(point.x, point.y):
            told = element("title", f"{point.label}: {number(point.y)}")
            drawn.append(element("g", told, mark(point.system, x.at(point.x), y.at(point.y))))
    for each in curve.marks:
        if finite(each.x):
            at = x.at(each.x)
            told = element("title", f"{each.label}: {number(each.x)}")
            drawn.append(element("g", told, line(at, y.start, at, _TOP, f"observed {look(each.system)}")))
    note = element("p", curve.note, class_="note") if curve.note else None
    head = element("figcaption", element("h4", curve.title), note)
    return element("figure", head, svg(_WIDTH, _HEIGHT, _spoken(curve), *drawn), class_="card")


def _points(x: Axis, y: Axis, places: Sequence[tuple[float, float]]) -> str:
    return " ".join(f"{x.at(a):g},{y.at(b):g}" for a, b in places)


def _anchor(x: Axis, place: float) -> str:
    """Names at the ends stay inside."""
    room = 0.12 * (x.end - x.start)
    return "start" if place < x.start + room else "end" if place > x.end - room else "middle"


def _finite(stroke: Stroke) -> Stroke:
    """Where both numbers are, and no more points than can be seen."""
    pairs = [(float(a), float(b)) for a, b in zip(stroke.x, stroke.y, strict=True) if finite(float(a), float(b))]
    if len(pairs) > _MOST:
        pairs = [pairs[place] for place in np.linspace(0, len(pairs) - 1, _MOST).round().astype(int)]
    return stroke._replace(x=[a for a, _ in pairs], y=[b for _, b in pairs])


def _spoken(curve: Curve) -> str:
    marks = "; ".join(f"{each.label} {number(each.x)}" for each in curve.marks)
    names = ", ".join(stroke.label for stroke in curve.strokes)
    return f"{curve.title}: {curve.y} over {curve.x}; {names}{'; ' + marks if marks else ''}"


def outline(values: Sequence[float] | np.ndarray, least: float, most: float, bins: int = 40) -> tuple[list, list]:
    """The outline of a histogram of shares, from left to right."""
    known = np.asarray(values, np.float64)
    known = known[np.isfinite(known)]
    if most <= least:
        least, most = least - 0.5, most + 0.5
    shares, edges = np.histogram(known, bins, (least, most))
    shares = shares / max(1, len(known))
    return np.repeat(edges, 2)[1:-1].tolist(), np.repeat(shares, 2).tolist()
