"""Contexts with several references and candidates, continuations and votes, for the distribution-aware paper."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from .writing import write_records

FOLDERS = ("abstract48s", "e2e_dev_multi", "captions_coco1000", "gpt2xl_contrastive_search")
_THINGS = ["cat", "dog", "boy", "girl", "bird", "ball", "tree", "house", "boat", "horse", "bench", "kite"]
_DOING = ["sits", "sleeps", "jumps", "runs", "waits", "plays", "stands", "falls"]
_PLACES = ["by the river", "on the grass", "near a wall", "in the sun", "under a tree", "at the door", "on a hill"]


def _sentence(rng: np.random.Generator, thing: str) -> str:
    return f"The {thing} {rng.choice(_DOING)} {rng.choice(_PLACES)} with the {rng.choice(_THINGS)}."


def build(root: Path) -> None:
    """A scene is about one thing; models say the same in words nobody else uses."""
    rng = np.random.default_rng(0)
    files: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for name, references in (("abstract48s", 48), ("e2e_dev_multi", 12), ("captions_coco1000", 5)):
        file = "captions" if name == "captions_coco1000" else "contexts"
        rows = files.setdefault((name, file), [])
        for number in range(24):
            thing = _THINGS[number % len(_THINGS)]
            row: dict[str, Any] = {"id": number, "references": [_sentence(rng, thing) for _ in range(references)]}
            if name == "e2e_dev_multi":
                row["candidates"] = [f"Xq{number} zv{seed % 7} kk{seed % 7}" for seed in range(20)]
            if name == "captions_coco1000":
                row["candidates"] = [f"Xq{number} zv kk"]
            rows.append(row)
    for domain in ("book", "wikitext"):
        files["gpt2xl_contrastive_search", domain] = [
            {
                "prompt": f"{domain} {number}",
                "human": " ".join(_sentence(rng, rng.choice(_THINGS)) for _ in range(2)),
                "gpt2xl_contrastive_search": " ".join(_sentence(rng, "robot") for _ in range(2)),
            }
            for number in range(40)
        ]
    names = ["contrastive_decoding", "contrastive_search"]
    files["gpt2xl_contrastive_search", "human_pairwise"] = [
        {
            "prompt": f"book {number}",
            "domain": "book",
            "system_a_name": names[number % 2],
            "system_b_name": names[1 - number % 2],
            "system_a_result": f"book {number} " + _sentence(rng, "robot"),
            "system_b_result": f"book {number} " + _sentence(rng, "robot"),
            # Always for contrastive search, but for one voice of four.
            "human_annotation": {
                f"annotator_{voice}": f"system {'ab'[(number + voice // 4) % 2 == 0]} is more human-like."
                for voice in range(1, 5)
            },
        }
        for number in range(12)
    ]
    for (name, file), rows in files.items():
        write_records(root / name / f"{file}.jsonl.gz", rows)
