"""Intervals of means over items by the bootstrap: as many items as there are, drawn at random with repeats."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

RESAMPLES = 1000


@dataclass(frozen=True)
class Intervals:
    """What was asked for: the level, and the seed of all draws."""

    level: float
    seed: int = 0

    def of(self, items: Mapping[str, np.ndarray], totals: Mapping[str, float]) -> dict[str, tuple[float, float]]:
        """By output; numbers of the whole corpus that are no means of items have none."""
        bounds = {name: self.of_mean(column) for name, column in items.items() if name not in totals}
        return {name: interval for name, interval in bounds.items() if interval is not None}

    def of_mean(self, scores: np.ndarray) -> tuple[float, float] | None:
        """Percentiles of the means of resamples; None for fewer than two scores, or infinite ones."""
        known = np.sort(scores[~np.isnan(scores)])  # sorted: the order of items must not matter
        if len(known) < 2 or not np.isfinite(known).all():
            return None
        random = np.random.default_rng(self.seed)
        means = [known[random.integers(len(known), size=len(known))].mean() for _ in range(RESAMPLES)]
        tail = (1 - self.level) / 2
        low, high = np.quantile(means, [tail, 1 - tail]).tolist()
        return low, high

    def record(self, bounds: Mapping[str, Any], totals: Mapping[str, float]) -> dict[str, Any]:
        """How they were made, and which numbers have none because they are no means."""
        record: dict[str, Any] = {"corpus_numbers": sorted(totals)} if totals else {}
        if bounds:
            record |= {"level": self.level, "method": "bootstrap over items", "resamples": RESAMPLES, "seed": self.seed}
        return record
