"""How far apart a side's texts are, and which of them is the most central."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..distances import check_sizes, square


def dispersion(references: Sequence[Any], candidates: Sequence[Any], distance: Any = "meteor", **options: Any) -> dict:
    """Mean distance between texts of each side, and the position of each side's most central text.

    A text is most central when its mean distance to the others of its side is the smallest: as hypothesis, with the
    others as references (lower position first). distance and options: as for `triangle_rank`.
    """
    check_sizes(references, candidates, least=1)
    made = square(references, candidates, distance, options)
    return central_and_dispersion(made.distances, len(references))


def central_and_dispersion(distances: np.ndarray, n: int) -> dict[str, dict[str, Any]]:
    """From distances of all texts, references first. A side of one text has no dispersion (None)."""
    found: dict[str, dict[str, Any]] = {"dispersion": {}, "central": {}}
    for side, rows in (("reference", slice(n)), ("candidate", slice(n, None))):
        # Sums without rounding on the way: equal distances in another order must not make one text more central.
        sums = [math.fsum(row) for row in distances[rows, rows].tolist()]
        count = len(sums)
        found["dispersion"][side] = math.fsum(sums) / (count * (count - 1)) if count > 1 else None
        found["central"][side] = sums.index(min(sums))
    return found
