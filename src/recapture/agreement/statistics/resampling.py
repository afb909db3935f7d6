"""Correlations with inputs drawn anew, with repeats, the same for all metrics.

A resample is a count for every input. Which inputs count at the system level is decided once, on the data as they are;
a resample weighs those. Resamples without any correlation are NaN. Systems are not drawn here: few systems drawn with
repeats say too little, so that intervals over systems leave one out at a time (`over_systems`).

No resample is looked at alone where it can be avoided: means over inputs are one matrix product.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...checks import check_seed
from ...errors import InputError
from ...progress import Progress
from .argument_checks import check_resamples
from .coefficients import row_correlations
from .levels import FEWEST, shared_inputs
from .resampled_coefficients import bilinear_correlations, weighted_rank_correlations
from .system_means import centred_scores, settled

_CELLS = 1 << 22
"""Of the largest array that a block of resamples needs."""
_TILE = 1 << 18
"""Cells that are sorted together."""


@dataclass(frozen=True)
class BootstrapCase:
    """One metric and one criterion, oriented."""

    metric: np.ndarray
    human: np.ndarray
    level: str
    coefficient: str


def input_draws(inputs: int, resamples: int, seed: int, cells: int = _CELLS) -> Iterator[np.ndarray]:
    """(resamples, inputs): which input stands in each place, in blocks whose size does not change the draws."""
    resamples, seed = check_resamples(resamples), check_seed(seed)
    if not inputs:
        raise InputError("scores of whole systems have no inputs to draw: the interval can be over systems alone")
    stream = np.random.default_rng([seed, 1])
    step = max(1, cells // inputs)
    for start in range(0, resamples, step):
        yield stream.integers(inputs, size=(min(step, resamples - start), inputs))


def bootstrap(
    cases: Sequence[BootstrapCase], inputs: int, resamples: int, seed: int, cells: int = _CELLS
) -> np.ndarray:
    """(cases, resamples): the correlation of every case in every resample; NaN where a side does not vary."""
    parts = []
    with Progress("resamples", resamples * len(cases), "resample") as progress:
        for drawn in input_draws(inputs, resamples, seed, cells):
            values = []
            for case in cases:
                values.append(resampled(case, drawn))
                progress.advance(len(drawn))
            parts.append(np.stack(values))
    return np.concatenate(parts, axis=1)


def resampled(case: BootstrapCase, drawn: np.ndarray) -> np.ndarray:
    """One correlation per resample."""
    if case.level == "system":
        rows = resampled_means(case, drawn)
        if rows is None:  # numbers of whole systems, and nothing drawn that could move them
            return np.full(len(drawn), np.nan)
        return row_correlations(rows[0], rows[1], case.coefficient)
    return _of_texts(case, drawn) if case.level == "text" else _of_cells(case, drawn)


def resampled_means(case: BootstrapCase, drawn: np.ndarray) -> tuple[np.ndarray, np.ndarray] | None:
    """(resamples, systems): the systems' means by people and by the metric; None where neither is of single inputs."""
    sides = [case.human, case.metric]
    shared = [side for side in sides if side.ndim == 2]
    if not shared:
        return None
    kept = shared_inputs(shared, np.zeros(0))
    weights = counts(drawn, len(kept))[:, kept]
    total = weights.sum(axis=1, keepdims=True)
    weights = np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0)
    human, metric = (
        np.broadcast_to(side, (len(drawn), len(side))) if side.ndim == 1 else _means(side[:, kept], weights)
        for side in sides
    )
    return human, metric


def percentiles(values: np.ndarray, level: float) -> tuple[float, float] | None:
    """The interval; None where fewer than half of the resamples have a correlation."""
    known = values[~np.isnan(values)]
    if len(known) * 2 < len(values) or not len(known):
        return None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def too_few(drawn: np.ndarray) -> np.ndarray:
    """Which resamples of systems (resamples, places) have fewer than three different ones."""
    ordered = np.sort(drawn, axis=1)
    return np.asarray((np.diff(ordered, axis=1) != 0).sum(axis=1) + 1 < FEWEST)


def counts(drawn: np.ndarray, count: int) -> np.ndarray:
    """How often each was drawn, by resample."""
    rows = np.arange(len(drawn))[:, None] * count
    return np.bincount((drawn + rows).ravel(), minlength=len(drawn) * count).reshape(len(drawn), count).astype(float)


def _means(side: np.ndarray, weights: np.ndarray) -> np.ndarray:
    centred, slack = centred_scores(side)
    return settled(weights @ centred.T, slack)


def _of_texts(case: BootstrapCase, drawn: np.ndarray) -> np.ndarray:
    by_input = row_correlations(case.human.T, case.metric.T, case.coefficient)[None]
    known = ~np.isnan(by_input)
    weights = counts(drawn, case.human.shape[1])
    total = (known * weights).sum(axis=1)
    summed = (np.where(known, by_input, 0.0) * weights).sum(axis=1)
    return np.asarray(np.divide(summed, total, out=np.full(len(drawn), np.nan), where=total > 0))


def _of_cells(case: BootstrapCase, drawn: np.ndarray) -> np.ndarray:
    if case.coefficient == "pearson":
        return bilinear_correlations(case.human, case.metric, counts(drawn, case.human.shape[1]))
    if case.coefficient == "spearman":
        return weighted_rank_correlations(case.human, case.metric, counts(drawn, case.human.shape[1]))
    step = max(1, _TILE // max(1, case.human.size))
    parts = []
    for start in range(0, len(drawn), step):
        some = drawn[start : start + step]
        sides = [side[:, some].transpose(1, 0, 2).reshape(len(some), -1) for side in (case.human, case.metric)]
        parts.append(row_correlations(sides[0], sides[1], case.coefficient))
    return np.concatenate(parts)
