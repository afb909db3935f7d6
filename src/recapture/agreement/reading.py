"""Files of scores: one row per system and input, any number of columns (JSONL, JSON, CSV, TSV, Parquet)."""

from __future__ import annotations

import math
import os
import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

from ..errors import InputError
from ..texts.reading import Source, no_field
from ..texts.records import has_field, kind, name_of, value_of
from .conditions import Conditions
from .matrix import ScoreMatrix, from_cells
from .rows import Placed, placed_rows

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


def read_scores(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    system_field: str | None = None,
    item_field: str | None = None,
    where: Mapping[str, Any] | None = None,
    input_format: str | None = None,
    average: bool = False,
) -> ScoreMatrix:
    """The scores of one file or of several, which may hold other systems, inputs or columns; "-" is standard input.

    Every row has a system and an input, in fields of the usual names (system, model, ...; item, id, doc_id, ...) or of
    those given; a row without an input holds scores of a whole system. All other fields that hold numbers are columns,
    those inside objects as NAME.INNER. where: keeps rows whose fields have these values (a list: one of them); it
    applies to the files that have the field. average: the mean of several rows of one system and input, such as
    raters'; without it they are an error.
    """
    return gathered(opened(paths, input_format), system_field, item_field, where, average)


def opened(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], input_format: str | None = None
) -> list[tuple[str, Placed]]:
    """The files by name, with their rows."""
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths) if isinstance(paths, Iterable) else None
    if listed is None or not all(isinstance(path, (str, os.PathLike)) for path in listed):
        raise InputError(f"files of scores are named by a path or a list of paths, not by {paths!r}")
    if not listed:
        raise InputError("no file of scores was named")
    return [(Source(os.fspath(path)).name, placed_rows(os.fspath(path), input_format)) for path in listed]


def gathered(
    files: Iterable[tuple[str, Placed]],
    system_field: str | None,
    item_field: str | None,
    where: Mapping[str, Any] | None,
    average: bool = False,
    conditions: Conditions | None = None,
) -> ScoreMatrix:
    """Rows as a matrix; two numbers for one cell are an error that names both places, unless they are averaged.

    conditions: instead of where, those that other files share, whose fields the caller looks after.
    """
    chosen = conditions or Conditions(where or {})
    cells: dict[str, dict[tuple[str, str | None], float]] = {}
    many: dict[str, dict[tuple[str, str | None], list[float]]] = {}
    rows_of: Counter[tuple[str, str | None]] = Counter()
    places: dict[tuple[str, str | None], list[str]] = {}
    origin: dict[str, dict[tuple[str, str | None], str]] = {}
    unusable: dict[str, str] = {}
    names = []
    for name, rows in files:
        names.append(name)
        own: dict[tuple[str, str | None], str] = {}
        fields: tuple[str, str | None] | None = None
        for place, record, loose in chosen.kept(rows, name):
            if not isinstance(record, Mapping):
                raise InputError(f"{place} is not an object but {kind(record)}")
            fields = fields or _fields(record, place, system_field, item_field)
            key = _key(record, place, *fields)
            rows_of[key] += 1
            if key in own and not average:
                raise _twice(key, own[key], place, also=chosen.unfound())
            own[key] = place
            for column, value in _columns(record, fields):
                number = _number(value, loose)
                if isinstance(number, str):
                    unusable.setdefault(column, f"{place}: field {column!r} must be a number, not {number}")
                    continue
                here = cells.setdefault(column, {})
                if average:
                    here[key] = math.nan
                    many.setdefault(column, {}).setdefault(key, []).append(number)
                    continue
                if not math.isnan(here.get(key, math.nan)) and not math.isnan(number):
                    raise _twice(key, origin[column][key], place, column)
                if math.isnan(here.get(key, math.nan)):
                    here[key] = number
                    origin.setdefault(column, {})[key] = place
        for key, place in own.items():
            places.setdefault(key, []).append(place)
    chosen.check_rows()
    if conditions is None:
        chosen.check_fields()
    for column, lists in many.items():
        cells[column] = {key: mean_of(values) for key, values in lists.items()}
    some = {column: by for column, by in cells.items() if not all(map(math.isnan, by.values()))}
    usable = {column: by for column, by in some.items() if column not in unusable}
    where_from = " and ".join(names)
    empty = {c: f"{where_from}: field {c!r} has no score in any row" for c in cells if c not in usable}
    mixed = tuple(column for column in some if column in unusable)
    several = [count for count in rows_of.values() if count > 1] if average else []
    said = f"{sum(several):,} rows are averaged into {len(several):,}, one for each system and input" if several else ""
    return from_cells(usable, places, {**empty, **unusable}, said, mixed)


def mean_of(values: Sequence[float]) -> float:
    """Of the numbers that are there; NaN if there is none, and infinite if one is."""
    known = [value for value in values if not math.isnan(value)]
    if any(map(math.isinf, known)):
        return math.inf
    if len(set(known)) < 2:  # no rounding of a number that every row repeats
        return known[0] if known else math.nan
    return math.fsum(known) / len(known)


def _fields(
    record: Mapping[str, Any], place: str, system_field: str | None, item_field: str | None
) -> tuple[str, str | None]:
    """Which fields name system and input, by a file's first row."""
    system = system_field or next((name for name in SYSTEM_FIELDS if name in record), None)
    if system is None or not has_field(record, system):
        error = no_field(place, [system_field or "system"], list(map(str, record)))
        hint = "" if system_field else " (--system-field names another)"
        raise InputError(f"{error}{hint}")
    if item_field is not None and not has_field(record, item_field):
        raise no_field(place, [item_field], list(map(str, record)))
    usual = (name for name in ITEM_FIELDS if name in record and name != system)
    return system, item_field or next(usual, None)


def _key(record: Mapping[str, Any], place: str, system: str, item: str | None) -> tuple[str, str | None]:
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


def _flat(record: Mapping[str, Any], before: str) -> Iterator[tuple[str, Any]]:
    flat: dict[str, Any] = {}
    for key, value in record.items():
        if isinstance(value, Mapping):
            flat = {**flat, **{name: flat.get(name, inner) for name, inner in _flat(value, f"{before}{key}.")}}
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
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        return kind(value)
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf if str(value)[0] != "-" else -math.inf


def _text(value: str) -> str:
    shown = value if len(value) <= _SHOWN else value[:_SHOWN] + "..."
    comma = re.fullmatch(r"\s*[-+]?\d+,\d+\s*", value) is not None
    return f"the text {shown!r}" + (" (a decimal comma: numbers are written with a point)" if comma else "")


def _twice(
    key: tuple[str, str | None], first: str, second: str, column: str | None = None, also: str = ""
) -> InputError:
    system, item = key
    what = f"system {system!r}" + ("" if item is None else f" on input {item!r}")
    if item is None:
        hint = "rows need a field that names their input: --item-field names it; --average takes the mean"
    else:
        hint = "--where FIELD=VALUE keeps one kind of rows, --average takes the mean, as of several raters"
    what = f"scores of {what}" if column is None else f"{column!r} of {what}"
    return InputError(f"{first} and {second} both have {what} ({hint}{also})")
