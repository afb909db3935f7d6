"""All set metrics along the steps of a perturbation: what moves, what stays, and by how much beside chance.

Quality and diversity are pairs of numbers of one method; single numbers answer for both. Every step is measured for
several draws of the sets; numbers are means over draws, spreads are standard deviations over draws.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

import numpy as np

import recapture as rc

from ..progress import progress_bar
from ..study import Setup
from ..verdicts import Holds
from .genres import Space

Asks = Literal["quality", "diversity", "both"]
Move = Literal["falls", "stays", "rises", "wavers"]
STEADY = 0.05
"""A number between 0 and 1 that moves by no more can be said to stay."""
LEAST = 0.01
"""Of a number between 0 and 1: smaller falls are none."""
MONOTONE = 0.8

JOBS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "me-1": ("mark-evaluate", {"k": 1}),
    "me-3": ("mark-evaluate", {"k": 3}),
    "impar": ("precision-recall", {"k": 3}),
    "dc": ("density-coverage", {"k": 5}),
    "prd": ("prd", {"clusters": 20}),
    "frechet": ("frechet", {}),
    "mmd": ("mmd", {}),
    "mauve": ("mauve", {}),
}
"""Each method with its own default: k = 1 for Mark-Evaluate, 3 for improved precision and recall, 20 clusters for PRD,
k = 5 for density and coverage. Mark-Evaluate at k = 3, too, where its floors are high and `adjusted` takes them out."""


class Curve(NamedTuple):
    """One number of one method; where it is drawn, and what it answers for."""

    panel: str
    number: str
    job: str
    output: str
    asks: Asks
    adjusted: bool = False

    @property
    def name(self) -> str:
        return f"{self.panel} {self.number}".strip()

    @property
    def bounded(self) -> bool:
        """Whether .05 is little: scores are between 0 and 1, and density is near 1 for equal distributions."""
        return self.job not in ("frechet", "mmd")

    @property
    def better(self) -> int:
        """1 where higher is better, -1 where lower is."""
        return 1 if self.bounded else -1


CURVES = (
    Curve("ME Schnabel", "quality", "me-1", "quality", "quality"),
    Curve("ME Schnabel", "diversity", "me-1", "diversity", "diversity"),
    Curve("ME Schnabel, k = 3, adjusted", "quality", "me-3", "quality", "quality", True),
    Curve("ME Schnabel, k = 3, adjusted", "diversity", "me-3", "diversity", "diversity", True),
    Curve("ME Petersen", "", "me-1", "petersen", "both"),
    Curve("ME CAPTURE", "", "me-1", "capture", "both"),
    Curve("ME CAPTURE", "adjusted", "me-1", "capture", "both", True),
    Curve("IMPAR", "precision", "impar", "precision", "quality"),
    Curve("IMPAR", "recall", "impar", "recall", "diversity"),
    Curve("Density, coverage", "density", "dc", "density", "quality"),
    Curve("Density, coverage", "coverage", "dc", "coverage", "diversity"),
    Curve("PRD", "precision (F1/8)", "prd", "f1_8", "quality"),
    Curve("PRD", "recall (F8)", "prd", "f8", "diversity"),
    Curve("Fréchet", "", "frechet", "value", "both"),
    Curve("MMD", "", "mmd", "value", "both"),
    Curve("MAUVE", "", "mauve", "value", "both"),
)


def measure(reference: np.ndarray, candidate: np.ndarray, seed: int) -> dict[str, float | None]:
    """All numbers of one pair of sets, by the names of the curves; None where a floor of 1 leaves nothing to adjust."""
    results = {
        key: getattr(rc, name.replace("-", "_"))(reference, candidate, seed=seed, **parameters)
        for key, (name, parameters) in JOBS.items()
    }
    return {
        curve.name: (results[curve.job].adjusted if curve.adjusted else results[curve.job].values)[curve.output]
        for curve in CURVES
    }


@dataclass(frozen=True)
class Draw:
    """A reference set, and a candidate set for each step."""

    reference: Sequence[str]
    candidates: Sequence[Sequence[str]]


@dataclass(frozen=True)
class Track:
    """One curve over all steps and draws."""

    curve: Curve
    values: np.ndarray
    """(draws, steps)"""

    @property
    def mean(self) -> np.ndarray:
        return np.asarray(self.values.mean(axis=0))

    @property
    def spread(self) -> np.ndarray:
        return np.asarray(self.values.std(axis=0, ddof=min(1, len(self.values) - 1)))

    def change(self, first: int = 0, last: int = -1) -> float:
        """From one step to another, mean over draws."""
        return float((self.values[:, last] - self.values[:, first]).mean())

    def change_spread(self, first: int = 0, last: int = -1) -> float:
        """Of that change, over draws."""
        return float((self.values[:, last] - self.values[:, first]).std(ddof=min(1, len(self.values) - 1)))

    def spearman(self, last: int | None = None) -> float:
        """Of the mean curve and the step's number, up to but not with `last`."""
        mean = self.mean[:last]
        return float(rc.correlation(np.arange(len(mean)), mean, "spearman"))

    @property
    def signal(self) -> float:
        """The change over all steps in spreads; below 0 where it is towards worse."""
        spread = self.change_spread()
        return self.change() * self.curve.better / spread if spread else math.nan

    def seen(self, last: int = -1) -> Move:
        """What the curve does from the first step to `last`; falling is getting worse, whatever the direction."""
        moves = self.values[:, last] - self.values[:, 0]
        change, rho = float(moves.mean()), self.spearman(None if last == -1 else last + 1)
        same = bool((moves > 0).all() or (moves < 0).all())
        if same and rho * change > 0 and abs(rho) >= MONOTONE and (abs(change) > LEAST or not self.curve.bounded):
            return "falls" if change * self.curve.better < 0 else "rises"
        little = abs(change) <= STEADY if self.curve.bounded else not same
        return "stays" if little else "wavers"

    def does(self, expected: str, last: int = -1) -> bool:
        """Whether it falls, or stays, as expected: a number that falls by little does both."""
        if expected == "stays" and self.curve.bounded:
            return abs(self.change(last=last)) <= STEADY
        return self.seen(last) == expected


