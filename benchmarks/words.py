"""Word-level metrics of real translations (or made-up sentences): what the encoder takes, and what comes on top."""

from __future__ import annotations

import gzip
import json
import os
from pathlib import Path
from typing import cast

from transformers.utils import logging

from recapture.pairs.declaration import METRICS as DECLARED
from recapture.pairs.declaration import TextPairScorer
from recapture.pairs.evaluate import Shared

from .timing import ratio, run, seconds

METRICS = {"me-words": {"k": 1}, "pr-words": {"k": 3}, "prd-words": {}}
SYSTEMS = 4
# Pairs at once, about as many as a run takes.
AT_ONCE = 400


def texts(count: int) -> tuple[list[str], dict[str, list[str]], str]:
    """References, the outputs of four systems, and where they come from; text as stored."""
    folder = Path(os.environ.get("RECAPTURE_DATA") or "none") / "wmt17_to_english"
    if not folder.is_dir():
        from .bertscore import sentences

        return sentences(count, SYSTEMS)
    with gzip.open(folder / "segments.jsonl.gz", "rt", encoding="utf-8") as lines:
        segments = [row for row in map(json.loads, lines) if row["lp"] == "cs-en"][:count]
    place = {row["sid"]: at for at, row in enumerate(segments)}
    outputs: dict[str, list[str]] = {}
    with gzip.open(folder / "outputs.jsonl.gz", "rt", encoding="utf-8") as lines:
        for row in map(json.loads, lines):
            if row["lp"] == "cs-en" and row["sid"] in place:
                outputs.setdefault(row["system"], [""] * len(segments))[place[row["sid"]]] = row["hyp"]
    return [row["reference"] for row in segments], outputs, "WMT17 cs-en"


def main(count: int = 600) -> None:
    logging.set_verbosity_error()
    logging.disable_progress_bar()
    references, systems, source = texts(count)
    distinct = {pair for outputs in systems.values() for pair in zip(references, outputs, strict=True) if all(pair)}
    pairs = sorted(distinct, key=lambda pair: (len(pair[0]), pair))
    shared = Shared(offline=True)
    scorers: dict[str, TextPairScorer] = {}
    for name, options in METRICS.items():
        metric = DECLARED.find(name)
        made = metric.prepare([[text] for text in references], shared, **metric.checked(options))
        scorers[name] = cast(TextPairScorer, made)
    store = shared.words()
    store.ensure(["the model is loaded before the clock starts"])
    spent = dict.fromkeys(("encoder", *scorers), 0.0)
    for start in range(0, len(pairs), AT_ONCE):  # as a run of several metrics goes
        chunk = pairs[start : start + AT_ONCE]
        spent["encoder"] += run(lambda chunk=chunk: store.ensure([text for pair in chunk for text in pair]))
        for name, scorer in scorers.items():
            spent[name] += run(lambda scorer=scorer, chunk=chunk: scorer.score(chunk))
    print(f"{len(pairs)} pairs, {len(references)} references ({source}), {SYSTEMS} systems, {store.name}, 5 layers")
    for name, value in spent.items():
        seconds(name, value)
    for name in scorers:
        bar = "at most 1" if name == "me-words" else "none"
        ratio(f"{name} / encoder", spent[name] / spent["encoder"], bar)
