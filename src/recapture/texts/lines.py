"""Plain text: one sample per line."""

from __future__ import annotations

import json
from dataclasses import replace

from ..errors import InputError
from .reading import Format, Samples, Source, text_samples, without_line_end


def _read(source: Source, field: str | None) -> Samples:
    if field is not None:
        # Most likely records under an unusual suffix: reading them as plain lines would give wrong scores silently.
        raise InputError(f"{source.name} is read as plain lines, which have no field {field!r}; name its format")
    samples = text_samples(source, [without_line_end(line) for _, line in source.lines()])
    if all(_is_record(text) for text in (samples.texts or ())[:3]):
        note = f"{source.name} is read as plain lines, but they look like JSON: name its format (jsonl) if they are"
        return replace(samples, notes=(note,))
    return samples


def _is_record(text: str) -> bool:
    if not text.startswith("{"):
        return False
    try:
        return isinstance(json.loads(text), dict)
    except (ValueError, RecursionError):
        return False


FORMATS = (Format("lines", (".txt", ".text"), _read, has_fields=False),)
