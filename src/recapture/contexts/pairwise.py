"""All metrics between two texts, by name: those that are made for it, and metrics of aligned texts that will do."""

from __future__ import annotations

from ..declarations import Registry
from ..pairs.to_similarity import pair_similarities
from ..similarity import scorer
from ..similarity.scorer import Similarity


class _Pairwise(Registry[Similarity]):
    def all(self) -> dict[str, Similarity]:
        return {**scorer.METRICS.all(), **pair_similarities()}


PAIRWISE = _Pairwise(Similarity, scorer.__package__, "pairwise metric")


def list_pairwise() -> dict[str, Similarity]:
    """The declarations of all metrics between two texts, by name.

    Returns
    -------
    dict
        Name to declaration: title, range, direction, defaults, citation.

    Examples
    --------
    >>> import recapture as rc
    >>> rc.list_pairwise()["cider"].range
    (0.0, 10.0)
    """
    return PAIRWISE.all()
