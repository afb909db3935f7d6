"""Permutation p-values: how often relabelled samples differ at least as much as the observed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from ..checks import array_of, check_function, plain_arguments, plain_value
from ..errors import InputError
from ..geometry.content_order import content_order
from ..geometry.labels import Labels
from ..progress import Progress
from ..texts.objects import samples_of
from .plans import Plan, Pvalue, plan

_SLACK = 1e-9
"""Real statistics that differ from the observed one by less than this share of it are taken as equal to it."""
_LOOP = 256
"""Labellings between two steps of the bar where the statistic takes them one by one."""


@dataclass(frozen=True, eq=False)
class Permutation:
    """One test of "references and candidates come from one distribution"."""

    pvalue: float
    """Share of labellings whose statistic is at least the observed one, which is among them once."""
    smallest: float
    """The smallest p-value these samples could have given."""
    statistic: float
    """Of the observed labelling; larger means more different."""
    exact: bool
    """Whether every partition was looked at."""
    labellings: int
    """How many were looked at, the observed one included; a symmetric statistic's mirror images are counted too."""
    greater: int
    """Labellings above the observed one."""
    equal: int
    """Labellings as far as the observed one, itself included."""
    expected: float
    """Mean of the statistic over the labellings."""
    null: np.ndarray
    """The statistic of every labelling looked at, the observed one first."""

    def randomised(self, uniform: float) -> float:
        """The p-value with ties broken by a number from [0, 1]: exactly uniform where nothing differs."""
        return (self.greater + uniform * self.equal) / self.labellings


def moves(values: np.ndarray, rounding: float = 0.0) -> bool:
    """Whether numbers differ by more than rounding alone may make them."""
    return bool(np.ptp(values) > _SLACK * float(np.abs(values).max()) + rounding)


def judge(null: np.ndarray, chosen: Plan, rounding: float = 0.0) -> Permutation:
    """The test whose labellings gave `null`, the observed one first. Integers are compared as such.

    rounding: how far rounding alone may move a statistic that comes near 0 by cancellation.
    """
    real = null.dtype.kind == "f"
    observed, largest = null[0], null.max()
    slack, at_top = (_SLACK * abs(float(value)) + rounding if real else 0 for value in (observed, largest))
    at_least = int(np.count_nonzero(null >= observed - slack))
    above = int(np.count_nonzero(null > observed + slack))
    top = int(np.count_nonzero(null >= largest - at_top))
    mirrored = 2 if chosen.symmetric and chosen.exact else 1
    rows = len(null)
    return Permutation(
        pvalue=at_least / rows,
        smallest=top / rows,
        statistic=float(observed),
        exact=chosen.exact,
        labellings=rows * mirrored,
        greater=above * mirrored,
        equal=(at_least - above) * mirrored,
        expected=float(null.mean()),
        null=null,
    )


