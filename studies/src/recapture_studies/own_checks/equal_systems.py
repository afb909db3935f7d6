"""Sets of systems that are equally close to people: how often is a difference claimed, and a build stopped?"""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..processes import spread_steps
from ..steps import steps_of
from ..study import Findings, Section, Setup, Study
from .equal_systems_vectors import LAYOUT, SPLIT, TOPICS, Pools, load_pools

LEVEL = 0.05
MOST = 0.08
"""False alarms at that level that the comparison promises not to exceed."""
METRICS = ("mark-evaluate", "precision-recall", "density-coverage", "prd", "mauve", "frechet", "mmd")
"""All metrics of two sets; Fréchet's by half-samples alone, as in every comparison that does not ask for more."""
_OF = 8
"""Topics that people write about, in equal shares; fewer where the data have fewer."""
_DIMENSIONS = 16
_REVISION = 2

Sets = tuple[np.ndarray, np.ndarray, np.ndarray]
"""People's vectors and those of systems a and b."""


class Scale(NamedTuple):
    runs: int
    real: int
    """Runs with a real difference."""
    size: int
    """Texts a side."""


FULL = Scale(500, 100, 200)
QUICK = Scale(1, 1, 24)


@dataclass(frozen=True)
class Case:
    """One way to make a reference and two systems, a and b."""

    name: str
    what: str
    draw: Callable[[Pools, int, np.random.Generator], Sets]
    equal: bool = True
    """Whether a and b are equally close to people by construction."""
    alike: bool = True
    """Whether they even write alike."""


# How sets are drawn


def _split(pools: Pools, size: int, rng: np.random.Generator) -> Sets:
    people, model = pools.people, pools.model
    dealt = rng.permutation(len(model))
    return people[rng.permutation(len(people))[:size]], model[dealt[:size]], model[dealt[size : 2 * size]]


def _unequal(pools: Pools, size: int, rng: np.random.Generator) -> Sets:
    people, model = pools.people, pools.model
    dealt, less = rng.permutation(len(model)), size * 3 // 4
    return people[rng.permutation(len(people))[:size]], model[dealt[:less]], model[dealt[less : 2 * size]]


def _from_topics(
    by_topic: Mapping[int, np.ndarray], size: int, lost: Sequence[Sequence[int]], rng: np.random.Generator
) -> Sets:
    """Three sets of texts of equally frequent topics that share no text; lost: the topics that each lacks."""
    left = {topic: rng.permutation(len(rows)).tolist() for topic, rows in by_topic.items()}
    sets = []
    for gone in lost:
        kept = [topic for topic in by_topic if topic not in gone]
        drawn = rng.choice(kept, size).tolist()
        for topic in kept:
            if drawn.count(topic) > len(left[topic]):
                raise rc.InputError(f"a topic has {len(by_topic[topic])} texts: too few for three sets of {size:,}")
        sets.append(np.stack([by_topic[topic][left[topic].pop()] for topic in drawn]))
    return sets[0], sets[1], sets[2]


def _mirrored(pools: Pools, size: int, rng: np.random.Generator) -> Sets:
    """Half as many topics, and their mirror images: every second coordinate with its sign turned.

    Turning signs is an isometry that maps people onto people (every topic is there with its image) and a system that
    lost a topic onto one that lost its image: no number of distances can tell which of the two is closer.
    """
    half = _OF // 2
    chosen = rng.permutation(len(pools.topics))[:half]
    signs = np.where(np.arange(pools.topics[0].shape[1]) % 2, -1, 1).astype(np.float32)
    by_topic = {}
    for place, topic in enumerate(chosen.tolist()):
        rows = pools.topics[topic][rng.permutation(len(pools.topics[topic]))]
        by_topic[place], by_topic[half + place] = rows[::2], rows[1::2] * signs
    return _from_topics(by_topic, size, [(), (0,), (half,)], rng)


def _genres(lost: int, pools: Pools, size: int, rng: np.random.Generator) -> Sets:
    """Topics as they are: the first few that a lacks are others than those that b lacks."""
    chosen = rng.permutation(len(pools.topics))[:_OF]
    by_topic = {place: pools.topics[topic] for place, topic in enumerate(chosen.tolist())}
    return _from_topics(by_topic, size, [(), range(lost), range(lost, 2 * lost)], rng)


