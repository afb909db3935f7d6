"""Simulations in which nothing differs: every alarm is false, and every part of the candidate is human.

Sets are dealt at random from one distribution, so that numbers promised for "one distribution" can be counted. Finished
simulations are kept, a few at a time.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..files import records
from ..mark_evaluate.genres import BROWN, Space, by_source, data_file
from ..mark_evaluate.genres import LAYOUT as GENRES
from ..progress import progress_bar
from ..steps import steps_of
from ..study import Setup

REAL = "ghostbuster"
LAYOUT = {
    REAL: "reuter.jsonl.gz, wp.jsonl.gz: source (human, or whoever else wrote it), text",
    BROWN: GENRES[BROWN],
}
DOMAINS = ("reuter", "wp")
SECOND = "second human set"
WORLDS = {
    "Gaussian": "8 normal dimensions",
    "heavy tails": "8 dimensions of Student's t with 3 degrees of freedom (one scale a sample: its fourth moment is "
    "infinite)",
}
TESTED = ("mmd", "precision-recall", "mark-evaluate")
"""What is tested on texts: fast, and none of them is the same thing twice."""
BALANCED_DRAWS = 2
_DIMENSIONS = 8
_FREEDOM = 3
_AT_ONCE = 20
"""Simulations kept together."""
_POOLED = 5
"""Real texts to choose from, in sets: so that the quick form need not encode all."""
_REVISION = 3

Numbers = Mapping[str, float]
"""Of one simulation, by name."""
Simulations = Sequence[Numbers]


class Scale(NamedTuple):
    """How much is simulated."""

    bands: int
    """Simulations of a world and sizes."""
    real: int
    """Of a domain and kind of band."""
    alarms: int
    """Of a test that promises something."""
    contrasts: int
    """Of one that does not."""
    splits: int
    """Of one human band."""
    reference: int
    """Samples of a simulated reference, and of a candidate of equal size."""
    smaller: int
    """Samples of a candidate of another size."""
    third: int
    """Real texts of a set."""
    tested: int
    """Samples a side where many numbers are tested at once."""
    documents: int
    """A side."""
    sentences: int
    """Of a document."""
    texts: int
    """Different sentences a side, of doubled texts and of random halves."""


FULL = Scale(300, 40, 1000, 200, 40, 100, 40, 200, 60, 20, 5, 100)
QUICK = Scale(2, 1, 10, 6, 8, 30, 20, 40, 20, 20, 5, 40)
LABELLINGS = 199
CANDIDATES = 3
FEWER_LABELLINGS = 119
"""For three candidates: 3 x 2/120 is .05, so that Holm's rule can use the whole of its 5 %."""


def _simulations(steps: rc.Journal, name: str, count: int, simulate: Callable[[int], Numbers]) -> Simulations:
    found: list[Numbers] = []
    with progress_bar(name, count, "simulation") as progress:
        for start in range(0, count, _AT_ONCE):
            numbers = range(start, min(start + _AT_ONCE, count))
            found += steps.get(f"{name} {start} {len(numbers)}", partial(_some, simulate, numbers))
            progress.advance(len(numbers))
    return found


def _some(simulate: Callable[[int], Numbers], numbers: range) -> list[Numbers]:
    return [simulate(number) for number in numbers]


def _steps(setup: Setup, part: str, settings: Mapping[str, Any], files: Sequence[Path], encodes: bool) -> rc.Journal:
    # What metrics are by default may change: kept numbers are then others'.
    metrics = {name: dict(metric.defaults) for name, metric in rc.list_metrics().items()}
    every = {"revision": _REVISION, "metrics": metrics, **settings}
    return steps_of(setup, f"promises-{part}", every, files, encodes)


def _inside(results: Mapping[str, Mapping[str, rc.Result]]) -> Numbers:
    """The share of the candidate's parts inside the human band, by number."""
    (by_metric,) = results.values()
    return {f"{metric} {name}": share for metric, result in by_metric.items() for name, share in result.inside.items()}


def _raw(results: Mapping[str, Mapping[str, rc.Result]]) -> Numbers:
    (by_metric,) = results.values()
    return {f"{metric} {name}": p for metric, result in by_metric.items() for name, p in result.pvalues.items()}


def drawn(world: str, samples: int, rng: np.random.Generator) -> np.ndarray:
    values = rng.standard_normal((samples, _DIMENSIONS))
    if world == "heavy tails":
        values /= np.sqrt(rng.chisquare(_FREEDOM, (samples, 1)) / _FREEDOM)
    return values


class Bands(NamedTuple):
    inside: dict[str, Simulations]
    """By world or domain, and how sets and bands were made."""
    compared: int
    """Simulations in which the same sets were also looked at without balanced subsamples."""
    equal: int
    """In how many of these all shares inside the band were the same."""


