"""Pieces of texts from pieces of words, where a tokenizer cuts at every blank.

BERT's tokenizer and its many descendants cut a text at blanks before anything else, so that the pieces of a text are
those of what stands between its blanks. Texts repeat words all the time: each is cut by the tokenizer once and then
found again, all words of many texts together, which takes a twentieth of the tokenizer's own time.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Sequence
from functools import partial
from itertools import chain, pairwise
from typing import Any, NamedTuple

import numpy as np

from .pieces import parts

_CHARACTERS_AT_ONCE = 1 << 17
"""So that what is made of their words on the way stays in a cache of the processor, and small where texts are long."""
_BITS = 18
_SLOTS = 1 << _BITS
_MOST_WORDS = _SLOTS // 2
_MOST_BYTES = 16 * 2**20
"""Of all words that are known. Beyond either all are forgotten: frequent ones come back at once."""
_LOADS = 4
_LONGEST = 8 * _LOADS - 1
"""Bytes of a word that numbers of 64 bits hold; the last byte says how many there are."""
_MASKS = np.array([(1 << 8 * count) - 1 for count in range(9)], np.uint64)
_FACTORS = np.array([0x9E3779B97F4A7C15, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9, 0x27D4EB2F165667C5], np.uint64)
"""Large odd numbers that spread words over the slots."""
_BEFORE, _BEHIND = 0, 1
"""What stand for the special tokens around a text, among the numbers of words."""


class TokenRows(NamedTuple):
    """Tokens of texts in one array: where those of each text start, and how many there are."""

    ids: np.ndarray
    starts: np.ndarray
    lengths: np.ndarray

    def chosen(self, rows: np.ndarray) -> TokenRows:
        return TokenRows(self.ids, self.starts[rows], self.lengths[rows])

    def ids_of(self, row: int) -> list[int]:
        ids: list[int] = self.ids[self.starts[row] : self.starts[row] + self.lengths[row]].tolist()
        return ids

    def times(self, token: int) -> np.ndarray:
        """How often each row has this token."""
        before = np.concatenate([[0], np.cumsum(self.ids == token)])
        return np.asarray(before[self.starts + self.lengths] - before[self.starts])


def token_rows(ids: Sequence[Sequence[int]]) -> TokenRows:
    lengths = np.fromiter(map(len, ids), np.int64, len(ids))
    flat = np.fromiter(chain.from_iterable(ids), np.int32, int(lengths.sum()))
    return TokenRows(flat, np.cumsum(lengths) - lengths, lengths)


def cuts_at_blanks(cutter: Any) -> bool:
    """Whether the pieces of a text are sure to be those of the parts between its blanks, and special tokens around.

    So it is with BERT's: it changes characters one by one (an accent belongs to the character before it, and a blank
    takes none), cuts at blanks and punctuation, and then looks at one word at a time.
    """
    steps = [type(step).__name__ for step in (cutter.normalizer, cutter.pre_tokenizer, cutter.model)]
    if steps[0] not in ("BertNormalizer", "Lowercase", "NoneType") or steps[1:] != ["BertPreTokenizer", "WordPiece"]:
        return False
    settings = json.loads(cutter.to_str())  # not before: some have very many pieces
    added = [token["content"] for token in settings.get("added_tokens") or ()]
    after = settings.get("post_processor") or {}
    once = sum("Sequence" in part for part in after.get("single") or ()) == 1
    return (
        not any(settings.get(name) for name in ("truncation", "padding"))
        # A token that is looked for in the text as it stands, or in small letters, must not reach over a blank.
        and all(content.isascii() and content.split() == [content] for content in added)
        and (after.get("type") == "BertProcessing" or (after.get("type") == "TemplateProcessing" and once))
    )


class KnownWords:
    """The words that a tokenizer has cut so far; `cuts_at_blanks` must be true of it."""

    def __init__(self, cutter: Any) -> None:
        self._cutter = cutter
        around = cutter.encode("a")
        self._special = parts(around.ids, around.special_tokens_mask)
        self._lock = threading.Lock()  # an encoder may be used by several threads
        self._forget()

    def __reduce__(self) -> tuple[type[KnownWords], tuple[Any]]:
        return KnownWords, (self._cutter,)

    def _forget(self) -> None:
        self._numbers: dict[bytes, int] = {}
        self._bytes = 0
        self._slots = np.full(_SLOTS, -1, np.int32)
        self._keys = np.zeros((_SLOTS, _LOADS), np.uint64)
        self._counts = np.zeros(0, np.int64)
        self._starts = np.zeros(0, np.int64)
        self._pieces = np.zeros(0, np.int32)
        self._append([self._special.before, self._special.behind])

    def rows(self, texts: Sequence[str]) -> TokenRows:
        """All tokens of these texts, special ones included."""
        ends = np.cumsum(np.fromiter(map(len, texts), np.int64, len(texts)))
        starts = np.flatnonzero(np.diff(ends // _CHARACTERS_AT_ONCE, prepend=-1))
        made = []
        for start, stop in pairwise([*starts.tolist(), len(texts)]):
            with self._lock:
                try:
                    made.append(self._rows(texts[start:stop]))
                except BaseException:
                    self._forget()  # Ctrl-C may come while words are written down: half of them would lead to others
                    raise
        ids, lengths = (np.concatenate(arrays) for arrays in zip(*made, strict=True))
        return TokenRows(ids, np.cumsum(lengths) - lengths, lengths)

    def _rows(self, texts: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
        if len(self._numbers) > _MOST_WORDS or self._bytes > _MOST_BYTES:
            self._forget()
        joined = " ".join(texts)
        sizes = np.fromiter(map(len, texts if joined.isascii() else map(str.encode, texts)), np.int64, len(texts))
        words = _Words(joined.encode())
        # Every text has a word at least, though it may be an empty one.
        first = np.searchsorted(words.starts, np.cumsum(sizes + 1) - sizes - 1)
        behind = np.append(first[1:], len(words.starts))
        specials = np.repeat([_BEHIND, _BEFORE], len(texts))
        numbers = np.insert(self._known(words), np.concatenate([behind, first]), specials)
        counts = self._counts[numbers]
        ends = np.cumsum(counts)
        ids = self._pieces[np.repeat(self._starts[numbers] - ends + counts, counts) + np.arange(counts.sum())]
        return ids, np.add.reduceat(counts, first + 2 * np.arange(len(texts)))

    def _known(self, words: _Words) -> np.ndarray:
        numbers = self._found(words)
        missing = np.flatnonzero(numbers < 0)
        if len(missing):
            written = words.written(missing)
            self._learn(written)
            numbers[missing] = [self._numbers[word] for word in written]
        return numbers

    def _found(self, words: _Words) -> np.ndarray:
        """The number of each word; -1 where it is not known, or too long."""
        slots = words.slots
        numbers: np.ndarray = self._slots[slots]
        found = self._equal(slots, words.keys)
        left = np.flatnonzero(~found & (numbers >= 0))
        numbers[~found] = -1
        while len(left):  # another word has the slot: their own may be the next one
            slots[left] = (slots[left] + 1) % _SLOTS
            there = self._slots[slots[left]]
            same = self._equal(slots[left], words.keys[left])
            numbers[left[same]] = there[same]
            left = left[~same & (there >= 0)]
        return numbers

    def _equal(self, slots: np.ndarray, keys: np.ndarray) -> np.ndarray:
        differing = self._keys.take(slots, axis=0)
        differing ^= keys
        same: np.ndarray = differing[:, 0] == 0
        for load in range(1, _LOADS):
            same &= differing[:, load] == 0
        return same

    def _learn(self, written: Sequence[bytes]) -> None:
        new = [word for word in dict.fromkeys(written) if word not in self._numbers]
        if not new:
            return
        cut = self._cutter.encode_batch_fast([word.decode() for word in new], add_special_tokens=False)
        first = len(self._counts)
        self._append([each.ids for each in cut])
        self._numbers.update(zip(new, range(first, first + len(new)), strict=True))
        self._bytes += sum(map(len, new))
        self._place([word for word in new if len(word) <= _LONGEST])

    def _append(self, pieces: Sequence[Sequence[int]]) -> None:
        new = token_rows(pieces)
        self._starts = np.append(self._starts, len(self._pieces) + new.starts)
        self._counts = np.append(self._counts, new.lengths)
        self._pieces = np.append(self._pieces, new.ids)

    def _place(self, new: Sequence[bytes]) -> None:
        """Each into the first free slot from its own on."""
        if not new or len(self._numbers) > _MOST_WORDS:
            return
        words = _Words(b" ".join(new))
        numbers = np.array([self._numbers[word] for word in new], np.int32)
        left = np.arange(len(new))
        while len(left):
            slots = words.slots[left]
            free = self._slots[slots] < 0
            self._slots[slots[free]] = numbers[left[free]]  # of several for one slot the last one gets it
            placed = self._slots[slots] == numbers[left]
            self._keys[slots[placed]] = words.keys[left[placed]]
            left = left[~placed]
            words.slots[left] = (words.slots[left] + 1) % _SLOTS


class _Words:
    """Words between blanks, each as a few numbers that no other word of at most 31 bytes has."""

    def __init__(self, written: bytes) -> None:
        self._written = written
        raw = np.frombuffer(written + bytes(8 * _LOADS), np.uint8)
        blanks = np.flatnonzero(raw[: len(written)] == ord(" "))
        self.starts = np.concatenate([[0], blanks + 1])
        self._ends = np.append(blanks, len(written))
        lengths = self._ends - self.starts
        # Eight bytes from any place on, as one number.
        loads = np.ndarray((len(raw) - 7,), "<u8", raw, strides=(1,))
        self.keys = np.zeros((len(lengths), _LOADS), np.uint64)
        self.keys[:, 0] = loads[self.starts] & _MASKS[np.minimum(lengths, 8)]
        for load in range(1, _LOADS):
            longer = np.flatnonzero(lengths > 8 * load)
            rest = _MASKS[np.minimum(lengths[longer] - 8 * load, 8)]
            self.keys[longer, load] = loads[self.starts[longer] + 8 * load] & rest
        # A word with as many bytes as the numbers hold, or more, must not look like one that is known.
        self.keys[:, -1] &= _MASKS[7]
        self.keys[:, -1] |= np.minimum(lengths, _LONGEST + 1).astype(np.uint64) << np.uint64(56)
        mixed = self.keys[:, 0] * _FACTORS[0]
        for load in range(1, _LOADS):
            mixed ^= self.keys[:, load] * _FACTORS[load]
        mixed = (mixed ^ (mixed >> np.uint64(29))) * _FACTORS[1]
        self.slots = (mixed >> np.uint64(64 - _BITS)).astype(np.int64)

    def written(self, chosen: np.ndarray) -> list[bytes]:
        starts, ends = self.starts[chosen].tolist(), self._ends[chosen].tolist()
        return [self._written[start:end] for start, end in zip(starts, ends, strict=True)]


def cutter_of(cutter: Any) -> Callable[[Sequence[str]], TokenRows]:
    """What cuts texts with this tokenizer in the fastest way that is sure to give its pieces."""
    if cuts_at_blanks(cutter):
        return KnownWords(cutter).rows
    return partial(_by_tokenizer, cutter)


def _by_tokenizer(cutter: Any, texts: Sequence[str]) -> TokenRows:
    return token_rows([each.ids for each in cutter.encode_batch_fast(list(texts))])
