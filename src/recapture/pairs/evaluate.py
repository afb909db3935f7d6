"""From aligned lists to Results: what all metrics of aligned texts share."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np

from ..errors import InputError, nearest_names
from ..progress import Progress
from ..report import Results
from .declaration import (
    RULES,
    GroupScorer,
    PairMetric,
    Rule,
    Scored,
    TextPairScorer,
    choose_pair_metrics,
    find_pair_metric,
)
from .inputs import Aligned, aligned_texts, is_empty
from .outcome import Job, mean_without_nan, pair_result
from .shared import Shared
from .uncertainty import Intervals, asked_intervals

_CHUNK_CHARACTERS = 60_000
"""Texts whose vectors are held at once; some hundred pairs of sentences."""
DEFAULT = ("infolm", "me-words", "bertscore", "moverscore", "bleu", "chrf", "rouge", "meteor")

TextPair = tuple[str, str]


def evaluate_pairs(
    references: Any,
    candidates: Any,
    metrics: str | Iterable[str] | None = None,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    over_references: str | None = None,
    encoder: Any = None,
    model: Any = None,
    interval: float | None = None,
    seed: int = 0,
    device: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
    cache: Any = True,
) -> Results:
    """{system: {metric: Result}}: every candidate against its own references, for one or several systems.

    references: one entry per item, a text or a list of texts; candidates: one text per item, or a mapping of names to
    such lists. metrics: names (default: the common ones; see `list_pair_metrics`). options: parameters by metric, such
    as {"infolm": {"measure": "l2"}}. over_references: best or mean, for metrics without a rule of their own (default:
    each its own). encoder: for metrics on word vectors; model: the masked language model. interval: a level such as
    0.95, for an interval of every mean by a bootstrap over items with `seed`. batch_tokens: how many tokens go through
    a model at once; device, offline, cache: as for `encode`.

    Each result has the mean over items, or the corpus number where the metric has one, and an array of one score per
    item: `scores`, or `NAME_scores` where a metric has several numbers.
    """
    chosen = choose_pair_metrics(DEFAULT if metrics is None else metrics)
    given = {find_pair_metric(name).name: dict(values) for name, values in (options or {}).items()}
    unused = sorted(set(given) - {metric.name for metric in chosen})
    if unused:
        raise InputError(f"options were given for {unused[0]}, which is not among the metrics")
    shared = Shared(encoder, model, device=device, batch_tokens=batch_tokens, offline=offline, cache=cache)
    texts = aligned_texts(references, candidates)
    listed = [(metric, given.get(metric.name, {})) for metric in chosen]
    return _run(listed, texts, over_references, shared, asked_intervals(interval, seed))


def run_metric(
    metric: PairMetric,
    references: Any,
    candidates: Any,
    parameters: Mapping[str, Any],
    over_references: str | None = None,
    **options: Any,
) -> Any:
    """One metric by its public function: a Result, or {system: Result} where candidates is a mapping.

    options: those of `Shared` (encoder, model, device, batch_tokens, offline, cache).
    """
    shared = Shared(**options)
    results = _run([(metric, parameters)], aligned_texts(references, candidates), over_references, shared)
    if isinstance(candidates, Mapping):
        return {name: by_metric[metric.name] for name, by_metric in results.items()}
    return results["candidate"][metric.name]


def check_rule(metric: PairMetric, rule: str | None) -> Rule | None:
    if rule is None or metric.over_references is None:
        return metric.over_references
    if rule not in RULES:
        raise InputError(f"over_references is best or mean, not {rule!r}: {nearest_names(str(rule), RULES)}")
    return cast(Rule, rule)


def checked_parameters(
    chosen: Sequence[tuple[PairMetric, Mapping[str, Any]]], over: str | None = None
) -> list[tuple[PairMetric, dict[str, Any], Rule | None]]:
    """All parameters and the rule over references of every metric: what can be wrong without a model is said here."""
    made = []
    for metric, parameters in chosen:
        checked = metric.checked(parameters)
        metric.outputs_for(checked)
        made.append((metric, checked, check_rule(metric, over)))
    return made


def _run(
    chosen: Sequence[tuple[PairMetric, Mapping[str, Any]]],
    texts: Aligned,
    over: str | None,
    shared: Shared,
    intervals: Intervals | None = None,
) -> Results:
    jobs = []
    for metric, checked, rule in checked_parameters(chosen, over):
        jobs.append(Job(metric, checked, rule, metric.prepare(texts.groups, shared, **checked)))
    singles = _score_pairs([job for job in jobs if isinstance(job.scorer, TextPairScorer)], texts)
    results = Results({name: {} for name in texts.systems})
    for job in jobs:
        for name, candidates in texts.systems.items():
            if isinstance(job.scorer, TextPairScorer):
                scored = _joined(job, singles[job.metric.name], texts.groups, candidates)
            else:
                filled = [[text for text in group if not is_empty(text)] or [""] for group in texts.groups]
                scored = cast(GroupScorer, job.scorer).score(filled, candidates)
            results[name][job.metric.name] = pair_result(job, scored, texts.groups, candidates, intervals)
    return results


def _score_pairs(jobs: Sequence[Job], texts: Aligned) -> dict[str, dict[TextPair, tuple[float, ...]]]:
    """Every distinct pair once, by metric: chunk by chunk, so that all metrics find the texts of a chunk encoded."""
    distinct = {
        (reference, candidate)
        for candidates in texts.systems.values()
        for group, candidate in zip(texts.groups, candidates, strict=True)
        for reference in group
        if not is_empty(reference) and not is_empty(candidate)
    }
    made: dict[str, dict[TextPair, tuple[float, ...]]] = {job.metric.name: {} for job in jobs}
    if not jobs:
        return made
    with Progress("scoring pairs", len(distinct) * len(jobs), "pair") as progress:
        for chunk in _chunks(distinct):
            for job in jobs:
                numbers = cast(TextPairScorer, job.scorer).score(chunk)
                columns = [numbers[output.name].tolist() for output in job.metric.outputs_for(job.parameters)]
                made[job.metric.name].update(zip(chunk, zip(*columns, strict=True), strict=True))
                progress.advance(len(chunk))
    return made


def _chunks(pairs: Iterable[TextPair]) -> Iterator[list[TextPair]]:
    """Pairs with one reference stand together; the order in which they came does not matter."""
    chunk: list[TextPair] = []
    size = 0
    previous = None
    for reference, candidate in sorted(pairs, key=lambda pair: (len(pair[0]), pair)):
        needed = len(candidate) + (len(reference) if reference != previous else 0)
        if chunk and size + needed > _CHUNK_CHARACTERS:
            yield chunk
            chunk, size = [], 0
            needed = len(candidate) + len(reference)
        chunk.append((reference, candidate))
        size += needed
        previous = reference
    if chunk:
        yield chunk


def _joined(
    job: Job, known: Mapping[TextPair, tuple[float, ...]], groups: Sequence[Sequence[str]], candidates: Sequence[str]
) -> Scored:
    """One number per item from those of its references: each output by itself."""
    outputs = job.metric.outputs_for(job.parameters)
    worst = tuple(job.worst(output) for output in outputs)
    best = np.fmax if job.metric.direction == "higher" else np.fmin
    items = np.empty((len(candidates), len(outputs)))
    for position, (group, candidate) in enumerate(zip(groups, candidates, strict=True)):
        # An empty reference is one like others, with the worst score: it never is the best, but counts in a mean.
        rows = np.array([known.get((reference, candidate), worst) for reference in group])
        if job.rule == "best":
            items[position] = best.reduce(rows, axis=0)
        else:
            items[position] = mean_without_nan(rows)
    return Scored({output.name: items[:, place] for place, output in enumerate(outputs)})
