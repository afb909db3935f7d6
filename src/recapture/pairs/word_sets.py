"""Texts as sets of samples, which metrics of two sets can compare: one sample for each word piece and layer."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np

from ..geometry.device_small import DeviceSets, small_counts_on
from ..geometry.small import small_counts_at
from .declaration import TextPairScorer
from .evaluate import Shared
from .idf import about_texts

if TYPE_CHECKING:
    from ..representations.words import WordStore

LIBRARIES = ("numpy", "torch", "transformers")


class WordCounts(NamedTuple):
    """The counts of `geometry.small`, one entry a pair, each pair at the largest k up to the one asked for."""

    k: np.ndarray
    """0 where a text has a single sample, and so no neighbour, or none."""
    n: np.ndarray
    m: np.ndarray
    x: np.ndarray
    y: np.ndarray
    a: np.ndarray
    b: np.ndarray


@dataclass
class _Chunk:
    """Pairs of texts, and what was counted in them by layers and k."""

    pairs: list[tuple[str, str]]
    counts: dict[tuple[tuple[int, ...], int], WordCounts] = field(default_factory=dict)


# The metrics of one run get the same pairs one after the other: the first of them counts for all.
_latest: WeakKeyDictionary[WordStore, _Chunk] = WeakKeyDictionary()
_asked: WeakKeyDictionary[WordStore, set[tuple[tuple[int, ...], int]]] = WeakKeyDictionary()
"""Layers and k that the metrics of a run count with."""


class WordSetScorer(TextPairScorer):
    """Pairs of texts as pairs of sets: vectors of a text's own pieces in the last layers, each layer's by themselves.

    The special tokens that a model puts around a text are not samples.
    """

    def __init__(self, shared: Shared, encoder: Any, layers: Any, **settings: Any) -> None:
        self._store = shared.words(encoder)
        self._layers = self._store.want_last(layers)
        self._short: set[tuple[str, str]] = set()
        if "k" in settings:
            _asked.setdefault(self._store, set()).add((tuple(self._layers), settings["k"]))
        self.settings = {**settings, "layers": self._layers, "encoder": self._store.identity()}

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        notes = about_texts(self._store, texts)
        short = sum(reference in texts and candidate in texts for reference, candidate in self._short)
        if short:
            many = "1 pair of texts has" if short == 1 else f"{short} pairs of texts have"
            notes.append(f"{many} {self.about_short()}")
        return notes

    def about_short(self) -> str:
        """What is said of pairs with too few samples for the metric's settings."""
        return f"too few pieces for k = {self.settings['k']}: the largest k that the shorter text has was used"

    def sizes(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """(pairs, 2): how many samples the texts have; 0 for an empty one."""
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        pieces = zip(texts, self._store.pieces(texts), strict=True)
        size = {text: len(piece.own) * len(self._layers) if text.strip() else 0 for text, piece in pieces}
        return np.array([[size[text] for text in pair] for pair in pairs], np.int64).reshape(-1, 2)

    def sets(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[np.ndarray], np.ndarray]:
        """The samples of each different text (layers x pieces, width), and the numbers (pairs, 2) of those compared."""
        chosen, sides = self._spelt(pairs)
        return self._samples(chosen), sides

    def _samples(self, texts: Sequence[str]) -> list[np.ndarray]:
        stacked = [self._store.stacked(text, self._layers) for text in texts]
        return [each.reshape(-1, each.shape[-1]) for each in stacked]

    def _spelt(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[str], np.ndarray]:
        """One text for all of the same pieces, with its vectors made, and the numbers (pairs, 2) of those compared.

        Texts of the same pieces count as one text; for many models these are texts that differ only in case. Their
        vectors are equal except for rounding, which would decide whether a sample on the rim of a sphere is inside.
        """
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        pieces = {text: piece.own for text, piece in zip(texts, self._store.pieces(texts), strict=True)}
        spelt: dict[tuple[int, ...], str] = {}
        for text in texts:
            spelt.setdefault(pieces[text], text)
        number = {own: at for at, own in enumerate(spelt)}
        chosen = list(spelt.values())
        self._store.ensure(chosen)
        numbers = {text: number[pieces[text]] for text in texts}
        return chosen, np.array([[numbers[text] for text in pair] for pair in pairs], np.int64).reshape(-1, 2)

    def without_spheres(
        self, pairs: Sequence[tuple[str, str]], counts: WordCounts, scores: Mapping[str, np.ndarray]
    ) -> None:
        """Fill in the scores of pairs with a text of one sample, which has no neighbour and so no sphere.

        If both texts are the same pieces they are equal sets; else they do not meet.
        """
        lone = np.flatnonzero((counts.k == 0) & (np.minimum(counts.n, counts.m) > 0))
        if not len(lone):
            return
        chosen = [pairs[at] for at in lone.tolist()]
        pieces = zip(*(self._store.pieces(side) for side in zip(*chosen, strict=True)), strict=True)
        same = np.array([reference.own == candidate.own for reference, candidate in pieces])
        apart = self.apart(chosen)
        for name, column in scores.items():
            column[lone] = np.where(same, 1.0, apart.get(name, 0.0))

    def counts(self, pairs: Sequence[tuple[str, str]], k: int) -> WordCounts:
        """How many samples of each text lie inside spheres of the other, at k or the largest that both texts have."""
        chunk = _latest.get(self._store)
        if chunk is None or chunk.pairs != pairs:
            chunk = _latest[self._store] = _Chunk(list(pairs))
        key = (tuple(self._layers), k)
        if key not in chunk.counts:
            ks = sorted({k, *(other for layers, other in _asked.get(self._store, ()) if layers == key[0])})
            made = self._counted(pairs, ks)
            chunk.counts.update({(key[0], each): counts for each, counts in zip(ks, made, strict=True)})
        counts = chunk.counts[key]
        short = (counts.k < k) & (np.minimum(counts.n, counts.m) > 0)
        self._short.update(pairs[at] for at in np.flatnonzero(short).tolist())
        return counts

    def _counted(self, pairs: Sequence[tuple[str, str]], ks: Sequence[int]) -> list[WordCounts]:
        """For each k: on the device where the vectors are, or by the threads."""
        chosen, sides = self._spelt(pairs)
        made = self._store.compared_there(lambda: self._counted_there(chosen, sides, ks))
        if made is None:
            sets = self._samples(chosen)
            sizes = np.array([len(samples) for samples in sets], np.int64)[sides]
            reached = _reached(sizes, ks)
            made = sizes, reached, small_counts_at(sets, sides, reached)
        sizes, reached, table = made
        return [WordCounts(reached[:, at], *sizes.T, *table[:4, :, at]) for at in range(len(ks))]

    def _counted_there(
        self, texts: Sequence[str], sides: np.ndarray, ks: Sequence[int]
    ) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """(pairs, 2) sizes, (pairs, ks) each pair's own k, and counts."""
        words, layers = self._store.table(texts, self._layers), len(self._layers)
        sizes = words.own * layers
        reached = _reached(sizes[sides], ks)
        there = DeviceSets(words.vectors.flatten(0, 1), (words.first + words.before) * layers, sizes)
        return sizes[sides], reached, small_counts_on(there, sides, reached)


def _reached(sizes: np.ndarray, ks: Sequence[int]) -> np.ndarray:
    """(pairs, ks): the largest k up to the one asked for that both texts have; 0 where one has no neighbour."""
    reached: np.ndarray = np.minimum(np.array(ks, np.int64), np.maximum(sizes.min(axis=1) - 1, 0)[:, None])
    return reached
