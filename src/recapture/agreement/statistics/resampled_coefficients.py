"""Correlations in many resamples at once: a resample is a weight (a count) for every system and for every input."""

from __future__ import annotations

import numpy as np

from .coefficients import CONSTANT
from .system_means import unit_scale

_CELLS = 1 << 22


def pair_products(human: np.ndarray, metric: np.ndarray, weights: np.ndarray, *, signs: bool) -> np.ndarray:
    """(resamples, inputs): Pearson's r, or with signs Kendall's tau-b, across resampled systems.

    Both are sums over pairs of systems: of products of differences, or of their signs. A pair counts as often as both
    systems were drawn together; pairs of a system with itself add nothing. Sums of squares of nothing are exactly 0.
    """
    first, second = np.triu_indices(len(human), 1)
    drawn = weights[:, first] * weights[:, second]
    known = np.isfinite(human) & np.isfinite(metric)
    values = np.full((len(weights), human.shape[1]), np.nan)
    step = max(1, _CELLS // max(1, len(first)))
    for start in range(0, human.shape[1], step):
        part = slice(start, start + step)
        some = known[:, part]
        both = some[first] & some[second]
        sides = [_differences(side[:, part], some, first, second, both, signs) for side in (human, metric)]
        products = [drawn @ term for term in (sides[0] * sides[1], sides[0] ** 2, sides[1] ** 2)]
        values[:, part] = _ratio(*products)
    return values


def rank_correlations(human: np.ndarray, metric: np.ndarray, weights: np.ndarray) -> np.ndarray:
    """(resamples, inputs): Spearman's rho across resampled systems. A rank is a weighted count of those below."""
    values = np.full((len(weights), human.shape[1]), np.nan)
    known = np.isfinite(human) & np.isfinite(metric)
    for at in range(human.shape[1]):
        some = known[:, at]
        drawn = weights[:, some]
        middle = drawn.sum(axis=1, keepdims=True) / 2
        ranks = [drawn @ _below(side[some, at]) - middle for side in (human, metric)]
        values[:, at] = _ratio(*((drawn * a * b).sum(axis=1) for a, b in _products(ranks)))
    return values


def bilinear_correlations(human: np.ndarray, metric: np.ndarray, systems: np.ndarray, inputs: np.ndarray) -> np.ndarray:
    """Pearson's r over all cells: a cell weighs what its system and its input weigh together."""
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


def weighted_rank_correlations(
    human: np.ndarray, metric: np.ndarray, systems: np.ndarray, inputs: np.ndarray
) -> np.ndarray:
    """Spearman's rho over all cells: sorted once, ranked in every resample by sums of weights."""
    known = np.isfinite(human) & np.isfinite(metric)
    rows, columns = np.nonzero(known)
    places = [np.unique(side[known], return_inverse=True)[1].ravel() for side in (human, metric)]
    values = np.full(len(systems), np.nan)
    for at in range(len(systems)):
        drawn = systems[at, rows] * inputs[at, columns]
        middle = drawn.sum() / 2
        ranks = []
        for place in places:
            weights = np.bincount(place, drawn)
            ranks.append((np.cumsum(weights) - weights / 2 - middle)[place])
        values[at] = _ratio(*(np.array([(drawn * a * b).sum()]) for a, b in _products(ranks)))[0]
    return values


def _differences(
    side: np.ndarray, known: np.ndarray, first: np.ndarray, second: np.ndarray, both: np.ndarray, signs: bool
) -> np.ndarray:
    """(pairs, inputs); 0 where a system of the pair has no score."""
    values = unit_scale(np.where(known, side, 0.0), axis=0)
    scale = np.abs(values).max(axis=0, initial=0.0)
    apart = np.where(both, values[first] - values[second], 0.0)
    if signs:
        return np.sign(apart)
    # Differences of inputs are scaled, so that no square is too small or too large for a float.
    largest = np.abs(apart).max(axis=0, initial=0.0)
    usable = largest > CONSTANT * scale
    return np.where(np.abs(apart) > CONSTANT * scale, apart, 0.0) / np.where(usable, largest, 1.0)


def _below(side: np.ndarray) -> np.ndarray:
    """[t, s]: 1 where t is below s, 1/2 where they are equal."""
    return np.asarray((side[:, None] < side[None, :]) + 0.5 * (side[:, None] == side[None, :]))


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
