"""MoverScore: how cheaply the pieces of a candidate can be moved onto those of its reference.

Zhao, Peyrard, Liu, Gao, Meyer and Eger (2019), MoverScore: Text Generation Evaluating with Contextualized Embeddings
and Earth Mover Distance. A piece's vectors in the last layers are joined by their power means with p = 1, +inf and -inf
(mean, largest and least value of every coordinate). The vector of an n-gram is the idf-weighted mean of those of its
pieces, scaled to length 1; its weight is the sum of their idf. The score is 1 less the cost of moving the one text's
weights onto the other's, at Euclidean distance: 1 for equal texts, never below -1.

Where this is not what the authors' program does:

- It draws idf from the references and from the candidates, one table each, so that equal texts need not score 1 and
  a score hangs on the other candidates. Here one table, from the references, serves both sides.
- Its cost is the squared distance. The paper's is the distance.
- It scales every layer's vectors to length 1 before the power means. The paper does not say so.
- It leaves out punctuation and, of each word, all pieces but the first, and keeps the special tokens. Here all pieces
  of a text count and no special token does.
- It cuts long texts off; here they go through the model in overlapping windows.
- It adds small numbers to what it divides by; here a text whose weights are all 0 has equal ones.
- Its model is BERT fine-tuned on MNLI; here any encoder will do, and scores of different encoders cannot be compared.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..geometry.parallel import blocks, one_blas_thread, run_tiles
from ..geometry.transport import Problem, transport_costs
from .base import Output, PairMetric, TextPairScorer
from .run import run_metric
from .shared import Shared
from .words import Idf, about_windows

# Pieces of texts whose n-gram vectors are held at once: 75 MB of them at width 384.
_PIECES = 8192
_TEXTS = 8
# Squared distances below this are taken from differences: from products they would have lost half their digits.
_CLOSE = 1e-6


def moverscore(
    references: Any,
    candidates: Any,
    ngram: int = 1,
    encoder: Any = None,
    layers: int = 5,
    idf: bool = True,
    *,
    over_references: str | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
) -> Any:
    """MoverScore of every candidate against its own references, and the mean; higher is better, 1 for equal texts.

    references: one entry per candidate, a text or a list of texts, of which the nearest counts (over_references="mean":
    their mean). candidates: a list of texts, or several by name. ngram: 1 or 2 pieces are moved as one. encoder: a
    transformer by name or folder (default: the one that ships). layers: how many of its last ones are read. idf: weigh
    pieces by how few references have them.
    """
    parameters = {"ngram": ngram, "layers": layers, "idf": idf}
    options = {"encoder": encoder, "device": device, "batch_tokens": batch_tokens, "offline": offline}
    return run_metric(PAIR, references, candidates, parameters, over_references, **options)


class Grams(NamedTuple):
    """The n-grams of one text that have a weight."""

    vectors: np.ndarray
    """(n-grams, width) float64. They are scaled to length 1 in their products, of which there are fewer numbers."""
    lengths: np.ndarray
    weights: np.ndarray


class MoverScorer(TextPairScorer):
    def __init__(
        self, references: Sequence[Sequence[str]], shared: Shared, ngram: int, layers: int, idf: bool, encoder: Any
    ) -> None:
        self._store = shared.words(encoder)
        self._layers = self._store.want_last(layers)
        self._ngram = ngram
        self._idf = Idf.none()
        if idf:
            flat = [text for group in references for text in group if text.strip()]
            self._idf = Idf(piece.own for piece in self._store.pieces(flat))
        self.settings = {
            "ngram": ngram,
            "layers": self._layers,
            "power_means": [1, "inf", "-inf"],
            "idf": "references" if idf else "none",
            "encoder": self._store.identity(),
        }

    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        self._store.ensure(texts)
        pieces = dict(zip(texts, self._store.pieces(texts), strict=True))
        lengths = {text: len(piece.own) for text, piece in pieces.items()}
        filled = [at for at, (one, other) in enumerate(pairs) if lengths[one] and lengths[other]]
        costs = np.full(len(pairs), np.nan)
        costs[filled] = 0.0  # which it is for equal texts
        asked = [at for at in filled if pairs[at][0] != pairs[at][1]]
        for group in _groups(asked, pairs, lengths):
            some = list(dict.fromkeys(text for at in group for text in pairs[at]))
            shares = [self._idf.shares(pieces[text].own) for text in some]
            stacked = [self._store.stacked(text, self._layers) for text in some]
            with one_blas_thread:  # a product must not hang on how many others there are
                known = dict(zip(some, all_grams(stacked, shares, self._ngram), strict=True))
                costs[group] = mover_costs([(known[pairs[at][0]], known[pairs[at][1]]) for at in group])
        return {"value": 1 - costs}

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        long = self._store.windowed & texts
        return [*self._idf.warnings(), *(about_windows(long, self._store.room) if long else [])]


def all_grams(texts: Sequence[np.ndarray], weights: Sequence[np.ndarray], n: int) -> list[Grams]:
    """The n-grams of texts from their pieces' vectors, each (layers, pieces, width), and weights."""
    made: list[Grams] = [_NOTHING] * len(texts)

    def work(tile: slice) -> None:
        for at in range(tile.start, tile.stop):
            made[at] = grams(power_means(texts[at]), weights[at], n)

    run_tiles(work, blocks(len(texts), _TEXTS), "power means")
    return made


