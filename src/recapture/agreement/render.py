"""Tables of agreement: each part has a grid of words for people and plain rows for programs."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import __version__
from ..results.grid import Grid
from ..results.render import finite
from ..results.result import short, short_p
from .correlations import Correlation, Correlations
from .matrix import counted

if TYPE_CHECKING:
    from .all_pairs import AllPairs

_ARROWS = {"higher": "↑", "lower": "↓"}
_TESTS = {
    "williams": "Williams' test",
    "permutation": "permutation test that swaps the two metrics' scores",
    "bootstrap": "paired bootstrap",
}


@dataclass(frozen=True)
class Part:
    name: str
    """Its key in JSON, and its kind in CSV."""
    grid: Grid
    rows: Sequence[Mapping[str, Any]]


def written(parts: Sequence[Part], form: str, warnings: Sequence[str], settings: Mapping[str, Any]) -> str:
    if form == "json":
        content: dict[str, Any] = {"recapture": __version__, "settings": dict(settings), "warnings": list(warnings)}
        content |= {part.name: [dict(row) for row in part.rows] for part in parts}
        return json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "csv":
        return _csv(parts)
    if form == "html":
        notes = "".join(f"<li>{html.escape(warning)}</li>" for warning in warnings)
        return "".join(part.grid.to_html() for part in parts) + (f"<ul>{notes}</ul>" if notes else "")
    if form == "table":
        return "\n".join(part.grid.to_table() for part in parts)
    # Files stand alone, so warnings go with them.
    captions = [[*part.grid.caption, *(warnings if at == 0 else ())] for at, part in enumerate(parts)]
    grids = [replace(part.grid, caption=lines) for part, lines in zip(parts, captions, strict=True)]
    if form == "latex":
        return "\n".join(grid.to_latex() for grid in grids)
    # A list: lines that follow each other would run together.
    return "\n".join(replace(grid, caption=[f"- {line}" for line in grid.caption]).to_markdown() for grid in grids)


def _csv(parts: Sequence[Part]) -> str:
    """One table: what kind of number each row is stands first where there are several kinds."""
    several = len(parts) > 1
    heads = dict.fromkeys(head for part in parts for row in part.rows for head in row)
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerow([*(["kind"] if several else []), *heads])
    for part in parts:
        for row in part.rows:
            cells = [_plain(row.get(head)) for head in heads]
            writer.writerow([*([part.name] if several else []), *cells])
    return stream.getvalue()


def _plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return " | ".join(map(str, value))
    return "" if value is None else repr(value) if isinstance(value, float) else value


def correlations_part(result: Correlations) -> Part:
    """Metrics down; criteria, coefficients and levels across, each named as far as they differ."""
    rows = result.rows
    columns = list(dict.fromkeys((row.level, row.criterion, row.coefficient) for row in rows))
    varying = [len({column[at] for column in columns}) > 1 for at in range(3)]
    varying[2] = varying[2] or not any(varying)
    heads = [" ".join(word for word, shown in zip(column, varying, strict=True) if shown) for column in columns]
    by = {(row.metric, row.level, row.criterion, row.coefficient): row for row in rows}
    ways = {row.metric: row.direction for row in rows}
    lines = [
        [f"{name} {_ARROWS[way]}", *(_cell(by[(name, *column)]) for column in columns)] for name, way in ways.items()
    ]
    return Part(
        "correlations", Grid(["metric", *heads], lines, [*_caption(result, varying)]), [row.to_dict() for row in rows]
    )


def _cell(row: Correlation) -> str:
    return short(row.value) + (f" [{', '.join(map(short, row.interval))}]" if row.interval else "")


def _caption(result: Correlations, varying: Sequence[bool]) -> list[str]:
    first = result.rows[0]
    said = {
        "system": "systems' means",
        "text": "mean over inputs of the correlation across systems",
        "global": "all cells",
    }
    levels = list(dict.fromkeys(row.level for row in result.rows))
    criteria = {row.criterion: row.criterion_direction for row in result.rows}
    what = "correlation" if varying[2] else first.coefficient
    line = f"{what} with {', '.join(criteria)}; " + "; ".join(f"{level} level: {said[level]}" for level in levels)
    lines = [f"{line}; {counted(first.systems, 'system')}", *_counts(result)]
    turned = [name for name, way in criteria.items() if way == "lower"]
    lines.append(
        "scores where lower is better (↓) are turned round first, so that 1 is best for all"
        + (f"; so are the ratings {', '.join(turned)}" if turned else "")
    )
    made = result.settings
    if "interval" in made:
        drawn = {"both": "systems and inputs", "systems": "systems", "inputs": "inputs"}[made["over"]]
        lines.append(
            f"[]: {made['interval']:.4g} interval, percentiles of {made['resamples']:,} bootstrap resamples of "
            f"{drawn}, seed {made['seed']}"
        )
    return lines


def _counts(result: Correlations) -> list[str]:
    """How many inputs count and how many were dropped, by what they are the same for."""
    by: dict[tuple[str, int, int], list[Correlation]] = {}
    for row in result.rows:
        by.setdefault((row.level, row.inputs, row.dropped), []).append(row)
    levels = {row.level for row in result.rows}
    lines = []
    for (level, inputs, dropped), rows in by.items():
        if not inputs and not dropped:
            continue
        every = len(rows) == sum(row.level == level for row in result.rows)
        about = "" if every else ", ".join(dict.fromkeys(f"{row.metric} v {row.criterion}" for row in rows)) + ": "
        if level == "global":
            said = f"{counted(inputs, 'input')}, {counted(dropped, 'cell')} dropped"
        else:
            said = f"{counted(inputs, 'input')}, {dropped:,} dropped"
        why = {
            "system": " (a score of some system is missing)",
            "text": " (missing scores, or no variation)",
            "global": " (a score is missing)",
        }[level]
        lines.append((f"{level} level, " if len(levels) > 1 else "") + about + said + (why if dropped else ""))
    return lines


def comparisons_part(results: Sequence[tuple[str, AllPairs]], alpha: float) -> Part:
    """By criterion: every two metrics."""
    several = len(results) > 1
    lines, rows, clusters = [], [], []
    for criterion, result in results:
        about = f"{criterion}, {result.level} level, {result.coefficient}"
        for pair in result.pairs:
            numbers = [short(pair.delta), short_p(pair.pvalue), short_p(pair.adjusted), short_p(pair.greater)]
            lines.append([*([about] if several else []), pair.first, pair.second, *numbers])
            rows.append(
                {
                    "metric": pair.first,
                    "other": pair.second,
                    "criterion": criterion,
                    "level": result.level,
                    "coefficient": result.coefficient,
                    "difference": pair.delta,
                    "p": pair.pvalue,
                    "p_holm": pair.adjusted,
                    "p_greater": pair.greater,
                    "test": result.test,
                    "systems": result.systems,
                    "inputs": result.inputs,
                    "dropped": result.dropped,
                }
            )
        ranked = "; ".join(f"{at}: {', '.join(names)}" for at, names in enumerate(result.clusters(alpha), 1))
        clusters.append(f"clusters (one-sided p <= {alpha:g}){f', {about}' if several else ''}: {ranked}")
    first = results[0][1]
    caption = [
        f"the first metric agrees better by the difference; {_TESTS[first.test]}; p two-sided, for all pairs by Holm's "
        "rule, and one-sided",
        f"all metrics on the same cells: {counted(first.systems, 'system')}, {counted(first.inputs, 'input')}",
        *clusters,
    ]
    heads = [*(["with"] if several else []), "metric", "other", "difference", "p", "p (Holm)", "p (one-sided)"]
    return Part("comparisons", Grid(heads, lines, caption, left=3 if several else 2), rows)


def accuracies_part(rows: Sequence[Mapping[str, Any]], resamples: int, seed: int) -> Part:
    lines = [
        [row["metric"], row["criterion"], short(row["accuracy"]), "-" if row["soft"] is None else short(row["soft"])]
        for row in rows
    ]
    pairs = ", ".join(dict.fromkeys(str(row["pairs"]) for row in rows))
    caption = [
        f"share of {pairs} pairs of systems ranked as people rank them; soft: 1 - mean difference of people's and the "
        "metric's p-value of each pair",
        f"p-values by up to {resamples:,} random signs of inputs, seed {seed}",
    ]
    return Part("accuracies", Grid(["metric", "criterion", "pairwise accuracy", "soft"], lines, caption, left=2), rows)


def between_part(names: Sequence[str], found: Sequence[tuple[str, str, np.ndarray]]) -> Part:
    """Of metrics with each other; found: level, coefficient, matrix."""
    lines, rows = [], []
    several = len(found) > 1
    for level, coefficient, matrix in found:
        for at, name in enumerate(names):
            cells = ["-" if math.isnan(value) else short(value) for value in matrix[at]]
            lines.append([*([f"{level} {coefficient}"] if several else []), name, *cells])
            rows += [
                {"metric": name, "other": other, "level": level, "coefficient": coefficient, "value": float(value)}
                for other, value in zip(names, matrix[at], strict=True)
            ]
    what = "" if several else f": {found[0][0]} level, {found[0][1]}"
    heads = [*(["how"] if several else []), "metric", *names]
    return Part("between", Grid(heads, lines, [f"metrics with each other{what}"], left=1 + several), rows)
