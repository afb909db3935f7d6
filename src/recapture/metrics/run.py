"""From a declared metric and two sets to a Result."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from importlib.metadata import PackageNotFoundError, version
from typing import Any

import numpy as np

from .. import __version__
from ..errors import InputError
from ..geometry.points import PointSet
from ..progress import Progress
from ..results.result import Result
from .metric import Measurement, Metric
from .pair import Pair

DEFAULT_DRAWS = 10


def measure(
    metric: Metric,
    reference: Any,
    candidate: Any,
    *,
    balance: bool | int = False,
    seed: int = 0,
    encoder: Any = None,
    **parameters: Any,
) -> Result:
    """Run one metric on arrays or texts, reference first. Every metric's public function is a call of this."""
    reference, candidate, identity = point_sets(reference, candidate, encoder)
    return measure_pair(metric, Pair(reference, candidate), parameters, identity, balance=balance, seed=seed)


def point_sets(reference: Any, candidate: Any, encoder: Any) -> tuple[PointSet, PointSet, Any]:
    """Both sides as checked arrays, and what encoded them (None for arrays that came ready)."""
    from ..representations.vectors import vectors_of

    (reference, candidate), identity = vectors_of([reference, candidate], ["reference", "candidate"], encoder)
    return PointSet(reference, "reference"), PointSet(candidate, "candidate"), identity


def measure_pair(
    metric: Metric,
    pair: Pair,
    parameters: Mapping[str, Any],
    identity: Any = None,
    *,
    balance: bool | int = False,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> Result:
    """The same for a prepared pair, whose neighbourhoods several metrics may share."""
    for points in (pair.reference, pair.candidate):
        if len(points) < metric.least_samples:
            raise InputError(
                f"{points.name} has {len(points)} sample{'s' * (len(points) != 1)}: "
                f"{metric.name} needs at least {metric.least_samples}"
            )
    # One seed for all that is drawn at random: subsamples, and clusterings where the metric has them.
    settings = {**metric.defaults, **({"seed": seed} if "seed" in metric.defaults else {}), **parameters}
    draws = check_draws(balance)
    measured = metric.measure(pair, **settings)
    if draws and len(pair.reference) != len(pair.candidate):
        measured = _balanced(metric, pair, settings, measured, draws, seed)
    signature = {
        "metric": metric.name,
        **settings,
        **measured.details.get("settings", {}),
        **({"balance": {"draws": draws, "seed": seed}} if draws else {}),
        "encoder": identity or "vectors as given",
        "versions": {"recapture": __version__, **{name: _version(name) for name in metric.libraries}},
    }
    return Result(
        metric=metric.name,
        values={output.name: float(measured.values[output.name]) for output in metric.outputs},
        direction=metric.direction,
        ranges={output.name: output.range for output in metric.outputs},
        sizes=pair.sizes,
        warnings=(*notes, *measured.warnings),
        signature=signature,
        details={name: value for name, value in measured.details.items() if name != "settings"},
        arrays=measured.arrays,
    )


def check_draws(balance: bool | int) -> int:
    """balance=True: the usual number of subsamples; balance=20: that many; False: none."""
    if balance is True:
        return DEFAULT_DRAWS
    if int(balance) != balance or balance < 0:
        raise InputError(f"balance must be true, false or a number of subsamples, not {balance!r}")
    return int(balance)


def _balanced(
    metric: Metric, pair: Pair, settings: Mapping[str, Any], whole: Measurement, draws: int, seed: int
) -> Measurement:
    """Means over seeded subsamples of the larger set, each as large as the smaller set.

    Flags per sample stay those of the whole sets.
    """
    size = min(pair.sizes.values())
    rng = np.random.default_rng(seed)
    runs = []
    with Progress(f"{metric.name}, balanced", draws, "draw") as progress:
        for _ in range(draws):
            reference, candidate = (
                points if len(points) == size else _subsample(points, size, rng)
                for points in (pair.reference, pair.candidate)
            )
            runs.append(metric.measure(Pair(reference, candidate), **settings))
            progress.advance()
    spread = {name: float(np.std([run.values[name] for run in runs], ddof=min(1, draws - 1))) for name in whole.values}
    unequal = [warning for warning in whole.warnings if not warning.startswith("set sizes differ")]
    return Measurement(
        values=_mean([run.values for run in runs]),
        details={**_mean([run.details for run in runs]), "balance_spread": spread},
        arrays=whole.arrays,
        warnings=tuple(unequal),
    )


def _subsample(points: PointSet, size: int, rng: np.random.Generator) -> PointSet:
    rows = np.sort(rng.choice(len(points), size, replace=False))
    return PointSet(points.values[rows], points.name)


def _mean(runs: Sequence[Any]) -> Any:
    """Mean of numbers, through nested mappings; None where any run has none; anything else as in the first run."""
    first = runs[0]
    if isinstance(first, Mapping):
        return {key: _mean([run[key] for run in runs]) for key in first}
    if any(run is None for run in runs):
        return None
    return float(np.mean(runs)) if isinstance(first, (int, float)) and not isinstance(first, bool) else first


def _version(package: str) -> str:
    try:
        return version(package)
    except PackageNotFoundError:  # pragma: no cover - a source tree that was never installed
        return "unknown"
