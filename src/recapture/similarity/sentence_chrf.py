"""chrF: F score of character n-grams, as sacrebleu defines it, for many pairs at once.

Popović (2015), chrF: character n-gram F-score for automatic MT evaluation. White space does not count; precision and
recall are means over the orders that both texts have; recall counts beta times as much. Two texts without characters
score 1 (sacrebleu: 0).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from ..checks import LONGEST_NGRAM, MOST_OF_ANYTHING, check_count
from ..lexical.cells import Cells, Frequencies, Sides, clipped_sums
from ..lexical.ngrams import Words
from .batched import BatchedScorer
from .scorer import Similarity


class ChrfScorer(BatchedScorer):
    """chrF, 0 to 1."""

    def __init__(self, order: int, beta: int, lowercase: bool) -> None:
        from sacrebleu.metrics.chrf import CHRF

        self._order = order
        self._factor = beta**2
        self._lowercase = lowercase
        metric = CHRF(char_order=order, beta=beta, lowercase=lowercase)
        metric.sentence_score("a", ["a"])  # there is no signature before the first score
        self.settings = {"sacrebleu": str(metric.get_signature()), "beta": beta}  # sacrebleu's leaves beta out

    def blocks(self, pairs: Sequence[Sides]) -> list[np.ndarray]:
        cells = Cells(pairs)
        words = Words.of(map(self._characters, cells.texts))
        precision, recall, orders = (np.zeros(len(cells.row)) for _ in range(3))
        for n, runs in enumerate(words.runs(self._order), 1):
            ngrams = Frequencies.of(runs)
            matches = clipped_sums(cells, ngrams, np.ones(len(ngrams.text)))
            counts = np.maximum(words.lengths - n + 1, 0)
            held, wanted = counts[cells.row], counts[cells.column]
            both = (held > 0) & (wanted > 0)
            precision += np.divide(matches, held, out=np.zeros(len(both)), where=both)
            recall += np.divide(matches, wanted, out=np.zeros(len(both)), where=both)
            orders += both
        precision /= np.maximum(orders, 1)
        recall /= np.maximum(orders, 1)
        scores = np.zeros(len(orders))
        np.divide(
            (1 + self._factor) * precision * recall,
            self._factor * precision + recall,
            out=scores,
            where=precision + recall > 0,
        )
        scores[(words.lengths[cells.row] == 0) & (words.lengths[cells.column] == 0)] = 1
        return cells.split(np.minimum(scores, 1))

    def _characters(self, text: str) -> str:
        return "".join((text.lower() if self._lowercase else text).split())


def _prepare(char_order: Any, beta: Any, lowercase: Any) -> ChrfScorer:
    char_order = check_count("char_order", char_order, 1, LONGEST_NGRAM)
    return ChrfScorer(char_order, check_count("beta", beta, 1, MOST_OF_ANYTHING), bool(lowercase))


METRIC = Similarity(
    name="chrf",
    title="chrF",
    prepare=_prepare,
    defaults={"char_order": 6, "beta": 2, "lowercase": False},
    order=50,
    libraries=("numpy", "sacrebleu"),
    citation="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation, WMT",
)
