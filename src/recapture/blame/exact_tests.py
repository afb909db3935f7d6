"""Exact p-values of counts on two sides: given how many there are in all, which of them are candidates is chance."""

from __future__ import annotations

import numpy as np

_SLACK = 1 + 1e-7
"""Probabilities this close are equal: as Fisher's exact test is usually computed."""


def more_often(candidate: np.ndarray, reference: np.ndarray, candidates: int, references: int) -> np.ndarray:
    """One-sided: the chance of so many candidates or more among all that have something."""
    from scipy.stats import hypergeom

    kinds, place = np.unique(np.stack([candidate, reference]), axis=1, return_inverse=True)
    every = candidates + references
    p = hypergeom.sf(kinds[0] - 1, every, candidates, kinds.sum(axis=0))
    bounded: np.ndarray = np.clip(p, np.finfo(float).tiny, 1.0)[place.reshape(-1)]
    return bounded


def more_or_less_often(candidate: int, reference: int, candidates: int, references: int) -> float:
    """Two-sided (Fisher's exact test): the chance of all counts that are no likelier than the one there is."""
    from scipy.stats import hypergeom

    size, every = candidate + reference, candidates + references
    counts = np.arange(max(0, size - references), min(size, candidates) + 1)
    chance = hypergeom.pmf(counts, every, candidates, size)
    observed = hypergeom.pmf(candidate, every, candidates, size)
    return float(np.clip(chance[chance <= observed * _SLACK].sum(), np.finfo(float).tiny, 1.0))
