"""How far scores agree with people: Pearson, Spearman and Kendall (tau-b and others), over systems and over texts.

System level: the correlation of two vectors of system means. Text level: the mean over inputs of the correlation across
systems; inputs on which either side does not vary say nothing, so they are left out and counted.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, Literal, overload

import numpy as np
from numpy.typing import ArrayLike

from ...checks import numbers_of
from ...errors import InputError, nearest_names, shown
from .kendall import row_taus
from .system_means import exponents

Coefficient = Literal["pearson", "spearman", "kendall", "kendall-a", "kendall-c", "gamma", "acc-eq"]
CONSTANT = 1e-12
"""A spread this small beside the numbers is rounding."""


@overload
def correlation(human: Sequence[float], scores: Sequence[float], coefficient: Coefficient = "pearson") -> float: ...


@overload
def correlation(
    human: Sequence[Sequence[float]], scores: Sequence[Sequence[float]], coefficient: Coefficient = "pearson"
) -> np.ndarray: ...


# The type of an array does not say whether it is a vector.
@overload
def correlation(human: ArrayLike, scores: ArrayLike, coefficient: Coefficient = "pearson") -> Any: ...


def correlation(human: ArrayLike, scores: ArrayLike, coefficient: Coefficient = "pearson") -> float | np.ndarray:
    """The correlation of two vectors, or of the rows of two equal arrays.

    Parameters
    ----------
    human, scores : array-like
        Two vectors, or two arrays of one shape whose rows belong together. Pairs with a NaN are left out.
    coefficient : str
        pearson, spearman, kendall (tau-b), kendall-a, kendall-c, gamma or acc-eq.

    Returns
    -------
    float or numpy.ndarray
        One number, or one for each row; NaN where a side does not vary.

    Examples
    --------
    >>> import recapture as rc
    >>> round(rc.correlation([1, 2, 3, 4], [1, 3, 2, 4], "kendall"), 3)
    0.667
    >>> rc.correlation([[1, 2, 3], [1, 2, 3]], [[2, 4, 6], [3, 2, 1]]).round(3).tolist()
    [1.0, -1.0]
    """
    first, second = numbers_of(human, "ratings"), numbers_of(scores, "scores")
    if first.shape != second.shape or first.ndim not in (1, 2):
        raise InputError(f"ratings have the shape {first.shape}, but scores {second.shape}: one vector each")
    if first.ndim == 2:
        return row_correlations(first, second, coefficient)
    return vector_correlation(first, second, coefficient)


def vector_correlation(first: np.ndarray, second: np.ndarray, coefficient: str) -> float:
    return float(row_correlations(first[None], second[None], coefficient)[0])


def row_correlations(first: np.ndarray, second: np.ndarray, coefficient: str) -> np.ndarray:
    """One number for each row of two equal shapes, NaN left out; NaN where a side has fewer than two different numbers
    (acc-eq, which has a use for ties: where fewer than two pairs of numbers are left)."""
    check_coefficient(coefficient)
    values = np.full(len(first), np.nan)
    known = np.isfinite(first) & np.isfinite(second)
    left = known.sum(axis=1)
    for count in np.unique(left[left > 1]):  # rows with equally many numbers are taken together
        rows = np.flatnonzero(left == count)
        if count == first.shape[1]:
            sides = (first[rows], second[rows]) if len(rows) < len(first) else (first, second)
        else:
            # The order of items does not matter to any coefficient.
            kept = np.argsort(~known[rows], axis=1, kind="stable")[:, :count]
            sides = np.take_along_axis(first[rows], kept, axis=1), np.take_along_axis(second[rows], kept, axis=1)
        values[rows] = _varied(*sides, coefficient)
    return values


def check_coefficient(coefficient: str) -> None:
    if not isinstance(coefficient, str) or coefficient not in ALL_COEFFICIENTS:
        raise InputError(f"unknown coefficient {shown(coefficient)}: {nearest_names(coefficient, ALL_COEFFICIENTS)}")


def _varied(first: np.ndarray, second: np.ndarray, coefficient: str) -> np.ndarray:
    values = np.full(len(first), np.nan)
    varies = np.ones(len(first), bool)
    sides = []
    for side in (first, second):
        if coefficient != "acc-eq":
            high, low = side.max(axis=1), side.min(axis=1)
            shift = exponents(np.maximum(high, -low))
            if shift is not None:
                high, low = np.ldexp(high, shift), np.ldexp(low, shift)
                # Ranks keep the numbers themselves: of very different ones the small would become 0.
                side = np.ldexp(side, shift[:, None]) if coefficient == "pearson" else side
            varies &= high - low > CONSTANT * np.maximum(high, -low)
        sides.append(side)
    if varies.any():
        every = varies.all()
        # Contiguous rows are summed in one order, however many there are.
        kept = [np.ascontiguousarray(side) if every else side[varies] for side in sides]
        defined = ALL_COEFFICIENTS[coefficient](kept[0], kept[1])
        values[varies] = np.where(np.isfinite(defined), np.clip(defined, -1.0, 1.0), np.nan)
    return values


def _pearson(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    sides = []
    for side in (first, second):
        centred = side - side.mean(axis=1, keepdims=True)
        sides.append(centred / np.linalg.norm(centred, axis=1, keepdims=True))
    return np.asarray((sides[0] * sides[1]).sum(axis=1))


def _spearman(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    from scipy.stats import rankdata

    return _pearson(rankdata(first, axis=1), rankdata(second, axis=1))


COEFFICIENTS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    "pearson": _pearson,
    "spearman": _spearman,
    "kendall": row_taus,
}
"""Those that papers report, and tables show where nobody asks for others."""

ALL_COEFFICIENTS: Mapping[str, Callable[[np.ndarray, np.ndarray], np.ndarray]] = {
    **COEFFICIENTS,
    "kendall-a": partial(row_taus, variant="a"),
    "kendall-c": partial(row_taus, variant="c"),
    "gamma": partial(row_taus, variant="gamma"),
    "acc-eq": partial(row_taus, variant="acc-eq"),
}
"""Those that can be asked for."""
