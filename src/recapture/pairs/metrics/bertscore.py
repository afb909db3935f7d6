"""BERTScore: each word piece is matched with the most similar one of the other text.

Zhang, Kishore, Wu, Weinberger and Artzi (2020), BERTScore: Evaluating Text Generation with BERT. Pieces are compared by
the cosine of their vectors in one layer of an encoder. Precision is the mean over the candidate's pieces of the best
cosine with a piece of the reference, recall the same with sides exchanged, F1 their harmonic mean. Pieces can be
matched with the tokens that a model puts around a text, but those tokens have no weight themselves.

Numbers are those of the package bert-score 0.3.13, except where its own depend on chance or fail. There, pieces are
matched with padding (cosine 0) if all real cosines are below 0; a text whose idf weights are all 0 scores NaN (here its
pieces count alike, and those of both texts where all weights of the references are 0); rounding may lead beyond 1; two
empty texts score 0 (here 1); and texts longer than the model takes are cut (here they go through it in windows).

For the tokenizers of RoBERTa and GPT-2, bert-score puts a blank before the first word with transformers 4, but not with
transformers 5. Here there is none. Published scores and baselines of such models were made with the blank.
"""

from __future__ import annotations

import math
import os
from collections.abc import Hashable, Mapping, Sequence, Set
from typing import TYPE_CHECKING, Any

import numpy as np

from ...checks import is_whole
from ...errors import InputError, shown
from ...similarity.scorer import Rule
from ..baselines import Baseline, read_baseline
from ..declaration import INFINITY, Output, PairMetric, TextPairScorer
from ..evaluate import Answer, Candidates, ModelName, References, Shared, pair_function, run_metric
from ..greedy import greedy, token_table, token_table_on
from ..idf import Idf, about_texts, by_pieces, idf_caption

if TYPE_CHECKING:
    from ...representations.pieces import Pieces

# Layers that agreed best with people on WMT16, as listed in bert-score 0.3.13 (bert_score/utils.py, model2layers); the
# first was chosen here: see `default_layer`.
_TUNED = {
    "all-minilm-l6-v2": 4,
    "bert-base-uncased": 9,
    "bert-large-uncased": 18,
    "bert-base-multilingual-cased": 9,
    "bert-base-chinese": 8,
    "roberta-base": 10,
    "roberta-large": 17,
    "roberta-large-mnli": 19,
    "distilroberta-base": 5,
    "distilbert-base-uncased": 5,
    "distilbert-base-multilingual-cased": 5,
    "albert-base-v2": 9,
    "xlm-roberta-base": 9,
    "xlm-roberta-large": 17,
    "deberta-base": 9,
    "deberta-large-mnli": 18,
    "deberta-xlarge-mnli": 40,
    "deberta-v3-base": 9,
    "mpnet-base": 8,
    "scibert_scivocab_uncased": 8,
}


@pair_function
def bertscore(
    references: References,
    candidates: Candidates,
    encoder: ModelName | None = None,
    layer: int | None = None,
    idf: bool = False,
    rescale: str | os.PathLike[str] | None = None,
    *,
    over_references: Rule | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
) -> Answer:
    """BERTScore of every candidate against its own references, and the mean; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the best counts, for each number by itself.
    {candidates}
    encoder : str or path, optional
        A model by name or folder (default: all-MiniLM-L6-v2).
    layer : int, optional
        0 (embeddings) to the model's last layer. By default one that does well for a known model, else the one three
        quarters of the way up.
    idf : bool
        Whether pieces that few references have weigh more.
    rescale : path, optional
        A file of baselines as bert-score has them (LAYER,P,R,F). A score equal to its baseline becomes 0, and 1 stays
        1.
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the best (default) or the mean.
    {loading}

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.f1`, `.precision` and `.recall` are means,
        `.f1_scores` and so on the scores of single texts.

    Examples
    --------
    >>> import recapture as rc
    >>> result = rc.bertscore(["It rained all day."], ["It rained all day."])
    >>> round(result.f1, 4), round(result.precision, 4), round(result.recall, 4)
    (1.0, 1.0, 1.0)
    """
    parameters = {"layer": layer, "idf": idf, "rescale": rescale}
    options = {"encoder": encoder, "device": device, "batch_tokens": batch_tokens, "offline": offline}
    return run_metric(METRIC, references, candidates, parameters, over_references, **options)


def default_layer(name: str, count: int) -> int:
    """The layer for an encoder of `count` layers: one known to do well, or three quarters up, near which they lie.

    all-MiniLM-L6-v2, F1 on 1,050 segments of WMT17 to English (the first 150 of each of 7 language pairs), mean Pearson
    correlation with human judgements: layers 0 to 6 .563 .580 .610 .641 .655 .617 .636.
    """
    tuned = _TUNED.get(name.replace("\\", "/").rstrip("/").rsplit("/", 1)[-1].lower(), count + 1)
    return tuned if tuned <= count else math.ceil(0.75 * count)


