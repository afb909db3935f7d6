"""What one reading of files of texts tells: where each text begins, and which are equal. No text is kept.

Equal texts are told by digests of 128 bits, as a person would have to search for the age of the universe to find two
that differ.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from json.encoder import encode_basestring_ascii
from typing import IO, NamedTuple

import numpy as np

from ..errors import InputError
from .reading import Place, Source, check_lines, streamed_texts

_RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("offset", "<i8"), ("line", "<i8")])
_HEAD = 10_000
"""Texts of a file that are looked at for what is plainly none."""
_WRITTEN = 1 << 20
_SHARES = 16
"""Digests that begin with the same four bits are compared at once: a sixteenth of all."""
_BLOCK = 1 << 20


class TextIndex:
    """What one reading of two files tells about every text, kept on disk as long as the plan is made."""

    def __init__(self, records: np.ndarray, sizes: Sequence[int], digests: Sequence[str], notes: list[str]) -> None:
        """digests: of each file's texts, in their order"""
        self._records, self.sizes, self.digests, self.notes = records, sizes, digests, notes

    @cached_property
    def first_equal(self) -> np.ndarray:
        """Of every text, the number of the first that is equal to it; both files count together."""
        return first_equal(self._records["high"], self._records["low"])

    def own(self, side: int) -> np.ndarray:
        """The same of one file alone."""
        start = sum(self.sizes[:side])
        return self.first_equal[start : start + self.sizes[side]]

    def marks(self, side: int, texts: Sequence[int]) -> tuple[tuple[int, int], ...]:
        """Where texts of a file begin: offset and line."""
        found = self._records[sum(self.sizes[:side]) + np.asarray(texts)]
        return tuple(zip(found["offset"].tolist(), found["line"].tolist(), strict=True))


def first_equal(high: np.ndarray, low: np.ndarray) -> np.ndarray:
    """Of numbers in two halves: the place of the first that is equal. Little more is held than the answer."""
    first = np.empty(len(high), np.int64)
    begins = np.concatenate([(high[block : block + _BLOCK] >> np.uint64(60)).astype(np.uint8)
                             for block in range(0, len(high), _BLOCK)])  # fmt: skip
    for share in range(_SHARES):
        places = np.flatnonzero(begins == share)
        upper, lower = high[places], low[places]
        order = np.lexsort((lower, upper))  # stable: of equal ones the first comes first
        upper, lower, places = upper[order], lower[order], places[order]
        new = np.ones(len(places), bool)
        new[1:] = (upper[1:] != upper[:-1]) | (lower[1:] != lower[:-1])
        first[places] = places[new][np.cumsum(new) - 1]
    return first


class AskedTexts(NamedTuple):
    """A file of texts as it is read."""

    path: str
    field: str | None
    form: str


@contextmanager
def indexed(files: Sequence[AskedTexts]) -> Iterator[TextIndex]:
    """Read files once, text by text."""
    with tempfile.TemporaryFile(prefix="recapture-") as kept:
        sizes, digests, notes = [], [], []
        for file in files:
            source, head, count, waiting, listed = Source(file.path), [], 0, bytearray(), _ListDigest()
            for place, text in streamed_texts(source, file.form, file.field):
                if count < _HEAD:
                    head.append(text)
                count += 1
                listed.add(text)
                waiting += blake2b(text.encode(), digest_size=16).digest() + struct.pack("<qq", *place)
                if len(waiting) >= _WRITTEN:
                    _write(kept, waiting)
                    waiting.clear()
            _write(kept, waiting)
            if not count:
                raise InputError(f"{source.name} holds no texts")
            if file.form == "lines":
                notes += check_lines(source, head)
            sizes.append(count)
            digests.append(listed.hexdigest())
        yield TextIndex(np.memmap(kept, _RECORD, "r"), sizes, digests, notes)


class _ListDigest:
    """Of texts that pass by: what `report.result.content_digest` has for a list of them all."""

    def __init__(self) -> None:
        self._found = blake2b(b"[", digest_size=12)
        self._between = ""

    def add(self, text: str) -> None:
        self._found.update(f"{self._between}{encode_basestring_ascii(text)}".encode())
        self._between = ", "

    def hexdigest(self) -> str:
        """No text may follow."""
        self._found.update(b"]")
        return self._found.hexdigest()


def _write(kept: IO[bytes], content: bytes | bytearray) -> None:
    try:
        kept.write(content)
        kept.flush()
    except OSError as error:
        where = tempfile.gettempdir()
        raise InputError(f"cannot write to {where}, for temporary files: {error.strerror or error}") from None


def texts_from(file: AskedTexts, mark: tuple[int, int], count: int) -> list[str]:
    """So many texts of a file from a place on."""
    found = streamed_texts(Source(file.path), file.form, file.field, Place(*mark))
    return [text for _, text in islice(found, count)]
