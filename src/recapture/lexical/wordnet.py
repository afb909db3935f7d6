"""Synonyms from a WordNet database: words that share a synset, of whatever part of speech.

The files are those of WordNet's own distribution (wndb(5WN)): index.noun, index.verb, index.adj and index.adv say which
synsets a lemma belongs to, noun.exc and its like list irregular forms. Words are reduced to lemmas as METEOR 1.5 does:
an irregular form stands for its bases, any other word for the first known lemma that a rule of detachment leads to, and
every word for itself besides.
"""

from __future__ import annotations

import hashlib
import os
import sys
import zipfile
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError, first_line
from ..files import expanded
from ..texts.reading import Source
from .align import SYNONYM, Match

_REMEMBERED = 200_000
_MOST_BYTES = 200_000_000
"""Of one file: far more than any WordNet has."""
_PARTS = ("noun", "verb", "adj", "adv")

# Endings of nouns, of verbs, of adjectives, and what takes their place, in METEOR's order.
_DETACH = tuple(
    (rule.partition("/")[0], rule.partition("/")[2])
    for rule in (
        *("s/", "ses/s", "xes/x", "zes/z", "ches/ch", "shes/sh", "men/man", "ies/y"),
        *("s/", "ies/y", "es/e", "es/", "ed/e", "ed/", "ing/e", "ing/"),
        *("er/", "est/", "er/e", "est/e"),
    )
)


class Senses(NamedTuple):
    """The synsets of a text's words."""

    words: list[tuple[int, str, frozenset[int]]]
    """Place, word and synsets of every word that has any."""
    union: frozenset[int]


class WordNet:
    """The synonym stage, read from a folder (or a zip file of one)."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        database = _database(Path(folder))
        if database is None:
            raise InputError(f"there is no WordNet at {folder}: it has no files index.noun, index.verb, index.adj, ...")
        self.folder = database
        self._lemmas: dict[str, tuple[int, ...]] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, frozenset[int]] = {}
        digest = hashlib.blake2b(digest_size=16)
        for number, part in enumerate(_PARTS):
            for name, read in ((f"index.{part}", self._read_index), (f"{part}.exc", self._read_exceptions)):
                content = _content(database, name)
                digest.update(content)
                read(f"{database}/{name}", content, number)
        self._revision = digest.hexdigest()

    def identity(self) -> dict[str, str]:
        """Where the synonyms come from, and a digest of the files."""
        return {"path": str(self.folder), "revision": self._revision}

    def synsets(self, word: str) -> frozenset[int]:
        """The synsets of a word in any of its forms."""
        known = self._known.get(word)
        if known is None:
            bases = self._bases.get(word) or self._detached(word)
            known = frozenset(synset for lemma in (word, *bases) for synset in self._lemmas.get(lemma, ()))
            if len(self._known) >= _REMEMBERED:
                self._known.clear()
            self._known[word] = known
        return known

    def prepare(self, tokens: Sequence[str]) -> Senses:
        words = [(place, word, synsets) for place, word in enumerate(tokens) if (synsets := self.synsets(word))]
        return Senses(words, frozenset().union(*(synsets for _, _, synsets in words)))

    def matches(self, hypothesis: Senses, reference: Senses) -> Iterator[Match]:
        """Pairs of different words that share a synset."""
        for at, word, synsets in reference.words:
            if hypothesis.union.isdisjoint(synsets):
                continue
            for to, other, others in hypothesis.words:
                if word != other and not others.isdisjoint(synsets):
                    yield at, 1, to, 1, SYNONYM

    def _detached(self, word: str) -> tuple[str, ...]:
        if len(word) <= 2 or word.endswith("ss"):
            return ()
        for ending, instead in _DETACH:
            if word.endswith(ending) and (lemma := word[: len(word) - len(ending)] + instead) in self._lemmas:
                return (lemma,)
        return ()

    def _read_index(self, name: str, content: bytes, part: int) -> None:
        for number, line in enumerate(content.decode("utf-8", "replace").split("\n"), 1):
            if not line or line.startswith(" "):  # the licence is indented
                continue
            # lemma, part of speech, number of synsets, ..., the synsets' offsets
            fields = line.split()
            count = int(fields[2]) if len(fields) > 3 and fields[2].isdecimal() and len(fields[2]) < 9 else 0
            offsets = fields[-count:] if 0 < count <= len(fields) - 3 else []
            if not offsets or not all(offset.isdecimal() and len(offset) < 16 for offset in offsets):
                raise InputError(f"{name} line {number} is not a line of a WordNet index")
            # Offsets are those in one part's file: the part makes them unique.
            self._lemmas[fields[0]] = (
                *self._lemmas.get(fields[0], ()),
                *(int(offset) * len(_PARTS) + part for offset in offsets),
            )

    def _read_exceptions(self, _: str, content: bytes, __: int) -> None:
        for line in content.decode("utf-8", "replace").split("\n"):
            form, *bases = line.split() or [""]
            if bases:
                self._bases[form] = (*self._bases.get(form, ()), *bases)


def find_wordnet() -> Path | None:
    """The first WordNet on this machine: WNSEARCHDIR, WNHOME, NLTK's folders, the usual places."""
    for folder in _places():
        database = _database(folder)
        if database:
            return database
    return None


def _places() -> Iterator[Path]:
    for variable in ("WNSEARCHDIR", "WNHOME"):
        if os.environ.get(variable):
            yield Path(os.environ[variable])
    nltk = [Path(folder) for folder in os.environ.get("NLTK_DATA", "").split(os.pathsep) if folder]
    nltk.append(expanded("~/nltk_data"))
    nltk += [Path(sys.prefix, *inner) for inner in (["nltk_data"], ["share", "nltk_data"], ["lib", "nltk_data"])]
    nltk += [Path(root, "nltk_data") for root in ("/usr/share", "/usr/local/share", "/usr/lib", "/usr/local/lib")]
    for folder in nltk:
        yield folder / "corpora" / "wordnet"
        yield folder / "corpora" / "wordnet.zip"
    yield from (Path("/usr/share/wordnet"), Path("/usr/local/share/wordnet"), Path("/usr/local/WordNet-3.0"))


def _database(folder: Path) -> Path | None:
    """The folder, its dict/ or the zip file that holds an index; None where there is none."""
    try:
        if folder.is_file() and zipfile.is_zipfile(folder):
            return folder if any(_content(folder, f"index.{part}") for part in _PARTS) else None
        for place in (folder, folder / "dict"):
            if any((place / f"index.{part}").is_file() for part in _PARTS):
                return place
    except OSError as error:  # a folder that may not be looked into, a name that is too long
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from None
    return None


def _content(folder: Path, name: str) -> bytes:
    """A file of the database; nothing where it has no such file."""
    if not folder.is_file():
        return Source(str(folder / name)).content(_MOST_BYTES) if (folder / name).is_file() else b""
    try:
        with zipfile.ZipFile(folder) as packed:
            member = next((inside for inside in packed.infolist() if inside.filename.rpartition("/")[2] == name), None)
            if member is None:
                return b""
            if member.file_size > _MOST_BYTES:
                raise InputError(f"{folder}/{name} holds more than {_MOST_BYTES // 10**6} MB, which no WordNet has")
            return packed.read(member)
    except InputError:
        raise
    except Exception as error:  # damaged archives fail in more ways than can be listed
        raise InputError(f"{folder}/{name} cannot be read: {first_line(error)}") from None
