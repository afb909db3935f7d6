"""The rows of a file of scores, by its format."""

from __future__ import annotations

import csv
from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import InputError
from ..texts.reading import Source, first_line, plan
from ..texts.records import json_array, json_lines, kind
from ..texts.tables import LONGEST_CELL, _rows

Placed = Iterable[tuple[str, Mapping[str, Any], bool]]
"""Rows, each with the name of its place, and whether its texts may be numbers."""


def placed_rows(path: str, input_format: str | None) -> Placed:
    """The suffix tells the format, unless it is named; standard input is jsonl unless it is."""
    ((source, known, _),) = plan([path], [input_format or ("jsonl" if path == "-" else None)], None)
    if known.name in ("jsonl", "json"):
        return _objects(source, json_lines if known.name == "jsonl" else json_array)
    if known.name in ("csv", "tsv"):
        return _table(source, "," if known.name == "csv" else "\t")
    if known.name == "parquet":
        return _parquet(source)
    raise InputError(
        f"{source.name}: scores are read from jsonl, json, csv, tsv or parquet (--input-format says which)"
    )


def _objects(source: Source, values: Any) -> Placed:
    for _, place, record in values(source):
        if not isinstance(record, Mapping):
            raise InputError(f"{place} is not an object but {kind(record)}")
        yield place, record, False


def _table(source: Source, delimiter: str) -> Placed:
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        heads: list[str] = []
        for line, row in _rows(source, delimiter):
            place = f"{source.name} line {line}"
            if not heads:
                heads = row
                again = [head for head in heads if heads.count(head) > 1]
                if again:
                    raise InputError(f"{place}: more than one column is called {again[0]!r}")
            elif row and len(row) != len(heads):
                raise InputError(f"{place}: the row has {len(row)} cells, but the header has {len(heads)}")
            elif row:
                yield place, dict(zip(heads, row, strict=True)), True
    finally:
        csv.field_size_limit(limit)


def _parquet(source: Source) -> Placed:
    try:
        import pyarrow.parquet
    except ImportError:
        raise InputError(f'{source.name}: Parquet needs pyarrow: pip install "recapture[parquet]"') from None
    if source.path == "-" or source.suffixes[1]:
        raise InputError(f"{source.name}: parquet can neither be compressed as a whole nor come through standard input")
    number = 0
    try:
        with source.opened() as stream:
            for batch in pyarrow.parquet.ParquetFile(stream).iter_batches():
                for record in batch.to_pylist():
                    number += 1
                    yield f"{source.name} row {number}", record, False
    except (InputError, GeneratorExit):
        raise
    except Exception as error:  # damaged bytes make Arrow fail in more ways than can be listed
        raise InputError(f"{source.name} cannot be read as parquet: {first_line(error)}") from error
