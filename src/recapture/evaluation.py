"""Many metrics for one or several candidate sets against one reference set."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .errors import InputError
from .geometry.points import PointSet
from .metrics.metric import Metric, find_metric, list_metrics
from .metrics.pair import Pair, check_k
from .metrics.run import Job, check_draws, measure_pair
from .results.result import Result


def evaluate(
    references: Any,
    candidates: Any,
    metrics: str | Iterable[str] | None = None,
    encoder: Any = None,
    k: int | None = None,
    *,
    balance: bool | int = False,
    seed: int = 0,
    reference_name: str = "reference",
    **encoding: Any,
) -> dict[str, dict[str, Result]]:
    """{candidate: {metric: Result}}.

    references: a list of texts, or an array of ready vectors; candidates: the same, or a mapping of names to such.
    metrics: names (default: all); encoder: see `encode`; k: one neighbourhood size for all metrics that have one
    (None: each its own default). balance, seed: average over equal-size subsamples. reference_name: what messages
    call the reference. Further keywords (`pooling`, `device`, `batch_size`, `offline`, `cache`) go to `encode`.
    """
    chosen = choose_metrics(metrics)
    check_draws(balance)
    named = _named(candidates)
    from .representations.vectors import holds_texts, vectors_of

    if k is not None and holds_texts(references) and all(map(len, (references, *named.values()))):
        # Before texts are encoded, which may take long.
        check_k(k, (reference_name, len(references)), *((_label(name), len(given)) for name, given in named.items()))
    vectors, identity = vectors_of([references, *named.values()], [reference_name, *named], encoder, **encoding)
    reference = PointSet(vectors[0], reference_name)
    results: dict[str, dict[str, Result]] = {}
    for (name, given), values in zip(named.items(), vectors[1:], strict=True):
        label = _label(name)
        notes = [*_empty_texts(references, reference_name), *_empty_texts(given, label)]
        jobs = [Job(metric, {"k": k} if k is not None and metric.uses_neighbours else {}) for metric in chosen]
        pair = Pair(reference, PointSet(values, label))
        measured = measure_pair(jobs, pair, identity, balance=balance, seed=seed, notes=notes)
        results[name] = {result.metric: result for result in measured}
    return results


def choose_metrics(names: str | Iterable[str] | None) -> list[Metric]:
    """Declarations for names given as a list or as one comma-separated string; all metrics for None."""
    if names is None:
        return list(list_metrics().values())
    listed = names.split(",") if isinstance(names, str) else list(names)
    chosen = {metric.name: metric for metric in (find_metric(name) for name in listed if name.strip())}
    if not chosen:
        raise InputError("no metric was named")
    return list(chosen.values())


def _named(candidates: Any) -> dict[str, Any]:
    if isinstance(candidates, Mapping):
        if not candidates:
            raise InputError("there is no candidate: the mapping is empty")
        return {str(name): given for name, given in candidates.items()}
    return {"candidate": candidates}


def _label(name: str) -> str:
    """What messages call a candidate."""
    return name if name == "candidate" else f"candidate {name!r}"


def _empty_texts(given: Any, label: str) -> list[str]:
    if not isinstance(given, Sequence) or not all(isinstance(text, str) for text in given):
        return []
    empty = sum(not text.strip() for text in given)
    return [f"{empty} of {len(given)} texts of {label} are empty; they were kept"] if empty else []
