"""Sets of samples in Python, whatever library holds them: columns of texts become lists, tables of numbers arrays.

Libraries are known by what their objects can do and never imported for it, so none of them is needed: NumPy, pandas,
Polars, pyarrow, Hugging Face datasets, and all that speaks Arrow's PyCapsule interface. (Only what cannot list
its own entries otherwise is read by pyarrow, which then has to be there.)
"""

from __future__ import annotations

import re
from array import array
from collections.abc import Iterable, Iterator, Mapping, Sequence
from textwrap import shorten
from typing import Any

import numpy as np

from ..checks import array_of, is_torch
from ..errors import InputError

_NUMBERS = re.compile(r"(u?int\d+|(half_?)?float\d*|double|bool(ean)?)(\[pyarrow\])?", re.IGNORECASE)
"""What pandas, Polars and Arrow call types of numbers."""
_LISTS = re.compile(r"(fixed_size_|large_)?list(_view)?<|(list|array)\(", re.IGNORECASE)
_MISSING = ("NAType", "NaTType")
"""What pandas writes for a missing value in some columns."""
_SHOWN = 12


def samples_of(samples: Any, name: str) -> Any:
    """A set as metrics take it: a list of texts or of rows, or an array of numbers.

    What is neither a column nor a table is returned as it is. A table with anything but numbers is refused: nobody but
    the caller knows which of its columns holds the texts.
    """
    if isinstance(samples, (str, bytes, list, tuple)):
        return samples
    if isinstance(samples, Mapping):
        keys = _shown(list(samples))
        raise InputError(f"{name} is a mapping with the keys {keys}: give the list that one of them holds")
    if isinstance(samples, np.ndarray) and samples.dtype.names is None:
        as_list = samples.dtype.kind in "UT" or (samples.dtype.kind == "O" and samples.ndim == 1)
        return samples.tolist() if as_list else samples
    if type(samples).__module__.partition(".")[0] == "torch":
        return samples
    if type(samples).__module__.partition(".")[0] == "scipy" and hasattr(samples, "toarray"):
        raise InputError(
            f"{name} is a sparse matrix ({type(samples).__name__}): give an array (toarray()), or the texts, of which "
            "the encoder bag-of-words makes counts without zeros"
        )
    if isinstance(samples, (memoryview, array)):
        return array_of(samples, name)
    if isinstance(samples, Iterator):
        return list(samples)
    if hasattr(samples, "collect") and hasattr(samples, "lazy"):
        raise InputError(f"{name} is a table still to be computed ({type(samples).__name__}): collect it first")
    columns = _columns(samples)
    if columns is not None:
        return _of_table(samples, columns, name)
    return _of_column(samples, name)


def texts_of_object(samples: Any, name: str) -> list[str]:
    """Texts of a list, a column or anything else that has them; refused where an entry is none."""
    if isinstance(samples, (str, bytes)):
        raise InputError(f"{name} must be a list of texts, not one string")
    given = samples_of(samples, name)
    if not may_hold_texts(given):
        raise InputError(f"{name} must be a list of texts, not {type(samples).__name__}")
    return checked_entries(list(given), name)


def may_hold_texts(given: Any) -> bool:
    """Whether this can be a list of texts: arrays and tensors of numbers cannot, and some do not even list them."""
    return isinstance(given, Iterable) and not isinstance(given, np.ndarray) and not is_torch(given)


def checked_entries(texts: list[Any], name: str, what: str = "text") -> list[str]:
    """The list itself, once every entry is a text."""
    for position, text in enumerate(texts):
        if isinstance(text, str):
            continue
        where = f"{what} {position} of {name}" if name else f"{what} {position}"
        if isinstance(text, Mapping):
            raise InputError(f"{where} is a record with the fields {_shown(list(text))}: give one of them of each")
        mend = ": leave missing texts out, or put others in their place" if is_missing(text) else ""
        raise InputError(f"{where} is not a string but {type(text).__name__}{mend}")
    return texts


def is_missing(value: Any) -> bool:
    """None, NaN, or what pandas has for them."""
    return value is None or type(value).__name__ in _MISSING or (isinstance(value, float) and value != value)


def records_of_object(records: Any) -> Iterable[Any]:
    """The rows of a table as mappings; anything else as it is."""
    if isinstance(records, (list, tuple, Iterator)) or _columns(records) is None:
        return records if isinstance(records, Iterable) else [records]
    if hasattr(records, "to_dicts"):  # Polars
        return list(records.to_dicts())
    if hasattr(records, "to_pylist"):  # pyarrow
        return list(records.to_pylist())
    if hasattr(records, "to_dict") and hasattr(records, "dtypes"):  # pandas
        return list(records.to_dict("records"))
    return records if isinstance(records, Iterable) else [records]


