"""Tables in every form: each part has a grid of words for people and plain rows for programs."""

from __future__ import annotations

import csv
import html
import io
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from ... import __version__
from ...report.grid import Grid
from ...report.render import finite
from ...report.result import short

_ZERO = 1e-12
"""Numbers nearer to 0 are rounding."""


@dataclass(frozen=True)
class TablePart:
    name: str
    """Its key in JSON, and its kind in CSV."""
    grid: Grid | None
    """None: for programs alone, since another part's caption says it."""
    rows: Sequence[Mapping[str, Any]]


def number(value: float) -> str:
    return "-" if math.isnan(value) else short(0.0 if abs(value) < _ZERO else value)


def written(
    parts: Sequence[TablePart],
    form: str,
    warnings: Sequence[str],
    settings: Mapping[str, Any],
    width: int | None = None,
) -> str:
    """width: of the terminal, where tables are to fit into one."""
    if form == "json":
        content: dict[str, Any] = {"recapture": __version__, "settings": dict(settings), "warnings": list(warnings)}
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
    grids = []
    for block in blocks:
        kept = [*range(grid.left), *block]
        lines = [[row[at] for at in kept] for row in grid.rows]
        grids.append(
            Grid([grid.heads[at] for at in kept], lines, grid.caption if block is blocks[-1] else [], grid.left)
        )
    return grids


def _csv(parts: Sequence[TablePart]) -> str:
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


class Printed:
    """A result that says its parts, warnings and settings, and reads itself out in every form."""

    def _parts(self) -> Sequence[TablePart]:
        raise NotImplementedError

    def _beside(self) -> tuple[Sequence[str], Mapping[str, Any]]:
        """Warnings and settings."""
        raise NotImplementedError

    def __str__(self) -> str:
        return self.to_table()

    def __repr__(self) -> str:
        return self.to_table()

    def to_table(self, width: int | None = None) -> str:
        """For a terminal; width: its columns, into which tables are to fit."""
        return written(self._parts(), "table", *self._beside(), width)

    def to_markdown(self) -> str:
        return written(self._parts(), "md", *self._beside())

    def to_latex(self) -> str:
        """Booktabs tables."""
        return written(self._parts(), "latex", *self._beside())

    def to_csv(self) -> str:
        """One row per number, in full precision."""
        return written(self._parts(), "csv", *self._beside())

    def to_json(self) -> str:
        return written(self._parts(), "json", *self._beside())

    def _repr_html_(self) -> str:
        return written(self._parts(), "html", *self._beside())
