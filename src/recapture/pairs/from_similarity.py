"""Metrics between two texts as metrics of aligned texts."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..similarity.scorer import Scorer
from .declaration import TextPairScorer


class SimilarityPairScorer(TextPairScorer):
    """Each pair by a metric between two texts, made ready."""

    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.settings = scorer.settings

    def score(self, pairs: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
        return {"value": self._scorer.pairs(pairs)}
