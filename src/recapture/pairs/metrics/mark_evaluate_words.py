"""Mark-Evaluate of two texts: each is a population of word-piece vectors.

Mordido and Meinel (2020), Mark-Evaluate: Assessing Language Generation using Population Estimation Methods, Section 6.
A text's samples are the vectors of its pieces in each of the last five layers of an encoder. The formulas are in
`sets.metrics.mark_evaluate`.

Texts that share nothing may score above 0. At k = 1 their Petersen, quality and diversity are 0, but CAPTURE is .75 for
long texts and up to .9 for the shortest; at k = 2 quality and diversity are .5, CAPTURE .94 to 1. So scores at
different k cannot be compared, and all scores of CAPTURE are in a narrow range.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...checks import MOST_OF_ANYTHING, check_count
from ...population import mark_evaluate_scores
from ...sets.metrics.mark_evaluate import METRIC as OF_SETS
from ...similarity.scorer import Rule
from ..declaration import Output, PairMetric
from ..evaluate import Answer, Candidates, ModelName, References, Shared, pair_function, run_metric
from ..word_sets import LIBRARIES, WordSetScorer


@pair_function
def mark_evaluate_words(
    references: References,
    candidates: Candidates,
    k: int = 1,
    layers: int = 5,
    *,
    encoder: ModelName | None = None,
    over_references: Rule | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
) -> Answer:
    """Mark-Evaluate of every candidate's words against those of its references, and means, 0 to 1; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, whose mean counts.
    {candidates}
    k : int
        How many neighbours a sphere reaches. Scores at different k cannot be compared, since even texts that share
        nothing score more at a larger k.
    layers : int
        How many of the encoder's last layers are read.
    {encoder}
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the mean (default) or the best.
    {loading}

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.capture` (the best to compare systems by),
        `.petersen` (better for single texts), `.quality` and `.diversity` are means, `.capture_scores` and so on the
        scores of single texts.

    Notes
    -----
    A text with k samples or fewer (pieces x layers) has no k neighbours: its pairs are scored at the largest k that it
    has, and a warning says how many there are. A single sample has no neighbour at all and meets only its equal.

    An empty text scores what two texts score that never meet, and two empty ones 1.

    See Also
    --------
    mark_evaluate : the same for two sets of texts

    Examples
    --------
    >>> import recapture as rc
    >>> result = rc.mark_evaluate_words(["It rained all day."], ["It rained all day."])
    >>> round(result.petersen, 4), round(result.quality, 4), round(result.diversity, 4)
    (1.0, 1.0, 1.0)
    """
    options = {"encoder": encoder, "device": device, "batch_tokens": batch_tokens, "offline": offline}
    return run_metric(METRIC, references, candidates, {"k": k, "layers": layers}, over_references, **options)


class MarkEvaluateScorer(WordSetScorer):
    def __init__(self, shared: Shared, k: int, layers: Any, encoder: Any) -> None:
        super().__init__(shared, encoder, layers, k=k)
        self._k = k

    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        counts = self.counts(pairs, self._k)
        scores = mark_evaluate_scores(counts.n, counts.m, counts.x, counts.y, counts.a, counts.b, counts.k)
        self.without_spheres(pairs, counts, scores)
        return scores

    def apart(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        """The floors, from sizes and k alone; an empty text counts as one of the other's size."""
        sizes = self.sizes(pairs)
        n, m = np.maximum(np.where(sizes > 0, sizes, sizes[:, ::-1]), 2).T
        return mark_evaluate_scores(n, m, 0, 0, 0, 0, np.minimum(self._k, np.minimum(n, m) - 1))


def _prepare(
    references: Sequence[Sequence[str]], shared: Shared, k: Any, layers: Any, encoder: Any
) -> MarkEvaluateScorer:
    return MarkEvaluateScorer(shared, check_count("k", k, 1, MOST_OF_ANYTHING), layers, encoder)


METRIC = PairMetric(
    name="me-words",
    title="Mark-Evaluate of words",
    outputs=(
        Output("capture", "CAPTURE, model M0"),
        Output("petersen", "Petersen: one marking, one recapture"),
        Output("quality", "Schnabel(reference, candidate)"),
        Output("diversity", "Schnabel(candidate, reference)"),
    ),
    direction="higher",
    prepare=_prepare,
    defaults={"k": 1, "layers": 5, "encoder": None},
    over_references="mean",
    order=20,
    libraries=LIBRARIES,
    revision=1,
    citation=OF_SETS.citation,
)
