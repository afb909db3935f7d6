"""Figure of the study of sampling."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .sampling_curves import PEOPLE
from .sampling_tables import HIGHER, Scored, temperature_curves, top_p_curves

_STYLES = ("-", "--", ":", "-.")
_SHOWN = {True: ("trm-meteor", "meteor"), False: ("trm-meteor", "mauve")}


def drawn_nothing(figure: Any) -> None:
    """Where there is nothing to show, that is said."""
    figure.set_size_inches(5, 1.5)
    figure.text(0.5, 0.5, "no samples at several temperatures", ha="center", va="center")


def drawn_figure(sets: Sequence[Scored]) -> Callable[[Any], None]:
    """By set a row: two metrics by temperature, and triangle ranks by top-p; people as a line."""

    def draw(figure: Any) -> None:
        figure.set_size_inches(13, 4 * len(sets))
        grid = figure.subplots(len(sets), 3, squeeze=False)
        for row, each in zip(grid, sets, strict=True):
            ranks, other = _SHOWN[each.work.several]
            panels = (
                (row[0], temperature_curves, "temperature", ranks),
                (row[1], temperature_curves, "temperature", other),
                (row[2], top_p_curves, "top-p", ranks),
            )
            for axes, find, along, metric in panels:
                for color, (model, scores) in enumerate(each.scores.items()):
                    for style, (kept, ways) in zip(_STYLES, find(each.samples.ways).items(), strict=False):
                        steps = [way.temperature if along == "temperature" else way.top_p for way in ways]
                        means = [float(np.mean(scores[str(way)][metric])) for way in ways]
                        axes.plot(steps, means, style, marker=".", color=f"C{color}", label=f"{model}: {kept}")
                    for way in each.samples.ways:
                        if way.search == "greedy":
                            level = float(np.mean(scores[str(way)][metric]))
                            axes.axhline(level, color=f"C{color}", linestyle=(0, (1, 4)), label=f"{model}: greedy")
                people = [float(np.mean(scores[PEOPLE][metric])) for scores in each.scores.values()]
                axes.axhline(float(np.mean(people)), color="0.5", label="other people")
                better = "higher" if metric in HIGHER else "lower"
                axes.set(title=f"{each.samples.name}: {metric} ({better} is better)", xlabel=along)
            row[0].legend(fontsize=6)

    return draw