def simulated_bands(setup: Setup, scale: Scale) -> Bands:
    """Of candidates as large as the reference, and of smaller ones with numbers of balanced subsamples."""
    settings = {"sizes": (scale.reference, scale.smaller), "splits": scale.splits, "worlds": WORLDS}
    steps = _steps(setup, "bands", settings, (), False)
    inside: dict[str, Simulations] = {}
    matches: list[float] = []
    for world in WORLDS:
        for size in (scale.reference, scale.smaller):
            smaller = size < scale.reference
            name = f"{world}, {scale.reference} v {size}{', balanced' * smaller}"
            rows = _simulations(steps, name, scale.bands, partial(_simulated_band, setup.seed, scale, world, smaller))
            matches += [row["same"] for row in rows if "same" in row]
            inside[name] = [{key: share for key, share in row.items() if key != "same"} for row in rows]
    return Bands(inside, len(matches), int(sum(matches)))


def _simulated_band(seed: int, scale: Scale, world: str, smaller: bool, number: int) -> Numbers:
    rng = np.random.default_rng([seed, list(WORLDS).index(world), number])
    reference = drawn(world, scale.reference, rng)
    candidate = drawn(world, scale.smaller if smaller else scale.reference, rng)
    score = partial(rc.evaluate, reference, candidate, ceiling=scale.splits, seed=number)
    if not smaller:
        return _inside(score())
    found = _inside(score(balance=BALANCED_DRAWS))
    if number % _AT_ONCE:
        return found
    # Bands are of parts of one size whatever the rest is balanced to: a few simulations show it.
    return {**found, "same": float(found == _inside(score()))}


