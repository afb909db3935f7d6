"""Tables of agreement: each part has a grid of words for people and plain rows for programs."""

from __future__ import annotations

import csv
import html
import io
import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from .. import __version__
from ..results.grid import Grid
from ..results.render import finite
from ..results.result import short
from .correlations import Correlation, Correlations
from .matrix import counted

_ARROWS = {"higher": "↑", "lower": "↓"}


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
    ways = {"table": Grid.to_table, "md": Grid.to_markdown, "latex": Grid.to_latex}
    return "\n".join(ways[form](part.grid) for part in parts)


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
            f"[]: {made['interval']:.4g} interval, percentiles of {made['resamples']:,} bootstrap resamples of {drawn}, "
            f"seed {made['seed']}"
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
