"""Plain text: one sample per line."""

from __future__ import annotations

from ..errors import InputError
from .base import Format, Samples, text_samples
from .source import Source, without_line_end


def _read(source: Source, field: str | None) -> Samples:
    if field is not None:
        # Most likely records under an unusual suffix: reading them as plain lines would give wrong scores quietly.
        raise InputError(f"{source.name} is read as plain lines, which have no field {field!r}; name its format")
    return text_samples(source, [without_line_end(line) for _, line in source.lines()])


FORMATS = (Format("lines", (".txt", ".text"), _read, has_fields=False),)
