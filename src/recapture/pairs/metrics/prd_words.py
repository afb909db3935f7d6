"""Precision and recall for distributions of two texts: histograms over clusters of their word-piece vectors.

Sajjadi, Bachem, Lucic, Bousquet and Gelly (2018), Assessing Generative Models via Precision and Recall. Samples are
those of `mark_evaluate_words`; `sets.metrics.prd` has the formulas.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ...checks import MOST_CLUSTERINGS, MOST_OF_ANYTHING, check_count, check_seed
from ...geometry.small_prd import small_histograms
from ...sets.metrics.prd import METRIC as OF_SETS
from ...sets.metrics.prd import MOST_ANGLES, f_scores
from ...similarity.scorer import Rule
from ..declaration import PairMetric
from ..evaluate import Answer, Candidates, ModelName, References, Shared, pair_function, run_metric
from ..word_sets import LIBRARIES, WordSetScorer


@pair_function
def prd_words(
    references: References,
    candidates: Candidates,
    clusters: int = 20,
    angles: int = 1001,
    clusterings: int = 10,
    layers: int = 5,
    *,
    seed: int = 0,
    encoder: ModelName | None = None,
    over_references: Rule | None = None,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
) -> Answer:
    """PRD of every candidate's words against those of its references, and means, 0 to 1; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, whose mean counts.
    {candidates}
    clusters, angles, clusterings : int
        As for `prd`; the clusters are those of one pair of texts.
    layers : int
        How many of the encoder's last layers are read.
    seed : int
        Of the clusterings, as for `prd`.
    {encoder}
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the mean (default) or the best.
    {loading}

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.f8` (mostly recall) and `.f1_8` (mostly
        precision) are means, `.f8_scores` and `.f1_8_scores` the scores of single texts.

    Notes
    -----
    Two texts with fewer samples (pieces x layers) than clusters have as many clusters as different samples; a warning
    says how many such pairs there are.

    See Also
    --------
    prd : the same for two sets of texts

    Examples
    --------
    >>> import recapture as rc
    >>> result = rc.prd_words(["It rained all day."], ["It rained all day."])
    >>> round(result.f8, 4), round(result.f1_8, 4)
    (1.0, 1.0)
    """
    parameters = {
        "clusters": clusters,
        "angles": angles,
        "clusterings": clusterings,
        "layers": layers,
        "seed": seed,
    }
    options = {"encoder": encoder, "device": device, "batch_tokens": batch_tokens, "offline": offline}
    return run_metric(METRIC, references, candidates, parameters, over_references, **options)


class PRDScorer(WordSetScorer):
    def __init__(
        self, shared: Shared, clusters: int, angles: int, clusterings: int, seed: int, layers: Any, encoder: Any
    ) -> None:
        settings = {"clusters": clusters, "angles": angles, "clusterings": clusterings, "seed": seed}
        super().__init__(shared, encoder, layers, **settings)
        self._angles = angles
        self._clustering = {"clusters": clusters, "clusterings": clusterings, "seed": seed}

    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        sets, sides = self.sets(pairs)
        sizes = np.array([len(samples) for samples in sets])[sides]
        few = (sizes.min(axis=1) > 0) & (sizes.sum(axis=1) < self.settings["clusters"])
        self._short.update(pairs[at] for at in np.flatnonzero(few).tolist())
        scores = {output.name: np.full(len(pairs), np.nan) for output in OF_SETS.outputs}
        for pair, histograms in enumerate(small_histograms(sets, sides, **self._clustering)):
            if histograms is not None:
                for name, by_clustering in f_scores(histograms, self._angles).items():
                    scores[name][pair] = by_clustering.mean()
        return scores

    def about_short(self) -> str:
        return f"fewer samples than {self.settings['clusters']} clusters: each of their samples is a cluster of its own"


def _prepare(
    references: Sequence[Sequence[str]],
    shared: Shared,
    clusters: Any,
    angles: Any,
    clusterings: Any,
    seed: Any,
    layers: Any,
    encoder: Any,
) -> PRDScorer:
    clusters = check_count("clusters", clusters, 1, MOST_OF_ANYTHING)
    angles = check_count("angles", angles, 3, MOST_ANGLES)
    clusterings = check_count("clusterings", clusterings, 1, MOST_CLUSTERINGS)
    return PRDScorer(shared, clusters, angles, clusterings, check_seed(seed), layers, encoder)


METRIC = PairMetric(
    name="prd-words",
    title="Precision and recall for distributions of words",
    outputs=OF_SETS.outputs,
    direction="higher",
    prepare=_prepare,
    defaults={**OF_SETS.defaults, "layers": 5, "encoder": None},
    over_references="mean",
    order=60,
    libraries=LIBRARIES,
    revision=1,
    citation=OF_SETS.citation,
)
