"""Numbers of a whole corpus from counts summed over items, for many corpora at once: one row of counts each.

sacrebleu has the same formulas for one corpus at a time. Resampled or relabelled corpora are sums of the same items'
counts with other weights, so a thousand of them are one matrix product and one call of these. Numbers are 0 to 1 where
sacrebleu says 0 to 100.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np

_NEVER = -9_999_999_999.0
"""sacrebleu's logarithm of 0."""

Formula = Callable[[np.ndarray], np.ndarray]
"""(corpora, columns) sums of items' counts -> (corpora,) numbers."""


def bleu_of_counts(sums: np.ndarray) -> np.ndarray:
    """Columns: length of candidates, closest lengths of references, n-grams of each order found, and there."""
    length, wanted = np.floor(sums[:, 0]), np.floor(sums[:, 1])
    found, there = np.split(sums[:, 2:], 2, axis=1)
    with np.errstate(divide="ignore", invalid="ignore"):
        short = np.where(length > 0, np.exp(1 - wanted / length), 0.0)
        # Each order without a match is smoothed by half as much as the one before it.
        smoothed = 1 / (2.0 ** np.cumsum(found == 0, axis=1) * there)
        precision = np.where(found > 0, found / there, smoothed)
        logs = np.log(100 * precision)
    # An order without n-grams ends the list: it and all after it have precision 0.
    ended = np.logical_or.accumulate(there == 0, axis=1)
    mean = np.where(ended, _NEVER, logs).mean(axis=1)
    score = np.where(length < wanted, short, 1.0) * np.exp(mean) / 100
    return np.where(found.any(axis=1), np.minimum(1.0, score), 0.0)


def chrf_of_counts(sums: np.ndarray, beta: int) -> np.ndarray:
    """Columns, for each order: n-grams of the candidates, of the references, and of both."""
    ours, theirs, both = sums[:, 0::3], sums[:, 1::3], sums[:, 2::3]
    known = (ours > 0) & (theirs > 0)
    orders = np.maximum(1, known.sum(axis=1))
    with np.errstate(divide="ignore", invalid="ignore"):
        precision = np.where(known, both / ours, 0.0).sum(axis=1) / orders
        recall = np.where(known, both / theirs, 0.0).sum(axis=1) / orders
        score = (1 + beta**2) * precision * recall / (beta**2 * precision + recall)
    return np.where(precision + recall > 0, np.minimum(1.0, score), 0.0)


def ter_of_counts(sums: np.ndarray) -> np.ndarray:
    """Columns: edits, and words of the references."""
    edits, words = sums[:, 0], sums[:, 1]
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(words > 0, edits / words, (edits > 0).astype(float))


def share_of_counts(sums: np.ndarray) -> np.ndarray:
    """Columns: what is added up, and for how many; NaN where there are none."""
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])


def chrf_formula(beta: Any) -> Formula:
    return partial(chrf_of_counts, beta=int(beta))
