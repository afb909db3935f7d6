"""Do 95 % intervals hold what they promise, and what does drawing with replacement do to neighbours?"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

import recapture as rc

from ..progress import progress_bar
from ..study import Findings, Section, Setup, Study
from ..words import short

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
    repeats = 3 if setup.quick else 400
    metrics = [metric for metric in rc.list_metrics().values() if metric.relabel]
    rows: list[list[str]] = []
    covered: dict[str, dict[str, float]] = {}
    for world in _WORLDS:
        values, bounds, errors, again = _simulate(world, metrics, repeats, setup.seed)
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

    return Findings([Section("coverage", rc.Table(heads, rows, caption, left=3))], draw, _verdict(covered, rows), {})


def _simulate(
    world: str, metrics: Sequence[Any], repeats: int, seed: int
) -> tuple[
    dict[str, list[float]], dict[str, list[tuple[float, float]]], dict[str, list[float]], dict[str, list[float]]
]:
    values: dict[str, list[float]] = {}
    bounds: dict[str, list[tuple[float, float]]] = {}
    errors: dict[str, list[float]] = {}
    again: dict[str, list[float]] = {}
    with progress_bar(world, repeats, "pair") as progress:
        for number in range(repeats):
            rng = np.random.default_rng([seed, number])
            reference, candidate = _draw(world, rng)
            names = [metric.name for metric in metrics]
            # One seed for all clusterings, another for the half-samples of each pair.
            fixed = {metric.name: {"seed": 0} for metric in metrics if "seed" in metric.defaults}
            measured = rc.evaluate(
                reference, candidate, names, interval=_LEVEL, ceiling=False, seed=number, options=fixed
            )
            first, second = (side[rng.integers(0, _SIZE, _SIZE)] for side in (reference, candidate))
            resampled = rc.evaluate(first, second, names, ceiling=False, options=fixed)
            for metric, result in measured["candidate"].items():
                spread = result.inference["intervals"]["standard_error"]
                for output, value in result.values.items():
                    name = f"{metric} {output}"
                    values.setdefault(name, []).append(value)
                    bounds.setdefault(name, []).append(result.intervals[output])
                    errors.setdefault(name, []).append(spread[output])
                    again.setdefault(name, []).append(resampled["candidate"][metric].values[output])
            progress.advance()
    return values, bounds, errors, again


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
