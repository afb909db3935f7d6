"""Scores and ratings side by side: same systems, same inputs, higher is better in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ...checks import plain_value
from ...declarations import Direction
from ...errors import InputError, nearest_names, shown
from .directions import chosen_directions, contrary, declared_direction, no_direction, oriented
from .score_matrix import Matched, ScoreMatrix, in_order, listed, match

Scores = ScoreMatrix | ArrayLike | Mapping[str, Any]
"""A ScoreMatrix; an array (systems, inputs) or (systems,); a mapping from names to arrays or to {system: ...}."""
METRIC, HUMAN = "metric", "human"
"""What scores and ratings without names are called."""
Directions = Mapping[str, Direction] | Direction
Names = str | Sequence[str]


@dataclass(frozen=True)
class ScoresAndRatings:
    metrics: Mapping[str, np.ndarray]
    """(systems, inputs), or (systems,) for scores of whole systems; higher is better."""
    human: Mapping[str, np.ndarray]
    directions: Mapping[str, Direction]
    """As they were, of metrics and criteria."""
    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    notes: tuple[str, ...]
    averaged: tuple[str, ...] = ()
    """Where several rows of one cell were averaged, how many."""


def side_by_side(
    scores: Scores,
    human: Scores | Names,
    metrics: Names | None = None,
    criteria: Names | None = None,
    directions: Directions | None = None,
) -> ScoresAndRatings:
    """What is to be compared with what.

    human may also be the names of columns of scores. metrics, criteria: which columns (default: of named arrays all; of
    a ScoreMatrix those whose direction is known, and all ratings); criteria are looked for among the ratings, then
    among the scores. An array without a name is taken as it is, higher is better.
    """
    by_default = metrics is None and isinstance(scores, ScoreMatrix)
    if directions is None and not isinstance(scores, (ScoreMatrix, Mapping)):
        directions = "higher"
    table, ratings, chosen = _with_criteria(scores, human, criteria)
    _check_unusable(table, ratings, directions, by_default)
    left = [name for name in table if not (name in chosen and (table is ratings or by_default))]
    wanted = left if metrics is None else table.expand(names_of(metrics, columns=table))
    for name in wanted:
        if name in chosen:
            raise InputError(f"{name!r} is named as a metric and as people's ratings: it can only be one of them")
    known = chosen_directions(
        dict.fromkeys(name for name in (*left, *wanted) if name not in chosen), chosen, directions
    )
    notes: list[str] = []
    if by_default:
        wanted, notes = _usual_metrics(table, wanted, chosen, known, directions)
    if not wanted:
        raise InputError("there are no metrics to compare with the ratings")
    strange = [name for name in wanted if known[name] is None]
    if strange:
        raise no_direction(strange)
    notes += contrary(wanted, known)
    both = match(table, ratings)
    rows, silent = _scored(both, wanted, chosen)
    ways: dict[str, Direction] = {name: known[name] or "higher" for name in (*wanted, *chosen)}
    told = {note for note in (*table.notes, *ratings.notes) if note.rpartition(": ")[0] in ways}
    return ScoresAndRatings(
        {name: oriented(both.first[name][rows], ways[name]) for name in wanted},
        {name: oriented(both.second[name][rows], ways[name]) for name in chosen},
        ways,
        tuple(name for name, kept in zip(both.first.systems, rows, strict=True) if kept),
        both.first.inputs or both.second.inputs,
        (*notes, *sorted(told), *both.notes, *silent),
        tuple(dict.fromkeys(side.averaged for side in (table, ratings) if side.averaged)),
    )


def _with_criteria(
    scores: Scores, human: Scores | Names, criteria: Names | None
) -> tuple[ScoreMatrix, ScoreMatrix, list[str]]:
    """Scores without what is a rating, ratings with all of them, and the names of those that count."""
    ratings: ScoreMatrix | None
    if isinstance(human, str) or _are_names(human):
        if criteria is not None:
            raise InputError("criteria are named twice, by human and by criteria")
        table, ratings, criteria = as_matrix(scores, METRIC), None, cast(Names, human)
    else:
        table, ratings = _sides(scores, human)
    if criteria is None and ratings is not None:
        chosen = list(ratings)
    else:
        columns = [*table, *(ratings or ())]
        table, ratings, chosen = find_criteria(
            table, ratings, names_of(() if criteria is None else criteria, columns=columns)
        )
    if not chosen:
        raise InputError("there are no ratings to compare scores with")
    return table, ratings, chosen


def _usual_metrics(
    scores: ScoreMatrix,
    names: Sequence[str],
    criteria: Sequence[str],
    known: Mapping[str, Direction | None],
    directions: Directions | None,
) -> tuple[list[str], list[str]]:
    """Where nobody named metrics: those of which is known which way is better; and notes on what is left out."""
    names = [name for name in names if not _a_rating_too(name, criteria, directions)]
    wanted = [name for name in names if known[name] is not None]
    strange = [name for name in names if known[name] is None]
    if strange and not wanted:
        raise no_direction(strange)
    told_of = [name for name in strange if not _beside(name, criteria)]
    notes = [f"left out, since which way is better is not known: {listed(told_of)}"] if told_of else []
    mixed = [name for name in scores.mixed if name not in criteria and not _beside(name, criteria)]
    notes += [f"left out, since not all of it is numbers: {scores.unusable[name]}" for name in mixed]
    return wanted, notes


def _check_unusable(scores: ScoreMatrix, ratings: ScoreMatrix, directions: Directions | None, by_default: bool) -> None:
    """Refuse a column of which a direction is known, but no numbers: left out silently, it would not be missed."""
    given = directions if isinstance(directions, Mapping) else {}
    for name, why in scores.unusable.items():
        if name in ratings:
            continue
        if name in given:
            raise InputError(why)
        fits = name in scores.mixed and any(fnmatchcase(name, pattern) for pattern in given)
        if by_default and (fits or declared_direction(name) is not None):
            raise InputError(f"{why}; name the metrics to compare, if it is none of them", options=["metrics"])


def _beside(name: str, criteria: Sequence[str]) -> bool:
    """Whether a column stands in one object with a criterion: another rating then, which nobody takes for a metric."""
    return any("." in own and name.rpartition(".")[0] == own.rpartition(".")[0] for own in criteria)


def _a_rating_too(name: str, criteria: Sequence[str], directions: Directions | None) -> bool:
    """Whether a direction was given for a criterion's neighbour only in passing, by a pattern that fits the criterion:
    'human.*' makes no metric of another rating."""
    if isinstance(directions, str) or declared_direction(name) or name in (directions or {}):
        return False
    patterns = [pattern for pattern in directions or {} if fnmatchcase(name, pattern)]
    return _beside(name, criteria) and any(fnmatchcase(own, pattern) for own in criteria for pattern in patterns)


def _scored(both: Matched, metrics: Sequence[str], criteria: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Which systems have a score in every column: the others cannot be compared with them, and are named."""
    columns = {**{name: both.first[name] for name in metrics}, **{name: both.second[name] for name in criteria}}
    rows = np.ones(len(both.first.systems), bool)
    notes = []
    having: dict[str, list[str]] = {}
    for name, column in columns.items():
        some = np.isfinite(column).reshape(len(column), -1).any(axis=1)
        absent = [system for system, here in zip(both.first.systems, some, strict=True) if not here]
        if len(absent) == len(some):
            raise InputError(f"{name!r} has no score for any system that has scores and ratings")
        if absent:
            notes.append(f"left out, without any score by {name}: {listed(absent)}")
        having[name] = in_order(set(both.first.systems) - set(absent))
        rows &= some
        for other, there in having.items():
            if not set(there) & set(having[name]):
                raise InputError(
                    f"{other!r} and {name!r} have no system in common: one begins with {there[0]!r}, the other with "
                    f"{having[name][0]!r}"
                )
    if not rows.any():
        raise InputError(f"no system has a score in every column: {listed(list(having))}")
    return rows, notes


