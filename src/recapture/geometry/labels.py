"""Who counts as reference and who as candidate among pooled samples, for many labellings at once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np


@dataclass(frozen=True)
class Labels:
    """One row per labelling, one column per pooled sample (references first, then candidates, as observed).

    A sample may be neither (left out of a subsample), never both. All labellings of one batch have the same number of
    references and the same number of candidates.
    """

    reference: np.ndarray
    """(labellings, samples) bool"""
    candidate: np.ndarray
    """(labellings, samples) bool"""

    def __len__(self) -> int:
        return len(self.candidate)

    @property
    def sizes(self) -> tuple[int, int]:
        """How many references and how many candidates each labelling has."""
        return int(self.reference[0].sum()), int(self.candidate[0].sum())
