"""Word-piece vectors of thousands of short texts: all pairs at once against the single-pair metrics in a loop."""

from __future__ import annotations

from functools import partial

import numpy as np

import recapture as rc
from recapture.geometry.small import small_counts
from recapture.geometry.small_prd import small_histograms
from recapture.population import mark_evaluate_scores
from recapture.sets.metrics.prd import f_scores

from .timing import ratio, run, side_by_side


def main() -> None:
    for pieces in (30, 10):
        _compare(pieces)
    _scores()


def _compare(pieces: int, references: int = 20, systems: int = 5, few: int = 10) -> None:
    sets, pairs = _texts(pieces, references, systems)
    size = len(sets[0])
    print(
        f"{len(pairs)} pairs of {size} v {size} word-piece vectors x {sets[0].shape[1]}, {systems} systems a reference"
    )
    some = pairs[:few]

    def each(metric: str) -> None:
        for i, j in some:
            getattr(rc, metric)(sets[i], sets[j])

    def prd_scores() -> None:
        for histograms in small_histograms(sets, pairs):
            f_scores(histograms, 1001)

    jobs = {
        "counts": partial(_mark_evaluate, sets, pairs, 1),
        "counts, k = 3": partial(_mark_evaluate, sets, pairs, 3),
        "prd": prd_scores,
        "one mark_evaluate": partial(each, "mark_evaluate"),
        "one prd": partial(each, "prd"),
    }
    best = side_by_side(jobs, rounds=3)
    spent = {name: 1e3 * value / (few if name.startswith("one") else len(pairs)) for name, value in best.items()}
    _milliseconds("Mark-Evaluate, all pairs, k = 1 (bar: at most 4 ms)", spent["counts"])
    _milliseconds("Mark-Evaluate, all pairs, k = 3", spent["counts, k = 3"])
    _milliseconds("Mark-Evaluate, rc.mark_evaluate in a loop, k = 1", spent["one mark_evaluate"])
    _milliseconds("PRD, all pairs", spent["prd"])
    _milliseconds("PRD, rc.prd in a loop", spent["one prd"])
    ratio("rc.mark_evaluate in a loop / all pairs", spent["one mark_evaluate"] / spent["counts"], "none")
    ratio("rc.prd in a loop / all pairs", spent["one prd"] / spent["prd"], "none")


def _scores(pairs: int = 14_000) -> None:
    rng = np.random.default_rng(0)
    n, m = rng.integers(50, 250, (2, pairs))
    x, y = rng.integers(0, m), rng.integers(0, n)
    a, b = y + rng.integers(0, 200, pairs), x + rng.integers(0, 200, pairs)
    spent = min(run(lambda: mark_evaluate_scores(n, m, x, y, a, b, 1)) for _ in range(3))
    _milliseconds(f"all four scores from counts of {pairs:,} pairs, nearly all different", 1e3 * spent / pairs)


def _mark_evaluate(sets: list[np.ndarray], pairs: list[tuple[int, int]], k: int) -> None:
    counts = small_counts(sets, pairs, k)
    mark_evaluate_scores(counts.n, counts.m, counts.x, counts.y, counts.a, counts.b, k)


def _texts(pieces: int, references: int, systems: int) -> tuple[list[np.ndarray], list[tuple[int, int]]]:
    """Made-up vectors of five layers; systems change three words in ten."""
    rng = np.random.default_rng(0)
    drift = rng.standard_normal((5, 1, 384))
    sets: list[np.ndarray] = []
    pairs = []

    def add(words: np.ndarray) -> int:
        rows = words + drift + 0.2 * rng.standard_normal((5, *words.shape))
        sets.append(rows.reshape(-1, 384).astype(np.float32))
        return len(sets) - 1

    for _ in range(references):
        words = rng.standard_normal((pieces, 384))
        reference = add(words)
        for _ in range(systems):
            changed = rng.random((pieces, 1)) < 0.3
            pairs.append((reference, add(np.where(changed, rng.standard_normal(words.shape), words))))
    return sets, pairs


def _milliseconds(what: str, value: float) -> None:
    print(f"  {what:<66} {value:8.3f} ms a pair", flush=True)
