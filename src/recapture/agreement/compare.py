"""Which of several metrics agrees better with people, from scores in any form."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from .correlate import check_prepared
from .levels import shared_inputs
from .prepared import Given, Prepared, prepare
from .settled import system_means

if TYPE_CHECKING:
    from .all_pairs import AllPairs


def compare_metrics(
    metric_scores: Given,
    human_scores: Given,
    level: str = "system",
    coefficient: str = "pearson",
    test: str = "permutation",
    *,
    metrics: str | Sequence[str] | None = None,
    criteria: str | Sequence[str] | None = None,
    directions: Mapping[str, str] | str | None = None,
    **options: Any,
) -> AllPairs:
    """Every two metrics: difference of agreement, p-value, Holm-adjusted p-value; `.clusters()`.

    Scores, levels, coefficients and directions as for `correlate`, with one criterion. test: "permutation" (swaps the
    two metrics' scores), "bootstrap" or "williams". options: resamples, seed, and swap or over.
    """
    prepared = prepare(metric_scores, human_scores, metrics, criteria, directions)
    if len(prepared.human) > 1:
        raise InputError(f"metrics are compared by one criterion, but there are {', '.join(prepared.human)}")
    return compared(prepared, next(iter(prepared.human)), level, coefficient, test, **options)


def compared(prepared: Prepared, criterion: str, level: str, coefficient: str, test: str, **options: Any) -> AllPairs:
    """The same of scores that are ready."""
    from .all_pairs import compare_all

    for metric in prepared.metrics:
        check_prepared(prepared, metric, criterion, level)
    found = compare_all(*_arrays(prepared, criterion, test), level, coefficient, test, **options)
    return replace(found, criterion=criterion)


def _arrays(prepared: Prepared, criterion: str, test: str) -> tuple[dict[str, np.ndarray], np.ndarray]:
    """All metrics as (systems, inputs), where those of whole systems have one number for all inputs."""
    human = prepared.human[criterion]
    whole = [name for name, scores in prepared.metrics.items() if scores.ndim == 1]
    if whole and test != "williams":
        raise InputError(f"{', '.join(whole)}: scores of whole systems can only be compared by Williams' test")
    if len(whole) == len(prepared.metrics) and human.ndim == 2:
        human = system_means(human[:, shared_inputs([human], human)])
    width = 1 if len(whole) == len(prepared.metrics) else len(prepared.inputs)
    return {
        name: np.repeat(scores[:, None], width, axis=1) if scores.ndim == 1 else scores
        for name, scores in prepared.metrics.items()
    }, human
