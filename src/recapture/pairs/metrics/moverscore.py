"""MoverScore: how cheaply the pieces of a candidate can be moved onto those of its reference.

Zhao, Peyrard, Liu, Gao, Meyer and Eger (2019), MoverScore: Text Generation Evaluating with Contextualized Embeddings
and Earth Mover Distance. A piece's vectors in the last layers are joined by their power means with p = 1, +inf and -inf
(mean, largest and least value of every coordinate). The vector of an n-gram is the idf-weighted mean of those of its
pieces, scaled to length 1; its weight is the sum of their idf. The score is 1 less the cost of moving the one text's
weights onto the other's, at Euclidean distance: 1 for equal texts, never below -1.

Where this is not what the authors' program does:

- It draws idf from the references and from the candidates, one table each, so that equal texts need not score 1 and
  a score depends on the other candidates. Here one table, from the references, serves both sides.
- Its cost is the squared distance. The paper's is the distance.
- It scales every layer's vectors to length 1 before the power means. The paper does not say so.
- It leaves out punctuation and, of each word, all pieces but the first, and keeps the special tokens. Here all pieces
  of a text count and no special token does.
- It cuts long texts off; here they go through the model in overlapping windows.
- It adds small numbers to what it divides by; here a text whose weights are all 0 has equal ones, and so have both
  texts where idf is 0 for every piece of the references, as with a single one.
- Here an empty text scores as if every piece had its opposite, -1, and two empty ones score 1.
- Its model is BERT fine-tuned on MNLI; here any encoder will do, and scores of different encoders cannot be compared.
"""

from __future__ import annotations

import math
import threading
from collections.abc import Hashable, Mapping, Sequence, Set
from itertools import accumulate
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import numpy as np

from ...checks import is_whole
from ...errors import InputError, shown
from ...geometry.parallel import engine_options, one_blas_thread
from ...geometry.transport import Problem, transport_costs
from ...similarity.scorer import Rule
from ..declaration import Output, PairMetric, TextPairScorer
from ..evaluate import Answer, Candidates, ModelName, References, Shared, pair_function, run_metric
from ..gram_distances import gram_distances
from ..idf import Idf, about_texts, by_pieces, idf_caption

if TYPE_CHECKING:
    from ...representations.words import DeviceWords

# Pairs and pieces of one tile: enough that its own work costs little, few enough that its vectors stay near the core
# (14 MB of them at width 384).
_PAIRS = 16
_PIECES = 3072
# By bytes of a number: squared distances below this are taken from differences.
_CLOSE = {4: 1e-3, 8: 1e-6}
_NO_ROOM = np.empty(0)


@pair_function
def moverscore(
    references: References,
    candidates: Candidates,
    ngram: Literal[1, 2] = 1,
    encoder: ModelName | None = None,
    layers: int = 5,
    idf: bool = True,
    *,
    over_references: Rule | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
) -> Answer:
    """MoverScore of every candidate against its own references, and the mean; 1 for equal texts, higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the nearest counts.
    {candidates}
    ngram : {1, 2}
        How many pieces are moved as one.
    {encoder}
    layers : int
        How many of the encoder's last layers are read.
    idf : bool
        Whether pieces that few references have weigh more.
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the nearest (default) or the mean.
    {loading}

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.value` is the mean over candidates, `.scores`
        has one entry per candidate.

    Examples
    --------
    >>> import recapture as rc
    >>> texts = ["It rained all day.", "The sun shone."]
    >>> rc.moverscore(texts, texts).value
    1.0
    """
    parameters = {"ngram": ngram, "layers": layers, "idf": idf}
    options = {"encoder": encoder, "device": device, "batch_tokens": batch_tokens, "offline": offline}
    return run_metric(METRIC, references, candidates, parameters, over_references, **options)


class PieceTable(NamedTuple):
    """One text: its pieces' vectors in the layers read, (layers, pieces, width), and their weights, not all 0."""

    vectors: np.ndarray
    weights: np.ndarray


class MoverScorer(TextPairScorer):
    """1 less the transport cost of pairs of texts."""

    symmetric = True  # one table of weights serves both sides, and the way back costs the same

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
        filled = [at for at, (reference, candidate) in enumerate(pairs) if lengths[reference] and lengths[candidate]]
        costs = np.full(len(pairs), np.nan)
        costs[filled] = 0.0  # stays so for equal texts
        asked = [at for at in filled if pairs[at][0] != pairs[at][1]]
        places = {text: place for place, text in enumerate(dict.fromkeys(t for at in asked for t in pairs[at]))}
        compared = [(places[pairs[at][0]], places[pairs[at][1]]) for at in asked]
        weights = [self._idf.shares(pieces[text].own) for text in places]
        if not asked:
            return {"value": 1 - costs}
        found = self._store.compared_there(
            lambda: mover_costs_on(self._store.table(list(places), self._layers), weights, compared, self._ngram)
        )
        if found is None:
            vectors = (self._store.stacked(text, self._layers) for text in places)
            tables = [PieceTable(*table) for table in zip(vectors, weights, strict=True)]
            found = mover_costs(tables, compared, self._ngram)
        costs[asked] = found
        return {"value": 1 - costs}

    def looks(self, texts: Sequence[str]) -> list[Hashable]:
        return by_pieces(self._store, texts)

    def hold(self, texts: Sequence[str]) -> None:
        self._store.hold(texts)

    def release(self, texts: Sequence[str]) -> None:
        self._store.release(texts)

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        return [*self._idf.warnings(), *about_texts(self._store, texts)]


