"""What other number types of an encoder change in vectors and in scores, on real texts.

    RECAPTURE_DATA=... python -m benchmarks number_types

Stories of Ghostbuster, their first 60 words: 300 human ones against 300 other human ones and 300 of each of two models.
"""

from __future__ import annotations

import gzip
import json
import os
import time
from pathlib import Path

import numpy as np

import recapture as rc

DTYPES = ("float32", "bfloat16", "int8")
METRICS = "mark-evaluate,mauve,precision-recall,density-coverage,mmd,frechet"
WORDS, COUNT = 60, 300


def stories() -> dict[str, list[str]]:
    with gzip.open(Path(os.environ["RECAPTURE_DATA"]) / "ghostbuster" / "wp.jsonl.gz", "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    short = {
        source: [" ".join(row["text"].split()[:WORDS]) for row in rows if row["source"] == source]
        for source in ("human", "gpt", "claude")
    }
    return {
        "reference": short["human"][:COUNT],
        "human": short["human"][COUNT : 2 * COUNT],
        "gpt": short["gpt"][:COUNT],
        "claude": short["claude"][:COUNT],
    }


def main() -> None:
    if not os.environ.get("RECAPTURE_DATA"):
        print("number_types: RECAPTURE_DATA names no folder")
        return
    texts = stories()
    every = [text for part in texts.values() for text in part]
    exact: np.ndarray | None = None
    known: dict[tuple[str, str, str], float] = {}
    for dtype in DTYPES:
        encoder = rc.resolve_encoder(offline=True, dtype=dtype)
        rc.encode(every[:8], encoder, cache=False)
        begun, worked = time.perf_counter(), time.process_time()
        vectors = rc.encode(every, encoder, cache=False).astype(float)
        spent = f"{time.perf_counter() - begun:.1f} s, {time.process_time() - worked:.1f} s of work"
        if exact is None:
            exact = vectors
        cosines = (exact * vectors).sum(1) / np.linalg.norm(exact, axis=1) / np.linalg.norm(vectors, axis=1)
        cosine = f"mean {cosines.mean():.5f}, least {cosines.min():.5f}"
        print(f"{dtype}: {len(every)} texts in {spent}; cosine to float32 {cosine}")
        sets = dict(zip(texts, np.split(vectors.astype(np.float32), len(texts)), strict=True))
        results = rc.evaluate(sets.pop("reference"), sets, METRICS, ceiling=False)
        for name in sets:
            for metric, result in results[name].items():
                for number, value in result.values.items():
                    if isinstance(value, float):
                        before = known.setdefault((name, metric, number), value)
                        change = f"{before:10.4f} {value:10.4f} {value - before:+10.4f}"
                        if dtype != DTYPES[0]:
                            print(f"  {name:<8} {f'{metric} {number}':<40} {change}")
