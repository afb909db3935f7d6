"""Files of scores: one row per system and input, any number of columns (JSONL, JSON, CSV, TSV, Parquet)."""

from __future__ import annotations

import math
import os
import re
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, Literal, overload

from ...checks import DEEPEST, is_number, plain_arguments, plain_value
from ...errors import InputError, shown
from ...texts.reading import Source, no_field
from ...texts.records import check_characters, has_field, kind, name_of, value_of
from .score_matrix import ScoreMatrix, from_cells
from .score_rows import RowFilter, ScoreRow, rows_of_file

SYSTEM_FIELDS = (
    "system",
    "model",
    "candidate",
    "system_id",
    "sys_id",
    "system_name",
    "submission",
    "generator",
    "team",
)
ITEM_FIELDS = (
    "item", "id", "input", "segment", "item_id", "input_id", "segment_id", "seg_id", "doc_id", "sid", "context",
    "document", "example", "instance", "sample_id", "index",
)  # fmt: skip
"""What rows usually call their system and their input, the first that a file has."""
_MISSING = ("", "na", "n/a", "nan", "null", "none")
"""Cells of tables that hold no score."""
_SHOWN = 30
"""Characters of a text that stands where a number should."""


Paths = str | os.PathLike[str] | Sequence[str | os.PathLike[str]]
Key = tuple[str, str | None]
"""System and input; None: a number of the whole system."""
ScoreFormat = Literal["jsonl", "json", "csv", "tsv", "parquet"]


@overload
def read_scores(
    paths: Paths,
    *,
    human_files: None = None,
    system_field: str | None = None,
    item_field: str | None = None,
    where: Mapping[str, Any] | None = None,
    input_format: ScoreFormat | None = None,
    average: bool = False,
) -> ScoreMatrix: ...


@overload
def read_scores(
    paths: Paths,
    *,
    human_files: Paths,
    system_field: str | None = None,
    item_field: str | None = None,
    where: Mapping[str, Any] | None = None,
    input_format: ScoreFormat | None = None,
    average: bool = False,
) -> tuple[ScoreMatrix, ScoreMatrix]: ...


@plain_arguments
def read_scores(
    paths: Paths,
    *,
    human_files: Paths | None = None,
    system_field: str | None = None,
    item_field: str | None = None,
    where: Mapping[str, Any] | None = None,
    input_format: ScoreFormat | None = None,
    average: bool = False,
) -> ScoreMatrix | tuple[ScoreMatrix, ScoreMatrix]:
    """The scores of files, one row per system and input: what `recapture pairs --per-item` writes, and others like it.

    All fields that hold numbers are columns, those inside objects as NAME.INNER. A row without an input holds scores of
    a whole system.

    Parameters
    ----------
    paths
        One file or several, which may hold other systems, inputs or columns; "-" is standard input.
    human_files
        Files with people's ratings, where they are not among the scores.
    system_field, item_field
        The fields that name a row's system and its input (default: the first of the usual names that a file has, such
        as system or model, and item, id or doc_id).
    where
        Keeps rows whose fields have these values (a list: one of them); it applies to the files that have the field.
    input_format
        How to read (default: by each file's name).
    average
        Takes the mean of several rows of one system and input, such as raters'; without it they are an error.

    Returns
    -------
    ScoreMatrix
        With human_files two of them: the scores, and the ratings.

    Raises
    ------
    InputError
        Where a row cannot be used, with file, line and reason; where two rows give one number.

    Examples
    --------
    >>> import os, tempfile
    >>> import recapture as rc
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = os.path.join(folder, "scores.csv")
    ...     with open(path, "w") as file:
    ...         _ = file.write("system,item,bleu,fluency\\na,1,0.3,4\\na,2,0.5,5\\nb,1,0.2,3\\nb,2,,1\\n")
    ...     scores = rc.read_scores(path)
    >>> scores
    ScoreMatrix of 2 systems and 2 inputs: bleu, fluency
    >>> scores["bleu"].tolist()
    [[0.3, 0.5], [0.2, nan]]
    """
    kept = RowFilter({} if where is None else where)
    fields = system_field, item_field
    scores = gathered(_opened(paths, input_format), *fields, kept, average)
    if human_files is None:
        kept.check_fields()
        return scores
    ratings = gathered(_opened(human_files, input_format), *fields, kept, average)
    kept.check_fields()
    return scores, ratings


