"""Samples of two models that do not exist, by temperature and by top-p, beside people's texts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .writing import write_records

FOLDER = "lm_samples"
_WORDS = ["cat", "dog", "boy", "girl", "bird", "ball", "tree", "house", "boat", "horse", "bench", "kite"]
_DOING = ["sits", "sleeps", "jumps", "runs", "waits", "plays", "stands", "falls"]
_NOISE = ["zv", "kk", "qx", "wj", "pf", "yy"]
TEMPERATURES = (0.2, 0.6, 1.0, 1.4)


def _told(rng: np.random.Generator, thing: str, variety: float, noise: float) -> str:
    """A sentence on a thing: the usual one, or any, with noise among its words."""
    doing = str(rng.choice(_DOING)) if rng.random() < variety else _DOING[0]
    other = str(rng.choice(_WORDS)) if rng.random() < variety else _WORDS[0]
    words = f"The {thing} {doing} near the {other} today .".split()
    return " ".join(str(rng.choice(_NOISE)) if rng.random() < noise else word for word in words)


def build(root: Path) -> None:
    """Cold models say one thing over and over, hot ones noise; fewer tokens, less noise; people vary."""
    rng = np.random.default_rng(11)
    ways: list[dict[str, Any]] = [{"temperature": temperature} for temperature in TEMPERATURES]
    ways += [{"temperature": temperature, "top_p": 0.9, "top_k": 20} for temperature in TEMPERATURES]
    ways += [{"temperature": 1.0, "top_p": share} for share in (0.3, 0.6)]
    ways += [{"search": "greedy"}, {"search": "beam", "beams": 4}]

    def samples(thing: str, many: int, clumsy: float) -> list[dict[str, Any]]:
        made = []
        for way in ways:
            heat = way.get("temperature", 0.0) * (1.0 if way.get("top_p", 1.0) > 0.9 else way["top_p"])
            noise = clumsy * max(0.0, heat - 0.9)
            count = 1 if "search" in way else many
            made.append({**way, "texts": [_told(rng, thing, min(1.0, heat), noise) for _ in range(count)]})
        return made

    scenes = [
        {"id": f"scene {n}", "model": model, "prompt": "-", "human": people, "samples": samples(thing, 10, clumsy)}
        for n in range(12)
        for thing, people in [(_WORDS[n], [_told(rng, _WORDS[n], 1.0, 0.0) for _ in range(20)])]
        for model, clumsy in (("one", 0.8), ("another", 1.6))
    ]
    prose = [
        {"id": n, "group": "ab"[n % 2], "human": [_told(rng, thing, 1.0, 0.0)], "samples": samples(thing, 1, 0.8)}
        for n in range(66)
        for thing in [_WORDS[n % len(_WORDS)]]
    ]
    write_records(root / FOLDER / "scenes.jsonl.gz", scenes)
    write_records(root / FOLDER / "prose.jsonl.gz", prose)