def real_bands(setup: Setup, scale: Scale) -> dict[str, Simulations]:
    """Three disjoint random sets of human texts of one domain: reference, candidate, and a second human set."""
    folder = setup.folder(REAL, LAYOUT[REAL])
    inside = {}
    for domain in DOMAINS:
        path = folder / f"{domain}.jsonl.gz"
        texts = [str(each["text"]) for each in records(path, {"source": str, "text": str}) if each["source"] == "human"]
        texts = list(dict.fromkeys(texts))[: _POOLED * scale.third]
        third = min(scale.third, len(texts) // 3)
        if third < 10:
            raise rc.InputError(f"{path} must hold at least 30 different texts of the source 'human'")
        steps = _steps(setup, f"real-{domain}", {"third": third, "splits": scale.splits}, [path], True)
        space = Space(setup, texts)
        for kind in ("reference split", SECOND):
            name = f"{domain}, {kind}"
            simulate = partial(_real_band, setup.seed, scale, texts, third, space, kind == SECOND)
            inside[name] = _simulations(steps, name, scale.real, simulate)
    return inside


def _real_band(
    seed: int, scale: Scale, texts: Sequence[str], third: int, space: Space, second: bool, number: int
) -> Numbers:
    space.prepare(texts)  # the first time, all at once
    order = np.random.default_rng([seed, 2, number]).permutation(len(texts))
    reference, candidate, human = (
        space.rows([texts[at] for at in order[place * third : (place + 1) * third]]) for place in range(3)
    )
    return _inside(
        rc.evaluate(reference, candidate, ceiling=scale.splits, seed=number, human=human if second else None)
    )


class Alarms(NamedTuple):
    """p-values of sets that do not differ."""

    kept: Simulations
    """Tested as the promise says."""
    broken: Simulations
    """Tested as if samples were independent, or seen by an encoder that knows one side."""
    about: str


def _test(reference: Any, candidate: Any, number: int, **options: Any) -> Numbers:
    return _raw(rc.evaluate(reference, candidate, TESTED, ceiling=False, pvalue=LABELLINGS, seed=number, **options))


class Corpus:
    """Sentences of the Brown corpus, by document, of the genre that has most documents; and those of all genres."""

    def __init__(self, setup: Setup, scale: Scale) -> None:
        self.path = data_file(setup, BROWN)
        genres = by_source(self.path, BROWN)
        sizes = {name: (len(found), sum(map(len, found.values()))) for name, found in genres.items()}
        if not sizes or max(sizes.values())[0] < 8:
            raise rc.InputError(f"{self.path} must hold a genre with sentences of at least eight documents")
        self.genre = max(sizes, key=lambda name: sizes[name])
        pool = 2 * scale.sentences
        # Twice as many sentences as one simulation takes of a document: not all of the genre must be encoded.
        self.documents = [texts[:pool] for texts in genres[self.genre].values() if len(texts) >= scale.sentences]
        self.a_side = min(scale.documents, len(self.documents) // 2)
        self.sentences = [text for texts in self.documents for text in texts]
        self.every = [text for of_genre in genres.values() for texts in of_genre.values() for text in texts]
        self._space = Space(setup, self.sentences)

    def rows(self, texts: Sequence[str]) -> np.ndarray:
        self._space.prepare(self.sentences)
        return self._space.rows(texts)


def documents_as_groups(setup: Setup, scale: Scale, corpus: Corpus) -> Alarms:
    """Sentences of different documents of one genre on the two sides."""
    a_side, each = corpus.a_side, scale.sentences
    steps = _steps(setup, "documents", {"sizes": (a_side, each), "tested": TESTED}, [corpus.path], True)
    labels = np.repeat(np.arange(2 * a_side), each)

    def simulate(grouped: bool, number: int) -> Numbers:
        rng = np.random.default_rng([setup.seed, 3, number])
        dealt = [corpus.documents[at] for at in rng.permutation(len(corpus.documents))[: 2 * a_side]]
        taken = [text for texts in dealt for text in (texts[at] for at in rng.permutation(len(texts))[:each])]
        rows, half = corpus.rows(taken), a_side * each
        groups = {"reference_groups": labels[:half], "candidate_groups": labels[half:]} if grouped else {}
        return _test(rows[:half], rows[half:], number, **groups)

    return Alarms(
        *_both(steps, scale, simulate),
        f"different documents of Brown's genre {corpus.genre} on the two sides, {a_side} documents a side, {each} "
        "sentences each; each document is a group, or none",
    )


def doubled_texts(setup: Setup, scale: Scale, corpus: Corpus) -> Alarms:
    """Random sentences, every one twice on its side."""
    half = min(scale.texts // 2, len(corpus.sentences) // 2)
    steps = _steps(setup, "doubled", {"size": half, "tested": TESTED}, [corpus.path], True)
    labels = np.tile(np.arange(2 * half).reshape(2, half), 2)

    def simulate(grouped: bool, number: int) -> Numbers:
        rng = np.random.default_rng([setup.seed, 4, number])
        order = rng.permutation(len(corpus.sentences))[: 2 * half].reshape(2, half)
        reference, candidate = (np.tile(corpus.rows([corpus.sentences[at] for at in side]), (2, 1)) for side in order)
        groups = {"reference_groups": labels[0], "candidate_groups": labels[1]} if grouped else {}
        return _test(reference, candidate, number, **groups)

    return Alarms(
        *_both(steps, scale, simulate),
        f"random sentences of Brown's genre {corpus.genre}, {half} a side, each of them twice; each pair is a group, "
        "or none",
    )


def encoders_that_learn(setup: Setup, scale: Scale, corpus: Corpus) -> Alarms:
    """Random halves of sentences, counted by a vocabulary learnt from all of them or from the reference alone."""
    half = min(scale.texts, len(corpus.every) // 2)
    steps = _steps(setup, "encoders", {"size": half, "tested": TESTED}, [corpus.path], False)

    def simulate(blind: bool, number: int) -> Numbers:
        rng = np.random.default_rng([setup.seed, 5, number])
        texts = [corpus.every[at] for at in rng.permutation(len(corpus.every))[: 2 * half]]
        reference, candidate = texts[:half], texts[half:]
        if blind:
            return _test(reference, candidate, number, encoder="bag-of-words")
        learnt = rc.resolve_encoder("bag-of-words").fit(reference)
        return _test(rc.encode(reference, learnt), rc.encode(candidate, learnt), number)

    return Alarms(
        *_both(steps, scale, simulate),
        f"random halves of sentences of the whole Brown corpus, {half} a side, bag-of-words; its vocabulary is learnt "
        "from both sides, or from the reference alone",
    )


def _both(steps: rc.Journal, scale: Scale, simulate: Callable[[bool, int], Numbers]) -> tuple[Simulations, Simulations]:
    return (
        _simulations(steps, "kept", scale.alarms, partial(simulate, True)),
        _simulations(steps, "broken", scale.contrasts, partial(simulate, False)),
    )


class Many(NamedTuple):
    """Smallest p-values of all numbers of all metrics, in each simulation."""

    one: Simulations
    """raw and adjusted; and how many numbers there are"""
    several: Simulations
    """The same over all candidates."""


def many_numbers(setup: Setup, scale: Scale) -> Many:
    """All numbers of all metrics on sets of one normal distribution: one candidate, and several."""
    size = scale.tested
    steps = _steps(setup, "many", {"size": size, "candidates": CANDIDATES}, (), False)

    def smallest(results: Mapping[str, Mapping[str, rc.Result]]) -> Numbers:
        found = [result for by_metric in results.values() for result in by_metric.values()]
        raw = [p for result in found for p in result.pvalues.values()]
        return {
            "raw": min(raw),
            "adjusted": min(p for result in found for p in result.adjusted_pvalues.values()),
            "numbers": len(raw),
        }

    def one(number: int) -> Numbers:
        reference, candidate = np.random.default_rng([setup.seed, 6, number]).standard_normal((2, size, _DIMENSIONS))
        return smallest(rc.evaluate(reference, candidate, ceiling=False, pvalue=LABELLINGS, seed=number))

    def several(number: int) -> Numbers:
        sets = np.random.default_rng([setup.seed, 7, number]).standard_normal((1 + CANDIDATES, size, _DIMENSIONS))
        candidates = {f"candidate {place}": sets[place] for place in range(1, 1 + CANDIDATES)}
        return smallest(rc.evaluate(sets[0], candidates, ceiling=False, pvalue=FEWER_LABELLINGS, seed=number))

    return Many(
        _simulations(steps, "one candidate", scale.alarms, one),
        _simulations(steps, "several candidates", scale.alarms, several),
    )
