"""Correlations over all cells in many resamples at once: a resample is a weight (a count) for every input."""

from __future__ import annotations

import numpy as np

from .coefficients import CONSTANT
from .system_means import unit_scale


def bilinear_correlations(human: np.ndarray, metric: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Pearson's r over all cells: a cell weighs what its input weighs."""
    systems = np.ones((len(inputs), len(human)))
    known = np.isfinite(human) & np.isfinite(metric)
    sides = [_standard(side, known) for side in (human, metric)]
    total, *means = (((systems @ term) * inputs).sum(axis=1) for term in (known.astype(float), *sides))
    total = np.where(total > 0, total, np.nan)
    means = [mean / total for mean in means]
    moments = []
    for (a, b), (c, d) in zip(_products(sides), _products(means), strict=True):
        moments.append(((systems @ (a * b)) * inputs).sum(axis=1) / total - c * d)
    spread = [np.where(moment > CONSTANT, moment, 0.0) for moment in moments[1:]]
    return _ratio(moments[0], spread[0], spread[1])


def weighted_rank_correlations(human: np.ndarray, metric: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Spearman's rho over all cells: sorted once, ranked in every resample by sums of weights."""
    known = np.isfinite(human) & np.isfinite(metric)
    columns = np.nonzero(known)[1]
    places = [np.unique(side[known], return_inverse=True)[1].ravel() for side in (human, metric)]
    values = np.full(len(inputs), np.nan)
    for at in range(len(inputs)):
        drawn = inputs[at, columns]
        middle = drawn.sum() / 2
        ranks = []
        for place in places:
            weights = np.bincount(place, drawn)
            ranks.append((np.cumsum(weights) - weights / 2 - middle)[place])
        values[at] = _ratio(*(np.array([(drawn * a * b).sum()]) for a, b in _products(ranks)))[0]
    return values


def _products(sides: list[np.ndarray]) -> list[tuple[np.ndarray, np.ndarray]]:
    first, second = sides
    return [(first, second), (first, first), (second, second)]


def _standard(side: np.ndarray, known: np.ndarray) -> np.ndarray:
    """Centred and scaled, 0 where there is no score: moments lose little to rounding then."""
    side = unit_scale(np.where(known, side, 0.0))
    values = side[known]
    centre, spread = (values.mean(), values.std()) if len(values) else (0.0, 0.0)
    return np.where(known, (side - centre) / (spread if spread > 0 else 1.0), 0.0)


def _ratio(product: np.ndarray, first: np.ndarray, second: np.ndarray) -> np.ndarray:
    usable = (first > 0) & (second > 0)
    below = np.sqrt(np.where(usable, first, 1.0)) * np.sqrt(np.where(usable, second, 1.0))
    usable &= np.isfinite(product) & np.isfinite(below)
    return np.where(usable, np.clip(np.where(usable, product, 0.0) / below, -1.0, 1.0), np.nan)
