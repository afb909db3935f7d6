"""Subsamples of one size, where two sets differ in size, and the mean of what was measured on them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..checks import check_draws
from ..geometry.points import PointSet
from ..progress import Progress
from .declaration import Measurement
from .pair import Pair

DRAWS = 10
"""Balanced subsamples, unless the caller says how many."""


def check_balance(balance: bool | int) -> int:
    return check_draws("balance", balance, DRAWS, "subsamples")


def subsamples(pair: Pair, size: int, draws: int, seed: int) -> Iterator[Pair]:
    """Seeded: `size` rows of each set that has more."""
    rng = np.random.default_rng(seed)
    with Progress("balanced subsamples", draws, "draw") as progress:
        for _ in range(draws):
            reference, candidate = (
                points if len(points) == size else _subsample(points, size, rng)
                for points in (pair.reference, pair.candidate)
            )
            yield Pair(reference, candidate)
            progress.advance()


def _subsample(points: PointSet, size: int, rng: np.random.Generator) -> PointSet:
    rows = np.sort(rng.choice(len(points), size, replace=False))
    return PointSet(points.values[rows], points.name)


def mean_measurement(runs: Sequence[Measurement], whole: Measurement) -> Measurement:
    """Flags per sample stay those of the whole sets."""
    spread = {
        name: float(np.std([run.values[name] for run in runs], ddof=min(1, len(runs) - 1))) for name in whole.values
    }
    return Measurement(
        values=_mean([run.values for run in runs]),
        details={**_mean([run.details for run in runs]), "balance_spread": spread},
        arrays=whole.arrays,
        curves={name: np.mean([run.curves[name] for run in runs], axis=0) for name in whole.curves},
        # Those of the first subsample: all have the same size, and much the same repeats and floors.
        warnings=runs[0].warnings,
        settings=whole.settings,
    )


def _mean(runs: Sequence[Any]) -> Any:
    """Mean of numbers, through nested mappings; None where any run has none."""
    first = runs[0]
    if isinstance(first, Mapping):
        return {key: _mean([run[key] for run in runs]) for key in first}
    return None if any(run is None for run in runs) else float(np.mean(runs))
