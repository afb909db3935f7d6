"""Time and peak memory of short texts scored by their word counts, each size in a process of its own."""

from __future__ import annotations

import subprocess
import sys

_CHILD = """
import resource, sys, time
from benchmarks.neighbours import METRICS
from benchmarks.word_counts import lines
import recapture as rc
rows = int(sys.argv[1])
reference, candidate = lines(rows, 1), lines(rows, 2)
start, spent = time.perf_counter(), time.process_time()
rc.evaluate(reference, candidate, metrics=METRICS, encoder="bag-of-words", ceiling=False)
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
print(peak, time.perf_counter() - start, time.process_time() - spent)
"""


def lines(count: int, seed: int, vocabulary: int = 30_000) -> list[str]:
    """Made-up texts of about ten words, which are as frequent as Zipf's law has them."""
    import numpy as np

    rng = np.random.default_rng(seed)
    chance = np.arange(1, vocabulary + 1) ** -1.05
    lengths = np.maximum(rng.poisson(10, count), 3)
    words = iter(rng.choice(vocabulary, lengths.sum(), p=chance / chance.sum()).tolist())
    return [" ".join(f"w{next(words)}" for _ in range(length)) for length in lengths.tolist()]


def main(sizes: tuple[int, ...] = (20_000, 50_000)) -> None:
    """200,000 a side, the size that the bar is for, takes a quarter of an hour on two cores: `main((200_000,))`."""
    print("word counts of short texts, Mark-Evaluate + precision/recall + density/coverage, 5,000 words")
    for rows in sizes:
        child = subprocess.run([sys.executable, "-c", _CHILD, str(rows)], capture_output=True, text=True, check=True)
        peak, spent, cores = map(float, child.stdout.split())
        what = f"{rows:>7,} v {rows:,}"
        print(
            f"  {what:<47} {peak:8.0f} MiB in {spent:.1f} s, {cores:.1f} s of cores   (bar: below 1024 MiB)", flush=True
        )
