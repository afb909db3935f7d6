"""From a path to samples: what a format is, which one a file has, and reading it."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from functools import cache
from textwrap import shorten

import numpy as np

from ..checks import is_one_of, path_of, plain_arguments
from ..declarations import declared
from ..errors import InputError, first_line, nearest_names, shown
from .sources import Source


@dataclass(frozen=True)
class Samples:
    """One set of samples, in the order of the file: either texts or ready embeddings."""

    source: str
    """What to call the set in messages: the path as it was given, or "standard input"."""
    texts: tuple[str, ...] | None
    vectors: np.ndarray | None
    """(samples, dimensions), in the number type of the file."""
    empty: int
    """How many texts are empty or only whitespace. They are counted, never dropped."""
    notes: tuple[str, ...] = ()
    """Sentences about what looks odd."""

    @property
    def content(self) -> list[str] | np.ndarray:
        """The texts as a list, or the vectors."""
        return self.vectors if self.texts is None else list(self.texts)  # type: ignore[return-value]

    def take(self, places: np.ndarray) -> Samples:
        """Those at some places alone."""
        if self.texts is None:
            return replace(self, vectors=np.asarray(self.vectors)[places])
        texts = tuple(self.texts[place] for place in places.tolist())
        return replace(self, texts=texts, empty=sum(not text or text.isspace() for text in texts))

    def __len__(self) -> int:
        return len(self.vectors if self.texts is None else self.texts)  # type: ignore[arg-type]


@dataclass(frozen=True)
class Format:
    """A way to store samples."""

    name: str
    suffixes: tuple[str, ...]
    read: Callable[[Source, str | None], Samples]
    """From a source and the field the caller asked for (None: the usual one) to its samples."""
    is_text: bool = True
    """Text formats may also be compressed or come through standard input."""
    has_fields: bool = True
    """Whether a caller can choose between fields."""


def text_samples(source: Source, texts: Sequence[str]) -> Samples:
    if not texts:
        raise InputError(f"{source.name} holds no texts")
    return Samples(source.name, tuple(texts), None, sum(not text or text.isspace() for text in texts))


def check_vectors(source: Source, kind: np.dtype, shape: Sequence[int]) -> None:
    """Refuse an array that is no set of vectors, by what its header says."""
    if kind.kind not in "fiub":
        raise InputError(f"{source.name} must hold real numbers, but their type is {kind}")
    if len(shape) != 2:
        raise InputError(f"{source.name} must hold samples x dimensions, but the shape is {tuple(shape)}")
    if 0 in shape:
        raise InputError(f"{source.name} holds no vectors: the shape is {tuple(shape)}")


def vector_samples(source: Source, vectors: np.ndarray) -> Samples:
    check_vectors(source, vectors.dtype, vectors.shape)
    # Files may have the other byte order, which torch refuses and which makes NumPy slow.
    return Samples(source.name, None, vectors.astype(vectors.dtype.newbyteorder("="), copy=False), 0)


def pick_field(where: str, there: Sequence[str], field: str | None, usual: Sequence[str] = ("text",)) -> str:
    """The field asked for; without a request the only one, or the first of the usual ones that is there."""
    if field is None and len(there) == 1:
        return there[0]
    wanted = usual if field is None else (field,)
    name = next((name for name in wanted if name in there), None)
    if name is None:
        raise no_field(where, wanted, there)
    if list(there).count(name) > 1:
        raise InputError(f"{where}: more than one field is called {name!r}")
    return name


_COMPARED = 1000
"""Names that are looked through for one that is nearly the one asked for."""


def no_field(where: str, wanted: Sequence[str], there: Sequence[str]) -> InputError:
    # Where a table lacks its header, whole texts stand here: the message must stay one readable line.
    names = [shorten(name, 40, placeholder="...") for name in there[:_COMPARED]]
    hint = nearest_names(wanted[0], names)
    close = f"; {hint}" if hint.startswith("did you mean") else ""
    shown = ", ".join([*names[:20], "..."] if len(names) > 20 else names) or "none"
    return InputError(f"{where}: no field {' or '.join(map(repr, wanted))}; fields there are: {shown}{close}")


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
    source = Source(path_of(path))
    chosen = chosen_format(source, format)
    return chosen.read(source, field) if chosen.is_text else _read_binary(source, chosen, field)


@plain_arguments
def read(
    path: str | os.PathLike[str],
    *,
    field: str | None = None,
    format: str | None = None,  # noqa: A002 - the word a user expects
) -> list[str] | np.ndarray:
    """The texts of a file, or its ready vectors.

    Parameters
    ----------
    path : str or path
        The file; "-" is standard input. Text formats may be compressed (.gz, .xz).
    field : str, optional
        The column, key or array to take, where the format has such names (None: the usual one, or the only one).
    format : str, optional
        lines, csv, tsv, jsonl, json, parquet, npy, npz or safetensors. None: the suffix decides, and an unknown suffix
        means plain lines.

    Returns
    -------
    list of str or numpy.ndarray
        Texts as a list; vectors as an array of samples x dimensions, in the number type of the file. Empty texts are
        kept.

    Raises
    ------
    InputError
        With file, line and reason, for anything that cannot be used.

    Examples
    --------
    >>> from pathlib import Path
    >>> import recapture as rc
    >>> _ = Path("human.jsonl").write_text('{"text": "a cat sat"}\\n{"text": "a dog ran"}\\n')
    >>> rc.read("human.jsonl", field="text")
    ['a cat sat', 'a dog ran']
    """
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
    chosen = [chosen_format(source, name) for source, name in zip(sources, formats, strict=True)]
    mixed = any(known.has_fields for known in chosen)
    plans = []
    for source, known in zip(sources, chosen, strict=True):
        # Only where the name shows that there are no fields: records under an odd suffix must not pass as lines.
        plain = source.path == "-" or source.suffixes[0] in known.suffixes
        skip = mixed and plain and not known.has_fields
        plans.append((source, known, None if skip else field))
    return plans


def has_known_suffix(path: str) -> bool:
    """Whether the ending of a name belongs to a format; what has none is read as lines where it is named alone."""
    return any(Source(path).suffixes[0] in known.suffixes for known in _formats().values())


def format_names() -> list[str]:
    return sorted(_formats())


def chosen_format(source: Source, name: str | None) -> Format:
    formats = _formats()
    if name is None:
        return next((known for known in formats.values() if source.suffixes[0] in known.suffixes), formats["lines"])
    if not is_one_of(name, formats):
        raise InputError(f"no format {shown(name)}; {nearest_names(name, formats)}")
    return formats[name]


def _read_binary(source: Source, chosen: Format, field: str | None) -> Samples:
    if source.is_pipe:
        able = ", ".join(name for name in format_names() if _formats()[name].is_text)
        pipe = source.name if source.path == "-" else f"{source.name}, a pipe or device,"
        raise InputError(f"{pipe} cannot carry {chosen.name}, only {able}")
    if source.suffixes[1]:
        raise InputError(f"{source.name}: {chosen.name} cannot be read compressed; unpack the file first")
    with damage_told(source, chosen.name):
        return chosen.read(source, field)


@contextmanager
def damage_told(source: Source, what: str) -> Iterator[None]:
    """Whatever libraries raise over damaged bytes, as one sentence."""
    try:
        yield
    except InputError:
        raise
    except Exception as error:  # zip, NumPy and Arrow fail in more ways than can be listed
        raise InputError(f"{source.name} cannot be read as {what}: {first_line(error)}") from error


@cache
def _formats() -> dict[str, Format]:
    """Every format that a module of this package declares."""
    return {known.name: known for known in declared(__package__, "FORMATS", Format)}
