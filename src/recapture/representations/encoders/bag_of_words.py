"""Word counts: no model, no PyTorch, and easy to understand."""

from __future__ import annotations

import hashlib
import re
import unicodedata
from array import array
from collections import Counter
from collections.abc import Sequence

import numpy as np

from ...errors import InputError
from ...geometry.sparse_rows import SparseRows
from ..encoder import EncoderKind, EncoderOptions
from ..facts import MadeFor, TextFacts

VOCABULARY_SIZE = 5_000

_MANY_ALONE = 0.2
"""Share of texts without a word in common with others of their set, from which on results say so."""
_FEW = 10
"""In a set of fewer texts such a share says nothing."""

MADE_FOR = MadeFor("any language with blanks between words", None, "blind")

# Runs of Unicode letters, digits and underscores; an apostrophe inside a word belongs to it ("don't" is one word).
_WORD = re.compile(r"\w+(?:['’]\w+)*")


def words(text: str) -> list[str]:
    """The lower-cased words of a text. Composed and decomposed accents count as the same letter."""
    return _WORD.findall(unicodedata.normalize("NFC", text.lower()))


class BagOfWords:
    """How often each of the most frequent words of the reference texts occurs: raw counts, a column per word."""

    name = "bag-of-words"
    cacheable = False  # counting is faster than reading from disk
    made_for = MADE_FOR
    unit = "words"

    def __init__(self, vocabulary: Sequence[str] = ()) -> None:
        self._column = {word: column for column, word in enumerate(vocabulary)}

    @property
    def vocabulary(self) -> list[str]:
        """The counted words in column order: the most frequent first, ties by alphabet. Empty before fitting."""
        return list(self._column)

    def identity(self) -> dict[str, str]:
        known = {"encoder": self.name, "kind": "bag-of-words", "words": str(len(self._column)), "dtype": "float32"}
        if self._column:
            # No word contains a line break.
            listed = "\n".join(self._column).encode()
            known["revision"] = hashlib.blake2b(listed, digest_size=16).hexdigest()
        return known

    def fit(self, texts: Sequence[str]) -> BagOfWords:
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(words(text))
        if not counts:
            raise InputError("bag-of-words has nothing to learn from: the reference texts contain no words")
        ranked = sorted(counts, key=lambda word: (-counts[word], word))
        return BagOfWords(ranked[:VOCABULARY_SIZE])

    def encode_batch(self, texts: list[str]) -> np.ndarray:
        return np.asarray(self.encode_counts(texts))

    def encode_counts(self, texts: Sequence[str]) -> SparseRows:
        """The same rows without their zeros: a thousandth of the memory, for short texts."""
        if not self._column:
            raise InputError("bag-of-words has no vocabulary yet: call fit with the reference texts first")
        columns, starts = array("i"), array("q", [0])
        for text in texts:
            columns.extend(self._column[word] for word in words(text) if word in self._column)
            starts.append(len(columns))
        return SparseRows.of(np.frombuffer(starts, np.int64), np.asarray(columns, np.int32), len(self._column))

    def facts(self, texts: Sequence[str]) -> TextFacts:
        """The share of words outside the vocabulary; there is no limit of length."""
        counts: Counter[str] = Counter()
        for text in texts:
            counts.update(words(text))
        unknown = sum(count for word, count in counts.items() if word not in self._column)
        return TextFacts(0, 0.0, unknown / max(1, counts.total()))

    def notes(self, texts: Sequence[str], name: str) -> list[str]:
        """What word counts cannot tell of a set's texts."""
        holders: Counter[str] = Counter()
        for text in texts:
            holders.update(set(words(text)))
        # Words are found a second time: kept, those of many texts would take more memory than their counts.
        alone = sum(all(holders[word] == 1 for word in words(text)) for text in texts)
        if len(texts) < _FEW or alone <= _MANY_ALONE * len(texts):
            return []
        return [
            f"{alone:,} of {len(texts):,} texts of {name} share no word with any other of them: word counts cannot "
            "tell how alike they are (are there blanks between words?)"
        ]


def _make(name: str, options: EncoderOptions) -> BagOfWords:
    if options.pooling is not None:
        raise InputError("bag-of-words has no pooling; leave pooling out or choose a sentence encoder")
    if options.truncate:
        raise InputError("bag-of-words takes texts of any length; leave truncate out or choose a sentence encoder")
    if options.dtype not in (None, "float32"):
        raise InputError("bag-of-words counts words; leave dtype out or choose a sentence encoder")
    return BagOfWords()


KIND = EncoderKind(
    "bag-of-words",
    f"counts of the {VOCABULARY_SIZE:,} most frequent words of the reference texts, or of all texts where bands, "
    "intervals or p-values are asked for; no PyTorch",
    _make,
    made_for={"bag-of-words": MADE_FOR},
)
