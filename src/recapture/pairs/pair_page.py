"""What results of aligned texts say on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..page.page_parts import Page
from ..page.result_parts import forests_of
from .declaration import METRICS

if TYPE_CHECKING:
    from .table import PairResults


def page_of_pairs(results: PairResults) -> Page:
    report = results.report()
    declared = {
        name: metric for name, metric in METRICS.all().items() if any(name in each for each in results.values())
    }
    meanings = {
        (name, output.name): output.meaning for name, metric in declared.items() for output in metric.outputs_for({})
    }
    return Page(
        "Every text against its own references",
        results.verdict,
        list(results),
        subtitle=results.caption()[0] if results else "",
        forests=forests_of(results, lambda metric, name: meanings.get((metric, name), "")),
        tables=report.tables,
        notes=report.notes,
        signature=report.signature,
        citations=list(dict.fromkeys(metric.citation for metric in declared.values() if metric.citation)),
    )
