"""WMT 2017 by sentence vectors: all references of a language pair against all outputs of a system, as two sets."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..agreement import oriented
from ..paper import paper_numbers
from ..progress import progress_bar
from ..rated import mean, shown
from ..spread import spreads
from ..steps import steps_of
from ..study import Claim, Setup
from ..verdicts import together
from .wmt17_paper import ByPair, apart
from .wmt17_sweep import best_k, honest_k

KS = tuple(range(1, 11))
PAPER: dict[str, list[float]] = paper_numbers(__package__, "wmt17-sentences")
SEPARATE: dict[str, float] = paper_numbers(__package__, "wmt17-sentences-elsewhere")
"""Another implementation with all-MiniLM-L6-v2, k = 1, text as stored: mean over five language pairs."""
_REVISION = 2


class Side(NamedTuple):
    """One language pair."""

    pair: str
    references: Sequence[str]
    systems: Mapping[str, Sequence[str]]
    ratings: Sequence[float]
    """One per system."""


Found = dict[str, dict[int, dict[str, float]]]
"""By metric and output, k (0: it has none) and language pair: the correlation with people."""


def sentence_level(setup: Setup, sides: Iterable[Side], files: Sequence[Path]) -> Found:
    """Pearson correlations of systems' scores with people's."""
    steps = steps_of(setup, "wmt17-sentences", {"revision": _REVISION, "ks": KS}, files)
    correlations: Found = {}
    for side in sides:
        vectors = Vectors(setup, side.references)

        def score(texts: Sequence[str], vectors: Vectors = vectors) -> dict[str, float]:
            return _scores(vectors.references, vectors(texts), setup.seed)

        numbers: dict[str, list[float]] = {}
        with progress_bar(f"{side.pair}, sentence vectors", len(side.systems), "system") as progress:
            for name, texts in side.systems.items():
                kept = steps.get(f"{side.pair}/{len(texts)}/{name}", partial(score, texts))
                for key, value in kept.items():
                    numbers.setdefault(key, []).append(value)
                progress.advance()
        for key, values in numbers.items():
            label, _, k = key.partition("@")
            better = oriented(np.array(values), rc.list_metrics()[label.split()[0]].direction)
            by_k = correlations.setdefault(label, {}).setdefault(int(k), {})
            by_k[side.pair] = rc.correlation(np.array(side.ratings), better)
    return correlations


class Vectors:
    """Of the references, made when first needed, and of outputs.

    Equal texts have equal vectors to the last bit, since spheres of radius 0 are decided by such. A text is used once
    and what it is used for is kept, so the cache need not have its vector.
    """

    def __init__(self, setup: Setup, references: Sequence[str]) -> None:
        self._setup = setup
        self._references = list(references)
        self._known: dict[str, np.ndarray] = {}
        self._encoder: Any = None

    @property
    def references(self) -> np.ndarray:
        return self(self._references)

    def __call__(self, texts: Sequence[str]) -> np.ndarray:
        if self._encoder is None:
            options: dict[str, Any] = {
                name: self._setup.encoding.get(name) for name in ("pooling", "device", "offline")
            }
            self._encoder = rc.resolve_encoder(self._setup.encoder, **options).fit(self._references)
            self._known = self._encoded(self._references)
        made = {**self._known, **self._encoded([text for text in texts if text not in self._known])}
        return np.stack([made[text] for text in texts])

    def _encoded(self, texts: Sequence[str]) -> dict[str, np.ndarray]:
        different = list(dict.fromkeys(texts))
        size = {name: value for name, value in self._setup.encoding.items() if name == "batch_size"}
        made: Any = rc.encode(different, self._encoder, cache=False, **size) if different else []
        return dict(zip(different, made, strict=True))


def _scores(reference: np.ndarray, candidate: np.ndarray, seed: int) -> dict[str, float]:
    """By metric, output and k."""
    ks = [k for k in KS if k < min(len(reference), len(candidate))]
    sweep = rc.mark_evaluate_sweep(reference, candidate, ks)
    results = []
    for k in ks:
        results += [(k, sweep[k]), (k, rc.precision_recall(reference, candidate, k=k))]
    results += [(0, rc.prd(reference, candidate, seed=seed)), (0, rc.frechet(reference, candidate))]
    return {
        f"{result.metric} {output}@{k}": float(value)
        for k, result in results
        for output, value in result.values.items()
    }


def sentence_table(correlations: Found, pairs: Sequence[str], paper: Sequence[str]) -> rc.Table:
    """k = 1 for neighbourhoods; best and honest k as for words."""
    lines = []
    for label, by_k in correlations.items():
        default = by_k.get(1, by_k.get(0, {}))
        cells = [default.get(pair, math.nan) for pair in pairs]
        more = ["-", "-"]
        if len(by_k) == len(KS):
            more = [shown(best_k(by_k, pairs, KS)), shown(honest_k(by_k, pairs, KS))]
        theirs = PAPER.get(label) if tuple(pairs) == tuple(paper) else None
        other = SEPARATE.get(label, math.nan) if tuple(pairs) == tuple(paper) else math.nan
        numbers = [*map(shown, cells), shown(mean(cells)), *more, shown(other), shown(mean(theirs or [math.nan]))]
        lines.append([label, *numbers])
    caption = [
        "All references of a language pair against all outputs of a system, as sets of sentence vectors; text as "
        "stored. Pearson correlation with people over systems, k = 1; mean, best and honest k over "
        f"{', '.join(pairs)}, as for words, k up to 10. Separate program: another implementation with the encoder used "
        "here by default. Paper: Table 5, bert-base-nli-max-tokens, default K; means of its rows (it prints .850 for "
        "CAPTURE, which its rows do not give)."
    ]
    heads = ["metric", *pairs, "mean", "best k", "honest k", "separate program, mean", "paper, mean"]
    return rc.Table(heads, lines, caption)


def sentence_claims(
    rows: ByPair, pairs: Sequence[str], words: ByPair, by_encoder: Mapping[str, Mapping[str, float]] | None = None
) -> list[Claim]:
    """By metric and language pair; words: the same of word-level metrics. by_encoder: means by metric and encoder."""
    own = [name for name in rows if name in PAPER and name.startswith("mark-evaluate")]
    rivals = [name for name in ("prd f1_8", "precision-recall precision") if name in rows]
    if not own or not rivals:
        return []
    data = f"WMT 2017, {', '.join(pairs)}, all-MiniLM-L6-v2"
    verdict = together(apart(rows, own, rivals, pairs))
    told = spreads(by_encoder or {}, {name: mean(numbers) for name, numbers in PAPER.items()})
    claims = [
        Claim(
            "mark-evaluate/table-5/sentences-above-others",
            verdict,
            ", ".join(f"{name} {shown(mean(rows[name].values()))}" for name in [*own, *rivals])
            + (f"; {told}" if told else ""),
            data,
            "" if verdict.holds == "holds" else "other encoder; on large close sets CAPTURE saturates and says little",
            own=True,
        )
    ]
    both = [(name, name.replace("mark-evaluate", "me-words")) for name in own]
    finer = [part for name, word in both if word in words for part in apart({**rows, **words}, [word], [name], pairs)]
    if finer:
        told = ", ".join(
            f"{name.removeprefix('mark-evaluate ')} {shown(mean(words[word].values()))} against "
            f"{shown(mean(rows[name].values()))}"
            for name, word in both
            if word in words
        )
        claims.append(
            Claim(
                "mark-evaluate/appendix-c/words-above-sentences",
                together(finer),
                f"words against sentences: {told}",
                data,
                own=True,
            )
        )
    return claims
