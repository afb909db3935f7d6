"""Files of texts that a plan is for: where each part begins, which texts are equal, and who encodes them.

A text is encoded once, in the part where it stands first, whichever file that is: the vectors of equal texts are equal.
"""

from __future__ import annotations

import struct
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from hashlib import blake2b
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..geometry.parallel import engine_options
from ..representations.encode import check_batch_size, encode_rows
from ..representations.encoder import Encoder, resolve_encoder
from ..texts import reading
from ..texts.reading import Source, streamed_texts
from .places import Place, beside, place_of, seen_from

LINES = "lines.npy"
"""Of every text, the reference's first, the number of the first that is equal to it."""
_RECORD = np.dtype([("high", "<u8"), ("low", "<u8"), ("offset", "<i8"), ("line", "<i8")])
_HEAD = 10_000
"""Texts of a file that are looked at for what is plainly none."""
_WRITTEN = 1 << 20
_SHARES = 16
"""Digests that begin alike are compared at once: a sixteenth of all."""


class TextIndex:
    """What one reading of two files tells about every text, kept on disk as long as the plan is made."""

    def __init__(self, records: np.ndarray, sizes: Sequence[int], notes: list[str]) -> None:
        self._records, self.sizes, self.notes = records, sizes, notes

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
    for share in range(_SHARES):
        places = np.flatnonzero(high // np.uint64(2**64 // _SHARES) == share)
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
        sizes, notes = [], []
        for file in files:
            source, head, count, waiting = Source(file.path), [], 0, bytearray()
            for place, text in streamed_texts(source, file.form, file.field):
                if count < _HEAD:
                    head.append(text)
                count += 1
                waiting += blake2b(text.encode(), digest_size=16).digest() + struct.pack("<qq", *place)
                if len(waiting) >= _WRITTEN:
                    kept.write(waiting)
                    waiting.clear()
            kept.write(waiting)
            if not count:
                raise InputError(f"{source.name} holds no texts")
            if file.form == "lines":
                notes += reading.check_lines(source, head)
            sizes.append(count)
        kept.flush()
        yield TextIndex(np.memmap(kept, _RECORD, "r"), sizes, notes)


def texts_from(file: AskedTexts, mark: tuple[int, int], count: int) -> list[str]:
    """So many texts of a file from a place on."""
    found = streamed_texts(Source(file.path), file.form, file.field, reading.Place(*mark))
    return [text for _, text in islice(found, count)]


@dataclass(frozen=True)
class PlannedEncoding:
    """What encodes the texts of a plan: nothing else that their vectors depend on is left open."""

    name: str | None
    """As it was asked for, or the whole path of a folder or file."""
    beside: str | None
    """Of a folder or file: as seen from the plan's folder."""
    pooling: str | None
    truncate: bool
    batch_size: int
    identity: dict[str, str]
    dimensions: int

    @classmethod
    def of(
        cls, encoder: str | None, folder: Place, text: str, pooling: str | None, truncate: bool, batch_size: int | None
    ) -> PlannedEncoding:
        """text: to see what it makes of one."""
        path = None
        if encoder is not None and Path(encoder).expanduser().exists():
            path = str(Path(encoder).expanduser().absolute())
        resolved = resolve_encoder(path or encoder, pooling=pooling, truncate=truncate)
        if resolved.fit([text or "a"]) is not resolved:
            raise InputError(
                f"{resolved.name} learns from texts, which parts of a plan cannot: encode both files first, and make "
                "the plan for their vectors"
            )
        size = 32 if batch_size is None else check_batch_size(batch_size)
        dimensions = encode_rows([text], resolved, batch_size=size, cache=False).shape[1]
        return cls(
            path or encoder,
            None if path is None else beside(path, folder),
            pooling,
            truncate,
            size,
            resolved.identity(),
            dimensions,
        )

    @classmethod
    def from_json(cls, said: Any) -> PlannedEncoding:
        return cls(**said)

    def to_json(self) -> dict[str, Any]:
        return asdict(self)

    @property
    def work(self) -> dict[str, Any]:
        """What vectors depend on: not where the encoder lies."""
        return {"identity": self._told(self.identity), "batch size": self.batch_size}

    def resolved(self, folder: Place) -> Encoder:
        """The encoder, on the device that the work is done on."""
        asked, name = engine_options().device, self.name
        if self.beside is not None:
            places = [seen_from(folder, self.beside), place_of(str(self.name))]
            name = next((str(place) for place in places if Path(str(place)).exists()), self.name)
        found = resolve_encoder(
            name, pooling=self.pooling, truncate=self.truncate, device=None if asked == "auto" else asked
        )
        other = {key: value for key, value in self._told(found.identity()).items() if value != self.identity.get(key)}
        if other:
            key, value = next(iter(other.items()))
            raise InputError(
                f"the encoder {found.name} is not the one that the plan was made with: its {key} is {value}, not "
                f"{self.identity.get(key)}"
            )
        return found

    def _told(self, identity: dict[str, str]) -> dict[str, str]:
        """A folder or file may lie elsewhere, so that its name says nothing."""
        return {key: value for key, value in identity.items() if self.beside is None or key != "encoder"}

    def vectors(self, encoder: Encoder, texts: list[str]) -> np.ndarray:
        if not texts:
            return np.empty((0, self.dimensions), np.float32)
        return np.asarray(encode_rows(texts, encoder, batch_size=self.batch_size, cache=False))