def _opened(paths: Paths, input_format: str | None) -> list[tuple[str, Iterator[ScoreRow]]]:
    """The files by name, with their rows."""
    several = isinstance(paths, Iterable) and getattr(paths, "ndim", 1) != 0
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths) if several else None
    if listed is None or not all(isinstance(path, (str, os.PathLike)) for path in listed):
        raise InputError(f"files of scores are named by a path or a list of paths, not by {shown(paths)}")
    if not listed:
        raise InputError("no file of scores was named")
    return [(Source(os.fspath(path)).name, rows_of_file(os.fspath(path), input_format)) for path in listed]


def gathered(
    files: Iterable[tuple[str, Iterable[ScoreRow]]],
    system_field: str | None,
    item_field: str | None,
    kept: RowFilter,
    average: bool = False,
) -> ScoreMatrix:
    """Rows as a matrix; two numbers for one cell are an error that names both places, unless they are averaged."""
    numbers = _Numbers(average)
    places: dict[Key, None] = {}
    rows_of: Counter[Key] = Counter()
    names = []
    for name, rows in files:
        names.append(name)
        place_of: dict[Key, str] = {}
        fields: tuple[str, str | None] | None = None
        for row in kept.kept(rows, name):
            if not isinstance(row.record, Mapping):
                raise InputError(f"{row.place} is not an object but {kind(row.record)}")
            fields = fields or _fields(row, system_field, item_field)
            key = _key(row, *fields)
            rows_of[key] += 1
            if key in place_of and not average:
                raise _twice(key, place_of[key], row.place, also=kept.unseen())
            place_of[key] = row.place
            for column, value in _columns(row.record, fields):
                numbers.add(column, key, _number(value, row.loose), row.place)
        places |= dict.fromkeys(place_of)
    kept.check_rows()
    several = [count for count in rows_of.values() if count > 1] if average else []
    said = f"{sum(several):,} rows are averaged into {len(several):,}, one for each system and input" if several else ""
    usable, unusable, mixed = numbers.columns(" and ".join(names))
    return from_cells(usable, places, unusable, said, mixed, tuple(names))


class _Numbers:
    """The numbers of every column by system and input, as rows give them."""

    def __init__(self, average: bool) -> None:
        self._average = average
        self._cells: dict[str, dict[Key, float]] = {}
        self._several: dict[str, dict[Key, list[float]]] = {}
        self._origin: dict[str, dict[Key, str]] = {}
        self._unusable: dict[str, str] = {}

    def add(self, column: str, key: Key, number: float | str, place: str) -> None:
        """number: NaN for a missing one, or words for what stands there instead."""
        if column not in self._cells and column not in self._unusable:
            check_characters(column, f"{place}: the name of a field")
        if isinstance(number, str):
            self._unusable.setdefault(column, f"{place}: field {column!r} must be a number, not {number}")
            return
        cells = self._cells.setdefault(column, {})
        if self._average:
            cells[key] = math.nan  # which the mean of all replaces
            self._several.setdefault(column, {}).setdefault(key, []).append(number)
            return
        absent = math.isnan(cells.get(key, math.nan))
        if not absent and not math.isnan(number):
            raise _twice(key, self._origin[column][key], place, column)
        if absent:
            cells[key] = number
            self._origin.setdefault(column, {})[key] = place

    def columns(self, files: str) -> tuple[dict[str, dict[Key, float]], dict[str, str], tuple[str, ...]]:
        """Columns of numbers; why the others hold none; and those of them that hold some numbers."""
        cells = dict(self._cells)
        for column, lists in self._several.items():
            cells[column] = {key: mean_of(values) for key, values in lists.items()}
        some = {column: by_key for column, by_key in cells.items() if not all(map(math.isnan, by_key.values()))}
        usable = {column: by_key for column, by_key in some.items() if column not in self._unusable}
        empty = {name: f"{files}: field {name!r} has no score in any row" for name in cells if name not in usable}
        mixed = tuple(column for column in some if column in self._unusable)
        return usable, {**empty, **self._unusable}, mixed


