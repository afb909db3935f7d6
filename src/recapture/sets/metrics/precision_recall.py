"""Improved precision and recall: shares of samples inside the other set's spheres.

Kynkäänniemi, Karras, Laine, Lehtinen and Aila (2019), Improved Precision and Recall Metric for Assessing Generative
Models, Eqs. 1 and 2; spheres are closed, as in their Eq. 1.

    precision = x / m,  recall = y / n       (x, y as in Mark-Evaluate)
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...geometry.labels import Labels
from ...report.result import Result
from ..declaration import Exchanged, Measurement, Output, Relabelled, SetMetric
from ..metric_functions import Options, measure, set_function
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...representations.vectors import SampleSet


@set_function
def precision_recall(reference: SampleSet, candidate: SampleSet, k: int = 3, **options: Unpack[Options]) -> Result:
    """Share of candidates that look like references, and of references that the candidates reach.

    A sample lies in a sphere of the other set when some sample there is at most as far away as that one's own k-th
    nearest neighbour.

    Parameters
    ----------
    {sides}
    k : int, default 3
        Neighbourhood size: a sample's sphere reaches to its k-th nearest neighbour in its own set.
    {options}

    Returns
    -------
    Result
        `.precision` and `.recall`, from 0 to 1, higher is better; `.candidate_inside` and `.reference_inside` say it of
        every sample.

    Examples
    --------
    The references' spheres have radius 1 and hold one candidate of three; the sphere around 0.5 holds all references.

    >>> import recapture as rc
    >>> result = rc.precision_recall([[0], [1], [2]], [[0.5], [9], [10]], k=1)
    >>> round(result.precision, 4), result.recall
    (0.3333, 1.0)
    """
    return measure(METRIC, reference, candidate, k=k, **options)


def _measure(pair: Pair, k: int) -> Measurement:
    inside = pair.overlap_at(k)
    return Measurement(
        values=_values(len(pair.reference), len(pair.candidate), inside.x, inside.y),
        arrays={"candidate_inside": inside.candidate_inside, "reference_inside": inside.reference_inside},
        warnings=tuple(pair.neighbourhood_warnings()),
    )


def _relabel(pair: Pair, k: int) -> Relabelled:
    def values(labels: Labels) -> dict[str, np.ndarray]:
        counts = pair.counts_under(labels, k)
        return _values(*labels.counts, counts.x, counts.y)

    return values


def _exchange(pair: Pair, k: int) -> Exchanged:
    n, m = len(pair.reference), len(pair.candidate) // 2

    def differences(first: np.ndarray) -> dict[str, np.ndarray]:
        one, two = (_values(n, m, counts.x, counts.y) for counts in pair.exchanged_counts(first, k))
        return {name: each - two[name] for name, each in one.items()}

    return differences


def _values(n: Any, m: Any, x: Any, y: Any) -> dict[str, Any]:
    """From numbers or from arrays of them."""
    return {"precision": x / m, "recall": y / n}


METRIC = SetMetric(
    name="precision-recall",
    title="Improved precision and recall",
    outputs=(
        Output(
            "precision",
            "share of candidates inside a reference sphere",
            aspect="fidelity",
            notices="texts unlike people's",
        ),
        Output(
            "recall",
            "share of references inside a candidate sphere",
            aspect="variety",
            notices="kinds of human texts that are missing",
        ),
    ),
    direction="higher",
    measure=_measure,
    relabel=_relabel,
    exchange=_exchange,
    defaults={"k": 3},
    swapped={"precision": "recall", "recall": "precision"},
    order=20,
    citation="Kynkäänniemi et al. 2019, Improved Precision and Recall, NeurIPS",
)
