"""Baselines of BERTScore: the scores of unrelated texts, by layer, which become the zero of a scale."""

from __future__ import annotations

import csv
import hashlib
import io
import math
import os
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError, shown
from ..files import expanded
from ..texts.reading import Source

_COLUMNS = ["layer", "p", "r", "f"]
_MOST_BYTES = 10_000_000
_OUTPUTS = ("precision", "recall", "f1")


@dataclass(frozen=True)
class Baseline:
    """One row of a file."""

    file: str
    sha256: str
    values: dict[str, float]
    """By output."""

    def rescaled(self, output: str, scores: np.ndarray) -> np.ndarray:
        """The baseline becomes 0, 1 stays 1."""
        base = self.values[output]
        return (scores - base) / (1 - base)

    def identity(self) -> dict[str, str]:
        return {"file": self.file, "sha256": self.sha256}


def read_baseline(file: Any, layer: int) -> Baseline:
    """The row of a layer in a file with the columns LAYER,P,R,F (which bert-score calls .tsv, but it has commas)."""
    if not isinstance(file, (str, os.PathLike)):
        raise InputError(f"rescale must be a file of baselines, not {shown(file)}")
    path = expanded(file)
    content = Source(str(path)).content(_MOST_BYTES)
    try:
        rows = [row for row in csv.reader(io.StringIO(content.decode("utf-8-sig"))) if row]
    except (UnicodeDecodeError, csv.Error):
        raise InputError(f"the baselines {path} are no text in commas and lines") from None
    if not rows or [name.strip().lower() for name in rows[0]] != _COLUMNS:
        raise InputError(f"the baselines {path} do not begin with the line LAYER,P,R,F")
    by_layer: dict[float, list[float]] = {}
    for number, row in enumerate(rows[1:], start=2):
        try:
            place, *values = map(float, row)
        except ValueError:
            raise InputError(f"row {number} of the baselines {path} is not all numbers") from None
        if (
            not math.isfinite(place)
            or len(values) != len(_OUTPUTS)
            or not all(math.isfinite(value) and value < 1 for value in values)
        ):
            raise InputError(f"row {number} of the baselines {path} needs a layer and three numbers below 1")
        if place in by_layer:
            raise InputError(f"the baselines {path} have two rows for layer {place:g}")
        by_layer[place] = values
    if layer not in by_layer:
        raise InputError(f"the baselines {path} have no row for layer {layer}")
    by_output = dict(zip(_OUTPUTS, by_layer[layer], strict=True))
    return Baseline(path.name, hashlib.sha256(content).hexdigest(), by_output)
