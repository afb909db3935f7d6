"""Pictures for a paper, by matplotlib: the same parts that a page draws, at the width of a column.

Nothing here needs a display or changes what matplotlib has set for the caller's own pictures: figures are made without
pyplot, and saved with fonts embedded, fixed ids and no date, so that the same numbers give the same file.
"""

from __future__ import annotations

import io
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import replace
from functools import lru_cache
from typing import Any, Literal

from matplotlib import rc_context
from matplotlib.figure import Figure
from matplotlib.font_manager import FontProperties
from matplotlib.lines import Line2D
from matplotlib.patches import Patch
from matplotlib.textpath import text_to_path

from ..errors import InputError, visible
from ..report.arrangement import asked_names, check_known, picked
from ..report.report import names_of_label
from .axes import Axis, finite, tick_words
from .page_parts import Card, Forest, Line, Page, Series, TextMap
from .series import order_of

What = Literal["numbers", "whole", "differences", "map"]

_COLUMN = 3.35
"""Width in inches of a column of a paper; wider figures have several panels side by side."""
_NAMES, _TITLES, _TICKS = 7.0, 7.5, 6.5
"""Sizes of words, in points."""
_ROW, _TITLE, _AXIS, _LEGEND, _EDGE = 0.17, 0.21, 0.31, 0.24, 0.06
"""Heights and margins in inches."""
_CURVE = 1.1
"""Height of the plane of a curve, in inches."""
_PEOPLE_FALL = "where 95 % of human texts fall; dotted: their mean"
_NAMED = 6
"""Systems that a legend names."""
_WIDEST = 0.42
"""Of a panel, that names may take."""
_COLOURS = ("#0060a8", "#c2410c", "#00795b", "#8e3a8b", "#8a6500", "#0e7c93", "#b0265b", "#5b5b9e")
_SHAPES = ("o", "s", "^", "D", "v")
"""As on a page: forty systems look different."""
_INK, _QUIET, _BAND, _PEOPLE = "#1d2126", "#59616b", "#d8dde4", "#4a525c"
_SAVED: dict[Any, Any] = {"pdf.fonttype": 42, "ps.fonttype": 42, "svg.hashsalt": "recapture", "text.usetex": False}
_UNDATED = {"pdf": {"CreationDate": None}, "svg": {"Date": None}, "ps": {}, "eps": {}}
_PLAIN: dict[str, Any] = {"parse_math": False, "usetex": False}
"""Names are words, whatever they hold."""


class PaperFigure(Figure):
    """A matplotlib Figure that shows itself in any notebook and saves itself the way papers want it."""

    def savefig(self, fname: Any, **options: Any) -> None:
        ending = os.path.splitext(fname)[1][1:] if isinstance(fname, (str, os.PathLike)) else ""  # noqa: PTH122
        form = str(options.get("format") or ending).lower()
        if form in _UNDATED:
            options["metadata"] = {**_UNDATED[form], **(options.get("metadata") or {})}
        with rc_context(_SAVED):
            super().savefig(fname, **options)

    def _repr_png_(self) -> bytes:
        stream = io.BytesIO()
        self.savefig(stream, format="png", dpi=200)
        return stream.getvalue()


def figure_of(
    page: Page,
    what: What | None,
    rows: Any,
    width: float,
    height: float | None,
    series: Series,
    usual: Sequence[str] | None = None,
) -> PaperFigure:
    """The picture of one part of a page; see `Paged.plot`. usual: rows where none are asked for (None: all)."""
    there = _drawable(page)
    chosen = _which(there, what, series is not False)
    part = there[chosen]
    if isinstance(part, TextMap):
        if rows is not None or series is not False:
            raise InputError("a map of texts has neither rows nor an order")
        return _map(part, width, height)
    cards = _cards(part, rows, usual)
    if series is not False:
        where, named = order_of(page.systems, series)
        return _curves(cards, page.systems, where, named, width, height)
    return _forest(cards, width, height, page.systems if chosen == "differences" else None)