def _columns(samples: Any) -> list[str] | None:
    """The names of a table's columns; None for what is no table."""
    if isinstance(samples, np.ndarray):
        return list(samples.dtype.names or ())
    for attribute in ("column_names", "columns"):
        names = getattr(samples, attribute, None)
        if names is not None and not callable(names) and not isinstance(names, (str, bytes)):
            return [str(name) for name in names]
    return None


def _of_table(table: Any, columns: list[str], name: str) -> Any:
    if hasattr(table, "with_format"):  # a Dataset, which has chosen rows of an Arrow table
        table = table.with_format("arrow")[:]
    types = _types(table)
    if columns and len(types) == len(columns):
        if all(_NUMBERS.fullmatch(kind) for kind in types):
            return _matrix(table)
        if len(columns) == 1 and _LISTS.match(types[0]):
            return _of_column(table[columns[0]], name)
    kinds = types if len(types) == len(columns) else [""] * len(columns)
    shown = _shown([f"{column} ({kind})" if kind else column for column, kind in zip(columns, kinds, strict=True)])
    texts = (column for column, kind in zip(columns, kinds, strict=True) if not _NUMBERS.fullmatch(kind))
    example = next(texts, next(iter(columns), "text"))
    raise InputError(
        f"{name} is a table ({type(table).__name__}) with the columns {shown}: give one column, such as "
        f"table[{example!r}], or numbers alone"
    )


def _types(table: Any) -> list[str]:
    """What the library calls the type of each column."""
    if isinstance(table, np.ndarray):
        return [str(table.dtype[name]) for name in table.dtype.names or ()]
    types = getattr(getattr(table, "schema", None), "types", None)  # pyarrow
    if types is None or callable(types):
        types = getattr(table, "dtypes", ())  # pandas, Polars
    return [str(kind) for kind in types] if isinstance(types, Iterable) else []


def _matrix(table: Any) -> np.ndarray:
    """A table of numbers, missing ones as NaN, which the metrics refuse by their row."""
    if isinstance(table, np.ndarray):
        return np.column_stack([array_of(table[name], name) for name in table.dtype.names or ()])
    if not hasattr(table, "to_numpy"):  # pyarrow
        return np.column_stack([np.asarray(column, dtype=_plain(column)) for column in table.columns])
    matrix = np.asarray(table.to_numpy())
    if matrix.dtype.kind == "O":  # pandas, where types are mixed or values may be missing
        matrix = np.asarray(table.to_numpy(dtype=np.float64, na_value=np.nan))
    return matrix


def _plain(column: Any) -> Any:
    """The type for a column of Arrow: its own, or one that holds NaN where something is missing."""
    return np.float64 if column.null_count else None


def _of_column(column: Any, name: str) -> Any:
    kind = str(getattr(column, "type", getattr(column, "dtype", "")))
    if hasattr(column, "to_pylist"):  # pyarrow
        if kind.startswith("struct<"):
            return _of_struct(column, name)
        if _LISTS.match(kind) and _NUMBERS.fullmatch(str(column.type.value_type)):
            from .parquet import number_lists

            return number_lists(column, lambda row: f"row {row} of {name}")
        return column.to_pylist()
    if kind.lower().startswith("array(") and hasattr(column, "to_numpy"):  # Polars: lists of one length
        rows = np.asarray(column.to_numpy())
        return rows if rows.dtype.kind != "O" else column.to_list()
    if _NUMBERS.fullmatch(kind):
        return column
    for method in ("to_list", "tolist"):
        if hasattr(column, method):
            listed = getattr(column, method)()
            return listed if isinstance(listed, list) else [listed]
    if any(hasattr(column, method) for method in ("__arrow_c_stream__", "__arrow_c_array__")):
        return _of_arrow(column, name)
    if isinstance(column, Iterable) and not hasattr(column, "__array__"):
        return list(column)
    return column


def _of_arrow(column: Any, name: str) -> Any:
    try:
        import pyarrow
    except ImportError:
        raise InputError(
            f"{name} ({type(column).__name__}) is read through Arrow, which needs pyarrow: "
            'pip install "recapture[parquet]"'
        ) from None
    make = pyarrow.chunked_array if hasattr(column, "__arrow_c_stream__") else pyarrow.array
    return _of_column(make(column), name)


def _of_struct(column: Any, name: str) -> Any:
    """A stream of tables arrives as one column of records."""
    import pyarrow

    chunks = getattr(column, "chunks", [column])
    schema = pyarrow.schema(list(column.type))
    table = pyarrow.Table.from_batches([pyarrow.RecordBatch.from_struct_array(chunk) for chunk in chunks], schema)
    return _of_table(table, list(table.column_names), name)


def _shown(names: Sequence[Any]) -> str:
    words = [shorten(str(name), 40, placeholder="...") for name in names[:_SHOWN]]
    return ", ".join([*words, "..."] if len(names) > _SHOWN else words) or "(none)"
