"""Columns of Arrow, from Parquet and from Arrow's own files: of texts, or of lists of numbers.

A column is read in batches. Texts are put together; vectors go into one array that is as large as they are.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .reading import (
    MOST_BYTES,
    START,
    Format,
    Place,
    Samples,
    Source,
    VectorBlocks,
    check_vectors,
    no_limits,
    pick_field,
    text_samples,
    too_much,
    vector_samples,
)

_FLOATS = {"halffloat": "float16", "float": "float32", "double": "float64"}
"""Names of Arrow's, and NumPy's; whole numbers have the same. Arrow itself tells only where pandas is installed."""
_ROWS = 4096
"""Of a batch: with a few hundred numbers a row some MB."""


class FileColumn(NamedTuple):
    """One column of a file."""

    name: str
    type: Any
    rows: int
    batches: Callable[[int], Iterator[Any]]
    """From the first row to give to arrays of Arrow."""

    @property
    def holds_texts(self) -> bool:
        import pyarrow

        kind = self.type.value_type if pyarrow.types.is_dictionary(self.type) else self.type
        return str(kind) in ("string", "large_string", "string_view")

    @property
    def item(self) -> Any:
        """The type of the numbers, where it holds lists of them."""
        import pyarrow

        is_type = pyarrow.types
        item = getattr(self.type, "value_type", None) if is_type.is_nested(self.type) else None
        return item if item is not None and (is_type.is_floating(item) or is_type.is_integer(item)) else None


Opened = Callable[[Source, str | None], Any]
"""A context in which there is a `FileColumn`."""


@contextmanager
def parquet_column(source: Source, field: str | None) -> Iterator[FileColumn]:
    pyarrow = needed(source)
    with source.opened() as stream:
        # Read as it is asked for: a group of rows may be as large as the file.
        file = pyarrow.parquet.ParquetFile(stream, pre_buffer=False, buffer_size=1 << 20)
        name = pick_field(source.name, file.schema_arrow.names, field)

        def batches(start: int) -> Iterator[Any]:
            groups: list[int] = []
            before = 0
            for group in range(file.metadata.num_row_groups):
                size = file.metadata.row_group(group).num_rows
                if groups or before + size > start:
                    groups.append(group)
                else:
                    before += size
            if not groups:  # which some releases of Arrow take for an error
                return
            skip = start - before
            for batch in file.iter_batches(columns=[name], row_groups=groups, batch_size=_ROWS):
                # A dot in a name means a field inside another for Arrow, which then gives both.
                taken = batch.select([name]).column(0)[min(skip, len(batch)) :]
                skip = max(0, skip - len(batch))
                if len(taken):
                    yield taken

        yield FileColumn(name, file.schema_arrow.field(name).type, file.metadata.num_rows, batches)


def needed(source: Source, what: str = "Parquet") -> Any:
    """The library, with its readers of Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(f'{source.name}: {what} needs pyarrow: pip install "recapture[parquet]"') from None
    return pyarrow


def read_columns(opened: Opened, source: Source, field: str | None) -> Samples:
    """Samples of a column. A few bytes may claim very many rows, so it is counted."""
    with opened(source, field) as column:
        _check_kind(source, column)
        if column.holds_texts:
            return text_samples(source, [text for _, text in _texts(source, column, START, held=True)])
        if not column.rows:
            return vector_samples(source, np.empty((0, 0)))
        known = _blocks(source, column)
        _check_size(source, column, column.rows * known.shape[1] * known.kind.itemsize)
        return vector_samples(source, known.whole())


def stream_column(opened: Opened, source: Source, field: str | None, start: Place) -> Iterator[tuple[Place, str]]:
    """Texts of a column from a row on."""
    with opened(source, field) as column:
        if not column.holds_texts:
            raise InputError(f"{source.name}: field {column.name!r} is of type {column.type}, not texts")
        yield from _texts(source, column, start, held=False)


def column_blocks(opened: Opened, source: Source, field: str | None) -> VectorBlocks | None:
    """Vectors of a column; None where it holds texts. The file is open as long as rows are asked for."""
    with opened(source, field) as column:
        _check_kind(source, column)
        if column.holds_texts:
            return None
        known = _blocks(source, column)

    def rows() -> Iterator[np.ndarray]:
        with opened(source, field) as again:
            yield from _blocks(source, again).rows

    return known._replace(rows=rows())


def _check_kind(source: Source, column: FileColumn) -> None:
    if not column.holds_texts and column.item is None:
        raise InputError(
            f"{source.name}: field {column.name!r} is of type {column.type}, not texts or lists of numbers"
        )


def _texts(source: Source, column: FileColumn, start: Place, *, held: bool) -> Iterator[tuple[Place, str]]:
    row, size = start.offset, 0
    for batch in column.batches(start.offset):
        size += batch.nbytes
        if held:
            _check_size(source, column, size)
        for text in batch.to_pylist():
            if text is None:
                raise InputError(f"{source.name} row {row + 1}: field {column.name!r} is null")
            yield Place(row, row + 1), text
            row += 1


def _check_size(source: Source, column: FileColumn, size: int) -> None:
    if size > MOST_BYTES and not no_limits():
        raise too_much(source.name, f"holds more than {MOST_BYTES // 10**9} GB in the field {column.name!r}")


def _blocks(source: Source, column: FileColumn) -> VectorBlocks:
    first = next(column.batches(0), None)
    wide = 0 if first is None or first[0].as_py() is None else len(first[0])
    kind = np.dtype(_FLOATS.get(str(column.item), str(column.item)))
    check_vectors(source, kind, (column.rows, wide) if wide else (column.rows, 1))

    def named(before: int, row: int) -> str:
        return f"{source.name} row {before + row + 1}: field {column.name!r}"

    def rows() -> Iterator[np.ndarray]:
        before = 0
        for batch in column.batches(0):
            yield number_lists(batch, partial(named, before), wide)
            before += len(batch)

    return VectorBlocks((column.rows, wide), kind, rows())


def number_lists(column: Any, named: Callable[[int], str], width: int | None = None) -> np.ndarray:
    """A column of lists of numbers, all as long and without nulls, as an array. named: what to call a row. width: of
    the first list, where that is in an earlier batch.
    """
    import pyarrow
    import pyarrow.compute as pc

    if isinstance(column, pyarrow.Array):
        column = pyarrow.chunked_array([column])
    lengths = pc.fill_null(pc.list_value_length(column), -1).to_numpy()
    if width is None:
        width = max(lengths[0], 0) if len(lengths) else 0
    numbers = pc.list_flatten(column)
    for row in np.flatnonzero(lengths != width)[:1]:
        what = "is null" if lengths[row] < 0 else f"has {lengths[row]} numbers, but the first has {width}"
        raise InputError(f"{named(row)} {what}")
    for place in np.flatnonzero(numbers.is_null().to_numpy())[:1]:
        raise InputError(f"{named(place // width)} holds null among its numbers")
    return np.asarray(numbers.to_numpy().reshape(len(lengths), width))


def column_format(name: str, suffixes: tuple[str, ...], opened: Opened) -> Format:
    """A format of columns."""
    return Format(
        name,
        suffixes,
        lambda source, field: read_columns(opened, source, field),
        is_text=False,
        stream=lambda source, field, start: stream_column(opened, source, field, start),
        blocks=lambda source, field: column_blocks(opened, source, field),
    )


FORMATS = (column_format("parquet", (".parquet", ".pq"), parquet_column),)
