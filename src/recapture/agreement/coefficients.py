"""How far scores agree with people: Pearson, Spearman and Kendall (tau-b), over systems and over texts.

System level: the correlation of two vectors of system means. Text level: the mean over inputs of the correlation across
systems; inputs on which either side does not vary say nothing, so they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from ..errors import InputError, nearest_names
from ..results.result import Direction

_CONSTANT = 1e-12
"""A spread this small beside the numbers is rounding."""


@dataclass(frozen=True)
class Agreement:
    """The mean correlation over inputs."""

    value: float
    """NaN where no input is left."""
    used: int
    dropped: int
    """Inputs on which people, or the scores, do not tell the systems apart."""


def oriented(scores: np.ndarray, direction: Direction) -> np.ndarray:
    """Scores for which higher is better."""
    return -np.asarray(scores, np.float64) if direction == "lower" else np.asarray(scores, np.float64)


def correlation(human: np.ndarray, scores: np.ndarray, coefficient: str = "pearson") -> float:
    """Of two vectors; pairs with a NaN are left out, and NaN is returned where a side does not vary."""
    first, second = np.asarray(human, np.float64), np.asarray(scores, np.float64)
    if first.shape != second.shape or first.ndim != 1:
        raise InputError(f"ratings have the shape {first.shape}, but scores {second.shape}: one vector each")
    return float(row_correlations(first[None], second[None], coefficient)[0])


def text_level(human: np.ndarray, scores: np.ndarray, coefficient: str = "pearson") -> Agreement:
    """(systems, inputs) each: the mean over inputs of the correlation across systems."""
    human, scores = np.asarray(human, np.float64), np.asarray(scores, np.float64)
    if human.shape != scores.shape or human.ndim != 2:
        raise InputError(f"ratings have the shape {human.shape}, but scores {scores.shape}: systems x inputs each")
    found = row_correlations(human.T, scores.T, coefficient)
    kept = found[~np.isnan(found)]
    return Agreement(float(kept.mean()) if len(kept) else float("nan"), len(kept), len(found) - len(kept))


def row_correlations(first: np.ndarray, second: np.ndarray, coefficient: str) -> np.ndarray:
    """One number for each row of two equal shapes; NaN where a side has fewer than two different numbers."""
    if coefficient not in COEFFICIENTS:
        raise InputError(f"unknown coefficient {coefficient!r}: {nearest_names(coefficient, COEFFICIENTS)}")
    made = np.full(len(first), np.nan)
    known = np.isfinite(first) & np.isfinite(second)
    whole = known.all(axis=1) if first.shape[1] else np.zeros(len(first), bool)
    if whole.any():
        made[whole] = _varied(first[whole], second[whole], coefficient)
    for at in np.flatnonzero(~whole):  # few: a rating or a score is missing
        some = known[at]
        if some.sum() > 1:
            made[at] = _varied(first[at, some][None], second[at, some][None], coefficient)[0]
    return made


def _varied(first: np.ndarray, second: np.ndarray, coefficient: str) -> np.ndarray:
    made = np.full(len(first), np.nan)
    varies = np.ones(len(first), bool)
    for side in (first, second):
        varies &= np.ptp(side, axis=1) > _CONSTANT * np.abs(side).max(axis=1)
    if varies.any():
        made[varies] = np.clip(COEFFICIENTS[coefficient](first[varies], second[varies]), -1.0, 1.0)
    return made


def _pearson(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    sides = []
    for side in (first, second):
        centred = side - side.mean(axis=1, keepdims=True)
        sides.append(centred / np.linalg.norm(centred, axis=1, keepdims=True))
    return np.asarray((sides[0] * sides[1]).sum(axis=1))


def _spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return _pearson(rankdata(first, axis=1), rankdata(second, axis=1))


def _kendall(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """tau-b: (concordant - discordant) / sqrt(pairs not tied here x pairs not tied there)."""
    made = np.empty(len(first))
    for at, (one, other) in enumerate(zip(first, second, strict=True)):
        signs = [np.sign(side[:, None] - side[None, :]) for side in (one, other)]
        made[at] = (signs[0] * signs[1]).sum() / np.sqrt((signs[0] ** 2).sum() * (signs[1] ** 2).sum())
    return made


COEFFICIENTS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": _kendall,
}
