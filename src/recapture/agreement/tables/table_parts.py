"""What reports of agreement are made of: parts, each with a table for people and plain rows for programs."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from ...report.report import Measured, NumberCell, Report, Table, short

_ZERO = 1e-12
"""Numbers nearer to 0 are rounding."""


class TablePart(NamedTuple):
    kind: str
    """Its key in JSON, and the kind of its rows in CSV."""
    table: Table | None
    """None: for programs alone, since another part's caption says it."""
    rows: Sequence[Mapping[str, Any]]


def number(value: float) -> str:
    shown = 0.0 if abs(value) < _ZERO else value
    return "-" if math.isnan(value) else NumberCell(short(shown), Measured(shown))


def agreement_report(parts: Sequence[TablePart], warnings: Sequence[str], settings: Mapping[str, Any]) -> Report:
    """Pages stand alone, so warnings go with them."""
    results: dict[str, list[Mapping[str, Any]]] = {}
    for part in parts:
        results.setdefault(part.kind, []).extend(part.rows)
    return Report(
        kind="agreement",
        tables=[part.table for part in parts if part.table is not None],
        notes=warnings,
        page_notes=warnings,
        records=[(part.kind, part.rows) for part in parts],
        results=results,
        signature=settings,
    )
