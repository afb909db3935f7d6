"""Scorers that are fast only when many pairs of texts are scored at once."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable, Sequence

import numpy as np

from ..lexical.cells import Sides
from .scorer import Scorer

_TEXTS_TOGETHER = 4000
_MOST_CELLS = 1 << 22


class BatchedScorer(Scorer):
    """`cross` and `squares` by way of `blocks`, which scores some thousand texts together."""

    @abstractmethod
    def blocks(self, pairs: Sequence[Sides]) -> list[np.ndarray]:
        """`cross` of every pair of hypotheses and references."""

    def cross(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        return self.many([(hypotheses, references)])[0]

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        blocks = self.many(([candidate], [reference]) for reference, candidate in pairs)
        return np.array([block[0, 0] for block in blocks])

    def squares(self, groups: Sequence[Sequence[str]]) -> list[np.ndarray]:
        return self.many((group, group) for group in groups)

    def many(self, pairs: Iterable[Sides]) -> list[np.ndarray]:
        """`cross` of many pairs of hypotheses and references: small ones together, large ones in parts."""
        scores: list[np.ndarray] = []
        waiting: list[Sides] = []
        texts = 0
        for hypotheses, references in pairs:
            tall = max(1, _MOST_CELLS // max(1, len(references)))
            if waiting and (texts > _TEXTS_TOGETHER or len(hypotheses) > tall):
                scores += self.blocks(waiting)
                waiting, texts = [], 0
            if len(hypotheses) > tall:
                parts = [hypotheses[start : start + tall] for start in range(0, len(hypotheses), tall)]
                scores.append(np.concatenate([self.blocks([(part, references)])[0] for part in parts]))
            else:
                waiting.append((hypotheses, references))
                texts += len(hypotheses) + len(references)
        return scores + (self.blocks(waiting) if waiting else [])
