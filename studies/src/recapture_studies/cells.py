"""Numbers in the cells of studies' tables: written with their uncertainty, and read again when claims are judged.

Claims are judged from the tables a study prints, so that whoever reads a table can follow, and a rule that changes
needs no study to run again.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence

import numpy as np

from .verdicts import NORMAL, Estimate

Rows = Sequence[Mapping[str, str]]
Tables = Mapping[str, Rows]
"""By name of the table: its rows, cells by head."""

_NUMBER = re.compile(r"[-+]?(?:(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?|\.\d+)(?:e[-+]?\d+)?")


def mean_and_half(values: np.ndarray) -> str:
    """The mean of a sample and half of its 95 % interval."""
    half = NORMAL * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{float(np.mean(values)) if len(values) else math.nan:.3f} ± {half:.3f}"


def number(cell: str) -> float:
    """The first number in a cell, per cent as a share; NaN where there is none."""
    found = _NUMBER.search(cell)
    if found is None:
        return math.nan
    return float(found.group().replace(",", "")) / (100 if cell[found.end() :].startswith("%") else 1)


def numbers(cell: str) -> list[float]:
    return [float(found.replace(",", "")) for found in _NUMBER.findall(cell)]


def estimate(cell: str, interval: str = "") -> Estimate:
    """A cell `value ± half` or `value [low, high]`, or a plain number whose interval, `low to high`, is apart."""
    found = numbers(cell)
    if "±" in cell and len(found) == 2:
        return Estimate(found[0], found[0] - found[1], found[0] + found[1])
    if "[" in cell and len(found) == 3:
        return Estimate(*found)
    ends = numbers(interval)
    return Estimate(number(cell), *ends) if len(ends) == 2 else Estimate(number(cell))


def keyed(rows: Rows, *heads: str) -> dict[tuple[str, ...], Mapping[str, str]]:
    """Rows by the cells under some heads."""
    return {tuple(row[head] for head in heads): row for row in rows}


def known(values: Iterable[float]) -> bool:
    return not any(math.isnan(value) for value in values)
