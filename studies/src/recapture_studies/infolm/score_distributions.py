"""Do the scores of single summaries tell good ones from bad ones?"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

import recapture as rc

from ..agreement import oriented
from ..cells import Tables, estimate
from ..item_scores import Part, Scores
from ..rated import HALF, Seen, leaders, row_name, shown
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import above, less, together
from .metric_map import models, summaries
from .summarisation import LAYOUT

_KIND = "abs"
_GOOD = 0.5
"""Pyramid recall from which a summary is a good one; the paper counts this rating on both sides."""
_SHOWN = {"bertscore": ("f1", "recall"), "me-words": ("petersen", "capture"),
          "rouge": ("rouge1", "rouge2", "rougeL")}  # fmt: skip
_ABLE = ("ab", "fisher_rao", "jeffreys")
_FLAT = ("l1", "l2", "linf")
_NGRAM = ("rouge rouge1", "rouge rouge2", "rouge rougeL", "bleu")
_RESAMPLES = 500
_BINS = 24


@dataclass(frozen=True)
class _Row:
    spread: Any
    """Higher is better."""
    low: float
    high: float
    """95 % of the area when documents are drawn anew."""
    within: float
    """Mean over documents of the area among the summaries of one document."""
    apart: float
    """From people's distribution, both standardised."""


def _run(setup: Setup) -> Findings:
    rows: dict[str, _Row] = {}
    rated: list[np.ndarray] = []
    draws: list[np.ndarray] = []

    def see(part: Part, label: str, scores: Scores) -> None:
        human = part.human["litepyramid"]
        if not rated:
            rated.append(human)
            rng = np.random.default_rng(setup.seed)
            draws.append(rng.integers(0, human.shape[1], (50 if setup.quick else _RESAMPLES, human.shape[1])))
        for output in _SHOWN.get(label, scores.items):
            rows[row_name(label, output)] = _row(oriented(scores.items[output], scores.direction), human, draws[0])

    seen = Seen(setup, summaries(setup, _KIND), see)
    human = rated[0]
    areas = {name: row.spread.auc for name, row in rows.items()}
    good = int((human >= _GOOD).sum())
    verdict = [
        f"Of {human.size:,} summaries by {human.shape[0]} abstractive systems {good:,} are good (pyramid recall at "
        f"least {_GOOD:g}). Best at telling them apart, by the area under the curve: {leaders(areas, 4)}; among the "
        f"summaries of one document: {leaders({name: row.within for name, row in rows.items()}, 4)}.",
        "The area is the chance that a good summary scores above a bad one, .5 for a coin. Some documents are easier "
        "to summarise and to score, for people and metrics alike; the area within documents leaves this out, which "
        "histograms as in the paper's figure cannot.",
    ]

    def draw(figure: Any) -> None:
        _draw(figure, rows, human)

    settings = {"threshold": _GOOD, "sizes": human.shape, "resamples": len(draws[0]), "alpha": HALF, "beta": HALF}
    settings["warnings"] = list(seen.warnings)
    tables = [
        Section(
            "areas", _grid(rows, human, len(draws[0])), "How well scores tell good summaries from bad, as a number"
        ),
        seen.table(),
    ]
    return Findings(tables, draw, [*verdict, *seen.about_left_out()], settings)


def _row(scores: np.ndarray, human: np.ndarray, draws: np.ndarray) -> _Row:
    from scipy.stats import wasserstein_distance

    spread = rc.score_distributions(scores, human, _GOOD)
    known = np.isfinite(scores)
    drawn = []
    for chosen in draws:
        found = _area(scores[:, chosen], human[:, chosen])
        if not math.isnan(found):
            drawn.append(found)
    within = [_area(scores[:, at], human[:, at]) for at in range(human.shape[1])]
    kept = [each for each in within if not math.isnan(each)]
    sides = [scores[known], human[known]]
    apart = math.nan
    if all(np.ptp(side) > 0 for side in sides):
        apart = float(wasserstein_distance(*((side - side.mean()) / side.std() for side in sides)))
    low, high = np.quantile(drawn, [0.025, 0.975]) if drawn else (math.nan, math.nan)
    return _Row(spread, float(low), float(high), float(np.mean(kept)) if kept else math.nan, apart)


def _area(scores: np.ndarray, human: np.ndarray) -> float:
    """The chance that a good one scores above a bad one, ties half; NaN where all are good, or all bad."""
    known = np.isfinite(scores)
    good, bad = scores[known & (human >= _GOOD)], scores[known & (human < _GOOD)]
    if not len(good) or not len(bad):
        return math.nan
    ordered = np.sort(bad)
    below = np.searchsorted(ordered, good, side="left") + np.searchsorted(ordered, good, side="right")
    return float(below.sum() / (2 * len(good) * len(bad)))


