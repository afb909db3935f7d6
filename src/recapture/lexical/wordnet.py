"""Synonyms from a WordNet database: words that share a synset, of whatever part of speech.

The files are those of WordNet's own distribution (wndb(5WN)): index.noun, index.verb, index.adj and index.adv say which
synsets a lemma belongs to, noun.exc and its like list irregular forms. Words are reduced to lemmas as METEOR 1.5 does:
an irregular form stands for its bases, any other word for the first known lemma that a rule of detachment leads to, and
every word for itself besides.

METEOR's own program carries WordNet 3.0 in another form: english.synsets (a lemma, and in the next line its synsets)
and english.exceptions (a lemma, and in the next line its irregular forms). Synsets are numbered by their places in
WordNet's files, and the program does not keep nouns, verbs, adjectives and adverbs apart: some of its numbers stand
for several synsets that have nothing to do with each other ("entity", "breathe" and "able" are synonyms there).
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import NamedTuple

from ..errors import InputError
from ..files import expanded
from .align import SYNONYM, Match
from .packed import is_archive, member

_REMEMBERED = 200_000
_PARTS = ("noun", "verb", "adj", "adv")
_SYNSETS, _EXCEPTIONS = "english.synsets", "english.exceptions"
"""What METEOR's program calls its files."""
_INDICES = (*(f"index.{part}" for part in _PARTS), _SYNSETS)

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
    """The synonym stage, read from a folder (or a zip file of one): a WordNet, or what METEOR's program has of it."""

    def __init__(self, folder: str | os.PathLike[str]) -> None:
        database = _database(Path(folder))
        if database is None:
            raise InputError(f"there is no WordNet at {folder}: it has no files index.noun, index.verb, index.adj, ...")
        self.folder = database
        self._lemmas: dict[str, tuple[int, ...]] = {}
        self._bases: dict[str, tuple[str, ...]] = {}
        self._known: dict[str, frozenset[int]] = {}
        digest = hashlib.blake2b(digest_size=16)
        files: list[tuple[str, Callable[[str, bytes, int], None], int]] = []
        for number, part in enumerate(_PARTS):
            files += [(f"index.{part}", self._read_index, number), (f"{part}.exc", self._read_exceptions, number)]
        files += [(_SYNSETS, self._read_jar_synsets, 0), (_EXCEPTIONS, self._read_jar_exceptions, 0)]
        for name, read, number in files:
            content = member(database, name)
            digest.update(content)
            if content:
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

    def _read_jar_synsets(self, name: str, content: bytes, _: int) -> None:
        for lemma, synsets in _two_lines_each(name, content):
            numbers = synsets.split()
            if not all(number.isdecimal() and len(number) < 16 for number in numbers):
                raise InputError(
                    f"{name} has no synsets of {lemma!r}: each lemma takes two lines, and numbers follow it"
                )
            self._lemmas[lemma] = tuple(map(int, numbers))

    def _read_jar_exceptions(self, name: str, content: bytes, _: int) -> None:
        for lemma, forms in _two_lines_each(name, content):
            for form in forms.split():
                self._bases[form] = (*self._bases.get(form, ()), lemma)


def _two_lines_each(name: str, content: bytes) -> Iterator[tuple[str, str]]:
    lines = content.decode("utf-8", "replace").removesuffix("\n").split("\n")
    if len(lines) % 2:
        raise InputError(f"{name} is cut off or damaged: each lemma takes two lines, but it has {len(lines)}")
    return zip(lines[::2], lines[1::2], strict=True)


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
    """The folder, its dict/ or synonym/, or the zip file that holds an index; None where there is none."""
    try:
        if is_archive(folder):
            return folder if any(member(folder, name) for name in _INDICES) else None
        for place in (folder, folder / "dict", folder / "synonym"):
            if any((place / name).is_file() for name in _INDICES):
                return place
    except OSError as error:  # a folder that may not be looked into, a name that is too long
        raise InputError(f"{folder} cannot be read: {error.strerror or error}") from None
    return None