def _drawable(page: Page) -> dict[What, Forest | TextMap]:
    there: dict[What, Forest | TextMap] = {}
    apart = [forest for forest in page.forests if any(card.zero for card in forest.cards)]
    own = [forest for forest in page.forests if forest.cards and forest not in apart]
    for name, forests in (("differences", apart), ("numbers", own), ("whole", own[1:])):
        if forests:
            there[name] = forests[0]  # type: ignore[index]
    if page.map is not None:
        there["map"] = page.map
    return there


def _which(there: dict[What, Forest | TextMap], what: Any, ordered: bool) -> What:
    if not there:
        raise InputError("this result has nothing that could be drawn")
    if what is None:
        return next((name for name in there if not ordered or name == "numbers"), next(iter(there)))
    if not isinstance(what, str) or what not in there:
        raise InputError(f"there is no picture of {visible(str(what))[:60]!r} here: there is {', '.join(there)}")
    if ordered and what == "differences":
        raise InputError("differences between systems have no order: a series is of numbers")
    return next(name for name in there if name == what)


def _cards(forest: Forest, rows: Any, usual: Sequence[str] | None) -> list[Card]:
    """The usual cards, or those asked for; of systems (or metrics, in agreement with people) that are named, lines."""
    asked = asked_names(rows)
    cards = [names_of_label(card.title) for card in forest.cards]
    if asked is None:
        return [forest.cards[place] for place in sorted(picked(usual or (), cards))] or list(forest.cards)
    labels = list(dict.fromkeys(line.label for card in forest.cards for line in card.lines))
    check_known(asked, [*cards, *([label] for label in labels)])
    chosen = [forest.cards[place] for place in picked(asked, cards)] or list(forest.cards)
    kept = {labels[place] for place in picked(asked, [[label] for label in labels])}
    if not kept:
        return chosen
    return [replace(card, lines=[line for line in card.lines if line.label in kept]) for card in chosen]


def _forest(cards: Sequence[Card], width: float, height: float | None, apart: Sequence[str] | None) -> PaperFigure:
    """apart: the systems, where the cards are of differences between them."""
    columns = max(1, round(width / _COLUMN))
    panel = width / columns
    single = all(len(card.lines) == 1 for card in cards) and len({card.lines[0].label for card in cards}) == 1
    titles = [_title(card) for card in cards]
    labels = titles if single else [line.label for card in cards for line in card.lines]
    room = min(_WIDEST * panel, max(_inches(_shown(label), _NAMES) for label in labels) + 0.1)
    tops = 0.04 if single else _TITLE
    tall = [tops + _ROW * len(card.lines) + _AXIS for card in cards]
    # Panels go down the first column, then the next, so that reading order is the order of numbers.
    each = math.ceil(len(cards) / columns)
    stacks = [range(start, min(start + each, len(cards))) for start in range(0, len(cards), each)]
    legend = _legend_of_forest(cards, apart)
    whole = max(sum(tall[place] for place in stack) for stack in stacks) + _legend_height(len(legend), width) + _EDGE
    figure, scale = _figure(width, height, whole)
    for column, stack in enumerate(stacks):
        top = whole
        for place in stack:
            card, title = cards[place], titles[place]
            bottom = top - tall[place]
            box = (
                column * panel + _EDGE + room,
                bottom + _AXIS,
                panel - room - 2.5 * _EDGE,
                _ROW * len(card.lines),
            )
            axes = figure.add_axes(_share(box, width, whole))
            _draw_card(axes, card, [title] if single else [line.label for line in card.lines], room)
            if not single:
                x, y = column * panel + _EDGE, top - 0.55 * _TITLE
                _words(figure, x / width, y / whole, title, _TITLES, weight="bold", va="center")
                if card.zero and card.note:
                    right = ((column + 1) * panel - _EDGE) / width
                    _words(figure, right, y / whole, card.note, 6.0, color=_QUIET, va="center", ha="right")
            top = bottom
    if legend:
        _add_legend(figure, legend, scale)
    return figure


