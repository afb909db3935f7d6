"""What results of sets say on a page."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..page.map_data import map_of
from ..page.page_parts import Page
from ..page.result_parts import forests_of, metric_curves, null_curves, planes_of
from .declaration import METRICS
from .k_sweep import k_curves

if TYPE_CHECKING:
    from .table import SetResults


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
        forests=forests_of(results, lambda metric, name: meanings.get((metric, name), "")),
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
