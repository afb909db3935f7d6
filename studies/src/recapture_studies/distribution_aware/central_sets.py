"""For the study of central captions: which sentence is central, and what sets of candidates score."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..progress import progress_bar
from ..study import Setup
from .captions import Scoring, data_file, distances, load

METRICS = ("meteor", "meteor-mean", "trm-meteor", "cider", "trm-cider")
CENTRAL, ANY, LEAST = "the central one, repeated", "any one, repeated", "the least central, repeated"
NEAR, PEOPLE = "the most central ones, each once", "other people, each once"
SETS = (CENTRAL, ANY, LEAST, NEAR, PEOPLE)
SIDE = {"abstract48s": 10, "e2e_dev_multi": 5}
"""References, and candidates, of a context that is scored; candidates are from its other sentences, the pool."""
_CHUNK = 10


class Detail(NamedTuple):
    """The central sentence of a context beside the mean of its others."""

    id: str
    position: int
    of: int
    words: tuple[float, float]
    information: tuple[float, float]
    """Sum over a sentence's different words of ln(contexts / contexts that have the word)."""


def loaded(setup: Setup, name: str) -> list[rc.Context]:
    rows = load(data_file(setup, name), contexts=2, references=2 * SIDE[name] if name in SIDE else 3)
    return rows[: 12 if setup.quick else None]


def walked(
    setup: Setup, name: str, rows: list[rc.Context], steps: rc.Journal
) -> tuple[list[Detail], list[dict[str, dict[str, float]]]]:
    """Of every context: its central sentence, and what sets of candidates score."""
    scoring = Scoring(setup, METRICS, [row.references for row in rows])
    information = _informed([row.references for row in rows])
    details, kept = [], []
    with progress_bar(name, len(rows), "context") as progress:
        for start in range(0, len(rows), _CHUNK):
            chunk = rows[start : start + _CHUNK]

            def make(chunk: list[rc.Context] = chunk, start: int = start) -> list[Any]:
                numbered = enumerate(chunk, start)
                return [_context(row, scoring, SIDE.get(name), (setup.seed, at)) for at, row in numbered]

            for row, (position, values) in zip(chunk, steps.get(f"{name} {start}", make), strict=True):
                words = [len(rc.caption_tokens(text)) for text in row.references]
                known = [information(text) for text in row.references]
                aside = _beside(words, position), _beside(known, position)
                details.append(Detail(row.id, position, len(words), *aside))
                if values:
                    kept.append(values)
            progress.advance(len(chunk))
    return details, kept


def _context(row: rc.Context, scoring: Scoring, side: int | None, seed: tuple[int, int]) -> tuple[int, dict[str, Any]]:
    """The central sentence of all, and the scores of candidate sets drawn from those that are no references."""
    rng = np.random.default_rng(seed)
    # A seeded order: what is left as references is a random choice.
    order = [int(at) for at in rng.permutation(len(row.references))]
    texts = [row.references[at] for at in order]
    squares = scoring.squares(texts)
    apart = distances("meteor", squares["meteor"])
    central = order[_ranked(apart, range(len(texts)))[0]]
    if side is None:
        return central, {}
    pool = _ranked(apart, range(side, len(texts)))
    sets = {
        CENTRAL: [pool[0]] * side,
        ANY: [int(rng.choice(pool))] * side,
        LEAST: [pool[-1]] * side,
        NEAR: pool[:side],
        PEOPLE: [int(at) for at in rng.permutation(pool)[:side]],
    }
    cells = [[*range(side), *chosen] for chosen in sets.values()]
    found = scoring.on_squares(squares, texts, side, cells)
    return central, {which: {metric: found[metric][number] for metric in METRICS} for number, which in enumerate(sets)}


def _ranked(distances: np.ndarray, among: Iterable[int]) -> list[int]:
    """Positions, the smallest sum of distances to the others (as hypothesis, they as references) first."""
    places = list(among)
    sums = {at: math.fsum(distances[at, places].tolist()) for at in places}
    return sorted(places, key=lambda at: (sums[at], at))


def _beside(values: Sequence[float], position: int) -> tuple[float, float]:
    others = [value for at, value in enumerate(values) if at != position]
    return float(values[position]), float(np.mean(others))


def _informed(groups: Sequence[Sequence[str]]) -> Any:
    """How much a sentence says: the rarer its words are among contexts, the more."""
    having: Counter[str] = Counter()
    for group in groups:
        having.update({word for text in group for word in rc.caption_tokens(text)})
    return lambda text: math.fsum(math.log(len(groups) / having[word]) for word in set(rc.caption_tokens(text)))
