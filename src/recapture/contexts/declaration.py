"""The metrics of a context, by name: built on any pairwise metric, on any metric of vectors, or on the texts alone.

trm-NAME         triangle rank over the distances of a pairwise metric
NAME             the pairwise metric's mean over candidates, by its own rule over references; NAME-max, NAME-mean
dispersion-NAME  mean distance within each side
mmd, frechet ... every metric of two sets of vectors
self-bleu, distinct-1, distinct-2   variety of each side, without looking at the other
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import InputError, nearest_names
from ..geometry.points import PointSet
from ..geometry.triangles import Ties
from ..report.result import Direction
from ..sets.declaration import Metric, list_metrics
from ..sets.measure import Job, with_defaults
from ..sets.pair import Pair
from ..similarity.scorer import Pairwise, list_pairwise
from .distances import as_distances
from .metrics.aggregate import Rule, score_aggregate
from .metrics.dispersion import central_and_dispersion
from .metrics.triangle_rank import score_triangles
from .uncertainty import Asked, Scored, judged

SIDES = ("reference", "candidate")


@dataclass(frozen=True)
class Batch:
    """Contexts of one shape, with what their metrics need."""

    references: int
    candidates: int
    texts: Sequence[Sequence[str]]
    """Of each context, references first."""
    squares: Mapping[str, np.ndarray]
    """Scores of all texts of each context against each other, by pairwise metric: (contexts, texts, texts)."""
    vectors: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class Settings:
    """Choices that hold for all metrics of a run."""

    ties: Ties = "split"
    directed: bool = False
    seed: int = 0


@dataclass(frozen=True)
class ContextMetric:
    """One metric of contexts."""

    name: str
    title: str
    direction: Direction | None
    """Which way is better; None where neither is."""
    score: Callable[[Batch, Settings, Asked], list[Scored]]
    outputs: tuple[str, ...] = ("value",)
    least: tuple[int, int] = (2, 1)
    """Fewest references and candidates."""
    pairwise: str | None = None
    vectors: bool = False
    tested: bool = True
    """Whether it has a p-value."""
    libraries: tuple[str, ...] = ("numpy",)
    ranges: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    """Smallest and largest possible number, by output."""

    def too_small(self, references: int, candidates: int) -> str | None:
        """Why a context cannot be scored, if it cannot."""
        for side, count, least in zip(("references", "candidates"), (references, candidates), self.least, strict=True):
            if count < least:
                return f"{count} {side[:-1] if count == 1 else side}, needs {least}"
        return None


DEFAULT = ("trm-meteor", "trm-cider", "trm-embedding", "mmd", "frechet", "mauve", "meteor", "cider")


def find_context_metrics(names: str | Sequence[str] | None) -> list[ContextMetric]:
    """Metrics for names given as a list or one comma-separated string; None: the usual ones."""
    listed = names.split(",") if isinstance(names, str) else list(DEFAULT if names is None else names)
    known = known_context_metrics()
    chosen: dict[str, ContextMetric] = {}
    for name in (str(each).strip().lower().replace("_", "-") for each in listed):
        if not name:
            continue
        if name not in known:
            raise InputError(f"unknown metric of contexts {name!r}: {nearest_names(name, known)}")
        chosen[name] = known[name]()
    if not chosen:
        raise InputError("no metric was named")
    return list(chosen.values())


def known_context_metrics() -> dict[str, Callable[[], ContextMetric]]:
    """How to make each metric, by its name."""
    known: dict[str, Callable[[], ContextMetric]] = {}
    for name, pairwise in list_pairwise().items():
        known[f"trm-{name}"] = lambda pairwise=pairwise: _triangles(pairwise)  # type: ignore[misc]
        for suffix, rule in (("", pairwise.over_references), ("-max", "max"), ("-mean", "mean")):
            known[name + suffix] = lambda pairwise=pairwise, rule=rule, suffix=suffix: _aggregated(  # type: ignore[misc]
                pairwise, rule, suffix
            )
        known[f"dispersion-{name}"] = lambda pairwise=pairwise: _dispersion(pairwise)  # type: ignore[misc]
    for name, metric in list_metrics().items():
        known[name] = lambda metric=metric: _on_vectors(metric)  # type: ignore[misc]
    known["self-bleu"] = _self_bleu
    for order in (1, 2):
        known[f"distinct-{order}"] = lambda order=order: _distinct(order)  # type: ignore[misc]
    return known


def _triangles(pairwise: Pairwise) -> ContextMetric:
    def score(batch: Batch, settings: Settings, asked: Asked) -> list[Scored]:
        distances = as_distances(pairwise, batch.squares[pairwise.name])
        scored = score_triangles(distances, batch.references, settings.ties, settings.directed, asked)
        return [
            Scored(
                each.values,
                each.tests,
                {
                    **{name: value for name, value in each.details.items() if name != "unit"},
                    **central_and_dispersion(context, batch.references),
                },
                each.relabelled,
            )
            for each, context in zip(scored, distances, strict=True)
        ]

    title = f"triangle rank over {pairwise.title}"
    return ContextMetric(
        f"trm-{pairwise.name}",
        title,
        "lower",
        score,
        pairwise=pairwise.name,
        libraries=pairwise.libraries,
        ranges={"value": (0.0, 4.0)},  # 8/3 unless ties take all
    )


def _aggregated(pairwise: Pairwise, rule: Rule, suffix: str) -> ContextMetric:
    def score(batch: Batch, _: Settings, asked: Asked) -> list[Scored]:
        return score_aggregate(batch.squares[pairwise.name], batch.references, pairwise, rule, asked)

    title = f"{pairwise.title}, mean over candidates, {rule} over references"
    return ContextMetric(
        pairwise.name + suffix,
        title,
        pairwise.direction,
        score,
        pairwise=pairwise.name,
        libraries=pairwise.libraries,
        ranges={"value": pairwise.range},
    )


def _dispersion(pairwise: Pairwise) -> ContextMetric:
    def score(batch: Batch, _: Settings, __: Asked) -> list[Scored]:
        distances = as_distances(pairwise, batch.squares[pairwise.name])
        found = [central_and_dispersion(context, batch.references) for context in distances]
        return [Scored(each["dispersion"], details={"central": each["central"]}) for each in found]

    title = f"mean distance within each side, by {pairwise.title}"
    name = f"dispersion-{pairwise.name}"
    return ContextMetric(
        name,
        title,
        None,
        score,
        SIDES,
        (2, 2),
        pairwise.name,
        tested=False,
        libraries=pairwise.libraries,
        ranges=dict.fromkeys(SIDES, (0.0, np.inf)),
    )


def _on_vectors(metric: Metric) -> ContextMetric:
    outputs = tuple(output.name for output in metric.outputs)
    symmetric = all(metric.swapped.get(name) == name for name in outputs)

    def score(batch: Batch, settings: Settings, asked: Asked) -> list[Scored]:
        made = asked.plan(batch.references, batch.candidates, symmetric)
        ((_, parameters),) = with_defaults([Job(metric, {})], settings.seed)
        towards = -1 if metric.direction == "higher" else 1
        scored = []
        for vectors in batch.vectors:
            sides = np.split(vectors, [batch.references])
            pair = Pair(*(PointSet(values, name) for values, name in zip(sides, SIDES, strict=True)))
            if made is None or metric.relabel is None:
                values = metric.measure(pair, **parameters).values
                scored.append(Scored({name: float(values[name]) for name in outputs}))
                continue
            prepared = metric.relabel(pair, **parameters)
            parts = [prepared(labels) for labels in made.blocks()]
            null = {name: np.concatenate([part[name] for part in parts]) for name in outputs}
            rounding = metric.rounding(pair)
            tests = {name: judged(towards * values, made, asked.nulls, rounding) for name, values in null.items()}
            observed = {name: float(values[0]) for name, values in null.items()}
            expected = {name: float(values.mean()) for name, values in null.items()}
            scored.append(Scored(observed, tests, relabelled=expected))
        return scored

    least = max(metric.least_samples, metric.defaults.get("k", 0) + 1)
    return ContextMetric(
        metric.name, metric.title, metric.direction, score, outputs, (least, least), vectors=True,
        tested=metric.relabel is not None, libraries=metric.libraries,
    )  # fmt: skip


def _self_bleu() -> ContextMetric:
    from ..similarity.diversity import self_bleu

    title = "BLEU of each text against the others of its side: high means alike"
    return _each_side("self-bleu", title, None, (2, 2), self_bleu, ("sacrebleu",))


def _distinct(order: int) -> ContextMetric:
    from ..similarity.diversity import distinct_n

    def measure(texts: Sequence[str]) -> float | None:
        return distinct_n(texts, (order,))[order]

    title = f"share of a side's {order}-grams that are different"
    return _each_side(f"distinct-{order}", title, None, (2, 1), measure, ("numpy",))


def _each_side(
    name: str,
    title: str,
    direction: Direction | None,
    least: tuple[int, int],
    measure: Callable[[Sequence[str]], Any],
    libraries: tuple[str, ...],
) -> ContextMetric:
    def score(batch: Batch, _: Settings, __: Asked) -> list[Scored]:
        n = batch.references
        return [Scored({"reference": measure(texts[:n]), "candidate": measure(texts[n:])}) for texts in batch.texts]

    ranges = dict.fromkeys(SIDES, (0.0, 1.0))
    return ContextMetric(name, title, direction, score, SIDES, least, tested=False, libraries=libraries, ranges=ranges)