def power_means(vectors: np.ndarray) -> np.ndarray:
    """(layers, pieces, width) -> (pieces, 3 width) float64: the power means over layers with p = 1, +inf and -inf."""
    return np.concatenate([vectors.mean(axis=0, dtype=np.float64), vectors.max(axis=0), vectors.min(axis=0)], axis=1)


def grams(vectors: np.ndarray, weights: np.ndarray, n: int) -> Grams:
    """The n-grams of a text from its pieces' vectors and weights, not all 0; one of all pieces where they are fewer."""
    n = min(n, len(weights))
    count = len(weights) - n + 1
    sums, joined = weights, vectors
    if n > 1:  # a mean but for its length, which is made 1 anyway
        windows = [slice(place, place + count) for place in range(n)]
        sums = np.sum([weights[window] for window in windows], axis=0)
        joined = np.sum([weights[window, None] * vectors[window] for window in windows], axis=0)
    kept = np.flatnonzero(sums)
    if len(kept) < count:
        joined, sums = joined[kept], sums[kept]
    return Grams(joined, np.sqrt(np.einsum("ij,ij->i", joined, joined)), sums)


def mover_costs(sides: Sequence[tuple[Grams, Grams]]) -> np.ndarray:
    """The transport cost of each pair of texts; tables of distances are made when their turn comes."""

    def problem(number: int) -> Problem:
        reference, candidate = sides[number]
        return Problem(_distances(reference, candidate), reference.weights, candidate.weights)

    return transport_costs(problem, len(sides), metric=True)


def _distances(a: Grams, b: Grams) -> np.ndarray:
    """Euclidean distances of the vectors scaled to length 1; a vector of zeros stays where it is."""
    scale_a, scale_b = (1 / np.where(side.lengths > 0, side.lengths, 1) for side in (a, b))
    squares = a.vectors @ b.vectors.T
    squares *= -2 * scale_a[:, None]
    squares *= scale_b
    squares += (a.lengths > 0)[:, None]
    squares += b.lengths > 0
    close = squares < _CLOSE
    for row in np.flatnonzero(close.any(axis=1)).tolist():
        columns = np.flatnonzero(close[row])
        differences = b.vectors[columns] * scale_b[columns, None] - a.vectors[row] * scale_a[row]
        squares[row, columns] = np.einsum("ij,ij->i", differences, differences)
    made: np.ndarray = np.sqrt(squares, out=squares)
    return made


def _groups(asked: Sequence[int], pairs: Sequence[tuple[str, str]], lengths: Mapping[str, int]) -> Iterator[list[int]]:
    """Pairs in turn, as many as keep the vectors of their texts within bounds, but at least one."""
    group: list[int] = []
    texts: set[str] = set()
    for at in asked:
        joined = texts | set(pairs[at])
        if group and sum(map(lengths.__getitem__, joined)) > _PIECES:
            yield group
            group, joined = [], set(pairs[at])
        group.append(at)
        texts = joined
    if group:
        yield group


def _prepare(
    references: Sequence[Sequence[str]], shared: Shared, ngram: Any, layers: Any, idf: Any, encoder: Any
) -> MoverScorer:
    if isinstance(ngram, bool) or ngram not in (1, 2):
        raise InputError(f"ngram must be 1 or 2, not {ngram!r}")
    if not isinstance(idf, bool):
        raise InputError(f"idf must be true or false, not {idf!r}")
    return MoverScorer(references, shared, int(ngram), layers, idf, encoder)


_NOTHING = Grams(np.empty((0, 0)), np.empty(0), np.empty(0))

PAIR = PairMetric(
    name="moverscore",
    title="MoverScore",
    outputs=(Output("value", "1 less the cost of moving one text's pieces onto the other's", (-1.0, 1.0)),),
    direction="higher",
    prepare=_prepare,
    defaults={"ngram": 1, "layers": 5, "idf": True, "encoder": None},
    order=40,
    libraries=("numpy", "torch", "transformers", "POT"),
    citation="Zhao et al. 2019, MoverScore, EMNLP",
)
