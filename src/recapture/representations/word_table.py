"""A text file of word vectors (GloVe, fastText, word2vec): one pass finds every word's line, few lines are ever parsed.

Twenty bytes a word stay in memory, and the vectors of the words that were asked for.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import tempfile
import threading
import weakref
from array import array
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from pathlib import Path
from typing import IO

import numpy as np

from ..errors import InputError
from ..progress import Progress
from ..texts.reading import Source, no_limits, too_much

_BYTE_ORDER_MARK = b"\xef\xbb\xbf"
_BLANKS = b" \t\r\n\x0b\x0c"
_MEGABYTE = 1 << 20
_LONGEST_LINE = 16 * _MEGABYTE
"""Enough for a million numbers after a word."""
_MOST_UNPACKED = 64_000_000_000
"""Bytes that a compressed file may become on disk. RECAPTURE_NO_LIMITS=1 lifts it."""


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

    Words are compared as bytes, so that bytes which are not UTF-8 concern only their own word. The file is read, not
    mapped into memory: a mapped file that becomes shorter meanwhile ends the process.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._opened_as = _state(path)
        self._file, size = _plain(path)
        weakref.finalize(self, self._file.close)  # also where what follows finds that it is no table
        self._lock = threading.Lock()
        first = self._file.readline(_LONGEST_LINE + 1)
        if not first:
            raise InputError(f"{path} is empty: it holds no word vectors")
        mark = _BYTE_ORDER_MARK if first.startswith(_BYTE_ORDER_MARK) else b""
        first = first.removeprefix(mark)
        self._check_length(first, 0)
        fields = first.split()
        # fastText and word2vec begin with the number of words and of dimensions, GloVe with a word.
        self._headers = int(len(fields) == 2 and all(field.isdigit() for field in fields))
        if self._headers and max(map(len, fields)) > _DIGITS:
            raise self._broken(0, first, "no file has so many words or dimensions")
        self.dimensions = int(fields[1]) if self._headers else _numbers_at_end(fields)
        if not self.dimensions:
            raise self._broken(0, first, "no numbers after a word")
        before = mark + first * self._headers
        self._file.seek(len(before))
        keys, self._starts, self.digest = self._scan(before, size)
        if self._headers and int(fields[0]) != len(keys):
            raise InputError(f"{path} promises {int(fields[0]):,} words in its first line but holds {len(keys):,}")
        if not len(keys):
            raise InputError(f"{path} holds no word vectors")
        self._order = np.argsort(keys, kind="stable").astype(np.uint32)
        self._keys = keys[self._order]
        self._vectors: dict[str, np.ndarray | None] = {}

    def __len__(self) -> int:
        return len(self._keys)

    def check_unchanged(self) -> None:
        """Raise an error if so: lines would be looked for where they no longer are."""
        if _state(self.path) != self._opened_as:
            raise InputError(f"{self.path} has changed since it was opened: choose the encoder anew")

    def get(self, word: str) -> np.ndarray | None:
        """The vector of a word in this very spelling; None where the file has none."""
        if word not in self._vectors:
            self._vectors[word] = self._find(word.encode("utf-8", "surrogatepass"))
        return self._vectors[word]

    def _scan(self, before: bytes, size: int) -> tuple[np.ndarray, np.ndarray, str]:
        """For every line from here on, its word's hash and its start (and the last one's end); the file's digest.

        before: what has been read already. The hash is Python's own: fast, and the same as long as the process lives.
        """
        digest = hashlib.blake2b(before, digest_size=16)
        start = len(before)
        keys, starts = array("q"), array("q", [start])
        with Progress(f"reading {self.path.name}", size // _MEGABYTE, "MB") as progress:
            for line in self._lines():
                keys.append(hash(self._word(line, len(keys))))
                digest.update(line)
                megabytes = start // _MEGABYTE
                start += len(line)
                starts.append(start)
                if start // _MEGABYTE != megabytes:
                    progress.advance(start // _MEGABYTE - megabytes)
        return np.frombuffer(keys, np.int64), np.frombuffer(starts, np.int64), digest.hexdigest()

    def _lines(self) -> Iterator[bytes]:
        """The lines from here on, without blank ones at the end."""
        blank: list[bytes] = []
        for number, line in enumerate(iter(functools.partial(self._file.readline, _LONGEST_LINE + 1), b"")):
            self._check_length(line, number + self._headers)
            if line.isspace():
                if not blank:
                    blank.append(line)
            elif blank:
                yield blank[0]  # which is no line of a table
                return
            else:
                yield line

    def _check_length(self, line: bytes, place: int) -> None:
        if len(line) > _LONGEST_LINE:
            raise self._broken(place, line, f"longer than {_LONGEST_LINE // _MEGABYTE} MB, so no word with its numbers")

    def _word(self, line: bytes, place: int) -> bytes:
        """The word of a line that has the right number of numbers, as far as can be told without parsing them."""
        line = line.strip(_BLANKS)
        # Most lines: a word and its numbers, a single space before each. (Where one is missing and another space stands
        # twice, this is seen when the word is looked up.)
        if line.count(b" ") == self.dimensions and b"\t" not in line:
            return line[: line.index(b" ")]
        if b"\r" in line:
            raise self._broken(place + self._headers, line, "a carriage return, which does not end a line here")
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
            spelt, *numbers = self._line(place).strip(_BLANKS).rsplit(None, self.dimensions)
            if spelt == word:
                return self._parsed(numbers, place)
        return None

    def _line(self, place: int) -> bytes:
        start, end = int(self._starts[place]), int(self._starts[place + 1])
        with self._lock:  # threads share the file and the place in it
            self._file.seek(start)
            line = self._file.read(end - start)
        if len(line) < end - start or line.isspace():
            raise InputError(f"{self.path} has become shorter since it was opened: choose the encoder anew")
        return line

    def _parsed(self, numbers: list[bytes], place: int) -> np.ndarray:
        try:
            with np.errstate(over="ignore"):
                vector = np.array([float(number) for number in numbers], np.float32)
        except ValueError as error:
            raise self._broken(place + self._headers, b"", str(error)) from None
        if len(vector) != self.dimensions:
            reason = f"{len(vector)} numbers after a word, not {self.dimensions}"
            raise self._broken(place + self._headers, b"", reason)
        if not np.isfinite(vector).all():
            raise self._broken(place + self._headers, b"", "infinity or no number")
        return vector

    def _broken(self, line_index: int, line: bytes, reason: str) -> InputError:
        hint = " (the file looks binary; vectors are read from text files)" if b"\0" in line else ""
        return InputError(f"{self.path} line {line_index + 1}: {reason}{hint}")


def _plain(path: Path) -> tuple[IO[bytes], int]:
    """The file, to be read from its start, and its size; what was compressed is unpacked to a temporary file first."""
    source = Source(str(path))
    with source.opened() as stream:
        if not source.suffixes[1]:
            file: IO[bytes] = path.open("rb", buffering=_MEGABYTE)
            return file, path.stat().st_size
        with ExitStack() as unless_whole:
            unpacked = unless_whole.enter_context(tempfile.TemporaryFile(buffering=_MEGABYTE))
            size = since = 0
            while block := stream.read(_MEGABYTE):
                unpacked.write(block)
                size += len(block)
                end = block.rfind(b"\n")
                since = since + len(block) if end < 0 else len(block) - end
                if since > 2 * _LONGEST_LINE:  # a packed file of a few bytes may hold zeros without end
                    raise InputError(f"{source.name} holds a line that is longer than {_LONGEST_LINE // _MEGABYTE} MB")
                if size > _MOST_UNPACKED and not no_limits():
                    raise too_much(source.name, f"unpacks to more than {_MOST_UNPACKED // 10**9} GB")
            unpacked.seek(0)
            unless_whole.pop_all()  # closed with the table
            return unpacked, size


def _numbers_at_end(fields: Sequence[bytes]) -> int:
    """How many fields are numbers, counted from the last one; the first field is a word whatever it looks like."""
    return sum(1 for _ in itertools.takewhile(_is_number, reversed(fields[1:])))


def _is_number(field: bytes) -> bool:
    try:
        float(field)
    except ValueError:
        return False
    return True
