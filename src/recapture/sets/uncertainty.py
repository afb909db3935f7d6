"""How sure the numbers of two large sets are: p-values by relabelling, intervals by half-samples.

Every metric scores many labellings of the pooled samples from one preparation (`SetMetric.relabel`): one neighbour
search, one kernel, one clustering.

- p-value: how often do relabelled sets differ at least as much as the observed ones? All numbers share their
  labellings, so that they also have p-values that hold for all of them together (`labellings/step_down`).
- interval: the value, plus and minus a normal quantile times its standard deviation over half-samples of both sets
  (the delete-half jackknife, whose variance needs no further factor: Shao and Wu 1989, A General Theory for Jackknife
  Variance Estimation, Ann. Statist.). Drawn without replacement: a repeated point would be its own nearest neighbour.

Where samples come in groups, whole groups change sides and whole groups make half-samples (`labellings/groups`). What
human texts would score is in `human`.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from ..errors import InputError
from ..geometry.labels import Labels
from ..labellings.groups import Groups, group_halves, group_plan
from ..labellings.permutation import judge, moves
from ..labellings.plans import Plan, Pvalue, balanced_halves, plan, subsamples
from ..labellings.step_down import holm_over_families, step_down
from ..progress import Progress
from .declaration import SetMetric
from .pair import Pair

if TYPE_CHECKING:
    from .table import SetResults

RELABELLINGS = 999
HALF_SAMPLES = 200
BALANCED_HALVES = 60
BALANCED_DRAWS = 10
"""Subsamples of each of those half-samples."""
_REPEATS = 0.05
"""Share of samples that repeat others above which they cannot pass as independent."""
_BLOCK = 1024
_FEWEST_GROUPS = 4
"""A side: intervals from half-samples of fewer groups hold less than they promise (82 % at two, 92 % at three)."""

Parameters = Mapping[str, Any]
Jobs = Sequence[tuple[SetMetric, Parameters]]


@dataclass(frozen=True)
class Sureness:
    """What one of the two says about one metric."""

    numbers: Mapping[str, Any] = field(default_factory=dict)
    """By output."""
    record: Mapping[str, Any] = field(default_factory=dict)
    """How it was made."""
    nulls: Mapping[str, np.ndarray] = field(default_factory=dict)
    adjusted: Mapping[str, float] = field(default_factory=dict)
    """p-values that hold for all numbers together."""
    warnings: tuple[str, ...] = ()


def pvalues(
    jobs: Jobs, pair: Pair, asked: Pvalue, seed: int, groups: Groups | None = None, untested: Container[str] = ()
) -> list[Sureness]:
    """Of "both sets come from one distribution", for each job's outputs. untested: metrics that are left out."""
    for metric, _ in jobs:
        if metric.relabel is None and metric.name not in untested:
            raise InputError(f"{metric.name} has no p-value: its declaration has no relabel")
    chosen = _plan(pair, asked, seed, groups)
    smallest = min(pair.sizes.values())
    if groups is not None:  # sizes of sides differ from labelling to labelling
        smallest = min(min(labels.smallest) for labels in chosen.blocks(_BLOCK))
    able = [metric.name not in untested and fits_labels(metric, parameters, smallest) for metric, parameters in jobs]
    tested = [job for job, fits in zip(jobs, able, strict=True) if fits]
    nulls = under_labels(tested, pair, chosen.blocks(_BLOCK), chosen.rows) if tested else []
    rounding = [metric.rounding(pair) for metric, _ in tested]
    # Every number points to "more different".
    pointed = [
        {name: (-1 if metric.direction == "higher" else 1) * values for name, values in null.items()}
        for (metric, _), null in zip(tested, nulls, strict=True)
    ]
    listed = [(values, slack) for of_job, slack in zip(pointed, rounding, strict=True) for values in of_job.values()]
    moving = [moves(values, slack) for values, slack in listed]
    adjusted = iter(step_down([values for values, _ in listed], moving).tolist())
    of_tested = iter(zip(nulls, pointed, rounding, strict=True))
    sureness = []
    for (metric, _), fits in zip(jobs, able, strict=True):
        if metric.name in untested:
            sureness.append(Sureness())
            continue
        if not fits:
            few = f"some relabellings leave a side of {smallest}, too few for {metric.name}"
            sureness.append(Sureness(warnings=(f"no p-value: {few}",)))
            continue
        null, of_job, slack = next(of_tested)
        tests = {name: judge(values, chosen, slack) for name, values in of_job.items()}
        record = {
            "method": "exact" if chosen.exact else "sampled",
            "labellings": chosen.rows,
            "smallest": {name: test.smallest for name, test in tests.items()},
            "seed": chosen.seed,
            **({"groups": groups.counted} if groups else {}),
        }
        still = [name for name, test in tests.items() if test.smallest == 1]
        sureness.append(
            Sureness(
                {name: test.pvalue for name, test in tests.items()},
                record,
                null,
                # The slack of a comparison may be wider than that of the others.
                {name: max(next(adjusted), test.pvalue) for name, test in tests.items()},
                tuple(f"no relabelling changes {name}: its p-value says nothing" for name in still),
            )
        )
    return sureness


