"""Systems with an order (checkpoints, temperatures): every number as a curve, against where human texts fall."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace

from ..errors import InputError
from ..report.report import Reported
from .page_parts import Card, Curve, Page, Point, Series, Stroke


def with_series(page: Page, series: Series) -> Page:
    """The page with a curve for every number that all systems have: on equal terms with people where such are."""
    if series is False:
        return page
    count = len(page.systems)
    where, named = order_of(page.systems, series)
    cards = [
        card
        for forest in page.forests
        for card in forest.cards
        if not card.zero and [each.system for each in card.lines] == list(range(count))
    ]
    return replace(page, ordered=[_curve(card, where, page, named) for card in cards])


def in_order(result: Reported, series: Series) -> Reported:
    """The same result, with words that go along the order where it has such."""
    ordered = getattr(result, "in_order", None)
    return result if series is False or ordered is None else ordered(series)


def order_of(systems: Sequence[str], series: Series) -> tuple[list[float], bool]:
    """Where each system stands, and whether the places go by the systems' names."""
    count = len(systems)
    if count < 2:
        raise InputError("a series is of two systems or more, which stand in their order")
    where = [float(place) for place in range(count)] if series is True else [float(each) for each in series or ()]
    if len(where) != count or not all(map(math.isfinite, where)):
        raise InputError(f"a series of {count} systems takes {count} numbers, one a system", options=["series"])
    return where, series is True


def _curve(card: Card, where: list[float], page: Page, named: bool) -> Curve:
    order = sorted(range(len(where)), key=where.__getitem__)
    values = [card.lines[place].value for place in order]
    places = [where[place] for place in order]
    return Curve(
        f"{card.title}, in order",
        "systems in their order" if named else "series",
        card.title,
        [Stroke(card.title, places, values)],
        points=[Point(page.systems[place], where[place], card.lines[place].value, place) for place in order],
        band=card.band,
        places=[(where[place], page.systems[place]) for place in order] if named else [],
        note={"higher": "↑ higher is better", "lower": "↓ lower is better", None: ""}[card.direction],
    )
