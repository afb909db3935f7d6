"""The result of `correlate`: numbers that read themselves out as tables."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from ..declarations import Direction
from ..errors import InputError, nearest_names
from ..report.result import freeze


@dataclass(frozen=True)
class Correlation:
    metric: str
    criterion: str
    level: str
    coefficient: str
    value: float
    """Of oriented scores: 1 where the metric orders as people do, whichever way it is better."""
    interval: tuple[float, float] | None
    systems: int
    inputs: int
    """That count; 0 where all scores are of whole systems."""
    dropped: int
    """Inputs that do not count (global level: cells)."""
    direction: Direction
    """Of the metric."""
    criterion_direction: Direction = "higher"
    warnings: tuple[str, ...] = ()
    missing: int = 0
    """Cells (one system, one input) that lack a score or a rating, whether or not their input counts."""

    def to_dict(self) -> dict[str, Any]:
        low, high = self.interval or (None, None)
        return {
            "metric": self.metric,
            "direction": self.direction,
            "criterion": self.criterion,
            "criterion_direction": self.criterion_direction,
            "level": self.level,
            "coefficient": self.coefficient,
            "value": self.value,
            "low": low,
            "high": high,
            "systems": self.systems,
            "inputs": self.inputs,
            "dropped": self.dropped,
            "missing_cells": self.missing,
            "warnings": list(self.warnings),
        }


@dataclass(frozen=True, eq=False)
class Correlations:
    """Rows of `Correlation`. Printed, it is a table; the other forms are a method each."""

    rows: tuple[Correlation, ...]
    settings: Mapping[str, Any]
    """Numbers of systems and inputs, and how intervals were made."""
    notes: tuple[str, ...] = ()
    """What was left out before anything was computed."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "settings", freeze(dict(self.settings)))

    def __iter__(self) -> Iterator[Correlation]:
        return iter(self.rows)

    def __len__(self) -> int:
        return len(self.rows)

    def find(self, metric: str | None = None, **wanted: str) -> Correlation:
        """The row of a metric; criterion, level and coefficient where there are several."""
        asked = {**({} if metric is None else {"metric": metric}), **wanted}
        for name, value in asked.items():
            if name not in ("metric", "criterion", "level", "coefficient"):
                raise InputError(f"rows are found by metric, criterion, level and coefficient, not by {name!r}")
            known = {getattr(row, name) for row in self.rows}
            if value not in known:
                raise InputError(f"there is no {name} {value!r}: {nearest_names(str(value), known)}")
        rows = [row for row in self.rows if all(getattr(row, name) == value for name, value in asked.items())]
        if len(rows) != 1:
            said = ", ".join(f"{name} {value!r}" for name, value in asked.items()) or "anything"
            raise InputError(f"{len(rows)} rows are of {said}: metric, criterion, level and coefficient name one")
        return rows[0]

    @property
    def value(self) -> float:
        """Where there is one row."""
        return self._only.value

    @property
    def interval(self) -> tuple[float, float] | None:
        """Where there is one row."""
        return self._only.interval

    @property
    def _only(self) -> Correlation:
        if len(self.rows) != 1:
            raise AttributeError(f"there are {len(self.rows)} correlations: see .rows, or .find(metric, criterion=...)")
        return self.rows[0]

    @property
    def warnings(self) -> tuple[str, ...]:
        """Notes on the data, and each row's warnings with the rows they concern."""
        from .render import concerns

        grouped: dict[str, list[Correlation]] = {}
        for row in self.rows:
            for warning in row.warnings:
                grouped.setdefault(warning, []).append(row)
        return (*self.notes, *(f"{concerns(rows, self.rows)}: {warning}" for warning, rows in grouped.items()))

    def __str__(self) -> str:
        return self.to_table()

    __repr__ = __str__

    def to_table(self) -> str:
        return self._written("table")

    def to_markdown(self) -> str:
        return self._written("md")

    def to_latex(self) -> str:
        """A booktabs table."""
        return self._written("latex")

    def to_csv(self) -> str:
        """One row per number, in full precision."""
        return self._written("csv")

    def to_json(self) -> str:
        return self._written("json")

    def _repr_html_(self) -> str:
        return self._written("html")

    def _written(self, form: str) -> str:
        from .render import correlations_part, written

        return written([correlations_part(self)], form, self.warnings, self.settings)
