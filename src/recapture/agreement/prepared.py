"""Scores and ratings side by side: same systems, same inputs, higher is better in all of them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ..declarations import Direction
from ..errors import InputError
from .coefficients import oriented
from .directions import chosen_directions, contrary, declared_direction, no_direction
from .matrix import Matched, ScoreMatrix, in_order, listed, match

Given = Any
"""A ScoreMatrix; an array (systems, inputs) or (systems,); a mapping from names to arrays or to {system: ...}."""
METRIC, HUMAN = "metric", "human"
"""What scores and ratings without names are called."""


@dataclass(frozen=True)
class Prepared:
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


def prepare(
    metric_scores: Given,
    human_scores: Given,
    metrics: str | Sequence[str] | None = None,
    criteria: str | Sequence[str] | None = None,
    directions: Mapping[str, str] | str | None = None,
) -> Prepared:
    """What is to be compared with what.

    human_scores may also be the names of columns of metric_scores. metrics, criteria: which columns (default: of named
    arrays all; of a ScoreMatrix those whose direction is known, and all ratings). An array without a name is taken as
    it is, higher is better.
    """
    if isinstance(human_scores, str) or _are_names(human_scores):
        if criteria is not None:
            raise InputError("criteria are named twice, in human_scores and in criteria")
        scores = ratings = as_matrix(metric_scores, METRIC)
        criteria = names_of(human_scores)
    else:
        scores, ratings = _sides(metric_scores, human_scores)
    chosen = ratings.expand(names_of(criteria)) if criteria is not None else list(ratings)
    if not chosen:
        raise InputError("there are no ratings to compare scores with")
    aside = chosen if scores is ratings else []
    left = [name for name in scores if name not in aside]
    by_default = metrics is None and isinstance(metric_scores, ScoreMatrix)
    _check_unusable(scores, ratings, directions, by_default)
    if by_default:  # another copy of a rating is no metric
        left = [name for name in left if name not in chosen]
    wanted = scores.expand(names_of(metrics)) if metrics is not None else left
    for name in wanted:
        if name in chosen:
            raise InputError(f"{name!r} is named as a metric and as people's ratings: it can only be one of them")
    if directions is None and not isinstance(metric_scores, (ScoreMatrix, Mapping)):
        directions = "higher"
    known = chosen_directions(
        dict.fromkeys(name for name in (*left, *wanted) if name not in chosen), chosen, directions
    )
    notes = []
    if by_default:
        wanted = [name for name in wanted if not _a_rating_too(name, chosen, directions)]
        strange = [name for name in wanted if known[name] is None]
        wanted = [name for name in wanted if known[name] is not None]
        told_of = [name for name in strange if not _beside(name, chosen)]
        if told_of and wanted:
            notes.append(f"left out, since which way is better is not known: {listed(told_of)}")
        if strange and not wanted:
            raise no_direction(strange)
        mixed = [name for name in scores.mixed if name not in chosen and not _beside(name, chosen)]
        notes += [f"left out, since not all of it is numbers: {scores.unusable[name]}" for name in mixed]
    if not wanted:
        raise InputError("there are no metrics to compare with the ratings")
    strange = [name for name in wanted if known[name] is None]
    if strange:
        raise no_direction(strange)
    notes += contrary(wanted, known)
    found = match(scores, ratings)
    rows, silent = _scored(found, wanted, chosen)
    ways: dict[str, Direction] = {name: known[name] or "higher" for name in (*wanted, *chosen)}
    told = {note for note in (*scores.notes, *ratings.notes) if note.rpartition(": ")[0] in ways}
    return Prepared(
        {name: oriented(found.first[name][rows], ways[name]) for name in wanted},
        {name: oriented(found.second[name][rows], ways[name]) for name in chosen},
        ways,
        tuple(name for name, kept in zip(found.first.systems, rows, strict=True) if kept),
        found.first.inputs or found.second.inputs,
        (*notes, *sorted(told), *found.notes, *silent),
        tuple(dict.fromkeys(each.averaged for each in (scores, ratings) if each.averaged)),
    )


def _check_unusable(
    scores: ScoreMatrix, ratings: ScoreMatrix, directions: Mapping[str, str] | str | None, by_default: bool
) -> None:
    """Refuse a column of which a direction is known, but no numbers: left out silently, it would not be missed."""
    given = directions if isinstance(directions, Mapping) else {}
    for name, why in scores.unusable.items():
        if name in ratings:
            continue
        if name in given:
            raise InputError(why)
        fits = name in scores.mixed and any(fnmatchcase(name, each) for each in given)
        if by_default and (fits or declared_direction(name) is not None):
            raise InputError(f"{why} (--metrics names those to compare)")


def _beside(name: str, criteria: Sequence[str]) -> bool:
    """Whether a column stands in one object with a criterion: another rating then, which nobody takes for a metric."""
    return any("." in each and name.rpartition(".")[0] == each.rpartition(".")[0] for each in criteria)


def _a_rating_too(name: str, criteria: Sequence[str], directions: Mapping[str, str] | str | None) -> bool:
    """Whether a direction was given for a criterion's neighbour only in passing, by a pattern that fits the criterion:
    'human.*' makes no metric of another rating."""
    if isinstance(directions, str) or declared_direction(name) or name in (directions or {}):
        return False
    patterns = [each for each in directions or {} if fnmatchcase(name, each)]
    return _beside(name, criteria) and any(fnmatchcase(own, each) for own in criteria for each in patterns)


def _scored(found: Matched, metrics: Sequence[str], criteria: Sequence[str]) -> tuple[np.ndarray, list[str]]:
    """Which systems have a score in every column: the others cannot be compared with them, and are named."""
    columns = {**{name: found.first[name] for name in metrics}, **{name: found.second[name] for name in criteria}}
    rows = np.ones(len(found.first.systems), bool)
    notes = []
    having: dict[str, list[str]] = {}
    for name, column in columns.items():
        some = np.isfinite(column).reshape(len(column), -1).any(axis=1)
        absent = [system for system, here in zip(found.first.systems, some, strict=True) if not here]
        if len(absent) == len(some):
            raise InputError(f"{name!r} has no score for any system that has scores and ratings")
        if absent:
            notes.append(f"left out, without any score by {name}: {listed(absent)}")
        having[name] = in_order(set(found.first.systems) - set(absent))
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


def as_matrix(given: Given, name: str, like: ScoreMatrix | None = None) -> ScoreMatrix:
    """like: whose names arrays take."""
    if isinstance(given, ScoreMatrix):
        return given
    columns = given if isinstance(given, Mapping) else {name: given}
    if columns and all(isinstance(column, Mapping) for column in columns.values()):
        return ScoreMatrix.from_dicts(columns)
    made = ScoreMatrix.from_arrays(columns)
    if like is None:
        return made
    if len(made.systems) != len(like.systems) or (made.inputs and like.inputs and len(made.inputs) != len(like.inputs)):
        raise InputError(f"one side has {made.size}, the other {like.size}: without names they must be the same")
    return ScoreMatrix(like.systems, (like.inputs or made.inputs) if made.inputs else (), made.values, notes=made.notes)


def names_of(given: str | Iterable[str], what: str = "column") -> list[str]:
    """Names given as a list or as one; commas stand between several."""
    if isinstance(given, (bytes, Mapping)) or not isinstance(given, Iterable):
        raise InputError(f"a {what} is named by a text, several by a list of texts, not by {given!r}")
    listed = given.split(",") if isinstance(given, str) else list(given)
    return list(dict.fromkeys(str(name).strip() for name in listed if str(name).strip()))


def _sides(metric_scores: Given, human_scores: Given) -> tuple[ScoreMatrix, ScoreMatrix]:
    if _named(human_scores) and not _named(metric_scores):
        ratings = as_matrix(human_scores, HUMAN)
        return as_matrix(metric_scores, METRIC, ratings), ratings
    scores = as_matrix(metric_scores, METRIC)
    return scores, as_matrix(human_scores, HUMAN, scores)


def _named(given: Given) -> bool:
    """Whether systems and inputs have names."""
    if isinstance(given, Mapping):
        return bool(given) and all(isinstance(column, Mapping) for column in given.values())
    return isinstance(given, ScoreMatrix)


def _are_names(given: Given) -> bool:
    return isinstance(given, (list, tuple)) and bool(given) and all(isinstance(each, str) for each in given)
