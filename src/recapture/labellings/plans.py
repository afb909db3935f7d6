"""Which labellings of pooled samples to look at: all of them, a seeded sample, half-samples."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..checks import check_seed, is_whole, plain_value
from ..errors import InputError, shown
from ..geometry.labels import Labels

Pvalue = bool | int | Literal["exact", "sampled", "analytic"]
"""What callers may ask for: see `plan`."""
EXACT_LIMIT = 200_000
"""Up to this many partitions (10 v 10 has 184,756) all are looked at unless the caller says otherwise."""
DEMANDED_LIMIT = 20_000_000
"""More than this is refused even where the caller asks for it."""
BLOCK_CELLS = 1 << 24
"""Entries of one block of labels: what bounds memory."""


@dataclass(frozen=True)
class Plan:
    """The labellings of one test. The observed one always comes first."""

    references: int
    candidates: int
    exact: bool
    rows: int
    """How many labellings will be looked at, the observed one included."""
    partitions: int
    """How many there are."""
    seed: int | None
    symmetric: bool

    def blocks(self, at_most: int | None = None) -> Iterator[Labels]:
        """The labellings in blocks of bounded size."""
        size = max(1, min(self.rows, BLOCK_CELLS // (self.references + self.candidates), at_most or self.rows))
        return self._enumerated(size) if self.exact else self._sampled(size)

    def _enumerated(self, size: int) -> Iterator[Labels]:
        if self.rows <= min(size, EXACT_LIMIT):
            yield _every(self.references, self.candidates, self.symmetric)
            return
        combinations = _combinations(self.references, self.candidates, self.symmetric)
        while chosen := list(itertools.islice(combinations, size)):
            yield _from_candidates(np.array(chosen, dtype=np.intp), self.references + self.candidates)

    def _sampled(self, size: int) -> Iterator[Labels]:
        rng = np.random.default_rng(self.seed)
        total = self.references + self.candidates
        observed = np.zeros((1, total), dtype=bool)
        observed[0, self.references :] = True
        left = self.rows
        while left:
            count = min(size, left)
            fresh = count - (left == self.rows)
            drawn = rng.permuted(np.broadcast_to(observed, (fresh, total)), axis=1)
            candidate = np.concatenate([observed, drawn]) if fresh < count else drawn
            yield Labels(~candidate, candidate)
            left -= count


def plan(
    references: int,
    candidates: int,
    *,
    pvalue: Pvalue = True,
    samples: int = 9_999,
    seed: int = 0,
    symmetric: bool = False,
) -> Plan:
    """What `pvalue=` asks for: True picks all partitions where they are few enough, else `samples` seeded ones; a
    number asks for that many, or all where there are no more; "exact" or "sampled" decides.

    symmetric: the statistic does not change when the two sides change places, so for sides of one size half of the
    partitions are enough.
    """
    partitions = math.comb(references + candidates, candidates)
    what = f"{references} references and {candidates} candidates"
    half = symmetric and references == candidates
    exact, rows, used = chosen_rows(partitions, what, pvalue=pvalue, samples=samples, seed=seed)
    return Plan(references, candidates, exact, rows // 2 if half and exact else rows, partitions, used, half)


def chosen_rows(partitions: int, what: str, *, pvalue: Pvalue, samples: int, seed: int) -> tuple[bool, int, int | None]:
    """Whether all of so many partitions are looked at, how many labellings that makes, and the seed where drawn."""
    wanted, seed = _asked(pvalue, samples), check_seed(seed)
    # "sampled" never looks at all partitions; a number does where there are no more than that.
    enough = EXACT_LIMIT if wanted is None else wanted
    exact = pvalue == "exact" or (pvalue != "sampled" and partitions <= enough)
    if exact and partitions > DEMANDED_LIMIT:
        raise InputError(
            f"{what} have {_counted(partitions)} partitions: too many for an "
            f"exact p-value (at most {DEMANDED_LIMIT:,}); leave the choice open or ask for sampled ones"
        )
    return exact, partitions if exact else 1 + (wanted or samples), None if exact else seed


def _counted(partitions: int) -> str:
    """With all digits, unless nobody would count them."""
    return f"{partitions:,}" if partitions < 10**30 else f"about 10^{math.log10(partitions):.0f}"


def check_pvalue(pvalue: Any) -> Any:
    """What a caller asks for, before anything is computed; False and None ask for nothing."""
    pvalue = plain_value(pvalue, "pvalue")
    if pvalue is not None and pvalue is not False:
        _asked(pvalue, 1)
    return pvalue


def _asked(pvalue: Pvalue, samples: int) -> int | None:
    """How many sampled labellings the caller named; None where the choice is open or exact."""
    pvalue = plain_value(pvalue, "pvalue")
    if pvalue is True or (isinstance(pvalue, str) and pvalue == "exact"):
        return None
    if isinstance(pvalue, str) and pvalue == "sampled":
        return samples
    if isinstance(pvalue, str) and pvalue == "analytic":
        raise InputError("triangle ranks alone have analytic p-values: ask for exact or sampled ones")
    if not is_whole(pvalue) or pvalue < 1:
        raise InputError(f"pvalue must be true, 'exact', 'sampled' or a number of labellings, not {shown(pvalue)}")
    if pvalue > DEMANDED_LIMIT:
        raise InputError(f"at most {DEMANDED_LIMIT:,} labellings can be looked at, not {pvalue:,}")
    return int(pvalue)


def subsamples(sides: tuple[int, int], sizes: tuple[int, int], draws: int, seed: int) -> Iterator[Labels]:
    """Seeded subsamples of both sides (references, candidates), without replacement; the rest is left out."""
    rng = np.random.default_rng(check_seed(seed))
    total = sum(sides)
    block = max(1, min(draws, BLOCK_CELLS // total))
    for start in range(0, draws, block):
        count = min(block, draws - start)
        reference, candidate = (np.zeros((count, total), dtype=bool) for _ in range(2))
        reference[:, : sides[0]] = _kept(sides[0], sizes[0], count, rng)
        candidate[:, sides[0] :] = _kept(sides[1], sizes[1], count, rng)
        yield Labels(reference, candidate)


def balanced_halves(
    sides: tuple[int, int],
    size: int,
    halves: int,
    draws: int,
    seed: int,
    half_of: Callable[[np.random.Generator], np.ndarray] | None = None,
) -> Iterator[Labels]:
    """Seeded halves of both sides, and `draws` subsamples of each, `size` samples a side, one half after another.

    half_of: which samples (as flags) make a half; None: half of each side.
    """
    rng = np.random.default_rng(check_seed(seed))
    total = sum(sides)
    block = max(1, min(halves, BLOCK_CELLS // (draws * total)))
    for first in range(0, halves, block):
        count = min(block, halves - first)
        reference, candidate = (np.zeros((count * draws, total), dtype=bool) for _ in range(2))
        drawn = None if half_of is None else [half_of(rng) for _ in range(count)]
        for label, side, start in ((reference, sides[0], 0), (candidate, sides[1], sides[0])):
            for number in range(count):
                if drawn is None:
                    half = start + rng.permutation(side)[: side // 2]
                else:
                    half = start + np.flatnonzero(drawn[number][start : start + side])
                for row in label[number * draws : (number + 1) * draws]:
                    row[rng.permutation(half)[:size]] = True
        yield Labels(reference, candidate)


def _kept(side: int, size: int, count: int, rng: np.random.Generator) -> np.ndarray:
    kept = np.zeros(side, dtype=bool)
    kept[:size] = True
    return rng.permuted(np.broadcast_to(kept, (count, side)), axis=1)


@lru_cache(maxsize=16)
def _every(references: int, candidates: int, symmetric: bool) -> Labels:
    """All partitions, kept: thousands of contexts share one shape."""
    chosen = np.fromiter(
        itertools.chain.from_iterable(_combinations(references, candidates, symmetric)), dtype=np.intp
    ).reshape(-1, candidates)
    labels = _from_candidates(chosen, references + candidates)
    labels.reference.flags.writeable = labels.candidate.flags.writeable = False
    return labels


def _combinations(references: int, candidates: int, symmetric: bool) -> Iterator[tuple[int, ...]]:
    # Counted down, the first choice is the last `candidates` samples: the observed partition. Where sides may change
    # places, the first sample stays a reference.
    lowest = 0 if symmetric else -1
    return itertools.combinations(range(references + candidates - 1, lowest, -1), candidates)


def _from_candidates(chosen: np.ndarray, total: int) -> Labels:
    candidate = np.zeros((len(chosen), total), dtype=bool)
    np.put_along_axis(candidate, chosen, True, axis=1)
    return Labels(~candidate, candidate)
