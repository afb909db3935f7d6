"""Peak memory beyond the two arrays, each size in a process of its own."""

from __future__ import annotations

import subprocess
import sys

_CHILD = """
import sys, time
from benchmarks.neighbours import METRICS
from benchmarks.timing import embeddings
import recapture as rc
rows = int(sys.argv[1])
# Libraries and threads are no extra memory.
rc.evaluate(embeddings(300), embeddings(300, seed=1), metrics=METRICS, ceiling=False)
reference, candidate = embeddings(rows, seed=1), embeddings(rows, seed=2)
# Making the arrays took temporaries: what is resident now is the base, and the kernel's mark starts from here.
open("/proc/self/clear_refs", "w").write("5")
resident = lambda key: int(next(l for l in open("/proc/self/status") if l.startswith(key)).split()[1]) / 1024
base = resident("VmRSS")
start = time.perf_counter()
rc.evaluate(reference, candidate, metrics=METRICS, ceiling=False)
print(resident("VmHWM") - base, time.perf_counter() - start)
"""


def main() -> None:
    print("peak memory beyond the data, Mark-Evaluate + precision/recall + density/coverage, 384 dimensions")
    for rows, bar in ((10_000, 300), (50_000, 600)):
        child = subprocess.run([sys.executable, "-c", _CHILD, str(rows)], capture_output=True, text=True, check=True)
        extra, spent = map(float, child.stdout.split())
        print(
            f"  {rows:>6,} v {rows:,}{'':<40} {extra:8.0f} MiB in {spent:.1f} s   (bar: at most {bar} MB)", flush=True
        )
