"""Tables with a header row: comma- or tab-separated values."""

from __future__ import annotations

import csv
import itertools
import re
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial

from ..errors import InputError
from .reading import START, Format, Place, Samples, Source, pick_field, text_samples

# The module's own limit of 128 KiB per cell is less than a long document; this is the most every platform takes.
_LONGEST_CELL = 2**31 - 1
_DELIMITERS = {",": "commas", ";": "semicolons", "\t": "tabs"}
_SAID = re.compile(r'"?sep=([,;\t])"?\r?\n?')
"""A first line by which Excel is told what stands between cells."""
_FEW_LINES, _MANY_LINES = 3, 100


class _LongCells:
    """While any table is read, cells may be long. All threads share the limit: the last reader restores it."""

    _lock = threading.Lock()
    _readers = 0
    _before = 0

    @classmethod
    @contextmanager
    def allowed(cls) -> Iterator[None]:
        with cls._lock:
            cls._readers += 1
            if cls._readers == 1:
                cls._before = csv.field_size_limit(_LONGEST_CELL)
        try:
            yield
        finally:
            with cls._lock:
                cls._readers -= 1
                if not cls._readers:
                    csv.field_size_limit(cls._before)


def _read(source: Source, field: str | None, *, delimiter: str) -> Samples:
    notes: list[str] = []
    samples = text_samples(source, list(_cells(source, field, table_rows(source, delimiter, notes))))
    return replace(samples, notes=tuple(notes))


def _cells(source: Source, field: str | None, rows: Iterator[tuple[int, list[str]]]) -> Iterator[str]:
    column, width = 0, 0
    for line, row in rows:
        where = f"{source.name} line {line}"
        if not width:
            column, width = row.index(pick_field(where, row, field)), len(row)
        elif not row and width > 1:
            continue  # an empty line is no row of a table, though in a single column it is an empty text
        elif len(row or [""]) != width:
            raise _other_width(where, row, width)
        else:
            yield row[column] if row else ""


def _stream(source: Source, field: str | None, start: Place, *, delimiter: str) -> Iterator[tuple[Place, str]]:
    """Cells from any row on: the header is read first, wherever that is."""
    with _LongCells.allowed():
        begin = list(itertools.islice(source.located(held=False), 2))
        found, skipped = _delimiter([line for _, _, line in begin], delimiter)
        if len(begin) <= skipped:
            return
        rows = _located_rows(source, found, Place(begin[skipped][1], skipped + 1))
        place, header = next(rows)
        column = header.index(pick_field(f"{source.name} line {place.line}", header, field))
        if start != START:
            rows = _located_rows(source, found, start)
        for place, row in rows:
            if not row and len(header) > 1:
                continue
            if len(row or [""]) != len(header):
                raise _other_width(f"{source.name} line {place.line}", row, len(header))
            yield place, row[column] if row else ""


def _located_rows(source: Source, delimiter: str, start: Place) -> Iterator[tuple[Place, list[str]]]:
    taken: list[Place] = []

    def lines() -> Iterator[str]:
        for number, offset, line in source.located(start, held=False):
            taken.append(Place(offset, number))
            yield line

    reader = csv.reader(lines(), delimiter=delimiter, strict=True)  # it takes no line before it is asked for a row
    try:
        for row in reader:
            yield taken[0], row
            taken.clear()
    except csv.Error as error:
        raise _broken(source, taken[0].line if taken else start.line, error) from None


def _broken(source: Source, line: int, error: csv.Error) -> InputError:
    reason = str(error).partition(" - ")[0]  # what may follow is advice to programmers
    return InputError(f"{source.name} line {line}: broken row: {reason}")


def _other_width(where: str, row: list[str], width: int) -> InputError:
    return InputError(f"{where}: the row has {len(row)} cells, but the header has {width}")


def table_rows(source: Source, delimiter: str, notes: list[str]) -> Iterator[tuple[int, list[str]]]:
    """Every row with the line it starts on: a quoted cell may run over several lines.

    A table that is plainly separated by something else is read so. `notes` gets sentences about what looks odd.
    """
    with _LongCells.allowed():
        numbered = source.lines()
        begin = list(itertools.islice(numbered, 2))
        found, skipped = _delimiter([line for _, line in begin], delimiter)
        if found != delimiter:
            notes.append(f"{source.name} is read as a table with {_DELIMITERS[found]} between its cells")
        reader = csv.reader(
            (line for _, line in itertools.chain(begin[skipped:], numbered)), delimiter=found, strict=True
        )
        start, width, suspected = skipped + 1, 0, False
        try:
            for row in reader:
                yield start, row
                width, end = width or len(row), reader.line_num + skipped
                if end > start and not suspected and _swallows(row, found, width):
                    suspected = True
                    notes.append(
                        f"{source.name} line {start}: a cell in quotes runs down to line {end}, over what looks like "
                        "other rows: a quote may not be closed"
                    )
                start = end + 1
        except csv.Error as error:
            raise _broken(source, start, error) from None


def _delimiter(begin: list[str], usual: str) -> tuple[str, int]:
    """What stands between cells by the first two lines, and how many lines only say so."""
    said = _SAID.fullmatch(begin[0]) if begin else None
    if said:
        return said[1], 1
    if begin and _width(begin[0], usual) == 1:
        for other in _DELIMITERS:
            if all(_width(line, other) > 1 for line in begin):
                return other, 0
    return usual, 0


def _width(line: str, delimiter: str) -> int:
    """How many cells a line has; one that is broken, or goes on below, as many as can be seen."""
    try:
        return len(next(csv.reader([line], delimiter=delimiter), []))
    except csv.Error:
        return 1


def _swallows(row: list[str], delimiter: str, width: int) -> bool:
    """Whether a cell looks like several rows: it has very many lines, or all inner ones are as wide as the header."""
    for cell in row:
        inner = cell.split("\n")[1:-1]
        alike = width > 1 and len(inner) >= _FEW_LINES and all(_width(one, delimiter) == width for one in inner)
        if alike or len(inner) >= _MANY_LINES:
            return True
    return False


FORMATS = (
    Format("csv", (".csv",), partial(_read, delimiter=","), stream=partial(_stream, delimiter=",")),
    Format("tsv", (".tsv", ".tab"), partial(_read, delimiter="\t"), stream=partial(_stream, delimiter="\t")),
)
