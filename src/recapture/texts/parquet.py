"""Parquet: a column of texts, or of lists of numbers."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ..errors import InputError
from .reading import MOST_BYTES, Format, Samples, Source, no_limits, pick_field, text_samples, too_much, vector_samples


def _read(source: Source, field: str | None) -> Samples:
    name, column = read_column(source, field)
    import pyarrow

    is_type, kind = pyarrow.types, column.type
    if str(kind.value_type if is_type.is_dictionary(kind) else kind) in ("string", "large_string", "string_view"):
        return text_samples(source, _texts(source, name, column))
    item = getattr(kind, "value_type", None) if is_type.is_nested(kind) else None
    if item is not None and (is_type.is_floating(item) or is_type.is_integer(item)):
        return vector_samples(source, number_lists(column, lambda row: f"{source.name} row {row + 1}: field {name!r}"))
    raise InputError(f"{source.name}: field {name!r} is of type {kind}, not texts or lists of numbers")


def read_column(source: Source, field: str | None) -> tuple[str, Any]:
    """The name of the column asked for, and the column; a few bytes may claim very many rows, so it is counted."""
    pyarrow = needed(source)
    with source.opened() as stream:
        file = pyarrow.parquet.ParquetFile(stream)
        name = pick_field(source.name, file.schema_arrow.names, field)
        batches, size = [], 0
        for batch in file.iter_batches(columns=[name]):
            # A dot in a name means a field inside another for Arrow, which then gives both.
            batches.append(batch.select([name]))
            size += batch.nbytes
            if size > MOST_BYTES and not no_limits():
                raise too_much(source.name, f"holds more than {MOST_BYTES // 10**9} GB in the field {name!r}")
        schema = pyarrow.schema([file.schema_arrow.field(name)])
    if batches:
        return name, pyarrow.Table.from_batches(batches).column(name)
    return name, schema.empty_table().column(name)


def needed(source: Source) -> Any:
    """The library, with its readers of Parquet."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise InputError(f'{source.name}: Parquet needs pyarrow: pip install "recapture[parquet]"') from None
    return pyarrow


def _texts(source: Source, name: str, column: Any) -> list[str]:
    texts: list[str] = column.to_pylist()
    if None in texts:
        raise InputError(f"{source.name} row {texts.index(None) + 1}: field {name!r} is null")  # type: ignore[arg-type]
    return texts


def number_lists(column: Any, named: Callable[[int], str]) -> np.ndarray:
    """A column of lists of numbers, all as long and without nulls, as an array. named: what to call a row."""
    import pyarrow
    import pyarrow.compute as pc

    if isinstance(column, pyarrow.Array):
        column = pyarrow.chunked_array([column])
    lengths = pc.fill_null(pc.list_value_length(column), -1).to_numpy()
    width = max(lengths[0], 0) if len(lengths) else 0
    numbers = pc.list_flatten(column)
    for row in np.flatnonzero(lengths != width)[:1]:
        what = "is null" if lengths[row] < 0 else f"has {lengths[row]} numbers, but the first has {width}"
        raise InputError(f"{named(row)} {what}")
    for place in np.flatnonzero(numbers.is_null().to_numpy())[:1]:
        raise InputError(f"{named(place // width)} holds null among its numbers")
    return np.asarray(numbers.to_numpy().reshape(len(lengths), width))


FORMATS = (Format("parquet", (".parquet", ".pq"), _read, is_text=False),)
