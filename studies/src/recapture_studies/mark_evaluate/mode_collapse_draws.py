"""Sets from which genres are dropped one by one.

A draw takes a reference set with all genres in equal shares, an order in which genres go, and an order of each genre's
candidate sentences; at every step the genres that are left give equally many of their first sentences. So the sets of
one draw overlap from step to step as far as they can. The genre that is left last must have enough sentences for a
whole set, the last two enough for half a set each, and so on: the order is drawn among those that can be filled.
"""

from __future__ import annotations

import numpy as np

from .genres import Genres, Side, shares
from .perturbed import Draw


def draw(genres: Genres, size: int, rng: np.random.Generator) -> Draw:
    """Sets of so many sentences for all steps."""
    names = sorted(genres.candidate)
    reference = [
        genres.reference[name][at]
        for name, count in zip(rng.permutation(names).tolist(), shares(size, len(names)), strict=True)
        for at in rng.permutation(len(genres.reference[name]))[:count]
    ]
    order = order_of(genres.candidate, size, rng)
    shuffled = {name: [genres.candidate[name][at] for at in rng.permutation(len(genres.candidate[name]))]
                for name in order}  # fmt: skip
    candidates = []
    for dropped in range(len(order)):
        left = order[dropped:]
        counts = shares(size, len(left))
        # Where shares differ by one, those that stay longest give more.
        taken = zip(left[::-1], counts, strict=True)
        candidates.append([text for name, count in taken for text in shuffled[name][:count]])
    return Draw(reference, candidates)


def order_of(side: Side, size: int, rng: np.random.Generator) -> list[str]:
    """Drawn from the end: who stays last, who goes last, and so on."""
    left = sorted(side)
    kept: list[str] = []
    while left:
        able = [name for name in left if len(side[name]) >= shares(size, len(kept) + 1)[0]]
        kept.append(able[rng.integers(len(able))])
        left.remove(kept[-1])
    return kept[::-1]


def room(genres: Genres) -> int:
    """The largest set that some order of dropping can fill: the j-th largest genre must hold a j-th of it."""
    counts = sorted(map(len, genres.candidate.values()), reverse=True)
    return min(count * place for place, count in enumerate(counts, 1))
