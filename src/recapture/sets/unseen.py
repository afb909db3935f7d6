"""The smallest damage that a test of sets would have found, by simulation from the sets themselves.

Texts of a topic are those nearest to one text drawn at random. A system that *lost a topic* is a part of people's texts
from which a topic was taken away, with others in its place; one that *wrote of something else* has some of its texts in
a topic that was taken away from the reference. What either does to every number is measured on parts of people's texts
(`damage_shifts`), by the difference from the same part undamaged. Whoever has a test adds these shifts to what chance
does to its numbers at the full size (`SmallestFound.of`): the smallest share of damaged texts that is found in four of
five cases is the answer.

Shifts are those of parts, which are smaller than the sets: numbers that move with size make the answer rough. How far
it depends on the topic is said by the range over resampled topics.
"""

from __future__ import annotations

from collections.abc import Callable, Container, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from ..geometry.labels import Labels
from ..geometry.points import PointSet
from ..report.report import short
from .declaration import SetMetric, row_name
from .pair import Pair
from .uncertainty import fits_labels, under_labels

FOUND = 0.8
"""Share of cases in which damage of the size that is named would be found."""
LOST, FOREIGN = "lost", "foreign"
"""Kinds of damage: a topic that is missing (variety), texts of another topic (fidelity)."""
SHARES = (0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.4)
_TOPICS = 16
_DRAWS = 6
"""Of parts, for each topic."""
_MOST = 2000
"""Texts to simulate from: shifts of more would differ little and take longer."""
_LEAST = 10
"""Texts of a part: fewer say little."""
_RESAMPLES = 200
"""Of topics, for the range of the answer."""
TOO_FEW = "What goes unseen at this size cannot be said: there are too few human texts to simulate from."
OTHERS = "What goes unseen at this size was not simulated: that is done for numbers of neighbours and kernels alone."
TOGETHER = "What goes unseen at this size was not simulated: that is done for texts that stand by themselves alone."
_STREAM, _RANGE = 21, 22
"""Streams of random numbers."""
_BLOCK = 256
_MOST_SPARSE = 512
"""Rows of word counts that are made whole at a time."""

Job = tuple[SetMetric, Mapping[str, Any]]
FoundIn = Callable[[np.ndarray, np.ndarray, np.ndarray], float]


@dataclass(frozen=True)
class Shifts:
    """What damage does to every number."""

    names: tuple[str, ...]
    """METRIC.NUMBER, or METRIC where it has one number alone."""
    directions: tuple[str, ...]
    shares: np.ndarray
    by_kind: Mapping[str, np.ndarray]
    """(topics, shares, numbers) damaged - undamaged, by kind of damage"""
    chance: Mapping[str, np.ndarray] = field(default_factory=dict)
    """(shares, numbers) by kind: variance that damage adds to what chance does to the numbers of one system"""
    mixture: Mapping[str, np.ndarray] = field(default_factory=dict)
    """(shares, numbers) by kind: variance that resampled texts show beside, as more or fewer of them are damaged"""

    def of(self, names: Container[str]) -> Shifts | None:
        """Of some numbers alone; None where there are none of them."""
        kept = [place for place, name in enumerate(self.names) if name in names]
        if not kept:
            return None
        return Shifts(
            tuple(self.names[place] for place in kept),
            tuple(self.directions[place] for place in kept),
            self.shares,
            {kind: moved[..., kept] for kind, moved in self.by_kind.items()},
            {kind: added[..., kept] for kind, added in self.chance.items()},
            {kind: added[..., kept] for kind, added in self.mixture.items()},
        )


@dataclass(frozen=True)
class Smallest:
    """The smallest share of damaged texts that is found in four of five cases."""

    share: float | None
    """None: not even the largest that was tried, at least for some topics."""
    low: float | None
    high: float | None
    """Where 80 % of the answers lie if topics are drawn anew."""
    number: str = ""
    """The number that shows it best."""
    change: float | None = None
    """By how much that number is moved by it."""

    def said(self) -> str:
        """The share in words, with its range."""
        if self.share is None:
            return ""
        if self.share <= SHARES[0]:
            return f"{_percent(SHARES[0])} % or less"
        low, high = (_percent(self.share if bound is None else bound) for bound in (self.low, self.high))
        return f"about {_percent(self.share)} %" + (f" ({low} to {high} %)" if high != low else "")


