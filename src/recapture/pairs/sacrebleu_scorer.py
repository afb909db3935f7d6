"""Scores by sacrebleu, 0 to 1 instead of 0 to 100. Items are counted once, for their own scores and the corpus's.

sacrebleu's public functions count twice, once for the sentences and once for the corpus; for TER that takes most of the
time. So this file calls the steps inside them, which every metric of sacrebleu has.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from itertools import zip_longest
from typing import Any

import numpy as np

from ..errors import InputError, shown
from ..progress import Progress
from .corpus_formulas import Formula
from .declaration import Counted, GroupScorer, PairScores
from .evaluate import is_empty

_TOGETHER = 100
"""Items between two steps of the progress bar."""


class SacrebleuScorer(GroupScorer):
    """corpus, item: sacrebleu's metric as it is set for the corpus and for single items.

    formula: that of the corpus, for many corpora at once.
    """

    def __init__(
        self,
        corpus: Any,
        item: Any,
        formula: Formula,
        references: Sequence[Sequence[str]],
        further: Mapping[str, Any] | None = None,
        most: float = math.inf,
    ) -> None:
        self._corpus, self._item, self._formula, self._most = corpus, item, formula, most
        counts = {sum(not is_empty(text) for text in group) or 1 for group in references}
        # sacrebleu needs it for its signature; there -1 means "not the same everywhere".
        corpus.num_refs = item.num_refs = counts.pop() if len(counts) == 1 else -1
        self.settings = {
            "sacrebleu": str(corpus.get_signature()),
            "sacrebleu_items": str(item.get_signature()),
            **(further or {}),
        }

    def score(self, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> PairScores:
        counted: list[list[float]] = []
        with Progress(self._corpus.__class__.__name__, len(candidates), "text") as progress:
            for start in range(0, len(candidates), _TOGETHER):
                groups = references[start : start + _TOGETHER]
                together = candidates[start : start + _TOGETHER]
                # The first references of all items, the second ones, ...: None where an item has no more.
                streams = list(zip_longest(*groups))
                counted += self._corpus._extract_corpus_statistics(together, streams)
                progress.advance(len(together))
        items = [self._rate(self._item, statistics) for statistics in counted]
        # Exact sums: the order of items does not matter, even where reference lengths are means.
        total = self._rate(self._corpus, [math.fsum(column) for column in zip(*counted, strict=True)])
        counts = Counted(np.array(counted, np.float64), self._formula)
        return PairScores({"value": np.array(items)}, {"value": total}, {"value": counts})

    def _rate(self, metric: Any, counted: Sequence[float]) -> float:
        # A perfect BLEU is exp(log(100)) = 100.00000000000004.
        return min(self._most, float(metric._compute_score_from_stats(counted).score) / 100)


def check_flags(**flags: Any) -> None:
    for name, value in flags.items():
        if not isinstance(value, bool):
            raise InputError(f"{name} must be true or false, not {shown(value)}")


def sacrebleu_caption(signature: Mapping[str, Any]) -> str:
    return f"sacrebleu {signature['sacrebleu']}"
