"""A text file of word vectors (GloVe, fastText, word2vec): one pass finds every word's line, few lines are ever parsed.

Twenty bytes a word stay in memory, and the vectors of the words that were asked for.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import mmap
import shutil
import tempfile
from array import array
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..texts.reading import Source

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n"
_MEGABYTE = 1 << 20
_LINES_PER_STEP = 10_000


def open_table(path: Path) -> WordTable:
    """The table of a file; the same object for as long as the file has the same size and date."""
    return _opened(path, *_state(path))


@functools.lru_cache(maxsize=2)
def _opened(path: Path, size: int, date: int) -> WordTable:
    return WordTable(path)


def _state(path: Path) -> tuple[int, int]:
    try:
        known = path.stat()
    except OSError as error:
        raise InputError(f"{path} cannot be read: {error.strerror}") from None
    return known.st_size, known.st_mtime_ns


_DIGITS = 18
"""Of a number of words."""


class WordTable:
    """The vectors of a file's words; of a repeated word, the first line counts.

    Words are compared as bytes, so that bytes which are not UTF-8 concern only their own word.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened_as = _state(path)
        self._bytes = _mapped(path)
        start = len(_BYTE_ORDER_MARK) if self._bytes[:3] == _BYTE_ORDER_MARK else 0
        self._bytes.seek(start)
        first = self._bytes.readline()
        fields = first.split()
        # fastText and word2vec begin with the number of words and of dimensions, GloVe with a word.
        self._headers = int(len(fields) == 2 and all(field.isdigit() for field in fields))
        if self._headers and max(map(len, fields)) > _DIGITS:
            raise self._broken(0, first, "no file has so many words or dimensions")
        self.dimensions = int(fields[1]) if self._headers else _numbers_at_end(fields)
        if not self.dimensions:
            raise self._broken(0, first, "no numbers after a word")
        keys, self._starts, self.digest = self._scan(start + self._headers * len(first))
        if self._headers and int(fields[0]) != len(keys):
            raise InputError(f"{path} promises {int(fields[0]):,} words in its first line but holds {len(keys):,}")
        self._order = np.argsort(keys, kind="stable").astype(np.uint32)
        self._keys = keys[self._order]
        self._vectors: dict[str, np.ndarray | None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def check_unchanged(self) -> None:
        """Raise an error if so: reading on in a file that has become shorter would end the process."""
        if _state(self.path) != self._opened_as:
            raise InputError(f"{self.path} has changed since it was opened: choose the encoder anew")

    def get(self, word: str) -> np.ndarray | None:
        """The vector of a word in this very spelling; None where the file has none."""
        if word not in self._vectors:
            self._vectors[word] = self._find(word.encode())
        return self._vectors[word]

    def _scan(self, start: int) -> tuple[np.ndarray, np.ndarray, str]:
        """For every line from `start` on, its word's hash and its start (and the last one's end); the file's digest.

        The hash is Python's own: fast, and the same as long as the process lives.
        """
        digest = hashlib.blake2b(self._bytes[:start], digest_size=16)
        end = len(self._bytes)
        while end > start and self._bytes[end - 1] in _BLANKS:
            end -= 1
        keys, starts = array("q"), array("q", [start])
        self._bytes.seek(start)
        with Progress(f"reading {self.path.name}", end // _MEGABYTE, "MB") as progress:
            while start < end:
                before = start
                for line in itertools.islice(iter(self._bytes.readline, b""), _LINES_PER_STEP):
                    keys.append(hash(self._word(line, len(keys))))
                    digest.update(line)
                    start += len(line)
                    starts.append(start)
                    if start >= end:
                        break
                progress.advance(start // _MEGABYTE - before // _MEGABYTE)
                _let_go(self._bytes)
        return np.frombuffer(keys, np.int64), np.frombuffer(starts, np.int64), digest.hexdigest()

    def _word(self, line: bytes, place: int) -> bytes:
        """The word of a line that has the right number of numbers, as far as can be told without parsing them."""
        line = line.rstrip(_BLANKS)
        if line.count(b" ") == self.dimensions:
            return line[: line.index(b" ")]
        fields = line.rsplit(None, self.dimensions)
        # A few words of GloVe contain spaces; a vector that is too long must not pass for one of them.
        inner = fields[0].split()[1:] if fields else []
        extra = len(inner) if _numbers_at_end([b"", *inner]) == len(inner) else 0
        if len(fields) <= self.dimensions or extra:
            count = max(len(fields) - 1, 0) + extra
            raise self._broken(place + self._headers, line, f"{count} numbers after a word, not {self.dimensions}")
        return fields[0]

    def _find(self, word: bytes) -> np.ndarray | None:
        key = hash(word)
        for at in range(int(np.searchsorted(self._keys, key)), len(self._keys)):
            if self._keys[at] != key:
                break
            place = int(self._order[at])
            line = self._bytes[self._starts[place] : self._starts[place + 1]]
            spelt, *numbers = line.rsplit(None, self.dimensions)
            if spelt == word:
                return self._parsed(numbers, place)
        return None

    def _parsed(self, numbers: list[bytes], place: int) -> np.ndarray:
        try:
            with np.errstate(over="ignore"):
                vector = np.array([float(number) for number in numbers], np.float32)
        except ValueError as error:
            raise self._broken(place + self._headers, b"", str(error)) from None
        if not np.isfinite(vector).all():
            raise self._broken(place + self._headers, b"", "infinity or no number")
        return vector

    def _broken(self, line_index: int, line: bytes, reason: str) -> InputError:
        hint = " (the file looks binary; vectors are read from text files)" if b"\0" in line else ""
        return InputError(f"{self.path} line {line_index + 1}: {reason}{hint}")


def _mapped(path: Path) -> mmap.mmap:
    """The unpacked bytes of a file as they lie on disk; what was compressed goes to a temporary file first."""
    source = Source(str(path))
    with source.opened() as stream:
        if not source.suffixes[1]:
            return _map(stream.fileno(), path)
        with tempfile.TemporaryFile() as unpacked:
            shutil.copyfileobj(stream, unpacked, _MEGABYTE)
            unpacked.flush()
            return _map(unpacked.fileno(), path)


def _map(number: int, path: Path) -> mmap.mmap:
    try:
        return mmap.mmap(number, 0, access=mmap.ACCESS_READ)
    except ValueError:
        raise InputError(f"{path} is empty: it holds no word vectors") from None


def _let_go(mapped: mmap.mmap) -> None:
    """Let the system free what has been read, so that it does not count as this process's memory."""
    if hasattr(mmap, "MADV_DONTNEED"):  # not on Windows
        mapped.madvise(mmap.MADV_DONTNEED)


def _numbers_at_end(fields: Sequence[bytes]) -> int:
    """How many fields are numbers, counted from the last one; the first field is a word whatever it looks like."""
    return sum(1 for _ in itertools.takewhile(_is_number, reversed(fields[1:])))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
