"""Runs of n tokens as numbers, and in how many documents each of them occurs."""

from __future__ import annotations

import gzip
import hashlib
import json
import os
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..checks import LONGEST_NGRAM, check_count, check_function, is_whole, path_of, plain_value
from ..errors import InputError, shown
from ..texts.json_values import parsed
from ..texts.objects import texts_of_object
from ..texts.reading import Source
from .tokens import caption_tokens

_MOST_DOCUMENTS = 10**15
Ngram = tuple[str, ...]


class Runs(NamedTuple):
    """All runs of n tokens in several texts, repeats included."""

    text: np.ndarray
    """The text each run stands in."""
    number: np.ndarray
    """Which of the distinct n-grams each run is."""
    keys: np.ndarray
    """Each distinct n-gram, ascending: the number of its first n - 1 tokens x distinct words + that of the last."""


class Words(NamedTuple):
    """Several texts as numbers of words."""

    number_of: dict[str, int]
    numbers: np.ndarray
    lengths: np.ndarray

    @classmethod
    def of(cls, token_lists: Iterable[Sequence[str]]) -> Words:
        number_of: dict[str, int] = {}
        numbers: list[int] = []
        lengths = []
        for tokens in token_lists:
            numbers += [number_of.setdefault(token, len(number_of)) for token in tokens]
            lengths.append(len(tokens))
        return cls(number_of, np.array(numbers, np.int64), np.array(lengths, np.int64))

    def runs(self, order: int) -> Iterator[Runs]:
        """The runs of n = 1, 2, ... `order` tokens."""
        text = np.repeat(np.arange(len(self.lengths)), self.lengths)
        end = np.repeat(np.cumsum(self.lengths), self.lengths)
        start, number = np.arange(len(self.numbers)), self.numbers
        yield Runs(text, number, np.arange(len(self.number_of)))
        for n in range(2, order + 1):
            longer = start + n <= end[start]
            start = start[longer]
            extended = number[longer] * len(self.number_of) + self.numbers[start + n - 1]
            keys, number = np.unique(extended, return_inverse=True)
            yield Runs(text[start], number, keys)


class _Level(NamedTuple):
    """The n-grams of one n: keys as in `Runs`, and the documents that hold each. The last entry stands for none."""

    keys: np.ndarray
    counts: np.ndarray

    @classmethod
    def of(cls, keys: np.ndarray, counts: np.ndarray) -> _Level:
        return cls(np.append(keys, np.iinfo(np.int64).max), np.append(counts, 0))


def _inverse(order: np.ndarray) -> np.ndarray:
    inverse = np.empty_like(order)
    inverse[order] = np.arange(len(order))
    return inverse


