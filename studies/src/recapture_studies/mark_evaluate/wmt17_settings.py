"""WMT 2017 at the papers' own settings of the other metrics, and with other encoders than the usual one.

The paper takes BERTScore from the last fifth layer: of BERT-base's twelve that is layer 8, the fifth from the end. An
encoder of six layers has its fifth from the end at layer 2; layer 4, two thirds up as 8 of 12 is, is taken by default.
IMPAR's authors take k = 3. PRD looks at all segments here, where the study's other row of it looks at a sample.

An encoder is a model with its layers (words) or its pooling (sentences): the spread over these says how much of a
number is the encoder's.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import recapture as rc

from ..cells import Rows, number
from ..item_scores import Task
from ..progress import progress_bar
from ..rated import layers_read, mean, shown
from ..spread import last_layers
from ..steps import steps_of
from ..study import Setup
from .wmt17_sentences import Side, Vectors

FIFTH_LAST = "bertscore-fifth-last"
IMPAR = "pr-words-k3"
ALL_SEGMENTS = "prd-words-all"
FEWER_LAYERS = (3, 1)
_LAST = "me-words-last"
_REVISION = 1


class SentenceEncoder(NamedTuple):
    title: str
    pooling: str | None = None
    encoder: str | None = None


SENTENCE_ENCODERS = (
    SentenceEncoder("max pooling", pooling="max"),
    SentenceEncoder("first token", pooling="cls"),
    SentenceEncoder("bag of words", encoder="bag-of-words"),
)
"""Beside the usual one: the model card's mean, brought to length 1."""


def settings_tasks(setup: Setup) -> list[Task]:
    """What is scored on all segments beside the study's own metrics."""
    layers = layers_read(setup)
    info = rc.model_info(
        None if setup.encoder is None else str(setup.encoder), "words", offline=setup.encoding.get("offline")
    )
    return [
        Task("bertscore", FIFTH_LAST, {"layer": max(1, int(info["layers"]) - 4)}),
        Task("prd-words", ALL_SEGMENTS, {"layers": layers}),
        *(Task("me-words", f"{_LAST}{count}", {"layers": count}) for count in FEWER_LAYERS if count < layers),
    ]


def word_encoder(setup: Setup, label: str, signature: Mapping[str, Any]) -> str | None:
    """How an encoder was read, where a metric is there with several; None where with one."""
    if label in ("bertscore", FIFTH_LAST):
        return f"layer {signature['layer']}"
    if label == "me-words":
        return last_layers(layers_read(setup))
    return last_layers(int(label.removeprefix(_LAST))) if label.startswith(_LAST) else None


def plain_label(label: str) -> str:
    """Of the metric, whatever the encoder."""
    return "bertscore" if label == FIFTH_LAST else "me-words" if label.startswith(_LAST) else label


ByEncoder = dict[tuple[str, str], dict[str, float]]
"""By metric and encoder, then by language pair: the correlation with people."""


def encoder_table(found: ByEncoder, pairs: Sequence[str], what: str) -> rc.Table:
    """Metrics with one encoder are left out."""
    several = [name for name, _ in found]
    lines = [
        [name, encoder, *(shown(by.get(pair, math.nan)) for pair in pairs),
         shown(mean(by.get(pair, math.nan) for pair in pairs))]
        for (name, encoder), by in sorted(found.items(), key=lambda each: several.index(each[0][0]))
        if several.count(name) > 1
    ]  # fmt: skip
    caption = f"{what} Pearson correlation with people over systems, text as stored, k = 1."
    return rc.Table(["metric", "encoder", *pairs, "mean"], lines, [caption], left=2)


def means_by_encoder(rows: Rows) -> dict[str, dict[str, float]]:
    """By metric and encoder, from the table."""
    found: dict[str, dict[str, float]] = {}
    for row in rows:
        found.setdefault(row["metric"], {})[row["encoder"]] = number(row["mean"])
    return found


def other_sentence_vectors(
    setup: Setup, sides: Iterable[Side], files: Sequence[Path], encoders: Sequence[SentenceEncoder] = SENTENCE_ENCODERS
) -> ByEncoder:
    """Mark-Evaluate of sentence vectors at k = 1, with other encoders."""
    listed = list(sides)
    found: ByEncoder = {}
    for title, pooling, encoder in encoders:
        encoding = {name: value for name, value in setup.encoding.items() if name != "pooling"}
        own = replace(
            setup,
            encoder=encoder or setup.encoder,
            encoding={**encoding, **({"pooling": pooling} if pooling else {})},
        )
        steps = steps_of(own, "wmt17-encoders", {"revision": _REVISION}, files)
        for side in listed:
            vectors = Vectors(own, side.references)

            def score(
                texts: Sequence[str], side: Side = side, vectors: Vectors = vectors, encoder: str | None = encoder
            ) -> dict[str, float]:
                if encoder is not None:  # word counts are compared as they are, without zeros
                    result = rc.mark_evaluate(list(side.references), list(texts), encoder=encoder)
                else:
                    result = rc.mark_evaluate(vectors.references, vectors(texts))
                return {name: float(value) for name, value in result.values.items()}

            scores: dict[str, list[float]] = {}
            with progress_bar(f"{side.pair}, {title}", len(side.systems), "system") as progress:
                for name, texts in side.systems.items():
                    kept = steps.get(f"{side.pair}/{len(texts)}/{name}", partial(score, texts))
                    for output, value in kept.items():
                        scores.setdefault(f"mark-evaluate {output}", []).append(value)
                    progress.advance()
            for output, values in scores.items():
                found.setdefault((output, title), {})[side.pair] = rc.correlation(list(side.ratings), values)
    return found
