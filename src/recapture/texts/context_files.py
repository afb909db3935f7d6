"""Files of contexts: what several references and several candidates belong to."""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from ..checks import path_of, plain_arguments
from ..errors import InputError
from .objects import records_of_object, samples_of, texts_of_object
from .reading import Source, read_samples
from .records import name_of, objects, texts_of, value_of

_ID = "id"
"""The usual field; only this one may be missing."""


@dataclass(frozen=True)
class Context:
    """One context: an image, a question, a meaning to put into words.

    `read_contexts` gives such, `evaluate_contexts` takes them.

    Parameters
    ----------
    id : str
        What the context is called.
    references, candidates : tuple of str
        The texts that belong to it.

    Examples
    --------
    >>> import recapture as rc
    >>> context = rc.Context("image 7", references=("a cat sat", "a cat"), candidates=("a dog",))
    >>> len(context.references)
    2
    """

    id: str
    references: tuple[str, ...]
    candidates: tuple[str, ...]


@plain_arguments
def read_contexts(
    path: str | os.PathLike[str],
    *,
    name: str = _ID,
    references: str = "references",
    candidates: str = "candidates",
) -> list[Context]:
    """Contexts of a JSONL file, one object a line.

    Parameters
    ----------
    path : str or path
        The file; "-" is standard input.
    name : str, default "id"
        The field that says what a context is called. Without the field `id`, a context is called by its line; a field
        named otherwise has to be there.
    references, candidates : str
        The fields that hold the lists of texts.

    Returns
    -------
    list of Context

    Examples
    --------
    >>> from pathlib import Path
    >>> import recapture as rc
    >>> line = '{"id": "image 7", "references": ["a cat sat", "a cat"], "candidates": ["a dog"]}'
    >>> _ = Path("contexts.jsonl").write_text(line)
    >>> rc.read_contexts("contexts.jsonl")[0].candidates
    ('a dog',)
    """
    source = Source(path_of(path))
    if source.suffixes[0] in (".csv", ".tsv", ".parquet"):
        raise InputError(
            f"{source.name} is no file of contexts, which is JSONL; tables of single texts come in pairs, "
            "references and candidates, with a field that names the context of each"
        )
    contexts = [
        context_of(record, where, number, name, references, candidates) for number, where, record in objects(source)
    ]
    return check_ids(contexts, source.name)


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
    # Read as texts, these fields could not be numbers, but image ids often are.
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
    return [name_of(value_of(record, where, group), where, group) for _, where, record in objects(source)]


def given_contexts(contexts: Iterable[Context | Mapping[str, Any]]) -> list[Context]:
    """Contexts from Python: objects of this module or mappings with id, references and candidates."""
    listed = [_given(entry, f"context {number}", number) for number, entry in enumerate(records_of_object(contexts), 1)]
    return check_ids(listed, "the contexts")


def _given(entry: Any, where: str, number: int) -> Context:
    if isinstance(entry, Context):
        sides = (getattr(entry, side) for side in ("references", "candidates"))
        return Context(entry.id, *(tuple(texts_of_object(side, where)) for side in sides))
    if isinstance(entry, Mapping):  # columns and arrays of texts become lists
        sides = (side for side in ("references", "candidates") if side in entry)
        entry = {**entry, **{side: _list_or_as_it_is(entry[side], f"{where}: field {side!r}") for side in sides}}
    return context_of(entry, where, number, _ID, "references", "candidates")


def _list_or_as_it_is(texts: Any, name: str) -> Any:
    """What is no list of any kind is refused by the same words as in a file."""
    return texts if texts is None or isinstance(texts, (Mapping, int, float)) else samples_of(texts, name)


def context_of(record: Any, where: str, number: int, id_field: str, references: str, candidates: str) -> Context:
    if not isinstance(record, Mapping):
        raise InputError(f"{where} is not a mapping with references and candidates but {type(record).__name__}")
    unnamed = id_field == _ID and _ID not in record
    name = name_of(number if unnamed else value_of(record, where, id_field), where, id_field)
    sides = (texts_of(value_of(record, where, field), where, f"field {field!r}") for field in (references, candidates))
    return Context(name, *sides)


def check_ids(contexts: list[Context], where: str) -> list[Context]:
    if not contexts:
        raise InputError(f"{where} has no contexts" if where != "the contexts" else "there are no contexts")
    seen: dict[str, int] = {}
    for number, context in enumerate(contexts, 1):
        if context.id in seen:
            raise InputError(f"{where}: contexts {seen[context.id]} and {number} have the same id {context.id!r}")
        seen[context.id] = number
    return contexts
