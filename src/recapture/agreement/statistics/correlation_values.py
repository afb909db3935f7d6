"""The correlation of every metric with every criterion, and of metrics with each other."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from ...declarations import Direction
from ...errors import InputError
from ...progress import Progress
from ..data.directions import chosen_directions, no_direction, oriented
from ..data.score_matrix import counted, in_order
from ..data.scores_and_ratings import METRIC, Directions, Scores, ScoresAndRatings, as_matrix
from .argument_checks import Over
from .coefficients import CONSTANT, Coefficient
from .levels import FEWEST, Level, LevelAgreement, agreement
from .over_systems import interval_over_systems, variance_of_inputs
from .resampling import BootstrapCase, bootstrap, percentiles
from .system_means import system_means, unit_scale


@dataclass(frozen=True)
class Correlation:
    metric: str
    criterion: str
    level: str
    coefficient: str
    value: float
    """Of oriented scores: 1 where the metric orders as people do, whichever way it is better."""
    interval: tuple[float, float] | None
    systems: int
    inputs: int
    """That count; 0 where all scores are of whole systems."""
    dropped: int
    """Inputs that do not count (global level: cells)."""
    direction: Direction
    """Of the metric."""
    criterion_direction: Direction = "higher"
    warnings: tuple[str, ...] = ()
    missing: int = 0
    """Cells (one system, one input) that lack a score or a rating, whether or not their input counts."""

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        return {
            "metric": self.metric,
            "direction": self.direction,
            "criterion": self.criterion,
            "criterion_direction": self.criterion_direction,
            "level": self.level,
            "coefficient": self.coefficient,
            "value": self.value,
            "low": low,
            "high": high,
            "systems": self.systems,
            "inputs": self.inputs,
            "dropped": self.dropped,
            "missing_cells": self.missing,
            "warnings": list(self.warnings),
        }


def correlation_values(
    sides: ScoresAndRatings,
    levels: Sequence[str],
    coefficients: Sequence[str],
    interval: float | None = None,
    over: Over = "both",
    resamples: int = 1000,
    seed: int = 0,
) -> tuple[tuple[Correlation, ...], dict[str, Any]]:
    """One row for every metric, criterion, level and coefficient; and what they were made of and how."""
    wanted = [
        (metric, criterion, level, coefficient)
        for level in levels
        for criterion in sides.human
        for coefficient in coefficients
        for metric in sides.metrics
    ]
    values = [_value(sides, *names) for names in wanted]
    bounds: list[_Bounds] = [(None, ())] * len(wanted)
    if interval is not None:
        cases = [BootstrapCase(sides.metrics[m], sides.human[c], level, r) for m, c, level, r in wanted]
        if over == "inputs":
            bounds = [_percentiles(drawn, interval) for drawn in bootstrap(cases, len(sides.inputs), resamples, seed)]
        else:
            inputs = len(sides.inputs) if over == "both" else 0
            bounds = _over_systems(cases, [own.value for own in values], interval, inputs, resamples, seed)
    rows = tuple(_row(sides, names, own, *both) for names, own, both in zip(wanted, values, bounds, strict=True))
    settings: dict[str, Any] = {"systems": len(sides.systems), "inputs": len(sides.inputs)}
    if sides.averaged:
        settings["averaged"] = list(sides.averaged)
    if interval is not None:
        settings |= {"interval": interval, "over": over}
        settings["interval_method"] = "percentiles" if over == "inputs" else "jackknife"
        if over != "systems":  # where nothing is drawn
            settings |= {"resamples": resamples, "seed": seed}
    return rows, settings


_Bounds = tuple[tuple[float, float] | None, tuple[str, ...]]
"""An interval, and warnings about it."""


def _percentiles(drawn: np.ndarray, interval: float) -> _Bounds:
    bounds, lost = percentiles(drawn, interval), int(np.isnan(drawn).sum())
    if not lost:
        return bounds, ()
    so = "so there is no interval" if bounds is None else "the interval is of the others"
    return bounds, (f"{lost:,} of {len(drawn):,} resamples do not vary: {so}",)


def _over_systems(
    cases: Sequence[BootstrapCase], values: Sequence[float], interval: float, inputs: int, resamples: int, seed: int
) -> list[_Bounds]:
    found: list[_Bounds] = []
    with Progress("intervals", len(cases), "interval") as progress:
        for case, value in zip(cases, values, strict=True):
            spread = variance_of_inputs(case, inputs, resamples, seed)
            bounds = interval_over_systems(case, value, interval, spread)
            found.append((bounds, () if bounds else (_why_none(case),)))
            progress.advance()
    return found


def _why_none(case: BootstrapCase) -> str:
    if case.level == "system" and len(case.metric) <= FEWEST:
        return f"{len(case.metric)} systems are too few for an interval over systems, which takes {FEWEST + 1}"
    return "without one of the systems there is no correlation, so there is no interval over systems"


def _value(sides: ScoresAndRatings, metric: str, criterion: str, level: str, coefficient: str) -> LevelAgreement:
    check_sides(sides, metric, criterion, level)
    own = measured(sides.metrics[metric], sides.human[criterion], level, coefficient)
    if math.isnan(own.value):
        what = "input on which both vary" if level == "text" else "two cells that differ"
        raise InputError(f"there are no {level}-level correlations of {metric!r} and {criterion!r}: no {what}")
    return own


def check_sides(sides: ScoresAndRatings, metric: str, criterion: str, level: str) -> None:
    """Refuse, with names, what has no correlation."""
    arrays = {criterion: sides.human[criterion], metric: sides.metrics[metric]}
    count = len(sides.systems)
    if level != "system":
        for name, side in arrays.items():
            if side.ndim == 1:
                raise InputError(f"{name!r} has scores of whole systems, so there is no {level} level of it")
        if count < 2:
            raise InputError("there is one system only: nothing to compare it with")
        return
    if count < FEWEST:
        raise InputError(
            f"there {'is' if count == 1 else 'are'} {counted(count, 'system')}: a correlation at the system level "
            f"needs at least {FEWEST}, since two always lie on a line"
        )
    kept = np.logical_and.reduce([np.isfinite(side).all(axis=0) for side in arrays.values() if side.ndim == 2])
    if np.ndim(kept) and not kept.any():
        raise InputError(
            f"no input has the scores of all {counted(count, 'system')} by {metric!r} and {criterion!r}, so their "
            "means cannot be compared: is the input named by another field?",
            options=["item_field"],
        )
    for name, side in arrays.items():
        means = side if side.ndim == 1 else system_means(side[:, kept])
        means = unit_scale(means)
        if np.ptp(means) <= CONSTANT * np.abs(means).max():
            raise InputError(f"{name!r} is the same for all {count} systems, so it has no correlation")


def measured(metric: np.ndarray, human: np.ndarray, level: str, coefficient: str) -> LevelAgreement:
    """`levels.agreement`, also where a side has one number per system."""
    if metric.ndim == 2 and (human.ndim == 2 or level == "system"):
        return agreement(metric, human, level, coefficient)
    if level != "system":
        raise InputError(f"scores of whole systems have no {level} level, only the system level")
    if human.ndim == 2:
        return agreement(human, metric, level, coefficient)
    whole = agreement(metric[:, None], human, level, coefficient)
    return replace(whole, inputs=0, dropped=0, missing=0)


def _row(
    sides: ScoresAndRatings,
    names: tuple[str, str, str, str],
    own: LevelAgreement,
    bounds: tuple[float, float] | None,
    of_bounds: tuple[str, ...],
) -> Correlation:
    metric, criterion, level, coefficient = names
    warnings = []
    shares = coefficient == "acc-eq"  # from 0 to 1, of few pairs as of many
    if level == "text" and len(sides.systems) == 2 and not shares:
        warnings.append("with two systems every input's correlation is 1 or -1")
    elif own.of_two and not shares:
        warnings.append(
            f"on {own.of_two:,} of {counted(own.inputs, 'input')} only two systems have a score and a rating, so "
            "that the correlation there is 1 or -1"
        )
    if level != "global" and own.dropped > own.inputs:
        warnings.append(f"only {own.inputs:,} of {own.inputs + own.dropped:,} inputs count")
    warnings += of_bounds
    return Correlation(
        metric, criterion, level, coefficient, own.value, bounds, own.systems, own.inputs, own.dropped,
        sides.directions[metric], sides.directions[criterion], tuple(warnings), own.missing,
    )  # fmt: skip


def metric_correlations(
    metrics: Scores,
    level: Level = "system",
    coefficient: Coefficient = "pearson",
    *,
    directions: Directions | None = None,
) -> tuple[tuple[str, ...], np.ndarray]:
    """How far metrics agree with each other.

    Scores are oriented, so a metric where lower is better agrees with one where higher is.

    Parameters
    ----------
    metrics
        Scores by metric, in any form that `correlate` takes.
    level
        Of systems' means, of single texts across systems, or of all cells as one list.
    coefficient
        As for `correlate`.
    directions
        As for `correlate`.

    Returns
    -------
    names : tuple of str
    values : numpy.ndarray
        (metrics, metrics), symmetric, with 1 on the diagonal; NaN where two metrics share nothing that varies.

    Examples
    --------
    >>> import recapture as rc
    >>> scores = {"bleu": [0.1, 0.2, 0.4, 0.3], "ter": [0.9, 0.8, 0.7, 0.6]}  # of ter lower is better
    >>> names, values = rc.metric_correlations(scores)
    >>> names, values.round(4).tolist()
    (('bleu', 'ter'), [[1.0, 0.8], [0.8, 1.0]])
    """
    matrix = as_matrix(metrics, METRIC)
    matrix = matrix.selected(in_order(matrix.systems), in_order(matrix.inputs))
    known = chosen_directions(matrix, (), directions)
    strange = [name for name, way in known.items() if way is None]
    if strange:
        raise no_direction(strange)
    if len(known) < 2:
        raise InputError("one metric has no other to be compared with")
    scores = {name: oriented(matrix[name], way or "higher") for name, way in known.items()}
    return tuple(scores), between_metrics(scores, level, coefficient).values


@dataclass(frozen=True, eq=False)
class MetricMatrix:
    """Correlations of metrics with each other."""

    level: str
    coefficient: str
    metrics: tuple[str, ...]
    values: np.ndarray
    """(metrics, metrics); NaN where two share nothing that varies."""
    shared: Mapping[tuple[int, int], LevelAgreement]
    """By place, for every two different metrics: what they share."""


def between_metrics(metrics: Mapping[str, np.ndarray], level: str, coefficient: str) -> MetricMatrix:
    """Of oriented scores."""
    names = list(metrics)
    values = np.eye(len(names))
    shared = {}
    with Progress("metrics with each other", len(names) * (len(names) - 1) // 2, "pair") as progress:
        for row, first in enumerate(names):
            for column in range(row):
                both = measured(metrics[first], metrics[names[column]], level, coefficient)
                values[row, column] = values[column, row] = both.value
                shared[row, column] = shared[column, row] = both
                progress.advance()
    return MetricMatrix(level, coefficient, tuple(names), values, shared)
