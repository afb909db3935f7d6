"""Files of contexts: what several references and several candidates belong to."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .base import no_field
from .reading import read_samples
from .source import Source, without_line_end


@dataclass(frozen=True)
class Context:
    """One context: an image, a question, a meaning to put into words."""

    id: str
    references: tuple[str, ...]
    candidates: tuple[str, ...]


def read_contexts(
    path: str,
    *,
    name: str = "id",
    references: str = "references",
    candidates: str = "candidates",
) -> list[Context]:
    """Contexts of a JSONL file (or - for stdin), one object a line; the arguments name its fields.

    Without an id, a context is called by its line.
    """
    source = Source(path)
    found = []
    for number, line in source.lines():
        if line.isspace():
            continue
        where = f"{source.name} line {number}"
        try:
            record = json.loads(without_line_end(line))
        except (ValueError, RecursionError) as error:
            raise InputError(f"{where}: broken JSON: {getattr(error, 'msg', 'nested too deeply')}") from None
        if not isinstance(record, dict):
            raise InputError(f"{where} is not an object with {references} and {candidates}")
        found.append(context_of(record, where, number, name, references, candidates))
    return check_ids(found, source.name)


def read_grouped(reference: str, candidate: str, *, group: str, field: str | None = None) -> list[Context]:
    """Contexts of two files of single texts, whose records name their context in the field `group`."""
    references, candidates = (_grouped(path, group, field) for path in (reference, candidate))
    # A context that only one file knows is kept: it will be counted as too small.
    names = dict.fromkeys([*references, *candidates])
    return [Context(name, tuple(references.get(name, ())), tuple(candidates.get(name, ()))) for name in names]


def _grouped(path: str, group: str, field: str | None) -> dict[str, list[str]]:
    names, texts = (read_samples(path, field=wanted).texts for wanted in (group, field))
    if names is None or texts is None:
        raise InputError(
            f"{path} must hold texts and the context of each, in the fields {group!r} and {field or 'text'!r}"
        )
    grouped: dict[str, list[str]] = {}
    for name, text in zip(names, texts, strict=True):
        grouped.setdefault(name, []).append(text)
    return grouped


def given_contexts(contexts: Iterable[Any]) -> list[Context]:
    """Contexts from Python: objects of this module or mappings with id, references and candidates."""
    found = [
        given
        if isinstance(given, Context)
        else context_of(given, f"context {number}", number, "id", "references", "candidates")
        for number, given in enumerate(contexts, 1)
    ]
    return check_ids(found, "the contexts")


def context_of(record: Any, where: str, number: int, id_field: str, references: str, candidates: str) -> Context:
    if not isinstance(record, Mapping):
        raise InputError(f"{where} is not a mapping with references and candidates but {type(record).__name__}")
    name = record.get(id_field, str(number))
    if isinstance(name, bool) or not isinstance(name, (str, int)):
        raise InputError(f"{where}: field {id_field!r} must be a text or a whole number, not {_kind(name)}")
    return Context(str(name), *(_texts(record, where, field) for field in (references, candidates)))


def _texts(record: Mapping[str, Any], where: str, field: str) -> tuple[str, ...]:
    if field not in record:
        raise no_field(where, [field], list(record))
    texts = record[field]
    if not isinstance(texts, Sequence) or isinstance(texts, (str, bytes)):
        raise InputError(f"{where}: field {field!r} must be a list of texts, not {_kind(texts)}")
    for position, text in enumerate(texts, 1):
        if not isinstance(text, str):
            raise InputError(f"{where}: text {position} of field {field!r} is {_kind(text)}")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise InputError(f"{where}: text {position} of field {field!r} holds half of a surrogate pair") from None
    return tuple(texts)


def _kind(value: Any) -> str:
    kinds = {str: "a text", bool: "a boolean", int: "a number", float: "a number", dict: "an object", list: "a list"}
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
