"""What all pictures share: from numbers to places, ticks, marks that differ in colour and in shape."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from itertools import pairwise

from ..report.report import short
from .escaping import Html, element

COLOURS = 8
SHAPES = 5
"""Coprime with the colours: forty systems look different."""


def look(system: int | None) -> str:
    """The class that gives a system its colour; people have their own."""
    return "human" if system is None else f"c{system % COLOURS}"


class Axis:
    """A linear scale from numbers to places."""

    def __init__(
        self, values: Iterable[float], start: float, end: float, margin: float = 0.06, middle: float | None = None
    ) -> None:
        """middle: a number that stands in the middle."""
        known = [value for value in values if math.isfinite(value)]
        low, high = (min(known), max(known)) if known else (0.0, 1.0)
        if middle is not None:
            reach = max(abs(low - middle), abs(high - middle)) or 1.0
            low, high = middle - reach, middle + reach
        if high - low <= 1e-12 * max(abs(low), abs(high), 1e-300):
            low, high = low - (abs(low) or 1.0) * 0.05, high + (abs(high) or 1.0) * 0.05
        room = margin * (high - low)
        self.low, self.high, self.start, self.end = low - room, high + room, start, end

    def at(self, value: float) -> float:
        share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 2)

    def ticks(self, about: int = 4) -> list[float]:
        """Round numbers, about so many, and two at least."""
        for wanted in range(about, about + 8):
            ticks = self._ticks((self.high - self.low) / wanted)
            if len(ticks) > 2:
                break
        return ticks

    def _ticks(self, step: float) -> list[float]:
        power = 10.0 ** math.floor(math.log10(step))
        step = next(power * factor for factor in (1, 2, 2.5, 5, 10) if power * factor >= step * 0.999)
        first = math.ceil(self.low / step - 1e-9)
        last = math.floor(self.high / step + 1e-9)
        return [round(place * step, 12 - math.floor(math.log10(step))) for place in range(first, last + 1)]


def tick_words(ticks: Sequence[float]) -> list[str]:
    """As many digits as it takes to tell ticks apart."""
    if not ticks:
        return []
    largest = max(map(abs, ticks))
    if largest and (largest >= 1e5 or largest < 1e-3):
        several = ([f"{tick:.{digits}g}" for tick in ticks] for digits in range(2, 18))
        return next(shown for shown in several if len(set(shown)) == len(ticks))
    step = min((b - a for a, b in pairwise(ticks)), default=1.0)
    digits = next((digits for digits in range(9) if abs(round(step, digits) - step) < 1e-9 * step), 9)
    return [f"{tick:.{digits}f}" for tick in ticks]


def mark(system: int | None, x: float, y: float, size: float = 5.0) -> Html:
    """A system's sign: its colour and its shape; people's is a ring."""
    if system is None:
        return element("circle", cx=x, cy=y, r=size, class_="ring human")
    shape, fill = system % SHAPES, look(system)
    if shape == 0:
        return element("circle", cx=x, cy=y, r=size, class_=fill)
    if shape == 1:
        side = 1.8 * size
        return element("rect", x=round(x - side / 2, 2), y=round(y - side / 2, 2), width=side, height=side, class_=fill)
    corners = {
        2: [(0, -1.25), (1.15, 0.85), (-1.15, 0.85)],
        3: [(0, -1.35), (1.35, 0), (0, 1.35), (-1.35, 0)],
        4: [(0, 1.25), (1.15, -0.85), (-1.15, -0.85)],
    }[shape]
    points = " ".join(f"{x + size * across:.1f},{y + size * down:.1f}" for across, down in corners)
    return element("polygon", points=points, class_=fill)


def words(x: float, y: float, content: str, anchor: str = "start", class_: str | None = None) -> Html:
    return element("text", content, x=x, y=y, text_anchor=None if anchor == "start" else anchor, class_=class_)


def line(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    return element("line", x1=x1, y1=y1, x2=x2, y2=y2, class_=class_)


def box(x1: float, y1: float, x2: float, y2: float, class_: str) -> Html:
    left, top = min(x1, x2), min(y1, y2)
    # At least a hair: a band of no width is a fact that should be seen.
    wide, tall = max(abs(x2 - x1), 0.75), max(abs(y2 - y1), 0.75)
    return element("rect", x=left, y=top, width=round(wide, 2), height=round(tall, 2), class_=class_)


def svg(width: float, height: float, said: str, *content: Html, class_: str = "picture") -> Html:
    """A picture with the words that say what it shows; without words it only adorns, and nobody hears of it."""
    heard = {"role": "img", "aria_label": said} if said else {"aria_hidden": "true"}
    return element(
        "svg", *content, viewBox=f"0 0 {width:g} {height:g}", **heard, class_=class_,
        xmlns="http://www.w3.org/2000/svg",
    )  # fmt: skip


def clipped(name: str, longest: int) -> str:
    """A name that fits its place; what is cut is said elsewhere on the page."""
    return name if len(name) <= longest else name[: longest - 1] + "…"


def number(value: float) -> str:
    return "-" if math.isnan(value) else "∞" if value == math.inf else "-∞" if value == -math.inf else short(value)


def finite(*values: float) -> bool:
    return all(map(math.isfinite, values))
