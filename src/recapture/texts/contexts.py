"""Files of contexts: what several references and several candidates belong to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

from ..errors import InputError
from .base import no_field
from .reading import read_samples
from .source import Source, first_line, without_line_end

_ID = "id"
"""The usual field; only this one may be missing."""


@dataclass(frozen=True)
class Context:
    """One context: an image, a question, a meaning to put into words."""

    id: str
    references: tuple[str, ...]
    candidates: tuple[str, ...]


def read_contexts(
    path: str,
    *,
    name: str = _ID,
    references: str = "references",
    candidates: str = "candidates",
) -> list[Context]:
    """Contexts of a JSONL file (or - for stdin), one object a line; the arguments name its fields.

    Without the field `id`, a context is called by its line; a field named otherwise has to be there.
    """
    source = Source(path)
    if source.suffixes[0] in (".csv", ".tsv", ".parquet"):
        raise InputError(
            f"{source.name} is no file of contexts, which is JSONL; tables of single texts come in pairs: "
            "--reference, --candidate and --group"
        )
    found = []
    for number, where, record in _records(source):
        found.append(context_of(record, where, number, name, references, candidates))
    return check_ids(found, source.name)


def read_grouped(reference: str, candidate: str, *, group: str, field: str | None = None) -> list[Context]:
    """Contexts of two files of single texts, whose records name their context in the field `group`."""
    references, candidates = (_grouped(path, group, field) for path in (reference, candidate))
    # A context that only one file knows is kept: it will be counted as too small.
    names = dict.fromkeys([*references, *candidates])
    return [Context(name, tuple(references.get(name, ())), tuple(candidates.get(name, ()))) for name in names]


def _grouped(path: str, group: str, field: str | None) -> dict[str, list[str]]:
    source = Source(path)
    if path == "-":
        raise InputError("files of single texts cannot come through standard input: their names tell how to read them")
    texts = read_samples(path, field=field).texts
    # As texts, these fields could hold no numbers, which image ids often are.
    records = source.suffixes[0] in (".jsonl", ".ndjson")
    names = _names_of_records(source, group) if records else read_samples(path, field=group).texts
    if names is None or texts is None:
        raise InputError(
            f"{path} must hold texts and the context of each, in the fields {group!r} and {field or 'text'!r}"
        )
    grouped: dict[str, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        grouped.setdefault(name, []).append(text)
    return grouped


def _names_of_records(source: Source, group: str) -> list[str]:
    return [_name(_value(record, where, group), where, group) for _, where, record in _records(source)]


def _records(source: Source) -> Iterator[tuple[int, str, dict[str, Any]]]:
    """The objects of a JSONL file, each with its line and what to call its place."""
    for number, line in source.lines():
        if line.isspace():
            continue
        where = f"{source.name} line {number}"
        try:
            record = json.loads(without_line_end(line))
        except json.JSONDecodeError as error:
            raise InputError(f"{where}: broken JSON: {error.msg} (column {error.colno})") from None
        except RecursionError:
            raise InputError(f"{where}: JSON nested too deeply") from None
        except ValueError as error:  # a whole number of thousands of digits
            raise InputError(f"{where}: {first_line(error)}") from None
        if not isinstance(record, dict):
            raise InputError(f"{where} is not an object but {_kind(record)}")
        yield number, where, record


def given_contexts(contexts: Iterable[Any]) -> list[Context]:
    """Contexts from Python: objects of this module or mappings with id, references and candidates."""
    found = [
        given
        if isinstance(given, Context)
        else context_of(given, f"context {number}", number, _ID, "references", "candidates")
        for number, given in enumerate(contexts, 1)
    ]
    return check_ids(found, "the contexts")


def context_of(record: Any, where: str, number: int, id_field: str, references: str, candidates: str) -> Context:
    if not isinstance(record, Mapping):
        raise InputError(f"{where} is not a mapping with references and candidates but {type(record).__name__}")
    unnamed = id_field == _ID and _ID not in record
    name = _name(number if unnamed else _value(record, where, id_field), where, id_field)
    return Context(name, *(_texts(record, where, field) for field in (references, candidates)))


def _value(record: Mapping[str, Any], where: str, field: str) -> Any:
    """A key of the whole name comes before a dotted path."""
    value: Any = record
    for key in [field] if field in record else field.split("."):
        if not isinstance(value, Mapping) or key not in value:
            raise no_field(where, [field], list(map(str, record)))
        value = value[key]
    return value


def _name(value: Any, where: str, field: str) -> str:
    if isinstance(value, bool) or not isinstance(value, (str, Integral)):
        raise InputError(f"{where}: field {field!r} must be a text or a whole number, not {_kind(value)}")
    _check_characters(str(value), f"{where}: field {field!r}")
    return str(value)


def _texts(record: Mapping[str, Any], where: str, field: str) -> tuple[str, ...]:
    texts = _value(record, where, field)
    if not isinstance(texts, Sequence) or isinstance(texts, (str, bytes)):
        raise InputError(f"{where}: field {field!r} must be a list of texts, not {_kind(texts)}")
    for position, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{where}: text {position} of field {field!r} is {_kind(text)}")
        _check_characters(text, f"{where}: text {position} of field {field!r}")
    return tuple(texts)


def _check_characters(text: str, what: str) -> None:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise InputError(f"{what} holds half of a surrogate pair") from None


def _kind(value: Any) -> str:
    kinds = {str: "a text", bool: "a boolean", int: "a whole number", dict: "an object", list: "a list"}
    if isinstance(value, float):
        return f"the number {value:g}"
    return "null" if value is None else kinds.get(type(value), f"a {type(value).__name__}")


def check_ids(contexts: list[Context], where: str) -> list[Context]:
    if not contexts:
        raise InputError(f"{where} has no contexts" if where != "the contexts" else "there are no contexts")
    seen: dict[str, int] = {}
    for number, context in enumerate(contexts, 1):
        if context.id in seen:
            raise InputError(f"{where}: contexts {seen[context.id]} and {number} have the same id {context.id!r}")
        seen[context.id] = number
    return contexts