def mover_costs(texts: Sequence[PieceTable], pairs: Sequence[tuple[int, int]], ngram: int) -> np.ndarray:
    """The transport cost of each pair of texts, given by their places.

    Threads wait for each other at every call, so as much as possible is done in one call for a whole tile.
    """
    kind = np.result_type(np.float32, *(text.vectors.dtype for text in texts))
    local = threading.local()  # one buffer per thread: getting new memory takes longer than filling it

    def problems(tile: slice) -> list[Problem]:
        own = list(dict.fromkeys(place for pair in pairs[tile] for place in pair))
        shares = [gram_weights(texts[place].weights, ngram) for place in own]
        stops = list(accumulate(len(share.sums) for share in shares))
        rows = {
            place: slice(stop - len(share.sums), stop) for place, stop, share in zip(own, stops, shares, strict=True)
        }
        points = _room(local, (3, stops[-1], texts[own[0]].vectors.shape[2]), kind)
        for place, share in zip(own, shares, strict=True):
            gram_vectors(texts[place], ngram, share.kept, points[:, rows[place]])
        weights = dict(zip(own, (share.sums for share in shares), strict=True))
        sides = [(rows[first], rows[second]) for first, second in pairs[tile]]
        costs = _distances(points, _scales(points), sides)
        return [
            Problem(table, weights[first], weights[second])
            for table, (first, second) in zip(costs, pairs[tile], strict=True)
        ]

    with one_blas_thread:  # a product must not depend on how many others there are
        return transport_costs(problems, _tiles(texts, pairs), metric=True)


def mover_costs_on(
    words: DeviceWords, weights: Sequence[np.ndarray], pairs: Sequence[tuple[int, int]], ngram: int
) -> np.ndarray:
    """The same for texts on a device: distances are made there, weights are moved by the threads."""
    shares = [gram_weights(own, ngram) for own in weights]
    tables = gram_distances(words, weights, [share.kept for share in shares], np.array(pairs), ngram)
    problems = [
        Problem(table, shares[first].sums, shares[second].sums)
        for table, (first, second) in zip(tables, pairs, strict=True)
    ]
    return transport_costs(lambda tile: problems[tile], len(problems), metric=True)


def power_means(vectors: np.ndarray, out: np.ndarray | None = None) -> np.ndarray:
    """(layers, pieces, width) -> (3, pieces, width): the power means over layers with p = 1, +inf and -inf."""
    layers, pieces, width = vectors.shape
    means = np.empty((3, pieces, width), vectors.dtype) if out is None else out
    flat = vectors.reshape(layers, -1)  # long rows: the reductions run at the speed of memory
    for reduction, part in zip((np.add, np.maximum, np.minimum), means, strict=True):
        reduction.reduce(flat, axis=0, out=part.reshape(-1))
    means[0] *= 1 / layers
    return means


class GramWeights(NamedTuple):
    """The weights of a text's n-grams that have one, and which of all n-grams they are (None: all)."""

    sums: np.ndarray
    kept: np.ndarray | None


def gram_weights(weights: np.ndarray, n: int) -> GramWeights:
    """From the weights of pieces, not all 0; one n-gram of all pieces where they are fewer."""
    n = min(n, len(weights))
    sums = weights if n == 1 else np.sum([weights[window] for window in _windows(len(weights), n)], axis=0)
    if sums.all():
        return GramWeights(sums, None)
    kept = np.flatnonzero(sums)
    return GramWeights(sums[kept], kept)


def gram_vectors(text: PieceTable, n: int, kept: np.ndarray | None, out: np.ndarray) -> None:
    """The vectors of a text's n-grams, of any length, into (3, n-grams kept, width)."""
    vectors, weights = text
    n = min(n, len(weights))
    if n == 1:
        power_means(vectors if kept is None else vectors[:, kept], out)
        return
    means = power_means(vectors.astype(out.dtype, copy=False))
    # A sum, not a mean: vectors are scaled to length 1 later.
    windows = _windows(len(weights), n)
    joined = np.sum([weights[window, None].astype(out.dtype) * means[:, window] for window in windows], axis=0)
    out[:] = joined if kept is None else joined[:, kept]


def _windows(pieces: int, n: int) -> list[slice]:
    return [slice(place, place + pieces - n + 1) for place in range(n)]


