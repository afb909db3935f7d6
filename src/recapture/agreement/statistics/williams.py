"""Williams' test: do two metrics correlate with people equally well?

Williams (1959), The comparison of regression variables, J. R. Statist. Soc. B, in the form of Steiger (1980). The two
correlations share people's scores and so depend on each other, which the correlation of the two metrics accounts for.
The p-value comes from normal theory: good for Pearson correlations of independent items, a habit for others.
"""

from __future__ import annotations

import sys
from typing import Literal, NamedTuple

import numpy as np

from ...checks import check_number, is_whole, plain_arguments
from ...errors import InputError, shown
from .argument_checks import check_alternative

_MOST_SYSTEMS = 10**15
_ROUNDING = 1e-9
_SAME = 1 - 1e-12
"""Metrics that correlate by this are one: what is left is rounding."""


class Williams(NamedTuple):
    statistic: float
    """Above 0 where the first metric correlates better."""
    pvalue: float
    """Never 0: numbers too small for a double are its smallest."""
    dof: int


@plain_arguments
def williams_test(
    r12: float, r13: float, r23: float, n: int, alternative: Literal["two-sided", "greater", "less"] = "greater"
) -> Williams:
    """Williams' test that two metrics correlate with people equally well.

    Where the two metrics are one up to scale (r23 = 1), t is 0: p = 1, one-sided .5. Where they are mirror images
    (r23 = -1) the statistic is 0/0, which is an error.

    Parameters
    ----------
    r12, r13
        The first metric's correlation with people, and the second's. Correlations keep their signs: some programs take
        absolute values, for which a metric that ranks upside down is a good one.
    r23
        The correlation of the two metrics.
    n
        Systems, or whatever the correlations are over; at least four.
    alternative
        "greater" means that the first metric correlates better.

    Returns
    -------
    Williams
        statistic, pvalue and dof.

    Examples
    --------
    >>> import recapture as rc
    >>> result = rc.williams_test(0.6, 0.4, 0.5, n=50)
    >>> round(result.statistic, 4), round(result.pvalue, 4), result.dof
    (1.7051, 0.0474, 47)
    """
    check_alternative(alternative, ("two-sided", "greater", "less"))
    if not is_whole(n):
        raise InputError(f"n must be a whole number of systems, not {shown(n)}")
    if n < 4:
        raise InputError(f"Williams' test needs at least four systems, but there are {n}")
    if n > _MOST_SYSTEMS:
        raise InputError(f"n is at most {_MOST_SYSTEMS:,}, not {n:,}")
    named = {"r12": r12, "r13": r13, "r23": r23}
    given = np.array([check_number(name, r, what="a correlation, between -1 and 1") for name, r in named.items()])
    if not (np.abs(given) <= 1 + _ROUNDING).all():
        raise InputError(f"correlations lie between -1 and 1, not {', '.join(f'{r:g}' for r in given)}")
    r12, r13, r23 = (float(r) for r in np.clip(given, -1, 1))
    statistic = _statistic(r12, r13, r23, n)
    return Williams(statistic, _pvalue(statistic, n - 3, alternative), n - 3)


def _statistic(r12: float, r13: float, r23: float, n: int) -> float:
    determinant = 1 - r12**2 - r13**2 - r23**2 + 2 * r12 * r13 * r23
    if determinant < -_ROUNDING:
        raise InputError(
            f"no three variables correlate by {r12:g}, {r13:g} and {r23:g} at once (the determinant is "
            f"{determinant:g}): Williams' test needs correlations of one kind over the same items"
        )
    if r12 == r13 or r23 >= _SAME:
        return 0.0
    if r23 <= -_SAME:
        raise InputError(
            "one metric is the mirror image of the other, for which Williams' test is undefined: permute instead"
        )
    below = 2 * max(determinant, 0.0) * (n - 1) / (n - 3) + ((r12 + r13) / 2) ** 2 * (1 - r23) ** 3
    above = (r12 - r13) * np.sqrt((n - 1) * (1 + r23))
    return float(above / np.sqrt(below)) if below > 0 else float(np.copysign(np.inf, above))


def _pvalue(statistic: float, dof: int, alternative: str) -> float:
    from scipy.stats import t

    if alternative == "two-sided":
        p = 2 * t.sf(abs(statistic), dof)
    else:
        p = t.sf(statistic if alternative == "greater" else -statistic, dof)
    return max(min(1.0, float(p)), sys.float_info.min)
