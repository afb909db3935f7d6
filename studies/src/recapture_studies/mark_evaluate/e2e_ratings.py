"""The E2E NLG Challenge: outputs of its systems, references, and what people said of them.

People gave magnitude estimates, unbounded numbers on a scale of their own for each judgement of five systems' outputs.
Only the order within a judgement means something, so a system's rating is the share of its comparisons with the others
in the same judgement that it won; equal estimates count half.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc

from ..files import NAME, NUMBERS, TEXTS, records
from ..study import Setup

CRITERIA = ("naturalness", "quality")
HOLDS = "test_refs.jsonl.gz, outputs.jsonl.gz, human_naturalness.jsonl.gz and human_quality.jsonl.gz"
LAYOUT = (
    "test_refs.jsonl.gz (id, references), outputs.jsonl.gz (system, id, output), human_naturalness.jsonl.gz and "
    "human_quality.jsonl.gz (systems, scores: one number for each, comparable within the line alone)"
)


@dataclass(frozen=True)
class Rated:
    references: Sequence[Sequence[str]]
    """By meaning representation."""
    outputs: Mapping[str, Sequence[str]]
    """By system, in the order of the references."""
    won: Mapping[str, np.ndarray]
    """By criterion, for each system the share of comparisons won."""
    compared: Mapping[str, np.ndarray]
    """By criterion, how many comparisons each system took part in."""


def files(folder: Path) -> list[Path]:
    return [folder / name for name in ("test_refs.jsonl.gz", "outputs.jsonl.gz")] + [
        folder / f"human_{criterion}.jsonl.gz" for criterion in CRITERIA
    ]


def load(setup: Setup, systems: int | None = None, items: int | None = None, most: int | None = None) -> Rated:
    """systems, items, most (references of an item): only the first so many, for a quick form; ratings stay whole."""
    folder = setup.folder("e2e_nlg", HOLDS)
    references = {
        row["id"]: row["references"]
        for row in records(folder / "test_refs.jsonl.gz", {"id": NAME, "references": TEXTS})
    }
    held: dict[str, dict[Any, str]] = {}
    for row in records(folder / "outputs.jsonl.gz", {"system": str, "id": NAME, "output": str}):
        held.setdefault(row["system"], {})[row["id"]] = row["output"]
    ids = list(references)[:items]
    for name, by in held.items():
        lost = [each for each in ids if each not in by]
        if lost:
            raise rc.InputError(f"{folder / 'outputs.jsonl.gz'} has no output of {name} for item {lost[0]}")
    chosen = list(held)[:systems]
    won, compared = {}, {}
    for criterion in CRITERIA:
        path = folder / f"human_{criterion}.jsonl.gz"
        rows = [(row["systems"], row["scores"]) for row in records(path, {"systems": TEXTS, "scores": NUMBERS})]
        shares, counts = win_rates(rows)
        absent = [name for name in chosen if name not in shares]
        if absent:
            raise rc.InputError(f"{path} has no rating of {absent[0]}")
        won[criterion] = np.array([shares[name] for name in chosen])
        compared[criterion] = np.array([counts[name] for name in chosen])
    outputs = {name: [held[name][each] for each in ids] for name in chosen}
    return Rated([references[each][:most] for each in ids], outputs, won, compared)


def win_rates(judgements: Iterable[tuple[Sequence[str], Sequence[float]]]) -> tuple[dict[str, float], dict[str, int]]:
    """By system: the share of its comparisons within judgements that it won (equal scores: half), and their number."""
    won: dict[str, float] = {}
    counts: dict[str, int] = {}
    for systems, scores in judgements:
        if len(systems) != len(scores):
            raise rc.InputError(f"a judgement names {len(systems)} systems, but has {len(scores)} scores")
        for (one, first), (other, second) in combinations(zip(systems, scores, strict=True), 2):
            share = 1.0 if first > second else 0.0 if first < second else 0.5
            for name, part in ((one, share), (other, 1 - share)):
                won[name] = won.get(name, 0.0) + part
                counts[name] = counts.get(name, 0) + 1
    return {name: won[name] / counts[name] for name in won}, counts
