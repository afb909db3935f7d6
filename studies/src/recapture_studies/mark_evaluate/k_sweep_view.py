"""Tables and figure of the sweep over k."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

import recapture as rc

from ..paper import paper_numbers
from ..study import Section
from .perturbed_view import number

_TICKS = (1, 2, 3, 5, 10, 20, 40)
_LEAST = 0.001
_SHOWN = (1, 2, 3, 4, 5, 7, 10, 15, 20, 30, 40)
ESTIMATORS = {
    "petersen": "petersen",
    "quality": "schnabel_quality",
    "diversity": "schnabel_diversity",
    "capture": "capture",
}
"""Score, and the estimate it comes from."""
WHICH = {
    "whole": "both halves of the data",
    "like": "subsamples of both halves",
    "other": "subsamples of one half and of the other data set",
}
PAPER: dict[int, list[float]] = {int(k): ends for k, ends in paper_numbers(__package__, "k-sweep").items()}
"""Estimates over the true size, and scores, by k."""

Sweep = Mapping[str, Mapping[str, Sequence[float]]]
"""`estimate` (over the true size), `score` and `adjusted`; by estimator; one number for each k."""


class Swept:
    """All sweeps of one data set, by `WHICH`."""

    def __init__(self, sweeps: Mapping[str, Sequence[Sweep]], size: int, drawn: int) -> None:
        self._sweeps = sweeps
        self.size = size
        """Sentences a side, of the whole sets."""
        self.drawn = drawn
        """The same, of subsamples."""

    def of(self, which: str, what: str, name: str) -> np.ndarray:
        """For each k, mean over subsamples; NaN where one of them has no number."""
        return np.asarray(self._each(which, what, name).mean(axis=0))

    def contrast(self, what: str, name: str) -> np.ndarray:
        """How much higher like sets score than others."""
        return np.asarray(self.of("like", what, name) - self.of("other", what, name))

    def separation(self, name: str) -> np.ndarray:
        """The contrast in standard deviations of one subsample (the same for raw and adjusted scores).

        NaN below `_LEAST`: a few sentences decide there, and where every draw misses the same one there is no spread.
        """
        like, other = (self._each(which, "score", name).var(axis=0, ddof=1) for which in ("like", "other"))
        spread = np.sqrt((like + other) / 2)
        gap = self.contrast("score", name)
        return np.asarray(
            np.divide(gap, spread, out=np.full_like(gap, np.nan), where=(spread > 0) & (abs(gap) >= _LEAST))
        )

    def _each(self, which: str, what: str, name: str) -> np.ndarray:
        return np.array([each[what][name] for each in self._sweeps[which]], dtype=np.float64)  # None becomes NaN


def _shown(ks: Sequence[int]) -> list[tuple[int, int]]:
    """(place, k) of those that tables show."""
    return [(ks.index(k), k) for k in _SHOWN if k in ks]


def beside_table(by_data: Mapping[str, Swept], ks: Sequence[int]) -> Section:
    heads = [
        "k",
        "number",
        "paper, 10,000 v 10,000",
        *(f"{data}, {swept.size:,} v {swept.size:,}" for data, swept in by_data.items()),
    ]
    rows = []
    for k, printed in PAPER.items():
        if k not in ks:
            continue
        for what, value in zip(("estimate", "score"), printed, strict=True):
            title = "estimate / true size" if what == "estimate" else "score"
            row = [str(k), title, f"about {value:.2f}"]
            for swept in by_data.values():
                ours = [float(swept.of("whole", what, name)[ks.index(k)]) for name in ESTIMATORS]
                row.append(f"{min(ours):.3f} to {max(ours):.3f}")
            rows.append(row)
    caption = ["The paper's are read off its Figure 2 and stand for all its estimators; ours are the range over four."]
    return Section("beside-the-paper", rc.Table(heads, rows, caption, left=2))


def sweep_table(by_data: Mapping[str, Swept], ks: Sequence[int], draws: int) -> Section:
    heads = ["data", "sets", "number", "estimator", *(str(k) for _, k in _shown(ks))]
    rows = [
        [data, which, title, name, *(number(float(swept.of(which, what, name)[at])) for at, _ in _shown(ks))]
        for data, swept in by_data.items()
        for which in WHICH
        for what, title in (("estimate", "estimate / true size"), ("score", "score"), ("adjusted", "adjusted"))
        for name in ESTIMATORS
    ]
    caption = [
        "By k. "
        + "; ".join(f"{which}: {meaning}" for which, meaning in WHICH.items())
        + f" (means over {draws}). Sentences a side: "
        + "; ".join(f"{data} {swept.size:,}, subsamples {swept.drawn:,}" for data, swept in by_data.items())
        + ". Adjusted: (score - floor) / (1 - floor), the floor being the score of sets that never meet; - where the "
        "floor is 1."
    ]
    return Section("sweep", rc.Table(heads, rows, caption, left=4))


def contrast_table(by_data: Mapping[str, Swept], ks: Sequence[int], draws: int) -> Section:
    heads = ["data", "contrast of", "estimator", *(str(k) for _, k in _shown(ks)), "largest at k"]
    rows = []
    for data, swept in by_data.items():
        for what, title in (("score", "raw scores"), ("adjusted", "adjusted scores"), ("", "in standard deviations")):
            for name in ESTIMATORS:
                curve = swept.contrast(what, name) if what else swept.separation(name)
                shown = [f"{curve[at]:.3f}" if what else f"{curve[at]:.1f}" for at, _ in _shown(ks)]
                rows.append([data, title, name, *("-" if each == "nan" else each for each in shown), best(curve, ks)])
    caption = [
        f"Mean score of {draws} like subsamples less that of others, by k. In standard deviations: over the standard "
        "deviation of one subsample's score, the same for raw and adjusted scores; - where scores differ by less than "
        f"{_LEAST:g}."
    ]
    adds = "Chance-adjusted scores, and how far sets of one kind and of another stay apart as k grows"
    return Section("contrast", rc.Table(heads, rows, caption, left=3), adds)


def best(curve: np.ndarray, ks: Sequence[int]) -> str:
    return str(ks[int(np.nanargmax(curve))]) if not np.isnan(curve).all() else "-"


def drawing(by_data: Mapping[str, Swept], ks: Sequence[int]) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        from matplotlib.lines import Line2D

        figure.set_size_inches(15, 3 * len(by_data) + 0.5)
        grid = figure.subplots(len(by_data), 4, squeeze=False)
        for line, (data, swept) in zip(grid, by_data.items(), strict=True):
            for colour, name in enumerate(ESTIMATORS):
                line[0].plot(ks, swept.of("whole", "estimate", name), "-", color=f"C{colour}", linewidth=1.5)
                for axes, what in zip(line[1:3], ("score", "adjusted"), strict=True):
                    for which, style in (("like", "-"), ("other", "--")):
                        axes.plot(ks, swept.of(which, what, name), style, color=f"C{colour}", linewidth=1.5)
                line[3].plot(ks, swept.separation(name), "-", color=f"C{colour}", linewidth=1.5)
            titles = ("estimate / true size, whole", "score", "adjusted score", "contrast / standard deviation")
            for axes, title in zip(line, titles, strict=True):
                axes.set_title(f"{data}: {title}", fontsize=10)
                axes.grid(alpha=0.25)
                axes.tick_params(labelsize=8)
                axes.set_xscale("log")
                axes.set_xticks([k for k in _TICKS if k in ks], [str(k) for k in _TICKS if k in ks])
                axes.minorticks_off()
            line[0].axhline(1, color="0.6", linewidth=0.8)
            line[0].set_ylim(0.98, 2.2)
            line[1].plot(ks, [1 - 1 / k for k in ks], ":", color="0.4", linewidth=1.5)
        for axes in grid[-1]:
            axes.set_xlabel("k", fontsize=9)
        handles = [Line2D([], [], color=f"C{at}", label=name) for at, name in enumerate(ESTIMATORS)]
        handles += [
            Line2D([], [], color="0.2", linestyle="-", label="like sets"),
            Line2D([], [], color="0.2", linestyle="--", label="sentences of the other data set"),
            Line2D([], [], color="0.4", linestyle=":", label="Schnabel of sets that never meet"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=9, frameon=False)

    return draw
