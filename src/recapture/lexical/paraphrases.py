"""Paraphrases from a table in METEOR's format: three lines an entry, probability, phrase, paraphrase; gzip or plain."""

from __future__ import annotations

import hashlib
import math
import os
import stat
from collections.abc import Iterator, Mapping, Sequence
from functools import partial
from itertools import groupby, zip_longest
from operator import itemgetter
from pathlib import Path
from typing import IO, NamedTuple

from ..errors import InputError
from ..texts.reading import Source
from .align import PARAPHRASE, Match

_REMEMBERED = 20_000
_LONGEST_LINE = 1_000_000

Ways = Mapping[str, Sequence[int]]
"""The paraphrases of one phrase, with their places in its list (more than one where the table repeats itself)."""


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

    def _entries(self, stream: IO[bytes]) -> Iterator[tuple[bytes, bytes, bytes]]:
        lines = map(bytes.strip, iter(partial(stream.readline, _LONGEST_LINE), b""))
        number = 1
        for entry in zip_longest(lines, lines, lines):
            try:
                likely = float(entry[0])  # where lines are lost, a phrase stands here
            except ValueError:
                likely = math.nan
            if entry[2] is None and not any(entry):
                return  # blank lines at the end
            if entry[2] is None or not likely >= 0 or not entry[1] or max(map(len, entry)) >= _LONGEST_LINE:
                raise InputError(
                    f"{Source(self.table).name} line {number} is no paraphrase table: each entry takes three lines, "
                    "a probability, a phrase and its paraphrase"
                )
            yield entry
            number += 3

    def _read(self) -> None:
        if self._stat() != self._state:
            raise InputError(f"the paraphrase table {self.table} has changed since it was opened")
        rows: dict[bytes, bytes] = {}
        with Source(self.table).opened() as stream:
            # Entries of one phrase stand together; where they do not, later ones are added.
            for phrase, group in groupby(self._entries(stream), key=itemgetter(1)):
                paraphrases = [paraphrase for _, _, paraphrase in group]
                self._longest = max(
                    self._longest, 1 + phrase.count(b" "), *(1 + phrasing.count(b" ") for phrasing in paraphrases)
                )
                rows[phrase] = b"\n".join([rows[phrase], *paraphrases] if phrase in rows else paraphrases)
        if not rows:
            raise InputError(f"{Source(self.table).name} is no paraphrase table: it is empty")
        self._rows = rows


def _in_order(spoken: Mapping[str, list[int]], ways: Ways) -> list[str]:
    """The paraphrases that occur in a text, as the table lists them."""
    shared = spoken.keys() & ways.keys()
    return [run for _, run in sorted((place, run) for run in shared for place in ways[run])] if shared else []
