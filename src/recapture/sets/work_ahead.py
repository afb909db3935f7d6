"""How long work on sets will take here, how much memory and disk: from the same work on a few samples.

The call itself is made on small parts of the sets, twice as large each time, for a few seconds in all: for each group
of metrics that share their work, where the time grows most. What the seconds are at the whole size follows from a sum
of a constant, a linear and a quadratic term, none of them below 0. So whatever a metric does is in it, human parts,
labellings and half-samples included, and nothing has to be told here about any of them. Texts are encoded for a second
or two; vectors between those of such texts stand for the rest.
"""

from __future__ import annotations

import os
import time
import tracemalloc
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from ..geometry.devices import accelerator_for
from ..geometry.parallel import engine_options
from ..progress import span
from ..representations.vectors import holds_texts
from ..texts.copies import copies
from ..texts.sampling import sample_places
from .declaration import METRICS, SetMetric
from .given_sets import GivenSets
from .human import MOST_CLUSTERED, SPLITS

Clock = Callable[[], float]

COPIES = "copies and repeats"
"""What finding these takes; plans do not look for them."""
_FIRST = 64
"""Samples a side of the first measurement; the second has twice as many."""
_LEAST, _SHARE, _MOST = 4.0, 0.08, 20.0
"""Seconds of measuring: at least the first, of long work that share, never more than the last."""
_ENCODING = 1.5
"""Seconds of encoding."""
_TRACED = (512, 1536)
"""Samples a side at which memory is measured, where that takes a second at most."""
_TILES = 300e6
"""Bytes that tiles of pairs take at most, about."""
_BY_DIMENSIONS = ("frechet",)
"""Metrics of covariances: with more samples than twice their dimensions time grows as these do, not faster."""
_AT_ONCE = 32
"""Texts encoded between two looks at the clock."""
_WAITING = 0.2
"""Share of processor time in a run's time below which the run waited for a device."""
CACHE_ROW = 96
"""Bytes of the cache for a text, beside its vector."""


@dataclass
class Growth:
    """What was measured at growing sizes, and what follows for others."""

    sizes: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)

    def add(self, size: int, value: float) -> None:
        self.sizes.append(size)
        self.values.append(max(value, 1e-6))

    def at(self, size: int) -> float:
        """From the last three: earlier ones are of sizes at which other work was the most."""
        sizes, values = np.array(self.sizes[-3:], float), np.array(self.values[-3:])
        if not len(sizes):
            return 0.0
        if len(sizes) == 1:  # something between linear and quadratic
            return float(values[0] * (size / sizes[0]) ** 1.5)
        terms = np.stack([np.ones_like(sizes), sizes, sizes**2], axis=1)
        return float(not_below_0(terms / values[:, None], np.ones(len(values))) @ np.array([1.0, size, size**2]))

    def held_at(self, size: int) -> float:
        """Of memory: beyond the tiles that work goes by, none of it grows as the pairs do."""
        return min(self.at(size), self.values[-1] * size / self.sizes[-1] + _TILES) if self.sizes else 0.0


def not_below_0(rows: np.ndarray, wanted: np.ndarray) -> np.ndarray:
    """Factors of the columns, none below 0, with the least squares; of few columns all choices are tried."""
    best, least = np.zeros(rows.shape[1]), np.inf
    for count in range(1, rows.shape[1] + 1):
        for chosen in map(list, combinations(range(rows.shape[1]), count)):
            factors, *_ = np.linalg.lstsq(rows[:, chosen], wanted, rcond=None)
            error = float(((rows[:, chosen] @ factors - wanted) ** 2).sum())
            if (factors >= 0).all() and error < least * (1 - 1e-9):
                best, least = np.zeros(rows.shape[1]), error
                best[chosen] = factors
    return best


class Roles(NamedTuple):
    """What a function calls the reference, the candidates and the candidates' groups."""

    reference: str
    candidates: str
    groups: str


