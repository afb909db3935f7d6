"""Maximum mean discrepancy with a Gaussian kernel.

Gretton, Borgwardt, Rasch, Schölkopf and Smola (2012), A Kernel Two-Sample Test, Eqs. 3 (unbiased) and 5 (biased).
With k(u, v) = exp(-|u - v|^2 / (2 s^2)), references r and candidates c,

    unbiased = mean over i != j of k(r_i, r_j) + mean over i != j of k(c_i, c_j) - 2 mean of k(r_i, c_j)

(squared MMD). s defaults to half the median distance between all pairs of the pooled samples.

Chan et al. (2022), Distribution Aware Metrics for Conditional Natural Language Generation, print it as Eq. 6 without
the means and the factor -2:

    printed = sum over all i, j of k(c_i, c_j) + sum over all i, j of k(r_i, r_j) + sum of k(c_i, r_j)

That is no distance: it grows with the sets, and equal samples reach its largest value. Among relabellings of the same
samples the sum of all kernels is fixed, so that it is a constant less the sum across: larger still means more
different, and for sides of one size its p-value is that of the unbiased form.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from ...checks import check_number, is_one_of
from ...errors import InputError, nearest_names, shown
from ...geometry.content_order import content_order
from ...geometry.devices import accelerator_for, tried_on
from ...geometry.distinct import DistinctRows, distinct_rows
from ...geometry.kernels import Centres, SquaredDistances, cross_row_sums, kernel_sums, row_sums
from ...geometry.labels import Labels
from ...geometry.parallel import blocks
from ...geometry.points import PointSet
from ...geometry.pooled_kernel import PooledKernel
from ...geometry.products import all_whole
from ...geometry.sparse_rows import Rows, together
from ...report.result import Result
from ..declaration import INFINITY, Exchanged, Measurement, Output, Relabelled, SetMetric
from ..metric_functions import Options, measure, set_function
from ..pair import Pair

if TYPE_CHECKING:
    from typing_extensions import Unpack

    from ...representations.vectors import SampleSet

_POOL_FOR_MEDIAN = 5000
_POOL_SEED = 0
Form = Literal["unbiased", "printed"]
FORMS = ("unbiased", "printed")


@set_function
def mmd(
    reference: SampleSet,
    candidate: SampleSet,
    bandwidth: float | None = None,
    form: Form = "unbiased",
    **options: Unpack[Options],
) -> Result:
    """Squared maximum mean discrepancy of two sets, with a Gaussian kernel.

    Parameters
    ----------
    {sides}
    bandwidth : float, optional
        The kernel's standard deviation (None: half the median distance between all pairs of the pooled samples).
    form : {"unbiased", "printed"}, default "unbiased"
        "printed" is Eq. 6 of Chan et al. (2022) to the letter: sums in place of means, and no factor -2. It is no
        distance (it grows with the sets, and equal samples reach its largest value).
    {options}

    Returns
    -------
    Result
        `.value`, unbiased unless another form was asked for: about 0 for equal distributions, and sometimes below;
        `.biased`, never below 0; the `.bandwidth` used.

    Examples
    --------
    Two points at distance 1 from two others: 1 + 1 - 2 exp(-1/2).

    >>> import recapture as rc
    >>> round(rc.mmd([[0], [0]], [[1], [1]], bandwidth=1.0).value, 4)
    0.7869
    """
    return measure(METRIC, reference, candidate, bandwidth=bandwidth, form=form, **options)


_NO_DISTANCE = "Eq. 6 as printed is no distance: it grows with the sets, and sets far apart score lowest"


def _measure(pair: Pair, bandwidth: float | None, form: Form) -> Measurement:
    _check_form(form)
    centres = Centres.of(pair.reference.values, pair.candidate.values)
    bandwidth, rule = _choose_bandwidth(pair, bandwidth, centres)
    reference, candidate = pair.reference.distinct, pair.candidate.distinct
    n, m = len(pair.reference), len(pair.candidate)
    within_r, within_c, summed = kernel_sums(reference, candidate, centres, bandwidth)
    across = 2 * summed / (n * m)
    value = within_r / (n * (n - 1)) + within_c / (m * (m - 1)) - across
    return Measurement(
        values={"value": value if form == "unbiased" else within_r + n + within_c + m + summed},
        details={
            "biased": max(0.0, (within_r + n) / n**2 + (within_c + m) / m**2 - across),
            "bandwidth": bandwidth,
        },
        warnings=(_NO_DISTANCE,) if form == "printed" else (),
        settings={"bandwidth": bandwidth, "bandwidth_rule": rule},
    )


def _relabel(pair: Pair, bandwidth: float | None, form: Form) -> Relabelled:
    """The bandwidth stays the observed pair's. Kernel means are at most 1, so rounding moves a value by about 1e-15
    whatever its own size: values whose difference is far below that scale are equal.
    """
    _check_form(form)
    reference, candidate = pair.reference.values, pair.candidate.values
    centres = Centres.of(reference, candidate)
    kernel = PooledKernel(reference, candidate, centres, _choose_bandwidth(pair, bandwidth, centres)[0])

    def values(labels: Labels) -> dict[str, np.ndarray]:
        n, m = labels.counts
        sums = kernel.sums(labels)
        if form == "printed":  # a sample's kernel with itself is 1
            return {"value": sums.within_reference + n + sums.within_candidate + m + sums.across}
        within = sums.within_reference / (n * (n - 1)) + sums.within_candidate / (m * (m - 1))
        return {"value": within - 2 * sums.across / (n * m)}

    return values


def _exchange(pair: Pair, bandwidth: float | None, form: Form) -> Exchanged:
    """With a and b the 0/1 vectors of two systems that share out the candidates, and K the kernel matrix of these with
    zeros on its diagonal, a'Ka - b'Kb = (a - b)'K(a + b), and a + b is 1 everywhere: the difference is (a - b)'w.
    """
    _check_form(form)
    centres = Centres.of(pair.reference.values, pair.candidate.values)
    width = _choose_bandwidth(pair, bandwidth, centres)[0]
    reference, candidate = pair.reference.distinct, pair.candidate.distinct
    n, m = len(pair.reference), len(pair.candidate) / 2
    within = row_sums(candidate, centres.candidate, width)
    across = cross_row_sums(candidate, reference, centres.both, width)
    weight = within + across if form == "printed" else within / (m * (m - 1)) - 2 * across / (n * m)
    weight = weight[candidate.inverse]

    def differences(first: np.ndarray) -> dict[str, np.ndarray]:
        return {"value": np.where(first, weight, -weight).sum(axis=1)}

    return differences


def _check_form(form: Any) -> None:
    if not is_one_of(form, FORMS):
        raise InputError(f"unknown form of MMD {shown(form)}: {nearest_names(form, FORMS)}")


def _settled(reference: PointSet, parameters: Mapping[str, Any]) -> dict[str, Any]:
    """One kernel for all parts: half the median distance in the reference, unless one was given."""
    if parameters["bandwidth"] is not None:
        return {}
    values = reference.values
    nothing = values[:0]
    return {"bandwidth": median_bandwidth(values, nothing, Centres.of(values, values).both)[0]}


def _choose_bandwidth(pair: Pair, bandwidth: float | None, centres: Centres) -> tuple[float, str]:
    if bandwidth is None:
        return median_bandwidth(pair.reference.values, pair.candidate.values, centres.both)
    return check_number("bandwidth", bandwidth, above=0, what="a positive number"), "given"


def median_bandwidth(reference: Rows, candidate: Rows, centre: np.ndarray) -> tuple[float, str]:
    """Half the median pooled distance and the rule used; over 5,000 pooled rows a seeded subsample serves."""
    rule = "half the median pooled distance"
    total = len(reference) + len(candidate)
    if total > _POOL_FOR_MEDIAN:
        rule += f" of {_POOL_FOR_MEDIAN} rows, seed {_POOL_SEED}"
        share = round(_POOL_FOR_MEDIAN * len(reference) / total)
        reference = _sample(reference, share)
        candidate = _sample(candidate, _POOL_FOR_MEDIAN - share)
    pooled = together([reference, candidate])
    # Whole numbers have exact distances where they are.
    rows = distinct_rows(pooled if all_whole(pooled) else pooled - centre)
    device = accelerator_for(total // 2, total // 2) if isinstance(pooled, np.ndarray) else None
    median, of_different = tried_on(device, lambda there: _middle_there(there, rows)) or _middle_distances(rows)
    if median == 0 and of_different is not None:
        rule = rule.replace("median", "median non-zero")
        median = of_different
    # All points equal: any width gives the kernel 1 everywhere.
    return median / 2 or 1.0, rule


def _middle_there(device: str, rows: DistinctRows) -> tuple[float, float | None]:
    from ...geometry.device_kernels import middle_distances_on

    return middle_distances_on(device, rows)


def _middle_distances(rows: DistinctRows) -> tuple[float, float | None]:
    """The median distance of all pairs of samples; where that is 0 the one of pairs whose rows differ, if there are."""
    # Equal rows are at distance exactly 0; a difference of products would only be near 0.
    apart = _pair_distances(rows.values)
    weight = rows.weight
    if not rows.all_different:
        upper = np.triu_indices(len(weight), 1)
        apart = np.repeat(apart, weight[upper[0]] * weight[upper[1]])
    repeats = int(np.sum(weight * (weight - 1) // 2))
    median = float(np.median(np.concatenate([np.zeros(repeats), apart]) if repeats else apart))
    return median, float(np.median(apart)) if median == 0 and len(apart) else None


def _pair_distances(values: Rows) -> np.ndarray:
    """Distances of all unordered pairs of rows, row by row."""
    distances = np.empty(len(values) * (len(values) - 1) // 2)
    filled = 0
    apart = SquaredDistances(values, values, 0.0)
    for row in blocks(len(values), 512):
        squared = apart.tile(row, slice(row.start, len(values)))
        upper = squared[np.triu_indices(len(squared), 1, squared.shape[1])]
        distances[filled : filled + len(upper)] = upper
        filled += len(upper)
    return np.sqrt(distances, out=distances)


def _sample(values: Rows, size: int) -> Rows:
    rows = np.random.default_rng(_POOL_SEED).choice(len(values), size, replace=False)
    return values[content_order(values)[np.sort(rows)]]


METRIC = SetMetric(
    name="mmd",
    title="Maximum mean discrepancy",
    # Never below -1/n - 1/m, since the biased form is a squared norm; kernels are at most 1.
    outputs=(
        Output(
            "value", "squared MMD, unbiased", (-1.0, 2.0), notices="any shift of the whole set: topics, style, mixture"
        ),
    ),
    direction="lower",
    measure=_measure,
    relabel=_relabel,
    exchange=_exchange,
    settle=_settled,
    defaults={"bandwidth": None, "form": "unbiased"},
    ranges=lambda parameters: {"value": (0.0, INFINITY)} if parameters["form"] == "printed" else {},
    no_interval=lambda parameters: (
        "sums as printed grow with the sets, so half-samples lie elsewhere" if parameters["form"] == "printed" else ""
    ),
    moves_with_size=lambda parameters: parameters["form"] != "unbiased",
    swapped={"value": "value"},
    order=60,
    citation="Gretton et al. 2012, A Kernel Two-Sample Test, JMLR",
)
