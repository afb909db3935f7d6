"""Tables beside the correlations: accuracies, and metrics with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from ..report.report import Table as Grid
from .levels import Agreement
from .matrix import counted, listed
from .render import Part, number


def accuracies_part(rows: Sequence[Mapping[str, Any]], resamples: int, seed: int) -> Part:
    lines = [
        [row["metric"], row["criterion"], number(row["accuracy"]), "-" if row["soft"] is None else number(row["soft"])]
        for row in rows
    ]
    pairs = ", ".join(dict.fromkeys(str(row["pairs"]) for row in rows))
    caption = [
        f"share of {pairs} pairs of systems ranked as people rank them; soft: 1 - mean difference of people's and the "
        "metric's p-value of each pair",
        f"p-values by up to {resamples:,} random signs of inputs, seed {seed}",
        *_counts(
            {f"{row['metric']} v {row['criterion']}": (row["systems"], row["inputs"], row["dropped"]) for row in rows}
        ),
    ]
    return Part("accuracies", Grid(["metric", "criterion", "pairwise accuracy", "soft"], lines, caption, left=2), rows)


def _counts(counts: Mapping[str, tuple[int, int, int]], unit: str = "") -> list[str]:
    """Systems, inputs and what was dropped, by what they are the same for."""
    by: dict[tuple[int, int, int], list[str]] = {}
    for about, each in counts.items():
        by.setdefault(each, []).append(about)
    lines = []
    for (systems, inputs, dropped), abouts in by.items():
        said = counted(systems, "system")
        if inputs:
            lost = counted(dropped, unit) if unit else f"{dropped:,}"
            said += f", {counted(inputs, 'input')}, {lost} dropped"
        lines.append(said if len(by) == 1 else f"{listed(abouts, 3)}: {said}")
    return lines


def between_part(
    names: Sequence[str], found: Sequence[tuple[str, str, np.ndarray, Mapping[tuple[int, int], Agreement]]]
) -> Part:
    """Of metrics with each other; found: level, coefficient, matrix, and by place what every two share."""
    lines, rows = [], []
    several = len(found) > 1
    counts: dict[str, dict[str, tuple[int, int, int]]] = {}
    for level, coefficient, matrix, shared in found:
        for (at, to), each in shared.items():
            if at < to:
                own = counts.setdefault(level, {})
                own[f"{names[at]} v {names[to]}"] = (each.systems, each.inputs, each.dropped)
        for at, name in enumerate(names):
            cells = [number(value) for value in matrix[at]]
            lines.append([*([f"{level} {coefficient}"] if several else []), name, *cells])
            for to, other in enumerate(names):
                what = {"metric": name, "other": other, "level": level, "coefficient": coefficient}
                row: dict[str, Any] = {**what, "value": float(matrix[at, to])}
                if to != at:
                    each = shared[at, to]
                    row |= {"systems": each.systems, "inputs": each.inputs, "dropped": each.dropped}
                rows.append(row)
    about = "" if several else f": {found[0][0]} level, {found[0][1]}"
    heads = [*(["how"] if several else []), "metric", *names]
    caption = [f"metrics with each other{about}"]
    for level, own in counts.items():
        said = _counts(own, "cell" if level == "global" else "")
        caption += [f"{level} level: {line}" if len(counts) > 1 else line for line in said]
    return Part("between", Grid(heads, lines, caption, left=1 + several), rows)