def no_metrics(columns: Iterable[str]) -> list[str]:
    """Those that recapture does not know as metrics: what may be ratings."""
    return [name for name in columns if declared_direction(name) is None]


def find_criteria(
    scores: ScoreMatrix, ratings: ScoreMatrix | None, wanted: Sequence[str]
) -> tuple[ScoreMatrix, ScoreMatrix, list[str]]:
    """Scores without what is a rating, ratings with all of them, and their names.

    wanted: names, or patterns, of columns of either; the ratings' own come first.
    """
    places = [scores] if ratings is None else [ratings, scores]
    columns_of: list[dict[str, None]] = [{} for _ in places]
    for name in wanted:
        for matrix, own in zip(places, columns_of, strict=True):
            fits = [name] if name in matrix else [column for column in matrix if fnmatchcase(column, name)]
            own |= dict.fromkeys(fits)
            if fits:
                break
        else:
            raise _absent(name, places)
    if ratings is None:
        return scores, scores, list(columns_of[0])
    here, there = map(list, columns_of)
    if not there:
        return scores, ratings, here
    rest = {name: column for name, column in scores.values.items() if name not in there}
    return replace(scores, values=rest), _joined(ratings, here, scores, there), [*here, *there]


def _absent(name: str, places: Sequence[ScoreMatrix]) -> InputError:
    for matrix in places:
        if name in matrix.unusable:
            return InputError(matrix.unusable[name])
    columns = list(dict.fromkeys(column for matrix in places for column in matrix))
    inner = [column for column in columns if column.startswith(f"{name}.")]
    if inner:
        near = f"did you mean '{name}.*' ({listed(inner)})?"
    else:
        near = nearest_names(name, no_metrics(columns) or columns)
    files = " or ".join(dict.fromkeys(file for matrix in places for file in matrix.sources))
    return InputError(f"there is no column {name!r}{' in ' if files else ''}{files}: {near}")


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
            joined = np.full(len(systems) if column.ndim == 1 else (len(systems), len(inputs)), np.nan)
            joined[np.ix_(rows, columns) if column.ndim == 2 else rows] = column
            values[name] = joined
    notes = tuple(dict.fromkeys((*first.notes, *second.notes)))
    return ScoreMatrix(systems, inputs, values, {**second.unusable, **first.unusable}, notes, first.averaged)