class SetCall:
    """A call of `evaluate` or `compare`, and the same call on parts of its sets."""

    def __init__(self, function: Callable[..., Any], roles: Roles, arguments: Mapping[str, Any]) -> None:
        self.function, self.roles = function, roles
        self.arguments = {**arguments, "budget": None}
        human = arguments.get("human")
        given = GivenSets.of(arguments[roles.reference], arguments[roles.candidates], human, "reference")
        self.samples = given.samples
        self.names = given.candidates
        self.counts = [size for _, size in given.sizes]
        self.has_texts = holds_texts(given.samples[0])
        self._human = human is not None

    @property
    def size(self) -> int:
        """Of the largest set."""
        return max(self.counts)

    def cut(self, size: int, samples: Sequence[Any] | None = None, **other: Any) -> dict[str, Any]:
        """The arguments with at most so many samples of each set. samples: other sets in the place of these."""
        seed = int(self.arguments.get("seed") or 0)
        places = [sample_places(count, size, seed) for count in self.counts]
        taken = [_taken(own, at) for own, at in zip(self.samples, places, strict=True)] if samples is None else samples
        first = 2 if self._human else 1
        changed: dict[str, Any] = {self.roles.reference: taken[0]}
        changed[self.roles.candidates] = dict(zip(self.names, taken[first:], strict=True))
        if self._human:
            changed["human"] = taken[1]
        of_candidates = self.arguments.get(self.roles.groups)
        if of_candidates is not None:
            own = of_candidates if isinstance(of_candidates, Mapping) else dict.fromkeys(self.names, of_candidates)
            changed[self.roles.groups] = {
                name: _taken(own[name], places[first + at]) for at, name in enumerate(self.names) if name in own
            }
        for name, place in (("reference_groups", 0), ("human_groups", 1)):
            if self.arguments.get(name) is not None:
                changed[name] = _taken(self.arguments[name], places[place])
        return {**self.arguments, **changed, **other}

    def groups(self, usual: Sequence[str] | None) -> dict[str, dict[str, Any]]:
        """Arguments that ask for some of the metrics, by what they are called; metrics of neighbourhoods share one
        search, so they stay together. usual: the metrics where none are named (None: all)."""
        named = self.arguments.get("metrics")
        chosen = METRICS.choose(usual if named is None else named)
        together = [metric for metric in chosen if metric.uses_neighbours]
        # Systems are compared without labellings of costly metrics only where others have some.
        costly = [metric for metric in chosen if metric.costly_labellings and "level" in self.arguments]
        others = [metric for metric in chosen if metric not in (*together, *costly)]
        sets: list[list[SetMetric]] = [[metric] for metric in others]
        if costly and (sets or together):
            (sets[-1] if sets else together).extend(costly)
        else:
            sets += [[metric] for metric in costly]
        return {
            ", ".join(metric.name for metric in group): self._asking(group)
            for group in ([together] if together else []) + sets
        }

    def _asking(self, group: Sequence[SetMetric]) -> dict[str, Any]:
        names = [metric.name for metric in group]
        asked: dict[str, Any] = {"metrics": names}
        if not any(metric.uses_neighbours for metric in group):
            asked["k"] = None
        if self.arguments.get("options"):
            asked["options"] = {name: own for name, own in self.arguments["options"].items() if name in names}
        if self.arguments.get("labelled") is not None:
            labelled = self.arguments["labelled"]
            listed = [labelled] if isinstance(labelled, str) else list(labelled)
            asked["labelled"] = [name for name in listed if name in names]
        return asked


def _taken(samples: Any, places: np.ndarray) -> Any:
    if len(places) == len(samples):
        return samples
    if isinstance(samples, np.ndarray) or hasattr(samples, "shape"):
        return samples[places]
    return [samples[place] for place in places.tolist()]


