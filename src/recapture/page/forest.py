"""The forest plot: every number with where it may lie, beside where human texts fall."""

from __future__ import annotations

import math

from ..report.report import signed
from .axes import Axis, box, clipped, finite, line, look, mark, number, svg, tick_words, words
from .escaping import Html, element, joined
from .page_parts import Card, Forest

_WIDTH, _NAMES, _VALUES = 370, 92, 58
_ROW, _TOP, _BOTTOM = 24, 8, 26
_LONGEST = 14
"""Characters of a name beside its line; where one is longer, all stand above their lines."""
_ABOVE = 18
_LONGEST_ABOVE = 52
_WAYS = {"higher": "↑ higher is better", "lower": "↓ lower is better", None: ""}


def forest_section(forest: Forest) -> Html:
    caption = [element("li", each) for each in forest.caption]
    return joined(
        element("h3", forest.title) if forest.title else None,
        element("div", *map(_card, forest.cards), class_="cards"),
        element("ul", *caption, class_="caption") if caption else None,
    )


def _card(card: Card) -> Html:
    way = _WAYS[card.direction]
    head = element("h4", card.title, element("span", way, class_="way") if way else None)
    note = element("p", card.note, class_="note") if card.note else None
    return element("figure", element("figcaption", head, note), _picture(card), class_="card")


def _picture(card: Card) -> Html:
    above = any(len(each.label) > _LONGEST for each in card.lines)
    row = _ROW + _ABOVE if above else _ROW
    height = _TOP + row * len(card.lines) + _BOTTOM
    bottom = height - _BOTTOM
    known = [value for each in card.lines for value in (each.value, each.low, each.high)]
    known += [*(card.band or ()), *([] if card.expected is None else [card.expected])]
    axis = Axis(known, 6 if above else _NAMES + 6, _WIDTH - _VALUES - 6, middle=0.0 if card.zero else None)
    drawn: list[Html] = []
    if card.band is not None and finite(card.band.low, card.band.high):
        drawn.append(box(axis.at(card.band.low), _TOP - 4, axis.at(card.band.high), bottom, "band"))
        if finite(card.band.mean):
            at = axis.at(card.band.mean)
            drawn.append(line(at, _TOP - 4, at, bottom, "human-mean"))
    if card.zero or card.expected is not None:
        at = axis.at(0.0 if card.zero else float(card.expected or 0.0))
        # Where names stand above their lines it makes way for them.
        starts = [_TOP + row * place + (_ABOVE if above else 0) for place in range(len(card.lines))]
        rows = [(start, start + _ROW) for start in starts] if above else [(_TOP - 4, bottom)]
        drawn += [line(at, start, at, end, "zero") for start, end in rows]
    drawn.append(line(axis.start, bottom, axis.end, bottom, "axis"))
    ticks = axis.ticks(3)
    for tick, said_tick in zip(ticks, tick_words(ticks), strict=True):
        at = axis.at(tick)
        drawn += [line(at, bottom, at, bottom + 4, "axis"), words(at, bottom + 17, said_tick, "middle", "tick")]
    for place, each in enumerate(card.lines):
        y = _TOP + row * (place + 1) - _ROW / 2
        shown = [element("title", f"{each.label}: {said(each.value, each.low, each.high)}")]
        if above:
            shown.append(words(0, y - 14, clipped(each.label, _LONGEST_ABOVE), class_="name"))
        else:
            shown.append(words(0, y + 4, each.label, class_="name"))
        if finite(each.low, each.high):
            shown.append(line(axis.at(each.low), y, axis.at(each.high), y, f"whisker {look(each.system)}"))
        if finite(each.value):
            shown.append(mark(each.system, axis.at(each.value), y))
        value = signed(each.value) if card.zero and finite(each.value) else number(each.value)
        shown.append(words(_WIDTH, y + 4, value, "end", "value"))
        drawn.append(element("g", *shown))
    return svg(_WIDTH, height, _spoken(card), *drawn)


def said(value: float, low: float, high: float) -> str:
    between = "" if math.isnan(low) or math.isnan(high) else f" ({number(low)} to {number(high)})"
    return number(value) + between


def _spoken(card: Card) -> str:
    """The picture in words."""
    parts = [f"{each.label} {said(each.value, each.low, each.high)}" for each in card.lines]
    if card.band is not None:
        parts.insert(0, f"human {said(card.band.mean, card.band.low, card.band.high)}")
    return f"{card.title}: {'; '.join(parts)}"