def _plan(pair: Pair, asked: Pvalue, seed: int, groups: Groups | None) -> Plan:
    if groups is None:
        return plan(len(pair.reference), len(pair.candidate), pvalue=asked, samples=RELABELLINGS, seed=seed)
    return group_plan(groups, pvalue=asked, samples=RELABELLINGS, seed=seed)


def repeats(pair: Pair) -> list[str]:
    """Warnings that samples are not independent, where no groups say which belong together."""
    return [
        f"{points.duplicates} of {len(points)} samples of {points.name} repeat others: samples are not independent, so "
        "p-values and intervals promise too much; say which belong together (groups)"
        for points in (pair.reference, pair.candidate)
        if points.duplicates > _REPEATS * len(points)
    ]


def intervals(
    jobs: Jobs,
    pair: Pair,
    values: Sequence[Mapping[str, float]],
    level: float,
    seed: int,
    size: int | None = None,
    groups: Groups | None = None,
) -> list[Sureness]:
    """Around each job's values. size: samples a side, where the values are means over subsamples of that size."""
    from scipy.stats import norm

    sides = len(pair.reference), len(pair.candidate)
    halves = sides[0] // 2, sides[1] // 2
    draws = HALF_SAMPLES
    labels: Iterable[Labels]
    if size is None and groups is None:
        labels = subsamples(sides, halves, draws, seed)
    elif size is None and groups is not None:
        labels = list(group_halves(groups, draws, seed))
        halves = min(each.smallest[0] for each in labels), min(each.smallest[1] for each in labels)
    else:
        assert size is not None
        # The value is a mean over subsamples of one size, so each half-sample's is such a mean, too.
        draws, halves = BALANCED_HALVES, (min(size // 2, min(halves)),) * 2
        half = None if groups is None else groups.half
        labels = balanced_halves(sides, halves[0], draws, BALANCED_DRAWS, seed, half)
        if groups is not None:
            labels = list(labels)
            halves = min(each.smallest[0] for each in labels), min(each.smallest[1] for each in labels)
    few_groups = groups is not None and min(groups.a_side) < _FEWEST_GROUPS
    able = [
        not few_groups and not metric.no_interval(parameters) and fits_labels(metric, parameters, min(halves))
        for metric, parameters in jobs
    ]
    chosen = [job for job, fits in zip(jobs, able, strict=True) if fits]
    rows = draws * (BALANCED_DRAWS if size else 1)
    drawn = iter(under_labels(chosen, pair, labels, rows) if chosen else [])
    reach = float(norm.ppf((1 + level) / 2))
    record = {"level": level, "method": "delete-half jackknife", "half_samples": draws, "seed": seed}
    sureness = []
    for (metric, parameters), value, fits in zip(jobs, values, able, strict=True):
        if not fits:
            few = f"fewer than {_FEWEST_GROUPS} groups a side are too few to halve" if few_groups else ""
            sureness.append(
                Sureness(
                    warnings=(f"no interval: {few or metric.no_interval(parameters) or _reason(metric, min(halves))}",)
                )
            )
            continue
        rounding = metric.rounding(pair)
        scored = {name: each.reshape(draws, -1).mean(axis=1) for name, each in next(drawn).items()}
        spread = {name: float(np.std(each, ddof=1)) for name, each in scored.items()}
        bounds = {
            name: (max(low, value[name] - reach * spread[name]), min(high, value[name] + reach * spread[name]))
            for name, (low, high) in metric.ranges_for(parameters).items()
            if moves(scored[name], rounding)
        }
        # A number that no half-sample moves may still be wrong: nothing shows how far.
        still = [name for name in spread if name not in bounds]
        said = tuple(f"no interval for {name}: all {draws} half-samples give the same number" for name in still)
        at_half = {name: float(np.mean(each)) for name, each in scored.items()}
        known = {**record, "standard_error": spread, "size": halves, "at_half_size": at_half}
        sureness.append(Sureness(bounds, known, warnings=said))
    return sureness


def fits_labels(metric: SetMetric, parameters: Parameters, size: int) -> bool:
    """Whether labellings with sides of this size can be scored."""
    return metric.relabel is not None and size >= metric.least_samples and size > parameters.get("k", 0)


def _reason(metric: SetMetric, size: int) -> str:
    """Why a metric does not fit."""
    if metric.relabel is None:
        return f"{metric.name} declares no relabel"
    return f"halves of {size} samples are too few for {metric.name}"


def under_labels(jobs: Jobs, pair: Pair, blocks: Iterable[Labels], total: int) -> list[Mapping[str, np.ndarray]]:
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


def held_together(results: SetResults) -> SetResults:
    """With adjusted p-values that hold for all candidates together (Holm), not only within each."""
    families = [
        [(metric, name) for metric, result in by_metric.items() for name in result.adjusted_pvalues]
        for by_metric in results.values()
    ]
    known = [
        np.array([by_metric[metric].adjusted_pvalues[name] for metric, name in family])
        for by_metric, family in zip(results.values(), families, strict=True)
    ]
    for by_metric, family, held in zip(results.values(), families, holm_over_families(known), strict=True):
        adjusted: dict[str, dict[str, float]] = {}
        for (metric, name), p in zip(family, held.tolist(), strict=True):
            adjusted.setdefault(metric, {})[name] = p
        for metric, by_number in adjusted.items():
            by_metric[metric] = replace(by_metric[metric], adjusted_pvalues=by_number)
    return results