def mean_of(values: Sequence[float]) -> float:
    """Of the numbers that are there; NaN if there is none, and infinite if one is."""
    known = [value for value in values if not math.isnan(value)]
    if any(map(math.isinf, known)):
        return math.inf
    if len(set(known)) < 2:  # no rounding of a number that every row repeats
        return known[0] if known else math.nan
    return math.fsum(known) / len(known)


def _fields(row: ScoreRow, system_field: str | None, item_field: str | None) -> tuple[str, str | None]:
    """Which fields name system and input, by a file's first row."""
    place, record, _ = row
    system = system_field or next((name for name in SYSTEM_FIELDS if name in record), None)
    if system is None or not has_field(record, system):
        error = no_field(place, [system_field or "system"], list(map(str, record)))
        raise InputError(str(error), options=[] if system_field else ["system_field"])
    if item_field is not None and not has_field(record, item_field):
        raise no_field(place, [item_field], list(map(str, record)))
    usual = (name for name in ITEM_FIELDS if name in record and name != system)
    return system, item_field or next(usual, None)


def _key(row: ScoreRow, system: str, item: str | None) -> Key:
    place, record, _ = row
    name = _name(value_of(record, place, system), place, system)
    if not name:
        raise InputError(f"{place}: field {system!r} names no system")
    if item is None or not has_field(record, item):
        return name, None
    return name, _name(value_of(record, place, item), place, item) or None


def _name(value: Any, place: str, field: str) -> str:
    if value is None or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, float) and value.is_integer():  # whole numbers of a column that has gaps
        value = int(value)
    return name_of(value, place, field).strip()


def _columns(record: Mapping[str, Any], fields: tuple[str, str | None]) -> Iterator[tuple[str, Any]]:
    """All fields but those two; of two with one name the key of the whole name counts."""
    for name, value in _flat(record, ""):
        if name not in fields:
            yield name, value


def _flat(record: Mapping[str, Any], before: str, depth: int = 0) -> Iterator[tuple[str, Any]]:
    if depth > DEEPEST:
        raise InputError(f"a record has objects inside each other, more than {DEEPEST} levels deep")
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            flat = {
                **flat,
                **{name: flat.get(name, inner) for name, inner in _flat(value, f"{before}{key}.", depth + 1)},
            }
        else:
            flat[f"{before}{key}"] = value
    yield from flat.items()


def _number(value: Any, loose: bool) -> float | str:
    """A score, NaN for a missing one, or words for what stands there instead."""
    if loose and isinstance(value, str):
        text = value.strip()
        if text.lower() in _MISSING:
            return math.nan
        try:
            return float(text) if "_" not in text else _text(value)
        except ValueError:
            return _text(value)
    if value is None:
        return math.nan
    if isinstance(value, str):
        return _text(value)
    if isinstance(value, int) and value.bit_length() > sys.float_info.max_exp:  # hundreds of digits
        return math.copysign(math.inf, value > 0 or -1)
    value = plain_value(value)
    if not (is_number(value) or isinstance(value, (Fraction, Decimal))):
        return kind(value)
    try:
        return float(value)
    except OverflowError:  # the last few whole numbers that are too large, and fractions
        return math.inf if value > 0 else -math.inf
    except ValueError:  # of decimals there is a NaN that may not even be looked at
        return math.nan


def _text(value: str) -> str:
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", value) is not None
    return f"the text {shown!r}" + (" (a decimal comma: numbers are written with a point)" if comma else "")


def _twice(key: Key, first: str, second: str, column: str | None = None, also: str = "") -> InputError:
    system, item = key
    what = f"system {system!r}" + ("" if item is None else f" on input {item!r}")
    what = f"scores of {what}" if column is None else f"{column!r} of {what}"
    if item is None:
        hint, options = "rows need a field that names their input, or are to be averaged", ["item_field", "average"]
    else:
        hint, options = "keep one kind of rows, or take the mean, as of several raters", ["where", "average"]
    return InputError(f"{first} and {second} both have {what}: {hint}{also}", options=options)
