"""Tables with a header row: comma- or tab-separated values."""

from __future__ import annotations

import csv
from collections.abc import Iterator
from functools import partial

from ..errors import InputError
from .reading import Format, Samples, Source, pick_field, text_samples

# The module's own limit of 128 KiB per cell is less than a long document; this is the most every platform takes.
LONGEST_CELL = 2**31 - 1


def _read(source: Source, field: str | None, *, delimiter: str) -> Samples:
    limit = csv.field_size_limit(LONGEST_CELL)
    try:
        return text_samples(source, list(_cells(source, field, _rows(source, delimiter))))
    finally:
        csv.field_size_limit(limit)


def _cells(source: Source, field: str | None, rows: Iterator[tuple[int, list[str]]]) -> Iterator[str]:
    column, width = 0, 0
    for line, row in rows:
        where = f"{source.name} line {line}"
        if not width:
            column, width = row.index(pick_field(where, row, field)), len(row)
        elif not row and width > 1:
            continue  # an empty line is no row of a table, though in a single column it is an empty text
        elif len(row or [""]) != width:
            raise InputError(f"{where}: the row has {len(row)} cells, but the header has {width}")
        else:
            yield row[column] if row else ""


def _rows(source: Source, delimiter: str) -> Iterator[tuple[int, list[str]]]:
    """Every row with the line it starts on: a quoted cell may run over several lines."""
    reader = csv.reader((line for _, line in source.lines()), delimiter=delimiter, strict=True)
    start = 1
    try:
        for row in reader:
            yield start, row
            start = reader.line_num + 1
    except csv.Error as error:
        reason = str(error).partition(" - ")[0]  # what may follow is advice to programmers
        raise InputError(f"{source.name} line {start}: broken row: {reason}") from None


FORMATS = (
    Format("csv", (".csv",), partial(_read, delimiter=",")),
    Format("tsv", (".tsv", ".tab"), partial(_read, delimiter="\t")),
)
