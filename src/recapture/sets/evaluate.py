"""Many metrics for one or several candidate sets against one reference set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ..errors import InputError, nearest_names
from ..geometry.points import PointSet
from ..labellings.plans import check_seed
from ..report import Results
from . import uncertainty as corpus
from .declaration import Metric, find_metric, list_metrics
from .measure import Job, check_draws, measure_pair, with_defaults
from .pair import Pair, check_k


def evaluate(
    references: Any,
    candidates: Any,
    metrics: str | Iterable[str] | None = None,
    encoder: Any = None,
    k: int | None = None,
    *,
    balance: bool | int = False,
    interval: float | None = None,
    pvalue: bool | int | str = False,
    ceiling: bool | int = True,
    seed: int = 0,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    offline: bool | None = None,
    cache: Any = None,
    reference_name: str = "reference",
) -> Results:
    """{candidate: {metric: Result}}, as a dict that also shows itself as a table.

    references: a list of texts, or an array of ready vectors; candidates: the same, or a mapping of names to such.
    metrics: names (default: all); encoder: see `encode`; k: one neighbourhood size for all metrics that have one
    (None: each its own default). balance: average over that many subsamples (True: 10), all as large as the smallest
    of all sets, so that candidates can be compared. interval: a level such as 0.95. pvalue: of "both sets come from one
    distribution", by relabelling (True, "exact", "sampled" or how many). ceiling: what one half of the reference scores
    against the other, mean over that many splits (True: 10). seed: for all that is drawn at random. options: parameters
    of single metrics, by name: {"prd": {"clusters": 10}}; a seed there is that of the metric's own clusterings alone.
    pooling, device, batch_size, offline, cache: for `encode`. reference_name: what messages call the reference.
    """
    chosen = choose_metrics(metrics)
    check_draws(balance)
    splits = corpus.check_splits(ceiling)
    corpus.check_level(interval)
    named = _named(candidates)
    from ..representations.vectors import holds_texts, vectors_of

    if k is not None and holds_texts(references) and all(map(len, (references, *named.values()))):
        # Before texts are encoded, which may take long.
        check_k(k, (reference_name, len(references)), *((_label(name), len(given)) for name, given in named.items()))
    if k is not None and not any(metric.uses_neighbours for metric in chosen):
        raise InputError(f"k was given, but {', '.join(metric.name for metric in chosen)} has no neighbourhoods")
    own = _own_parameters(chosen, options or {})
    given = {"pooling": pooling, "device": device, "batch_size": batch_size, "offline": offline, "cache": cache}
    encoding = {name: value for name, value in given.items() if value is not None}
    labels = [reference_name, *map(_label, named)]
    made = vectors_of([references, *named.values()], labels, encoder, **encoding)
    reference, *sets = (PointSet(values, label) for values, label in zip(made.sets, labels, strict=True))
    jobs = [
        Job(metric, ({"k": k} if k is not None and metric.uses_neighbours else {}) | own[metric.name])
        for metric in chosen
    ]
    smallest = min(map(len, (reference, *sets)))
    # Halves of one reference: the same for all candidates.
    size = smallest if balance and smallest < max(map(len, (reference, *sets))) else None
    ceilings = (
        corpus.ceilings(with_defaults(jobs, check_seed(seed)), reference, splits, seed, size) if splits else False
    )
    results = Results()
    for name, candidate, notes in zip(named, sets, made.notes[1:], strict=True):
        measured = measure_pair(
            jobs,
            Pair(reference, candidate),
            made.identity,
            balance=balance,
            balance_size=smallest,
            interval=interval,
            pvalue=pvalue,
            ceiling=ceilings,
            seed=seed,
            notes=[*made.notes[0], *notes],
        )
        results[name] = {result.metric: result for result in measured}
    return results


def _own_parameters(chosen: list[Metric], options: Mapping[str, Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Parameters by metric; what names no chosen metric, or no parameter of it, is refused."""
    own: dict[str, dict[str, Any]] = {metric.name: {} for metric in chosen}
    for name, parameters in options.items():
        metric = find_metric(name)
        if metric.name not in own:
            raise InputError(f"options for {metric.name}, which is not among the metrics: {', '.join(own)}")
        for parameter in parameters:
            if parameter not in metric.defaults:
                known = nearest_names(parameter, metric.defaults) if metric.defaults else "it has none"
                raise InputError(f"{metric.name} has no option {parameter!r}: {known}")
        own[metric.name] |= parameters
    return own


def choose_metrics(names: str | Iterable[str] | None) -> list[Metric]:
    """Declarations for names given as a list or as one comma-separated string; all metrics for None."""
    if names is None:
        return list(list_metrics().values())
    listed = names.split(",") if isinstance(names, str) else list(names)
    chosen = {metric.name: metric for metric in (find_metric(str(name)) for name in listed if str(name).strip())}
    if not chosen:
        raise InputError("no metric was named")
    return list(chosen.values())


def _named(candidates: Any) -> dict[str, Any]:
    if isinstance(candidates, Mapping):
        if not candidates:
            raise InputError("there is no candidate: the mapping is empty")
        named = {str(name): given for name, given in candidates.items()}
        if len(named) < len(candidates):
            raise InputError("two candidates have the same name")
        return named
    return {"candidate": candidates}


def _label(name: str) -> str:
    """What messages call a candidate."""
    return name if name == "candidate" else f"candidate {name!r}"