def _one_of_each(pools: Pools, size: int, rng: np.random.Generator) -> Sets:
    return _genres(1, pools, size, rng)


def _worse(pools: Pools, size: int, rng: np.random.Generator) -> Sets:
    """a lacks three topics, b none."""
    chosen = rng.permutation(len(pools.topics))[:_OF]
    by_topic = {place: pools.topics[topic] for place, topic in enumerate(chosen.tolist())}
    return _from_topics(by_topic, size, [(), range(3), ()], rng)


def _normal(pools: Pools, size: int, rng: np.random.Generator) -> Sets:
    """Normal clouds around corners of a simplex."""
    by_topic = {
        topic: rng.standard_normal((2 * size, _DIMENSIONS)) + 4 * np.eye(_DIMENSIONS)[topic] for topic in range(_OF)
    }
    return _from_topics(by_topic, size, [(), (0,), (1,)], rng)


CASES = (
    Case("split", "one model's texts, dealt at random", _split),
    Case("unequal", "the same, three quarters as many texts in a and a quarter more in b", _unequal),
    Case("mirrored", "a lost one topic, b its mirror image", _mirrored, alike=False),
    Case("normal", "normal clouds: a lost one, b another", _normal, alike=False),
    Case("genres", "genres as they are: a lost one, b another", _one_of_each, equal=False, alike=False),
    Case("worse", "a lost three genres, b none", _worse, equal=False, alike=False),
)
PROMISED = [case for case in CASES if case.equal]


# Runs


@dataclass(frozen=True)
class Runs:
    """One comparison by its key, CASE/NUMBER: drawn by seed, case and number alone."""

    pools: Pools
    size: int
    seed: int

    def __call__(self, key: str) -> dict[str, Any]:
        name, _, number = key.partition("/")
        place = [case.name for case in CASES].index(name)
        rng = np.random.default_rng([self.seed, place, int(number)])
        people, a, b = CASES[place].draw(self.pools, self.size, rng)
        compared = rc.compare(people, {"a": a, "b": b}, METRICS, level=LEVEL, ceiling=False, seed=int(number))
        found = compared.differences["a", "b"]
        worse = compared.losses(than="b")["a"]
        return {
            "claimed": not compared.tied("a", "b"),
            "closer": bool(compared.closer("a", "b") or compared.closer("b", "a")),
            "worse": bool(compared.worse(than="b")),
            # NaN: no labellings.
            "distinct": {name: each.distinct for name, each in found.items() if not np.isnan(each.distinct)},
            "adjusted": min(each.adjusted for each in found.values()),
            "loss": min(each.adjusted for each in worse.values()),
        }


def _run(setup: Setup) -> Findings:
    scale = QUICK if setup.quick else FULL
    pools = load_pools(setup, scale.size)
    content = hashlib.blake2b(digest_size=12)
    for rows in (pools.people, pools.model, *pools.topics):
        content.update(np.ascontiguousarray(rows).tobytes())
    settings = {"revision": _REVISION, "scale": scale._asdict(), "level": LEVEL, "metrics": METRICS}
    # What numbers depend on is the vectors, wherever they come from.
    steps = steps_of(setup, "equal-systems", {**settings, "vectors": content.hexdigest()}, [], encodes=False)
    work = Runs(pools, scale.size, setup.seed)
    found = {}
    for case in CASES:
        keys = [f"{case.name}/{number}" for number in range(scale.runs if case.equal else scale.real)]
        found[case.name] = list(spread_steps(steps, keys, work, setup.jobs, case.what).values())
    return Findings([_table(found, scale)], _drawing(found), _verdict(found), settings)


def share(runs: Sequence[Mapping[str, Any]], what: str) -> float:
    return float(np.mean([run[what] for run in runs]))


