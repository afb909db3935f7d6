"""Files of scores: NumPy's own format, each written whole, nothing that could run code."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import InputError
from ..files import whole_file
from ..report.result import Direction, plain


@dataclass(frozen=True)
class Scores:
    """What one metric says of several systems, in the caller's order."""

    direction: Direction
    items: Mapping[str, np.ndarray]
    """(systems, items), by output."""
    totals: Mapping[str, np.ndarray]
    """(systems,), by output: the mean, or the corpus number where the metric has one."""
    warnings: Sequence[str]
    signature: Mapping[str, Any]
    """How the scores were made, with versions, number type and device."""


def write_scores(path: Path, systems: Sequence[str], scores: Scores) -> None:
    about = {
        "direction": scores.direction,
        "outputs": list(scores.items),
        "systems": list(systems),
        "warnings": list(scores.warnings),
        "signature": plain(scores.signature),
    }
    arrays = {"about": np.frombuffer(json.dumps(about).encode(), np.uint8)}
    for at, name in enumerate(scores.items):
        arrays |= {f"items_{at}": scores.items[name], f"totals_{at}": scores.totals[name]}
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(f"cannot keep scores in {path.parent}: {error.strerror or error}") from None
    with whole_file(path) as temporary:
        np.savez(temporary, **arrays)  # type: ignore[arg-type]


def read_scores(path: Path, systems: Sequence[str], shape: tuple[int, int]) -> Scores | None:
    """None where there is no file, or a damaged one: it will be made again."""
    try:
        with np.load(path, allow_pickle=False) as held:
            about = json.loads(held["about"].tobytes())
            items = {name: held[f"items_{at}"] for at, name in enumerate(about["outputs"])}
            totals = {name: held[f"totals_{at}"] for at, name in enumerate(about["outputs"])}
            scores = Scores(about["direction"], items, totals, about["warnings"], about["signature"])
    except (OSError, EOFError, KeyError, ValueError, TypeError, zipfile.BadZipFile):
        return None
    fits = about["systems"] == list(systems) and bool(items) and all(each.shape == shape for each in items.values())
    return scores if fits and all(each.shape == shape[:1] for each in totals.values()) else None
