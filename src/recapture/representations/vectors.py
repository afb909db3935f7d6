"""The door between texts and arrays: whatever a metric is given comes out as vectors of one space."""

from __future__ import annotations

from collections.abc import Sequence
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

    for name, given in zip(names, sets, strict=True):
        if len(given) == 0:
            raise InputError(f"{name} is empty: it has no texts")
    options = {key: encoding.pop(key) for key in ("pooling", "device", "offline") if key in encoding}
    resolved = resolve_encoder(encoder, **options).fit(list(sets[0]))
    together = encode([text for given in sets for text in given], resolved, **encoding)
    ends = np.cumsum([len(given) for given in sets])[:-1]
    return np.split(together, ends), dict(resolved.identity())


def holds_texts(given: Any) -> bool:
    """Whether a set is a list of strings rather than of vectors. An empty list could be either: it counts as texts."""
    if isinstance(given, str):
        raise InputError("a set must be a list of texts, not one string")
    if isinstance(given, np.ndarray):
        return given.dtype.kind in "UTO" and given.ndim == 1
    if isinstance(given, (list, tuple)) or type(given).__name__ in ("Series", "Column"):
        return len(given) == 0 or isinstance(given[0] if isinstance(given, (list, tuple)) else next(iter(given)), str)
    return False
