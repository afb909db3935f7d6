"""Triangle rank with exact p-values: all triangles of all partitions, against a sampler of triangles."""

from __future__ import annotations

import importlib.util

import numpy as np

from benchmarks.timing import ratio, seconds, side_by_side

# vdtk 0.3.0 on one context, 5 v 5, with a distance that costs nothing, on a 2-core machine; its wheel has 522 MB.
VDTK_SECONDS = 14.4


def main() -> None:
    from recapture.contexts.scored import Asked
    from recapture.contexts.triangle_rank import score_triangles

    print("triangle rank, exact p-values, distances given")
    rng = np.random.default_rng(0)
    distances = {shape: rng.random((groups, sum(shape), sum(shape))) for shape, groups in _SHAPES.items()}
    best = side_by_side(
        {
            shape: lambda given=given, n=shape[0]: score_triangles(given, n, "split", False, Asked(True))
            for shape, given in distances.items()
        },
        rounds=3,
    )
    small = best[5, 5] / _SHAPES[5, 5]
    where = "installed here, but not run" if importlib.util.find_spec("vdtk") else "not installed"
    ratio(f"vdtk's sampler ({VDTK_SECONDS} s measured; {where}) / one context, 5 v 5", VDTK_SECONDS / small, ">= 1000")
    seconds("one context, 10 v 10: 184,756 partitions (bar: < 1 s)", best[10, 10])
    seconds("5,000 contexts, 5 v 10: 3,003 partitions each (bar: < 60 s)", best[5, 10] * 5_000 / _SHAPES[5, 10])


_SHAPES = {(5, 5): 200, (10, 10): 1, (5, 10): 1_000}
