"""What scoring aligned texts takes, before it is done: from the same call on a few items."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from typing import Any

from ..sets.work_ahead import Clock, Growth, WorkAhead, device_said, resident
from ..texts.sampling import sample_places
from .evaluate import evaluate_pairs

_FIRST = 4
_LEAST, _SHARE, _MOST = 3.0, 0.05, 15.0
"""Seconds of measuring a metric: at least the first, of long work that share, never more than the last."""


def pairs_ahead(
    references: Sequence[Any],
    systems: Mapping[str, Sequence[str]],
    arguments: Mapping[str, Any],
    clock: Clock = time.perf_counter,
) -> WorkAhead:
    """Metric by metric, as if no vectors were kept from before. arguments: of `evaluate_pairs`."""
    begun = clock()
    items = len(references)
    stages = {}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for metric in arguments["metrics"]:
            own = {name: value for name, value in arguments["options"].items() if name == metric}
            stages[metric] = _seconds(references, systems, {**arguments, "options": own}, metric, clock)
    different = {text for listed in systems.values() for text in listed}
    different |= {text for group in references for text in ([group] if isinstance(group, str) else group)}
    facts = {
        "items": f"{items:,}",
        "systems": f"{len(systems):,}",
        "different texts": f"{len(different):,}",
        "device": device_said(arguments.get("device"), 1),
    }
    return WorkAhead(stages, facts, resident(), 0, clock() - begun, "in the cache")


def _seconds(
    references: Sequence[Any],
    systems: Mapping[str, Sequence[str]],
    arguments: Mapping[str, Any],
    metric: str,
    clock: Clock,
) -> float:
    growth = Growth()
    items = len(references)
    size, spent = min(_FIRST, items), 0.0
    while True:
        places = sample_places(items, size, 0).tolist()
        cut = {name: [listed[at] for at in places] for name, listed in systems.items()}
        begun = clock()
        evaluate_pairs([references[at] for at in places], cut, **{**arguments, "metrics": [metric], "cache": False})
        took = clock() - begun
        if spent or size == items:  # libraries load at the first call
            growth.add(size, took)
        spent += took
        if size == items and growth.sizes:
            return growth.at(items)
        following = min(2 * size, items) if growth.sizes or size == items else size
        whole = growth.at(items) if growth.sizes else 0.0
        allowed = min(_MOST, max(_LEAST, _SHARE * whole))
        if len(growth.sizes) > 1 and spent + 2 * took > allowed:
            return whole
        size = following
