"""What results of contexts say on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..page.page_parts import NAN, Card, Forest, Line, Page
from .declaration import METRICS

if TYPE_CHECKING:
    from .table import ContextResults


def page_of_contexts(results: ContextResults) -> Page:
    report = results.report()
    declared = METRICS.all()
    used = dict.fromkeys(total.metric for total in results.totals)
    cards = [
        Card(
            total.metric if total.number == "value" else f"{total.metric} {total.number}",
            [Line("candidates", total.mean, *(total.interval or (NAN, NAN)), 0)],
            total.direction,
            expected=total.relabelled,
        )
        for total in results.totals
    ]
    caption = ["dot: mean over contexts; line: its interval, where one was asked for"]
    if any(total.relabelled is not None for total in results.totals):
        caption.append("dashed: mean over relabelled sides, what sides that do not differ would score")
    return Page(
        "Candidates against references, context by context",
        systems=["candidates"],
        subtitle=f"{len(results):,} contexts",
        forests=[Forest("", cards, caption)],
        tables=report.tables,
        notes=report.notes,
        signature=report.signature,
        citations=list(
            dict.fromkeys(declared[name].citation for name in used if name in declared and declared[name].citation)
        ),
    )