@plain_arguments
def permutation_test(
    references: Sequence[object] | np.ndarray,
    candidates: Sequence[object] | np.ndarray,
    statistic: Callable[..., ArrayLike],
    *,
    pvalue: Pvalue = True,
    seed: int = 0,
    vectorized: bool = False,
    symmetric: bool = False,
) -> Permutation:
    """p-value of "references and candidates come from one distribution", by any statistic.

    Parameters
    ----------
    references, candidates : sequence or numpy.ndarray
        The samples of each side.
    statistic : callable
        (references, candidates) -> number, larger for sides that differ more; called once per labelling. With
        `vectorized`, a function of a batch of labellings that returns an array of one number each: the batch has
        `.reference` and `.candidate`, boolean arrays of labellings x samples, references first.
    pvalue : bool, int, "exact" or "sampled", default True
        True looks at all partitions where there are at most 200,000, else at 9,999 seeded ones; a number asks for that
        many, or all where there are no more; "exact" always looks at all, "sampled" always at 9,999 seeded ones.
    seed : int, default 0
        For partitions that are drawn at random.
    vectorized : bool, default False
        Whether the statistic takes many labellings at once.
    symmetric : bool, default False
        Whether the statistic stays the same when both sides change places.

    Returns
    -------
    Permutation
        `.pvalue`, `.smallest` (the smallest p-value these samples could have given), `.statistic`, `.exact`,
        `.labellings`, `.expected` (the statistic's mean over labellings), `.null` (every labelling's statistic, the
        observed one first).

    Notes
    -----
    Statistics that are whole numbers are compared exactly, others with a slack of 1e-9 of the observed number.

    Partitions that are drawn at random do not depend on the order of samples that are texts, numbers or rows of
    numbers; of other objects they do.

    Examples
    --------
    Of the 20 ways to part six numbers, only the observed one and its mirror image differ as much.

    >>> import numpy as np
    >>> import recapture as rc
    >>> rc.permutation_test([1, 2, 3], [11, 12, 13], lambda r, c: abs(np.mean(r) - np.mean(c))).pvalue
    0.1
    """
    references, candidates = _checked_side(references, "references"), _checked_side(candidates, "candidates")
    check_function("statistic", statistic, "that returns numbers")
    chosen = plan(len(references), len(candidates), pvalue=pvalue, seed=seed, symmetric=bool(symmetric))
    places = None
    if not chosen.exact:
        places = np.concatenate([_order(references), len(references) + _order(candidates)])
    under = statistic if vectorized else _one_by_one(statistic, references, candidates)
    parts = []
    with Progress("labellings", chosen.rows, "labelling") as progress:
        for drawn in chosen.blocks(None if vectorized else _LOOP):
            labels = drawn if places is None else _placed(drawn, places)
            parts.append(_statistics(under(labels)))
            if parts[-1].shape != (len(labels),):
                raise InputError(
                    f"the statistic returned shape {parts[-1].shape} for {len(labels)} labellings: one number each"
                )
            progress.advance(len(labels))
    null = np.concatenate(parts)
    if null.dtype.kind not in "iuf":
        raise InputError(f"the statistic must return numbers, not {null.dtype}")
    if null.dtype.kind == "f" and not np.isfinite(null).all():
        raise InputError(f"the statistic is {null[~np.isfinite(null)][0]} for some labelling")
    return judge(null, chosen)


def _order(samples: Sequence[object] | np.ndarray) -> np.ndarray:
    """The places of samples in order of content; of objects that have none that is known here, as they stand."""
    listed = list(samples)
    if all(isinstance(sample, str) for sample in listed):
        return np.array(sorted(range(len(listed)), key=lambda place: str(listed[place])))
    try:
        rows = array_of(samples, "samples").reshape(len(listed), -1)
    except (InputError, ValueError):
        rows = np.empty((0, 0))
    if rows.dtype.kind in "biuf" and rows.size and np.isfinite(rows).all():
        return content_order(rows)
    return np.arange(len(listed))


def _placed(drawn: Labels, places: np.ndarray) -> Labels:
    """Labels of samples in order of content, brought to where the samples stand."""
    reference, candidate = (np.empty_like(side) for side in (drawn.reference, drawn.candidate))
    reference[:, places], candidate[:, places] = drawn.reference, drawn.candidate
    return Labels(reference, candidate)


def _statistics(answers: Any) -> np.ndarray:
    """Real numbers as float64, which mean and spread of many need; whole ones as they are, to be compared exactly."""
    values = array_of(answers, "what the statistic returns")
    return values.astype(np.float64) if values.dtype.kind == "f" else values


def _checked_side(samples: Any, name: str) -> Any:
    if isinstance(samples, np.ma.MaskedArray) and np.ma.is_masked(samples):
        raise InputError(f"{name} have masked values: fill or drop them first")
    samples = samples_of(samples, name)
    if not isinstance(samples, Sized) or not getattr(samples, "ndim", 1):
        raise InputError(f"{name} must be a list or an array of samples, not {type(samples).__name__}")
    if not len(samples):
        raise InputError(f"there are no {name}")
    return samples


def _one_by_one(
    statistic: Callable[..., ArrayLike],
    references: Sequence[object] | np.ndarray,
    candidates: Sequence[object] | np.ndarray,
) -> Callable[[Labels], np.ndarray]:
    rows = isinstance(references, np.ndarray) and isinstance(candidates, np.ndarray)
    try:
        pooled = np.concatenate([references, candidates]) if rows else [*references, *candidates]
    except (TypeError, ValueError) as error:
        raise InputError(f"references and candidates do not go together: {error}") from None

    def pick(chosen: np.ndarray) -> Any:
        return pooled[chosen] if rows else [pooled[index] for index in np.flatnonzero(chosen)]

    def under(labels: Labels) -> np.ndarray:
        sides = zip(labels.reference, labels.candidate, strict=True)
        answers = (statistic(pick(reference), pick(candidate)) for reference, candidate in sides)
        return _statistics([plain_value(answer, "the statistic") for answer in answers])

    return under
