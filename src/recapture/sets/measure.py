"""From declared metrics and two sets to Results."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple, TypedDict

import numpy as np

from ..errors import InputError
from ..geometry.points import PointSet
from ..labellings.plans import check_seed, check_times
from ..progress import Progress
from ..report.result import Result
from ..versions import VERSION, installed_version
from . import uncertainty as corpus
from .declaration import Measurement, Metric
from .pair import Pair
from .uncertainty import Found

DEFAULT_DRAWS = 10


class Job(NamedTuple):
    """A metric and the parameters that differ from its defaults."""

    metric: Metric
    parameters: Mapping[str, Any]


class PairOptions(TypedDict, total=False):
    """What the function of every metric takes beside its own parameters."""

    balance: bool | int
    """Mean over that many subsamples of equal size (True: 10), where the sets differ in size."""
    interval: float | None
    """A level such as 0.95: adds `.intervals`."""
    pvalue: bool | int | str
    """True, "exact", "sampled" or a number of relabellings: adds `.pvalues` and `.nulls`."""
    ceiling: bool | int
    """Also score halves of the reference against each other (True: over 10 splits): adds `.ceilings`."""
    seed: int
    """For all that is drawn at random."""


class Options(PairOptions, total=False):
    encoder: Any
    """What turns texts into vectors; see `encode`."""


def measure(metric: Metric, reference: Any, candidate: Any, encoder: Any = None, **given: Any) -> Result:
    """Run one metric on arrays or texts, reference first. Every metric's public function is a call of this.

    given: `PairOptions`, and the metric's own parameters.
    """
    options = {name: given.pop(name) for name in PairOptions.__annotations__ if name in given}
    for name in given:
        if name not in metric.defaults:
            raise TypeError(f"{metric.name.replace('-', '_')}() got an unexpected keyword argument {name!r}")
    pair, identity, notes = make_pair(reference, candidate, encoder)
    return measure_pair([Job(metric, given)], pair, identity, notes=notes, **options)[0]


def make_pair(reference: Any, candidate: Any, encoder: Any) -> tuple[Pair, Any, list[str]]:
    """Both sides as checked arrays, what encoded them (None for arrays that came ready), and notes on their texts."""
    from ..representations.vectors import vectors_of

    made = vectors_of([reference, candidate], ["reference", "candidate"], encoder)
    pair = Pair(PointSet(made.sets[0], "reference"), PointSet(made.sets[1], "candidate"))
    return pair, made.identity, [note for notes in made.notes for note in notes]


def measure_pair(
    jobs: Sequence[Job],
    pair: Pair,
    identity: Any = None,
    *,
    balance: bool | int = False,
    balance_size: int | None = None,
    interval: float | None = None,
    pvalue: bool | int | str = False,
    ceiling: bool | int | Sequence[Found] = False,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> list[Result]:
    """Several metrics (or one at several k) on one pair, whose neighbourhoods they share.

    balance_size: samples a side in balanced subsamples; None: as many as the smaller side has.
    ceiling: also what `ceilings` has found for this reference before.
    """
    draws = check_draws(balance)
    level = corpus.check_level(interval)
    check_seed(seed)
    for job in jobs:
        _check_sizes(job.metric, pair)
    jobs = with_defaults(jobs, seed)
    measured = _measure_all(jobs, pair)
    size = balance_size or min(pair.sizes.values())
    balancing: dict[str, Any] = {}
    if draws and max(pair.sizes.values()) > size:
        measured = _balanced(jobs, pair, measured, size, draws, seed)
        balancing = {"balance": {"size": size, "draws": draws, "seed": seed}}
    found: dict[str, Sequence[Found]] = {}
    if isinstance(ceiling, Sequence):
        found["ceilings"] = ceiling
    elif splits := corpus.check_splits(ceiling):
        found["ceilings"] = corpus.ceilings(jobs, pair.reference, splits, seed, size if balancing else None)
    if level is not None:
        values = [each.values for each in measured]
        found["intervals"] = corpus.intervals(jobs, pair, values, level, seed, size if balancing else None)
    if pvalue is not False and pvalue is not None:
        found["pvalues"] = corpus.pvalues(jobs, pair, pvalue, seed)
    return [
        _result(job, pair, each, balancing, identity, notes, {name: all_jobs[at] for name, all_jobs in found.items()})
        for at, (job, each) in enumerate(zip(jobs, measured, strict=True))
    ]


def with_defaults(jobs: Sequence[Job], seed: int) -> list[Job]:
    """One seed for all that is drawn at random: subsamples, and clusterings where a metric has them."""
    return [
        Job(metric, {**metric.defaults, **({"seed": seed} if "seed" in metric.defaults else {}), **parameters})
        for metric, parameters in jobs
    ]


def _check_sizes(metric: Metric, pair: Pair) -> None:
    for points in (pair.reference, pair.candidate):
        if len(points) < metric.least_samples:
            raise InputError(
                f"{points.name} has {len(points)} sample{'s' * (len(points) != 1)}: "
                f"{metric.name} needs at least {metric.least_samples}"
            )


def _measure_all(jobs: Sequence[Job], pair: Pair) -> list[Measurement]:
    pair.expect(parameters["k"] for metric, parameters in jobs if metric.uses_neighbours)
    return [metric.measure(pair, **parameters) for metric, parameters in jobs]


def _result(
    job: Job,
    pair: Pair,
    measured: Measurement,
    balancing: Mapping[str, Any],
    identity: Any,
    notes: Sequence[str],
    found: Mapping[str, Found],
) -> Result:
    metric, parameters = job
    beside = {name: each.numbers for name, each in found.items()}
    return Result(
        metric=metric.name,
        values={output.name: float(measured.values[output.name]) for output in metric.outputs},
        direction=metric.direction,
        ranges={output.name: output.range for output in metric.outputs},
        sizes=pair.sizes,
        warnings=(*notes, *measured.warnings, *(each.warning for each in found.values() if each.warning)),
        signature={
            "metric": metric.name,
            **parameters,
            **measured.settings,
            **balancing,
            "encoder": identity or "vectors as given",
            "versions": {"recapture": VERSION, **{name: installed_version(name) for name in metric.libraries}},
        },
        details=measured.details,
        arrays={**measured.arrays, **measured.curves},
        **beside,
        nulls=found["pvalues"].nulls if "pvalues" in found else {},
        inference={name: each.record for name, each in found.items() if each.record},
    )


def check_draws(balance: bool | int) -> int:
    return check_times("balance", balance, DEFAULT_DRAWS, "subsamples")


def _balanced(
    jobs: Sequence[Job], pair: Pair, whole: Sequence[Measurement], size: int, draws: int, seed: int
) -> list[Measurement]:
    """Means over seeded subsamples of `size` rows of each set that has more. Flags per sample stay the whole sets'."""
    rng = np.random.default_rng(seed)
    runs = []
    with Progress("balanced subsamples", draws, "draw") as progress:
        for _ in range(draws):
            reference, candidate = (
                points if len(points) == size else _subsample(points, size, rng)
                for points in (pair.reference, pair.candidate)
            )
            runs.append(_measure_all(jobs, Pair(reference, candidate)))
            progress.advance()
    return [_mean_measurement(each, original) for *each, original in zip(*runs, whole, strict=True)]


def _subsample(points: PointSet, size: int, rng: np.random.Generator) -> PointSet:
    rows = np.sort(rng.choice(len(points), size, replace=False))
    return PointSet(points.values[rows], points.name)


def _mean_measurement(runs: Sequence[Measurement], whole: Measurement) -> Measurement:
    spread = {
        name: float(np.std([run.values[name] for run in runs], ddof=min(1, len(runs) - 1))) for name in whole.values
    }
    return Measurement(
        values=_mean([run.values for run in runs]),
        details={**_mean([run.details for run in runs]), "balance_spread": spread},
        arrays=whole.arrays,
        curves={name: np.mean([run.curves[name] for run in runs], axis=0) for name in whole.curves},
        # The first subsample speaks for all: its sizes, repeats and floors are theirs.
        warnings=runs[0].warnings,
        settings=whole.settings,
    )


def _mean(runs: Sequence[Any]) -> Any:
    """Mean of numbers, through nested mappings; None where any run has none."""
    first = runs[0]
    if isinstance(first, Mapping):
        return {key: _mean([run[key] for run in runs]) for key in first}
    return None if any(run is None for run in runs) else float(np.mean(runs))
