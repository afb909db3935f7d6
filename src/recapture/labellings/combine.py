"""Many p-values made into one, or into decisions.

Wilson (2019), The harmonic mean p-value for combining dependent tests, PNAS; Fisher (1932), Statistical Methods for
Research Workers; Holm (1979), A simple sequentially rejective multiple test procedure, Scand. J. Statist.; Benjamini
and Hochberg (1995), Controlling the false discovery rate, J. R. Statist. Soc. B.
"""

from __future__ import annotations

from collections.abc import Iterable, Sized
from typing import Any, NamedTuple

import numpy as np

from ..checks import numbers_of
from ..errors import InputError

_LANDAU_LOCATION = 0.874367
"""Wilson's Eq. 4: the heavy-tailed limit of the mean of 1/p over L tests has location ln L + this, scale pi/2."""


class HarmonicMean(NamedTuple):
    """`raw` is L / sum(1/p), which rejects a little too often; `corrected` is a p-value in its own right."""

    raw: float
    corrected: float


def harmonic_mean_p(pvalues: Iterable[float]) -> HarmonicMean:
    """One p-value for "no test found anything", valid for dependent tests.

    Parameters
    ----------
    pvalues : iterable of float
        Above 0 and at most 1.

    Returns
    -------
    HarmonicMean
        `.raw`, the harmonic mean, which rejects a little too often; `.corrected` by its limit law, a p-value in its own
        right.

    References
    ----------
    Wilson (2019), The harmonic mean p-value for combining dependent tests, PNAS.

    Examples
    --------
    2 / (1 / 0.02 + 1 / 0.04) = 2 / 75.

    >>> import recapture as rc
    >>> round(rc.harmonic_mean_p([0.02, 0.04]).raw, 4)
    0.0267
    """
    from scipy.stats import landau

    p = check_pvalues(pvalues)
    # Relative to the smallest p-value, because 1 / p overflows for very small ones.
    raw = p.min() * len(p) / np.sum(p.min() / p)
    with np.errstate(over="ignore"):
        mean = 1 / raw
    corrected = landau.sf(mean, loc=np.log(len(p)) + _LANDAU_LOCATION, scale=np.pi / 2) if len(p) > 1 else raw
    return HarmonicMean(float(raw), float(min(1.0, corrected)))


def fisher(pvalues: Iterable[float]) -> float:
    """One p-value for "no test found anything", for independent tests only.

    Under that hypothesis -2 sum ln p over L tests is chi-squared with 2L degrees of freedom.

    Parameters
    ----------
    pvalues : iterable of float
        Above 0 and at most 1.

    Returns
    -------
    float

    References
    ----------
    Fisher (1932), Statistical Methods for Research Workers.

    Examples
    --------
    Of two p-values with product q it is q (1 - ln q), here with q = 0.01.

    >>> import recapture as rc
    >>> round(rc.fisher([0.1, 0.1]), 4)
    0.0561
    """
    from scipy.stats import chi2

    p = check_pvalues(pvalues)
    return float(chi2.sf(-2 * np.sum(np.log(p)), 2 * len(p)))


def holm(pvalues: Iterable[float]) -> np.ndarray:
    """Holm's adjusted p-values: among those at most a level there is any false alarm with at most that chance.

    Parameters
    ----------
    pvalues : iterable of float
        Above 0 and at most 1.

    Returns
    -------
    numpy.ndarray
        In the order given.

    References
    ----------
    Holm (1979), A simple sequentially rejective multiple test procedure, Scand. J. Statist.

    Examples
    --------
    The smallest times 3; the next times 2; the last is never below the one before.

    >>> import recapture as rc
    >>> rc.holm([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.06, 0.06]
    """
    p = check_pvalues(pvalues)
    order = np.argsort(p, kind="stable")
    adjusted = np.maximum.accumulate(p[order] * np.arange(len(p), 0, -1))
    return _restored(adjusted, order)


def benjamini_hochberg(pvalues: Iterable[float]) -> np.ndarray:
    """Benjamini and Hochberg's adjusted p-values: among those at most a level that share may be false alarms.

    Parameters
    ----------
    pvalues : iterable of float
        Above 0 and at most 1.

    Returns
    -------
    numpy.ndarray
        In the order given.

    References
    ----------
    Benjamini and Hochberg (1995), Controlling the false discovery rate, J. R. Statist. Soc. B.

    Examples
    --------
    By rank: 0.01 times 3/1, 0.03 times 3/2, 0.04 times 3/3; none is above the one behind it.

    >>> import recapture as rc
    >>> rc.benjamini_hochberg([0.01, 0.04, 0.03]).round(4).tolist()
    [0.03, 0.04, 0.04]
    """
    p = check_pvalues(pvalues)
    order = np.argsort(p, kind="stable")
    ratio = p[order] * len(p) / np.arange(1, len(p) + 1)
    return _restored(np.minimum.accumulate(ratio[::-1])[::-1], order)


def check_pvalues(pvalues: Any) -> np.ndarray:
    if isinstance(pvalues, Iterable) and not isinstance(pvalues, (str, bytes, Sized)):
        pvalues = list(pvalues)
    p = numbers_of(pvalues, "p-values", "a list of numbers")
    if p.ndim != 1 or not len(p):
        raise InputError("p-values must be a list of at least one number")
    wrong = np.flatnonzero(~((p > 0) & (p <= 1)))
    if len(wrong):
        raise InputError(f"p-value {wrong[0] + 1} is {p[wrong[0]]:g}: p-values lie above 0 and reach at most 1")
    return p


def _restored(adjusted: np.ndarray, order: np.ndarray) -> np.ndarray:
    restored = np.empty_like(adjusted)
    restored[order] = np.minimum(adjusted, 1)
    return restored
