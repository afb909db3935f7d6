"""What scoring aligned texts takes, before it is done: from the same call on a few items."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from tempfile import TemporaryDirectory
from typing import Any

from ..representations.vector_cache import VectorCache
from ..sets.work_ahead import CACHE_ROW, Clock, Growth, WorkAhead, device_said, resident
from ..texts.sampling import sample_places
from .declaration import METRICS
from .evaluate import evaluate_pairs

_FIRST = 4
_KEPT = 16
"""Items whose place in the cache is measured."""
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
            stages[metric] = _seconds(references, systems, arguments, metric, clock)
    different = {text for listed in systems.values() for text in listed}
    different |= {text for group in references for text in ([group] if isinstance(group, str) else group)}
    facts = {
        "items": f"{items:,}",
        "systems": f"{len(systems):,}",
        "different texts": f"{len(different):,}",
        "device": device_said(arguments.get("device"), 1),
    }
    disk = _kept(references, systems, arguments, len(different))
    return WorkAhead(stages, facts, resident(), disk, clock() - begun, "in the cache")


def _kept(
    references: Sequence[Any], systems: Mapping[str, Sequence[str]], arguments: Mapping[str, Any], texts: int
) -> int:
    """Bytes that masked language models leave in the cache for so many texts, from a cache of a few that is removed."""
    masking = [metric for metric in arguments["metrics"] if "model" in METRICS.find(metric).defaults]
    if not masking or arguments.get("cache") is False:
        return 0
    with TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        _score(references, systems, arguments, masking, min(_KEPT, len(references)), cache=folder)
        kept = VectorCache(folder).summary()
    return round(texts * (kept.bytes / max(1, kept.entries) + CACHE_ROW))


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
        begun = clock()
        _score(references, systems, arguments, [metric], size, cache=False)
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


def _score(
    references: Sequence[Any],
    systems: Mapping[str, Sequence[str]],
    arguments: Mapping[str, Any],
    metrics: list[str],
    size: int,
    cache: bool | str,
) -> None:
    """The same call for some metrics and a few items."""
    places = sample_places(len(references), size, 0).tolist()
    cut = {name: [listed[at] for at in places] for name, listed in systems.items()}
    own = {name: value for name, value in arguments["options"].items() if name in metrics}
    changed = {"metrics": metrics, "options": own, "cache": cache}
    evaluate_pairs([references[at] for at in places], cut, **{**arguments, **changed})
