"""Paraphrases from a table in METEOR's format: three lines an entry, probability, phrase, paraphrase; gzip or plain."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import repeat
from pathlib import Path
from typing import IO, NamedTuple

from ..errors import InputError
from ..texts.reading import MOST_BYTES, Source, no_limits, too_much
from .align import PARAPHRASE, Match

_REMEMBERED = 20_000
_LONGEST_LINE = 1_000_000
_BLOCK = 1 << 20
_NUMBERS = re.compile(rb"[0-9]+(?:\.[0-9]+)?(?:[eE]-?[0-9]+)?(?:\n[0-9]+(?:\.[0-9]+)?(?:[eE]-?[0-9]+)?)*")
"""Numbers as they are usually written; others are looked at one by one."""
_EACH = 64
"""What an entry costs beside its characters."""

Ways = Mapping[str, Sequence[int]]
"""The paraphrases of one phrase, with their places in its list (more than one where the table repeats itself)."""


_last: tuple[str, dict[bytes, bytes], int] = ("", {}, 0)
"""The digest of the table that was read last, its rows and the words of its longest phrase: METEOR's own takes seconds
to read, and several metrics and calls use it one after another."""


class Phrases(NamedTuple):
    """The phrases of a text, and their paraphrases."""

    spoken: dict[str, list[int]]
    """Where each run of words begins, for all runs no longer than the table's longest phrase."""
    known: list[tuple[int, int, Ways]]
    """First word and number of words of each run that the table knows, and its paraphrases."""


