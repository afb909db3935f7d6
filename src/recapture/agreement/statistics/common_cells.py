"""What the tests that resample scores have in common: the cells that count, on one scale, and agreement in batches."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from ...errors import InputError
from ..data.directions import as_floats
from .coefficients import check_coefficient, row_correlations
from .levels import check_level_name, shared_inputs
from .system_means import unit_scale

_TILE = 1 << 20
"""Cells that are looked at together: what bounds memory."""


@dataclass(frozen=True, eq=False)
class CommonCells:
    """The cells that all metrics and people have, the others NaN; scores on the standard scale."""

    metrics: tuple[np.ndarray, ...]
    """(systems, inputs) each, mean 0 and spread 1 over all cells."""
    human: np.ndarray
    """(systems, inputs), or (systems,)."""
    known: np.ndarray
    """(systems, inputs): which cells count."""
    dropped: int
    """Inputs left out: at the system level for any missing score, at others where no cell is left."""
    dropped_cells: int
    """Cells left out because a score is missing, those of inputs left out for it among them."""
    unvaried: int = 0
    """Inputs left out at the text level, on which people or some metric do not tell the systems apart."""

    @property
    def shape(self) -> tuple[int, int]:
        return len(self.known), self.known.shape[1]

    def tiles(self, rows: int) -> Iterator[int]:
        """How many of `rows` versions of the scores to look at together, until all have been."""
        step = max(1, _TILE // max(1, self.known.size))
        for start in range(0, rows, step):
            yield min(step, rows - start)


def common_cells(metrics: Sequence[ArrayLike], human: ArrayLike, level: str, coefficient: str) -> CommonCells:
    """Checked, and without what some metric, or people, lack."""
    check_level_name(level)
    check_coefficient(coefficient)
    scores, ratings = [as_floats(metric) for metric in metrics], as_floats(human, "ratings")
    shape = scores[0].shape
    for metric in scores:
        if metric.ndim != 2 or metric.shape != shape:
            raise InputError(f"one metric has the shape {shape}, another {metric.shape}: systems x inputs each")
    if ratings.shape != shape and not (level == "system" and ratings.shape == shape[:1]):
        raise InputError(f"ratings have the shape {ratings.shape}, but scores {shape}")
    known = np.logical_and.reduce([np.isfinite(metric) for metric in scores])
    if ratings.ndim == 2:
        known &= np.isfinite(ratings)
    if level == "system":
        rated = np.isfinite(ratings) if ratings.ndim == 1 else np.ones(len(ratings), bool)
        shared = shared_inputs([metric[rated] for metric in scores], ratings)
    else:
        shared, rated = known.any(axis=0), np.ones(len(ratings), bool)
        if not shared.any():
            raise InputError("no cell has the scores of all metrics and of people")
    chosen = np.ix_(rated, shared)
    known = known[chosen]
    ratings = ratings[rated] if ratings.ndim == 1 else np.where(known, ratings[chosen], np.nan)
    scores = [np.where(known, metric[chosen], np.nan) for metric in scores]
    missing = int(np.prod(shape)) - int(known.sum())
    varied = _varied(scores, ratings, coefficient) if level == "text" else np.ones(known.shape[1], bool)
    return CommonCells(
        metrics=tuple(_standard(metric[:, varied]) for metric in scores),
        human=ratings if ratings.ndim == 1 else _standard(ratings[:, varied]),
        known=known[:, varied],
        dropped=int((~shared).sum()),
        dropped_cells=missing,
        unvaried=int((~varied).sum()),
    )


def _varied(metrics: Sequence[np.ndarray], human: np.ndarray, coefficient: str) -> np.ndarray:
    """Inputs on which all metrics have a correlation: one that is constant on the hard ones is not to win by that."""
    defined = [~np.isnan(row_correlations(human.T, metric.T, coefficient)) for metric in metrics]
    varied: np.ndarray = np.logical_and.reduce(defined)
    if varied.any():
        return varied
    if all(inputs.any() for inputs in defined):
        raise InputError("there is no input on which people and all metrics tell systems apart")
    return np.ones(len(varied), bool)  # a metric has no agreement at all, which others say with its name


def _standard(scores: np.ndarray) -> np.ndarray:
    scores = unit_scale(scores)
    centred = scores - np.nanmean(scores)
    spread = np.sqrt(np.nanmean(centred**2))
    return np.asarray(centred / spread if spread > 0 else centred)


def mean_known(values: np.ndarray) -> np.ndarray:
    """Over the last axis without NaN; NaN where nothing is left."""
    there = np.isfinite(values)
    count = there.sum(axis=-1)
    total = np.where(there, values, 0.0).sum(axis=-1)
    return np.asarray(np.divide(total, count, out=np.full(count.shape, np.nan), where=count > 0))


def rows_agree(human: np.ndarray, metric: np.ndarray, coefficient: str) -> np.ndarray:
    """The coefficient over the last axis of two arrays; people's may have fewer axes than the metric's."""
    human = np.broadcast_to(human, metric.shape)
    last = metric.shape[-1]
    return row_correlations(human.reshape(-1, last), metric.reshape(-1, last), coefficient).reshape(metric.shape[:-1])


def check_defined(first: float, second: float) -> None:
    for name, value in (("first", first), ("second", second)):
        if np.isnan(value):
            raise InputError(
                f"the {name} metric's agreement is undefined: its scores, or people's, do not differ between systems"
            )
