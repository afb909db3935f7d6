"""Fréchet distance between the Gaussians fitted to two sets (FID, without the Inception network).

Heusel, Ramsauer, Unterthiner, Nessler and Hochreiter (2017), GANs Trained by a Two Time-Scale Update Rule, Eq. 6:

    |mu - mu'|^2 + tr C + tr C' - 2 tr (C C')^(1/2)
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from ...geometry.gaussians import CentredRows, covariance_distance
from ...geometry.labels import Labels
from ...geometry.pooled_gaussians import PooledGaussians
from ...geometry.products import power_of_two_below
from ...geometry.sparse_rows import SparseRows, together
from ...report.result import Result
from ..declaration import INFINITY, Measurement, Output, Relabelled, SetMetric
from ..metric_functions import Options, measure, set_function
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...representations.vectors import SampleSet


# Numbers of word counts from both sides that are worth having as one array.
_AS_ARRAY = 2**26


@set_function
def frechet(reference: SampleSet, candidate: SampleSet, **options: Unpack[Options]) -> Result:
    """Squared Fréchet distance between the Gaussians fitted to two sets.

    Parameters
    ----------
    {sides}
    {options}

    Returns
    -------
    Result
        `.value`, 0 at best; `.mean_part` and `.covariance_part` add up to it.

    Examples
    --------
    Two sets that differ only in their place are as far apart as their means: 3 squared.

    >>> import recapture as rc
    >>> result = rc.frechet([[0, 0], [1, 0], [0, 1]], [[3, 0], [4, 0], [3, 1]])
    >>> round(result.value, 6)
    9.0
    """
    return measure(METRIC, reference, candidate, **options)


def _measure(pair: Pair) -> Measurement:
    scale = _scale(pair)
    a, b = CentredRows(pair.reference.values, scale), CentredRows(pair.candidate.values, scale)
    spread = covariance_distance(a, b) / scale**2  # first: a device finds the means, too
    gap = float(np.sum((a.mean - b.mean) ** 2)) / scale**2
    return Measurement(
        values={"value": gap + spread},
        details={"mean_part": gap, "covariance_part": spread},
        warnings=tuple(_warnings(pair)),
    )


def _rounding(pair: Pair) -> float:
    """Rounding moves a value by some 1e-13 of the pooled variance, whatever its own size."""
    pooled = together([pair.reference.values, pair.candidate.values])
    if isinstance(pooled, SparseRows):
        mean = pooled.mean(axis=0)
        return 1e-12 * (float(pooled.squares().sum()) / len(pooled) - float(mean @ mean))
    with np.errstate(over="ignore"):
        return 1e-12 * float(pooled.var(axis=0, dtype=np.float64).sum())


def _relabel(pair: Pair) -> Relabelled:
    scale = _scale(pair)
    pooled = together([pair.reference.values, pair.candidate.values])
    if isinstance(pooled, np.ndarray) or pooled.shape[0] * pooled.shape[1] <= _AS_ARRAY:
        pooled = np.array(pooled, np.float64)
        pooled *= scale
    gaussians = PooledGaussians(pooled)

    def values(labels: Labels) -> dict[str, np.ndarray]:
        return {"value": gaussians.distances(labels) / scale**2}

    return values


def _scale(pair: Pair) -> float:
    """Fourth powers of the data appear on the way: very large or small ones are brought near 1 first."""
    reach = max(abs(float(bound)) for points in (pair.reference, pair.candidate) for bound in points.bounds)
    return 1.0 if 1e-60 < reach < 1e60 else power_of_two_below(reach)


def _warnings(pair: Pair) -> list[str]:
    few, dimensions = min(pair.sizes.values()), pair.reference.values.shape[1]
    if few <= dimensions:
        return [
            f"{few} samples are few for a covariance in {dimensions} dimensions: "
            "the distance is biased upwards; compare only sets of equal size"
        ]
    return pair.unequal_sizes("smaller sets have a larger distance")


METRIC = SetMetric(
    name="frechet",
    title="Fréchet distance",
    outputs=(
        Output(
            "value",
            "squared Fréchet distance of the fitted Gaussians",
            (0.0, INFINITY),
            notices="a shift of the average text, or more or less spread",
        ),
    ),
    direction="lower",
    measure=_measure,
    relabel=_relabel,
    costly_labellings=True,
    rounding=_rounding,
    swapped={"value": "value"},
    # Both halves share the whole set's trace, so splits vary less than sets do (docs/uncertainty.md has figures).
    band_note="the Fréchet distance's band is too narrow: halves of one set share their spread; of another human "
    "set 77 to 88 % fall inside (53 % where tails are heavy)",
    order=50,
    citation="Heusel et al. 2017, GANs Trained by a Two Time-Scale Update Rule, NeurIPS",
)
