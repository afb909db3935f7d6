"""Every metric of two sets of vectors, context by context: MMD, Fréchet, MAUVE and the others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from ...declarations import INFINITY
from ...geometry.points import PointSet
from ...sets import declaration as sets
from ...sets.evaluate import Job, with_defaults
from ...sets.pair import Pair, check_k
from ..declaration import SIDES, Batch, ContextMetric, Settings
from ..uncertainty import Asked, ContextScores, judged


def _on_vectors(metric: sets.SetMetric, own: Mapping[str, Any] | None = None) -> ContextMetric:
    """own: parameters that differ from the metric's defaults."""
    chosen = metric.checked(own or {})
    if metric.uses_neighbours:
        check_k(chosen["k"])
    outputs = tuple(output.name for output in metric.outputs)
    symmetric = all(metric.swapped.get(name) == name for name in outputs)

    def score(batch: Batch, settings: Settings, asked: Asked) -> list[ContextScores]:
        plan = asked.plan(batch.references, batch.candidates, symmetric)
        ((_, parameters),) = with_defaults([Job(metric, {name: chosen[name] for name in own or {}})], settings.seed)
        towards = -1 if metric.direction == "higher" else 1
        scores = []
        for vectors in batch.vectors:
            halves = np.split(vectors, [batch.references])
            pair = Pair(*(PointSet(values, name) for values, name in zip(halves, SIDES, strict=True)))
            if plan is None or metric.relabel is None:
                values = metric.measure(pair, **parameters).values
                scores.append(ContextScores({name: float(values[name]) for name in outputs}))
                continue
            # Labellings that are drawn are drawn from samples in order of content; all of them need no order.
            under = metric.relabel(pair if plan.exact else pair.ordered, **parameters)
            parts = [under(labels) for labels in plan.blocks()]
            null = {name: np.concatenate([part[name] for part in parts]) for name in outputs}
            rounding = metric.rounding(pair)
            tests = {name: judged(towards * values, plan, asked.nulls, rounding) for name, values in null.items()}
            observed = {name: float(values[0]) for name, values in null.items()}
            expected = {name: float(values.mean()) for name, values in null.items()}
            scores.append(ContextScores(observed, tests, relabelled=expected))
        return scores

    least = max(metric.least_samples, chosen.get("k", 0) + 1)
    return ContextMetric(
        name=metric.name,
        title=metric.title,
        citation=metric.citation,
        direction=metric.direction,
        # The interval of a mean over contexts is not limited to the metric's range.
        outputs=tuple(replace(output, range=(-INFINITY, INFINITY)) for output in metric.outputs),
        score=score,
        least=(least, least),
        vectors=True,
        no_pvalue="its declaration has no relabel" if metric.relabel is None else "",
        tuned=partial(_on_vectors, metric),
        libraries=metric.libraries,
    )


def _family() -> Iterator[ContextMetric]:
    """One for every metric of two sets."""
    return map(_on_vectors, sets.METRICS.all().values())


METRIC = _family