def _grid(rows: Mapping[str, _Row], human: np.ndarray, draws: int) -> rc.Table:
    heads = ["metric", "area", "95 % over documents", "area within documents", "good: median", "bad: median",
             "distance to people's"]  # fmt: skip
    lines = []
    for name in sorted(rows, key=lambda name: -rows[name].spread.auc):
        row = rows[name]
        bad, good = row.spread.groups[0], row.spread.groups[-1]
        middles = [f"{each.quartiles[2]:.3g}" for each in (good, bad)]
        interval = f"{shown(row.low)} to {shown(row.high)}"
        lines.append([name, shown(row.spread.auc), interval, shown(row.within), *middles, f"{row.apart:.2f}"])
    used = sum(0 < int((human[:, at] >= _GOOD).sum()) < len(human) for at in range(human.shape[1]))
    caption = [
        f"area: the chance that a summary with a pyramid recall of at least {_GOOD:g} scores above one below; the "
        f"interval draws documents anew ({draws:,} times), since summaries of one document are not independent; within "
        f"documents: mean over the {used} that have both kinds. Signs are turned where lower is better. distance to "
        "people's: of the distributions of all scores, standardised (first Wasserstein distance)."
    ]
    return rc.Table(heads, lines, caption)


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = {row["metric"]: row for row in tables["areas"]}
    areas = {name: estimate(row["area"], row["95 % over documents"]) for name, row in rows.items()}
    ngrams = [name for name in _NGRAM if name in rows]
    claims = []

    def told(names: Sequence[str]) -> str:
        return ", ".join(f"{name} {rows[name]['area']} ({rows[name]['95 % over documents']})" for name in names)

    for model in models(rows):
        able, flat = (
            [name for each in group for name in [f"{model} {each}"] if name in rows] for group in (_ABLE, _FLAT)
        )
        data = f"REALSumm, {settings['sizes'][0]} abstractive systems, {model}"
        found = {
            "ngrams-struggle": (
                [above(less(areas[one], areas[other])) for one in able for other in ngrams],
                told([*ngrams, *able]),
                "The paper looks at histograms; an area measures what they show",
            ),
            "told-apart": (
                [above(less(areas[name], 0.5)) for name in able],
                told(able),
                "Another masked language model",
            ),
            "lp-less": ([above(less(areas[one], areas[other])) for one, other in pairwise(flat)], told(flat), ""),
        }
        for name, (parts, here, why) in found.items():
            if parts:
                verdict = together(parts)
                reason = "" if verdict.holds == "holds" else why
                claims.append(Claim(f"infolm/figure-3/{name}", verdict, here, data, reason, own=True))
    return claims


def _draw(figure: Any, rows: Mapping[str, _Row], human: np.ndarray) -> None:
    wanted = [f"{model} {each}" for model in models(rows) for each in (*_ABLE, *_FLAT)]
    wanted += [*_NGRAM, "bertscore f1", "moverscore", "chrf", "meteor", "me-words capture"]
    names = [name for name in wanted if name in rows] or list(rows)[:11]
    across = 4
    down = -(-(len(names) + 1) // across)
    figure.set_size_inches(11, 1.7 * down + 0.4)
    panels = list(figure.subplots(down, across, squeeze=False).flat)
    sides: list[tuple[str, Sequence[np.ndarray]]] = [("people: pyramid", [human[human < _GOOD], human[human >= _GOOD]])]
    for name in names:
        groups = rows[name].spread.groups
        sides.append((f"{name}, area {shown(rows[name].spread.auc)}", [groups[0].scores, groups[-1].scores]))
    for axes, (title, (bad, good)) in zip(panels, sides, strict=False):
        both = np.concatenate([bad, good])
        low, high = np.quantile(both, [0.005, 0.995])  # a few outliers would squeeze the rest
        edges = np.linspace(low, high if high > low else low + 1, _BINS + 1)
        for scores, label, colour in ((bad, "bad", "tab:red"), (good, "good", "tab:blue")):
            counts, _ = np.histogram(np.clip(scores, low, high), edges)
            # One outline for each histogram: a bar each would make the file ten times as large.
            axes.stairs(counts / len(scores), edges, fill=True, alpha=0.5, color=colour, label=label)
        axes.set_title(title, fontsize=7.5)
        axes.tick_params(labelsize=6)
        axes.set_yticks([])
    panels[0].legend(fontsize=7, loc="upper right")
    for axes in panels[len(sides) :]:
        axes.set_axis_off()
    figure.supxlabel("score, higher is better; height: share of the good, of the bad summaries", fontsize=8)


STUDY = Study(
    name="score-distributions",
    title="Scores of good and of bad summaries",
    paper="InfoLM",
    reproduces="Figure 3",
    data=("realsumm",),
    run=_run,
    judge=judge,
    pools=False,
    masked=True,
    chooses=True,
    meteor=True,
    takes="25 seconds on 2 cores, from kept scores",
    layout=LAYOUT,
)