def _scales(points: np.ndarray) -> np.ndarray:
    """What makes each of (3, points, width) a vector of length 1; 0 for one of zeros."""
    lengths = np.sqrt(np.einsum("pij,pij->i", points, points), dtype=np.float64)
    scales: np.ndarray = np.divide(1, lengths, where=lengths > 0, out=np.zeros_like(lengths))
    return scales


def _distances(points: np.ndarray, scales: np.ndarray, sides: Sequence[tuple[slice, slice]]) -> list[np.ndarray]:
    """For each pair the Euclidean distances of its sides' points, scaled to length 1; zeros stay zeros."""
    shapes = [(first.stop - first.start, second.stop - second.start) for first, second in sides]
    stops = [0, *accumulate(rows * columns for rows, columns in shapes)]
    products = np.empty((3, stops[-1]), points.dtype)
    cosines = np.empty(stops[-1])
    for (first, second), shape, start, stop in zip(sides, shapes, stops[:-1], stops[1:], strict=True):
        room = products[:, start:stop].reshape(3, *shape)
        np.matmul(points[:, first], points[:, second].transpose(0, 2, 1), out=room)
        np.multiply.outer(scales[first], -2 * scales[second], out=cosines[start:stop].reshape(shape))
    squares = products.sum(axis=0, dtype=np.float64)
    squares *= cosines
    squares += 2
    tables = [
        squares[start:stop].reshape(shape) for start, stop, shape in zip(stops[:-1], stops[1:], shapes, strict=True)
    ]
    if not scales.all():
        for (first, second), table in zip(sides, tables, strict=True):
            table -= (scales[first] == 0)[:, None]
            table -= scales[second] == 0
    close = np.flatnonzero(squares < _CLOSE[points.itemsize])
    for number in np.unique(np.searchsorted(stops, close, "right") - 1).tolist():
        _from_differences(tables[number], *((points[:, side], scales[side]) for side in sides[number]))
    np.sqrt(squares, out=squares)
    return tables


def _from_differences(
    squares: np.ndarray, first: tuple[np.ndarray, np.ndarray], second: tuple[np.ndarray, np.ndarray]
) -> None:
    """Compute small squared distances from differences: computed from products they lose half their digits."""
    (points, scales), (others, other_scales) = first, second
    close = squares < _CLOSE[points.itemsize]
    for row in np.flatnonzero(close.any(axis=1)).tolist():
        columns = np.flatnonzero(close[row])
        point = np.float64(points[:, row]) * scales[row]
        differences = others[:, columns] * other_scales[columns, None] - point[:, None]
        squares[row, columns] = np.einsum("pij,pij->i", differences, differences)


def _room(local: threading.local, shape: tuple[int, ...], kind: np.dtype[Any]) -> np.ndarray:
    """This thread's buffer, made larger where it must be."""
    size = math.prod(shape)
    if getattr(local, "buffer", _NO_ROOM).size < size:
        local.buffer = np.empty(size, kind)
    room: np.ndarray = local.buffer[:size].reshape(shape)
    return room


def _tiles(texts: Sequence[PieceTable], pairs: Sequence[tuple[int, int]]) -> list[slice]:
    """Runs of pairs: as many pairs in one as keep the number of pieces within bounds, but at least one."""
    most = max(1, min(_PAIRS, len(pairs) // (4 * engine_options().thread_count())))
    tiles: list[slice] = []
    start, held, seen = 0, 0, set[int]()
    for at, pair in enumerate(pairs):
        new = {place for place in pair if place not in seen}
        pieces = sum(len(texts[place].weights) for place in new)
        if at > start and (at - start >= most or held + pieces > _PIECES):
            tiles.append(slice(start, at))
            start, held, seen = at, 0, set()
            new = set(pair)
            pieces = sum(len(texts[place].weights) for place in new)
        held += pieces
        seen |= new
    return [*tiles, slice(start, len(pairs))] if pairs else []


def _prepare(
    references: Sequence[Sequence[str]], shared: Shared, ngram: Any, layers: Any, idf: Any, encoder: Any
) -> MoverScorer:
    if not is_whole(ngram) or ngram not in (1, 2):
        raise InputError(f"ngram must be 1 or 2, not {shown(ngram)}")
    if not isinstance(idf, bool):
        raise InputError(f"idf must be true or false, not {shown(idf)}")
    return MoverScorer(references, shared, ngram, layers, idf, encoder)


def _caption(signature: Mapping[str, Any]) -> str:
    return f"{signature['ngram']}-grams; {idf_caption(signature)}"


METRIC = PairMetric(
    name="moverscore",
    title="MoverScore",
    outputs=(Output("value", "1 less the cost of moving one text's pieces onto the other's", (-1.0, 1.0)),),
    direction="higher",
    prepare=_prepare,
    defaults={"ngram": 1, "layers": 5, "idf": True, "encoder": None},
    between_texts="value",
    order=40,
    libraries=("numpy", "torch", "transformers", "POT"),
    caption=_caption,
    revision=1,
    citation="Zhao et al. 2019, MoverScore, EMNLP",
)
