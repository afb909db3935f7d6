"""Which texts of a file belong together: the labels in a field beside the texts."""

from __future__ import annotations

import os

from ..checks import path_of
from ..errors import InputError
from .arrow_files import COLUMNS
from .reading import Source, chosen_format, damage_told
from .records import json_array, json_lines, kind, name_of, value_of


def read_group_labels(
    path: str | os.PathLike[str],
    field: str,
    format: str | None = None,  # noqa: A002 - the word a user expects
) -> list[str]:
    """One label a record, in the order in which `read_samples` gives its texts. Whole numbers become their digits."""
    source = Source(path_of(path))
    known = chosen_format(source, format)
    if known.name in ("jsonl", "json"):
        records = json_lines(source) if known.name == "jsonl" else json_array(source)
        labels = []
        for _, where, record in records:
            if not isinstance(record, dict):
                raise InputError(f"{where} is not an object but {kind(record)}: it has no field {field!r}")
            labels.append(name_of(value_of(record, where, field), where, field))
    elif known.name in COLUMNS:
        with damage_told(source, known.name), COLUMNS[known.name](source, field) as column:
            values = [value for batch in column.batches(0) for value in batch.to_pylist()]
        labels = [name_of(value, f"{source.name} row {number}", field) for number, value in enumerate(values, 1)]
    elif known.is_text and known.has_fields:
        labels = list(known.read(source, field).texts or ())
    else:
        raise InputError(f"{source.name} is read as {known.name}, which has no fields: it has no groups {field!r}")
    for number, label in enumerate(labels, 1):
        if not label.strip():
            raise InputError(f"{source.name} record {number}: field {field!r} is empty, so the text has no group")
    return labels
