"""Scores by system and input: several columns (metrics, human criteria) over the same systems and inputs."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from ...checks import array_of, numbers_of
from ...errors import InputError, nearest_names, shown
from ...report.result import freeze


@dataclass(frozen=True, eq=False)
class ScoreMatrix:
    """Columns of scores by system and input: metrics, and people's ratings.

    Made by `read_scores`, or by `from_arrays`, `from_dicts` and `from_records`. Systems and inputs stand in the order
    in which they first appeared.

    Examples
    --------
    >>> import recapture as rc
    >>> rows = [
    ...     {"system": "a", "item": 1, "bleu": 0.3, "human": {"fluency": 4}},
    ...     {"system": "a", "item": 2, "bleu": 0.5, "human": {"fluency": 5}},
    ...     {"system": "b", "item": 1, "bleu": 0.2, "human": {"fluency": 3}},
    ... ]
    >>> scores = rc.ScoreMatrix.from_records(rows)
    >>> scores
    ScoreMatrix of 2 systems and 2 inputs: bleu, human.fluency
    >>> scores["human.fluency"].tolist()
    [[4.0, 5.0], [3.0, nan]]
    """

    systems: tuple[str, ...]
    inputs: tuple[str, ...]
    """Empty where all scores are of whole systems."""
    values: Mapping[str, np.ndarray]
    """By column: (systems, inputs) float64, NaN where there is no score; (systems,) for scores of whole systems."""
    unusable: Mapping[str, str] = field(default_factory=dict)
    """Columns that do not hold numbers, each with the sentence that says why."""
    notes: tuple[str, ...] = ()
    """What a reader should know: infinite scores that were left out."""
    averaged: str = ""
    """How many rows were averaged, where some were."""
    mixed: tuple[str, ...] = ()
    """Those of the unusable columns that hold numbers, too: metrics with a slip, perhaps."""
    sources: tuple[str, ...] = ()
    """The files that it was read from."""

    def __post_init__(self) -> None:
        values = {name: _numbers(column, name) for name, column in self.values.items()}
        for name, column in values.items():
            if column.shape not in ((len(self.systems), len(self.inputs)), (len(self.systems),)):
                raise InputError(f"{name!r} has the shape {column.shape}, but there are {self.size}")
        for what, names in (("system", self.systems), ("input", self.inputs)):
            if len(set(names)) < len(names):
                raise InputError(f"two {what}s have the same name")
        object.__setattr__(self, "values", freeze(values))
        object.__setattr__(self, "unusable", freeze(dict(self.unusable)))

    @classmethod
    def from_arrays(
        cls,
        columns: Mapping[str, Any],
        systems: Sequence[str] | None = None,
        inputs: Sequence[str] | None = None,
    ) -> ScoreMatrix:
        """From arrays (systems, inputs), or (systems,); without names, positions from 0 are the names."""
        if not isinstance(columns, Mapping):
            raise InputError(f"columns are given by name, as a mapping, not as {type(columns).__name__}")
        arrays = {str(name): _numbers(column, str(name)) for name, column in columns.items()}
        if not arrays:
            raise InputError("there are no scores")
        single = [name for name, array in arrays.items() if not array.ndim]
        if single:
            given = next(column for name, column in columns.items() if str(name) == single[0])
            raise InputError(f"{single[0]!r} must be numbers, systems x inputs, not {shown(given)}")
        first = next(iter(arrays.values()))
        widths = [array.shape[1] for array in arrays.values() if array.ndim == 2]
        systems = [str(at) for at in range(len(first))] if systems is None else list(map(str, systems))
        inputs = [str(at) for at in range(widths[0] if widths else 0)] if inputs is None else list(map(str, inputs))
        left_out = {name: int(np.isinf(array).sum()) for name, array in arrays.items()}
        finite = {name: np.where(np.isinf(array), np.nan, array) for name, array in arrays.items()}
        return cls(tuple(systems), tuple(inputs), finite, notes=infinite_notes(left_out))

    @classmethod
    def from_dicts(cls, columns: Mapping[str, Mapping[str, Any]]) -> ScoreMatrix:
        """From {column: {system: {input: score}}}, {column: {system: [score, ...]}} or {column: {system: score}}."""
        cells: dict[str, dict[tuple[str, str | None], float]] = {}
        for name, by_system in columns.items():
            own = cells.setdefault(str(name), {})
            for system, scores in by_system.items():
                for item, score in _items(scores):
                    value = _numbers(np.nan if score is None else score, f"{name}, system {system}")
                    if value.ndim:
                        raise InputError(f"{name!r} of system {system!r} holds a list where one number should stand")
                    own[str(system), item] = float(value)
        return from_cells(cells)

    @classmethod
    def from_records(
        cls,
        records: Iterable[Mapping[str, Any]],
        *,
        system_field: str | None = None,
        item_field: str | None = None,
        where: Mapping[str, Any] | None = None,
        average: bool = False,
    ) -> ScoreMatrix:
        """From one record per system and input, as `read_scores` reads them from files."""
        from .read_scores import gathered
        from .score_rows import RowFilter, ScoreRow

        if isinstance(records, (str, Mapping)) or not isinstance(records, Iterable):
            raise InputError(f"records are given as a list of mappings, not as {type(records).__name__}")
        rows = (ScoreRow(f"record {number}", record, False) for number, record in enumerate(records, 1))
        kept = RowFilter(where or {})
        matrix = gathered([("the records", rows)], system_field, item_field, kept, average)
        kept.check_fields()
        return replace(matrix, sources=())

    @property
    def size(self) -> str:
        return f"{counted(len(self.systems), 'system')} and {counted(len(self.inputs), 'input')}"

    def __getitem__(self, name: str) -> np.ndarray:
        """A column; one that is not there, or holds no numbers, is refused with the reason."""
        if name in self.values:
            return self.values[name]
        if name in self.unusable:
            raise InputError(self.unusable[name])
        inner = [column for column in self.values if column.startswith(f"{name}.")]
        if inner:
            raise InputError(
                f"there is no column {name!r}, but {listed(inner)}: did you mean '{name}.*' (all of them)?"
            )
        raise InputError(f"there is no column {name!r}: {nearest_names(name, self.values)}")

    def __iter__(self) -> Iterator[str]:
        return iter(self.values)

    def __contains__(self, name: object) -> bool:
        return name in self.values

    def expand(self, names: Iterable[str]) -> list[str]:
        """Names of columns; those with * or ? stand for all columns they fit."""
        columns: dict[str, None] = {}
        for name in names:
            fits = [name] if name in self.values else [column for column in self.values if fnmatchcase(column, name)]
            for column in fits or [name]:
                self[column]  # refuses what is not there
                columns[column] = None
        return list(columns)

    def selected(self, systems: Sequence[str], inputs: Sequence[str]) -> ScoreMatrix:
        """These systems and inputs, in this order."""
        rows, columns = _places(self.systems, systems), _places(self.inputs, inputs)
        values = {name: c[rows] if c.ndim == 1 else c[np.ix_(rows, columns)] for name, c in self.values.items()}
        return replace(self, systems=tuple(systems), inputs=tuple(inputs), values=values)

    def __repr__(self) -> str:
        return f"ScoreMatrix of {self.size}: {', '.join(self.values) or 'no columns'}"


@dataclass(frozen=True)
class Matched:
    """Two matrices over the same systems and inputs, in an order that does not depend on the order of rows."""

    first: ScoreMatrix
    second: ScoreMatrix
    notes: tuple[str, ...]
    """How many systems and inputs only one side had."""


def match(first: ScoreMatrix, second: ScoreMatrix, names: tuple[str, str] = ("scores", "ratings")) -> Matched:
    """What both sides know; it is an error if that is nothing."""
    notes = []
    both: list[list[str]] = []
    for what, here, there in (("system", first.systems, second.systems), ("input", first.inputs, second.inputs)):
        if what == "input" and not (here and there):  # scores of whole systems need no inputs
            both.append(in_order(here or there))
            continue
        shared = in_order(set(here) & set(there))
        if not (here and there):
            raise InputError(f"{names[1] if here else names[0]} have no {what}")
        if not shared:
            raise InputError(
                f"{names[0]} and {names[1]} have no {what} in common: one begins with {here[0]!r}, the other with "
                f"{there[0]!r}"
            )
        lonely = [(name, set(side) - set(shared)) for name, side in zip(names, (here, there), strict=True)]
        for name, some in lonely:
            if some:
                named = f": {listed(in_order(some))}" if what == "system" else ""
                notes.append(f"{counted(len(some), what)} only in {name}, left out{named}")
        both.append(shared)
    systems, inputs = both
    sides = [matrix.selected(systems, inputs if matrix.inputs else ()) for matrix in (first, second)]
    return Matched(sides[0], sides[1], tuple(notes))


def in_order(names: Iterable[str]) -> list[str]:
    """By length, then by letters: positions keep their order."""
    return sorted(names, key=lambda name: (len(name), name))


def counted(count: int, what: str) -> str:
    return f"{count:,} {what}{'' if count == 1 else 's'}"


def listed(names: Sequence[str], most: int = 5) -> str:
    """Names, of many the first ones and how many more."""
    if len(names) <= most + 1:  # "and 1 more" would save nothing
        return ", ".join(names)
    return f"{', '.join(names[:most])} and {len(names) - most:,} more"


def infinite_notes(counts: Mapping[str, int]) -> tuple[str, ...]:
    return tuple(
        f"{name}: {counted(count, 'infinite score')}, treated as missing" for name, count in counts.items() if count
    )


def from_cells(
    cells: Mapping[str, Mapping[tuple[str, str | None], float]],
    keys: Iterable[tuple[str, str | None]] = (),
    unusable: Mapping[str, str] | None = None,
    averaged: str = "",
    mixed: tuple[str, ...] = (),
    sources: tuple[str, ...] = (),
) -> ScoreMatrix:
    """By column: scores by (system, input), or by (system, None) for whole systems. keys: all, in order."""
    every = dict.fromkeys((*keys, *(key for column in cells.values() for key in column)))
    systems = {name: at for at, name in enumerate(dict.fromkeys(system for system, _ in every))}
    inputs = {name: at for at, name in enumerate(dict.fromkeys(item for _, item in every if item is not None))}
    if not systems:
        raise InputError("there are no scores")
    values = {}
    infinite: dict[str, int] = {}
    for name, column in cells.items():
        known = {key: value for key, value in column.items() if not math.isnan(value)}
        kinds = {item is None for _, item in (known or column)}
        if len(kinds) > 1:
            raise InputError(f"{name!r} has scores of whole systems and scores of inputs: it can be only one of them")
        whole = kinds == {True}
        array = np.full(len(systems) if whole else (len(systems), len(inputs)), np.nan)
        for (system, item), value in known.items():
            if math.isinf(value):
                infinite[name] = infinite.get(name, 0) + 1
            elif item is None:
                array[systems[system]] = value
            else:
                array[systems[system], inputs[item]] = value
        values[name] = array
    notes = infinite_notes(infinite)
    return ScoreMatrix(tuple(systems), tuple(inputs), values, unusable or {}, notes, averaged, mixed, sources)


def _items(scores: Any) -> Iterator[tuple[str | None, Any]]:
    if isinstance(scores, Mapping):
        yield from ((str(item), score) for item, score in scores.items())
    elif isinstance(scores, (Sequence, np.ndarray)) and not isinstance(scores, str) and getattr(scores, "ndim", 1) == 1:
        yield from ((str(at), score) for at, score in enumerate(scores))
    else:
        yield None, scores


def _numbers(values: Any, what: str) -> np.ndarray:
    given = array_of(values, repr(what))
    array = numbers_of(given, repr(what), "numbers, systems x inputs")
    if given.dtype.kind == "b" or array.ndim > 2:
        raise InputError(f"{what!r} must be numbers, systems x inputs, not {given.dtype} of shape {given.shape}")
    return array


def _places(names: Sequence[str], wanted: Sequence[str]) -> list[int]:
    at = {name: place for place, name in enumerate(names)}
    return [at[name] for name in wanted]
