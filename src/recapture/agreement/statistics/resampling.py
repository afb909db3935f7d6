"""The bootstrap of correlations: systems, inputs or both drawn anew, with repeats, the same for all metrics.

A resample is a count for every system and for every input. Which inputs count at the system level is decided once, on
the data as they are; a resample weighs those. At the text level a resample of systems may leave an input without
variation: it is dropped there, as it would be from the data. Resamples without any correlation are NaN; so are, at the
system level, those with fewer than three different systems, whose correlation is 1 or -1 whatever the scores.

No resample is looked at alone where it can be avoided: means over inputs are one matrix product, and Pearson's and
Kendall's coefficients of resampled systems are sums over pairs of systems, three products for all resamples and inputs.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np

from ...errors import InputError
from ...progress import Progress
from .argument_checks import check_resampling
from .coefficients import row_correlations
from .levels import FEWEST, shared_inputs
from .resampled_coefficients import bilinear_correlations, pair_products, rank_correlations, weighted_rank_correlations
from .system_means import centred_scores, settled, system_means

_CELLS = 1 << 22
"""Of the largest array that a block of resamples needs."""
_TILE = 1 << 18
"""Cells that are sorted together."""


@dataclass(frozen=True)
class BootstrapCase:
    """One metric and one criterion, oriented."""

    metric: np.ndarray
    human: np.ndarray
    level: str
    coefficient: str


@dataclass(frozen=True)
class Block:
    """Some resamples."""

    systems: np.ndarray | None
    """(resamples, systems): which system stands in each place; None where systems are not drawn."""
    inputs: np.ndarray | None
    system_count: int
    input_count: int

    @property
    def size(self) -> int:
        return len(self.systems if self.systems is not None else self.inputs)  # type: ignore[arg-type]

    @property
    def system_weights(self) -> np.ndarray:
        return self._weights(self.systems, self.system_count)

    @property
    def input_weights(self) -> np.ndarray:
        return self._weights(self.inputs, self.input_count)

    def _weights(self, drawn: np.ndarray | None, count: int) -> np.ndarray:
        return np.ones((self.size, count)) if drawn is None else counts(drawn, count)


def blocks(systems: int, inputs: int, over: str, resamples: int, seed: int, cells: int = _CELLS) -> Iterator[Block]:
    """All resamples; how many stand in one block does not change them."""
    check_resampling(over, resamples, seed)
    if over == "inputs" and not inputs:
        raise InputError("scores of whole systems have no inputs to draw: the interval can be over systems alone")
    # A stream each: the same systems are drawn whether or not inputs are drawn, too.
    streams = [np.random.default_rng([seed, which]) for which in range(2)]
    step = max(1, cells // max(1, inputs, systems * systems))
    for start in range(0, resamples, step):
        size = min(step, resamples - start)
        drawn = [
            stream.integers(count, size=(size, count)) if count and over in ("both", what) else None
            for stream, count, what in zip(streams, (systems, inputs), ("systems", "inputs"), strict=True)
        ]
        yield Block(drawn[0], drawn[1], systems, inputs)


def bootstrap(
    cases: Sequence[BootstrapCase], systems: int, inputs: int, over: str, resamples: int, seed: int, cells: int = _CELLS
) -> np.ndarray:
    """(cases, resamples): the correlation of every case in every resample; NaN where a side does not vary."""
    parts = []
    with Progress("resamples", resamples * len(cases), "resample") as progress:
        for block in blocks(systems, inputs, over, resamples, seed, cells):
            values = []
            for case in cases:
                values.append(resampled(case, block))
                progress.advance(block.size)
            parts.append(np.stack(values))
    return np.concatenate(parts, axis=1)


def resampled(case: BootstrapCase, block: Block) -> np.ndarray:
    """One correlation per resample."""
    if case.level == "system":
        return _of_means(case, block)
    return _of_texts(case, block) if case.level == "text" else _of_cells(case, block)


def percentiles(values: np.ndarray, level: float) -> tuple[float, float] | None:
    """The interval; None where fewer than half of the resamples have a correlation."""
    known = values[~np.isnan(values)]
    if len(known) * 2 < len(values) or not len(known):
        return None
    low, high = np.quantile(known, [(1 - level) / 2, (1 + level) / 2]).tolist()
    return low, high


def too_few(drawn: np.ndarray) -> np.ndarray:
    """Which resamples of systems (resamples, places) have fewer than three different ones."""
    ordered = np.sort(drawn, axis=1)
    return np.asarray((np.diff(ordered, axis=1) != 0).sum(axis=1) + 1 < FEWEST)


def count_too_few(systems: int, over: str, resamples: int, seed: int) -> int:
    """How many of the resamples that is."""
    if over == "inputs":
        return 0
    drawn = (block.systems for block in blocks(systems, 0, "systems", resamples, seed))
    return sum(int(too_few(systems_drawn).sum()) for systems_drawn in drawn if systems_drawn is not None)


def counts(drawn: np.ndarray, count: int) -> np.ndarray:
    """How often each was drawn, by resample."""
    rows = np.arange(len(drawn))[:, None] * count
    return np.bincount((drawn + rows).ravel(), minlength=len(drawn) * count).reshape(len(drawn), count).astype(float)


def _of_means(case: BootstrapCase, block: Block) -> np.ndarray:
    sides = [case.human, case.metric]
    shared = [side for side in sides if side.ndim == 2]
    if shared:
        kept = shared_inputs(shared, np.zeros(0))
        if block.inputs is None:
            means = [side if side.ndim == 1 else system_means(side[:, kept]) for side in sides]
            rows = [np.broadcast_to(mean, (block.size, len(mean))) for mean in means]
        else:
            weights = block.input_weights[:, kept]
            total = weights.sum(axis=1, keepdims=True)
            weights = np.divide(weights, total, out=np.full_like(weights, np.nan), where=total > 0)
            rows = [
                np.broadcast_to(side, (block.size, len(side))) if side.ndim == 1 else _means(side[:, kept], weights)
                for side in sides
            ]
    elif block.systems is None:
        return np.full(block.size, np.nan)  # numbers of whole systems, and nothing drawn that could move them
    else:
        rows = [np.broadcast_to(side, (block.size, len(side))) for side in sides]
    if block.systems is not None:
        rows = [np.take_along_axis(side, block.systems, axis=1) for side in rows]
    values = row_correlations(rows[0], rows[1], case.coefficient)
    return values if block.systems is None else np.where(too_few(block.systems), np.nan, values)


def _means(side: np.ndarray, weights: np.ndarray) -> np.ndarray:
    centred, slack = centred_scores(side)
    return settled(weights @ centred.T, slack)


def _of_texts(case: BootstrapCase, block: Block) -> np.ndarray:
    if block.systems is None:
        by_input = row_correlations(case.human.T, case.metric.T, case.coefficient)[None]
    elif case.coefficient == "spearman":
        by_input = rank_correlations(case.human, case.metric, block.system_weights)
    elif case.coefficient in ("pearson", "kendall"):
        by_input = pair_products(case.human, case.metric, block.system_weights, signs=case.coefficient == "kendall")
    else:
        by_input = np.stack(
            [row_correlations(case.human[rows].T, case.metric[rows].T, case.coefficient) for rows in block.systems]
        )
    known = ~np.isnan(by_input)
    weights = block.input_weights
    total = (known * weights).sum(axis=1)
    summed = (np.where(known, by_input, 0.0) * weights).sum(axis=1)
    return np.asarray(np.divide(summed, total, out=np.full(block.size, np.nan), where=total > 0))


def _of_cells(case: BootstrapCase, block: Block) -> np.ndarray:
    if case.coefficient == "pearson":
        return bilinear_correlations(case.human, case.metric, block.system_weights, block.input_weights)
    if case.coefficient == "spearman":
        return weighted_rank_correlations(case.human, case.metric, block.system_weights, block.input_weights)
    every = np.arange(block.system_count)[None], np.arange(block.input_count)[None]
    rows, columns = (
        places if places is not None else all_of
        for places, all_of in zip((block.systems, block.inputs), every, strict=True)
    )
    step = max(1, _TILE // max(1, case.human.size))
    parts = []
    for start in range(0, block.size, step):
        some = [places if len(places) == 1 else places[start : start + step] for places in (rows, columns)]
        cells = some[0][:, :, None], some[1][:, None, :]
        sides = [side[cells].reshape(max(map(len, some)), -1) for side in (case.human, case.metric)]
        parts.append(row_correlations(sides[0], sides[1], case.coefficient))
    return np.concatenate(parts)
