"""Paraphrases from a table in METEOR's format: three lines an entry, probability, phrase, paraphrase; gzip or plain."""

from __future__ import annotations

import hashlib
import os
import re
import stat
from collections.abc import Iterator, Mapping, Sequence
from itertools import chain, repeat
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


class PhraseTable(NamedTuple):
    """What a paraphrase table says; words are UTF-8, parted by single spaces."""

    rows: dict[bytes, bytes]
    """From each phrase to its paraphrases, one in each line."""
    others: set[bytes]
    """Paraphrases that are no phrases themselves."""
    longest: int
    """Words of the longest of either."""


class Phrases(NamedTuple):
    """The runs of words in a text that the table knows."""

    spoken: dict[bytes, list[int]]
    """Where each run begins."""
    known: list[tuple[int, int, bytes, frozenset[bytes]]]
    """First word and number of words of each run that has paraphrases, its row of the table, and the row's entries."""


_last: tuple[str, PhraseTable] | None = None
"""The table that was read last, with its digest: METEOR's own takes seconds to read, and several metrics and calls use
it one after another."""


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
        self._table: PhraseTable | None = None
        self._ways: dict[bytes, frozenset[bytes]] = {}

    def identity(self) -> dict[str, str]:
        """Where the paraphrases come from, and a digest of the file."""
        return {"path": self.table, "revision": self._revision}

    def prepare(self, tokens: Sequence[str]) -> Phrases:
        rows, others, longest = self._table or self._read()
        words = [token.encode("utf-8", "replace") for token in tokens]
        spoken: dict[bytes, list[int]] = {}
        known = []
        for start in range(len(words)):
            for end in range(start + 1, min(start + longest, len(words)) + 1):
                run = b" ".join(words[start:end])
                row = rows.get(run)
                if row is not None:
                    spoken.setdefault(run, []).append(start)
                    known.append((start, end - start, row, self._entries(run, row)))
                elif run in others:
                    spoken.setdefault(run, []).append(start)
        return Phrases(spoken, known)

    def matches(self, hypothesis: Phrases, reference: Phrases) -> Iterator[Match]:
        """Runs of one text that the table names as paraphrases of runs of the other."""
        for at, length, row, ways in reference.known:
            for run in _in_order(hypothesis.spoken, row, ways):
                for to in hypothesis.spoken[run]:
                    yield at, length, to, run.count(b" ") + 1, PARAPHRASE
        for to, length, row, ways in hypothesis.known:
            for run in _in_order(reference.spoken, row, ways):
                for at in reference.spoken[run]:
                    yield at, run.count(b" ") + 1, to, length, PARAPHRASE

    def _entries(self, phrase: bytes, row: bytes) -> frozenset[bytes]:
        ways = self._ways.get(phrase)
        if ways is None:
            if len(self._ways) >= _REMEMBERED:
                self._ways.clear()
            ways = self._ways[phrase] = frozenset(row.split(b"\n"))
        return ways

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

    def _read(self) -> PhraseTable:
        global _last
        if self._stat() != self._state:
            raise InputError(f"the paraphrase table {self.table} has changed since it was opened")
        if _last is None or _last[0] != self._revision:
            _last = self._revision, self._content()
        self._table = _last[1]
        return self._table

    def _content(self) -> PhraseTable:
        rows: dict[bytes, bytes] = {}
        later: dict[bytes, list[bytes]] = {}
        others: set[bytes] = set()
        with Source(self.table).opened() as stream:
            for phrases, paraphrases in self._columns(stream):
                others.update(paraphrases)
                # Entries of one phrase stand together; where they do not, later ones are added, all at once: a row that
                # grew by each of them would take years in a table that goes to and fro.
                start, before = 0, phrases[0]
                for place, phrase in enumerate((*phrases, b"")):
                    if phrase != before:
                        ways = paraphrases[start:place]
                        if before in rows:
                            later.setdefault(before, []).extend(ways)
                        else:
                            rows[before] = b"\n".join(ways)
                        start, before = place, phrase
        if not rows:
            raise InputError(f"{Source(self.table).name} is no paraphrase table: it is empty")
        for phrase, ways in later.items():
            rows[phrase] = b"\n".join([rows[phrase], *ways])
        others -= rows.keys()
        return PhraseTable(rows, others, 1 + max(map(bytes.count, chain(rows, others), repeat(b" "))))

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


def _in_order(spoken: Mapping[bytes, list[int]], row: bytes, ways: frozenset[bytes]) -> list[bytes]:
    """The paraphrases that occur in a text, as the table lists them, as often as it repeats itself."""
    if spoken.keys().isdisjoint(ways):
        return []
    return [run for run in row.split(b"\n") if run in spoken]
