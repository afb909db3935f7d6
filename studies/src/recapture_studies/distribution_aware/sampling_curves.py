"""Numbers for the study of sampling: every way of drawing texts against people's, context by context.

Where a context has several texts of people, some are the references and others stand for a model that is people; a
model's samples take their place. Where it has one, nothing can be said of a context alone: contexts are put into blocks
at random, the people's texts of one half of a block are the references, and the other half brings people's or a
model's. In both forms people and people are drawn alike, and blocks, like contexts, share no text.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..progress import progress_bar
from ..steps import steps_of
from ..study import Setup
from .captions import FIGURE_3, Scoring, numbers_by_metric
from .samples import SEVERAL, SampleSet

PEOPLE = "people"
MOST = 10
"""References and candidates of a context, as in the paper."""
BLOCKS, LEAST_BLOCK = 8, 20
IN_BLOCKS = ("meteor", "trm-meteor", "embedding", "trm-embedding", "mmd", "frechet", "mauve")


class Compared(NamedTuple):
    """A set's contexts (or blocks), ready to be scored."""

    several: bool
    contexts: int
    references: int
    candidates: int
    ids: dict[str, list[str]]
    """By model."""
    sides: dict[str, list[list[str]]]
    """By model, the references of every context."""
    candidates_of: dict[str, dict[str, list[list[str]]]]
    """By model and way, or people."""

    @property
    def metrics(self) -> tuple[str, ...]:
        return FIGURE_3 if self.several else IN_BLOCKS


Scores = dict[str, dict[str, dict[str, np.ndarray]]]
"""By model, way and metric: the value of every context."""


def compared(samples: SampleSet, setup: Setup) -> Compared:
    return _alone(samples, setup) if samples.people >= SEVERAL else _in_blocks(samples, setup)


def _alone(samples: SampleSet, setup: Setup) -> Compared:
    drawn = [way for way in samples.ways if way.search == "sampling"]
    every = [row for rows in samples.models.values() for row in rows]
    references = min(MOST, samples.people // 2)
    # No more than there are other people: triangle ranks of fewer texts are higher, whoever wrote them.
    most = min(MOST, samples.people - references)
    candidates = min(most, *(len(row.texts[way]) for row in every for way in drawn)) if drawn else most
    many = min(len(rows) for rows in samples.models.values())
    if candidates < 2 or many < 2:
        raise rc.InputError(
            f"{samples.file} has {many} contexts of a model and {candidates} texts of each way to draw them; the study "
            "needs 2 of both"
        )
    ids: dict[str, list[str]] = {}
    sides: dict[str, list[list[str]]] = {}
    others: dict[str, dict[str, list[list[str]]]] = {}
    for model, rows in samples.models.items():
        used = rows[: 6 if setup.quick else None]
        ids[model] = [row.id for row in used]
        # By the context's name: models that share a context share its references.
        mixed = [_mixed(row.human, setup.seed, row.id) for row in used]
        sides[model] = [texts[:references] for texts in mixed]
        others[model] = {PEOPLE: [texts[references : references + candidates] for texts in mixed]}
        for way in samples.ways:
            others[model][str(way)] = [_so_many(row.texts[way], candidates) for row in used]
    return Compared(True, min(map(len, ids.values())), references, candidates, ids, sides, others)


def _mixed(texts: Sequence[str], seed: int, name: str) -> list[str]:
    order = np.random.default_rng([seed, *name.encode(errors="surrogatepass")]).permutation(len(texts))
    return [texts[at] for at in order]


def _so_many(texts: Sequence[str], count: int) -> list[str]:
    """The one text of a search is repeated, as the paper does (its A.8)."""
    return [texts[at % len(texts)] for at in range(count)]


def _in_blocks(samples: SampleSet, setup: Setup) -> Compared:
    ids: dict[str, list[str]] = {}
    sides: dict[str, list[list[str]]] = {}
    others: dict[str, dict[str, list[list[str]]]] = {}
    half = math.inf
    for rows in samples.models.values():
        blocks = min(3 if setup.quick else BLOCKS, len(rows) // LEAST_BLOCK)
        if blocks < 2:
            raise rc.InputError(
                f"{samples.file} has {len(rows)} contexts of a model with fewer than {SEVERAL} texts of people each; "
                f"the study needs {2 * LEAST_BLOCK} contexts, or {SEVERAL} texts of people in each"
            )
        half = min(half, (LEAST_BLOCK if setup.quick else len(rows) // blocks) // 2)
    size = int(half)
    for model, rows in samples.models.items():
        blocks = min(3 if setup.quick else BLOCKS, len(rows) // (2 * size))
        by_id = sorted(rows, key=lambda row: row.id)  # so that models with the same contexts have the same blocks
        order = np.random.default_rng(setup.seed).permutation(len(rows))[: 2 * size * blocks].reshape(blocks, 2, size)
        pairs = [([by_id[at] for at in first], [by_id[at] for at in second]) for first, second in order]
        ids[model] = [f"block {number}" for number in range(1, blocks + 1)]
        sides[model] = [[row.human[0] for row in first] for first, _ in pairs]
        others[model] = {PEOPLE: [[row.human[0] for row in second] for _, second in pairs]}
        for way in samples.ways:
            others[model][str(way)] = [[row.texts[way][0] for row in second] for _, second in pairs]
    return Compared(False, min(map(len, ids.values())), size, size, ids, sides, others)


def scores_of(samples: SampleSet, work: Compared, setup: Setup) -> Scores:
    """Every way of every model; what an earlier run has made is not made again."""
    by_id = {row.id: row.human for rows in samples.models.values() for row in rows}
    corpus = list(by_id.values())
    settings = {"revision": 1, "set": samples.name, "contexts": work.contexts, "metrics": list(work.metrics)}
    steps = steps_of(setup, "sampling", settings, [samples.file])
    scoring: list[Scoring] = []
    made: Scores = {}
    total = sum(len(ways) for ways in work.candidates_of.values())
    with progress_bar(samples.name, total, "way") as progress:
        for model, ways in work.candidates_of.items():
            for way, candidates in ways.items():

                def make(model: str = model, candidates: list[list[str]] = candidates) -> dict[str, Any]:
                    if not scoring:  # an encoder is loaded only if something is left to do
                        scoring.append(Scoring(setup, work.metrics, corpus))
                    scoring[0].prepare([*work.sides[model], *candidates])
                    found = scoring[0].scores(work.sides[model], candidates, pvalue=False)
                    return {name: each["value"] for name, each in numbers_by_metric(found, {"value": "value"}).items()}

                kept = steps.get(f"{model}: {way}", make)
                made.setdefault(model, {})[way] = {name: np.array(values) for name, values in kept.items()}
                progress.advance()
    return made
