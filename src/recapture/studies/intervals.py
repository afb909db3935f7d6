"""Do 95 % intervals hold what they promise, and what does drawing with replacement do to neighbours?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from ..geometry.points import PointSet
from ..progress import Progress
from ..report.grid import Grid
from ..report.result import short
from ..sets.declaration import list_metrics
from ..sets.measure import Job, with_defaults
from ..sets.pair import Pair
from ..sets.uncertainty import intervals
from .study import Findings, Setup, Study, Table

_LEVEL = 0.95
_SIZE = 200
_WORLDS = {
    "moved": "16 normal dimensions; the candidate is moved by .25 and 1.2 times as wide",
    "clumps": "10 clumps in 16 dimensions, of which the candidate has 7",
}


def _draw(world: str, rng: np.random.Generator) -> tuple[np.ndarray, np.ndarray]:
    if world == "moved":
        return rng.standard_normal((_SIZE, 16)), 1.2 * rng.standard_normal((_SIZE, 16)) + 0.25
    centres = 3 * np.random.default_rng(0).standard_normal((10, 16))
    reference = centres[rng.integers(0, 10, _SIZE)] + rng.standard_normal((_SIZE, 16))
    return reference, centres[rng.integers(0, 7, _SIZE)] + rng.standard_normal((_SIZE, 16))


def _run(setup: Setup) -> Findings:
    repeats = 6 if setup.quick else 400
    jobs = with_defaults([Job(metric, {}) for metric in list_metrics().values() if metric.relabel], 0)
    rows: list[list[str]] = []
    covered: dict[str, dict[str, float]] = {}
    for world in _WORLDS:
        values, bounds, errors, again = _simulate(world, jobs, repeats, setup.seed)
        covered[world] = {}
        for name, drawn in values.items():
            truth = float(np.mean(drawn))
            low, high = np.array(bounds[name]).T
            share = float(np.mean((low <= truth) & (truth <= high)))
            covered[world][name] = share
            numbers = truth, np.std(drawn, ddof=1), np.mean(errors[name]), np.mean(again[name])
            rows.append([world, *name.split(" ", 1), f"{share:.1%}", *(short(float(number)) for number in numbers)])
    heads = ["world", "metric", "number", "coverage", "mean", "true spread", "estimated spread", "with replacement"]
    caption = [
        f"{repeats} pairs of sets, {_SIZE} v {_SIZE}; coverage: share of 95 % intervals that hold the overall mean; "
        "true spread: standard deviation over pairs; estimated spread: mean over the intervals; with replacement: mean "
        "value on bootstrap samples, which a sound bootstrap would leave near the mean.",
        *(f"{world}: {what}." for world, what in _WORLDS.items()),
    ]

    def draw(figure: Any) -> None:
        figure.set_size_inches(8, 5)
        axes = figure.subplots()
        names = list(next(iter(covered.values())))
        for shift, (world, shares) in enumerate(covered.items()):
            axes.barh(np.arange(len(names)) + 0.4 * shift, [shares[name] for name in names], 0.4, label=world)
        axes.axvline(_LEVEL, color="0.3", linestyle=":")
        axes.set_yticks(np.arange(len(names)) + 0.2, names)
        axes.set(xlabel="coverage of the 95 % interval", xlim=(0.5, 1))
        axes.legend()

    return Findings([Table("coverage", Grid(heads, rows, caption, left=3))], draw, _verdict(covered, rows), {})


def _simulate(
    world: str, jobs: list[Job], repeats: int, seed: int
) -> tuple[
    dict[str, list[float]], dict[str, list[tuple[float, float]]], dict[str, list[float]], dict[str, list[float]]
]:
    values: dict[str, list[float]] = {}
    bounds: dict[str, list[tuple[float, float]]] = {}
    errors: dict[str, list[float]] = {}
    again: dict[str, list[float]] = {}
    with Progress(world, repeats, "pair") as progress:
        for number in range(repeats):
            rng = np.random.default_rng([seed, number])
            reference, candidate = _draw(world, rng)
            pair = _pair(reference, candidate)
            measured = [metric.measure(pair, **parameters).values for metric, parameters in jobs]
            found = intervals(jobs, pair, measured, _LEVEL, number)
            drawn = _pair(*(side[rng.integers(0, _SIZE, _SIZE)] for side in (reference, candidate)))
            for (metric, parameters), value, interval in zip(jobs, measured, found, strict=True):
                resampled = metric.measure(drawn, **parameters).values
                for output in metric.outputs:
                    name = f"{metric.name} {output.name}"
                    values.setdefault(name, []).append(float(value[output.name]))
                    bounds.setdefault(name, []).append(interval.numbers[output.name])
                    errors.setdefault(name, []).append(interval.record["standard_error"][output.name])
                    again.setdefault(name, []).append(float(resampled[output.name]))
            progress.advance()
    return values, bounds, errors, again


def _pair(reference: np.ndarray, candidate: np.ndarray) -> Pair:
    return Pair(PointSet(reference, "reference"), PointSet(candidate, "candidate"))


def _verdict(covered: dict[str, dict[str, float]], rows: list[list[str]]) -> list[str]:
    shares = [share for by_name in covered.values() for share in by_name.values()]
    short_of = sorted(
        {f"{name} ({world}, {share:.0%})" for world, by in covered.items() for name, share in by.items() if share < 0.9}
    )
    return [
        f"95 % intervals by half-samples hold the mean value in {min(shares):.0%} to {max(shares):.0%} of the pairs, "
        f"{np.median(shares):.0%} in the middle of the numbers."
        + (f" Below 90 %: {', '.join(short_of)}." if short_of else ""),
        "Samples drawn with replacement hold repeats, whose nearest neighbour is their own copy: "
        + _distortion(rows)
        + ". Half-samples have no repeats and stay clear of this.",
    ]


def _distortion(rows: list[list[str]]) -> str:
    parts: Iterator[str] = (
        f"{row[1]} {row[2]} falls from {row[4]} to {row[7]}"
        for row in rows
        if row[0] == "moved" and (row[1], row[2]) in (("precision-recall", "precision"), ("mark-evaluate", "quality"))
    )
    return ", ".join(parts)


STUDY = Study(
    name="intervals",
    title="Coverage of intervals, and why halves are drawn without replacement",
    paper="",
    reproduces="recapture's own check of its intervals, by simulation",
    data=(),
    run=_run,
    encodes=False,
)
