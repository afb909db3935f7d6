"""The rows of a file of scores: read by its format, and kept where their fields have the values asked for."""

from __future__ import annotations

import warnings
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from typing import Any, NamedTuple

from ...checks import plain_value
from ...errors import InputError, nearest_names, shown
from ...texts.parquet import needed
from ...texts.reading import Source, damage_told, plan
from ...texts.records import has_field, json_array, json_lines, kind, value_of
from ...texts.tables import table_rows

_MOST = 1000
"""Values of a field that are remembered, to name the nearest."""


class ScoreRow(NamedTuple):
    place: str
    """What to call it in messages: file and line."""
    record: Mapping[str, Any]
    loose: bool
    """Whether its texts may be numbers, as in CSV."""


class RowFilter:
    """Values by field, any of several; asked of the files that have the field at all."""

    def __init__(self, wanted: Mapping[str, Any]) -> None:
        if not isinstance(wanted, Mapping):
            raise InputError(f"rows are kept by a mapping from fields to values, not by {shown(wanted)}")
        self.wanted = {
            field: [_word(one) for one in value] if isinstance(value, (list, tuple, set)) else [_word(value)]
            for field, value in wanted.items()
        }
        self._values: dict[str, dict[str, None]] = {field: {} for field in wanted}
        self._heads: dict[str, None] = {}
        self._fields_seen: set[str] = set()
        self._names: list[str] = []
        self._any = False

    def kept(self, rows: Iterable[ScoreRow], name: str) -> Iterator[ScoreRow]:
        """The wanted rows of one file."""
        rows = list(rows) if self.wanted else rows
        own = [field for field in self.wanted if any(has_field(row.record, field) for row in rows)]
        self._fields_seen |= set(own)
        self._names.append(name)
        empty = True
        for row in rows:
            empty = False
            if self.wanted:
                self._heads |= dict.fromkeys(map(str, row.record))
            if all(self._fits(row, field) for field in own):
                self._any = True
                yield row
        if empty:
            raise InputError(f"{name} holds no scores")

    def _fits(self, row: ScoreRow, field: str) -> bool:
        if not has_field(row.record, field):
            return False
        value = _word(value_of(row.record, row.place, field))
        if len(self._values[field]) < _MOST:
            self._values[field][value] = None
        return value in self.wanted[field]

    def check_rows(self) -> None:
        """Refuse conditions that no row of the files so far meets."""
        if self._any or not self._fields_seen:
            self._any = False  # files that are read later have to meet them, too
            return
        asked = " and ".join(f"{field} {' or '.join(map(repr, values))}" for field, values in self.wanted.items())
        field = next(field for field in self.wanted if field in self._fields_seen)
        near = nearest_names(self.wanted[field][0], self._values[field])
        raise InputError(f"{', '.join(self._names)}: no row has {asked}: {near}")

    def unseen(self) -> str:
        """Of fields that no row has had so far, for messages about rows that should not be there."""
        absent = [field for field in self.wanted if field not in self._fields_seen]
        return f"; no row so far has the field {absent[0]!r} that rows are kept by" if absent else ""

    def check_fields(self) -> None:
        """Refuse conditions on fields that none of the files has."""
        for field in self.wanted:
            if field not in self._fields_seen:
                files = " or ".join(self._names)
                raise InputError(f"no row of {files} has a field {field!r}: {nearest_names(field, self._heads)}")


def _word(value: Any) -> str:
    """As JSON writes it."""
    value = plain_value(value, "a value that rows are kept by")
    return (
        {True: "true", False: "false", None: "null"}[value] if value is None or isinstance(value, bool) else str(value)
    )


def rows_of_file(path: str, input_format: str | None) -> Iterator[ScoreRow]:
    """The suffix tells the format, unless it is named; standard input is jsonl unless it is."""
    usual = "jsonl" if path == "-" else None
    ((source, known, _),) = plan([path], [usual if input_format is None else input_format], None)
    if known.name in ("jsonl", "json"):
        return _objects(source, json_lines if known.name == "jsonl" else json_array)
    if known.name in ("csv", "tsv"):
        return _table(source, "," if known.name == "csv" else "\t")
    if known.name == "parquet":
        return _parquet(source)
    with source.opened():  # of a file that is not there its name's ending is the lesser trouble
        pass
    raise InputError(f"{source.name}: scores are read from jsonl, json, csv, tsv or parquet", options=["input_format"])


def _objects(source: Source, values: Any) -> Iterator[ScoreRow]:
    for _, place, record in values(source):
        if not isinstance(record, Mapping):
            raise InputError(f"{place} is not an object but {kind(record)}")
        yield ScoreRow(place, record, False)


def _table(source: Source, delimiter: str) -> Iterator[ScoreRow]:
    heads: list[str] = []
    notes: list[str] = []
    for line, cells in table_rows(source, delimiter, notes):
        place = f"{source.name} line {line}"
        if not heads:
            heads = cells
            again = next((head for head, count in Counter(heads).items() if count > 1), None)
            if again is not None:
                raise InputError(f"{place}: more than one column is called {shown(again)}")
        elif cells and len(cells) != len(heads):
            raise InputError(f"{place}: the row has {len(cells)} cells, but the header has {len(heads)}")
        elif cells:
            yield ScoreRow(place, dict(zip(heads, cells, strict=True)), True)
    for note in notes:
        warnings.warn(note, stacklevel=2)


def _parquet(source: Source) -> Iterator[ScoreRow]:
    pyarrow = needed(source)
    if source.is_pipe or source.suffixes[1]:
        raise InputError(f"{source.name}: parquet can neither be compressed as a whole nor come through a pipe")
    number = 0
    with source.opened() as stream:
        with damage_told(source, "parquet"):
            batches = pyarrow.parquet.ParquetFile(stream).iter_batches()
        while True:
            with damage_told(source, "parquet"):
                batch = next(batches, None)
                records = [] if batch is None else batch.to_pylist()
            if batch is None:
                return
            for record in records:
                number += 1
                yield ScoreRow(f"{source.name} row {number}", record, False)
