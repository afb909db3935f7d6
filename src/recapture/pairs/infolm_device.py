"""InfoLM on a device that works by itself: from head vectors to scores there, many texts and pairs at once.

The same formulas as one text at a time, in float64, so that scores differ by rounding alone. Nothing here waits for the
device, so that one portion's texts are made ready while another's are computed. Two rare cases are told only at the end
(`Flight.land`): numbers too large for the model's number type, and probabilities too small for a float, as at a very
low temperature. Such portions are then scored one by one.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import chain
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from ..divergences.logs import LogPairs
from ..geometry.devices import within_memory
from ..representations.masked_device import Launched, marked, on_its_way, runs, there, wait_for

if TYPE_CHECKING:
    from ..divergences.measures import Setting
    from ..representations.masked import MaskedStore
    from ..representations.masked_model import MaskedModel
    from .idf import Idf

DEEPEST = -600.0
"""Down to this logarithm, probabilities and their weighted sums are far from underflow."""
_ROWS = 1 << 25
"""Numbers of the vocabulary's rows held at once: float64, in about four arrays."""
_TOKENS = 2048
"""Tokens whose distributions are mixed by one product: those of different texts are multiplied by 0."""
_HELD = 1 << 27
"""Numbers of all distributions held at once, in float64."""
_COMPARED = 1 << 22
"""Numbers of the distributions compared at once, in about a dozen arrays."""


class Flight(NamedTuple):
    """Scores on their way here."""

    store: MaskedStore
    launched: Launched
    scores: Any
    """(settings, temperatures, pairs)"""
    lowest: Any
    empty: np.ndarray
    """Pairs with a text without tokens"""
    coldest: float
    event: Any

    def land(self) -> np.ndarray | None:
        """Wait for them; None where this way does not do for these texts."""
        fine = self.store.land(self.launched)
        wait_for(self.event)
        if not fine or float(self.lowest) / self.coldest <= DEEPEST:
            return None
        scores: np.ndarray = self.scores.numpy()
        scores[:, :, self.empty] = np.nan
        return scores


def launch(
    store: MaskedStore,
    launched: Launched,
    pairs: Sequence[tuple[str, str]],
    idf: Idf,
    asked: Sequence[Setting],
    temperatures: Sequence[float],
) -> Flight:
    """All settings at all temperatures of every pair. launched: the vectors of their texts."""
    import torch

    device, counts = launched.vectors.device, launched.counts
    cut = store.pieces([text for pair in pairs for text in pair])
    sides = np.array([launched.number[piece.own] for piece in cut], np.int64).reshape(-1, 2)
    pieces = np.fromiter(chain.from_iterable(launched.number), np.int64, int(counts.sum()))
    shares = idf.shares_of_many(pieces, counts)
    wide = store.model.vocabulary * len(temperatures)

    def scored(held: int) -> tuple[Any, Any]:
        weights = there(shares, device)
        scores = torch.empty((len(asked), len(temperatures), len(pairs)), dtype=torch.float64, device=device)
        lowest = torch.zeros((), dtype=torch.float64, device=device)
        for begin, end in _portions(sides, max(2, held // wide)):
            chosen, local = np.unique(sides[begin:end], return_inverse=True)
            logs, least = _distributions(store.model, launched, weights, chosen, temperatures)
            lowest = torch.minimum(lowest, least)
            left, right = there(local.reshape(-1, 2).T.astype(np.int64), device)
            at_once = max(1, min(held, _COMPARED) // wide)
            for first in range(0, end - begin, at_once):
                part = slice(first, min(first + at_once, end - begin))
                compared = LogPairs(logs[left[part]].flatten(0, 1), logs[right[part]].flatten(0, 1))
                for place, setting in enumerate(asked):
                    values = setting.of(compared).reshape(-1, len(temperatures))
                    scores[place, :, begin + part.start : begin + part.stop] = values.T
        return scores, lowest

    with torch.inference_mode():
        scores, lowest = within_memory(scored, _HELD, min(_HELD, 2 * wide))
        here = on_its_way(scores), on_its_way(lowest)
        empty = (counts[sides] == 0).any(axis=1)
        return Flight(store, launched, *here, empty, min(temperatures), marked(scores))


def _portions(sides: np.ndarray, texts: int) -> list[tuple[int, int]]:
    """Runs of pairs with at most so many different texts, but for one pair."""
    parts, begin, seen = [], 0, set[int]()
    for at, pair in enumerate(sides.tolist()):
        if at > begin and len(seen) + len(set(pair) - seen) > texts:
            parts.append((begin, at))
            begin, seen = at, set()
        seen.update(pair)
    return [*parts, (begin, len(sides))] if len(sides) else []


def _distributions(
    model: MaskedModel,
    launched: Launched,
    weights: Any,
    chosen: np.ndarray,
    temperatures: Sequence[float],
) -> tuple[Any, Any]:
    """(texts, temperatures, vocabulary) logarithms of the weighted means of the chosen texts' token distributions, and
    the least logarithm of a token's word, below that of its likeliest, at temperature 1."""
    import torch

    device, counts = launched.vectors.device, launched.counts[chosen]
    rows, owner = runs(launched.starts[chosen], counts), np.repeat(np.arange(len(chosen)), counts)
    rows_there, owner_there = there(np.stack([rows, owner]), device)
    totals = torch.zeros((len(temperatures), len(chosen), model.vocabulary), dtype=torch.float64, device=device)
    lowest = torch.zeros((), dtype=torch.float64, device=device)
    at_once = max(1, min(_ROWS // model.vocabulary, _TOKENS))
    for begin in range(0, len(rows), at_once):
        part = slice(begin, begin + at_once)
        first, last = int(owner[part][0]), int(owner[part][-1]) + 1
        some = rows_there[part]
        logits = model.logits_there(launched.vectors[some])
        least, most = torch.aminmax(logits, dim=1)
        lowest = torch.minimum(lowest, (least.double() - most).min())
        below = logits - most.double()[:, None]  # float64, without a pass of its own for that
        share = torch.zeros((last - first, len(some)), dtype=torch.float64, device=device)
        share[owner_there[part] - first, torch.arange(len(some), device=device)] = weights[some]
        for at, temperature in enumerate(temperatures):
            powers = below.exp() if temperature == 1 else (below / temperature).exp_()
            totals[at, first:last] += (share / powers.sum(dim=1)) @ powers
    # A long sum is rounded: every row is made to sum to 1.
    totals /= totals.sum(dim=2, keepdim=True)
    return totals.log_().transpose(0, 1), lowest