class DocumentFrequencies:
    """In how many of a number of documents each n-gram occurs.

    For captions, a document is all references of one image.

    Parameters
    ----------
    counts : mapping of tuples of str to int
        For every n-gram, a tuple of tokens, how many documents hold it.
    documents : int
        How many documents there are.
    order : int
        The length of the longest n-grams.

    Attributes
    ----------
    documents : int
    order : int

    Examples
    --------
    >>> import recapture as rc
    >>> df = rc.DocumentFrequencies.from_references([["a dog runs", "a dog"], ["a cat"]])
    >>> df.documents, df.count("a"), df.count("a dog"), df.count("a bird")
    (2, 2, 1, 0)
    """

    def __init__(self, counts: Mapping[Ngram, int], documents: int, order: int = 4) -> None:
        order = check_count("order", order, 1, LONGEST_NGRAM)
        if not isinstance(counts, Mapping):
            raise InputError(f"counts are a mapping from n-grams to numbers of documents, not {shown(counts)}")
        listed = list(counts)
        for ngram in listed:
            if not isinstance(ngram, tuple) or not all(isinstance(token, str) for token in ngram):
                raise InputError(f"an n-gram is a tuple of tokens, not {shown(ngram)}")
        words = Words.of(listed)
        longest = check_count("the longest n-gram", words.lengths.max(initial=1), 1, LONGEST_NGRAM)
        documents_with = np.array([_count(counts[ngram], ngram) for ngram in listed], np.int64)
        levels = []
        for n, runs in enumerate(words.runs(max(order, longest)), 1):
            # The runs of an n-gram are itself and its parts; parts have a count only if `counts` has them too.
            whole = words.lengths[runs.text] == n
            level = np.zeros(len(runs.keys), np.int64)
            level[runs.number[whole]] = documents_with[runs.text[whole]]
            levels.append(_Level.of(runs.keys, level))
        self._set(words.number_of, levels, documents)

    def _set(self, number_of: dict[str, int], levels: list[_Level], documents: Any) -> None:
        documents = check_count("the number of documents", documents, 1, _MOST_DOCUMENTS)
        most = max(int(level.counts.max(initial=0)) for level in levels)
        if most > documents:
            raise InputError(f"an n-gram cannot occur in {most} of {documents} documents")
        self.documents = documents
        self._number_of = number_of
        self._levels = levels

    @classmethod
    def from_references(
        cls,
        groups: Iterable[Sequence[str]],
        *,
        order: int = 4,
        tokenize: Callable[[str], Sequence[str]] = caption_tokens,
    ) -> DocumentFrequencies:
        """Count n-grams over groups of texts, each group one document.

        Parameters
        ----------
        groups : iterable of lists of str
            The texts of each document.
        order : int
            The longest n-grams to count.
        tokenize : callable
            From a text to its tokens. By default caption tokens (Penn Treebank style, without punctuation).

        Returns
        -------
        DocumentFrequencies

        Examples
        --------
        >>> import recapture as rc
        >>> rc.DocumentFrequencies.from_references([["a dog"], ["a cat"]], order=2).count("a")
        2
        """
        order = check_count("order", order, 1, LONGEST_NGRAM)
        check_function("tokenize", tokenize, "from a text to its tokens")
        if isinstance(groups, (str, bytes)) or not isinstance(groups, Iterable) or getattr(groups, "ndim", 1) == 0:
            raise InputError(f"documents are a list of lists of texts, not {shown(groups)}")
        sizes: list[int] = []

        def token_lists() -> Iterator[Sequence[str]]:
            for group in groups:
                if isinstance(group, str):
                    raise InputError(f"document {len(sizes)} is one string: give a list of lists of texts")
                texts = texts_of_object(group, f"document {len(sizes)}")
                sizes.append(len(texts))
                yield from map(tokenize, texts)

        words = Words.of(token_lists())
        if not sizes:
            raise InputError("there are no documents to count n-grams in")
        document = np.repeat(np.arange(len(sizes)), sizes)
        levels = []
        for runs in words.runs(order):
            held = np.unique(runs.number * len(sizes) + document[runs.text]) // len(sizes)
            levels.append(_Level.of(runs.keys, np.bincount(held, minlength=len(runs.keys))))
        frequencies = cls.__new__(cls)
        frequencies._set(words.number_of, levels, len(sizes))
        return frequencies

    @property
    def order(self) -> int:
        """The length of the longest n-grams."""
        return len(self._levels)

    def count(self, ngram: Ngram | str) -> int:
        """How many documents hold an n-gram.

        Parameters
        ----------
        ngram : tuple of str, or str
            Its tokens, or one string with spaces between them.

        Returns
        -------
        int
            0 for an n-gram that no document holds.

        Examples
        --------
        >>> import recapture as rc
        >>> df = rc.DocumentFrequencies({("a",): 3, ("a", "dog"): 1}, documents=3)
        >>> df.count("a dog"), df.count(("a", "cat"))
        (1, 0)
        """
        tokens = ngram.split() if isinstance(ngram, str) else list(ngram)
        if not 1 <= len(tokens) <= self.order:
            return 0
        words = Words.of([tokens])
        *_, counts = self.counts_of(words, words.runs(len(tokens)))
        return int(counts[-1])

    def counts_of(self, words: Words, runs: Iterable[Runs]) -> Iterator[np.ndarray]:
        """For every n, the counts of the distinct n-grams of some texts, in their order."""
        word = np.array([self._number_of.get(token, -1) for token in words.number_of], np.int64)
        known = word
        for level, runs_of_n in zip(self._levels, runs, strict=False):
            if level is not self._levels[0]:
                prefix, last = np.divmod(runs_of_n.keys, len(words.number_of))
                prefix, last = known[prefix], word[last]
                # An n-gram with an unknown part is unknown.
                key = np.where((prefix < 0) | (last < 0), -1, prefix * len(self._number_of) + last)
                place = np.searchsorted(level.keys, key)
                known = np.where(level.keys[place] == key, place, -1)
            yield level.counts[known]

    def items(self) -> Iterator[tuple[Ngram, int]]:
        """Every n-gram that some document holds, with its count."""
        words = list(self._number_of)
        ngrams: list[Ngram] = [()]
        for level in self._levels:
            prefix, last = np.divmod(level.keys[:-1], max(1, len(words)))
            ngrams = [(*ngrams[at], words[word]) for at, word in zip(prefix.tolist(), last.tolist(), strict=True)]
            yield from (
                (ngram, count) for ngram, count in zip(ngrams, level.counts[:-1].tolist(), strict=True) if count
            )

    def __len__(self) -> int:
        return sum(int(np.count_nonzero(level.counts)) for level in self._levels)

    def __repr__(self) -> str:
        return f"DocumentFrequencies({len(self):,} n-grams in {self.documents:,} documents)"

    def identity(self) -> dict[str, Any]:
        """What identifies the table in a signature."""
        return {"documents": self.documents, "ngrams": len(self), "digest": self._digest}

    @cached_property
    def _digest(self) -> str:
        """Of the n-grams and their counts, whatever the order in which they were counted."""
        words = list(self._number_of)
        order = np.array(sorted(range(len(words)), key=words.__getitem__), np.int64)
        rank = _inverse(order)
        digest = hashlib.blake2b("\x1f".join(sorted(words)).encode("utf-8", "surrogatepass"), digest_size=16)
        before = np.zeros(1, np.int64)
        for level in self._levels:
            prefix, last = np.divmod(level.keys[:-1], max(1, len(words)))
            keys = before[prefix] * max(1, len(words)) + rank[last]
            order = np.argsort(keys)
            digest.update(keys[order].tobytes() + level.counts[:-1][order].astype(np.int64).tobytes())
            before = _inverse(order)
        return digest.hexdigest()

    def write(self, path: str | os.PathLike[str]) -> None:
        """Write the table as JSON, compressed where the name ends in .gz. Equal tables make equal files.

        Parameters
        ----------
        path : path
            A file to write, or to write over.

        Examples
        --------
        >>> import recapture as rc
        >>> rc.DocumentFrequencies({("a",): 3}, documents=3).write("df.json.gz")
        >>> rc.DocumentFrequencies.read("df.json.gz").count("a")
        3
        """
        from ..files import whole_file

        counts = {}
        for ngram, count in sorted(self.items()):
            if any(token.split() != [token] for token in ngram):
                raise InputError(f"the n-gram {ngram!r} cannot be written: a token is empty or holds a space")
            counts[" ".join(ngram)] = count
        content = json.dumps(
            {"documents": self.documents, "order": self.order, "counts": counts}, ensure_ascii=False
        ).encode()
        with whole_file(Path(path)) as temporary:
            temporary.write_bytes(gzip.compress(content, mtime=0) if _compressed(path) else content)

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> DocumentFrequencies:
        """Read a table that `write` wrote.

        Parameters
        ----------
        path : path

        Returns
        -------
        DocumentFrequencies
        """
        source = Source(path_of(path))
        try:
            content = source.content().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise InputError(f"{source.name} is not JSON: byte {error.start + 1} is not UTF-8") from None
        table = parsed(content, source.name, line=1)
        if not isinstance(table, dict) or "documents" not in table or not isinstance(table.get("counts"), dict):
            raise InputError(f"{path} is no table of document frequencies: it needs `documents` and `counts`")
        counts = {tuple(ngram.split(" ")): count for ngram, count in table["counts"].items()}
        try:
            return cls(counts, table["documents"], table.get("order", 4))
        except InputError as error:
            raise InputError(f"{source.name}: {error.message}", options=error.options) from None


def _compressed(path: str | os.PathLike[str]) -> bool:
    return os.fspath(path).endswith(".gz")


def _count(value: Any, ngram: Ngram) -> int:
    value = plain_value(value, f"the count of {' '.join(ngram)!r}")
    if not is_whole(value) or not 0 <= value <= _MOST_DOCUMENTS:
        raise InputError(f"the count of {' '.join(ngram)!r} must be a whole number, not {shown(value)}")
    return int(value)
