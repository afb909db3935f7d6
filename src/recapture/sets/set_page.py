"""What results of sets say on a page."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from ..page.map_data import map_of
from ..page.page_parts import Card, Forest, Page
from ..page.result_parts import forests_of, metric_curves, null_curves, planes_of
from ..report.report import names_of_label
from .declaration import METRICS
from .k_sweep import k_curves

if TYPE_CHECKING:
    from .table import SetResults


def _shown_first(forests: Sequence[Forest], shown: Sequence[str] | None) -> list[Forest]:
    """With the numbers of tables, which the verdict rests on, before all others."""

    def aside(card: Card) -> bool:
        return shown is not None and not set(names_of_label(card.title)) & set(shown)

    return [replace(forest, cards=sorted(forest.cards, key=aside)) for forest in forests]


def page_of_sets(results: SetResults) -> Page:
    report = results.report()
    declared = {
        name: metric for name, metric in METRICS.all().items() if any(name in each for each in results.values())
    }
    meanings = {
        (name, output.name): output.meaning for name, metric in declared.items() for output in metric.outputs_for({})
    }
    aspects: dict[str, dict[str, str]] = {
        name: {output.aspect: output.name for output in reversed(metric.outputs) if output.aspect}
        for name, metric in declared.items()
    }
    shown = map_of(results.samples)
    return Page(
        "How close to people" if len(results) == 1 else "How close to people, system by system",
        results.verdict,
        list(results),
        subtitle=results.caption()[0] if results else "",
        forests=_shown_first(forests_of(results, lambda metric, name: meanings.get((metric, name), "")), results.shown),
        planes=planes_of(results, aspects),
        tables=report.tables,
        map=shown,
        curves=[
            *metric_curves(results, {name: metric.drawn for name, metric in declared.items()}),
            *(k_curves(results) if shown is not None else []),  # both take their time, and are wanted together
            *null_curves(results),
        ],
        notes=report.notes,
        signature=report.signature,
        citations=list(dict.fromkeys(metric.citation for metric in declared.values() if metric.citation)),
    )
