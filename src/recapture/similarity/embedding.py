"""Cosine similarity of sentence vectors.

Coordinates are first rounded to whole multiples of about 2^-26 of the vector's length (finer than a float32 vector;
word counts stay as they are). Their products and sums are then exact in float64, so a score depends on the two vectors
alone, not on the order of texts, the other texts, threads or the BLAS library, and equal vectors score exactly 1.
A vector of zeros scores 1 against the same text and 0 against all others.
"""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..declarations import Output
from ..representations.encode import check_batch_size, encode
from ..representations.encoder import Encoder, resolve_encoder
from .scorer import Similarity, VectorScorer

_STEPS = 26


class EmbeddingScorer(VectorScorer):
    """Cosine similarity, -1 to 1, of the vectors of one encoder.

    An encoder that learns from texts, and was given by name, learns from the texts compared with each other: those of a
    group, or hypotheses and references together. One given as an object is used as it is.
    """

    def __init__(self, encoder: Encoder, named: bool, **encoding: Any) -> None:
        self._encoder = encoder
        self._named = named
        self._encoding = encoding
        self.settings = {"encoder": dict(encoder.identity())}

    def cross(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        if not len(hypotheses) or not len(references):
            return np.zeros((len(hypotheses), len(references)))
        vectors = self._vectors([[*hypotheses, *references]])[0]
        return _similarities(hypotheses, references, *np.split(vectors, [len(hypotheses)]))

    def squares(self, groups: Sequence[Sequence[str]]) -> list[np.ndarray]:
        return self.squares_of(groups, self._vectors(groups))

    def squares_of(self, groups: Sequence[Sequence[str]], vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
        """The same from vectors that this scorer's encoder has made before."""
        return [_similarities(group, group, own, own) for group, own in zip(groups, vectors, strict=True)]

    def _vectors(self, groups: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """One array for each group, from one call of the encoder unless it learns from each group."""
        together = [text for group in groups for text in group]
        if not together:
            return [np.zeros((0, 1), np.float32) for _ in groups]
        if self._named and self._encoder.fit(together) is not self._encoder:
            return [self._learnt(group) for group in groups]
        ends = np.cumsum([len(group) for group in groups])[:-1]
        return np.split(encode(together, self._encoder, **self._encoding), ends)

    def _learnt(self, group: Sequence[str]) -> np.ndarray:
        if not len(group):
            return np.zeros((0, 1), np.float32)
        return encode(group, self._encoder.fit(group), **self._encoding)


def _similarities(rows: Sequence[str], columns: Sequence[str], own: np.ndarray, other: np.ndarray) -> np.ndarray:
    own, other = _whole_numbers(own), _whole_numbers(other)
    squared = [np.einsum("ij,ij->i", values, values) for values in (own, other)]
    lengths = np.sqrt(squared[0][:, None] * squared[1])
    scores = np.zeros(lengths.shape)
    np.divide(own @ other.T, lengths, out=scores, where=lengths > 0)
    np.clip(scores, -1, 1, out=scores)
    without = [np.flatnonzero(squares == 0).tolist() for squares in squared]
    for i in without[0]:
        for j in without[1]:
            scores[i, j] = rows[i].split() == columns[j].split()  # two blank texts are equal, too
    return scores


def _whole_numbers(vectors: np.ndarray) -> np.ndarray:
    values = vectors.astype(np.float64)
    # A power of two above the vector's length: dividing by it loses no digit.
    exponent = np.frexp(np.sqrt(np.square(values).sum(axis=1)))[1]
    whole: np.ndarray = np.rint(np.ldexp(values, (_STEPS - exponent)[:, None]))
    return whole


def _prepare(
    encoder: Any, pooling: Any, device: Any, batch_size: Any, offline: Any, truncate: Any, dtype: Any, cache: Any
) -> EmbeddingScorer:
    resolved = resolve_encoder(encoder, pooling=pooling, device=device, offline=offline, truncate=truncate, dtype=dtype)
    named = encoder is None or isinstance(encoder, (str, os.PathLike))
    return EmbeddingScorer(resolved, named, batch_size=check_batch_size(batch_size), offline=offline, cache=cache)


def learning_from(references: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    """The options with an encoder that has learnt, if it learns, from references alone."""
    every = {**METRIC.defaults, **options}
    if not references or not (every["encoder"] is None or isinstance(every["encoder"], (str, os.PathLike))):
        return dict(options)
    loading = {name: every[name] for name in ("pooling", "device", "offline", "truncate", "dtype")}
    kept = {name: value for name, value in options.items() if name not in ("pooling", "device", "truncate", "dtype")}
    return {**kept, "encoder": resolve_encoder(every["encoder"], **loading).fit(references)}


METRIC = Similarity(
    name="embedding",
    title="Cosine similarity of sentence vectors",
    prepare=_prepare,
    outputs=(Output("value", "the score of two texts", (-1.0, 1.0)),),
    defaults={
        "encoder": None,
        "pooling": None,
        "device": None,
        "batch_size": None,
        "offline": None,
        "truncate": False,
        "dtype": None,
        "cache": True,
    },
    reference_options=learning_from,
    on_vectors=True,
    order=60,
    citation="Reimers and Gurevych 2019, Sentence-BERT, EMNLP",
)