def relabelled(runs: Sequence[Mapping[str, Any]]) -> tuple[float, float, float]:
    """How often relabelling alone says that a and b differ: by the number that says so least often, by the one that
    says so most often, and by any of them after Bonferroni's correction. Numbers without labellings do not count.
    """
    table = np.array([[p for p in run["distinct"].values() if not np.isnan(p)] for run in runs])
    alone = np.mean(table < LEVEL, axis=0)
    return float(alone.min()), float(alone.max()), float(np.mean(table.min(axis=1) < LEVEL / table.shape[1]))


def _table(found: Mapping[str, Sequence[Mapping[str, Any]]], scale: Scale) -> Section:
    rows = []
    for case in CASES:
        runs = found[case.name]
        low, high, several = relabelled(runs)
        rows.append([
            case.what, "yes" if case.equal else "no", str(len(runs)), f"{low:.1%} to {high:.1%}", f"{several:.1%}",
            f"{share(runs, 'claimed'):.1%}", f"{share(runs, 'closer'):.1%}", f"{share(runs, 'worse'):.1%}",
        ])  # fmt: skip
    caption = [
        f"{scale.size} people's texts and {scale.size} of each system (but where said); {', '.join(METRICS)}, all of "
        f"their numbers; level {LEVEL:g} (standard error of 5 % in {scale.runs} runs: "
        f"{np.sqrt(LEVEL * (1 - LEVEL) / scale.runs):.1%}).",
        f"People write about {_OF} topics in equal shares. equal: equally close to people by construction. by "
        "relabelling: p alike below the level, by single numbers (the least and the most often); by any: the same by "
        "any number, after Bonferroni's correction. claimed: some adjusted p-value below the level; closer: one system "
        "is said to be closer; worse: a is said to be worse than b, which fails a build.",
    ]
    heads = ["systems", "equal", "runs", "by relabelling", "by any", "claimed", "closer", "worse"]
    return Section("differences-claimed", rc.Table(heads, rows, caption, left=2, listed=True))


def _verdict(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> list[str]:
    parts = []
    for what, words in (("claimed", "Some difference is claimed"), ("worse", "A build is stopped")):
        shares = {case.what: share(found[case.name], what) for case in PROMISED}
        kept = "kept" if max(shares.values()) <= MOST else "not kept"
        told = "; ".join(f"{name} {value:.1%}" for name, value in shares.items())
        parts.append(
            f"{words} where two systems are equally close to people in: {told}. Promised: at most {MOST:.0%} ({kept})."
        )
    ranked = [case for case in PROMISED if not case.alike]
    told = "; ".join(
        f"{case.what}: {share(runs, 'closer'):.1%}, by relabelling alone {relabelled(runs)[1]:.1%} by one number and "
        f"{relabelled(runs)[2]:.1%} by any"
        for case, runs in ((case, found[case.name]) for case in ranked)
    )
    parts.append(f"Systems that lost different topics equally are ranked in: {told}.")
    real = found["worse"]
    parts.append(
        f"Where a has lost three genres and b none, the build is stopped in {share(real, 'worse'):.1%} and b "
        f"is said to be closer in {share(real, 'closer'):.1%}."
    )
    return parts


def _drawing(found: Mapping[str, Sequence[Mapping[str, Any]]]) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        figure.set_size_inches(9, 4)
        axes = figure.subplots()
        bars = {"by relabelling, any number": [relabelled(found[case.name])[2] for case in CASES]}
        bars |= {word: [share(found[case.name], word) for case in CASES] for word in ("claimed", "worse")}
        for shift, (label, values) in enumerate(bars.items()):
            axes.barh(np.arange(len(CASES)) + 0.27 * shift, values, 0.27, label=label)
        axes.axvline(MOST, color="0.3", linestyle=":")
        axes.set_yticks(np.arange(len(CASES)) + 0.27, [case.what for case in CASES], fontsize=7)
        axes.invert_yaxis()
        axes.set(xlabel="runs in which it is said", xlim=(0, 1))
        axes.legend()

    return draw


STUDY = Study(
    name="equal-systems",
    title="Sets of systems that are equally close to people: false alarms of the comparison and of the gate",
    paper="",
    reproduces="recapture's own check of compare, where systems are equally close to people",
    data=(SPLIT, TOPICS),
    run=_run,
    spreads=True,
    layout=LAYOUT,
    takes="6 minutes on 15 cores",
)
