"""Tables, figure and words for numbers along the steps of a perturbation."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

import recapture as rc

from ..study import Section
from ..words import short
from .perturbed import CURVES, LEAST, MONOTONE, STEADY, Track


def curves_table(by_data: Mapping[str, Mapping[str, Track]], steps: Mapping[str, Sequence[str]], about: str) -> Section:
    """Means by step; a data set with fewer steps than another leaves the columns empty that it has not."""
    heads = max(steps.values(), key=len)
    rows = [
        [data, track.curve.panel, track.curve.number or "-", track.curve.asks]
        + [number(dict(zip(steps[data], track.mean.tolist(), strict=True)).get(head, math.nan)) for head in heads]
        + [number(float(track.spread.mean()))]
        for data, by_name in by_data.items()
        for track in by_name.values()
    ]
    return Section("curves", rc.Table(["data", "method", "number", "asks", *heads, "spread"], rows, [about], left=4))


def number(value: float) -> str:
    """Three digits behind the point; small ones by their leading digits."""
    if math.isnan(value):
        return "-"
    return short(value) if 0 < abs(value) < 0.0995 else f"{value:.3f}"


def doubles(by_name: Mapping[str, Track]) -> dict[str, tuple[float, float]]:
    """By how much quality and diversity move, by method that tells them apart."""
    changes = {}
    for panel in dict.fromkeys(curve.panel for curve in CURVES if curve.asks == "quality"):
        quality, diversity = (track for track in by_name.values() if track.curve.panel == panel)
        changes[panel] = quality.change(), diversity.change()
    return changes


def pairs_of(by_name: Mapping[str, Track]) -> str:
    """The same as words."""
    moved = doubles(by_name).items()
    return "; ".join(f"{panel} {quality:+.3f} and {diversity:+.3f}" for panel, (quality, diversity) in moved)


def strongest(found: Iterable[Track], count: int = 3) -> str:
    """The numbers that get worse by most spreads, as words."""
    ranked = sorted((track for track in found if track.signal < 0), key=lambda track: track.signal)
    return ", ".join(f"{track.curve.name} ({-track.signal:.1f})" for track in ranked[:count]) or "none"


RULE = (
    "Falling is getting worse (Fréchet and MMD then grow). A number falls or rises when it does so in every draw, by "
    f"more than {LEAST:g} on average, and Spearman's correlation of the mean curve with the step is at least "
    f"{MONOTONE:g} either way; else it stays if it moved by at most {STEADY:g}, and wavers if by more. One that should "
    f"stay may still fall by up to {STEADY:g}. Spread: standard deviation of the change over draws."
)


def panels() -> list[str]:
    return list(dict.fromkeys(curve.panel for curve in CURVES))


def draw_panels(
    by_data: Mapping[str, Mapping[str, Track]], places: Mapping[str, Sequence[float]], label: str
) -> Callable[[Any], None]:
    """Small multiples: a panel a method, a colour a data set; quality full, diversity dotted, single numbers full."""
    styles = {"quality": "-", "diversity": ":", "both": "-"}

    def draw(figure: Any) -> None:
        from matplotlib.lines import Line2D
        from matplotlib.ticker import MaxNLocator

        figure.set_size_inches(15, 6.2)
        grid = figure.subplots(2, 5, sharex=True)
        for axes, panel in zip(grid.flat, panels(), strict=True):
            worse = ""
            for colour, (data, by_name) in enumerate(by_data.items()):
                for track in by_name.values():
                    if track.curve.panel != panel:
                        continue
                    worse = " (lower is better)" if track.curve.better < 0 else ""
                    style = "--" if track.curve.number == "adjusted" else styles[track.curve.asks]
                    place, mean, spread = np.asarray(places[data]), track.mean, track.spread
                    axes.plot(place, mean, style, color=f"C{colour}", linewidth=1.8)
                    axes.fill_between(place, mean - spread, mean + spread, color=f"C{colour}", alpha=0.15, linewidth=0)
            axes.set_title(panel + worse, fontsize=10)
            axes.grid(alpha=0.25)
            axes.tick_params(labelsize=8)
            axes.margins(x=0.02)
            if all(float(place).is_integer() for each in places.values() for place in each):
                axes.xaxis.set_major_locator(MaxNLocator(integer=True))
        for axes in grid[-1]:
            axes.set_xlabel(label, fontsize=9)
        handles = [Line2D([], [], color=f"C{at}", label=data) for at, data in enumerate(by_data)]
        handles += [
            Line2D([], [], color="0.3", linestyle="-", label="quality, or one number"),
            Line2D([], [], color="0.3", linestyle=":", label="diversity"),
            Line2D([], [], color="0.3", linestyle="--", label="CAPTURE, adjusted"),
        ]
        figure.legend(handles=handles, loc="outside lower center", ncols=len(handles), fontsize=9, frameon=False)

    return draw
