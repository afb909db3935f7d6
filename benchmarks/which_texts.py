"""Which texts are to blame, of 20,000 v 20,000, once they are encoded."""

from __future__ import annotations

import os

import numpy as np

import recapture as rc

from .timing import embeddings, ratio, run, seconds

_WORDS = 20
_VOCABULARY = 20_000


def made_up(rows: int, seed: int) -> list[str]:
    """Sentences of words that are as unequally frequent as those of a language."""
    rng = np.random.default_rng(seed)
    chance = 1 / np.arange(10, _VOCABULARY + 10)
    words = rng.choice(_VOCABULARY, (rows, _WORDS), p=chance / chance.sum())
    return [" ".join(f"w{word}" for word in sentence) for sentence in words.tolist()]


def main(rows: int = 20_000) -> None:
    reference, candidate = made_up(rows, 1), made_up(rows, 2)
    candidate[: rows // 100] = reference[: rows // 100]  # some copies, some repeats
    candidate[-rows // 100 :] = [candidate[0]] * (rows // 100)
    known = dict(zip([*reference, *candidate], embeddings(2 * rows, seed=3), strict=True))
    vectors = np.stack([known[text] for text in reference]), np.stack([known[text] for text in candidate])

    def encode(texts: list[str]) -> np.ndarray:
        return np.stack([known[text] for text in texts])

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count()
    print(f"which texts, {rows:,} v {rows:,} x {vectors[0].shape[1]}, float32, {cores} cores")
    smaller = vectors[1][: rows // 2]
    of_texts = run(lambda: rc.diagnose(reference, candidate, encoder=encode, cache=False))
    seconds("texts, once encoded", of_texts)
    seconds("vectors alone", run(lambda: rc.diagnose(*vectors)))
    seconds(
        "vectors, half as many candidates: both sides cut to one size", run(lambda: rc.diagnose(vectors[0], smaller))
    )
    ratio("texts, of a minute", of_texts / 60, "at most 1 on 2 cores")
