"""From two or more sets to Results: one metric or many, one candidate or several, against one reference."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple, TypedDict, TypeVar

import numpy as np

from ..checks import check_draws, check_level, check_seed
from ..declarations import fill_docstring
from ..errors import InputError
from ..geometry.points import PointSet
from ..labellings.plans import Pvalue
from ..progress import Progress
from ..report.result import Result
from ..texts.objects import samples_of
from . import uncertainty
from .declaration import METRICS, Measurement, SetMetric
from .pair import Pair, check_k
from .table import SetResults
from .uncertainty import Sureness

if TYPE_CHECKING:
    import os

    from ..representations.encoder import EncoderLike
    from ..representations.vector_cache import VectorCache
    from ..representations.vectors import SampleSet

Function = TypeVar("Function", bound=Callable[..., Any])
DRAWS = 10
"""Balanced subsamples, unless the caller says how many."""


class Job(NamedTuple):
    """A metric and the parameters that differ from its defaults."""

    metric: SetMetric
    parameters: Mapping[str, Any]


class PairOptions(TypedDict, total=False):
    """What the function of every metric takes beside its own parameters; `_OPTIONS` below says what each means."""

    balance: bool | int
    interval: float | None
    pvalue: Pvalue
    ceiling: bool | int
    seed: int


class Options(PairOptions, total=False):
    encoder: EncoderLike | None


def evaluate(
    references: SampleSet,
    candidates: SampleSet | Mapping[str, SampleSet],
    metrics: str | Iterable[str] | None = None,
    encoder: EncoderLike | None = None,
    k: int | None = None,
    *,
    balance: bool | int = False,
    interval: float | None = None,
    pvalue: Pvalue = False,
    ceiling: bool | int = True,
    seed: int = 0,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    offline: bool | None = None,
    cache: bool | str | os.PathLike[str] | VectorCache | None = None,
    reference_name: str = "reference",
) -> SetResults:
    """How close one or several candidate sets are to a reference set, by many metrics.

    Parameters
    ----------
    references : list of str or array of shape (samples, dimensions)
        The reference set: texts, or ready vectors.
    candidates : list of str, array, or mapping of str to such
        One candidate set in the same form, or several by name.
    metrics : str or iterable of str, optional
        Names, as a list or separated by commas (default: all, see `list_metrics`).
    encoder : str, path, callable or Encoder, optional
        What turns texts into vectors; see `encode`.
    k : int, optional
        One neighbourhood size for all metrics that have one (None: each its own default).
    balance : bool or int, default False
        Average over that many subsamples (True: 10), all as large as the smallest of all sets, so that candidates can
        be compared.
    interval : float, optional
        A level such as 0.95, for an interval around every number.
    pvalue : bool, int, "exact" or "sampled", default False
        Test whether both sets come from one distribution, by relabelling. True: all relabellings where there are at
        most 200,000, else 999 random ones. A number: that many, or all where there are no more. "exact": all,
        "sampled": 999 random ones.
    ceiling : bool or int, default True
        What one half of the reference scores against the other, mean over that many splits (True: 10).
    seed : int, default 0
        For all that is drawn at random.
    options : mapping of str to mapping, optional
        Parameters of single metrics, by name, such as {"prd": {"clusters": 10}}; a seed there is that of the metric's
        own clusterings alone.
    pooling, device, batch_size, offline, cache
        For `encode`.
    reference_name : str
        What messages call the reference.

    Returns
    -------
    SetResults
        {candidate: {metric: Result}}, as a dict that also shows itself as a table and writes itself down.

    See Also
    --------
    evaluate_pairs : every candidate against references of its own.
    evaluate_contexts : several candidates against several references, context by context.

    Examples
    --------
    >>> import numpy as np
    >>> import recapture as rc
    >>> reference, candidate = np.random.default_rng(0).standard_normal((2, 200, 8))
    >>> results = rc.evaluate(reference, {"good": candidate, "far": candidate + 9}, "precision-recall")
    >>> results["far"]["precision-recall"].precision
    0.0
    """
    chosen = METRICS.choose(metrics)
    check_balance(balance)
    splits = uncertainty.check_splits(ceiling)
    check_level(interval)
    named = _named(candidates)
    from ..representations.vectors import holds_texts, vectors_of

    labels = [reference_name, *map(_label, named)]
    every_set = [samples_of(each, label) for each, label in zip([references, *named.values()], labels, strict=True)]
    if k is not None and holds_texts(every_set[0]) and all(map(len, every_set)):
        # Before texts are encoded, which may take long.
        check_k(k, *zip(labels, map(len, every_set), strict=True))
    if k is not None and not any(metric.uses_neighbours for metric in chosen):
        raise InputError(f"k was given, but {', '.join(metric.name for metric in chosen)} has no neighbourhoods")
    own = METRICS.own_parameters(chosen, options)
    asked = {"pooling": pooling, "device": device, "batch_size": batch_size, "offline": offline, "cache": cache}
    encoding = {name: value for name, value in asked.items() if value is not None}
    vectors = vectors_of(every_set, labels, encoder, **encoding)
    reference, *sets = (PointSet(values, label) for values, label in zip(vectors.sets, labels, strict=True))
    jobs = [
        Job(metric, ({"k": k} if k is not None and metric.uses_neighbours else {}) | own[metric.name])
        for metric in chosen
    ]
    smallest = min(map(len, (reference, *sets)))
    # Halves of one reference: the same for all candidates.
    size = smallest if balance and smallest < max(map(len, (reference, *sets))) else None
    ceilings = (
        uncertainty.ceilings(with_defaults(jobs, check_seed(seed)), reference, splits, seed, size) if splits else False
    )
    results = SetResults()
    for name, candidate, notes in zip(named, sets, vectors.notes[1:], strict=True):
        measured = measure_pair(
            jobs,
            Pair(reference, candidate),
            vectors.identity,
            balance=balance,
            balance_size=smallest,
            interval=interval,
            pvalue=pvalue,
            ceiling=ceilings,
            seed=seed,
            notes=[*vectors.notes[0], *notes],
        )
        results[name] = {result.metric: result for result in measured}
    return results


def measure(
    metric: SetMetric, reference: SampleSet, candidate: SampleSet, encoder: EncoderLike | None = None, **parameters: Any
) -> Result:
    """Run one metric on arrays or texts, reference first. Every metric's public function is a call of this.

    parameters: the options of `PairOptions`, and the metric's own.
    """
    options = {name: parameters.pop(name) for name in PairOptions.__annotations__ if name in parameters}
    metric.checked(parameters)
    pair, identity, notes = make_pair(reference, candidate, encoder)
    return measure_pair([Job(metric, parameters)], pair, identity, notes=notes, **options)[0]


_OPTIONS = """
    - balance (bool or int, default False): where the sets differ in size, average over that many subsamples of
      equal size (True: 10).
    - interval (float, default None): a level such as 0.95; adds `.intervals`.
    - pvalue (bool, int, "exact" or "sampled", default False): test whether both sets come from one distribution, by
      relabelling; adds `.pvalues` and `.nulls`. True: all relabellings where there are at most 200,000, else 999
      random ones. A number: that many, or all where there are no more. "exact": all, "sampled": 999 random ones.
    - ceiling (bool or int, default False): also score halves of the reference against each other (True: mean over
      10 splits); adds `.ceilings`.
    - seed (int, default 0): for all that is drawn at random.
