"""Evidence about systems that answer the same items: aligned texts, or contexts.

Every number is a formula of sums over items (a mean, corpus BLEU, chrF, ...). So a corpus in which two systems' outputs
have changed places at some items, and a corpus of items drawn with repeats, are sums of the same rows with other
weights: all of them are matrix products over one table of counts.

- swaps: at every item (or whole group of items) the outputs of A and B change places or not, by a fair coin; all ways
  where they are few (Noreen 1989, Computer Intensive Methods for Testing Hypotheses: approximate randomisation);
- bootstrap: as many items (or groups) as there are, drawn with repeats (Koehn 2004, Statistical Significance Tests for
  Machine Translation Evaluation); deviations are stretched by sqrt(n / (n - 1)), for a bootstrap's spread is too small
  by that.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import InputError
from ..geometry.parallel import blocks
from ..labellings.plans import BLOCK_CELLS
from ..progress import Progress
from ..report.report import percent, short_p
from .evidence import Evidence, PairOfSystems, enough_labellings, pairs_of, smallest_adjusted

RESAMPLES = 1000
LEAST = 2
"""Items or groups without which nothing can be told."""
_SWAPPED, _DRAWN = 11, 12
"""Streams of random numbers."""
_MOST_DIFFERENCES, _AT_ONCE = 1 << 24, 1 << 21
"""Differences under swaps, of some pairs of systems, that are held together (128 MB); coins and sums, likewise (16)."""
_ROUNDING = 1e-12
"""Of a sum's largest part: what the order of adding up may change."""


@dataclass(frozen=True)
class ItemNumber:
    """One number of every system, as a formula of sums over items."""

    name: str
    direction: str
    items: Mapping[str, np.ndarray]
    """By system: (items, columns) what each item adds to every sum"""
    formula: Callable[[np.ndarray], np.ndarray]
    """(corpora, columns) -> (corpora,)"""
    main: bool = True
    """Whether tables show it."""
    widest: float = math.inf
    """The largest difference that its range leaves room for."""


def mean_number(
    name: str,
    direction: str,
    scores: Mapping[str, np.ndarray],
    main: bool = True,
    within: tuple[float, float] = (-math.inf, math.inf),
) -> tuple[ItemNumber | None, str]:
    """The mean over the items that all systems have a score for, and what there is to say about the others."""
    table = np.stack([np.asarray(scores[system], np.float64) for system in scores])
    known = np.asarray(~np.isnan(table).any(axis=0))
    if not np.isfinite(table[:, known]).all():
        return None, f"{name} has infinite scores: no difference was looked at"
    if not known.any():
        return None, f"{name} has no item that all systems have a score for: no difference was looked at"
    left = np.count_nonzero(~known)
    said = f"{name}: the {left:,} of {len(known):,} that some system has no score for were left out" if left else ""
    items = {
        system: np.stack([np.where(known, row, 0.0), known.astype(np.float64)], axis=1)
        for system, row in zip(scores, table, strict=True)
    }
    return ItemNumber(name, direction, items, _mean, main, within[1] - within[0]), said


def _mean(sums: np.ndarray) -> np.ndarray:
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.asarray(sums[:, 0] / sums[:, 1])


@dataclass(frozen=True)
class Swapped:
    """How the swaps were made."""

    labellings: int
    """Beside the observed one."""
    exact: bool
    """Whether these are all there are."""


