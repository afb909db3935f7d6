"""CIDEr-D: n-grams that a caption shares with references, where n-grams of few images count more.

Vedantam, Zitnick and Parikh (2015), CIDEr: Consensus-based Image Description Evaluation, Eqs. 1-2 and Section 6. With
g_n(x) the vector of tf-idf weights of the n-grams of x, and l the number of its bigrams (as the authors' program has
it, where the paper says length),

    CIDEr-D(c, r) = 10 mean over n = 1..4 of exp(-(l(c) - l(r))^2 / (2 sigma^2)) min(g_n(c), g_n(r)) . g_n(r)
                                             / (|g_n(c)| |g_n(r)|)

A text scores 10 against itself unless it has fewer than four tokens (an order without n-grams scores 0) or an order
all of whose n-grams are in every document (weight 0). The score is then below 10, as in the authors' program, so the
distance between copies of such a text is above 0. Two texts without any token score 10, as equal ones (in the authors'
program 0).
"""

from __future__ import annotations

import math
import os
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import check_number
from ..declarations import Output, function_name
from ..errors import InputError, shown
from ..lexical.cells import Cells, Frequencies, Sides, clipped_sums
from ..lexical.ngrams import DocumentFrequencies, Runs, Words
from ..lexical.tokens import caption_tokens
from .batched import BatchedScorer
from .scorer import Similarity

_ORDERS = 4
# Squared weights are cut in two: multiples of 2^-20 (real part) and of 2^-52 (imaginary part). float64 adds up each
# part without rounding, so no sum depends on its order, and scores that are equal by the formula are equal here.
_COARSE = 2.0**20
_FINE = 2.0**52
_NARROWEST = 1e-100
_WIDTH = f"a positive number from {_NARROWEST:g} to {1 / _NARROWEST:g}"


class CiderScorer(BatchedScorer):
    """CIDEr-D with given document frequencies."""

    def __init__(self, df: DocumentFrequencies, sigma: float, tokenize: Callable[[str], list[str]]) -> None:
        self._df = df
        self._tokenize = tokenize
        self._spread = 2 * sigma**2
        self.settings = {
            "df": df.identity(),
            "sigma": sigma,
            "order": _ORDERS,
            "tokenize": "caption tokens" if tokenize is caption_tokens else function_name(tokenize),
        }

    def warnings(self, texts: Collection[str] = ()) -> Sequence[str]:
        if self.settings["df"]["documents"] != 1:
            return ()
        return ("CIDEr-D's document frequencies come from a single document: all its n-grams weigh 0",)

    def blocks(self, pairs: Sequence[Sides]) -> list[np.ndarray]:
        cells = Cells(pairs)
        words = Words.of(map(self._tokenize, cells.texts))
        runs = list(words.runs(_ORDERS))
        scores = np.zeros(len(cells.row))
        for runs_of_n, counts in zip(runs, self._df.counts_of(words, runs), strict=True):
            scores += _cosines(runs_of_n, self._squared_weights(counts), cells)
        # The authors' program takes the number of bigrams for the length.
        length = np.maximum(words.lengths - 1, 0)
        apart = np.abs(length[cells.row] - length[cells.column])
        scores *= np.array([math.exp(-(delta**2) / self._spread) for delta in range(apart.max(initial=0) + 1)])[apart]
        scores *= 10 / _ORDERS
        scores[(words.lengths[cells.row] == 0) & (words.lengths[cells.column] == 0)] = 10
        return cells.split(scores)

    def _squared_weights(self, counts: np.ndarray) -> np.ndarray:
        # math.log for each distinct count: NumPy's may round differently at different places of an array.
        distinct, inverse = np.unique(counts, return_inverse=True)
        weights = [_cut(math.log(self._df.documents / max(1, count)) ** 2) for count in distinct.tolist()]
        squared: np.ndarray = np.array(weights, np.complex128)[inverse]
        return squared


def _cosines(runs: Runs, weight: np.ndarray, cells: Cells) -> np.ndarray:
    """Of weight vectors at every cell, the row's weights cut down to the column's; 0 for a zero vector.

    weight: the squared weight of each distinct n-gram, cut in two parts.
    """
    ngrams = Frequencies.of(runs)
    weighted = ngrams.times * weight[ngrams.number]
    squares = [np.bincount(ngrams.text, ngrams.times * part, len(cells.texts)) for part in _parts(weighted)]
    squared = squares[0] + squares[1]
    coarse, fine = _parts(clipped_sums(cells, ngrams, weighted))
    lengths = np.sqrt(squared[cells.row] * squared[cells.column])
    cosines = np.zeros(len(lengths))
    np.divide(coarse + fine, lengths, out=cosines, where=lengths > 0)
    return np.minimum(cosines, 1)


def _parts(cut: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    return cut.real, cut.imag


def _cut(weight: float) -> complex:
    coarse = round(weight * _COARSE) / _COARSE
    return complex(coarse, round((weight - coarse) * _FINE) / _FINE)


def _prepare(df: Any, sigma: Any, tokenize: Any) -> CiderScorer:
    if df is None:
        raise InputError(
            "cider needs document frequencies: give df= a DocumentFrequencies table, or a file of one, "
            "counted over all references"
        )
    if isinstance(df, (str, os.PathLike)):
        df = DocumentFrequencies.read(df)
    if not isinstance(df, DocumentFrequencies):
        raise InputError(f"df must be a DocumentFrequencies table or a file of one, not {type(df).__name__}")
    if df.order < _ORDERS:
        raise InputError(f"cider counts n-grams of up to {_ORDERS} tokens, but df stops at {df.order}")
    sigma = check_number("sigma", sigma, _NARROWEST, 1 / _NARROWEST, what=_WIDTH)
    if tokenize is not None and not callable(tokenize):
        raise InputError(f"tokenize must be a function from a text to its tokens, not {shown(tokenize)}")
    return CiderScorer(df, sigma, tokenize or caption_tokens)


def _with_frequencies(groups: Sequence[Sequence[str]], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Document frequencies from all references, unless the caller has some. No references are no document."""
    if "df" in options:
        return options
    filled = [group for group in groups if group] or [()]
    # Counted in the words that are scored.
    tokenize = options.get("tokenize")
    counted_by = tokenize if callable(tokenize) else caption_tokens
    return {**options, "df": DocumentFrequencies.from_references(filled, tokenize=counted_by)}


METRIC = Similarity(
    name="cider",
    title="CIDEr-D",
    prepare=_prepare,
    outputs=(Output("value", "the score of two texts", (0.0, 10.0)),),
    over_references="mean",
    corpus_options=_with_frequencies,
    defaults={"df": None, "sigma": 6.0, "tokenize": None},
    order=25,
    citation="Vedantam et al. 2015, CIDEr: Consensus-based Image Description Evaluation, CVPR",
)
