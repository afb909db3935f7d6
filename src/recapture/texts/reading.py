"""Pick the format of a file and read it."""

from __future__ import annotations

import os
import pkgutil
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any

from ..errors import InputError, nearest_names
from .base import Format, Samples
from .source import Source, first_line


def read_samples(
    path: str | os.PathLike[str],
    *,
    field: str | None = None,
    format: str | None = None,  # noqa: A002 - the word a user expects
) -> Samples:
    """The samples of a file, or of standard input for "-".

    `format` is one of `format_names()`; without it the suffix decides, and an unknown suffix means plain lines.
    `field` names the column, key or array to take where the format has such names.
    Raises InputError with file, line and reason for anything that cannot be used.
    """
    source = Source(os.fspath(path))
    chosen = _choose(source, format)
    return chosen.read(source, field) if chosen.is_text else _read_binary(source, chosen, field)


def read(path: str | os.PathLike[str], *, field: str | None = None, format: str | None = None) -> Any:  # noqa: A002
    """The texts of a file as a list, or its ready vectors as an array. Options as for `read_samples`."""
    samples = read_samples(path, field=field, format=format)
    for note in samples.notes:
        warnings.warn(note, stacklevel=2)
    return samples.content


def read_together(paths: Sequence[str], formats: Sequence[str | None], *, field: str | None = None) -> list[Samples]:
    """Several inputs under one `field`. Plain lines and single arrays, which have none, may stand beside the others."""
    return [read_samples(source.path, field=of, format=known.name) for source, known, of in plan(paths, formats, field)]


def plan(
    paths: Sequence[str], formats: Sequence[str | None], field: str | None
) -> list[tuple[Source, Format, str | None]]:
    """How inputs under one `field` are to be read: each with its format, and the field unless it has none."""
    sources = [Source(path) for path in paths]
    chosen = [_choose(source, name) for source, name in zip(sources, formats, strict=True)]
    mixed = any(known.has_fields for known in chosen)
    made = []
    for source, known in zip(sources, chosen, strict=True):
        # Only where the name shows that there are no fields: records under an odd suffix must not pass as lines.
        plain = source.path == "-" or source.suffixes[0] in known.suffixes
        skip = mixed and plain and not known.has_fields
        made.append((source, known, None if skip else field))
    return made


def format_names() -> list[str]:
    return sorted(_formats())


def _choose(source: Source, name: str | None) -> Format:
    formats = _formats()
    if name is None:
        return next((known for known in formats.values() if source.suffixes[0] in known.suffixes), formats["lines"])
    if name not in formats:
        raise InputError(f"no format {name!r}; {nearest_names(name, formats)}")
    return formats[name]


def _read_binary(source: Source, chosen: Format, field: str | None) -> Samples:
    if source.path == "-":
        able = ", ".join(name for name in format_names() if _formats()[name].is_text)
        raise InputError(f"standard input cannot carry {chosen.name}, only {able}")
    if source.suffixes[1]:
        raise InputError(f"{source.name}: {chosen.name} cannot be read compressed; unpack the file first")
    try:
        return chosen.read(source, field)
    except InputError:
        raise
    except Exception as error:  # damaged bytes make zip, NumPy and Arrow fail in more ways than can be listed
        raise InputError(f"{source.name} cannot be read as {chosen.name}: {first_line(error)}") from error


@cache
def _formats() -> dict[str, Format]:
    """Every format that a module of this package declares."""
    here = import_module(__package__)
    modules = [import_module(f"{__package__}.{module.name}") for module in pkgutil.iter_modules(here.__path__)]
    return {known.name: known for module in modules for known in getattr(module, "FORMATS", ())}
