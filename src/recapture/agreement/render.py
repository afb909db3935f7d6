"""Tables of agreement: each part has a grid of words for people and plain rows for programs."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..report.grid import Grid
from ..report.render import finite
from ..report.result import short
from ..versions import VERSION
from .correlations import Correlation, Correlations
from .levels import FEWEST
from .matrix import counted, listed

_ARROWS = {"higher": "↑", "lower": "↓"}
_ZERO = 1e-12
"""Numbers nearer to 0 are rounding."""


@dataclass(frozen=True)
class Part:
    name: str
    """Its key in JSON, and its kind in CSV."""
    grid: Grid | None
    """None: for programs alone, since another part's caption says it."""
    rows: Sequence[Mapping[str, Any]]


def number(value: float) -> str:
    return "-" if math.isnan(value) else short(0.0 if abs(value) < _ZERO else value)


def written(
    parts: Sequence[Part], form: str, warnings: Sequence[str], settings: Mapping[str, Any], width: int | None = None
) -> str:
    """width: of the terminal, where tables are to fit into one."""
    if form == "json":
        content: dict[str, Any] = {"recapture": VERSION, "settings": dict(settings), "warnings": list(warnings)}
        for part in parts:
            content.setdefault(part.name, []).extend(dict(row) for row in part.rows)
        return json.dumps(finite(content), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
    if form == "csv":
        return _csv(parts)
    shown = [part.grid for part in parts if part.grid is not None]
    if form == "html":
        notes = "".join(f"<li>{html.escape(warning)}</li>" for warning in warnings)
        return "".join(grid.to_html() for grid in shown) + (f"<ul>{notes}</ul>" if notes else "")
    if form == "table":
        return "\n".join(block.to_table() for grid in shown for block in _blocks(grid, width))
    # Files stand alone, so warnings go with them.
    grids = [replace(grid, caption=[*grid.caption, *(warnings if at == 0 else ())]) for at, grid in enumerate(shown)]
    if form == "latex":
        return "\n".join(grid.to_latex() for grid in grids)
    # A list: lines that follow each other would run together.
    return "\n".join(replace(grid, caption=[f"- {line}" for line in grid.caption]).to_markdown() for grid in grids)


def _blocks(grid: Grid, width: int | None) -> list[Grid]:
    """In as many tables as the width asks for, each with the words on the left; the caption below the last."""
    sizes = [3 + max(map(len, column)) for column in zip(grid.heads, *grid.rows, strict=True)]
    blocks: list[list[int]] = [[]]
    used = first = sum(sizes[: grid.left])
    for at in range(grid.left, len(sizes)):
        if width and blocks[-1] and used + sizes[at] > width:
            blocks.append([])
            used = first
        blocks[-1].append(at)
        used += sizes[at]
    made = []
    for block in blocks:
        kept = [*range(grid.left), *block]
        lines = [[row[at] for at in kept] for row in grid.rows]
        made.append(
            Grid([grid.heads[at] for at in kept], lines, grid.caption if block is blocks[-1] else [], grid.left)
        )
    return made


def _csv(parts: Sequence[Part]) -> str:
    """One table: what kind of number each row is stands first where there are several kinds."""
    several = len({part.name for part in parts}) > 1
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
    return number(row.value) + (f" [{', '.join(map(number, row.interval))}]" if row.interval else "")


def _caption(result: Correlations, varying: Sequence[bool]) -> list[str]:
    first = result.rows[0]
    each = "share of pairs" if {row.coefficient for row in result.rows} == {"acc-eq"} else "correlation"
    said = {
        "system": "systems' means",
        "text": f"mean over inputs of the {each} across systems",
        "global": "all cells",
    }
    levels = list(dict.fromkeys(row.level for row in result.rows))
    criteria = {row.criterion: row.criterion_direction for row in result.rows}
    names = {row.coefficient for row in result.rows}
    what = first.coefficient if not varying[2] else "correlation" if "acc-eq" not in names else "agreement"
    line = f"{what} with {', '.join(criteria)}; " + "; ".join(f"{level} level: {said[level]}" for level in levels)
    lines = [f"{line}; {counted(first.systems, 'system')}", *_counts(result)]
    turned = [name for name, way in criteria.items() if way == "lower"]
    if "acc-eq" in names:
        lines.append("acc-eq is no correlation but a share of pairs, those ordered or tied as people do")
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
        if made.get("too_few_systems"):
            lines.append(
                f"system level: {made['too_few_systems']:,} resamples with fewer than {FEWEST} different systems are "
                "left out, since their correlation is 1 or -1 whatever the scores"
            )
    lines += made.get("averaged", ())
    return lines


def _counts(result: Correlations) -> list[str]:
    """How many inputs count and how many were dropped, by what they are the same for."""
    by: dict[tuple[str, int, int, int], list[Correlation]] = {}
    for row in result.rows:
        by.setdefault((row.level, row.inputs, row.dropped, row.missing), []).append(row)
    levels = {row.level for row in result.rows}
    lines = []
    for (level, inputs, dropped, missing), rows in by.items():
        if not inputs and not dropped:
            continue
        every = len(rows) == sum(row.level == level for row in result.rows)
        about = "" if every else f"{concerns(rows, result.rows)}: "
        if level == "global":
            said = f"{counted(inputs, 'input')}, {counted(dropped, 'cell')} dropped"
        else:
            said = f"{counted(inputs, 'input')}, {dropped:,} dropped"
        why = {
            "system": " (a score of some system is missing)",
            "text": " (missing scores, or no variation)",
            "global": " (a score is missing)",
        }[level]
        said += why if dropped else ""
        if missing and level != "global":
            said += f"; {counted(missing, 'missing cell')}"
        lines.append((f"{level} level, " if len(levels) > 1 else "") + about + said)
    return lines


def concerns(rows: Sequence[Correlation], among: Sequence[Correlation]) -> str:
    """Which metrics and criteria rows are of, in few words."""
    metrics, criteria = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("metric", "criterion"))
    every = {row.metric for row in among}
    if len({(row.metric, row.criterion) for row in rows}) < len(metrics) * len(criteria):
        return listed(list(dict.fromkeys(f"{row.metric} v {row.criterion}" for row in rows)), 3)
    named = "all metrics" if len(metrics) == len(every) > 1 else listed(metrics, 3)
    return named if {row.criterion for row in among} == set(criteria) else f"{named} v {listed(criteria, 3)}"
