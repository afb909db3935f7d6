"""What agreement with people says on a page: a card for each criterion, level and coefficient."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..page.page_parts import NAN, Card, Forest, Line, Page

if TYPE_CHECKING:
    from .with_people import Correlations

_MOST = 4
"""Columns that sentences are about."""
_LEVEL = 0.05


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
        _verdict(result, list(columns)),
        systems=metrics,
        forests=[Forest("", cards, ["1: the metric orders as people do; the best stand first; line: interval"])],
        tables=report.tables,
        notes=report.notes,
        signature=report.signature,
    )


def _verdict(result: Correlations, columns: Sequence[tuple[str, str, str]]) -> list[str]:
    """Which metric has the highest number in each column, and whether it was told from the others."""
    said = [sentence for column in columns[:_MOST] for sentence in _on_column(result, column)]
    if said and not result.comparisons:
        said.append("Whether any metric agrees better than another was not tested.")
    elif len(columns) > _MOST:
        said.append(f"The tables have {len(columns) - _MOST} more columns.")
    return said


def _on_column(result: Correlations, column: tuple[str, str, str]) -> list[str]:
    criterion, level, coefficient = column
    rows = [row for row in result.rows if (row.criterion, row.level, row.coefficient) == column]
    known = sorted((row for row in rows if row.value == row.value), key=lambda row: -row.value)
    if len(known) < 2:
        return []
    first = known[0].metric
    between = "" if known[0].interval is None else ", {:.3f} to {:.3f}".format(*known[0].interval)
    tied = [row.metric for row in known if row.value >= known[0].value - 1e-12]
    what = f"{'has' if len(tied) == 1 else 'have'} the highest {coefficient} with {criterion} ({level} level)"
    head = f"{_joined(tied)} {what}: {known[0].value:.3f}{between}"
    for tested in result.comparisons:
        if (tested.criterion, tested.level, tested.coefficient) == column and first in tested.agreements:
            beaten = [pair.second for pair in tested.pairs if pair.first == first and pair.adjusted < _LEVEL]
            level_name = f"adjusted p below {_LEVEL:g}, {tested.test} test"
            if beaten:
                return [f"{head}; that is more than {_joined(beaten)} ({level_name})."]
            return [f"{head}; no other metric is told from it ({level_name})."]
    return [f"{head}."]


def _joined(names: Sequence[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"
