"""Files of scores: one row per system and input, any number of columns (JSONL, JSON, CSV, TSV, Parquet)."""

from __future__ import annotations

import math
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from decimal import Decimal
from numbers import Real
from typing import Any

from ..errors import InputError, nearest_names
from ..texts.base import no_field
from ..texts.records import has_field, kind, name_of, value_of
from ..texts.source import Source
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


def read_scores(
    paths: str | os.PathLike[str] | Sequence[str | os.PathLike[str]],
    *,
    system_field: str | None = None,
    item_field: str | None = None,
    where: Mapping[str, Any] | None = None,
    input_format: str | None = None,
) -> ScoreMatrix:
    """The scores of one file or of several, which may hold other systems, inputs or columns; "-" is standard input.

    Every row has a system and an input, in fields of the usual names (system, model, ...; item, id, doc_id, ...) or of
    those given; a row without an input holds scores of a whole system. All other fields that hold numbers are columns,
    those inside objects as NAME.INNER. where: keeps rows whose fields have these values.
    """
    listed = [paths] if isinstance(paths, (str, os.PathLike)) else list(paths)
    if not listed:
        raise InputError("no file of scores was named")
    files = [(Source(os.fspath(path)).name, placed_rows(os.fspath(path), input_format)) for path in listed]
    return gathered(files, system_field, item_field, where)


def gathered(
    files: Iterable[tuple[str, Placed]],
    system_field: str | None,
    item_field: str | None,
    where: Mapping[str, Any] | None,
) -> ScoreMatrix:
    """Rows as a matrix; two numbers for one cell are an error that names both places."""
    cells: dict[str, dict[tuple[str, str | None], float]] = {}
    places: dict[tuple[str, str | None], list[str]] = {}
    unusable: dict[str, str] = {}
    for name, rows in files:
        own: dict[tuple[str, str | None], str] = {}
        fields: tuple[str, str | None] | None = None
        for place, record, loose in _kept(rows, where or {}, name):
            fields = fields or _fields(record, place, system_field, item_field)
            key = _key(record, place, *fields)
            if key in own:
                raise _twice(key, own[key], place)
            own[key] = place
            for column, value in _columns(record, fields):
                number = _number(value, loose)
                if isinstance(number, str):
                    unusable.setdefault(column, f"{place}: field {column!r} must be a number, not {number}")
                    continue
                here = cells.setdefault(column, {})
                if not math.isnan(here.get(key, math.nan)) and not math.isnan(number):
                    raise _twice(key, places[key][0], place, column)
                if math.isnan(here.get(key, math.nan)):
                    here[key] = number
        for key, place in own.items():
            places.setdefault(key, []).append(place)
    usable = {column: by for column, by in cells.items() if column not in unusable}
    usable = {column: by for column, by in usable.items() if not all(map(math.isnan, by.values()))}
    empty = {column: f"field {column!r} has no score in any row" for column in cells if column not in usable}
    return from_cells(usable, places, {**empty, **unusable})


def _kept(rows: Placed, where: Mapping[str, Any], name: str) -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """Rows that have the values asked for; none at all is an error."""
    seen: dict[str, dict[str, None]] = {field: {} for field in where}
    any_row = any_kept = False
    for place, record, loose in rows:
        any_row = True
        values = {field: _word(value_of(record, place, field)) for field in where}
        for field, value in values.items():
            seen[field][value] = None
        if all(values[field] == _word(wanted) for field, wanted in where.items()):
            any_kept = True
            yield place, record, loose
    if not any_row:
        raise InputError(f"{name} holds no scores")
    if not any_kept:
        asked = " and ".join(f"{field} {str(wanted)!r}" for field, wanted in where.items())
        field, wanted = next(iter(where.items()))
        known = list(seen[field])[:1000]
        raise InputError(f"{name}: no row has {asked}: {nearest_names(str(wanted), known)}")


def _word(value: Any) -> str:
    """As JSON writes it."""
    return (
        {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) else str(value)
    )


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
            return float(text) if "_" not in text else "a text"
        except ValueError:
            return "a text"
    if value is None:
        return math.nan
    if isinstance(value, bool) or not isinstance(value, (Real, Decimal)):
        return kind(value)
    try:
        return float(value)
    except OverflowError:  # a whole number of hundreds of digits
        return math.inf if str(value)[0] != "-" else -math.inf


def _twice(key: tuple[str, str | None], first: str, second: str, column: str | None = None) -> InputError:
    system, item = key
    what = f"system {system!r}" + ("" if item is None else f" on input {item!r}")
    if item is None:
        hint = "rows need a field that names their input: --item-field names it"
    else:
        hint = "--where FIELD=VALUE keeps one kind of rows"
    what = f"scores of {what}" if column is None else f"{column!r} of {what}"
    return InputError(f"{first} and {second} both have {what} ({hint})")
