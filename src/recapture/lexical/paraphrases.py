"""Paraphrases from a table in METEOR's format: three lines an entry, probability, phrase, paraphrase; gzip or plain."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from operator import itemgetter
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError
from ..texts.reading import Source
from .align import PARAPHRASE, Match

_REMEMBERED = 20_000

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
        digest = hashlib.blake2b(digest_size=16)
        try:
            with Path(table).open("rb") as stream:
                while block := stream.read(1 << 20):
                    digest.update(block)
        except OSError as error:
            raise InputError(f"the paraphrase table {self.table} cannot be read: {error.strerror}") from None
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

    def _read(self) -> None:
        rows: dict[bytes, bytes] = {}
        with Source(self.table).opened() as stream:
            lines = map(bytes.strip, stream)
            # Entries of one phrase stand together; where they do not, later ones are added.
            entries = zip(lines, lines, lines, strict=False)
            for phrase, group in groupby(entries, key=itemgetter(1)):
                paraphrases = [paraphrase for _, _, paraphrase in group]
                self._longest = max(
                    self._longest, 1 + phrase.count(b" "), *(1 + phrasing.count(b" ") for phrasing in paraphrases)
                )
                rows[phrase] = b"\n".join([rows[phrase], *paraphrases] if phrase in rows else paraphrases)
        if not rows or b"" in rows:
            raise InputError(f"{self.table} is no paraphrase table: each entry takes three lines, the second a phrase")
        self._rows = rows


def _in_order(spoken: Mapping[str, list[int]], ways: Ways) -> list[str]:
    """The paraphrases that occur in a text, as the table lists them."""
    shared = spoken.keys() & ways.keys()
    return [run for _, run in sorted((place, run) for run in shared for place in ways[run])] if shared else []