class Paraphrases:
    """The paraphrase stage. METEOR's English table has 5 million entries: it is read when first needed."""

    def __init__(self, table: str | os.PathLike[str]) -> None:
        self.table = str(table)
        self._state = self._stat()
        digest = hashlib.blake2b(digest_size=16)
        try:
            with Path(table).open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise self._unreadable(error.strerror) from None
        self._revision = digest.hexdigest()
        self._rows: dict[bytes, bytes] = {}
        self._longest = 0
        self._ways: dict[str, Ways] = {}

    def identity(self) -> dict[str, str]:
        """Where the paraphrases come from, and a digest of the file."""
        return {"path": self.table, "revision": self._revision}

    def prepare(self, tokens: Sequence[str]) -> Phrases:
        if not self._rows:
            self._read()
        spoken: dict[str, list[int]] = {}
        known = []
        for start in range(len(tokens)):
            for length in range(1, min(self._longest, len(tokens) - start) + 1):
                run = " ".join(tokens[start : start + length])
                spoken.setdefault(run, []).append(start)
                if ways := self._of(run):
                    known.append((start, length, ways))
        return Phrases(spoken, known)

    def matches(self, hypothesis: Phrases, reference: Phrases) -> Iterator[Match]:
        """Runs of one text that the table names as paraphrases of runs of the other."""
        for at, length, ways in reference.known:
            for run in _in_order(hypothesis.spoken, ways):
                for to in hypothesis.spoken[run]:
                    yield at, length, to, run.count(" ") + 1, PARAPHRASE
        for to, length, ways in hypothesis.known:
            for run in _in_order(reference.spoken, ways):
                for at in reference.spoken[run]:
                    yield at, run.count(" ") + 1, to, length, PARAPHRASE

    def _of(self, phrase: str) -> Ways:
        ways = self._ways.get(phrase)
        if ways is not None:
            return ways
        row = self._rows.get(phrase.encode("utf-8", "replace"))
        if row is None:
            return {}
        places: dict[str, list[int]] = {}
        for place, paraphrase in enumerate(row.decode("utf-8", "replace").split("\n")):
            places.setdefault(paraphrase, []).append(place)
        if len(self._ways) >= _REMEMBERED:
            self._ways.clear()
        self._ways[phrase] = places
        return places

    def _unreadable(self, reason: str | None) -> InputError:
        return InputError(f"the paraphrase table {Source(self.table).name} cannot be read: {reason}")

    def _stat(self) -> tuple[int, int]:
        """Size and date, by which a table that has changed is known."""
        try:
            known = Path(self.table).stat()
        except OSError as error:
            raise self._unreadable(error.strerror) from None
        except ValueError:
            raise self._unreadable("no file can have this name") from None
        if not stat.S_ISREG(known.st_mode):  # it is read twice, which pipes and devices do not allow
            raise self._unreadable("it is no file")
        return known.st_size, known.st_mtime_ns

    def _read(self) -> None:
        global _last
        if self._stat() != self._state:
            raise InputError(f"the paraphrase table {self.table} has changed since it was opened")
        digest, rows, self._longest = _last
        if digest != self._revision:
            rows, self._longest = self._table()
            _last = self._revision, rows, self._longest
        self._rows = rows

    def _table(self) -> tuple[dict[bytes, bytes], int]:
        """From each phrase to its paraphrases, and the words of the longest phrase."""
        rows: dict[bytes, bytes] = {}
        longest = 0
        with Source(self.table).opened() as stream:
            for phrases, paraphrases in self._columns(stream):
                longest = max(longest, *map(bytes.count, paraphrases, repeat(b" ")))
                # Entries of one phrase stand together; where they do not, later ones are added.
                start, before = 0, phrases[0]
                for place, phrase in enumerate((*phrases, b"")):
                    if phrase != before:
                        ways = paraphrases[start:place]
                        rows[before] = b"\n".join([rows[before], *ways] if before in rows else ways)
                        start, before = place, phrase
        if not rows:
            raise InputError(f"{Source(self.table).name} is no paraphrase table: it is empty")
        return rows, 1 + max(longest, *map(bytes.count, rows, repeat(b" ")))

    def _columns(self, stream: IO[bytes]) -> Iterator[tuple[list[bytes], list[bytes]]]:
        """Phrases and paraphrases of some entries at a time: METEOR's table has millions of lines."""
        number, room = 1, MOST_BYTES
        for lines in _blocks(stream):
            likely, phrases, paraphrases = lines[::3], lines[1::3], lines[2::3]
            numbers = _NUMBERS.fullmatch(b"\n".join(likely)) or all(map(_is_probability, likely))
            if not numbers or not all(phrases) or not all(paraphrases) or len(lines) % 3:
                raise self._wrong_entry(lines, number)
            number += len(lines)
            room -= sum(map(len, lines)) + _EACH * len(likely)
            if room < 0 and not no_limits():
                raise too_much(Source(self.table).name, f"holds more than {MOST_BYTES // 10**9} GB of paraphrases")
            yield phrases, paraphrases

    def _wrong_entry(self, lines: Sequence[bytes], number: int) -> InputError:
        """What to say of the first entry that is none."""
        for start in range(0, len(lines), 3):
            entry = lines[start : start + 3]
            if len(entry) < 3 or not _is_probability(entry[0]) or not all(entry):
                number += start
                break
        return InputError(
            f"{Source(self.table).name} line {number} is no paraphrase table: each entry takes three lines, "
            "a probability, a phrase and its paraphrase"
        )


def _blocks(stream: IO[bytes]) -> Iterator[list[bytes]]:
    """Lines without what surrounds them, in whole entries of three; the last lines may be fewer."""
    rest: list[bytes] = []
    cut = b""
    more = True
    while more:
        block = stream.read(_BLOCK)
        *lines, cut = (cut + block).split(b"\n")
        more = bool(block) and len(cut) <= _LONGEST_LINE  # a line without end makes no entry
        lines = [*rest, *map(bytes.strip, lines)]
        if not more:
            lines += [b""] if block else [cut.strip()]
            while not block and lines and not lines[-1]:  # blank lines at the end
                lines.pop()
        whole = len(lines) // 3 * 3 if more else len(lines)
        rest = lines[whole:]
        if whole:
            yield lines[:whole]


def _is_probability(line: bytes) -> bool:
    try:
        return float(line) >= 0  # where lines are lost, a phrase stands here
    except ValueError:
        return False


def _in_order(spoken: Mapping[str, list[int]], ways: Ways) -> list[str]:
    """The paraphrases that occur in a text, as the table lists them."""
    shared = spoken.keys() & ways.keys()
    return [run for _, run in sorted((place, run) for run in shared for place in ways[run])] if shared else []