class BERTScorer(TextPairScorer):
    """Precision, recall and F1 of pairs of texts."""

    symmetric = True  # one table of weights serves both sides, so precision and recall change places

    def __init__(
        self,
        references: Sequence[Sequence[str]],
        shared: Shared,
        encoder: Any,
        layer: int | None,
        idf: bool,
        rescale: Any,
    ) -> None:
        self._store = shared.words(encoder)
        self._layer = default_layer(self._store.name, self._store.layer_count) if layer is None else layer
        self._store.want([self._layer])
        self._baseline: Baseline | None = None if rescale is None else read_baseline(rescale, self._layer)
        self._idf = Idf.none()
        if idf:
            flat = [text for group in references for text in group]
            self._idf = Idf(piece.own for piece in self._store.pieces(flat))
        self.settings = {
            "encoder": self._store.identity(),
            "layer": self._layer,
            "idf": "references" if idf else "none",
            "rescale": self._baseline.identity() if self._baseline else "none",
        }
        if self._baseline:
            self.empty = {name: float(self._baseline.rescaled(name, np.zeros(1))[0]) for name in METRIC.empty}

    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        texts = list(dict.fromkeys(text for pair in pairs for text in pair))
        self._store.ensure(texts)
        weights = [self._weights(piece) for piece in self._store.pieces(texts)]
        number = {text: at for at, text in enumerate(texts)}
        sides = np.array([(number[reference], number[candidate]) for reference, candidate in pairs])
        means = self._store.compared_there(
            lambda: greedy(token_table_on(self._store.table(texts, [self._layer]), weights), sides)
        )
        words = [self._store[text] for text in texts]
        if means is None:
            place = self._store.layers.index(self._layer)
            table = token_table([(text.vectors[place], own) for text, own in zip(words, weights, strict=True)])
            means = greedy(table, sides)
        recall, precision = means
        bare = np.array([len(text.ids) == text.before + text.behind for text in words])[sides].any(axis=1)
        recall[bare] = precision[bare] = math.nan
        total = precision + recall
        f1 = 2 * precision * recall / np.where(total == 0, 1, total)
        # Numbers of opposite sign have no harmonic mean: the formula may then give a number of any size.
        scores = {"f1": np.clip(f1, -1, 1), "precision": precision, "recall": recall}
        if self._baseline:
            scores = {name: self._baseline.rescaled(name, column) for name, column in scores.items()}
        return scores

    def looks(self, texts: Sequence[str]) -> list[Hashable]:
        return by_pieces(self._store, texts)

    def hold(self, texts: Sequence[str]) -> None:
        self._store.hold(texts)

    def release(self, texts: Sequence[str]) -> None:
        self._store.release(texts)

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        return [*self._idf.warnings(), *about_texts(self._store, texts)]

    def _weights(self, piece: Pieces) -> np.ndarray:
        """Shares of a text's tokens, 0 for those the model puts around it."""
        own = self._idf.raw(piece.own)
        around = {*piece.before, *piece.behind}
        if not around.isdisjoint(piece.own):
            # If a text contains the name of such a token, that has no weight either.
            own = np.where(np.isin(piece.own, list(around)), 0, own)
        if not own.any():
            own = np.ones(len(own))
        weights = np.zeros(len(piece.before) + len(own) + len(piece.behind))
        weights[len(piece.before) : len(piece.before) + len(own)] = own
        return weights / (weights.sum() or 1)


def _outputs(parameters: Mapping[str, Any]) -> tuple[Output, ...]:
    low = -1.0 if parameters["rescale"] is None else -INFINITY
    meanings = {
        "f1": "harmonic mean of precision and recall",
        "precision": "mean best cosine of the candidate's pieces",
        "recall": "mean best cosine of the reference's pieces",
    }
    return tuple(Output(name, meaning, (low, 1.0)) for name, meaning in meanings.items())


def _prepare(
    references: Sequence[Sequence[str]], shared: Shared, encoder: Any, layer: Any, idf: Any, rescale: Any
) -> BERTScorer:
    if layer is not None and not is_whole(layer):
        raise InputError(f"layer must be a whole number, not {shown(layer)}")
    if not isinstance(idf, bool):
        raise InputError(f"idf must be true or false, not {shown(idf)}")
    return BERTScorer(references, shared, encoder, layer, idf, rescale)


def _caption(signature: Mapping[str, Any]) -> str:
    return f"layer {signature['layer']}; {idf_caption(signature)}"


METRIC = PairMetric(
    name="bertscore",
    title="BERTScore",
    outputs=_outputs,
    direction="higher",
    prepare=_prepare,
    defaults={"encoder": None, "layer": None, "idf": False, "rescale": None},
    empty={"f1": 0.0, "precision": 0.0, "recall": 0.0},
    between_texts="f1",
    order=30,
    libraries=("numpy", "torch", "transformers"),
    caption=_caption,
    citation="Zhang, Kishore, Wu, Weinberger and Artzi 2020, BERTScore, ICLR",
)
