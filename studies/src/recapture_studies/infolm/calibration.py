"""InfoLM's temperature: how much does agreement with people depend on it, and can it be chosen honestly?

The scores come from one pass of each model over all summaries; a machine with a GPU makes them in minutes:

    from recapture_studies import item_scores, study
    from recapture_studies.infolm import calibration
    item_scores.fill(calibration.temperature_parts(study.Setup(Path("data"))), device="cuda")
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import pairwise
from typing import Any

import numpy as np

import recapture as rc

from ..agreement import COEFFICIENTS, Coefficient, oriented, system_level
from ..cells import Tables, number
from ..item_scores import Part, Scores
from ..rated import Seen, shown, tasks
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, in_range
from .metric_map import summaries
from .summarisation import KINDS, LAYOUT

TEMPERATURES = (0.1, 0.25, 0.5, 0.75, 1.0, 1.25, 1.5, 2.0, 3.0, 5.0, 10.0)
_QUICK = (0.5, 1.0, 2.0, 5.0)
_MEASURE = "fisher_rao"
_USUAL = 1.0
_OPTIMUM = (1.0, 2.0)
"""Where the paper finds the best temperature."""
_WIGGLE = 0.01
"""Differences of r below this are not worth a word."""
_ONE_PEAK = 2.0
"""The longest path, by its range, of a curve with a single peak; that of random numbers is well above 3."""
_REPEATS = 100
_RESAMPLES = 500


@dataclass(frozen=True)
class _Curve:
    """Agreement of one model's scores with people, by temperature, on one kind of systems."""

    by: Mapping[Coefficient, Mapping[float, float]]
    """By coefficient."""
    honest: Any
    """Pearson; temperatures chosen on half of the documents, measured on the other half."""
    usual: float
    """The mean over the same halves at the usual temperature."""
    inside: float
    """Share of resampled sets of documents whose best temperature lies where the paper says."""

    def best(self, coefficient: Coefficient) -> float:
        known = {each: value for each, value in self.by[coefficient].items() if not math.isnan(value)}
        return max(known, key=known.__getitem__) if known else math.nan


def temperature_parts(setup: Setup) -> Iterator[Part]:
    """The summaries, with nothing to score but Fisher-Rao at all temperatures."""
    temperatures = list(_QUICK if setup.quick else TEMPERATURES)
    options = {"measure": _MEASURE, "temperature": temperatures, "alpha": None, "beta": None}
    wanted = tasks(setup, ("infolm",), {"infolm": options})
    kinds = ("ext",) if setup.quick else ("ext", "abs")
    for part in summaries(replace(setup, encoder=None), *kinds):  # vectors of an encoder play no part
        yield replace(part, name=f"{part.name}-temperatures", tasks=wanted)


def path(values: Sequence[float]) -> float:
    """How far a curve goes up and down, by its range: 1 if it only rises or only falls, at most 2 with one peak."""
    steps = sum(abs(one - other) for one, other in pairwise(values))
    return steps / (max(values) - min(values)) if max(values) > min(values) else 1.0


def _run(setup: Setup) -> Findings:
    curves: dict[tuple[str, str], _Curve] = {}
    sizes: dict[str, tuple[int, int]] = {}
    temperatures = _QUICK if setup.quick else TEMPERATURES

    def see(part: Part, label: str, scores: Scores) -> None:
        human = part.human["litepyramid"]
        sizes[part.about["kind"]] = human.shape
        held = {each: oriented(scores.items[f"{_MEASURE}@{each:g}"], scores.direction) for each in temperatures}
        curves[part.about["kind"], label] = _curve(held, human, setup)

    seen = Seen(setup, temperature_parts(setup), see)
    tables = [
        *(Section(f"{KINDS[kind]}-systems", _grid(curves, kind, sizes[kind])) for kind in sizes),
        Section("choosing", _choosing(curves, setup.quick),
                "A temperature chosen on some documents, measured on others"),
        seen.table(),
    ]  # fmt: skip

    def draw(figure: Any) -> None:
        figure.set_size_inches(4.2 * len(sizes) + 1, 4)
        for axes, kind in zip(np.atleast_1d(figure.subplots(1, len(sizes))), sizes, strict=True):
            axes.axvspan(*_OPTIMUM, color="0.9")
            for (where, label), curve in curves.items():
                for coefficient, style in zip(COEFFICIENTS, ("-", "--", ":"), strict=True):
                    if where == kind:
                        colour = f"C{list(dict.fromkeys(each for _, each in curves)).index(label)}"
                        axes.plot(temperatures, list(curve.by[coefficient].values()), style, marker=".", color=colour,
                                  label=f"{label}, {coefficient}")  # fmt: skip
            axes.set(title=f"{sizes[kind][0]} {KINDS[kind]} systems", xlabel="temperature", xscale="log")
            axes.set_xticks(temperatures, [f"{each:g}" for each in temperatures], fontsize=7, rotation=60)
            axes.minorticks_off()
            axes.grid(alpha=0.3)
            axes.set_ylabel("agreement with people")
        axes.legend(fontsize=7, handlelength=3.5, loc="lower left")

    settings = {"temperatures": temperatures, "measure": _MEASURE, "sizes": sizes, "warnings": list(seen.warnings)}
    return Findings(tables, draw, [*_verdict(curves), *seen.about_left_out()], settings)


