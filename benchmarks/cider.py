"""CIDEr-D beside pycocoevalcap's, on the same tokens: aligned captions, and squares of every context's texts."""

from __future__ import annotations

import random

import numpy as np
from pycocoevalcap.cider.cider_scorer import CiderScorer

from recapture.lexical.ngrams import DocumentFrequencies
from recapture.pairs.metrics.cider import cider
from recapture.similarity.scorer import METRICS

from .timing import ratio, seconds, side_by_side

_WORDS = 2000


def captions(images: int, each: int, seed: int = 0) -> list[list[str]]:
    """Made-up captions: word frequencies as in English, an image's captions share most of their words."""
    rng = random.Random(seed)
    words = [f"w{number}" for number in range(_WORDS)]
    common = [1 / (rank + 2) for rank in range(_WORDS)]
    made = []
    for _ in range(images):
        topic = rng.choices(words, common, k=25)
        made.append([" ".join(_caption(rng, topic)) for _ in range(each)])
    return made


def _caption(rng: random.Random, topic: list[str]) -> list[str]:
    start = rng.randrange(len(topic) - 5)
    length = rng.randint(7, 15)
    return [*topic[start : start + 5], *rng.choices(topic, k=length - 5)]


def peer(references: list[list[str]], candidates: list[str]) -> np.ndarray:
    scorer = CiderScorer()
    for candidate, group in zip(candidates, references, strict=True):
        scorer += (candidate, group)
    return np.asarray(scorer.compute_score()[1])


def peer_squares(groups: list[list[str]]) -> np.ndarray:
    """Each pair as an image of its own, the only way to its score; hypotheses are prepared anew for every pair."""
    pairs = [(text, [other]) for group in groups for text in group for other in group]
    return peer([references for _, references in pairs], [text for text, _ in pairs])


def main(images: int = 1000, groups: int = 20, size: int = 15) -> None:
    made = captions(images, 6)
    candidates, references = [group[0] for group in made], [group[1:] for group in made]
    print(f"CIDEr-D, {images:,} images with 5 references and 1 candidate, tokens given")
    apart = np.abs(peer(references, candidates) - cider(references, candidates, tokenize=str.split).scores).max()
    best = side_by_side(
        {
            "pycocoevalcap": lambda: peer(references, candidates),
            "recapture": lambda: cider(references, candidates, tokenize=str.split),
        }
    )
    _report(best)
    print(f"  {'largest difference of a score':<66} {apart:8.0e}")
    squares = captions(groups, size, 1)
    table = DocumentFrequencies.from_references(squares, tokenize=str.split)
    scorer = METRICS.find("cider").scorer(df=table, tokenize=str.split)
    print(f"CIDEr-D, {groups} contexts of {size} texts, all pairs")
    best = side_by_side(
        {"pycocoevalcap": lambda: peer_squares(squares), "recapture": lambda: scorer.squares(squares)}, rounds=3
    )
    _report(best)


def _report(best: dict[str, float]) -> None:
    for name, value in best.items():
        seconds(name, value)
    ratio("pycocoevalcap / recapture", best["pycocoevalcap"] / best["recapture"], "at least 2")
