"""What every format shares: the result, the declaration of a format, and the checks on both."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from textwrap import shorten
from typing import Any

import numpy as np

from ..errors import InputError, nearest_names
from .source import Source


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
    def content(self) -> Any:
        """The texts as a list, or the vectors."""
        return self.vectors if self.texts is None else list(self.texts)

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


def vector_samples(source: Source, vectors: np.ndarray) -> Samples:
    if vectors.dtype.kind not in "fiub":
        raise InputError(f"{source.name} must hold real numbers, but their type is {vectors.dtype}")
    if vectors.ndim != 2:
        raise InputError(f"{source.name} must hold samples x dimensions, but the shape is {vectors.shape}")
    if 0 in vectors.shape:
        raise InputError(f"{source.name} holds no vectors: the shape is {vectors.shape}")
    # Files may keep the other byte order, which torch refuses and NumPy is slow with.
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


def no_field(where: str, wanted: Sequence[str], there: Sequence[str]) -> InputError:
    # Where a table lacks its header, whole texts stand here: the message must stay one readable line.
    names = [shorten(name, 40, placeholder="...") for name in there]
    hint = nearest_names(wanted[0], names)
    close = f"; {hint}" if hint.startswith("did you mean") else ""
    shown = ", ".join([*names[:20], "..."] if len(names) > 20 else names) or "none"
    return InputError(f"{where}: no field {' or '.join(map(repr, wanted))}; fields there are: {shown}{close}")
