"""From items to the answer: what pairs, contexts and saved results of either have in common once all is measured."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..contexts.table import ContextSystems
from ..report.result import Results
from .comparison import Comparison
from .evidence import Judged, Losses, PairOfSystems, held_together, judged, losses, pairs_of
from .item_sentences import sentences_on_items
from .of_items import ItemSystems
from .smallest_difference import largest_of, smallest_shifts


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
    settings = against.settings(level, interval)
    signs = against.signs(against.plan(level))
    widest = {number.name: number.widest for number in against.numbers}
    pairs: dict[PairOfSystems, Judged] = {}
    lost: dict[PairOfSystems, Losses] = {}
    shifts: dict[str, list[float]] = {name: [] for name in names}
    for evidence in against.evidence_by_parts(level):
        pairs |= {pair: judged(each, against.seed) for pair, each in evidence.items()}
        lost |= losses(evidence, list(directions.values()))
        count = len(pairs_of(against.systems))
        for name, size in smallest_shifts(evidence, names, signs, level, interval, against.seed, widest, count).items():
            shifts[name].append(size)
        del evidence  # before the next part is made
    found = held_together(pairs, names, interval)
    settings["smallest_found"] = {name: largest_of(own) for name, own in shifts.items()}
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
        losses=lost,
        left_out=left_out,
    )