def tracks(measured: Sequence[Sequence[Mapping[str, float | None]]]) -> dict[str, Track]:
    """Curves by name from numbers by draw and step."""
    by_name = {}
    for curve in CURVES:
        rows = [[step[curve.name] for step in draw] for draw in measured]
        by_name[curve.name] = Track(curve, np.array(rows, dtype=np.float64))  # None becomes NaN
    return by_name


def run_draws(
    setup: Setup, steps: rc.Journal, draws: Sequence[Draw], names: Sequence[str], title: str
) -> dict[str, Track]:
    """All curves over all draws, step by step as named; what an earlier run has measured is not measured again."""
    space = Space(setup, (text for draw in draws for text in draw.reference))
    measured = []
    with progress_bar(title, len(draws) * len(names), "step") as progress:
        for at, draw in enumerate(draws):
            row = []
            for name, candidate in zip(names, draw.candidates, strict=True):

                def make(reference: Sequence[str] = draw.reference, candidate: Sequence[str] = candidate) -> Any:
                    # All at once under one bar, as soon as one step is missing.
                    space.prepare(text for one in draws for part in (one.reference, *one.candidates) for text in part)
                    return measure(space.rows(reference), space.rows(candidate), setup.seed)

                row.append(steps.get(f"{title}, draw {at}, {name}", make))
                progress.advance()
            measured.append(row)
    return tracks(measured)


def unless(holds: Holds, why: str) -> str:
    """The reason, where there is something to explain."""
    return "" if holds == "holds" else why


def of_paper(size: int, printed: int) -> str:
    """How a set's size stands to the paper's."""
    return "the paper's size" if size == printed else f"the paper has {printed:,} v {printed:,}"


def sized(sizes: Mapping[str, int], printed: int) -> str:
    """On what data a claim was judged, with sentences a side beside the paper's."""
    listed = [f"{name}: {size:,} v {size:,} ({of_paper(size, printed)})" for name, size in sizes.items()]
    return f"{'; '.join(listed)}; all-MiniLM-L6-v2"
