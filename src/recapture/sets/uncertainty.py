"""How sure the numbers of two large sets are: p-values by relabelling, intervals by half-samples, ceilings by splits.

Every metric scores many labellings of the pooled samples from one preparation (`SetMetric.relabel`): one neighbour
search, one kernel, one clustering.

- p-value: how often do relabelled sets differ at least as much as the observed ones?
- interval: the value, plus and minus a normal quantile times its standard deviation over half-samples of both sets
  (the delete-half jackknife, whose variance needs no further factor: Shao and Wu 1989, A General Theory for Jackknife
  Variance Estimation, Ann. Statist.). Drawn without replacement: a repeated point would be its own nearest neighbour.
- ceiling: one half of the reference against the other, mean over seeded splits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..checks import check_draws
from ..errors import InputError
from ..geometry.labels import Labels
from ..geometry.points import PointSet
from ..labellings.permutation import judge
from ..labellings.plans import Pvalue, balanced_halves, plan, splits, subsamples
from ..progress import Progress
from .declaration import SetMetric
from .pair import Pair

RELABELLINGS = 999
HALF_SAMPLES = 200
BALANCED_HALVES = 60
BALANCED_DRAWS = 10
"""Subsamples of each of those half-samples."""
SPLITS = 10
_BLOCK = 1024

Parameters = Mapping[str, Any]
Jobs = Sequence[tuple[SetMetric, Parameters]]


@dataclass(frozen=True)
class Sureness:
    """What one of the three says about one metric."""

    numbers: Mapping[str, Any] = field(default_factory=dict)
    """By output."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """How it was made."""
    nulls: Mapping[str, np.ndarray] = field(default_factory=dict)
    warning: str = ""


def pvalues(jobs: Jobs, pair: Pair, asked: Pvalue, seed: int) -> list[Sureness]:
    """Of "both sets come from one distribution", for each job's outputs."""
    for metric, _ in jobs:
        if metric.relabel is None:
            raise InputError(f"{metric.name} has no p-value: its declaration has no relabel")
    n, m = len(pair.reference), len(pair.candidate)
    chosen = plan(n, m, pvalue=asked, samples=RELABELLINGS, seed=seed)
    nulls = _under(jobs, pair, chosen.blocks(_BLOCK), chosen.rows)
    sureness = []
    for (metric, _), null in zip(jobs, nulls, strict=True):
        towards = -1 if metric.direction == "higher" else 1
        rounding = metric.rounding(pair)
        tests = {name: judge(towards * values, chosen, rounding) for name, values in null.items()}
        record = {
            "method": "exact" if chosen.exact else "sampled",
            "labellings": chosen.rows,
            "smallest": {name: test.smallest for name, test in tests.items()},
            "seed": chosen.seed,
        }
        sureness.append(Sureness({name: test.pvalue for name, test in tests.items()}, record, null))
    return sureness


def intervals(
    jobs: Jobs, pair: Pair, values: Sequence[Mapping[str, float]], level: float, seed: int, size: int | None = None
) -> list[Sureness]:
    """Around each job's values. size: samples a side, where the values are means over subsamples of that size."""
    from scipy.stats import norm

    sides = len(pair.reference), len(pair.candidate)
    halves = sides[0] // 2, sides[1] // 2
    draws = HALF_SAMPLES
    labels: Iterable[Labels]
    if size is None:
        labels = subsamples(sides, halves, draws, seed)
    else:
        # The value is a mean over subsamples of one size, so each half-sample's is such a mean, too.
        draws, halves = BALANCED_HALVES, (min(size // 2, min(halves)),) * 2
        labels = balanced_halves(sides, halves[0], draws, BALANCED_DRAWS, seed)
    able = [_fits(metric, parameters, min(halves)) for metric, parameters in jobs]
    chosen = [job for job, fits in zip(jobs, able, strict=True) if fits]
    rows = draws * (BALANCED_DRAWS if size else 1)
    drawn = iter(_under(chosen, pair, labels, rows) if chosen else [])
    reach = float(norm.ppf((1 + level) / 2))
    record = {"level": level, "method": "delete-half jackknife", "half_samples": draws, "seed": seed}
    sureness = []
    for (metric, _), value, fits in zip(jobs, values, able, strict=True):
        if not fits:
            sureness.append(Sureness(warning=f"no interval: {_reason(metric, min(halves))}"))
            continue
        scored = {name: each.reshape(draws, -1).mean(axis=1) for name, each in next(drawn).items()}
        spread = {name: float(np.std(each, ddof=1)) for name, each in scored.items()}
        bounds = {
            output.name: (
                max(output.range[0], value[output.name] - reach * spread[output.name]),
                min(output.range[1], value[output.name] + reach * spread[output.name]),
            )
            for output in metric.outputs
        }
        # The fair number to compare with a ceiling, which is of this size, too.
        at_half = {name: float(np.mean(each)) for name, each in scored.items()}
        sureness.append(Sureness(bounds, {**record, "standard_error": spread, "size": halves, "at_half_size": at_half}))
    return sureness


def ceilings(jobs: Jobs, reference: PointSet, draws: int, seed: int, size: int | None = None) -> list[Sureness]:
    """What halves of the reference score against each other. size: samples a side at most, as for `intervals`."""
    whole = len(reference) // 2
    half = min(whole, size or whole)
    able = [_fits(metric, parameters, half) for metric, parameters in jobs]
    chosen = [job for job, fits in zip(jobs, able, strict=True) if fits]
    scored: list[Mapping[str, np.ndarray]] = []
    if chosen:
        first, second = (
            PointSet(reference.values[rows], reference.name) for rows in (slice(whole), slice(whole, None))
        )
        scored = _under(chosen, Pair(first, second), [splits(len(reference), draws, seed, half)], draws)
    of_chosen = iter(scored)
    record = {"splits": draws, "size": half, "seed": seed}
    return [
        Sureness({name: float(values.mean()) for name, values in next(of_chosen).items()}, record)
        if fits
        else Sureness(warning=f"no ceiling: {_reason(metric, half)}")
        for (metric, _), fits in zip(jobs, able, strict=True)
    ]


def check_splits(ceiling: bool | int) -> int:
    return check_draws("ceiling", ceiling, SPLITS, "splits")


def _fits(metric: SetMetric, parameters: Parameters, size: int) -> bool:
    return metric.relabel is not None and size >= metric.least_samples and size > parameters.get("k", 0)


def _reason(metric: SetMetric, size: int) -> str:
    """Why a metric does not fit."""
    if metric.relabel is None:
        return f"{metric.name} declares no relabel"
    return f"halves of {size} samples are too few for {metric.name}"


def _under(jobs: Jobs, pair: Pair, blocks: Iterable[Labels], total: int) -> list[Mapping[str, np.ndarray]]:
    """Every job's outputs under every labelling. Jobs take each block in turn, so that they share what it needs."""
    pair.expect(parameters["k"] for metric, parameters in jobs if metric.uses_neighbours)
    prepared: list[Callable[[Labels], Mapping[str, np.ndarray]]] = [
        metric.relabel(pair, **parameters) for metric, parameters in jobs if metric.relabel
    ]
    parts: list[list[Mapping[str, np.ndarray]]] = [[] for _ in jobs]
    with Progress("relabelling", total * len(jobs), "labelling") as progress:
        for labels in blocks:
            for part, score in zip(parts, prepared, strict=True):
                part.append(score(labels))
                progress.advance(len(labels))
    return [
        {output.name: np.concatenate([np.asarray(each[output.name]) for each in part]) for output in metric.outputs}
        for (metric, _), part in zip(jobs, parts, strict=True)
    ]
