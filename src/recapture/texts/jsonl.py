"""JSON records: one per line, or as the elements of one array."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from functools import partial
from typing import Any

import numpy as np

from ..errors import InputError
from .json_values import parsed
from .reading import (
    Format,
    Place,
    Samples,
    Source,
    VectorBlocks,
    no_field,
    text_samples,
    vector_samples,
    without_line_end,
)

_TEXT, _NUMBERS = "a text", "a list of numbers"


def _read_lines(source: Source, field: str | None) -> Samples:
    filled = ((number, without_line_end(line)) for number, line in source.lines() if not line.isspace())
    return _collect(
        source,
        field,
        ((f"line {number}", parsed(line, source.name, line=number, real=True)) for number, line in filled),
    )


def _stream(source: Source, field: str | None, start: Place) -> Iterator[tuple[Place, str]]:
    for number, offset, line in source.located(start, held=False):
        if line.isspace():
            continue
        record = parsed(without_line_end(line), source.name, line=number, real=True)
        what, value, kind = _sample(source, f"line {number}", record, field)
        if kind != _TEXT:
            raise InputError(f"{what} is {kind}, not a text")
        yield Place(offset, number), value


def _blocks(read: Callable[[Source, str | None], Samples], source: Source, field: str | None) -> VectorBlocks | None:
    """Numbers as text are read whole; texts are known by the first, where there is one record a line."""
    if read is _read_lines:
        for number, _, line in source.located(held=False):
            if not line.isspace():
                record = parsed(without_line_end(line), source.name, line=number, real=True)
                if _sample(source, f"line {number}", record, field)[2] == _TEXT:
                    return None
                break
    vectors = read(source, field).vectors
    return None if vectors is None else VectorBlocks(vectors.shape, vectors.dtype, iter([vectors]))


def _read_array(source: Source, field: str | None) -> Samples:
    content = "".join(line for _, line in source.lines())
    advice = "; for one record per line the format is jsonl"
    records = parsed(content, source.name, line=1, real=True, if_more_follows=advice) if content.strip() else []
    if not isinstance(records, list):
        raise InputError(f"{source.name} must hold an array of texts or objects, but holds {_kind(records)}")
    return _collect(source, field, ((f"element {number}", record) for number, record in enumerate(records, 1)))


def _collect(source: Source, field: str | None, records: Iterable[tuple[str, Any]]) -> Samples:
    values: list[Any] = []
    first = ""
    for place, record in records:
        what, value, kind = _sample(source, place, record, field)
        first = first or kind
        if kind != first:
            raise InputError(f"{what} is {kind}, but the first is {first}")
        if kind == _NUMBERS and values and len(value) != len(values[0]):
            raise InputError(f"{what} has {len(value)} numbers, but the first has {len(values[0])}")
        values.append(value if kind == _TEXT else np.array(value))
    return vector_samples(source, np.stack(values)) if first == _NUMBERS else text_samples(source, values)


def _sample(source: Source, place: str, record: Any, field: str | None) -> tuple[str, Any, str]:
    """What to call it, the text or the numbers, and which of both it is."""
    value = _value(f"{source.name} {place}", record, field)
    what = f"{source.name} {place}: " + (f"field {field or 'text'!r}" if isinstance(record, dict) else "the value")
    kind = _kind(value)
    if kind not in (_TEXT, _NUMBERS):
        raise InputError(f"{what} is {kind}, not a text or a list of numbers")
    if kind == _TEXT:
        _check_characters(what, value)
    return what, value, kind


def _value(where: str, record: Any, field: str | None) -> Any:
    """The text or embedding of a record: a key of the whole name comes before a dotted path."""
    if not isinstance(record, dict):
        if field is not None:
            raise InputError(f"{where} is {_kind(record)}, which has no field {field!r}")
        return record
    name = "text" if field is None else field
    value: Any = record
    for key in [name] if name in record else name.split("."):
        if not isinstance(value, dict) or key not in value:
            raise no_field(where, [name], list(_field_names(record)))
        value = value[key]
    return value


def _field_names(record: dict[str, Any]) -> Iterator[str]:
    for key, value in record.items():
        yield from (f"{key}.{inner}" for inner in value) if isinstance(value, dict) else (key,)


def _check_characters(what: str, text: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError as error:  # JSON can hold half of a surrogate pair; no encoder takes such a text
        half = f"\\u{ord(text[error.start]):04x}"
        raise InputError(f"{what} holds {half}, half a surrogate pair, at character {error.start + 1}") from None


def _kind(value: Any) -> str:
    kinds = {str: _TEXT, float: "a number", bool: "a boolean", dict: "an object", list: "a list", type(None): "null"}
    if not isinstance(value, list):
        return kinds[type(value)]
    others = [item for item in value if not isinstance(item, float)]
    return f"a list with {kinds[type(others[0])]}" if others else _NUMBERS if value else "an empty list"


FORMATS = (
    Format("jsonl", (".jsonl", ".ndjson"), _read_lines, stream=_stream, blocks=partial(_blocks, _read_lines)),
    Format("json", (".json",), _read_array, blocks=partial(_blocks, _read_array)),
)
