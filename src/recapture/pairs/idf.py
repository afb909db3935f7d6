"""What metrics on word pieces share: how much each piece counts, and what to say of long texts and unknown pieces."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from itertools import chain
from typing import TYPE_CHECKING, Any

import numpy as np

from ..representations.facts import about_unknown

if TYPE_CHECKING:
    from ..representations.masked import MaskedStore
    from ..representations.words import WordStore


class Idf:
    """ln((N + 1) / (c + 1)) for a piece that c of N references have: one table for both sides.

    The references count as they are listed, repeats included. Without a table (`Idf.none()`) all pieces count alike,
    and so they do where every piece of the references has the weight 0, as with a single reference: there only pieces
    that no reference has would weigh anything, and a candidate would be judged by them alone.
    """

    def __init__(self, references: Iterable[Sequence[int]]) -> None:
        listed = list(references)
        self.count = len(listed)
        # By piece; the last place stands for all pieces beyond, which no reference has.
        counts = np.append(np.bincount(np.fromiter(chain.from_iterable(map(set, listed)), np.int64)), 0)
        different, which = np.unique(counts, return_inverse=True)
        weights = [math.log((self.count + 1) / (count + 1)) for count in different.tolist()]
        self._weights: np.ndarray = np.array(weights)[which]
        self._plain = not self._weights[counts > 0].any()
        self._asked = True

    @classmethod
    def none(cls) -> Idf:
        plain = cls(())
        plain._asked = False
        return plain

    def raw(self, pieces: Sequence[int] | np.ndarray) -> np.ndarray:
        """The weight of each piece."""
        if self._plain:
            return np.ones(len(pieces))
        return self._weights[np.minimum(np.asarray(pieces, np.int64), len(self._weights) - 1)]

    def shares(self, pieces: Sequence[int]) -> np.ndarray:
        """Weights that sum to 1; equal ones where all are 0."""
        weights = self.raw(pieces)
        total = weights.sum()
        return weights / total if total > 0 else np.full(len(pieces), 1 / max(1, len(pieces)))

    def shares_of_many(self, pieces: np.ndarray, counts: np.ndarray) -> np.ndarray:
        """`shares` of texts that stand one after another, but for rounding; counts: how many pieces each has."""
        weights = self.raw(pieces)
        owner = np.repeat(np.arange(len(counts)), counts)
        totals = np.bincount(owner, weights, minlength=len(counts))[owner]
        return np.where(totals > 0, weights / np.where(totals > 0, totals, 1), 1 / counts[owner])

    def warnings(self) -> list[str]:
        if not self._asked or not self._plain:
            return []
        which = (
            "one reference idf weighs all its pieces" if self.count == 1 else "these references idf weighs all pieces"
        )
        return [f"with {which} 0, so all pieces count alike on both sides; use idf=False, or more texts"]


def by_pieces(store: WordStore | MaskedStore, texts: Sequence[str]) -> list[Hashable]:
    """For each text its pieces, which are all that a model sees of it; a text without any stands for itself."""
    return [piece.own or text for text, piece in zip(texts, store.pieces(texts), strict=True)]


def about_texts(store: WordStore | MaskedStore, texts: Set[str]) -> list[str]:
    """What to say where texts were longer than a model takes, or have many pieces that it does not know."""
    unknown = about_unknown(store.unknown_share(texts), "the pieces of the texts", store.name)
    count = len(store.windowed & texts)
    if not count:
        return unknown
    many = "1 text is" if count == 1 else f"{count} texts are"
    longer = f"{many} longer than the {store.room} tokens the model takes at once"
    return [f"{longer}: overlapping windows were used, nothing cut", *unknown]


def idf_caption(signature: Mapping[str, Any]) -> str:
    return "no idf" if signature["idf"] == "none" else "idf of the references"
