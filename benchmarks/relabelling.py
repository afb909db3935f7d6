"""Scores under 1,000 labellings of the pooled samples, against one evaluation."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Sequence

import numpy as np

import recapture as rc
from recapture.geometry.labels import Labels
from recapture.geometry.points import PointSet
from recapture.sets.declaration import METRICS
from recapture.sets.pair import Pair

from .timing import embeddings, ratio, run, seconds, side_by_side

TWO = ["mark-evaluate", "precision-recall"]
THREE = [*TWO, "density-coverage"]

_CHILD = """
import sys
from benchmarks.relabelling import THREE, relabel, shuffled
from benchmarks.timing import embeddings
rows, count = int(sys.argv[1]), int(sys.argv[2])
relabel(embeddings(300), embeddings(300, seed=1), shuffled(300, 300, 10), THREE)  # libraries are no extra memory
reference, candidate, labels = embeddings(rows, seed=1), embeddings(rows, seed=2), shuffled(rows, rows, count)
open("/proc/self/clear_refs", "w").write("5")
resident = lambda key: int(next(l for l in open("/proc/self/status") if l.startswith(key)).split()[1]) / 1024
base = resident("VmRSS")
relabel(reference, candidate, labels, THREE)
print(resident("VmHWM") - base)
"""


def shuffled(n: int, m: int, count: int) -> Labels:
    """Random labellings of n + m samples."""
    order = np.argsort(np.random.default_rng(0).random((count, n + m)), axis=1)
    reference = np.zeros((count, n + m), bool)
    np.put_along_axis(reference, order[:, :n], True, axis=1)
    return Labels(reference, ~reference)


def halves(n: int, m: int, count: int) -> Labels:
    """Random halves of both sides, each with its own label."""
    rng = np.random.default_rng(0)
    sides = [np.argsort(np.argsort(rng.random((count, size)), axis=1), axis=1) < size // 2 for size in (n, m)]
    reference, candidate = np.zeros((2, count, n + m), bool)
    reference[:, :n], candidate[:, n:] = sides
    return Labels(reference, candidate)


def relabel(reference: np.ndarray, candidate: np.ndarray, labels: Labels, names: Sequence[str]) -> None:
    """From two arrays to all scores under all labellings, the neighbour search included."""
    pair = Pair(PointSet(reference, "reference"), PointSet(candidate, "candidate"))
    metrics = [METRICS.find(name) for name in names]
    pair.expect(metric.defaults["k"] for metric in metrics)
    for metric in metrics:
        metric.relabel(pair, **metric.defaults)(labels)


def main(rows: int = 2000) -> None:
    reference, candidate = embeddings(rows, seed=1), embeddings(rows, seed=2)
    labels = shuffled(rows, rows, 1000)
    print(f"relabelling, {rows:,} v {rows:,} x {reference.shape[1]}, float32")
    for names in (TWO, THREE):
        best = side_by_side(
            {
                "once": lambda names=names: rc.evaluate(reference, candidate, metrics=names, ceiling=False),
                "relabelled": lambda names=names: relabel(reference, candidate, labels, names),
            },
            rounds=7,
        )
        seconds(f"one evaluation: {', '.join(names)}", best["once"])
        seconds("the same under 1,000 labellings", best["relabelled"])
        ratio("1,000 labellings / one evaluation", best["relabelled"] / best["once"], "at most 10")

    more = shuffled(rows, rows, 5000)
    spent = {count: _best(reference, candidate, each) for count, each in ((1000, labels), (5000, more))}
    print(f"  5,000 labellings take {spent[5000]:.3f} s, {spent[5000] / spent[1000]:.1f}x the time of 1,000")
    some = embeddings(rows // 20, seed=2)
    seconds(f"{rows:,} v {rows // 20:,}, 1,000 labellings", _best(reference, some, shuffled(rows, rows // 20, 1000)))
    seconds("1,000 half-samples of both sets", _best(reference, candidate, halves(rows, rows, 1000)))
    wide = _best(reference, 1.3 * candidate, halves(rows, rows, 1000))
    seconds("the same, every candidate around all references (lists of everybody)", wide)
    print("peak memory beyond the data and the labels, three metrics")
    for size, count in ((rows, 1000), (rows, 5000), (5 * rows, 1000)):
        arguments = [sys.executable, "-c", _CHILD, str(size), str(count)]
        extra = float(subprocess.run(arguments, capture_output=True, text=True, check=True).stdout)
        print(f"  {size:>6,} v {size:,}, {count:,} labellings {extra:38.0f} MiB", flush=True)


def _best(reference: np.ndarray, candidate: np.ndarray, labels: Labels) -> float:
    return min(run(lambda: relabel(reference, candidate, labels, TWO)) for _ in range(3))
