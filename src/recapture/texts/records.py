"""JSON records in which texts stand beside names and lists of texts: one value a line, or one array."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from ..checks import is_whole, plain_value
from ..errors import InputError
from .json_values import parsed
from .reading import Source, no_field, without_line_end


def json_lines(source: Source) -> Iterator[tuple[int, str, Any]]:
    """The values of a JSONL file, each with its line and what to call its place."""
    for number, line in source.lines():
        if not line.isspace():
            where = f"{source.name} line {number}"
            yield number, where, parsed(without_line_end(line), where)


def json_array(source: Source) -> Iterator[tuple[int, str, Any]]:
    """The same of a file that holds one array."""
    content = parsed("".join(line for _, line in source.lines()), source.name, line=1)
    if not isinstance(content, list):
        raise InputError(f"{source.name} must hold an array, but holds {kind(content)}")
    for number, value in enumerate(content, 1):
        yield number, f"{source.name} element {number}", value


def objects(source: Source) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The objects of a JSONL file, which must hold nothing else."""
    for number, where, record in json_lines(source):
        if not isinstance(record, dict):
            raise InputError(f"{where} is not an object but {kind(record)}")
        yield number, where, record


def has_field(record: Mapping[str, Any], field: str) -> bool:
    value: Any = record
    for key in _path(record, field):
        if not isinstance(value, Mapping) or key not in value:
            return False
        value = value[key]
    return True


def value_of(record: Mapping[str, Any], where: str, field: str) -> Any:
    """A key of the whole name comes before a dotted path."""
    if not has_field(record, field):
        raise no_field(where, [field], list(map(str, record)))
    value: Any = record
    for key in _path(record, field):
        value = value[key]
    return value


def _path(record: Mapping[str, Any], field: str) -> list[str]:
    return [field] if field in record else field.split(".")


def name_of(value: Any, where: str, field: str) -> str:
    value = plain_value(value, f"{where}: field {field!r}")
    if not (isinstance(value, str) or is_whole(value)):
        raise InputError(f"{where}: field {field!r} must be a text or a whole number, not {kind(value)}")
    try:
        name = str(value)
    except ValueError:  # an int of Python's that is longer than it writes
        raise InputError(f"{where}: field {field!r} is a whole number of too many digits") from None
    check_characters(name, f"{where}: field {field!r}")
    return name


def texts_of(texts: Any, where: str, what: str) -> tuple[str, ...]:
    """The entries of a list of texts."""
    if not isinstance(texts, Sequence) or isinstance(texts, (str, bytes)):
        raise InputError(f"{where}: {what} must be a list of texts, not {kind(texts)}")
    for position, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{where}: text {position} of {what} is {kind(text)}")
        check_characters(text, f"{where}: text {position} of {what}")
    return tuple(texts)


def check_characters(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} holds half of a surrogate pair") from None


def kind(value: Any) -> str:
    kinds = {str: "a text", bool: "a boolean", int: "a whole number", dict: "an object", list: "a list"}
    if isinstance(value, float) and math.isinf(value):
        return "an infinite number, or one of hundreds of digits"
    if isinstance(value, float):
        return f"the number {value:g}"
    return "null" if value is None else kinds.get(type(value), f"a {type(value).__name__}")
