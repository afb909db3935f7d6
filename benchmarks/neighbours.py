"""All nearest-neighbour metrics together, against bare matrix products and prdc."""

from __future__ import annotations

import numpy as np

import recapture as rc

from .timing import embeddings, ratio, run, seconds, side_by_side

METRICS = ["mark-evaluate", "precision-recall", "density-coverage"]


def main(rows: int = 10_000) -> None:
    import prdc

    reference, candidate = embeddings(rows, seed=1), embeddings(rows, seed=2)

    product = np.empty((rows, rows), np.float32)  # memory for the products is not part of their time
    other = reference.copy()  # a product with itself would take a shorter way

    def three_products() -> None:
        for a, b in ((reference, other), (candidate, other), (reference, candidate)):
            np.dot(a, b.T, out=product)

    def together() -> None:
        rc.evaluate(reference, candidate, metrics=METRICS, ceiling=False)

    print(f"neighbour metrics, {rows:,} v {rows:,} x {reference.shape[1]}, float32")
    best = side_by_side(
        {
            "products": three_products,
            "together": together,
            "one k": lambda: rc.mark_evaluate(reference, candidate, k=1),
            "sweep": lambda: rc.mark_evaluate_sweep(reference, candidate, range(1, 41)),
        },
        rounds=7,
    )
    peer = min(run(lambda: prdc.compute_prdc(reference, candidate, nearest_k=5)) for _ in range(2))
    seconds("three bare float32 matrix products", best["products"])
    seconds("Mark-Evaluate + precision/recall + density/coverage", best["together"])
    seconds("prdc 0.2: precision, recall, density, coverage", peer)
    seconds("Mark-Evaluate at k = 1", best["one k"])
    seconds("Mark-Evaluate at k = 1..40", best["sweep"])
    ratio("all together / three products", best["together"] / best["products"], "at most 1.5")
    ratio("prdc / all together", peer / best["together"], "at least 5")
    ratio("sweep over k = 1..40 / one k", best["sweep"] / best["one k"], "at most 1.5")

    print("growth, all three metrics together")
    before = None
    for size in (10_000, 20_000, 40_000):
        reference, candidate = embeddings(size, seed=1), embeddings(size, seed=2)
        spent = run(together)
        note = "" if before is None else f"   {spent / before:.1f}x the half (4 is quadratic)"
        print(f"  {size:>6,} v {size:,}{'':<50} {spent:8.2f} s{note}", flush=True)
        before = spent
