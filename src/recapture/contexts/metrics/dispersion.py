"""How far apart a side's texts are, and which of them is the most central."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...declarations import INFINITY, Output
from ...similarity.scorer import METRICS as SIMILARITIES
from ...similarity.scorer import Similarity
from ..declaration import SIDES, Batch, ContextMetric, Settings
from ..distances import as_distances, check_sizes, square
from ..uncertainty import Asked, ContextScores


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


def _over(similarity: Similarity) -> ContextMetric:
    def score(batch: Batch, _: Settings, __: Asked) -> list[ContextScores]:
        distances = as_distances(similarity, batch.squares[similarity.name])
        of_contexts = [central_and_dispersion(context, batch.references) for context in distances]
        return [ContextScores(one["dispersion"], details={"central": one["central"]}) for one in of_contexts]

    return ContextMetric(
        name=f"dispersion-{similarity.name}",
        title=f"mean distance within each side, by {similarity.title}",
        citation=similarity.citation,
        direction=None,
        outputs=tuple(Output(side, f"mean distance among the {side}s", (0.0, INFINITY)) for side in SIDES),
        score=score,
        least=(2, 2),
        similarity=similarity.name,
        tested=False,
        libraries=similarity.libraries,
    )


def METRIC() -> Iterator[ContextMetric]:  # noqa: N802 - the name that declarations have
    """One over every metric between two texts."""
    return map(_over, SIMILARITIES.all().values())
