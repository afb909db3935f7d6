"""BERTScore beside the package bert-score: same model, same texts, same process, nothing encoded before."""

from __future__ import annotations

import contextlib
import gzip
import html
import io
import json
import os
import random
from collections.abc import Sequence
from pathlib import Path

import bert_score
import numpy as np
from transformers.utils import logging

from recapture.pairs.metrics.bertscore import bertscore
from recapture.representations.loading import transformer_folder
from recapture.representations.locate import find_weights

from .timing import ratio, seconds, side_by_side

LAYER = 4
SYSTEMS = 4
MODEL = "all-MiniLM-L6-v2"


def sentences(count: int, systems: int) -> tuple[list[str], dict[str, list[str]], str]:
    """References, the outputs of several systems, and where they come from."""
    folder = Path(os.environ.get("RECAPTURE_DATA") or "none") / "wmt17_to_english"
    if folder.is_dir():
        return (*_translations(folder, count, systems), "WMT17 de-en")
    return (*made_up_sentences(count, systems), "made-up sentences")


def _translations(folder: Path, count: int, systems: int) -> tuple[list[str], dict[str, list[str]]]:
    with gzip.open(folder / "segments.jsonl.gz", "rt", encoding="utf-8") as lines:
        segments = [row for row in map(json.loads, lines) if row["lp"] == "de-en"][:count]
    wanted = {row["sid"]: place for place, row in enumerate(segments)}
    outputs: dict[str, list[str]] = {}
    with gzip.open(folder / "outputs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["lp"] == "de-en" and row["sid"] in wanted:
                listed = outputs.setdefault(row["system"], [""] * len(segments))
                listed[wanted[row["sid"]]] = html.unescape(row["hyp"])
    chosen = sorted(outputs)[:systems]
    return [html.unescape(row["reference"]) for row in segments], {name: outputs[name] for name in chosen}


def made_up_sentences(count: int, systems: int, seed: int = 0) -> tuple[list[str], dict[str, list[str]]]:
    """Lengths and word frequencies as in news; a system changes a fifth of the words."""
    rng = random.Random(seed)
    syllables = [first + second for first in "bdfgklmnprstvw" for second in "aeiou"]
    words = ["".join(rng.choices(syllables, k=rng.choice((1, 2, 2, 3)))) for _ in range(3000)]
    common = [1 / (rank + 3) for rank in range(len(words))]
    references = [rng.choices(words, common, k=max(3, round(rng.gauss(22, 9)))) for _ in range(count)]
    outputs = {
        f"system {number}": [
            " ".join(rng.choice(words) if rng.random() < 0.2 else word for word in text) for text in references
        ]
        for number in range(systems)
    }
    return [" ".join(text) for text in references], outputs


def peer(folder: str, references: Sequence[str], systems: Sequence[list[str]]) -> list[np.ndarray]:
    """The model is loaded once, however many systems there are."""
    with contextlib.redirect_stderr(io.StringIO()):
        scorer = bert_score.BERTScorer(model_type=folder, num_layers=LAYER)
        return [scorer.score(texts, list(references))[2].numpy() for texts in systems]


def main(count: int = 400) -> None:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    folder = str(transformer_folder(find_weights(MODEL, True)).folder)
    references, systems, source = sentences(count, SYSTEMS)
    for number, bar in ((1, "at least 1"), (SYSTEMS, "at least 1.5")):
        some = dict(list(systems.items())[:number])
        print(f"BERTScore, {len(references)} sentences ({source}), {number} system{'s'[: number - 1]}, {MODEL}")
        apart = [
            np.abs(ours.f1_scores - theirs).max()
            for ours, theirs in zip(
                bertscore(references, some, layer=LAYER, offline=True).values(),
                peer(folder, references, list(some.values())),
                strict=True,
            )
        ]
        best = side_by_side(
            {
                "bert-score": lambda some=some: peer(folder, references, list(some.values())),
                "recapture": lambda some=some: bertscore(references, some, layer=LAYER, offline=True),
            },
            rounds=3,
        )
        for name, value in best.items():
            seconds(name, value)
        ratio("bert-score / recapture", best["bert-score"] / best["recapture"], bar)
        print(f"  {'largest difference of a score':<66} {max(apart):8.0e}")
