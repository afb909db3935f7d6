"""What agreement with people says on a page: a card for each criterion, level and coefficient."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..page.page_parts import NAN, Card, Forest, Line, Page

if TYPE_CHECKING:
    from .with_people import Correlations


def page_of_agreement(result: Correlations) -> Page:
    report = result.report()
    metrics = list(dict.fromkeys(row.metric for row in result.rows))
    columns = dict.fromkeys((row.criterion, row.level, row.coefficient) for row in result.rows)
    cards = [
        Card(
            f"{criterion}, {level} level, {coefficient}",
            [
                Line(row.metric, row.value, *(row.interval or (NAN, NAN)), metrics.index(row.metric))
                for row in sorted(result.rows, key=lambda each: -each.value)
                if (row.criterion, row.level, row.coefficient) == (criterion, level, coefficient)
            ],
            "higher",
        )
        for criterion, level, coefficient in columns
    ]
    return Page(
        "How far metrics agree with people",
        systems=metrics,
        forests=[Forest("", cards, ["1: the metric orders as people do; the best stand first; line: interval"])],
        tables=report.tables,
        notes=report.notes,
        signature=report.signature,
    )