class EncodingAhead:
    """Texts that have to be encoded, and how fast that goes here."""

    def __init__(self, texts: Sequence[str], encoder: Any, encoding: Mapping[str, Any], clock: Clock) -> None:
        from ..representations.encode import encode_rows
        from ..representations.encoder import resolve_encoder
        from ..representations.vector_cache import VectorCache

        options = {name: encoding[name] for name in encoding if name not in ("batch_size", "cache")}
        self.encoder = resolve_encoder(encoder, **options)
        self.counts = getattr(self.encoder, "encode_counts", None) is not None or self.encoder.fit([""]) is not (
            self.encoder
        )
        """Whether it learns, or counts: then it takes as long as reading, and is measured with the rest."""
        distinct = list(dict.fromkeys(texts))
        self.texts, self.distinct = len(texts), len(distinct)
        self.known = 0
        self.loading = self.rate = 0.0
        self.effort = 0
        self.vectors = np.empty((0, 1), np.float32)
        self._kept = False
        if self.counts:
            return
        cache = encoding.get("cache", True)
        store = None
        if cache is not False and self.encoder.cacheable:
            store = cache if isinstance(cache, VectorCache) else VectorCache(None if cache in (True, None) else cache)
        self._kept = store is not None
        missing = distinct
        some: list[np.ndarray] = []
        if store is not None:
            space = self.encoder.identity()
            missing = []
            for start in range(0, len(distinct), 10_000):
                portion = distinct[start : start + 10_000]
                vectors, is_known = store.get(space, portion, noted=False)
                if len(some) < 1 and len(vectors):
                    some.append(vectors[:2000])
                missing += [text for text, there in zip(portion, is_known.tolist(), strict=True) if not there]
        self.known = len(distinct) - len(missing)
        effort = getattr(self.encoder, "effort", lambda text: len(text) // 4 + 1)
        self.effort = sum(map(effort, missing))
        if missing:
            ordered = sorted(missing, key=len)
            begun = clock()
            some.append(np.asarray(encode_rows(ordered[:1], self.encoder, cache=False)))
            self.loading = clock() - begun
            # Texts of all lengths in each batch, the long ones of a few texts included.
            shuffled = [ordered[at] for at in np.random.default_rng(0).permutation(len(ordered)).tolist()]
            done, spent, at = 0, 0.0, 0
            while at < len(shuffled) and spent < _ENCODING:
                portion = sorted(shuffled[at : at + max(_AT_ONCE, at)], key=len)
                begun = clock()
                some.append(np.asarray(encode_rows(portion, self.encoder, cache=False, **self._batch(encoding))))
                took = clock() - begun
                # The first portion warms the machine up.
                done, spent = (sum(map(effort, portion)), took) if not at else (
                    done + sum(map(effort, portion)), spent + took
                )  # fmt: skip
                at += len(portion)
            self.rate = done / max(spent, 1e-6)
        self.vectors = np.concatenate(some)

    @staticmethod
    def _batch(encoding: Mapping[str, Any]) -> dict[str, Any]:
        return {"batch_size": encoding["batch_size"]} if encoding.get("batch_size") else {}

    @property
    def missing(self) -> int:
        return self.distinct - self.known

    def facts(self, share: float = 1.0) -> dict[str, str]:
        """How many texts, how many of them are known, and how fast the others are encoded."""
        known = "none" if not self.known else f"{round(share * self.known):,}"
        told = {"different texts": f"{round(share * self.distinct):,}, {known} of them in the cache"}
        if self.counts:
            told = {"different texts": f"{round(share * self.distinct):,}"}
        if self.rate:
            rate = self.rate * self.missing / max(1, self.effort)
            told["encoder"] = f"{self.encoder.name}, loaded in {said(self.loading)}, then {rate:,.0f} texts a second"
        return told

    def seconds(self, share: float = 1.0) -> float:
        return self.loading + share * self.effort / self.rate if self.rate else 0.0

    def disk(self, share: float = 1.0) -> int:
        return int(share * self.missing * (4 * self.vectors.shape[1] + CACHE_ROW)) if self._kept else 0

    def made(self, count: int, seed: int) -> np.ndarray:
        """Vectors among those that are there: of texts between two of them, about as far from each other."""
        rng = np.random.default_rng(seed)
        one, other, third = self.vectors[rng.integers(len(self.vectors), size=(3, count))]
        return np.asarray(one + 0.5 * (other - third), np.float32)


@dataclass(frozen=True)
class WorkAhead:
    """What a piece of work takes, by its stages."""

    seconds: dict[str, float]
    facts: dict[str, str]
    """What else there is to say, by what it is about."""
    memory: float
    """Bytes at most, about"""
    disk: int
    measured: float
    """Seconds that finding out took"""
    where: str = "in the cache"
    """What the disk keeps, and where"""

    @property
    def total(self) -> float:
        return sum(self.seconds.values())

    @property
    def answer(self) -> str:
        if self.total < 0.01:
            return "This would take no time worth telling."
        longest = max(self.seconds, key=lambda stage: self.seconds[stage])
        most = f", most of it {longest}" if len(self.seconds) > 1 else ""
        return f"This would take about {said(self.total)}{most}."

    def lines(self) -> list[str]:
        """The answer, then everything."""
        rows = {**{stage: said(seconds) for stage, seconds in self.seconds.items()}, **self.facts}
        rows |= {
            "memory": f"about {volume(self.memory)} at most",
            "disk": f"about {volume(self.disk)} {self.where}" if self.disk else "nothing is kept",
        }
        width = max(map(len, rows))
        how = f"Measured here in {said(self.measured)}, on small parts of the sets"
        return [
            self.answer,
            "",
            *(f"  {name:<{width}}  {value}" for name, value in rows.items()),
            "",
            f"{how}: half or twice as long is possible, more beside other programs. Nothing was written.",
        ]

    def record(self) -> dict[str, Any]:
        """The same as numbers, for JSON."""
        return {
            "seconds": round(self.total, 3),
            "stages": {stage: round(seconds, 3) for stage, seconds in self.seconds.items()},
            "memory": round(self.memory),
            "disk": self.disk,
            "measured": round(self.measured, 3),
            "facts": self.facts,
        }


def said(seconds: float) -> str:
    return f"{seconds:.2g} s" if seconds < 10 else span(seconds)


def volume(size: float) -> str:
    for unit in ("bytes", "KB", "MB", "GB", "TB"):
        if size < 1000 or unit == "TB":
            return f"{size:.0f} {unit}" if unit in ("bytes", "KB", "MB") or size >= 10 else f"{size:.1f} {unit}"
        size /= 1000
    raise AssertionError


def encoding_ahead(
    texts: Sequence[str], encoder: Any, encoding: Mapping[str, Any], clock: Clock = time.perf_counter
) -> WorkAhead:
    """What encoding texts into a file takes."""
    from ..representations.encode import encode_rows

    begun = clock()
    ahead = EncodingAhead(texts, encoder, encoding, clock)
    facts = {"texts": f"{ahead.texts:,}", **ahead.facts()}
    seconds, width = ahead.seconds(), ahead.vectors.shape[1]
    if ahead.counts:  # it learns from all texts: what it takes grows with them
        growth = Growth()
        for size in dict.fromkeys(min(each, len(texts)) for each in (500, 1000, 2000)):
            started = clock()
            width = encode_rows(texts[:size], encoder).shape[1]
            growth.add(size, clock() - started)
        seconds = growth.at(len(texts))
    facts["file"] = f"about {volume(4.0 * len(texts) * width)}"
    facts["device"] = device_said(encoding.get("device"), 1)
    memory = resident() + 4.0 * len(texts) * width
    return WorkAhead({"encoding": seconds}, facts, memory, ahead.disk(), clock() - begun)


class _Spent(NamedTuple):
    seconds: float
    work: float
    """Of the processor"""


class SetWork:
    """What a call takes, at whatever size of its sets; all that has to be measured is measured at once.

    usual: the metrics where none are named (None: all). patience: seconds of measuring metrics, about; memory is then
    left out.
    """

    def __init__(
        self,
        call: SetCall,
        usual: Sequence[str] | None = None,
        clock: Clock = time.perf_counter,
        patience: float | None = None,
        work_clock: Clock = time.process_time,
    ) -> None:
        self._call, self._clock, self._patience, self._work_clock = call, clock, patience, work_clock
        begun = clock()
        self._encoding: EncodingAhead | None = None
        if call.has_texts:
            names = ("pooling", "device", "dtype", "batch_size", "offline", "truncate", "cache")
            given = {name: call.arguments[name] for name in names if call.arguments.get(name) not in (None, False)}
            if call.arguments.get("cache") is False:
                given["cache"] = False
            texts = [text for own in call.samples for text in own]
            self._encoding = EncodingAhead(texts, call.arguments.get("encoder"), given, clock)
        self._by_vectors = self._encoding is not None and not self._encoding.counts
        self._seconds = {name: Growth() for name in call.groups(usual)}
        self._slower = dict.fromkeys(self._seconds, 1.0)
        self._parts = dict.fromkeys(self._seconds, 0.0)
        """How many parts of sets are measured one by one, in units of one measurement of their size."""
        self._memory = {name: Growth() for name in self._seconds}
        self._asked = call.groups(usual)
        self._copies = Growth()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            self._measure()
        self.measured = clock() - begun

    @property
    def size(self) -> int:
        """Of the largest set."""
        return self._call.size

    @property
    def learns(self) -> bool:
        """Whether the encoder learns from the texts, or counts their words."""
        return self._encoding is not None and self._encoding.counts

    def at(self, size: int) -> WorkAhead:
        """With at most so many samples of each set."""
        call = self._call
        share = sum(min(size, count) for count in call.counts) / sum(call.counts)
        size = min(size, call.size)
        stages: dict[str, float] = {}
        facts: dict[str, str] = {}
        every = ", ".join(f"{min(size, count):,}" for count in call.counts)
        unit = "texts" if call.has_texts else "vectors"
        facts[unit] = f"{every} (reference, candidates)" if len(call.counts) > 1 else every
        disk = 0
        if self._by_vectors and self._encoding is not None:
            encoding = self._encoding
            stages["encoding"] = encoding.seconds(share)
            stages[COPIES] = self._copies.at(size)
            disk = encoding.disk(share)
            facts |= encoding.facts(share)
        stages |= {name: self._foretold(name, size) for name in self._seconds}
        dimensions = self.dimensions
        vectors = 4 * dimensions * sum(min(size, count) for count in call.counts)
        memory = resident() + vectors + max(growth.held_at(size) for growth in self._memory.values())
        facts |= self._drawn()
        facts["device"] = device_said(call.arguments.get("device"), size)
        return WorkAhead(stages, facts, memory, disk, self.measured)

    def _drawn(self) -> dict[str, str]:
        """How often sets are drawn or shared out anew."""
        given = self._call.arguments
        drawn = []
        ceiling = given.get("ceiling", True)
        if ceiling is not False and ceiling != 0:
            drawn.append(f"{SPLITS if ceiling is True else ceiling} splits for human parts")
        if "level" in given:
            drawn.append("200 half-samples and 999 labellings or more for each pair of systems")
        else:
            pvalue = given.get("pvalue")
            if pvalue is not None and pvalue is not False:
                drawn.append(f"{pvalue:,} labellings" if type(pvalue) is int else "999 labellings, or all of them")
            if given.get("interval"):
                drawn.append("200 half-samples")
        return {"drawn": ", ".join(drawn)} if drawn else {}

    @property
    def dimensions(self) -> int:
        """Of the vectors; 0 where they are not known before all texts are."""
        if self._by_vectors and self._encoding is not None:
            return int(self._encoding.vectors.shape[1])
        shape = getattr(self._call.samples[0], "shape", (0, 0))
        return int(shape[1]) if len(shape) > 1 else 0

    def _arguments(self, name: str, size: int) -> dict[str, Any]:
        if not self._by_vectors or self._encoding is None:
            return self._call.cut(size, **self._asked[name])
        counts = [min(size, count) for count in self._call.counts]
        made = [self._encoding.made(count, seed) for seed, count in enumerate(counts)]
        plain = {"encoder": None, "pooling": None, "dtype": None, "batch_size": None, "truncate": False}
        known = {option: value for option, value in plain.items() if option in self._call.arguments}
        return self._call.cut(size, made, **self._asked[name], **known)

    def _run(self, name: str, size: int) -> None:
        result = self._call.function(**self._arguments(name, size))
        _ = result.verdict  # which tables begin with

    def _measure(self) -> None:
        spent = self._first_measures()
        open_still = set(self._seconds)
        while open_still:
            whole = {name: self._foretold(name, self._call.size) for name in self._seconds}
            most = min(_MOST, max(_LEAST, _SHARE * sum(whole.values())))
            left = (most if self._patience is None else min(most, self._patience)) - spent
            name = max(open_still, key=lambda name: whole[name])
            following = min(2 * self._seconds[name].sizes[-1], self._call.size)
            if following == self._seconds[name].sizes[-1] or self._alone(name, following) > left:
                open_still.discard(name)
                continue
            spent += self._timed(name, following)

    def _first_measures(self) -> float:
        spent = 0.0
        for name in self._seconds:
            spent += self._first(name, min(_FIRST, self._call.size))
            size = self._seconds[name].sizes[0]
            if size < self._call.size and spent < (self._patience or _MOST):
                spent += self._timed(name, min(2 * size, self._call.size))
            for traced in dict.fromkeys(min(each, self._call.size) for each in (size, *_TRACED)):
                if self._patience is None and self._foretold(name, traced) < _LEAST / 4:
                    self._memory[name].add(traced, traced_peak(lambda: self._run(name, traced)))  # noqa: B023
        if self._by_vectors:
            for size in dict.fromkeys(min(each, self._call.size) for each in (250, 500, 1000)):
                given = self._call.cut(size)
                begun = self._clock()
                reference, candidates = given[self._call.roles.reference], given[self._call.roles.candidates]
                copies(list(reference), {name: list(own) for name, own in candidates.items()})
                self._copies.add(size, self._clock() - begun)
        return spent

    def _count_parts(self, name: str) -> float:
        """Metrics that cluster are measured anew for every part of a set, whose size has a limit."""
        asked = self._call.arguments.get("ceiling", True)
        if asked is False or asked == 0 or not METRICS.find(self._asked[name]["metrics"][0]).depends_on_pool:
            return 0.0
        size = min(4 * _FIRST, self._call.size)
        whole = self._worked(name, size)
        self._asked[name] = {**self._asked[name], "ceiling": False, "human": None, "human_groups": None}
        alone = [self._worked(name, each) for each in (size, max(size // 2, 1))]
        self._parts[name] = max(0.0, whole.work - alone[0].work) / max(alone[1].work, 1e-6)
        return sum(each.seconds for each in (whole, *alone))

    def _first(self, name: str, size: int) -> float:
        try:
            self._run(name, size)  # libraries load
            return self._count_parts(name) + self._timed(name, size)
        except InputError:  # too few samples for a metric, perhaps
            if size == self._call.size:
                raise
            return self._first(name, min(2 * size, self._call.size))

    def _foretold(self, name: str, size: int) -> float:
        growth = self._seconds[name]
        if name in _BY_DIMENSIONS and size > (enough := 2 * self.dimensions) > 0:
            return self._slower[name] * min(growth.at(size), growth.at(enough) * size / enough)
        parts = self._parts[name] * growth.at(min(size // 2, MOST_CLUSTERED)) if self._parts[name] else 0.0
        return self._slower[name] * (growth.at(size) + parts)

    def _alone(self, name: str, size: int) -> float:
        """Seconds of one more measurement, which is without parts."""
        return self._slower[name] * self._seconds[name].at(size)

    def _timed(self, name: str, size: int) -> float:
        """How work grows is seen in processor time, which other programs hardly change; how long it takes, in time."""
        spent = self._worked(name, size)
        self._seconds[name].add(size, spent.work)
        self._slower[name] = spent.seconds / max(spent.work, 1e-6)
        return spent.seconds

    def _worked(self, name: str, size: int) -> _Spent:
        begun, work_begun = self._clock(), self._work_clock()
        self._run(name, size)
        took, worked = self._clock() - begun, self._work_clock() - work_begun
        return _Spent(took, took if worked < _WAITING * took else worked)


def traced_peak(work: Callable[[], Any]) -> float:
    """Bytes that work holds at most, beyond what was there."""
    already = tracemalloc.is_tracing()
    if not already:
        tracemalloc.start()
    try:
        tracemalloc.reset_peak()
        before = tracemalloc.get_traced_memory()[0]
        work()
        return float(tracemalloc.get_traced_memory()[1] - before)
    finally:
        if not already:
            tracemalloc.stop()


def resident() -> int:
    """Bytes of memory that this process has now; 0 where the system does not say."""
    try:
        return int(Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")
    except (OSError, ValueError, IndexError):
        return 0


def device_said(asked: Any, size: int) -> str:
    threads = engine_options().thread_count()
    there = accelerator_for(size, size)
    cores = f"{threads} thread{'s' if threads > 1 else ''}"
    return str(there) if there is not None else f"{asked if asked not in (None, 'auto') else 'cpu'}, {cores}"
