"""Fréchet distance against the route through SciPy's general matrix square root."""

from __future__ import annotations

import numpy as np
import scipy.linalg

import recapture as rc

from .timing import embeddings, ratio, seconds, side_by_side


def by_square_root(a: np.ndarray, b: np.ndarray) -> complex:
    c, d = np.cov(a, rowvar=False), np.cov(b, rowvar=False)
    root = scipy.linalg.sqrtm(c @ d)
    gap = a.mean(axis=0) - b.mean(axis=0)
    return complex(gap @ gap + np.trace(c) + np.trace(d) - 2 * np.trace(root))


def main() -> None:
    for rows, dimensions, bar in ((2000, 768, 3), (500, 1024, 10)):
        a, b = (embeddings(rows, dimensions, seed).astype(np.float64) for seed in (1, 2))
        print(f"Fréchet distance, n = {rows:,}, d = {dimensions}")
        best = side_by_side(
            {"ours": lambda a=a, b=b: rc.frechet(a, b), "peer": lambda a=a, b=b: by_square_root(a, b)}, 3
        )
        seconds(f"recapture: {rc.frechet(a, b).value:.12f}", best["ours"])
        seconds(f"SciPy sqrtm: {by_square_root(a, b):.12f}", best["peer"])
        ratio("SciPy sqrtm / recapture", best["peer"] / best["ours"], f"at least {bar}")
