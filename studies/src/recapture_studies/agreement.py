"""Agreement of scores with people, as the studies count it."""

from __future__ import annotations

from typing import Any, Literal, NamedTuple

import numpy as np

import recapture as rc

Coefficient = Literal["pearson", "spearman", "kendall"]
COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "spearman", "kendall")
"""Those that papers report."""


def oriented(scores: Any, direction: str) -> np.ndarray:
    """Scores for which higher is better."""
    values = np.asarray(scores, np.float64)
    return -values if direction == "lower" else values


class TextLevel(NamedTuple):
    value: float
    """Mean over items of the correlation across systems; NaN where no item is left."""
    dropped: int
    """Items on which people or the metric do not tell the systems apart."""


def text_level(scores: np.ndarray, human: np.ndarray, coefficient: Coefficient = "pearson") -> TextLevel:
    """Both (systems, items), higher is better on both sides."""
    by_item = rc.correlation(human.T, scores.T, coefficient)
    kept = by_item[~np.isnan(by_item)]
    return TextLevel(float(kept.mean()) if len(kept) else float("nan"), len(by_item) - len(kept))


def system_level(scores: np.ndarray, human: np.ndarray, coefficient: Coefficient = "pearson") -> float:
    """Correlation of systems' means; both (systems, items)."""
    found = rc.correlate(scores, human, "system", coefficient, directions="higher")
    return float(next(iter(found)).value)
