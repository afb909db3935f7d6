"""A corpus of one paragraph a line -> token ids -> rows of a fixed length with little padding.

Several paragraphs share a row; each keeps its own [CLS] ... [SEP], counts its positions from 0 and sees only itself
(the model compares segment numbers, which follow from the ids: a segment begins at each [CLS]).
"""

from __future__ import annotations

import hashlib
import lzma
from dataclasses import dataclass
from pathlib import Path

import numpy as np

PAD, UNKNOWN, CLS, SEP, MASK = 0, 100, 101, 102, 103
SPECIAL = (PAD, UNKNOWN, CLS, SEP, MASK)
_CONTROL = (PAD, CLS, SEP, MASK)  # never part of a text


def read_paragraphs(path: Path) -> tuple[list[str], str]:
    """The lines that are not blank, and the content hash of the (unpacked) file."""
    data = lzma.decompress(path.read_bytes()) if path.suffix == ".xz" else path.read_bytes()
    lines = [line for line in data.decode("utf-8").split("\n") if line.strip()]
    return lines, hashlib.blake2b(data, digest_size=32).hexdigest()


class Tokeniser:
    """The encoder's own WordPiece, without its cutting and padding."""

    def __init__(self, base: Path) -> None:
        from tokenizers import Tokenizer

        self._tokenizer = Tokenizer.from_file(str(base / "tokenizer.json"))
        self._tokenizer.no_truncation()
        self._tokenizer.no_padding()
        for token, number in zip(("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"), SPECIAL, strict=True):
            if self._tokenizer.token_to_id(token) != number:
                raise SystemExit(f"{base / 'tokenizer.json'}: {token} is not number {number}")

    def encode(self, texts: list[str]) -> list[np.ndarray]:
        """The ids of each text, without special tokens; control tokens spelled out in a text are dropped."""
        encoded = []
        for start in range(0, len(texts), 8192):
            batch = self._tokenizer.encode_batch_fast(texts[start : start + 8192], add_special_tokens=False)
            for each in batch:
                ids = np.array(each.ids, dtype=np.int32)
                control = (ids <= MASK) & (ids != UNKNOWN)  # rare: look closer only then
                encoded.append(ids[~np.isin(ids, _CONTROL)] if control.any() else ids)
        return encoded


def cut(lengths: np.ndarray, room: int, rng: np.random.Generator | None) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Which paragraph, start and size of every piece of at most `room` tokens.

    Without `rng` a piece ends where it is full; with it the first piece of a long paragraph has a random size, so that
    other words stand at the edges.
    """
    first = np.full(len(lengths), room)
    if rng is not None:
        first = rng.integers(max(1, room // 4), room + 1, size=len(lengths))
    paragraphs, starts, sizes = [], [], []
    for paragraph, length in enumerate(lengths.tolist()):
        start, size = 0, length if length <= room else int(first[paragraph])
        while start < length:
            paragraphs.append(paragraph)
            starts.append(start)
            sizes.append(size)
            start += size
            size = min(room, length - start)
    return np.array(paragraphs), np.array(starts), np.array(sizes)


def best_fit(sizes: np.ndarray, capacity: int) -> tuple[np.ndarray, np.ndarray]:
    """Row and offset of each piece: largest first, each into the fullest row that still holds it."""
    row_of, offset_of = np.empty(len(sizes), np.int64), np.empty(len(sizes), np.int64)
    by_room: list[list[int]] = [[] for _ in range(capacity + 1)]
    rooms, rows = 0, 0  # bit r of `rooms`: some row has r places free
    values = sizes.tolist()
    for piece in np.argsort(-sizes, kind="stable").tolist():
        size = values[piece]
        fitting = rooms >> size
        if fitting:
            room = size + (fitting & -fitting).bit_length() - 1
            row = by_room[room].pop()
            if not by_room[room]:
                rooms ^= 1 << room
        else:
            room, row, rows = capacity, rows, rows + 1
        row_of[piece], offset_of[piece] = row, capacity - room
        left = room - size
        if left:
            by_room[left].append(row)
            rooms |= 1 << left
    return row_of, offset_of


def pack(texts: list[np.ndarray], length: int, rng: np.random.Generator | None = None) -> np.ndarray:
    """Rows (n, length) int32 that hold every token of every text once, as [CLS] piece [SEP] beside each other."""
    lengths = np.array([len(ids) for ids in texts])
    paragraphs, starts, sizes = cut(lengths, length - 2, rng)
    row, offset = best_fit(sizes + 2, length)
    rows = np.full((int(row.max()) + 1, length), PAD, np.int32)
    flat, tokens = rows.reshape(-1), np.concatenate(texts)
    begin = row * length + offset
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    source = np.repeat((np.cumsum(lengths) - lengths)[paragraphs] + starts, sizes) + within
    flat[np.repeat(begin + 1, sizes) + within] = tokens[source]
    flat[begin], flat[begin + sizes + 1] = CLS, SEP
    return rows


@dataclass(frozen=True)
class Corpus:
    """A tokenised corpus, packed in one or several ways."""

    packings: list[np.ndarray]
    counts: np.ndarray  # how often each token occurs
    digest: str

    @property
    def fill(self) -> float:
        return float((self.packings[0] != PAD).mean())


def read_corpus(path: Path, base: Path, length: int, packings: int, vocabulary: int, seed: int) -> Corpus:
    """Read, tokenise and pack; the first packing cuts where pieces are full, the others at random."""
    paragraphs, digest = read_paragraphs(path)
    texts = [ids for ids in Tokeniser(base).encode(paragraphs) if len(ids)]
    if not texts:
        raise SystemExit(f"{path} holds no text")
    ways = [None, *(np.random.default_rng([seed, way]) for way in range(1, packings))]
    counts = np.bincount(np.concatenate(texts), minlength=vocabulary)
    return Corpus([pack(texts, length, rng) for rng in ways], counts, digest)
