"""Fidelity across, variety up: systems beside the field where human texts fall."""

from __future__ import annotations

from .axes import Axis, box, clipped, finite, line, mark, number, svg, tick_words, words
from .escaping import Html, element
from .page_parts import Plane

_WIDTH, _HEIGHT = 380, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 54, 14, 12, 46
_NAMED = 7
"""Systems that have their names beside them: those of more would hide each other, and the legend has them."""
_LONGEST = 44
"""Characters of an axis's name."""


def plane_picture(plane: Plane) -> Html:
    known = [point for point in plane.points if finite(point.x, point.y)]
    across, up = plane.band or ((), ())
    x = Axis([*(point.x for point in known), *across], _LEFT, _WIDTH - _RIGHT, 0.1)
    y = Axis([*(point.y for point in known), *up], _HEIGHT - _BOTTOM, _TOP, 0.1)
    drawn: list[Html] = []
    if plane.band is not None:
        people, wide = plane.band
        drawn.append(box(x.at(people.low), y.at(wide.low), x.at(people.high), y.at(wide.high), "band"))
    drawn += frame(x, y, plane.x, plane.y)
    if plane.band is not None:
        at = x.at(plane.band[0].mean), y.at(plane.band[1].mean)
        drawn.append(element("g", element("title", "human"), mark(None, *at, 6)))
    taken: list[tuple[float, float]] = []
    for point in known:
        at = x.at(point.x), y.at(point.y)
        told = element("title", f"{point.label}: {plane.x} {number(point.x)}, {plane.y} {number(point.y)}")
        # A name stands on the side that has room, and makes way for one that is there already.
        right = at[0] < _LEFT + 0.62 * (_WIDTH - _LEFT - _RIGHT)
        height = at[1] + 4
        while any(abs(height - other) < 12 and abs(at[0] - beside) < 110 for beside, other in taken):
            height += 12
        taken.append((at[0], height))
        name = words(at[0] + (10 if right else -10), height, clipped(point.label, 20), "start" if right else "end")
        named = len(known) <= _NAMED and height < _HEIGHT - _BOTTOM
        drawn.append(element("g", told, mark(point.system, *at, 5.5), name if named else None))
    listed = "; ".join(f"{point.label} {number(point.x)}, {number(point.y)}" for point in plane.points)
    head = element("figcaption", element("h4", plane.title))
    picture = svg(_WIDTH, _HEIGHT, f"{plane.title}, {plane.x} and {plane.y}: {listed}", *drawn)
    return element("figure", head, picture, class_="card")


def frame(x: Axis, y: Axis, across: str, up: str, places: bool = True) -> list[Html]:
    """Axes with ticks and their names. places: whether the axis across has ticks of its own."""
    drawn = [line(x.start, y.start, x.end, y.start, "axis"), line(x.start, y.start, x.start, y.end, "axis")]
    ticks = x.ticks(4) if places else []
    for tick, shown in zip(ticks, tick_words(ticks), strict=True):
        at = x.at(tick)
        drawn += [line(at, y.start, at, y.start + 4, "axis"), words(at, y.start + 17, shown, "middle", "tick")]
    ticks = y.ticks(4)
    for tick, shown in zip(ticks, tick_words(ticks), strict=True):
        at = y.at(tick)
        drawn += [line(x.start, at, x.end, at, "grid"), words(x.start - 6, at + 4, shown, "end", "tick")]
    drawn.append(words((x.start + x.end) / 2, y.start + 38, clipped(across, _LONGEST), "middle", "label"))
    up, middle = clipped(up, _LONGEST), round((y.start + y.end) / 2, 1)
    drawn.append(
        element(
            "text",
            clipped(up, _LONGEST),
            x=13,
            y=middle,
            text_anchor="middle",
            class_="label",
            transform=f"rotate(-90 13 {middle})",
        )
    )
    return drawn
