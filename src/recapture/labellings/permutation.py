"""Permutation p-values: how often relabelled samples differ at least as much as the observed ones."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.labels import Labels
from ..progress import Progress
from .plans import Plan, plan

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


def judge(null: np.ndarray, made: Plan, rounding: float = 0.0) -> Permutation:
    """The test whose labellings gave `null`, the observed one first. Integers are compared as such.

    rounding: how far rounding alone may move a statistic that comes near 0 by cancellation.
    """
    real = null.dtype.kind == "f"
    observed, largest = null[0], null.max()
    slack, at_top = (_SLACK * abs(float(value)) + rounding if real else 0 for value in (observed, largest))
    at_least = int(np.count_nonzero(null >= observed - slack))
    above = int(np.count_nonzero(null > observed + slack))
    top = int(np.count_nonzero(null >= largest - at_top))
    mirrored = 2 if made.symmetric and made.exact else 1
    rows = len(null)
    return Permutation(
        pvalue=at_least / rows,
        smallest=top / rows,
        statistic=float(observed),
        exact=made.exact,
        labellings=rows * mirrored,
        greater=above * mirrored,
        equal=(at_least - above) * mirrored,
        expected=float(null.mean()),
        null=null,
    )


def permutation_test(
    references: Sequence[Any],
    candidates: Sequence[Any],
    statistic: Callable[..., Any],
    *,
    pvalue: bool | int | str = True,
    seed: int = 0,
    vectorized: bool = False,
    symmetric: bool = False,
) -> Permutation:
    """p-value of "references and candidates come from one distribution" for any statistic, larger = more different.

    statistic: (references, candidates) -> number, called once per labelling; or, with `vectorized`, a function of a
    `Labels` batch (`.reference`, `.candidate`: labellings x samples, references first) that returns an array. Arrays of
    whole numbers are compared exactly, others with a slack of 1e-9 of the observed number.
    pvalue: True looks at all partitions where there are at most 200,000, else at 9,999 seeded ones; a number asks for
    that many, or all where there are no more; "exact" and "sampled" insist.
    symmetric: the statistic does not mind which side is which.
    """
    if not len(references) or not len(candidates):
        raise InputError(f"there are no {'candidates' if len(references) else 'references'}")
    made = plan(len(references), len(candidates), pvalue=pvalue, seed=seed, symmetric=symmetric)
    under = statistic if vectorized else _one_by_one(statistic, references, candidates)
    parts = []
    with Progress("labellings", made.rows, "labelling") as progress:
        for labels in made.blocks(None if vectorized else _LOOP):
            parts.append(np.asarray(under(labels)))
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
    return judge(null, made)


def _one_by_one(
    statistic: Callable[[Any, Any], float], references: Sequence[Any], candidates: Sequence[Any]
) -> Callable[[Labels], np.ndarray]:
    rows = isinstance(references, np.ndarray) and isinstance(candidates, np.ndarray)
    pooled = np.concatenate([references, candidates]) if rows else [*references, *candidates]

    def pick(chosen: np.ndarray) -> Any:
        return pooled[chosen] if rows else [pooled[index] for index in np.flatnonzero(chosen)]

    def under(labels: Labels) -> np.ndarray:
        sides = zip(labels.reference, labels.candidate, strict=True)
        return np.array([statistic(pick(reference), pick(candidate)) for reference, candidate in sides])

    return under
