"""How far metrics agree with people: one number for every metric, criterion, level and coefficient."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..errors import InputError, nearest_names
from ..progress import Progress
from .batches import is_number
from .coefficients import ALL_COEFFICIENTS, CONSTANT, oriented
from .correlations import Correlation, Correlations
from .directions import chosen_directions, no_direction
from .levels import FEWEST, LEVELS, Agreement, agreement, check_level
from .matrix import counted, in_order
from .prepared import METRIC, Given, Prepared, as_matrix, names_of, prepare
from .resampling import Case, bootstrap, check_resampling, count_too_few, percentiles
from .settled import system_means, unit_scale


def correlate(
    metric_scores: Given,
    human_scores: Given,
    level: str | Sequence[str] = "system",
    coefficient: str | Sequence[str] = "pearson",
    *,
    metrics: str | Sequence[str] | None = None,
    criteria: str | Sequence[str] | None = None,
    directions: Mapping[str, str] | str | None = None,
    interval: float | None = None,
    over: str = "both",
    resamples: int = 1000,
    seed: int = 0,
) -> Correlations:
    """The correlation of metrics' scores with people's.

    metric_scores, human_scores: a ScoreMatrix (`read_scores`), an array (systems, inputs), or a mapping from names to
    such arrays; NaN is a missing score. human_scores may also name columns of metric_scores, and may be one number per
    system at the system level. level: system, text or global. coefficient: pearson, spearman, kendall (tau-b), or
    another of `coefficients.ALL_COEFFICIENTS`. Several of either as a list. metrics, criteria: which columns.
    directions: {name: "lower"} for metrics that recapture does not know; correlations are of oriented scores, so 1 is
    best of all. interval: a level such as .95, by the bootstrap over systems, inputs or both, with the same resamples
    for all metrics.
    """
    levels, coefficients = (
        chosen_names("level", level, LEVELS),
        chosen_names("coefficient", coefficient, ALL_COEFFICIENTS),
    )
    if interval is not None and not (is_number(interval) and 0 < interval < 1):
        raise InputError(f"interval must be a level between 0 and 1 such as 0.95, not {interval!r}")
    check_resampling(over, resamples, seed)
    prepared = prepare(metric_scores, human_scores, metrics, criteria, directions)
    return correlations_of(prepared, levels, coefficients, interval, over, resamples, seed)


def correlations_of(
    prepared: Prepared,
    levels: Sequence[str],
    coefficients: Sequence[str],
    interval: float | None = None,
    over: str = "both",
    resamples: int = 1000,
    seed: int = 0,
) -> Correlations:
    """The same of scores that are ready."""
    wanted = [
        (metric, criterion, level, coefficient)
        for level in levels
        for criterion in prepared.human
        for coefficient in coefficients
        for metric in prepared.metrics
    ]
    found = [_value(prepared, *each) for each in wanted]
    drawn: list[np.ndarray | None] = [None] * len(wanted)
    if interval is not None:
        cases = [Case(prepared.metrics[m], prepared.human[c], level, r) for m, c, level, r in wanted]
        drawn = list(bootstrap(cases, len(prepared.systems), len(prepared.inputs), over, resamples, seed))
    few = 0
    if interval is not None and "system" in levels:
        few = count_too_few(len(prepared.systems), over, resamples, seed)
    rows = tuple(
        _row(prepared, each, one, some, interval, few) for each, one, some in zip(wanted, found, drawn, strict=True)
    )
    settings: dict[str, Any] = {"systems": len(prepared.systems), "inputs": len(prepared.inputs)}
    if prepared.averaged:
        settings["averaged"] = list(prepared.averaged)
    if interval is not None:
        settings |= {"interval": interval, "over": over, "resamples": resamples, "seed": seed}
        if "system" in levels:
            settings["too_few_systems"] = few
    return Correlations(rows, settings, prepared.notes)


def metric_correlations(
    metrics: Given,
    level: str = "system",
    coefficient: str = "pearson",
    *,
    directions: Mapping[str, str] | str | None = None,
) -> tuple[tuple[str, ...], np.ndarray]:
    """How far metrics agree with each other: their names, and a symmetric matrix with 1 on the diagonal.

    Scores are oriented, so a metric where lower is better agrees with one where higher is. directions: as for
    `correlate`.
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
    return tuple(scores), between(scores, level, coefficient)


def between(metrics: Mapping[str, np.ndarray], level: str, coefficient: str) -> np.ndarray:
    """Of oriented scores; NaN where two metrics share nothing that varies."""
    return between_and_counts(metrics, level, coefficient)[0]