def _curve(held: Mapping[float, np.ndarray], human: np.ndarray, setup: Setup) -> _Curve:
    def on_halves(scores: Mapping[float, np.ndarray]) -> Any:
        repeats = 10 if setup.quick else _REPEATS
        return rc.sweep(dict(scores), human, "system", "pearson", folds=2, repeats=repeats, seed=setup.seed)

    by = {name: {each: system_level(scores, human, name) for each, scores in held.items()}
          for name in COEFFICIENTS}  # fmt: skip
    honest, usual = on_halves(held), on_halves({_USUAL: held[_USUAL]}).honest
    rng = np.random.default_rng(setup.seed)
    draws = rng.integers(0, human.shape[1], (50 if setup.quick else _RESAMPLES, human.shape[1]))
    ratings = human[:, draws].mean(axis=2).T
    each = np.stack([rc.correlation(ratings, scores[:, draws].mean(axis=2).T, "pearson") for scores in held.values()])
    known = each[:, np.isfinite(each).all(axis=0)]
    best = np.array(list(held))[known.argmax(axis=0)]
    inside = float(np.mean((best >= _OPTIMUM[0]) & (best <= _OPTIMUM[1]))) if len(best) else math.nan
    return _Curve(by, honest, usual, inside)


def _grid(curves: Mapping[tuple[str, str], _Curve], kind: str, size: tuple[int, int]) -> rc.Table:
    chosen = {label: curve for (where, label), curve in curves.items() if where == kind}
    heads = ["temperature", *(f"{label} {name}" for label in chosen for name in COEFFICIENTS)]
    rows = [
        [f"{each:g}", *(shown(curve.by[name][each]) for curve in chosen.values() for name in COEFFICIENTS)]
        for each in next(iter(chosen.values())).by["pearson"]
    ]
    caption = (
        f"Correlation of {size[0]} {KINDS[kind]} systems' mean Fisher-Rao distances over {size[1]} documents (sign "
        "turned) with people's pyramid recall."
    )
    return rc.Table(heads, rows, [caption])


def _choosing(curves: Mapping[tuple[str, str], _Curve], quick: bool) -> rc.Table:
    heads = ["systems, model", "best T: r, rho, tau", "r at T = 1", "r at best T", "on halves: T = 1", "chosen on all",
             "chosen on the other half", "gained so", f"best T in [{_OPTIMUM[0]:g}, {_OPTIMUM[1]:g}]"]  # fmt: skip
    rows = []
    for (kind, label), curve in curves.items():
        best = ", ".join(f"{curve.best(name):g}" for name in COEFFICIENTS)
        numbers = [curve.by["pearson"][_USUAL], curve.honest.optimistic, curve.usual, curve.honest.flattered]
        numbers += [curve.honest.honest, curve.honest.honest - curve.usual]
        rows.append([f"{KINDS[kind]}, {label}", best, *map(shown, numbers), f"{curve.inside:.0%}"])
    caption = (
        f"On halves: means over {10 if quick else _REPEATS} random splits of the documents, each half measured with "
        "the temperature that Pearson's r of the other half asks for. Last column: share of resampled sets of "
        "documents whose best temperature lies there."
    )
    return rc.Table(heads, rows, [caption], left=2)


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    """Of extractive systems, which the paper's figure shows; one piece of evidence for each model."""
    rows = tables.get("extractive-systems", [])
    chosen = {row["systems, model"]: row for row in tables["choosing"]}
    claims = []
    for label in [head.removesuffix(" pearson") for head in (rows[0] if rows else {}) if head.endswith(" pearson")]:
        curve = {float(row["temperature"]): number(row[f"{label} pearson"]) for row in rows}
        up_and_down = path(list(curve.values()))
        optimum = max(value for each, value in curve.items() if _OPTIMUM[0] <= each <= _OPTIMUM[1])
        row = chosen[f"extractive, {label}"]
        share = row[f"best T in [{_OPTIMUM[0]:g}, {_OPTIMUM[1]:g}]"]
        why = "Another masked language model, with another calibration, and few systems, so that ranks move in steps"
        data = f"REALSumm, extractive systems, {label}"
        found = {
            "smooth": (
                above(Estimate(_ONE_PEAK + 1e-9 - up_and_down)),
                f"up and down by Pearson's r, over its range (a curve with one peak: at most 2): {up_and_down:.2f}",
            ),
            "optimum": (
                in_range(number(share)),
                f"best T by r, rho and tau: {row['best T: r, rho, tau']}; by r of resampled documents there: {share}",
            ),
            "cold": (
                above(Estimate(optimum - curve[min(curve)])),
                f"r {shown(curve[min(curve)])} at T = {min(curve):g}, {shown(optimum)} at the best T of the range",
            ),
        }
        claims += [
            Claim(
                f"infolm/figure-4/{name}",
                verdict,
                here,
                data,
                "" if verdict.holds == "holds" else why,
                own=True,
                chosen="same" if name == "cold" else "fixed",
            )
            for name, (verdict, here) in found.items()
        ]
    return claims


def _verdict(curves: Mapping[tuple[str, str], _Curve]) -> list[str]:
    lines = []
    for (kind, label), curve in curves.items():
        gained = curve.honest.honest - curve.usual
        effect = "helps" if gained > _WIGGLE else "harms" if gained < -_WIGGLE else "changes little"
        lines.append(
            f"{KINDS[kind].capitalize()} systems, {label}: Pearson's r is {shown(curve.by['pearson'][_USUAL])} at "
            f"T = 1 and {shown(curve.honest.optimistic)} at its best, T = {curve.best('pearson'):g}. Chosen on half of "
            f"the documents and measured on the other half, the temperature {effect}: {shown(curve.honest.honest)} "
            f"against {shown(curve.usual)} at T = 1 on the same halves."
        )
    return lines


STUDY = Study(
    name="calibration",
    title="InfoLM's temperature and agreement with people",
    paper="InfoLM",
    reproduces="Figure 4",
    data=("realsumm",),
    run=_run,
    judge=judge,
    pools=False,
    masked=True,
    chooses=True,
    takes="half a minute on 2 cores, from kept scores",
    layout=LAYOUT,
)
