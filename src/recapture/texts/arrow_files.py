"""Arrow's own files (IPC, Feather): a column of texts, or of lists of numbers, read where it lies."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..errors import InputError
from .parquet import FileColumn, Opened, column_format, needed, parquet_column
from .reading import Source, pick_field

_ROWS = 4096


@contextmanager
def arrow_column(source: Source, field: str | None) -> Iterator[FileColumn]:
    pyarrow = needed(source, "Arrow")
    with source.opened() as stream:
        if stream.read(4) == b"FEA1":
            raise InputError(f"{source.name} is a Feather file of the first version: write it anew")
    with pyarrow.memory_map(source.path) as content:
        schema = _reader(pyarrow, content).schema
        name = pick_field(source.name, schema.names, field)
        place = schema.names.index(name)

        def all_batches() -> Iterator[Any]:
            # All columns are named, and those that nobody looks at stay on disk: to choose one would copy it.
            reader = _reader(pyarrow, content)
            if hasattr(reader, "num_record_batches"):
                for number in range(reader.num_record_batches):
                    yield reader.get_batch(number).column(place)
            else:
                for batch in reader:
                    yield batch.column(place)

        def batches(start: int) -> Iterator[Any]:
            skip = start
            for whole in all_batches():
                for first in range(min(skip, len(whole)), len(whole), _ROWS):
                    yield whole[first : first + _ROWS]
                skip = max(0, skip - len(whole))

        yield FileColumn(name, schema.field(place).type, sum(len(batch) for batch in all_batches()), batches)


def _reader(pyarrow: Any, content: Any) -> Any:
    """Of a file, or of a stream, which many programs keep under the same name."""
    content.seek(0)
    is_file = content.read(6) == b"ARROW1"
    content.seek(0)
    return pyarrow.ipc.open_file(content) if is_file else pyarrow.ipc.open_stream(content)


FORMATS = (column_format("arrow", (".arrow", ".feather", ".ipc"), arrow_column),)
COLUMNS: dict[str, Opened] = {"parquet": parquet_column, "arrow": arrow_column}
"""Formats of columns, by name."""