"""
_DOCSTRING_PARTS = {
    "sides": """
reference : list of str or array of shape (samples, dimensions)
    The reference set: texts, or ready vectors.
candidate : list of str or array of shape (samples, dimensions)
    The candidate set, in the same form.
""",
    "options": f"""
**options
    What all metrics of two sets take; everything is optional:
{_OPTIONS}    - encoder (str, path, callable or Encoder, default None): what turns texts into vectors; see `encode`.
""",
    "pair_options": f"""
**options
    As for `mark_evaluate`; everything is optional:
{_OPTIONS}""",
}
"""What the docstrings of all metrics of two sets say alike."""


def set_function(function: Function) -> Function:
    """The public function of a metric of two sets, with the parts of its docstring that all of them share."""
    fill_docstring(function, _DOCSTRING_PARTS)
    return function


def make_pair(
    reference: SampleSet, candidate: SampleSet, encoder: EncoderLike | None
) -> tuple[Pair, dict[str, Any] | None, list[str]]:
    """Both sides as checked arrays, what encoded them (None for arrays that came ready), and notes on their texts."""
    from ..representations.vectors import vectors_of

    vectors = vectors_of([reference, candidate], ["reference", "candidate"], encoder)
    pair = Pair(PointSet(vectors.sets[0], "reference"), PointSet(vectors.sets[1], "candidate"))
    return pair, vectors.identity, [note for notes in vectors.notes for note in notes]


def measure_pair(
    jobs: Sequence[Job],
    pair: Pair,
    identity: Any = None,
    *,
    balance: bool | int = False,
    balance_size: int | None = None,
    interval: float | None = None,
    pvalue: Pvalue = False,
    ceiling: bool | int | Sequence[Sureness] = False,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> list[Result]:
    """Several metrics (or one at several k) on one pair, whose neighbourhoods they share.

    balance_size: samples a side in balanced subsamples; None: as many as the smaller side has.
    ceiling: also what `uncertainty.ceilings` has found for this reference before.
    """
    draws = check_balance(balance)
    level = check_level(interval)
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
    sureness: dict[str, Sequence[Sureness]] = {}
    if isinstance(ceiling, Sequence):
        sureness["ceilings"] = ceiling
    elif splits := uncertainty.check_splits(ceiling):
        sureness["ceilings"] = uncertainty.ceilings(jobs, pair.reference, splits, seed, size if balancing else None)
    if level is not None:
        values = [measurement.values for measurement in measured]
        sureness["intervals"] = uncertainty.intervals(jobs, pair, values, level, seed, size if balancing else None)
    if pvalue is not False and pvalue is not None:
        sureness["pvalues"] = uncertainty.pvalues(jobs, pair, pvalue, seed)
    return [
        _result(
            job, pair, measurement, balancing, identity, notes, {name: by_job[at] for name, by_job in sureness.items()}
        )
        for at, (job, measurement) in enumerate(zip(jobs, measured, strict=True))
    ]


def with_defaults(jobs: Sequence[Job], seed: int) -> list[Job]:
    """One seed for all that is drawn at random: subsamples, and clusterings where a metric has them."""
    return [
        Job(metric, {**metric.defaults, **({"seed": seed} if "seed" in metric.defaults else {}), **parameters})
        for metric, parameters in jobs
    ]


def check_balance(balance: bool | int) -> int:
    return check_draws("balance", balance, DRAWS, "subsamples")


def _named(candidates: Any) -> dict[str, Any]:
    if isinstance(candidates, Mapping):
        if not candidates:
            raise InputError("there is no candidate: the mapping is empty")
        named = {str(name): samples for name, samples in candidates.items()}
        if len(named) < len(candidates):
            raise InputError("two candidates have the same name")
        return named
    return {"candidate": candidates}


def _label(name: str) -> str:
    """What messages call a candidate."""
    return name if name == "candidate" else f"candidate {name!r}"


def _check_sizes(metric: SetMetric, pair: Pair) -> None:
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
    sureness: Mapping[str, Sureness],
) -> Result:
    metric, parameters = job
    settings = {**parameters, **measured.settings, **balancing, "encoder": identity or "vectors as given"}
    return Result(
        metric=metric.name,
        values={output.name: float(measured.values[output.name]) for output in metric.outputs},
        direction=metric.direction,
        ranges={output.name: output.range for output in metric.outputs},
        sizes=pair.sizes,
        warnings=(*notes, *measured.warnings, *(said.warning for said in sureness.values() if said.warning)),
        signature=metric.signature(settings),
        details=measured.details,
        arrays={**measured.arrays, **measured.curves},
        **{name: said.numbers for name, said in sureness.items()},
        nulls=sureness["pvalues"].nulls if "pvalues" in sureness else {},
        inference={name: said.record for name, said in sureness.items() if said.record},
    )


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
    return [_mean_measurement(of_job, original) for *of_job, original in zip(*runs, whole, strict=True)]


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
