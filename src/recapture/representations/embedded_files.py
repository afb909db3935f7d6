"""Vectors of a large file of texts, written as they are made: neither all texts nor all vectors are held."""

from __future__ import annotations

from itertools import islice
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..texts.array_files import new_npy
from ..texts.reading import Source, chosen_format, streamed_texts
from ..texts.text_index import AskedTexts, TextIndex
from .encode import encode_rows

if TYPE_CHECKING:
    from .encoder import Encoder

HELD = 1 << 16
"""Texts that are encoded at once, and held meanwhile. Of so many all are."""
_LARGE = 1 << 22
"""Bytes of a file from which on it may hold more."""


def may_be_large(path: str, field: str | None, format: str | None) -> AskedTexts | None:  # noqa: A002 - as in `read`
    """The file, where it is worth to look how many texts it holds; what can be read only once, or whole, is not."""
    source = Source(path)
    known = chosen_format(source, format)
    if source.is_pipe or known.stream is None or not Path(path).is_file() or Path(path).stat().st_size < _LARGE:
        return None
    return AskedTexts(path, field, known.name)


def write_vectors(
    file: AskedTexts, index: TextIndex, encoder: Encoder, target: Path, **encoding: Any
) -> tuple[int, int]:
    """One row a text as .npy. Equal texts are encoded once; what an earlier run has put into the cache is not made
    again. Returns rows and dimensions."""
    (count,), first = index.sizes, index.first_equal
    written: np.memmap | None = None
    texts = streamed_texts(Source(file.path), file.form, file.field)
    for start in range(0, count, HELD):
        stop = min(start + HELD, count)
        held = [text for _, text in islice(texts, stop - start)]
        if len(held) != stop - start:
            raise InputError(f"{file.path} was changed while it was read: nothing was kept of it")
        new = first[start:stop] == np.arange(start, stop)
        if new.any():
            vectors = np.asarray(
                encode_rows([held[place] for place in np.flatnonzero(new).tolist()], encoder, **encoding)
            )
            if written is None:
                written = new_npy(target, np.float32, (count, vectors.shape[1]))
            written[start + np.flatnonzero(new)] = vectors
        assert written is not None  # the first text stands nowhere before
        for place in (start + np.flatnonzero(~new)).tolist():
            written[place] = written[first[place]]
    assert written is not None
    written.flush()
    return count, written.shape[1]
