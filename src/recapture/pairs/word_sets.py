"""Texts as sets of samples, which metrics of two sets can compare: one sample for each word piece and layer."""

from __future__ import annotations

from collections.abc import Sequence, Set
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any
from weakref import WeakKeyDictionary

import numpy as np

from ..geometry.small import SmallCounts, small_counts
from .declaration import TextPairScorer
from .evaluate import Shared
from .idf import about_windows

if TYPE_CHECKING:
    from ..representations.words import WordStore

LIBRARIES = ("numpy", "torch", "transformers")


@dataclass
class _Chunk:
    """Pairs of texts, and what was counted in them by layers and k."""

    pairs: list[tuple[str, str]]
    counts: dict[tuple[tuple[int, ...], int], SmallCounts] = field(default_factory=dict)


# The metrics of one run get the same pairs one after the other: for the same k, counts are made once.
_latest: WeakKeyDictionary[WordStore, _Chunk] = WeakKeyDictionary()


class WordSetScorer(TextPairScorer):
    """Pairs of texts as pairs of sets: vectors of a text's own pieces in the last layers, each layer's by themselves.

    The special tokens that a model puts around a text are not samples.
    """

    def __init__(self, shared: Shared, encoder: Any, layers: Any, **settings: Any) -> None:
        self._store = shared.words(encoder)
        self._layers = self._store.want_last(layers)
        self.settings = {**settings, "layers": self._layers, "encoder": self._store.identity()}

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        return about_windows(self._store.windowed & texts, self._store.room)

    def sets(self, pairs: Sequence[tuple[str, str]]) -> tuple[list[np.ndarray], np.ndarray]:
        """The samples of each different text (layers x pieces, width), and the numbers (pairs, 2) of those compared.

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
        stacked = [self._store.stacked(text, self._layers) for text in chosen]
        sides = np.array([[number[pieces[text]] for text in pair] for pair in pairs], np.int64).reshape(-1, 2)
        return [each.reshape(-1, each.shape[-1]) for each in stacked], sides

    def counts(self, pairs: Sequence[tuple[str, str]], k: int) -> SmallCounts:
        """How many samples of each text lie inside spheres of the other."""
        chunk = _latest.get(self._store)
        if chunk is None or chunk.pairs != pairs:
            chunk = _latest[self._store] = _Chunk(list(pairs))
        key = (tuple(self._layers), k)
        if key not in chunk.counts:
            chunk.counts[key] = small_counts(*self.sets(pairs), k)
        return chunk.counts[key]