class ItemSystems:
    """Several systems on the same items."""

    def __init__(
        self,
        numbers: Sequence[ItemNumber],
        order: Sequence[int],
        groups: Sequence[Any] | None,
        seed: int,
        unit: str,
    ) -> None:
        """order: the items in order of content, so that draws do not depend on how they were listed; groups: one label
        for each item; unit: what messages call an item.
        """
        self.numbers, self.seed, self.unit = list(numbers), seed, unit
        self.systems = list(self.numbers[0].items)
        self.used = [place for place in order if self._adds(place)]
        """The items that any number counts."""
        self.items = len(self.used)
        # Groups are numbered by what they hold: the first item of each, in order of content.
        known: dict[Any, int] = {}
        code = np.array(
            [known.setdefault(place if groups is None else groups[place], len(known)) for place in self.used]
        )
        self.units, self.grouped = len(known), groups is not None
        if self.units < LEAST:
            raise InputError(
                f"all {self.items:,} {unit}s are of one group: nothing can be swapped or drawn; is it the right field?"
                if self.grouped
                else f"{self.items} {unit}s can be compared: it takes two at least"
            )
        self._columns: list[slice] = []
        start = 0
        for number in self.numbers:
            width = next(iter(number.items.values())).shape[1]
            self._columns.append(slice(start, start + width))
            start += width
        self._tables = {system: np.zeros((self.units, start)) for system in self.systems}
        for number, columns in zip(self.numbers, self._columns, strict=True):
            for system in self.systems:
                np.add.at(self._tables[system][:, columns], code, number.items[system][self.used])
        tables = list(self._tables.values())
        self._moving = np.flatnonzero(np.any([table != tables[0] for table in tables[1:]], axis=(0, 2)))
        """Where the systems differ: swapping equal outputs changes nothing."""

    def _adds(self, place: int) -> bool:
        return any(items[place].any() for number in self.numbers for items in number.items.values())

    # What the systems score

    def values(self) -> dict[str, np.ndarray]:
        """(numbers,) by system"""
        sums = {
            system: np.array([[math.fsum(column) for column in table.T.tolist()]])
            for system, table in self._tables.items()
        }
        return {system: self._numbers(each)[:, 0] for system, each in sums.items()}

    def _numbers(self, sums: np.ndarray) -> np.ndarray:
        """(numbers, corpora) of sums (corpora, columns)."""
        return np.stack(
            [number.formula(sums[:, columns]) for number, columns in zip(self.numbers, self._columns, strict=True)]
        )

    # Swaps

    def plan(self, level: float) -> Swapped:
        """All ways to swap where they are few: of two that are each other's mirror, one."""
        wanted = enough_labellings(len(pairs_of(self.systems)), level)
        every = 1 << max(0, len(self._moving) - 1)
        return Swapped(every - 1, True) if every <= wanted + 1 else Swapped(wanted, False)

    def _swaps(self, plan: Swapped) -> Iterator[np.ndarray]:
        """Blocks of (labellings, units where systems differ): whether two systems change places; first, nowhere."""
        rng = np.random.default_rng([self.seed, _SWAPPED])
        rows, units = plan.labellings + 1, len(self._moving)
        block = max(1, BLOCK_CELLS // max(1, units))
        for start in range(0, rows, block):
            count = min(block, rows - start)
            if plan.exact:
                numbers = np.arange(start, start + count)[:, None]
                # The last unit stays where it is: the mirror of every labelling has the same difference, turned.
                swapped = (numbers >> np.arange(units)) & 1 == 1
            else:
                swapped = rng.integers(0, 2, (count, units), np.int8) == 1
                if start == 0:
                    swapped[0] = False
            yield swapped

    def signs(self, plan: Swapped) -> np.ndarray:
        """(labellings,) the mean over units of -1 where they are swapped and 1 where they stay."""
        units = max(1, len(self._moving))
        return np.concatenate([1 - 2 * swapped.sum(axis=1) / units for swapped in self._swaps(plan)])

    # Resamples

    def _weights(self) -> Iterator[np.ndarray]:
        """Blocks of (resamples, units): how often each was drawn."""
        rng = np.random.default_rng([self.seed, _DRAWN])
        block = max(1, BLOCK_CELLS // self.units)
        for start in range(0, RESAMPLES, block):
            count = min(block, RESAMPLES - start)
            yield np.stack(
                [np.bincount(rng.integers(0, self.units, self.units), minlength=self.units) for _ in range(count)]
            )

    def resampled(self) -> dict[str, np.ndarray]:
        """(numbers, resamples) by system; all systems meet the same items."""
        parts: dict[str, list[np.ndarray]] = {system: [] for system in self.systems}
        for weights in self._weights():
            drawn = weights.astype(np.float64)
            for system, table in self._tables.items():
                parts[system].append(self._numbers(drawn @ table))
        return {system: np.concatenate(each, axis=1) for system, each in parts.items()}

    # All of it

    def evidence(self, level: float) -> dict[PairOfSystems, Evidence]:
        """Of all pairs of systems at once."""
        return self._evidence(pairs_of(self.systems), level, self.values(), self.resampled())

    def evidence_by_parts(self, level: float) -> Iterator[dict[PairOfSystems, Evidence]]:
        """Of some pairs of systems after others: what many pairs find under many swaps would fill the memory."""
        pairs, values, resampled = pairs_of(self.systems), self.values(), self.resampled()
        at_once = max(1, _MOST_DIFFERENCES // (len(self.numbers) * (self.plan(level).labellings + 1)))
        for part in blocks(len(pairs), at_once):
            yield self._evidence(pairs[part], level, values, resampled)

    def _evidence(
        self,
        pairs: Sequence[PairOfSystems],
        level: float,
        values: Mapping[str, np.ndarray],
        resampled: Mapping[str, np.ndarray],
    ) -> dict[PairOfSystems, Evidence]:
        plan = self.plan(level)
        nulls = {pair: np.empty((len(self.numbers), plan.labellings + 1)) for pair in pairs}
        totals = {system: table.sum(axis=0) for system, table in self._tables.items()}
        named = list(dict.fromkeys(name for pair in pairs for name in pair))
        columns = sum(part.stop - part.start for part in self._columns)
        rows = max(1, _AT_ONCE // max(len(self._moving), len(named) * columns))
        done = 0
        with Progress("swaps", plan.labellings + 1, "labelling") as progress:
            for block in self._swaps(plan):
                for part in blocks(len(block), rows):
                    coins = block[part].astype(np.float64)
                    now = slice(done, done + len(coins))
                    moved = {system: coins @ self._tables[system][self._moving] for system in named}
                    for a, b in pairs:
                        change = moved[b] - moved[a]
                        first, second = self._numbers(totals[a] + change), self._numbers(totals[b] - change)
                        nulls[a, b][:, now] = first - second
                    done += len(coins)
                progress.advance(len(block))
        stretch = math.sqrt(self.units / (self.units - 1))
        scale = np.array([self._scale(number) for number in self.numbers])
        found = {}
        for a, b in pairs:
            observed = values[a] - values[b]
            drawn = resampled[a] - resampled[b]
            # A resample without any item that has a score says nothing: it stands where the whole does.
            drawn = np.where(np.isnan(drawn), observed[:, None], drawn)
            found[a, b] = Evidence(
                observed,
                observed[:, None] + stretch * (drawn - observed[:, None]),
                nulls[a, b],
                np.zeros(len(observed)),
                _ROUNDING * scale,
                self.units - 1,
                mirrored=True,
            )
        return found

    def _scale(self, number: ItemNumber) -> float:
        """How large the numbers are that are added up to one of this size."""
        sums = [np.abs(items).sum(axis=0, keepdims=True) for items in number.items.values()]
        return max(float(np.abs(number.formula(each))[0]) for each in sums)

    def settings(self, level: float, interval: float) -> dict[str, Any]:
        """How it was made, and what tables say of that."""
        plan, pairs = self.plan(level), len(pairs_of(self.systems))
        smallest = smallest_adjusted(pairs, plan.labellings)
        what = f"groups of {self.unit}s" if self.grouped else f"{self.unit}s"
        how = f"all {plan.labellings + 1:,} ways to swap" if plan.exact else f"{plan.labellings:,} random swaps of"
        where = f"{len(self._moving):,} {what}" + (" where they differ" if len(self._moving) < self.units else "")
        across = f", {pairs} pairs of systems by Holm" if pairs > 1 else ""
        return {
            "size": self.items,
            "unit": f"{self.unit}s",
            "groups": self.units if self.grouped else None,
            "interval": interval,
            "resamples": RESAMPLES,
            "labellings": plan.labellings,
            "differ": len(self._moving),
            "exact": plan.exact,
            "seed": self.seed,
            "smallest_adjusted": smallest,
            "said": [
                f"value: the first less the second; [low, high]: {percent(interval)} interval from the spread over "
                f"{RESAMPLES:,} bootstrap resamples of {self.units:,} {what} (seed {self.seed})",
                f"p: of being equally close to people; p alike: of writing alike, by {how} the two systems' outputs at "
                f"{where}; p adjusted: for all numbers by Westfall-Young's max-T{across}; the smallest "
                f"there can be: {short_p(smallest)}",
            ],
        }


def order_of(references: Sequence[Sequence[str]], systems: Mapping[str, Sequence[Any]]) -> list[int]:
    """Items in order of content: neither how they are listed nor how systems are named or listed decides what is drawn.

    Where references are equal, systems' texts decide, those of the first system first: systems are in order of content,
    too, that of all their items.
    """
    of_items = [sorted(each) for each in references]
    texts = {name: [texts_at(own, place) for place in range(len(references))] for name, own in systems.items()}
    names = sorted(systems, key=lambda name: sorted(zip(of_items, texts[name], strict=True)))
    return sorted(range(len(references)), key=lambda place: (of_items[place], [texts[name][place] for name in names]))


def texts_at(system: Sequence[Any], place: int) -> list[str]:
    """What a system has written for an item, in an order that does not depend on how it was listed."""
    return [system[place]] if isinstance(system[place], str) else sorted(system[place])


def check_systems(systems: Any, what: str) -> dict[str, Any]:
    """Two systems or more, by name."""
    if not isinstance(systems, Mapping) or len(systems) < 2:
        raise InputError(f"systems must be a mapping with two systems or more, {{name: {what}}}")
    named = {str(name): given for name, given in systems.items()}
    if len(named) < len(systems):
        raise InputError("two systems have the same name")
    return named