def _draw_card(axes: Any, card: Card, labels: Sequence[str], room: float) -> None:
    values = [value for line in card.lines for value in (line.value, line.low, line.high)]
    values += [*(card.band or ()), *([card.expected] if card.expected is not None else [])]
    axis = Axis(values, 0.0, 1.0, 0.06, 0.0 if card.zero else None)
    count = len(card.lines)
    axes.set_xlim(axis.low, axis.high)
    axes.set_ylim(count - 0.5, -0.5)
    if card.band is not None and finite(card.band.low, card.band.high):
        axes.axvspan(card.band.low, card.band.high, color=_BAND, linewidth=0, zorder=0)
        if finite(card.band.mean):
            axes.axvline(card.band.mean, color=_PEOPLE, linewidth=0.7, linestyle=":", zorder=1)
    if card.zero or card.expected is not None:
        axes.axvline(0.0 if card.zero else card.expected, color=_INK, linewidth=0.6, linestyle="--", zorder=1)
    for place, line in enumerate(card.lines):
        _draw_line(axes, line, place)
    _ticks(axes.xaxis, axis.ticks(3))
    axes.set_yticks(range(count), [_fitted(_shown(label), room - 0.07, _NAMES) for label in labels])
    _plain_axes(axes, sides=("bottom",))
    axes.tick_params(axis="y", length=0, labelsize=_NAMES, labelcolor=_INK, pad=3)


def _draw_line(axes: Any, line: Line, place: int) -> None:
    colour = _PEOPLE if line.system is None else _COLOURS[line.system % len(_COLOURS)]
    if finite(line.low, line.high):
        axes.plot([line.low, line.high], [place, place], color=colour, linewidth=1.3, solid_capstyle="round", zorder=2)
    if finite(line.value):
        axes.plot([line.value], [place], **_mark(line.system), zorder=3)
    else:
        _words(axes, 0.5, place, "-", _NAMES, color=_QUIET, transform=axes.get_yaxis_transform(), va="center")


def _mark(system: int | None) -> dict[str, Any]:
    """A system's sign: its colour and its shape; people's, and what is tied, is a ring."""
    look = {"markersize": 4.0, "linestyle": "none", "markeredgewidth": 0.9}
    if system is None:
        return {**look, "marker": "o", "markerfacecolor": "white", "markeredgecolor": _PEOPLE}
    colour, shape = _COLOURS[system % len(_COLOURS)], _SHAPES[system % len(_SHAPES)]
    return {**look, "marker": shape, "markerfacecolor": colour, "markeredgecolor": colour}


def _legend_of_forest(cards: Sequence[Card], apart: Sequence[str] | None) -> list[tuple[Any, str]]:
    if apart is None:
        return [(Patch(color=_BAND), _PEOPLE_FALL)] if any(card.band is not None for card in cards) else []
    found = {line.system for card in cards for line in card.lines}
    closer = sorted(system for system in found if system is not None)
    named = [f"{apart[system]} is closer" for system in closer]
    if len(closer) > _NAMED:
        closer, named = closer[:1], ["a system's colour: it is closer"]
    parts = [(Line2D([], [], **_mark(system)), words) for system, words in zip(closer, named, strict=True)]
    return [*parts, *([(Line2D([], [], **_mark(None)), "neither surely")] if None in found else [])]


