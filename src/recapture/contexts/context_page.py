"""What results of contexts say on a page: of one system or of several."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

from ..page.page_parts import NAN, Card, Forest, Line, Page
from ..report.report import Report
from .declaration import METRICS

if TYPE_CHECKING:
    from .table import ContextResults, Total


def page_of_contexts(systems: Mapping[str, ContextResults], report: Report) -> Page:
    """systems: results by what candidates are called."""
    declared = METRICS.all()
    totals: dict[tuple[str, str], dict[str, Total]] = {}
    for name, results in systems.items():
        for total in results.totals:
            totals.setdefault((total.metric, total.number), {})[name] = total
    caption = ["dot: mean over contexts; line: its interval, where one was asked for"]
    if any(total.relabelled is not None for own in totals.values() for total in own.values()):
        caption.append("dashed: mean over relabelled sides, what sides that do not differ would score")
    cited = (declared[metric].citation for metric, _ in totals if metric in declared)
    return Page(
        "Candidates against references, context by context",
        report.verdict,
        systems=list(systems),
        subtitle=f"{max(map(len, systems.values()), default=0):,} contexts",
        forests=[Forest("", [_card(*key, own, list(systems)) for key, own in totals.items()], caption)],
        tables=report.tables,
        notes=report.notes,
        signature=report.signature,
        citations=[each for each in dict.fromkeys(cited) if each],
    )


def _card(metric: str, number: str, totals: Mapping[str, Total], systems: list[str]) -> Card:
    first = next(iter(totals.values()))
    lines = [
        Line(name, total.mean, *(total.interval or (NAN, NAN)), systems.index(name)) for name, total in totals.items()
    ]
    title = metric if number == "value" else f"{metric} {number}"
    return Card(title, lines, first.direction, expected=first.relabelled if len(totals) == 1 else None)
