"""Static word vectors (GloVe, fastText, word2vec) from a text file: a text is the mean of its words."""

from __future__ import annotations

import os
import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import numpy as np

from ...errors import InputError, shown
from ...files import expanded
from ..encoder import EncoderKind, EncoderOptions
from ..facts import MadeFor, TextFacts
from ..folder import is_model_folder
from ..word_table import WordTable, open_table

# The number grows when the same file would give a text another vector, so that no older one comes from the cache.
_RULES = "1"
MADE_FOR = MadeFor("the file's languages, with blanks between words", None, "blind")
_SUFFIXES = (".txt", ".vec")
_PACKED = (".gz", ".xz")

# From the first to the last letter or digit between blanks, and a full stop that may belong to an abbreviation.
_WORD = re.compile(r"([^\W_](?:\S*[^\W_])?)(\.?)")
# What such a word is made of, English endings split off as GloVe's tokeniser does: "do" + "n't", "it" + "'s".
_PART = re.compile(r"n't\b|'(?:s|re|ve|ll|d|m)\b|[^\W_]+?(?=n't\b)|[^\W_]+", re.IGNORECASE)


def words(text: str) -> list[str]:
    """The words of a text as they are written, without the punctuation around them."""
    plain = unicodedata.normalize("NFC", text).replace("’", "'")
    return [word + stop if "." in word else word for word, stop in _WORD.findall(plain)]


class WordVectors:
    """The mean of the vectors of a text's words; zero where it has none. The file is read when it is first needed."""

    cacheable = True
    made_for = MADE_FOR

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self.path = expanded(path)
        self.name = self.path.name
        self._table: WordTable | None = None
        self._found: dict[str, list[np.ndarray]] = {}

    def identity(self) -> dict[str, str]:
        return {
            "encoder": self.name,
            "kind": "word-vectors",
            "revision": self._opened().digest,
            "pooling": "mean",
            "words": _RULES,
            "dtype": "float32",
        }

    def fit(self, texts: Sequence[str]) -> WordVectors:
        return self

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        table = self._opened()
        means = np.zeros((len(texts), table.dimensions), np.float32)
        for row, text in zip(means, texts, strict=True):
            vectors = [vector for word in words(text) for vector in self._vectors(word, table)]
            if vectors:
                row[:] = np.mean(vectors, axis=0, dtype=np.float64)
        return means

    def facts(self, texts: Sequence[str]) -> TextFacts:
        """The share of words without a vector; there is no limit of length."""
        table = self._opened()
        counts = Counter(word for text in texts for word in words(text))
        unknown = sum(count for word, count in counts.items() if not self._vectors(word, table))
        return TextFacts(0, 0.0, unknown / max(1, counts.total()))

    def notes(self, texts: Sequence[str], name: str) -> list[str]:
        """How many words of a set have no vector, and how many of its texts have no other words."""
        table = self._opened()
        known = [[bool(self._vectors(word, table)) for word in words(text)] for text in texts]
        count, missing = sum(map(len, known)), sum(flags.count(False) for flags in known)
        # Empty texts are counted elsewhere, whatever the encoder.
        lost = sum(not any(flags) and bool(text.strip()) for flags, text in zip(known, texts, strict=True))
        notes = []
        if missing:
            share = f"{missing:,} of {count:,}, {missing / count:.1%}"
            notes.append(f"words of {name} without a vector in {self.name} were left out ({share})")
        if lost:
            notes.append(f"{lost} of {len(texts)} texts of {name} have no word of {self.name}; their vectors are zero")
        return notes

    def _opened(self) -> WordTable:
        if self._table is None:
            self._table = open_table(self.path.absolute())
        self._table.check_unchanged()
        return self._table

    def _vectors(self, word: str, table: WordTable) -> list[np.ndarray]:
        """One vector for most words, those of its parts for a word that is only known in parts, else none."""
        if word not in self._found:
            # The full stop of "example.com." ends the sentence, that of "U.S." the word.
            whole = _first(table, word, word.removesuffix("."))
            of_parts = [_first(table, part) for part in _PART.findall(word)] if whole is None else [whole]
            self._found[word] = [vector for vector in of_parts if vector is not None]
        return self._found[word]


def _first(table: WordTable, *spellings: str) -> np.ndarray | None:
    """The vector of the first spelling that has one, as it is written or in lower case."""
    tried = (table.get(form) for spelling in spellings for form in (spelling, spelling.lower()))
    return next((vector for vector in tried if vector is not None), None)


def _place(name: str) -> Path:
    """The file of that name here, or else in the folder that RECAPTURE_MODELS names."""
    root = os.environ.get("RECAPTURE_MODELS")
    here, there = expanded(name), expanded(root or "") / name
    return there if root and not _is_file(here) and _is_file(there) else here


def _is_file(path: Path) -> bool:
    try:
        return path.is_file()
    except (OSError, ValueError):  # a name that no file can have
        return False


def _takes(name: str) -> bool:
    """Whether a name means a file of word vectors: by its suffix, or because there is a file and it is no bare name."""
    path = Path(name)
    suffix = Path(path.stem).suffix if path.suffix.lower() in _PACKED else path.suffix
    place = _place(name)
    if suffix.lower() in _SUFFIXES:
        return not is_model_folder(place)
    return _is_file(place) and bool(path.suffix or "/" in name or os.sep in name)


def _make(name: str, options: EncoderOptions) -> WordVectors:
    if options.pooling not in (None, "mean"):
        raise InputError(f"word vectors are always averaged, so pooling cannot be {shown(options.pooling)}")
    if options.truncate:
        raise InputError("word vectors take texts of any length; leave truncate out or choose a sentence encoder")
    if options.dtype not in (None, "float32"):
        raise InputError("word vectors are averaged as they are; leave dtype out or choose a sentence encoder")
    place = _place(name)
    if not _is_file(place):
        raise InputError(f"there is no file of word vectors at {name}: give the path of a GloVe or fastText text file")
    return WordVectors(place)


KIND = EncoderKind(
    "word-vectors",
    "mean of a text's word vectors: the path of a GloVe or fastText text file",
    _make,
    takes=_takes,
    made_for={"word-vectors": MADE_FOR},
)
