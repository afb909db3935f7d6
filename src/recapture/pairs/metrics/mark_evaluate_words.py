"""Mark-Evaluate of two texts: each is a population of word-piece vectors.

Mordido and Meinel (2020), Mark-Evaluate: Assessing Language Generation using Population Estimation Methods, Section 6.
A text's samples are the vectors of its pieces in each of the last five layers of an encoder. `metrics.mark_evaluate`
has the formulas.

Texts that share nothing need not score 0. At k = 1 Petersen, quality and diversity do, and CAPTURE is .75 for long
texts and up to .9 for the shortest; at k = 2 quality and diversity are .5, CAPTURE .94 to 1. So scores at different k
cannot be compared, and those of CAPTURE move in a narrow band.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...checks import check_count
from ...population import mark_evaluate_scores
from ...sets.metrics.mark_evaluate import METRIC as OF_SETS
from ...similarity.scorer import Rule
from ..declaration import Output, PairMetric
from ..evaluate import Shared, pair_function, run_metric
from ..word_sets import LIBRARIES, WordSetScorer


@pair_function
def mark_evaluate_words(
    references: Any,
    candidates: Any,
    k: int = 1,
    layers: int = 5,
    *,
    encoder: Any = None,
    over_references: Rule | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
) -> Any:
    """Mark-Evaluate of every candidate against its own references, and the mean; in [0, 1], higher is better.

    references: one entry per candidate, a text or a list of texts, of which the mean counts (over_references="best":
    the best). candidates: a list of texts, or several by name. k: how many neighbours a sphere reaches; scores at
    different k cannot be compared, since even texts that share nothing score more at a larger k. layers: how many of
    the encoder's last ones are read. encoder: a transformer by name or folder (default: the one that ships).

    `.capture` (the best to compare systems by), `.petersen` (better for single texts), `.quality` and `.diversity` are
    means, `.capture_scores` and so on the scores of single texts. A text with k samples or fewer (pieces x layers)
    cannot be compared and scores worst.
    """
    options = {"encoder": encoder, "device": device, "batch_tokens": batch_tokens, "offline": offline}
    return run_metric(METRIC, references, candidates, {"k": k, "layers": layers}, over_references, **options)


class MarkEvaluateScorer(WordSetScorer):
    def __init__(self, shared: Shared, k: int, layers: Any, encoder: Any) -> None:
        super().__init__(shared, encoder, layers, k=k)
        self._k = k

    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        found = self.counts(pairs, self._k)
        return mark_evaluate_scores(found.n, found.m, found.x, found.y, found.a, found.b, self._k)


def _prepare(
    references: Sequence[Sequence[str]], shared: Shared, k: Any, layers: Any, encoder: Any
) -> MarkEvaluateScorer:
    check_count("k", k, 1)
    return MarkEvaluateScorer(shared, int(k), layers, encoder)


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
    citation=OF_SETS.citation,
)
