"""Vectors for the study of equal systems: made from texts, or brought along in a file where there are no texts.

    python -m recapture_studies.own_checks.equal_systems_vectors DATA FOLDER

writes FOLDER/equal_systems/vectors.npz (people, model, topic00, topic01...: a row a text); the study then runs with
--data FOLDER on a machine that has neither the texts nor an encoder.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

import recapture as rc

from ..encoders import RememberingEncoder
from ..files import records
from ..mark_evaluate.genres import LAYOUT as GENRES
from ..mark_evaluate.genres import XNLI, by_source, data_file
from ..study import Setup

SPLIT, TOPICS, VECTORS = "ghostbuster", XNLI, "equal_systems"
_FILE, _NAME = "reuter.jsonl.gz", "vectors.npz"
_HUMAN = "human"
_MODELS = ("gpt", "machine")
"""Whose texts are dealt: the first that is there."""
_MOST = 5
"""Texts of people and of the model to draw from, in sets."""
_LEAST_TOPICS = 4
LAYOUT = {
    SPLIT: f"{_FILE}: source (human, or {' or '.join(_MODELS)}), text",
    XNLI: GENRES[XNLI],
}


@dataclass(frozen=True)
class Pools:
    """What sets are drawn from: a row a text."""

    people: np.ndarray
    model: np.ndarray
    topics: list[np.ndarray]
    """One array a topic."""


def load_pools(setup: Setup, size: int) -> Pools:
    """size: texts a side of the sets that will be drawn."""
    kept = setup.data / VECTORS / _NAME
    pools = _kept(kept) if kept.is_file() else _encoded(setup, size)
    few = {"people": (len(pools.people), size), "the model": (len(pools.model), 2 * size)}
    for name, (there, needed) in few.items():
        if there < needed:
            raise rc.InputError(f"{setup.data} has {there} texts of {name}: the study draws {needed}")
    if len(pools.topics) < _LEAST_TOPICS:
        raise rc.InputError(f"{setup.data} has texts of {len(pools.topics)} topics: the study needs {_LEAST_TOPICS}")
    return pools


def _encoded(setup: Setup, size: int) -> Pools:
    path = setup.folder(SPLIT, LAYOUT[SPLIT]) / _FILE
    texts: dict[str, list[str]] = {}
    for record in records(path, {"source": str, "text": str}):
        if str(record["text"]).strip():
            texts.setdefault(str(record["source"]), []).append(str(record["text"]))
    model = next((name for name in _MODELS if name in texts), None)
    if model is None or _HUMAN not in texts:
        raise rc.InputError(f"{path} should hold {LAYOUT[SPLIT]}")
    rng = np.random.default_rng(setup.seed)
    people, machine = (_some(texts[name], _MOST * size, rng) for name in (_HUMAN, model))
    # One sentence of each premise: its hypotheses paraphrase it.
    topics = [
        [sentences[0] for sentences in sources.values()]
        for _, sources in sorted(by_source(data_file(setup, TOPICS), TOPICS).items())
    ]
    encoder = RememberingEncoder(setup, [*people, *machine, *(text for topic in topics for text in topic)])
    encoder.remember([*people, *machine, *(text for topic in topics for text in topic)])
    rows = [np.asarray(encoder.encode_batch(each), np.float32) for each in (people, machine, *topics)]
    return Pools(rows[0], rows[1], rows[2:])


def _some(texts: list[str], most: int, rng: np.random.Generator) -> list[str]:
    return [texts[place] for place in rng.permutation(len(texts))[:most]]


def _kept(path: Path) -> Pools:
    try:
        with np.load(path, allow_pickle=False) as arrays:
            topics = [arrays[name] for name in sorted(name for name in arrays if name.startswith("topic"))]
            return Pools(arrays["people"], arrays["model"], topics)
    except (OSError, ValueError, KeyError) as error:
        raise rc.InputError(f"{path} cannot be read: {error}") from None


def keep_pools(pools: Pools, folder: Path) -> Path:
    """Write the file that stands in the place of texts."""
    (folder / VECTORS).mkdir(parents=True, exist_ok=True)
    target = folder / VECTORS / _NAME
    arrays: dict[str, Any] = {f"topic{place:02d}": rows for place, rows in enumerate(pools.topics)}
    np.savez(target, people=pools.people, model=pools.model, **arrays)
    return target


if __name__ == "__main__":
    _, data, folder = sys.argv
    print(keep_pools(load_pools(Setup(Path(data)), 200), Path(folder)))
