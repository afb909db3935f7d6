"""From items to the answer: what pairs, contexts and saved results of either have in common once all is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..contexts.table import ContextSystems
from ..report.result import Results
from .comparison import Comparison
from .evidence import PairOfSystems, differences, losses
from .item_sentences import sentences_on_items
from .of_items import ItemSystems
from .smallest_difference import smallest_shifts


def compared_items(
    kind: str,
    results: Results | ContextSystems,
    against: ItemSystems,
    same: Mapping[PairOfSystems, int],
    level: float,
    interval: float,
    notes: Sequence[str],
    left_out: Mapping[str, str] | None = None,
) -> Comparison:
    """same: at how many items two systems have written the same; notes: what there is to say beside the results';
    left_out: numbers that could not be compared, and why.
    """
    names = [number.name for number in against.numbers]
    directions = {number.name: number.direction for number in against.numbers}
    shown = [number.name for number in against.numbers if number.main]
    evidence = against.evidence(level)
    found = differences(evidence, names, interval, against.seed)
    settings = against.settings(level, interval)
    signs = against.signs(against.plan(level))
    settings["smallest_found"] = smallest_shifts(evidence, names, signs, level, interval, against.seed)
    return Comparison(
        kind,
        results,
        directions,
        {system: dict(zip(names, each.tolist(), strict=True)) for system, each in against.values().items()},
        found,
        level,
        settings,
        sentences_on_items(found, directions, shown, same, level, settings),
        shown=shown,
        notes=notes,
        losses=losses(evidence, list(directions.values())),
        left_out=left_out,
    )
