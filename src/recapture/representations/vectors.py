"""Between texts and arrays: whatever a metric is given becomes vectors of one space."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice, pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from ..errors import InputError
from ..texts.objects import checked_entries, is_missing, samples_of
from .facts import MadeFor, TextFacts, facts_of, notes_on

if TYPE_CHECKING:
    import os

    from .vector_cache import VectorCache

SampleSet = Sequence[str] | ArrayLike
"""One set of samples: texts, or ready vectors (samples x dimensions)."""


class Encoded(NamedTuple):
    """Several sets in one space."""

    sets: list[Any]
    identity: dict[str, Any] | None
    """What made the vectors; None when the sets were arrays already."""
    notes: list[list[str]]
    """Sentences about each set's texts."""
    facts: list[TextFacts]
    """What the encoder sees of each set's texts."""
    made_for: MadeFor | None = None
    """What the encoder was made for; None where it does not say."""


def asked_encoding(
    pooling: str | None,
    device: str | None,
    batch_size: int | None,
    offline: bool | None,
    cache: bool | str | os.PathLike[str] | VectorCache | None,
    truncate: bool,
    dtype: str | None = None,
) -> dict[str, Any]:
    """How to encode, for `vectors_of`: what was not asked for is not said, since ready vectors refuse what is."""
    every = {
        "pooling": pooling,
        "device": device,
        "batch_size": batch_size,
        "offline": offline,
        "cache": cache,
        "truncate": truncate or None,
        "dtype": dtype,
    }
    return {name: value for name, value in every.items() if value is not None}


def vectors_of(
    sets: Sequence[Any], names: Sequence[str], encoder: Any = None, *, blind: bool = False, **encoding: Any
) -> Encoded:
    """Vectors of every set, with the encoder's identity and what there is to say about the texts.

    The first set is the reference: an encoder that learns learns from it alone, so that a candidate's vectors do not
    depend on which other candidates are scored beside it.

    blind: let it learn from all texts instead. A space made from one side fits that side better, so that even sides
    of one distribution would differ in it: tests, intervals and human bands need one that does not know sides.
    """
    sets = [samples_of(samples, name) for samples, name in zip(sets, names, strict=True)]
    texts = [holds_texts(samples) for samples in sets]
    if not any(texts):
        # Without texts, offline and cache have no effect, and the device looks for neighbours; the rest would be a
        # mistake.
        useless = [name for name in encoding if name not in ("offline", "cache", "device")]
        if encoder is not None or useless:
            what = "an encoder" if encoder is not None else useless[0]
            raise InputError(f"{what} was named, but the sets are vectors already")
        return Encoded(list(sets), None, [[] for _ in sets], [TextFacts() for _ in sets])
    if not all(texts):
        raise InputError(
            f"{names[texts.index(True)]} holds texts and {names[texts.index(False)]} holds vectors: "
            "give all sets in one form"
        )
    from .encode import encode_rows
    from .encoder import resolve_encoder

    listed = [_checked(samples, name) for samples, name in zip(sets, names, strict=True)]
    options = {
        key: encoding.pop(key) for key in ("pooling", "device", "offline", "truncate", "dtype") if key in encoding
    }
    named = resolve_encoder(encoder, **options)
    resolved = named.fit([text for texts in listed for text in texts] if blind else listed[0])
    learnt = {} if resolved is named else {"learnt from": "all texts, blind to sides" if blind else "the reference"}
    together = encode_rows([text for texts in listed for text in texts], resolved, **encoding)
    ends = np.cumsum([0, *(len(texts) for texts in listed)]).tolist()
    encoded = [together[start:end] for start, end in pairwise(ends)]
    facts = [facts_of(resolved, texts) for texts in listed]
    notes = [
        [*_notes(texts, name), *notes_on(resolved, texts, name, about)]
        for texts, name, about in zip(listed, names, facts, strict=True)
    ]
    return Encoded(encoded, {**resolved.identity(), **learnt}, notes, facts, getattr(resolved, "made_for", None))


def _notes(texts: list[str], name: str) -> list[str]:
    empty = sum(not text.strip() for text in texts)
    return [f"{empty} of {len(texts)} texts of {name} are empty; they were kept"] if empty else []


def holds_texts(samples: Any) -> bool:
    """Whether a set is a list (array, column) of strings rather than of vectors. An empty list counts as texts."""
    if isinstance(samples, (str, bytes)):
        raise InputError("a set must be a list of texts, not one string")
    if isinstance(samples, np.ndarray) and samples.dtype.kind != "O":
        return samples.dtype.kind in "UT"
    if not isinstance(samples, Iterable) or type(samples).__module__.partition(".")[0] == "torch":
        return False
    # Missing texts tell nothing: they may come first.
    some = list(islice((item for item in samples if not is_missing(item)), 100))
    if any(isinstance(item, (list, tuple)) and item and isinstance(item[0], str) for item in some):
        raise InputError("a set must be a list of texts, not a list of lists of texts; name several sets in a mapping")
    return any(isinstance(item, (str, Mapping)) for item in some) or (isinstance(samples, (list, tuple)) and not some)


def _checked(samples: Any, name: str) -> list[str]:
    texts = list(samples)
    if not texts:
        raise InputError(f"{name} is empty: it has no texts")
    return checked_entries(texts, name)