def _curves(
    cards: Sequence[Card],
    systems: Sequence[str],
    where: Sequence[float],
    named: bool,
    width: float,
    height: float | None,
) -> PaperFigure:
    """A panel a number: systems in their order, against where human texts fall."""
    cards = [card for card in cards if [line.system for line in card.lines] == list(range(len(systems)))]
    if not cards:
        raise InputError("no number that was chosen is there for all systems, so none has a curve")
    columns = min(len(cards), max(1, round(width / _COLUMN)) * (2 if len(cards) > 3 else 1))
    panel, lines = width / columns, math.ceil(len(cards) / columns)
    tall = _TITLE + _CURVE + _AXIS
    banded = any(card.band is not None for card in cards)
    whole = lines * tall + (_LEGEND if banded else 0) + _EDGE
    figure, scale = _figure(width, height, whole)
    order = sorted(range(len(where)), key=where.__getitem__)
    for place, card in enumerate(cards):
        down, across = divmod(place, columns)
        ends = [value for line in card.lines for value in (line.value, line.low, line.high)] + [*(card.band or ())]
        up = Axis(ends, 0.0, 1.0, 0.08)
        ticks = up.ticks(3)
        room = max(_inches(words, _TICKS) for words in tick_words(ticks)) + 0.12
        bottom = whole - (down + 1) * tall + _AXIS
        box = (across * panel + _EDGE + room, bottom, panel - room - 3 * _EDGE, _CURVE)
        axes = figure.add_axes(_share(box, width, whole))
        x = Axis(where, 0.0, 1.0, 0.5 / (len(where) - 1) if named else 0.05)  # names need room at both ends
        axes.set_xlim(x.low, x.high)
        axes.set_ylim(up.low, up.high)
        if card.band is not None and finite(card.band.low, card.band.high):
            axes.axhspan(card.band.low, card.band.high, color=_BAND, linewidth=0, zorder=0)
            axes.axhline(card.band.mean, color=_PEOPLE, linewidth=0.7, linestyle=":", zorder=1)
        _draw_curve(axes, card, where, order)
        _ticks(axes.yaxis, ticks)
        if named:
            longest = (panel - room) / len(systems) - 0.04
            axes.set_xticks(
                [where[at] for at in order], [_fitted(_shown(systems[at]), longest, _TICKS) for at in order]
            )
        else:
            _ticks(axes.xaxis, x.ticks(4))
        _plain_axes(axes, sides=("bottom", "left"))
        x_title, y_title = across * panel + _EDGE, whole - down * tall - 0.55 * _TITLE
        title = _title(card)  # the whole name, in smaller letters where it is long; bold ones are wider
        size = min(_TITLES, max(4.5, _TITLES * (panel - 2 * _EDGE) / (1.15 * _inches(title, _TITLES) or 1.0)))
        _words(figure, x_title / width, y_title / whole, title, size, weight="bold", va="center")
    if banded:
        _add_legend(figure, [(Patch(color=_BAND), _PEOPLE_FALL)], scale)
    return figure


def _draw_curve(axes: Any, card: Card, where: Sequence[float], order: Sequence[int]) -> None:
    known = [at for at in order if finite(card.lines[at].value)]
    colour = _COLOURS[0]
    axes.plot(
        [where[at] for at in known], [card.lines[at].value for at in known], color=colour, linewidth=1.2, zorder=2
    )
    for at in known:
        line = card.lines[at]
        if finite(line.low, line.high):
            axes.plot([where[at]] * 2, [line.low, line.high], color=colour, linewidth=0.9, zorder=2)
        axes.plot([where[at]], [line.value], **_mark(0), zorder=3)


def _map(shown: TextMap, width: float, height: float | None) -> PaperFigure:
    """Texts of both sides in the plane; what is invented or lost has a ring."""
    entries = len(shown.sides) + len(_told(shown))
    below = _legend_height(entries, width)
    whole = 0.85 * width + below
    figure, scale = _figure(width, height, whole)
    box = (_EDGE, below + _EDGE, width - 2 * _EDGE, whole - below - 2 * _EDGE)
    axes = figure.add_axes(_share(box, width, whole))
    legend: list[tuple[Any, str]] = []
    many = len(shown.x) > 2000  # as vectors they would make a file of megabytes
    for place, name in enumerate(shown.sides):
        own = shown.side == place
        colour = "#9aa3ad" if place == 0 else _COLOURS[(place - 1) % len(_COLOURS)]
        look: dict[str, Any] = {"markersize": 2.2, "linestyle": "none", "marker": "o", "markeredgewidth": 0}
        look |= {"markerfacecolor": colour, "alpha": 0.7}
        axes.plot(shown.x[own], shown.y[own], **look, zorder=1 + place, rasterized=many)
        legend.append((Line2D([], [], **{**look, "markersize": 4}), name))
    for place, (name, told) in enumerate(_told(shown).items()):
        ring: dict[str, Any] = {"markersize": 4.0, "linestyle": "none", "marker": "o", "markerfacecolor": "none"}
        ring |= {"markeredgecolor": (_COLOURS[1], _INK, *_COLOURS[2:])[place % 8], "markeredgewidth": 0.6}
        axes.plot(shown.x[told], shown.y[told], **ring, zorder=9, rasterized=many)
        legend.append((Line2D([], [], **ring), name))
    axes.set_xticks([])
    axes.set_yticks([])
    for side in axes.spines.values():
        side.set_color(_BAND)
    _add_legend(figure, legend, scale)
    return figure


