"""What metrics over clusters share."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping
from dataclasses import replace
from typing import Any
from weakref import WeakKeyDictionary

import numpy as np

from ..geometry.histograms import Clusterings
from ..geometry.points import PointSet
from .pair import Pair

_kept: WeakKeyDictionary[Pair, dict[Hashable, Clusterings]] = WeakKeyDictionary()


def kept_clusterings(pair: Pair, key: Hashable, make: Callable[[], Clusterings]) -> Clusterings:
    """Clusterings of a pair, made once: its score and its relabelled scores use the same ones."""
    kept, given, ordered = _kept.setdefault(pair, {}), pair.given, pair.already_ordered
    if key not in kept:
        of_given, of_ordered = ({} if other is None else _kept.get(other, {}) for other in (given, ordered))
        # The same samples in another order, which changes no cluster.
        if given is not None and key in of_given:
            kept[key] = replace(of_given[key], label=of_given[key].label[:, given.order])
        elif key in of_ordered:
            label = np.empty_like(of_ordered[key].label)
            label[:, pair.order] = of_ordered[key].label
            kept[key] = replace(of_ordered[key], label=label)
        else:
            kept[key] = make()
    return kept[key]


def few_different(different: int, clusters: int) -> list[str]:
    few = f"only {different} different samples for {clusters} clusters: one cluster each"
    return [few] if different < clusters else []


def spread_over_clusterings(scores: Mapping[str, np.ndarray]) -> dict[str, float]:
    """Standard deviations."""
    return {name: float(np.std(each, ddof=min(1, each.size - 1))) for name, each in scores.items()}


def one_clustering(reference: PointSet, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """Parts of sets are clustered once each: there are many of them, which average over clusterings already."""
    return {"clusterings": 1}
