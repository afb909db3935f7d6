"""The scores of single items, one row for each system and item."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence

import numpy as np

from ..errors import InputError
from .result import Result


def item_lines(results: Mapping[str, Mapping[str, Result]], ids: Sequence[str | int] | None = None) -> Iterator[str]:
    """JSON objects, a line each: the item (its id, or its position from 0), the system, and every score.

    A metric with one number stands under its name, others as NAME.NUMBER. A pair without a score has null.
    """
    for system, by_metric in results.items():
        columns = item_columns(by_metric)
        for position in range(len(next(iter(columns.values())))):
            scores = {name: _known(column[position]) for name, column in columns.items()}
            row = {"item": position if ids is None else ids[position], "system": system, **scores}
            yield json.dumps(row, ensure_ascii=False, allow_nan=False) + "\n"


def item_columns(by_metric: Mapping[str, Result]) -> dict[str, np.ndarray]:
    """One array per number of every metric, under the name it has in files of items."""
    columns = {}
    for metric, result in by_metric.items():
        if "aligned" not in result.details:
            raise InputError(f"{metric} compares sets: it has no scores of single items")
        for number in result.values:
            name = metric if len(result.values) == 1 else f"{metric}.{number}"
            columns[name] = result.arrays[array_name(number)]
    return columns


def array_name(output: str) -> str:
    """Under which name a Result keeps the scores of single items."""
    return "scores" if output == "value" else f"{output}_scores"


def _known(score: float) -> float | None:
    value = float(score)
    return value if math.isfinite(value) else None
