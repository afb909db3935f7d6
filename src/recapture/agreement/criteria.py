"""Where people's ratings are: in a file of their own, beside the scores, or some here and some there."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

import numpy as np

from ..errors import InputError, nearest_names
from .directions import declared_direction
from .matrix import ScoreMatrix, listed


def no_metrics(columns: Iterable[str]) -> list[str]:
    """Those that recapture does not know as metrics: what may be ratings."""
    return [name for name in columns if declared_direction(name) is None]


def find_criteria(
    scores: ScoreMatrix, ratings: ScoreMatrix | None, wanted: Sequence[str], files: Sequence[str]
) -> tuple[ScoreMatrix, ScoreMatrix, list[str]]:
    """Scores without what is a rating, ratings with all of them, and their names.

    wanted: names, or patterns, of columns of either; the ratings' own come first. files: what was searched.
    """
    places = [scores] if ratings is None else [ratings, scores]
    own: list[dict[str, None]] = [{} for _ in places]
    for name in wanted:
        for matrix, names in zip(places, own, strict=True):
            fits = [name] if name in matrix else [each for each in matrix if fnmatchcase(each, name)]
            names |= dict.fromkeys(fits)
            if fits:
                break
        else:
            raise _absent(name, places, files)
    if ratings is None:
        return scores, scores, list(own[0])
    here, there = list(own[0]), list(own[1])
    if not there:
        return scores, ratings, here
    kept = {name: column for name, column in scores.values.items() if name not in there}
    rest = replace(scores, values=kept)
    return rest, _joined(ratings, here, scores, there), [*here, *there]


def _absent(name: str, places: Sequence[ScoreMatrix], files: Sequence[str]) -> InputError:
    for matrix in places:
        if name in matrix.unusable:
            return InputError(matrix.unusable[name])
    columns = list(dict.fromkeys(column for matrix in places for column in matrix))
    inner = [column for column in columns if column.startswith(f"{name}.")]
    if inner:
        near = f"did you mean '{name}.*' ({listed(inner)})?"
    else:
        near = nearest_names(name, no_metrics(columns) or columns)
    return InputError(f"there is no column {name!r} in {' or '.join(files)}: {near}")


def _joined(first: ScoreMatrix, here: Sequence[str], second: ScoreMatrix, there: Sequence[str]) -> ScoreMatrix:
    """Columns of two matrices over the systems and inputs of both; NaN where one has none."""
    systems, inputs = (
        tuple(dict.fromkeys((*one, *other)))
        for one, other in ((first.systems, second.systems), (first.inputs, second.inputs))
    )
    values = {}
    for matrix, names in ((first, here), (second, there)):
        rows, columns = (
            [every.index(name) for name in own] for every, own in ((systems, matrix.systems), (inputs, matrix.inputs))
        )
        for name in names:
            column = matrix[name]
            made = np.full(len(systems) if column.ndim == 1 else (len(systems), len(inputs)), np.nan)
            made[np.ix_(rows, columns) if column.ndim == 2 else rows] = column
            values[name] = made
    notes = tuple(dict.fromkeys((*first.notes, *second.notes)))
    return ScoreMatrix(systems, inputs, values, {**second.unusable, **first.unusable}, notes, first.averaged)