def between_and_counts(
    metrics: Mapping[str, np.ndarray], level: str, coefficient: str
) -> tuple[np.ndarray, dict[tuple[int, int], Agreement]]:
    """The same, and by place what every two of them share."""
    names = list(metrics)
    made = np.eye(len(names))
    shared = {}
    with Progress("metrics with each other", len(names) * (len(names) - 1) // 2, "pair") as progress:
        for row, first in enumerate(names):
            for column in range(row):
                found = measured(metrics[first], metrics[names[column]], level, coefficient)
                made[row, column] = made[column, row] = found.value
                shared[row, column] = shared[column, row] = found
                progress.advance()
    return made, shared


def measured(metric: np.ndarray, human: np.ndarray, level: str, coefficient: str) -> Agreement:
    """`levels.agreement`, also where a side has one number per system."""
    if metric.ndim == 2 and (human.ndim == 2 or level == "system"):
        return agreement(metric, human, level, coefficient)
    if level != "system":
        raise InputError(f"scores of whole systems have no {level} level, only the system level")
    if human.ndim == 2:
        return agreement(human, metric, level, coefficient)
    found = agreement(metric[:, None], human, level, coefficient)
    return Agreement(found.value, found.systems, 0, 0)


def check_prepared(prepared: Prepared, metric: str, criterion: str, level: str) -> None:
    """Refuse, with names, what has no correlation."""
    sides = {criterion: prepared.human[criterion], metric: prepared.metrics[metric]}
    count = len(prepared.systems)
    if level != "system":
        for name, side in sides.items():
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
    kept = np.logical_and.reduce([np.isfinite(side).all(axis=0) for side in sides.values() if side.ndim == 2])
    if np.ndim(kept) and not kept.any():
        raise InputError(
            f"no input has the scores of all {counted(count, 'system')} by {metric!r} and {criterion!r}, so their "
            "means cannot be compared (is the input named by another field, --item-field?)"
        )
    for name, side in sides.items():
        means = side if side.ndim == 1 else system_means(side[:, kept])
        means = unit_scale(means)
        if np.ptp(means) <= CONSTANT * np.abs(means).max():
            raise InputError(f"{name!r} is the same for all {count} systems, so it has no correlation")


def _value(prepared: Prepared, metric: str, criterion: str, level: str, coefficient: str) -> Agreement:
    check_prepared(prepared, metric, criterion, level)
    found = measured(prepared.metrics[metric], prepared.human[criterion], level, coefficient)
    if math.isnan(found.value):
        what = "input on which both vary" if level == "text" else "two cells that differ"
        raise InputError(f"there are no {level}-level correlations of {metric!r} and {criterion!r}: no {what}")
    return found


def _row(
    prepared: Prepared,
    names: tuple[str, str, str, str],
    found: Agreement,
    drawn: np.ndarray | None,
    interval: float | None,
    few: int,
) -> Correlation:
    metric, criterion, level, coefficient = names
    warnings = []
    shares = coefficient == "acc-eq"  # from 0 to 1, of few pairs as of many
    if level == "text" and len(prepared.systems) == 2 and not shares:
        warnings.append("with two systems every input's correlation is 1 or -1")
    elif found.of_two and not shares:
        warnings.append(
            f"on {found.of_two:,} of {counted(found.inputs, 'input')} only two systems have a score and a rating, so "
            "that the correlation there is 1 or -1"
        )
    if level != "global" and found.dropped > found.inputs:
        warnings.append(f"only {found.inputs:,} of {found.inputs + found.dropped:,} inputs count")
    bounds = None
    if drawn is not None and interval is not None:
        bounds = percentiles(drawn, interval)
        lost = int(np.isnan(drawn).sum())
        few = few if level == "system" else 0
        if few and bounds is None:
            warnings.append(f"{few:,} of {len(drawn):,} resamples have fewer than {FEWEST} different systems")
        lost -= few  # which the caption counts
        if lost > 0:
            so = "so there is no interval" if bounds is None else "the interval is of the others"
            warnings.append(f"{lost:,} of {len(drawn):,} resamples do not vary: {so}")
    return Correlation(
        metric, criterion, level, coefficient, found.value, bounds, found.systems, found.inputs, found.dropped,
        prepared.directions[metric], prepared.directions[criterion], tuple(warnings), found.missing,
    )  # fmt: skip


def chosen_names(what: str, given: str | Sequence[str], known: Any) -> list[str]:
    others = {"kendall-b": "kendall", "tau": "kendall", "tau-b": "kendall"} if what == "coefficient" else {}
    names = list(dict.fromkeys(others.get(name, name) for name in names_of(given, what)))
    for name in names:
        if what == "level":
            check_level(name)
        if name not in known:
            raise InputError(f"unknown {what} {name!r}: {nearest_names(name, known)}")
    if not names:
        raise InputError(f"no {what} was named")
    return names
