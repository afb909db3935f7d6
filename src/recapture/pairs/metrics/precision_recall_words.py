"""Improved precision and recall of two texts: shares of word-piece vectors inside the other text's spheres.

Kynkäänniemi, Karras, Laine, Lehtinen and Aila (2019), Improved Precision and Recall Metric for Assessing Generative
Models. Samples are those of `mark_evaluate_words`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...checks import MOST_OF_ANYTHING, check_count
from ...sets.metrics.precision_recall import METRIC as OF_SETS
from ...similarity.scorer import Rule
from ..declaration import Output, PairMetric
from ..evaluate import Answer, Candidates, ModelName, References, Shared, pair_function, run_metric
from ..word_sets import LIBRARIES, WordSetScorer


@pair_function
def precision_recall_words(
    references: References,
    candidates: Candidates,
    k: int = 3,
    layers: int = 5,
    *,
    encoder: ModelName | None = None,
    over_references: Rule | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
) -> Answer:
    """Precision and recall of every candidate's words against those of its references, and means; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, whose mean counts.
    {candidates}
    k : int
        How many neighbours a sphere reaches. The default is the paper's and that of `precision_recall`; k=1 looks at
        the spheres of `mark_evaluate_words`, and takes no more time if both are in one run.
    layers : int
        How many of the encoder's last layers are read.
    {encoder}
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the mean (default) or the best.
    {loading}

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.precision` and `.recall` are means,
        `.precision_scores` and `.recall_scores` the scores of single texts.

    Notes
    -----
    A text with k samples or fewer (pieces x layers) has no k neighbours: its pairs are scored at the largest k that it
    has, and a warning says how many there are. A single sample has no neighbour at all and meets only its equal.

    See Also
    --------
    precision_recall : the same for two sets of texts

    Examples
    --------
    >>> import recapture as rc
    >>> result = rc.precision_recall_words(["It rained all day."], ["It rained all day."])
    >>> result.precision, result.recall
    (1.0, 1.0)
    """
    options = {"encoder": encoder, "device": device, "batch_tokens": batch_tokens, "offline": offline}
    return run_metric(METRIC, references, candidates, {"k": k, "layers": layers}, over_references, **options)


class PrecisionRecallScorer(WordSetScorer):
    def __init__(self, shared: Shared, k: int, layers: Any, encoder: Any) -> None:
        super().__init__(shared, encoder, layers, k=k)
        self._k = k

    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        counts = self.counts(pairs, self._k)

        def share(inside: np.ndarray, size: np.ndarray) -> np.ndarray:
            nothing = np.full(len(inside), np.nan)
            shares: np.ndarray = np.divide(inside, size, out=nothing, where=counts.k > 0)
            return shares

        scores = {"precision": share(counts.x, counts.m), "recall": share(counts.y, counts.n)}
        self.without_spheres(pairs, counts, scores)
        return scores


def _prepare(
    references: Sequence[Sequence[str]], shared: Shared, k: Any, layers: Any, encoder: Any
) -> PrecisionRecallScorer:
    return PrecisionRecallScorer(shared, check_count("k", k, 1, MOST_OF_ANYTHING), layers, encoder)


METRIC = PairMetric(
    name="pr-words",
    title="Improved precision and recall of words",
    outputs=(
        Output("precision", "share of the candidate's samples inside a sphere of the reference's"),
        Output("recall", "share of the reference's samples inside a sphere of the candidate's"),
    ),
    direction="higher",
    prepare=_prepare,
    defaults={"k": OF_SETS.defaults["k"], "layers": 5, "encoder": None},
    over_references="mean",
    order=50,
    libraries=LIBRARIES,
    revision=1,
    citation=OF_SETS.citation,
)
