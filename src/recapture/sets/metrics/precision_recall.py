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
from ..declaration import Measurement, Output, Relabelled, SetMetric
from ..evaluate import Options, measure
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack


def precision_recall(reference: Any, candidate: Any, k: int = 3, **options: Unpack[Options]) -> Result:
    """Share of candidates that look like references, and of references that the candidates reach.

    options: `balance`, `interval`, `pvalue`, `ceiling`, `seed`, `encoder`, as `recapture.sets.evaluate.Options` says.
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
        return _values(*labels.sizes, counts.x, counts.y)

    return values


def _values(n: int, m: int, x: Any, y: Any) -> dict[str, Any]:
    """From numbers or from arrays of them."""
    return {"precision": x / m, "recall": y / n}


METRIC = SetMetric(
    name="precision-recall",
    title="Improved precision and recall",
    outputs=(
        Output("precision", "share of candidates inside a reference sphere"),
        Output("recall", "share of references inside a candidate sphere"),
    ),
    direction="higher",
    measure=_measure,
    relabel=_relabel,
    defaults={"k": 3},
    swapped={"precision": "recall", "recall": "precision"},
    order=20,
    citation="Kynkäänniemi et al. 2019, Improved Precision and Recall, NeurIPS",
)
