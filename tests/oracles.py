"""Slow float64 counts straight from the definitions, written without a look at the engine: whole matrices, no tiles."""

from __future__ import annotations

from functools import lru_cache

import numpy as np


def squared_distances(a, b):
    return _squared_distances(*(part for side in (a, b) for part in _frozen(side))).copy()


def _frozen(points):
    points = np.asarray(points, dtype=np.float64)
    return points.shape, points.tobytes()


@lru_cache(maxsize=12)
def _squared_distances(a_shape, a_bytes, b_shape, b_bytes):
    """Kept for a while: tests ask about the same sets with one k after another."""
    a, b = np.frombuffer(a_bytes).reshape(a_shape), np.frombuffer(b_bytes).reshape(b_shape)
    table = np.zeros((len(a), len(b)))
    for i, row in enumerate(a):
        table[i] = ((b - row) ** 2).sum(axis=1)
    return table


def squared_radii(points, k):
    """Squared distance to the k-th nearest other point."""
    table = squared_distances(points, points)
    np.fill_diagonal(table, np.inf)
    return np.sort(table, axis=1)[:, k - 1]


def memberships(reference, candidate, k):
    """(candidate in reference sphere, reference in candidate sphere), both as reference x candidate tables."""
    table = squared_distances(reference, candidate)
    hair = 1 + 1e-12
    in_reference = table <= squared_radii(reference, k)[:, None] * hair
    in_candidate = table <= squared_radii(candidate, k)[None, :] * hair
    return in_reference, in_candidate


def counts(reference, candidate, k):
    """x, y, a, b and the number of covered reference spheres."""
    in_reference, in_candidate = memberships(reference, candidate, k)
    return {
        "x": int(in_reference.any(axis=0).sum()),
        "y": int(in_candidate.any(axis=1).sum()),
        "a": int(in_candidate.sum()),
        "b": int(in_reference.sum()),
        "covered": int(in_reference.any(axis=1).sum()),
    }
