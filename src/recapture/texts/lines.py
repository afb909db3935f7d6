"""Plain text: one sample per line."""

from __future__ import annotations

import json
from dataclasses import replace

from ..errors import InputError
from .reading import Format, Samples, text_samples
from .sources import Source, without_line_end


def _read(source: Source, field: str | None) -> Samples:
    if field is not None:
        # Most likely records under an unusual suffix: reading them as plain lines would give wrong scores silently.
        raise InputError(f"{source.name} is read as plain lines, which have no field {field!r}; name its format")
    samples = text_samples(source, [without_line_end(line) for _, line in source.lines()])
    texts = samples.texts or ()
    notes = []
    if all(_is_record(text) for text in texts[:3]):
        notes.append(
            f"{source.name} is read as plain lines, but they look like JSON: name its format (jsonl) if they are"
        )
    # A line that ends in two carriage returns is a slip of some programs; one inside may be the end of a text.
    broken = sum("\r" in text.rstrip("\r") for text in texts if "\r" in text)
    if broken and len(texts) == 1:
        raise InputError(
            f"{source.name} has carriage returns and no line feed that ends a line, so it would be a single text: give "
            "it the line ends of Unix or Windows"
        )
    if broken:
        notes.append(
            f"{source.name}: {broken:,} of {len(texts):,} texts hold a carriage return, which does not end a text here"
        )
    return replace(samples, notes=tuple(notes))


def _is_record(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


FORMATS = (Format("lines", (".txt", ".text"), _read, has_fields=False),)
