"""Fidelity across, variety up: systems beside the field where human texts fall."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from .axes import Axis, box, clipped, finite, line, mark, number, svg, tick_words, words
from .escaping import Html, element
from .page_parts import Plane

_WIDTH, _HEIGHT = 380, 320
_LEFT, _RIGHT, _TOP, _BOTTOM = 60, 14, 12, 46
_NAMED = 7
"""Systems that have their names beside them: those of more would hide each other, and the legend has them."""
_LETTER, _LINE = 6.6, 12.0
"""About how wide a letter of a name is, and how high a line."""
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
    places = [(x.at(point.x), y.at(point.y)) for point in known]
    signs = list(places)
    if plane.band is not None:
        at = x.at(plane.band[0].mean), y.at(plane.band[1].mean)
        signs.append(at)
        drawn.append(element("g", element("title", "human"), mark(None, *at, 6)))
    taken = [Room(across - 7, down - 7, across + 7, down + 7) for across, down in signs]
    for point, at in zip(known, places, strict=True):
        told = element("title", f"{point.label}: {plane.x} {number(point.x)}, {plane.y} {number(point.y)}")
        shown = clipped(point.label, 20)
        room = _free(at, len(shown) * _LETTER, taken) if len(known) <= _NAMED else None
        name = None if room is None else words(round(room.left, 2), round(room.bottom - 3, 2), shown)
        taken += [] if room is None else [room]
        drawn.append(element("g", told, mark(point.system, *at, 5.5), name))
    listed = "; ".join(f"{point.label} {number(point.x)}, {number(point.y)}" for point in plane.points)
    head = element("figcaption", element("h4", plane.title))
    picture = svg(_WIDTH, _HEIGHT, f"{plane.title}, {plane.x} and {plane.y}: {listed}", *drawn)
    return element("figure", head, picture, class_="card")


class Room(NamedTuple):
    """What a sign or a name covers."""

    left: float
    top: float
    right: float
    bottom: float

    def meets(self, other: Room) -> bool:
        across = self.left < other.right and other.left < self.right
        return across and self.top < other.bottom and other.top < self.bottom


def _free(at: tuple[float, float], wide: float, taken: Sequence[Room]) -> Room | None:
    """Where a name can stand beside its sign and cover neither signs nor names; None: nowhere, the legend has it."""
    for up in (0, 1, -1, 2, -2):  # lines
        middle = at[1] - up * _LINE
        sides = (at[0] + 9, at[0] - 9 - wide) if abs(up) < 2 else ()
        for left in (*sides, *([at[0] - wide / 2] if up else [])):
            room = Room(left, middle - _LINE / 2, left + wide, middle + _LINE / 2)
            inside = room.left >= _LEFT and room.right <= _WIDTH - _RIGHT + 8
            if inside and room.top >= 0 and room.bottom <= _HEIGHT - _BOTTOM and not any(map(room.meets, taken)):
                return room
    return None


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
