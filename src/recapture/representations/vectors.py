"""The door between texts and arrays: whatever a metric is given comes out as vectors of one space."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Any

import numpy as np

from ..errors import InputError


def vectors_of(
    sets: Sequence[Any], names: Sequence[str], encoder: Any = None, **encoding: Any
) -> tuple[list[Any], dict[str, Any] | None]:
    """Vectors of every set, and the encoder's identity (None when the sets are arrays already).

    The first set is the reference: an encoder that learns learns from it alone, so that a candidate's vectors do not
    depend on which other candidates are scored beside it.
    """
    sets = [list(given) if isinstance(given, Iterator) else given for given in sets]
    texts = [holds_texts(given) for given in sets]
    if not any(texts):
        if encoder is not None or encoding:
            raise InputError("an encoder was named, but the sets are vectors already")
        return list(sets), None
    if not all(texts):
        raise InputError(
            f"{names[texts.index(True)]} holds texts and {names[texts.index(False)]} holds vectors: "
            "give all sets in one form"
        )
    from .encode import encode
    from .encoder import resolve_encoder

    listed = [_checked(given, name) for given, name in zip(sets, names, strict=True)]
    options = {key: encoding.pop(key) for key in ("pooling", "device", "offline") if key in encoding}
    resolved = resolve_encoder(encoder, **options).fit(listed[0])
    together = encode([text for texts in listed for text in texts], resolved, **encoding)
    ends = np.cumsum([len(texts) for texts in listed])[:-1]
    return np.split(together, ends), dict(resolved.identity())


def holds_texts(given: Any) -> bool:
    """Whether a set is a list (array, column) of strings rather than of vectors. An empty list counts as texts."""
    if isinstance(given, (str, bytes)):
        raise InputError("a set must be a list of texts, not one string")
    if isinstance(given, np.ndarray) and given.dtype.kind != "O":
        return given.dtype.kind in "UT"
    if not isinstance(given, Iterable) or type(given).__module__.partition(".")[0] == "torch":
        return False
    some = [item for _, item in zip(range(100), given, strict=False)]
    if any(isinstance(item, (list, tuple)) and item and isinstance(item[0], str) for item in some):
        raise InputError("a set must be a list of texts, not a list of lists of texts; name several sets in a mapping")
    return any(isinstance(item, str) for item in some) or (isinstance(given, (list, tuple)) and not some)


def _checked(given: Any, name: str) -> list[str]:
    texts = list(given)
    if not texts:
        raise InputError(f"{name} is empty: it has no texts")
    for position, text in enumerate(texts):
        if not isinstance(text, str):
            raise InputError(f"text {position} of {name} is not a string but {type(text).__name__}")
    return texts
