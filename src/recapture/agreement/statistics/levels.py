"""Agreement of one metric with one human criterion, by level.

Scores are (systems, inputs) arrays, NaN where there is none; people's may also be one number per system, for the system
level alone. Scores are oriented beforehand: higher is better on both sides.

- system: inputs on which every system has both scores count, others are dropped and counted; the correlation of the two
  vectors of system means. (People's single number per system needs no inputs: those count on which all systems have the
  metric's score.)
- text: for every input the correlation across the systems that have both scores; the mean over inputs. Inputs on which
  either side does not vary, or fewer than two systems are left, are dropped and counted.
- global: all cells that have both scores, as one vector.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

import numpy as np

from ...errors import InputError, nearest_names, shown
from .coefficients import row_correlations, vector_correlation
from .system_means import system_means

Level = Literal["system", "text", "global"]
LEVELS: tuple[Level, ...] = ("system", "text", "global")
FEWEST = 3
"""Systems at the system level: two lie on a line, always."""
_SAME_LEVEL = {
    "sentence": "text",
    "segment": "text",
    "seg": "text",
    "instance": "text",
    "item": "text",
    "sys": "system",
}
"""What others call them."""


@dataclass(frozen=True)
class LevelAgreement:
    value: float
    """NaN where a side does not vary, or nothing is left."""
    systems: int
    inputs: int
    """That count."""
    dropped: int
    """Inputs (global: cells) that do not."""
    missing: int = 0
    """Cells (one system, one input) that lack a score or a rating, whether or not their input counts."""
    of_two: int = 0
    """Inputs that count at the text level with two systems only, whose correlation is 1 or -1."""


def agreement(metric: np.ndarray, human: np.ndarray, level: str, coefficient: str = "pearson") -> LevelAgreement:
    """metric: (systems, inputs). human: the same shape, or (systems,) at the system level."""
    check_level_name(level)
    metric, human = np.asarray(metric, np.float64), np.asarray(human, np.float64)
    fits = human.shape == metric.shape or (level == "system" and human.shape == metric.shape[:1])
    if metric.ndim != 2 or not fits:
        raise InputError(f"scores have the shape {metric.shape}, but ratings {human.shape}: systems x inputs each")
    if human.ndim == 1:  # systems that nobody rated are not there
        metric, human = metric[np.isfinite(human)], human[np.isfinite(human)]
    both = np.isfinite(metric) & (np.isfinite(human) if human.ndim == 2 else True)
    missing = int((~both).sum())
    if level == "system":
        shared = shared_inputs([metric], human)
        first = human if human.ndim == 1 else system_means(human[:, shared])
        value = vector_correlation(first, system_means(metric[:, shared]), coefficient)
        return LevelAgreement(value, len(metric), int(shared.sum()), int((~shared).sum()), missing)
    if level == "text":
        by_input = row_correlations(human.T, metric.T, coefficient)
        kept = by_input[~np.isnan(by_input)]
        value = float(kept.mean()) if len(kept) else float("nan")
        of_two = int((~np.isnan(by_input) & (both.sum(axis=0) == 2)).sum())
        return LevelAgreement(value, len(metric), len(kept), len(by_input) - len(kept), missing, of_two)
    value = vector_correlation(human[both], metric[both], coefficient)
    return LevelAgreement(value, len(metric), int(both.any(axis=0).sum()), missing, missing)


def shared_inputs(metrics: list[np.ndarray], human: np.ndarray) -> np.ndarray:
    """Of which inputs all systems have all scores; it is an error if there is none."""
    shared: np.ndarray = np.logical_and.reduce([np.isfinite(metric).all(axis=0) for metric in metrics])
    if human.ndim == 2:
        shared &= np.isfinite(human).all(axis=0)
    if not shared.any():
        raise InputError("no input has the scores of all systems, so their means cannot be compared")
    return shared


def check_level_name(level: str) -> None:
    if not isinstance(level, str) or level not in LEVELS:
        other = _SAME_LEVEL.get(level.lower()) if isinstance(level, str) else None
        near = f"did you mean {other}?" if other else nearest_names(level, LEVELS)
        raise InputError(f"unknown level {shown(level)}: {near}")