def _told(shown: TextMap) -> dict[str, list[bool]]:
    """Texts that stand on a list of tested ones; facts (repeated, copied) would ring nearly all of some sets."""
    flags = [words.split() for words in shown.colours.get("flag", ())]
    lists = {name: [name in words for words in flags] for name in ("invented", "lost")}
    return {name: told for name, told in lists.items() if any(told)}


def _figure(width: float, height: float | None, natural: float) -> tuple[PaperFigure, float]:
    """An empty figure, and the inches of its height; places are shares of it, so another height stretches all."""
    own = natural if height is None else height
    return PaperFigure(figsize=(width, own), facecolor="white"), own


def _share(box: tuple[float, float, float, float], width: float, height: float) -> tuple[float, float, float, float]:
    left, bottom, wide, tall = box
    return left / width, bottom / height, max(wide, 0.2) / width, max(tall, 0.05) / height


def _add_legend(figure: Figure, parts: Sequence[tuple[Any, str]], height: float) -> None:
    width = float(figure.get_figwidth())
    columns = _legend_columns(len(parts), width)
    made = figure.legend(
        [sign for sign, _ in parts],
        [_fitted(_shown(words), width / columns - 0.35, _NAMES) for _, words in parts],
        loc="lower left",
        bbox_to_anchor=(0.0, 0.01 / height),
        ncols=columns,
        frameon=False,
        fontsize=_NAMES,
        handlelength=1.2,
        handletextpad=0.5,
        columnspacing=1.2,
        borderaxespad=0.2,
    )
    for text in made.get_texts():
        text.set(**_PLAIN)


def _legend_columns(count: int, width: float) -> int:
    """Entries side by side, with room for a few words each."""
    return min(count, max(1, int(width / 1.1)))


def _legend_height(count: int, width: float) -> float:
    return _LEGEND + 0.15 * (math.ceil(count / _legend_columns(count, width)) - 1) if count else 0.0


def _plain_axes(axes: Any, sides: Iterable[str]) -> None:
    for name, spine in axes.spines.items():
        spine.set_visible(name in sides)
        spine.set_linewidth(0.6)
        spine.set_color(_QUIET)
    axes.tick_params(length=2.5, width=0.6, color=_QUIET, labelsize=_TICKS, labelcolor=_QUIET, pad=2)
    axes.minorticks_off()
    for text in (*axes.get_xticklabels(), *axes.get_yticklabels()):
        text.set(**_PLAIN)


def _ticks(axis: Any, ticks: Sequence[float]) -> None:
    axis.set_ticks(list(ticks), tick_words(ticks))


def _words(where: Any, x: float, y: float, words: str, size: float, color: str = _INK, **how: Any) -> None:
    where.text(x, y, words, fontsize=size, color=color, **_PLAIN, **how)


def _title(card: Card) -> str:
    return _shown(card.title) + {"higher": " ↑", "lower": " ↓", None: ""}[card.direction]


def _shown(words: str) -> str:
    """On one line, with escapes for what a page would obey."""
    return visible(words, lines=False)


@lru_cache(maxsize=2000)
def _inches(words: str, size: float) -> float:
    """How wide words are."""
    width, _, _ = text_to_path.get_text_width_height_descent(words, FontProperties(size=size), ismath=False)
    return float(width) / 72


def _fitted(words: str, room: float, size: float) -> str:
    """Words that fit, the end cut where they do not."""
    if _inches(words, size) <= room:
        return words
    while len(words) > 1 and _inches(words + "…", size) > room:
        words = words[:-1]
    return words + "…"