@dataclass(frozen=True)
class SmallestFound:
    """By kind of damage."""

    lost: Smallest
    foreign: Smallest

    @classmethod
    def of(cls, shifts: Shifts, found: FoundIn, scale: np.ndarray, shown: Sequence[str], seed: int) -> SmallestFound:
        """found: (numbers,) shifts, and the variance that damage adds by chance and by mixture -> the share of cases in
        which they are found; scale: (numbers,) what chance does to each number; shown: the numbers that tables show,
        which are named rather than others.
        """
        return cls(*(_smallest(shifts, kind, found, scale, shown, seed) for kind in (LOST, FOREIGN)))

    def record(self) -> dict[str, Any]:
        return {"found_in": FOUND, LOST: asdict(self.lost), FOREIGN: asdict(self.foreign)}


def sentence(found: SmallestFound, then: str) -> str:
    """then: what the test would have said."""
    parts = []
    if found.lost.share is not None:
        parts.append(f"it lost a topic of {found.lost.said()} of their texts{_moved(found.lost)}")
    if found.foreign.share is not None:
        parts.append(f"{found.foreign.said()} of its texts are about something else{_moved(found.foreign)}")
    who = "At this size a system that writes like people, except that"
    if not parts:
        most = f"{_percent(SHARES[-1])} %"
        damage = f"it lost a topic of {most} of their texts or that {most} of its texts are about something else"
        some = "in fewer than 4 of 5 cases, at least for some topics"
        return f"{who} {damage}, {then} {some}: these sets are too small to show it."
    return f"{who} {' or that '.join(parts)}, {then} in 4 of 5 cases or more; less may go unseen."


def _moved(found: Smallest) -> str:
    if found.change is None:
        return ""
    return f" ({found.number} {'+' * (found.change > 0)}{short(found.change)})"


def _percent(share: float) -> str:
    return f"{100 * share:.1g}" if share < 0.095 else f"{100 * share:.0f}"


def _forgotten() -> None:
    return None


class People:
    """People's texts behind a result, for simulations; a pickled or copied result leaves them behind."""

    def __init__(self, jobs: Sequence[Job], reference: PointSet, seed: int, *, together: bool = False) -> None:
        """jobs: with all parameters; reference: in order of content; together: whether texts are paired, or of groups.

        Labellings of such texts move numbers far less (those of pairs swap texts that say the same), while damage to
        parts of people's texts, which are drawn one by one, moves them as ever: together they would promise too much.
        """
        self.seed, self._together = seed, together
        self._jobs, self._reference = list(jobs), reference
        self._known: dict[int, Shifts | None] = {}

    @property
    def silence(self) -> str:
        """What is said where there are no shifts."""
        return TOGETHER if self._together else TOO_FEW if any(map(_simulated, self._jobs)) else OTHERS

    def shifts(self, size: int) -> Shifts | None:
        """For systems of this size."""
        if self._together:
            return None
        if size not in self._known:
            self._known[size] = damage_shifts(self._jobs, self._reference, size=size, seed=self.seed)
        return self._known[size]

    def __reduce__(self) -> tuple[Any, tuple[()]]:
        return _forgotten, ()


def _simulated(job: Job) -> bool:
    """Not numbers of clusterings: they move with size, and steeply where parts are small. Others may show as much."""
    return not (job[0].costly_labellings or job[0].depends_on_pool)


def damage_shifts(jobs: Sequence[Job], people: PointSet, *, size: int, seed: int) -> Shifts | None:
    """What damage to parts of people's texts does to every number; None where they are too few for parts.

    size: samples of a system in the test.
    """
    rng = np.random.default_rng([seed, _STREAM])
    return _Parts(people, size, rng).shifts(jobs)


