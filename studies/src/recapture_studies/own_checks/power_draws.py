"""Comparisons of the study of power: which rows stand on either side, and all numbers of all metrics of them.

Every comparison has a stream of random numbers of its own, and is measured with one thread: neither the number of
processes nor an interruption changes a number.
"""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from functools import partial
from typing import NamedTuple

import numpy as np

import recapture as rc

from ..processes import Told, one_thread, spread_steps
from .power_scale import Size
from .power_texts import Store

HUMAN = "human"
"""Comparisons that calibrate the numbers."""
NONE = "no damage"
"""Others of the same kind: what comes out of the calibration where nothing is damaged."""
TOPICS = "topics dropped"
KINDS = {
    TOPICS: "whole genres of Brown are missing in the candidate",
    "texts repeated": "texts of the candidate are copies of others of it, each copied five times",
    "off-topic texts": "captions of COCO among sentences of Brown",
    "word order": "the words of a text in random order",
    "truncated": "the first half of a text's words",
    "copied": "texts of the candidate are copies of reference texts",
    "flattened": "variations on few texts, five on each: a third of the words replaced by others whose vectors are "
    "most like theirs; what a model does that says few things in many words",
}
"""Kinds of damage."""
QUIET = ("word order", "truncated")
_TIMES = 5
"""That a repeated text is copied."""
_PART = {100: 100, 300: 50, 1000: 10, 5000: 1}
"""Comparisons in one step, by size: less than a minute's work."""
_TIMED = 3
_ENOUGH = 1000.0
"""Milliseconds: what has taken longer is not timed again."""

Values = list[list[float]]
"""By comparison, all numbers."""


class Draw(NamedTuple):
    """Rows of the store."""

    reference: np.ndarray
    candidate: np.ndarray


class Case(NamedTuple):
    """Comparisons of one kind."""

    size: int
    kind: str
    strength: float
    """The share of damaged texts; of topics the number of genres."""
    runs: int

    @property
    def share(self) -> str:
        if self.kind in (HUMAN, NONE):
            return "-"
        if self.kind == TOPICS:
            return f"{self.strength:.0f} genre{'s' * (self.strength > 1)}"
        return f"{100 * self.strength:g}%"


class Step(NamedTuple):
    """What one process measures at a time, and one line of the journal."""

    encoder: str
    case: Case
    first: int
    last: int

    @property
    def key(self) -> str:
        size, kind, strength, _ = self.case
        return f"{self.encoder}: {kind} {strength:g}, {size}, {self.first} to {self.last - 1}"


def number_names() -> list[str]:
    """Of every number of every metric of two sets."""
    return [
        name if len(metric.outputs) == 1 else f"{name}.{output.name}"
        for name, metric in rc.list_metrics().items()
        for output in metric.outputs
    ]


def cases_of(size: Size) -> list[Case]:
    cases = [Case(size.texts, HUMAN, 0.0, size.human), Case(size.texts, NONE, 0.0, size.repeats)]
    for kind in KINDS:
        strengths: Sequence[float] = size.quiet if kind in QUIET else size.strengths
        strengths = size.dropped if kind == TOPICS else strengths
        cases += [Case(size.texts, kind, float(strength), size.repeats) for strength in strengths]
    return cases


