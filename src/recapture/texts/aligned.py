"""Files whose n-th entries belong together: references, one or several an item, and the candidates of systems."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import InputError
from .reading import Format, Source, no_field, plan, read_samples
from .records import check_characters, has_field, json_array, json_lines, kind, name_of, texts_of, value_of

REFERENCE_FIELDS = ("references", "reference", "text")
"""Where references are looked for unless a field is named; the first that a record has."""
_RECORDS = {"jsonl": json_lines, "json": json_array}


@dataclass(frozen=True)
class Column:
    """What one file says of each item."""

    source: str
    texts: list[list[str]]
    """For each item one text, or several."""
    ids: list[str | int] | None
    """What its records call the items; None where they do not."""
    places: list[str]
    """What to call the place of each item, where it has an id."""
    notes: tuple[str, ...] = ()


@dataclass(frozen=True)
class AlignedFiles:
    references: list[list[str]]
    candidates: list[list[str]]
    """For each system one text per item."""
    ids: list[str | int] | None
    notes: tuple[str, ...]


def read_aligned(
    references: Sequence[str],
    candidates: Sequence[str],
    *,
    field: str | None = None,
    input_format: str | None = None,
    reference_field: str | None = None,
    reference_format: str | None = None,
    id_field: str | None = None,
) -> AlignedFiles:
    """Files of references and one file for each system, all with as many entries.

    Several files of references are several references for each item; records (JSONL, JSON) may hold a list of them.
    Records may say what an item is called in `id_field`; where several files do, they have to agree.
    """
    count = len(references)
    paths, formats = [*references, *candidates], [*[reference_format] * count, *[input_format] * len(candidates)]
    if reference_field is None:
        plans = plan(paths, formats, field)
        usual = dict.fromkeys((*REFERENCE_FIELDS[:-1], field or REFERENCE_FIELDS[-1], REFERENCE_FIELDS[-1]))
    else:
        plans = [
            *plan(paths[:count], formats[:count], reference_field),
            *plan(paths[count:], formats[count:], field),
        ]
        usual = {reference_field: None}
    asked, id_field = id_field, "id" if id_field is None else id_field
    left = [_column(*file, list(usual), id_field, several=True) for file in plans[:count]]
    right = [_column(*file, [field or "text"], id_field, several=False) for file in plans[count:]]
    columns = [*left, *right]
    if asked and all(column.ids is None for column in columns):
        raise InputError(f"no record has the field {asked!r}, by which items should be called")
    for column in columns[1:]:
        if len(column.texts) != len(columns[0].texts):
            raise InputError(
                f"{columns[0].source} has {_entries(columns[0])}, but {column.source} has {_entries(column)}: "
                "the n-th of each belong together"
            )
    grouped = zip(*(column.texts for column in left), strict=True)
    return AlignedFiles(
        [[text for group in groups for text in group] for groups in grouped],
        [[text for (text,) in column.texts] for column in right],
        _common_ids(columns, id_field),
        tuple(dict.fromkeys(note for column in columns for note in column.notes)),
    )


def check_distinct(ids: Sequence[str | int]) -> None:
    """Refuse names that do not tell all items apart."""
    seen: dict[str, int] = {}
    for number, name in enumerate(map(str, ids), 1):
        if name in seen:
            raise InputError(
                f"items {seen[name]} and {number} have the same id {name!r} (name the field that holds ids)"
            )
        seen[name] = number


def _column(
    source: Source, known: Format, field: str | None, fields: Sequence[str], id_field: str, *, several: bool
) -> Column:
    if known.name in _RECORDS:
        return _of_records(source, _RECORDS[known.name](source), fields, id_field, several)
    samples = read_samples(source.path, field=field, format=known.name)
    if samples.texts is None:
        raise InputError(f"{source.name} holds vectors, but texts are needed here")
    return Column(source.name, [[text] for text in samples.texts], None, [], samples.notes)


def _of_records(
    source: Source, records: Iterator[tuple[int, str, Any]], fields: Sequence[str], id_field: str, several: bool
) -> Column:
    texts, ids, places = [], [], []
    for _, where, record in records:
        if isinstance(record, Mapping):
            name = next((name for name in fields if has_field(record, name)), None)
            if name is None:
                raise no_field(where, fields, list(map(str, record)))
            texts.append(_texts(value_of(record, where, name), where, f"field {name!r}", several))
            if id_field and has_field(record, id_field):
                name_of(value_of(record, where, id_field), where, id_field)  # raises an error where it is no name
                ids.append(value_of(record, where, id_field))
                places.append(where)
        else:
            texts.append(_texts(record, where, "the value", several))
    if not texts:
        raise InputError(f"{source.name} holds no texts")
    if ids and len(ids) < len(texts):
        raise InputError(f"{source.name}: {len(texts) - len(ids)} of {len(texts)} records have no field {id_field!r}")
    return Column(source.name, texts, ids or None, places)


def _texts(value: Any, where: str, what: str, several: bool) -> list[str]:
    if isinstance(value, str):
        check_characters(value, f"{where}: {what}")
        return [value]
    if not several or not isinstance(value, list):
        wanted = "a text or a list of texts" if several else "a text"
        raise InputError(f"{where}: {what} must be {wanted}, not {kind(value)}")
    if not value:
        raise InputError(f"{where}: {what} is an empty list, but every item needs a reference")
    return list(texts_of(value, where, what))


def _common_ids(columns: Sequence[Column], id_field: str) -> list[str | int] | None:
    named = [column for column in columns if column.ids is not None]
    for column in named[1:]:
        for place, (name, first) in enumerate(zip(column.ids or (), named[0].ids or (), strict=True)):
            if str(name) != str(first):
                raise InputError(
                    f"{named[0].places[place]} has the {id_field} {first!r}, but {column.places[place]} has {name!r}: "
                    "the files are not in one order (name the field that holds ids)"
                )
    return named[0].ids if named else None


def _entries(column: Column) -> str:
    return f"{len(column.texts):,} {'entry' if len(column.texts) == 1 else 'entries'}"