class _Parts:
    """Parts of people's texts: one as the reference, one as a system, undamaged and damaged."""

    def __init__(self, people: PointSet, size: int, rng: np.random.Generator) -> None:
        # Twice a system's size beside the reference: enough for others in the place of a lost topic.
        part = min(1.0, min(len(people), _MOST) / (len(people) + 2 * size))
        self._reference, self._size, self._whole = int(part * len(people)), int(part * size), size
        if len(people) > _MOST:
            people = PointSet(people.values[np.sort(rng.choice(len(people), _MOST, replace=False))], people.name)
        self._people, self._rng = people, rng

    def shifts(self, jobs: Sequence[Job]) -> Shifts | None:
        least = min(self._reference, self._size)
        chosen = [job for job in jobs if _simulated(job) and fits_labels(*job, least)]
        shares = np.array([share for share in SHARES if share * self._size >= 1])
        if not chosen or least < _LEAST:
            return None
        names = [
            (row_name(metric.name, output.name), metric.direction) for metric, _ in chosen for output in metric.outputs
        ]
        rows = list(self._rows(shares))
        scored = under_labels(chosen, self._pair(), self._labels(rows), len(rows))
        table = np.stack(
            [np.asarray(of[output.name], float) for (metric, _), of in zip(chosen, scored, strict=True)
             for output in metric.outputs],
            axis=-1,
        )  # fmt: skip
        table = table.reshape(2, _TOPICS, _DRAWS, 1 + len(shares), len(names))
        moved = _without_noise(table[:, :, :, 1:] - table[:, :, :, :1])
        # What damage adds to the variance of a mean falls with the number of texts.
        added = _added(table) * self._size / self._whole
        return Shifts(
            tuple(name for name, _ in names),
            tuple(direction for _, direction in names),
            shares,
            {LOST: moved[0], FOREIGN: moved[1]},
            {LOST: added[0], FOREIGN: added[1]},
            # Texts of a topic that is lost are in no resample.
            {LOST: np.zeros(moved.shape[2:]), FOREIGN: _mixed(moved[1].mean(axis=0), shares) / self._whole},
        )

    def _pair(self) -> Pair:
        values, half = self._people.values, len(self._people) // 2
        return Pair(*(PointSet(values[rows], self._people.name) for rows in (slice(half), slice(half, None))))

    def _rows(self, shares: np.ndarray) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        """(reference, system) of every draw of every topic, for either kind: undamaged, then damaged more and more."""
        topics = self._topics()
        for damaged in (self._losing, self._straying):
            for near in topics:
                for _ in range(_DRAWS):
                    yield from damaged(self._rng.permutation(len(self._people)), near, shares)

    def _losing(
        self, order: np.ndarray, near: np.ndarray, shares: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        reference, rest = order[: self._reference], order[self._reference :]
        yield reference, rest[: self._size]
        place = np.empty(len(near), int)
        place[near] = np.arange(len(near))
        for share in shares:
            yield reference, rest[place[rest] >= share * len(near)][: self._size]

    def _straying(
        self, order: np.ndarray, near: np.ndarray, shares: np.ndarray
    ) -> Iterator[tuple[np.ndarray, np.ndarray]]:
        topic = near[: int(np.ceil(shares[-1] * self._size))]
        foreign = np.zeros(len(near), bool)
        foreign[topic] = True
        own, others = order[~foreign[order]], order[foreign[order]]
        reference, rest = own[: self._reference], own[self._reference :]
        yield reference, rest[: self._size]
        for share in shares:
            count = round(share * self._size)
            yield reference, np.concatenate([rest[: self._size - count], others[:count]])

    def _topics(self) -> list[np.ndarray]:
        """All texts in order of their distance from one of them, for each topic."""
        values, count = self._people.values, len(self._people)
        seeds = self._rng.choice(count, min(_TOPICS, count), replace=False)
        seeds = np.resize(seeds, _TOPICS)
        centres = np.asarray(values[np.sort(seeds)], np.float64)[np.argsort(np.argsort(seeds, kind="stable"))]
        squares = np.empty((_TOPICS, count))
        for start in range(0, count, _MOST_SPARSE):
            rows = np.asarray(values[start : start + _MOST_SPARSE], np.float64)
            squares[:, start : start + len(rows)] = (rows**2).sum(axis=1) - 2 * centres @ rows.T
        return list(np.argsort(squares, axis=1, kind="stable"))

    def _labels(self, rows: Sequence[tuple[np.ndarray, np.ndarray]]) -> Iterator[Labels]:
        for start in range(0, len(rows), _BLOCK):
            block = rows[start : start + _BLOCK]
            flags = np.zeros((2, len(block), len(self._people)), bool)
            for row, sides in enumerate(block):
                for side, places in enumerate(sides):
                    flags[side, row, places] = True
            yield Labels(*flags)


def _without_noise(moved: np.ndarray) -> np.ndarray:
    """(kinds, topics, shares, numbers) from (kinds, topics, draws, shares, numbers): what damage does, topic by topic.

    Means of few draws are rough, and of many rough numbers some stand out by chance. So topics are drawn together by as
    much of what is between them as draws of one topic explain (James and Stein 1961).
    """
    topics, noise = moved.mean(axis=2), moved.var(axis=2, ddof=1).mean(axis=1, keepdims=True) / moved.shape[2]
    middle, between = topics.mean(axis=1, keepdims=True), topics.var(axis=1, ddof=1, keepdims=True)
    with np.errstate(divide="ignore", invalid="ignore"):
        real = np.clip(1 - noise / between, 0.0, 1.0)
    settled: np.ndarray = middle + np.where(between > 0, real, 0.0) * (topics - middle)
    return settled


def _added(table: np.ndarray) -> np.ndarray:
    """(kinds, shares, numbers) from (kinds, topics, draws, undamaged and shares, numbers): variance over draws of one
    topic, damaged less undamaged. Numbers that are near their best for texts like people's hardly vary there.
    """
    variance = table.var(axis=2, ddof=1).mean(axis=1)
    usual = variance[:, :1].mean(axis=0, keepdims=True)
    added: np.ndarray = np.maximum(0.0, variance[:, 1:] - usual)  # damage does not make numbers vary less
    return added


def _mixed(moved: np.ndarray, shares: np.ndarray) -> np.ndarray:
    """(shares, numbers) the variance of one text: by how much a number moves with the share of damaged texts, which
    resampled texts have by chance.
    """
    slope = np.gradient(np.vstack([np.zeros_like(moved[:1]), moved]), np.append(0.0, shares), axis=0)[1:]
    mixed: np.ndarray = slope**2 * (shares * (1 - shares))[:, None]
    return mixed


def _smallest(
    shifts: Shifts,
    kind: str,
    found: FoundIn,
    scale: np.ndarray,
    shown: Sequence[str],
    seed: int,
) -> Smallest:
    moved = shifts.by_kind[kind]
    none = np.zeros(moved.shape[1:])
    added = shifts.chance.get(kind, none), shifts.mixture.get(kind, none)
    power = np.array([[found(*each) for each in zip(topic, *added, strict=True)] for topic in moved])
    share = _crossing(power.mean(axis=0), shifts.shares)
    if share is None:
        return Smallest(None, None, None)
    rng = np.random.default_rng([seed, _RANGE])
    drawn = rng.integers(0, len(power), (_RESAMPLES, len(power)))
    again = sorted(_crossing(power[topics].mean(axis=0), shifts.shares) or np.inf for topics in drawn)
    low, high = again[_RESAMPLES // 10], again[-_RESAMPLES // 10]
    if np.isinf(high):  # other topics would not have been found: what these say is luck
        return Smallest(None, None, None)
    changes = np.array([np.interp(share, shifts.shares, column) for column in moved.mean(axis=0).T])
    places = [place for place, name in enumerate(shifts.names) if name in shown] or list(range(len(shifts.names)))
    best = max(places, key=lambda place: abs(changes[place]) / scale[place] if scale[place] > 0 else 0.0)
    return Smallest(share, low, high, shifts.names[best], float(changes[best]))


def _crossing(power: np.ndarray, shares: np.ndarray) -> float | None:
    """Where the share of cases in which damage is found first reaches `FOUND`, between the shares that were tried."""
    rising = np.maximum.accumulate(power)
    reached = np.flatnonzero(rising >= FOUND)
    if not len(reached):
        return None
    at = int(reached[0])
    if at == 0:
        return float(shares[0])
    below, above = rising[at - 1], rising[at]
    part = (FOUND - below) / (above - below)
    return float(np.exp(np.log(shares[at - 1]) + part * np.log(shares[at] / shares[at - 1])))