def drawn(store: Store, case: Case, number: int) -> Draw:
    """The rows of one comparison; the same for every encoder."""
    kinds = [HUMAN, NONE, *KINDS]
    stream = [store.seed, 1, case.size, kinds.index(case.kind), round(1000 * case.strength), number]
    rng = np.random.default_rng(stream)
    size, count = case.size, round(case.strength * case.size)
    if case.kind == TOPICS:
        return _without_topics(store, size, round(case.strength), rng)
    order = rng.permutation(store.people)
    if case.kind in ("word order", "truncated"):
        chosen = rng.permutation(store.scale.damaged)[:count]
        first = store.shuffled if case.kind == "word order" else store.truncated
        return _with(order, size, chosen, first + chosen)
    if case.kind == "flattened":
        chosen = rng.permutation(store.scale.families)[: -(-count // store.scale.variations)]
        rows = store.variations + store.scale.variations * chosen[:, None] + np.arange(store.scale.variations)
        return _with(order, size, chosen, rows.ravel()[:count])
    if case.kind == "off-topic texts":
        return _with(order, size, np.array([], int), store.others + rng.permutation(store.off_topic)[:count])
    reference, candidate = order[:size], order[size : 2 * size].copy()
    if case.kind == "copied":
        candidate[:count] = reference[:count]
    elif case.kind == "texts repeated":
        candidate[:count] = candidate[count + np.arange(count) // _TIMES]
    return Draw(reference, candidate)


def _with(order: np.ndarray, size: int, without: np.ndarray, rows: np.ndarray) -> Draw:
    """These rows in the candidate; the texts they were made from on neither side."""
    left = order[~np.isin(order, without)]
    return Draw(left[:size], np.concatenate([rows, left[size : 2 * size - len(rows)]]))


def _without_topics(store: Store, size: int, topics: int, rng: np.random.Generator) -> Draw:
    order = rng.permutation(store.people)
    gone = rng.permutation(store.genre.max() + 1)[:topics]
    left = order[size:]
    return Draw(order[:size], left[~np.isin(store.genre[left], gone)][:size])


def _numbers(store: Store, encoder: str, draw: Draw) -> list[float]:
    vectors = store.vectors[encoder]
    reference, candidate = (vectors[rows].astype(np.float32) for rows in draw)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of repeated samples and of small sets: both are meant
        results = rc.evaluate(reference, {"candidate": candidate}, list(rc.list_metrics()), ceiling=False)
    return [value for result in results["candidate"].values() for value in result.values.values()]


def measured_step(store: Store, step: Step) -> Values:
    from threadpoolctl import threadpool_limits

    with threadpool_limits(1):
        draws = (drawn(store, step.case, number) for number in range(step.first, step.last))
        return [_numbers(store, step.encoder, draw) for draw in draws]


def steps_to_take(store: Store) -> list[Step]:
    """The long ones first, so that no process is left with one of them at the end."""
    return [
        Step(encoder, case, first, min(first + part, case.runs))
        for size in sorted(store.scale.sizes, reverse=True)
        for encoder in store.vectors
        for case in cases_of(size)
        for part in [_PART.get(size.texts, case.runs)]
        for first in range(0, case.runs, part)
    ]


class Measuring:
    """All numbers of the comparisons of one step, by its key."""

    def __init__(self, store: Store) -> None:
        self.store = store
        self._steps = {step.key: step for step in steps_to_take(store)}

    def __call__(self, key: str) -> Values:
        return measured_step(self.store, self._steps[key])


def measure_all(
    store: Store, journal: rc.Journal, jobs: int = 1, stop_after: float = float("inf"), tell: Told = lambda words: None
) -> dict[tuple[str, Case], Values] | None:
    """By encoder and case, all numbers of all comparisons; None where the time ended before. What is done is kept."""
    until = time.monotonic() + stop_after
    costs(store, journal)
    steps = steps_to_take(store)
    keys = [step.key for step in steps]
    known = spread_steps(journal, keys, Measuring(store), jobs, "comparisons", until=until, tell=tell)
    if len(known) < len(keys):
        return None
    found: dict[tuple[str, Case], Values] = {}
    for step in steps:
        found.setdefault((step.encoder, step.case), []).extend(known[step.key])
    return found


def costs(store: Store, journal: rc.Journal) -> Mapping[str, Mapping[str, float]]:
    """By size and metric: milliseconds of the metric alone, one thread, the first encoder's vectors."""
    return {
        str(size.texts): journal.get(f"cost, {size.texts}", partial(_cost, store, size)) for size in store.scale.sizes
    }


def _cost(store: Store, size: Size) -> dict[str, float]:
    from threadpoolctl import threadpool_limits

    encoder = next(iter(store.vectors))
    draw = drawn(store, Case(size.texts, HUMAN, 0.0, 1), 0)
    reference, candidate = (store.vectors[encoder][rows].astype(np.float32) for rows in draw)
    found = {}
    with one_thread(), threadpool_limits(1):
        for name in rc.list_metrics():
            taken: list[float] = []
            while len(taken) < _TIMED and sum(taken) < _ENOUGH:
                begun = time.perf_counter()
                rc.evaluate(reference, {"candidate": candidate}, name, ceiling=False)
                taken.append(1000 * (time.perf_counter() - begun))
            found[name] = min(taken)
    return found