def as_matrix(given: Scores, name: str, like: ScoreMatrix | None = None) -> ScoreMatrix:
    """like: whose names arrays take."""
    if isinstance(given, ScoreMatrix):
        return given
    columns: Mapping[str, Any] = given if isinstance(given, Mapping) else {name: given}
    if columns and all(isinstance(column, Mapping) for column in columns.values()):
        return ScoreMatrix.from_dicts(columns)
    matrix = ScoreMatrix.from_arrays(columns)
    if like is None:
        return matrix
    if len(matrix.systems) != len(like.systems) or (
        matrix.inputs and like.inputs and len(matrix.inputs) != len(like.inputs)
    ):
        raise InputError(f"one side has {matrix.size}, the other {like.size}: without names they must be the same")
    inputs = (like.inputs or matrix.inputs) if matrix.inputs else ()
    return ScoreMatrix(like.systems, inputs, matrix.values, notes=matrix.notes)


def names_of(given: Names, what: str = "column", columns: Iterable[str] = ()) -> list[str]:
    """Names given as a list or as one; commas stand between several, unless a column has that comma in its name."""
    if isinstance(given, (bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"a {what} is named by a text, several by a list of texts, not by {shown(given)}")
    known = set(columns)
    several = [plain_value(name, f"a {what}") for name in ([given] if isinstance(given, str) else given)]
    wrong = [name for name in several if not isinstance(name, (str, int, float))]
    if wrong:
        raise InputError(f"a {what} is named by a text, not by {shown(wrong[0])}")
    texts = list(map(str, several))
    names = [name.strip() for text in texts for name in ([text] if text in known else text.split(","))]
    return list(dict.fromkeys(name for name in names if name))


def _sides(scores: Scores, human: Scores) -> tuple[ScoreMatrix, ScoreMatrix]:
    if _named(human) and not _named(scores):
        ratings = as_matrix(human, HUMAN)
        return as_matrix(scores, METRIC, ratings), ratings
    table = as_matrix(scores, METRIC)
    return table, as_matrix(human, HUMAN, table)


def _named(given: Scores) -> bool:
    """Whether systems and inputs have names."""
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(column, Mapping) for column in given.values())
    return isinstance(given, ScoreMatrix)


def _are_names(given: Any) -> bool:
    return isinstance(given, (list, tuple)) and bool(given) and all(isinstance(name, str) for name in given)
