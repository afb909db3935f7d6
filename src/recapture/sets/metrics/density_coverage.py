"""Density and coverage: how many reference spheres hold a candidate, and how many references have one near.

Naeem, Oh, Uh, Choi and Yoo (2020), Reliable Fidelity and Diversity Metrics for Generative Models, Eqs. 3 and 4.
Spheres are closed here; the authors' prdc package uses open ones, so ties on the boundary count differently.

    density = b / (k m),  coverage = share of reference spheres that hold at least one candidate
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from ...geometry.labels import Labels
from ...report.result import Result
from ..declaration import INFINITY, Exchanged, Measurement, Output, Relabelled, SetMetric
from ..metric_functions import Options, measure, set_function
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...representations.vectors import SampleSet


@set_function
def density_coverage(reference: SampleSet, candidate: SampleSet, k: int = 5, **options: Unpack[Options]) -> Result:
    """Density and coverage: how many reference spheres hold a candidate, and how many references have one near.

    Parameters
    ----------
    {sides}
    k : int, default 5
        Neighbourhood size: a reference's sphere reaches to its k-th nearest neighbour among the references.
    {options}

    Returns
    -------
    Result
        `.density` (1 on average for equal distributions, not bounded above) and `.coverage` (0 to 1), higher is better;
        `.reference_covered` says for every reference whether a candidate is near.

    Examples
    --------
    The references' spheres have radius 1. Two of them hold a candidate, both the same one of three.

    >>> import recapture as rc
    >>> result = rc.density_coverage([[0], [1], [2]], [[0.5], [9], [10]], k=1)
    >>> round(result.density, 4), round(result.coverage, 4)
    (0.6667, 0.6667)
    """
    return measure(METRIC, reference, candidate, k=k, **options)


def _measure(pair: Pair, k: int) -> Measurement:
    inside = pair.overlap_at(k)
    return Measurement(
        values=_values(len(pair.reference), len(pair.candidate), k, inside.b, inside.reference_covered.sum()),
        arrays={"reference_covered": inside.reference_covered},
        warnings=tuple(pair.neighbourhood_warnings()),
    )


def _relabel(pair: Pair, k: int) -> Relabelled:
    def values(labels: Labels) -> dict[str, np.ndarray]:
        counts = pair.counts_under(labels, k)
        return _values(*labels.counts, k, counts.b, counts.covered)

    return values


def _exchange(pair: Pair, k: int) -> Exchanged:
    n, m = len(pair.reference), len(pair.candidate) // 2

    def differences(first: np.ndarray) -> dict[str, np.ndarray]:
        one, two = (_values(n, m, k, counts.b, counts.covered) for counts in pair.exchanged_counts(first, k))
        return {name: each - two[name] for name, each in one.items()}

    return differences


def _values(n: Any, m: Any, k: int, b: Any, covered: Any) -> dict[str, Any]:
    """From numbers or from arrays of them."""
    return {"density": b / (k * m), "coverage": covered / n}


METRIC = SetMetric(
    name="density-coverage",
    title="Density and coverage",
    outputs=(
        Output(
            "density",
            "reference spheres around a candidate, over k",
            (0.0, INFINITY),
            aspect="fidelity",
            notices="texts where people write few; more than people's: only typical texts",
        ),
        Output(
            "coverage",
            "share of reference spheres that hold a candidate",
            aspect="variety",
            notices="human texts without a text like them",
        ),
    ),
    direction="higher",
    measure=_measure,
    relabel=_relabel,
    exchange=_exchange,
    defaults={"k": 5},
    order=30,
    citation="Naeem et al. 2020, Reliable Fidelity and Diversity Metrics, ICML",
)
