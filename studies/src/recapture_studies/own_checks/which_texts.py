"""Do lists of single texts hold what they promise? Human texts that should not be listed, and damage that should."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..distribution_aware import captions
from ..encoders import RememberingEncoder
from ..mark_evaluate.genres import BROWN, LAYOUT, XNLI, by_source, data_file
from ..progress import progress_bar
from ..steps import steps_of
from ..study import Findings, Section, Setup, Study
from ..words import short

LEVEL = 0.1
MOST = 1.5
"""Times the level: how often a list of human texts may hold any."""
_CAPTIONS = "captions_coco1000"
_REVISION = 1


class Scale(NamedTuple):
    documents: int
    """Of Brown, from which everything is drawn."""
    sentences: int
    """Of each document."""
    size: int
    """Texts a side."""
    samples: int
    """Held-out human samples."""
    repeats: int
    """Of each kind of damage."""


FULL = Scale(documents=300, sentences=12, size=500, samples=200, repeats=10)
QUICK = Scale(documents=40, sentences=6, size=60, samples=6, repeats=2)


class Pool(NamedTuple):
    """Sentences of the Brown corpus, and some of others."""

    texts: list[str]
    genre: np.ndarray
    document: np.ndarray
    others: list[str]
    """Of XNLI: conversation, letters, guide books."""
    captions: list[str]
    """One of each picture of COCO: texts of one domain."""
    encoder: RememberingEncoder

    def vectors(self, places: np.ndarray) -> np.ndarray:
        return self.encoder.encode_batch([self.texts[place] for place in places])


class Damage(NamedTuple):
    """A candidate with known damage."""

    reference: list[str]
    candidate: list[str]
    truth: dict[str, set[int]]
    """By list: the texts that should be on it."""


def _pool(setup: Setup, scale: Scale) -> Pool:
    rng = np.random.default_rng(setup.seed)
    documents = [
        (genre, sentences)
        for genre, sources in sorted(by_source(data_file(setup, BROWN), BROWN).items())
        for sentences in sources.values()
        if len(sentences) >= scale.sentences
    ]
    chosen = [documents[place] for place in rng.permutation(len(documents))[: scale.documents]]
    texts, genre, document = [], [], []
    for number, (of_genre, sentences) in enumerate(chosen):
        for place in np.sort(rng.permutation(len(sentences))[: scale.sentences]):
            texts.append(sentences[place])
            genre.append(of_genre)
            document.append(number)
    premises = [
        sentences[0]
        for sources in by_source(data_file(setup, XNLI), XNLI).values()
        for sentences in sources.values()
        if len(sentences[0].split()) >= 5
    ]
    others = [premises[place] for place in rng.permutation(len(premises))[: scale.size]]
    pictures = captions.load(captions.data_file(setup, _CAPTIONS), contexts=2, references=1, candidates=0)
    of_pictures = list(dict.fromkeys(picture.references[0] for picture in pictures))
    encoder = RememberingEncoder(setup, [*texts, *others, *of_pictures])
    encoder.remember([*texts, *others, *of_pictures])
    return Pool(texts, np.array(genre), np.array(document), others, of_pictures, encoder)


def _run(setup: Setup) -> Findings:
    scale = QUICK if setup.quick else FULL
    files = [data_file(setup, name) for name in (BROWN, XNLI)]
    pool = _pool(setup, scale)
    settings = {"revision": _REVISION, "scale": scale._asdict(), "level": LEVEL}
    alarms = steps_of(setup, "which-texts", settings, files).get("alarms", lambda: _alarms(pool, scale, setup.seed))
    files = [*files, captions.data_file(setup, _CAPTIONS)]
    damaged = steps_of(setup, "which-texts-damage", settings, files)
    found = damaged.get("damage", lambda: _found(pool, scale, setup.seed))
    tables = [_alarms_table(alarms, scale), _found_table(found, scale)]
    return Findings(tables, _drawing(found), _verdict(alarms, found), settings)


WORLDS = {
    "texts at random": "texts drawn one by one",
    "documents, named": "whole documents, which are given as groups",
    "documents, not named": "the same texts, but nobody says that they belong together",
}


def _alarms(pool: Pool, scale: Scale, seed: int) -> dict[str, dict[str, float]]:
    """By world: the share of held-out human samples with any text on a list."""
    told: dict[str, dict[str, float]] = {world: {"invented": 0.0, "lost": 0.0} for world in WORLDS}
    with progress_bar("held-out human samples", scale.samples, "sample") as progress:
        for number in range(scale.samples):
            rng = np.random.default_rng([seed, 1, number])
            places = rng.permutation(len(pool.texts))[: 2 * scale.size]
            vectors = pool.vectors(places)
            _count(told["texts at random"], rc.diagnose(vectors[: scale.size], vectors[scale.size :], LEVEL))
            documents = rng.permutation(pool.document.max() + 1)[: 2 * (scale.size // scale.sentences)]
            half = len(documents) // 2
            sides = [np.flatnonzero(np.isin(pool.document, part)) for part in (documents[:half], documents[half:])]
            people, held_out = (pool.vectors(side) for side in sides)
            named = rc.diagnose(
                people,
                held_out,
                LEVEL,
                reference_groups=pool.document[sides[0]].tolist(),
                candidate_groups=pool.document[sides[1]].tolist(),
            )
            _count(told["documents, named"], named)
            _count(told["documents, not named"], rc.diagnose(people, held_out, LEVEL))
            progress.advance()
    return {world: {name: count / scale.samples for name, count in by_list.items()} for world, by_list in told.items()}


def _count(told: dict[str, float], found: rc.Diagnosis) -> None:
    told["invented"] += len(found.invented) > 0
    told["lost"] += len(found.lost) > 0


def _damages(pool: Pool, scale: Scale, rng: np.random.Generator) -> Iterator[tuple[str, str, Damage]]:
    """(kind, how much, damage). Texts are dealt to both sides one by one, so that without damage they do not differ."""
    size = min(scale.size, len(pool.captions) // 2, len(pool.texts) // 2)
    dealt = rng.permutation(len(pool.captions))
    shown, told = ([pool.captions[place] for place in part] for part in (dealt[:size], dealt[size : 2 * size]))
    order = rng.permutation(len(pool.texts))
    reference = order[:size]
    people, model = ([pool.texts[place] for place in part] for part in (reference, order[size : 2 * size]))
    words = [word for text in pool.texts for word in text.split()]
    for share in (0.05, 0.2):
        count, much = int(share * size), f"{share:.0%}"
        put_in = set(range(count))
        salad = [" ".join(rng.choice(words, 12)) for _ in range(count)]
        for kind, others in (("off-topic texts put in", pool.others), ("random words put in", salad)):
            yield kind, much, Damage(shown, [*others[:count], *told[count:]], {"invented": put_in})
        copied = rng.permutation(size)[:count]
        exact = [people[place] for place in copied]
        near = [_one_word_less(people[place], rng) for place in copied]
        for kind, planted in (("copies planted", exact), ("copies without one word", near)):
            yield kind, much, Damage(people, [*planted, *model[count:]], {"copied": put_in})
        repeated = [model[-1 - place // 5] for place in range(count)]  # each five times more
        again = put_in | {size - 1 - place // 5 for place in range(count)}
        yield "texts repeated", much, Damage(people, [*repeated, *model[count:]], {"repeated": again})
    for share in (0.2, 0.5):
        count = int(share * size)
        mixed, truth = [*people[:count], *shown[count:]], set(range(count))
        yield "topic removed", f"{share:.0%}", Damage(mixed, told, {"lost": truth, "clusters": truth})
    gone = rng.permutation(np.unique(pool.genre))[:3]
    left = [pool.texts[place] for place in order[size:] if pool.genre[place] not in gone][:size]
    truth = set(np.flatnonzero(np.isin(pool.genre[reference], gone)).tolist())
    yield "genres removed", "3", Damage(people, left, {"lost": truth, "clusters": truth})


def _one_word_less(text: str, rng: np.random.Generator) -> str:
    words = text.split()
    place = int(rng.integers(len(words)))
    return " ".join([*words[:place], *words[place + 1 :]])


def _found(pool: Pool, scale: Scale, seed: int) -> list[dict[str, Any]]:
    """For each kind of damage and list: how many texts should be there, how many are, and how many of these should."""
    rows: dict[tuple[str, str, str], list[tuple[int, int, int]]] = {}
    with progress_bar("damage", scale.repeats, "repeat") as progress:
        for number in range(scale.repeats):
            for kind, much, damage in _damages(pool, scale, np.random.default_rng([seed, 2, number])):
                found = rc.diagnose(damage.reference, damage.candidate, LEVEL, pool.encoder, cache=False)
                for name, truth in damage.truth.items():
                    listed = _listed(found, name)
                    rows.setdefault((kind, much, name), []).append((len(truth), len(listed), len(listed & truth)))
            progress.advance()
    return [
        {"kind": kind, "much": much, "list": name, "counts": [list(counts) for counts in each]}
        for (kind, much, name), each in rows.items()
    ]


def _listed(found: rc.Diagnosis, name: str) -> set[int]:
    """The texts on a list; of clusters the reference texts in those that come too seldom."""
    if name == "clusters":
        seldom = {topic.number for topic in found.clusters if topic.verdict == "too seldom"}
        people = (record for record in found.texts if record["side"] == "reference")
        return {record["index"] for record in people if record["cluster"] in seldom}
    rows = getattr(found, name)
    return {place for row in rows for place in (row.places or (row.index,))}


def precision_and_recall(counts: Sequence[Sequence[int]]) -> tuple[float, float]:
    """Over all repeats: of listed texts those that should be, and of those that should be the listed ones."""
    truth, listed, right = np.sum(counts, axis=0).tolist()
    return right / listed if listed else float("nan"), right / truth if truth else float("nan")


def _alarms_table(alarms: dict[str, dict[str, float]], scale: Scale) -> Section:
    rows = [[world, *(f"{share:.1%}" for share in by_list.values())] for world, by_list in alarms.items()]
    caption = [
        f"{scale.samples} pairs of human samples, about {scale.size} v {scale.size} sentences of Brown; share "
        f"of pairs with any text on the list at level {LEVEL:g}, which may be at most {MOST:g} times the level",
        *(f"{world}: {what}" for world, what in WORLDS.items()),
    ]
    return Section("alarms", rc.Table(["human samples", "invented", "lost"], rows, caption, listed=True))


def _found_table(found: Sequence[dict[str, Any]], scale: Scale) -> Section:
    rows = []
    for each in found:
        truth, listed, _ = np.mean(each["counts"], axis=0).tolist()
        precision, recall = precision_and_recall(each["counts"])
        shares = [f"{share:.1%}" if share == share else "-" for share in (precision, recall)]
        rows.append([each["kind"], each["much"], each["list"], short(truth), short(listed), *shares])
    caption = [
        f"{scale.repeats} repeats, {scale.size} v {scale.size} texts, level {LEVEL:g}; truth and listed: texts, on "
        "average; precision: listed texts that should be listed; recall: texts that should be listed and are; "
        "clusters: reference texts in clusters that come too seldom",
        "put in: XNLI's premises, or words of Brown drawn at random, among captions of COCO; topic removed: sentences "
        "of Brown, which the reference has beside captions and the candidate has not; all others: in Brown",
    ]
    heads = ["damage", "how much", "list", "truth", "listed", "precision", "recall"]
    return Section("lists", rc.Table(heads, rows, caption, left=3, listed=True))


def _drawing(found: Sequence[dict[str, Any]]) -> Any:
    def draw(figure: Any) -> None:
        figure.set_size_inches(8, 5)
        axes = figure.subplots()
        names = [f"{each['kind']}, {each['much']} ({each['list']})" for each in found]
        shares = np.nan_to_num([precision_and_recall(each["counts"]) for each in found])
        for shift, (label, values) in enumerate(zip(("precision", "recall"), shares.T, strict=True)):
            axes.barh(np.arange(len(names)) + 0.4 * shift, values, 0.4, label=label)
        axes.set_yticks(np.arange(len(names)) + 0.2, names)
        axes.invert_yaxis()
        axes.set(xlim=(0, 1))
        axes.legend()

    return draw


def _verdict(alarms: dict[str, dict[str, float]], found: Sequence[dict[str, Any]]) -> list[str]:
    kept = max(max(alarms[world].values()) for world in ("texts at random", "documents, named"))
    holds = "as promised" if kept <= MOST * LEVEL else "more than promised"
    unnamed = max(alarms["documents, not named"].values())
    best: dict[str, list[tuple[str, str, float, float]]] = {}
    for each in found:
        best.setdefault(each["list"], []).append((each["kind"], each["much"], *precision_and_recall(each["counts"])))
    told = "; ".join(
        f"{name}: "
        + ", ".join(
            f"{kind} ({much}) {_percent(precision)} precise, {_percent(recall)} found"
            for kind, much, precision, recall in rows
        )
        for name, rows in best.items()
    )
    return [
        f"Lists of human texts hold any text in at most {kept:.1%} of the samples at level {LEVEL:g}, {holds}; where "
        f"documents are not named as groups in {unnamed:.1%}.",
        f"Of made damage, {told}.",
    ]


def _percent(share: float) -> str:
    return f"{share:.0%}" if share == share else "-"


STUDY = Study(
    name="which-texts",
    title="Lists of single texts: false alarms among human texts, and made damage with known answers",
    paper="",
    reproduces="recapture's own check of its lists of invented, lost, repeated and copied texts",
    data=(BROWN, XNLI, _CAPTIONS),
    run=_run,
    layout={BROWN: LAYOUT[BROWN], XNLI: LAYOUT[XNLI], _CAPTIONS: captions.LAYOUT[_CAPTIONS]},
    takes="5 minutes on 2 cores",
)
