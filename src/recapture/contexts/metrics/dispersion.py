"""How far apart a side's texts are, and which of them is the most central."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from ...checks import plain_arguments
from ...declarations import INFINITY, Output
from ...similarity.scorer import Similarity
from ..declaration import OF_EACH_SIDE, SIDES, Batch, ContextMetric, Settings
from ..distances import Distance, as_distances, both_sides, square
from ..pairwise import PAIRWISE
from ..uncertainty import Asked, ContextScores


@plain_arguments
def dispersion(
    references: Sequence[object], candidates: Sequence[object], distance: Distance = "meteor", **options: Any
) -> dict[str, dict[str, Any]]:
    """Mean distance between texts of each side, and the position of each side's most central text.

    A text is most central when its mean distance to the others of its side is the smallest: as hypothesis, with the
    others as references (lower position first).

    Parameters
    ----------
    references, candidates : sequence of str
        The texts of one context (with a ready matrix of distances only their number matters).
    distance : str, callable or array, default "meteor"
        As for `triangle_rank`.
    **options
        As for `triangle_rank`.

    Returns
    -------
    dict
        "dispersion": the mean distance by side ("reference", "candidate"; None for a side of one text); "central": the
        position of the most central text by side, counting from 0.

    Examples
    --------
    >>> import recapture as rc
    >>> found = rc.dispersion(["a", "bb", "cccc"], ["a", "a"], lambda one, other: abs(len(one) - len(other)))
    >>> found["dispersion"]  # (1 + 3 + 2) / 3 among the references
    {'reference': 2.0, 'candidate': 0.0}
    >>> found["central"]["reference"]
    1
    """
    references, candidates = both_sides(references, candidates, least=1)
    return central_and_dispersion(square(references, candidates, distance, options).distances, len(references))


def central_and_dispersion(distances: np.ndarray, n: int) -> dict[str, dict[str, Any]]:
    """From distances of all texts, references first. A side of one text has no dispersion (None)."""
    by_side: dict[str, dict[str, Any]] = {"dispersion": {}, "central": {}}
    for side, rows in (("reference", slice(n)), ("candidate", slice(n, None))):
        # Sums without rounding on the way: equal distances in another order must not make one text more central.
        sums = [math.fsum(row) for row in distances[rows, rows].tolist()]
        count = len(sums)
        by_side["dispersion"][side] = math.fsum(sums) / (count * (count - 1)) if count > 1 else None
        by_side["central"][side] = sums.index(min(sums))
    return by_side


def _over(similarity: Similarity) -> ContextMetric:
    def score(batch: Batch, _: Settings, __: Asked) -> list[ContextScores]:
        distances = as_distances(similarity, batch.squares[similarity.name])
        of_contexts = [central_and_dispersion(context, batch.references) for context in distances]
        return [ContextScores(sides["dispersion"], details={"central": sides["central"]}) for sides in of_contexts]

    return ContextMetric(
        name=f"dispersion-{similarity.name}",
        title=f"mean distance within each side, by {similarity.title}",
        citation=similarity.citation,
        direction=None,
        outputs=tuple(Output(side, f"mean distance among the {side}s", (0.0, INFINITY)) for side in SIDES),
        score=score,
        least=(2, 2),
        similarity=similarity.name,
        no_pvalue=OF_EACH_SIDE,
        libraries=similarity.libraries,
    )


def _family() -> Iterator[ContextMetric]:
    """One over every metric between two texts."""
    return map(_over, PAIRWISE.all().values())


METRIC = _family
