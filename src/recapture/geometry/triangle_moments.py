"""Mean and covariance of triangle ranks over all labellings of a set of points, without looking at any labelling.

For a single point i and a pair j, k let f(i; j, k) be the credit of the within edge for one rank, the mean of D[j, k]
and D[k, j], less its mean over all triangles of the pool. A share of triangles is the sum of f over i on one side and
j, k on the other. The expected product of two such sums is a sum over pairs of triangles, and whether both triangles
count depends only on the places in which they share points. So it is enough to know, for each of the 34 ways in which
two triangles may share points, the sum of f x f over the pairs that do: from sums of f over one point, over two points
and over all three, which take one pass over all triangles. Ways in which *at least* so many points are shared are added
up first; alternating sums give those that share exactly these.
"""

from __future__ import annotations

import itertools
import math
from typing import NamedTuple

import numpy as np

from .device_triangles import Passed, device_for, pass_on
from .devices import tried_on
from .parallel import blocks, run_tiles
from .triangles import SIXTHS, split_credit, triangle_codes

_CELLS = 1 << 17
"""Triangles looked at together: what stays near the core."""
_BITS = 21
"""Sums of three ranks' credits stand side by side in one whole number; each is at most 12 x points."""
_MASK = (1 << _BITS) - 1
_CODES = 10
"""Of a triangle, and one more for what is none, as two of its corners are one point."""

Matching = tuple[tuple[int, int], ...]
"""Which corners (0: the single point, 1 and 2: the pair) of one triangle are which corners of another."""
_MATCHINGS: tuple[Matching, ...] = tuple(
    tuple(zip(ones, others, strict=True))
    for size in range(4)
    for ones in itertools.combinations(range(3), size)
    for others in itertools.permutations(range(3), size)
)


class Moments(NamedTuple):
    """Of the shares of ranks 0, 1, 2, first of candidates amid references, then of references amid candidates."""

    centre: np.ndarray
    """(6,) means: 1/3 each where distances are symmetric, since then every edge of a triangle is within once."""
    covariance: np.ndarray
    """(6, 6)"""
    linear: np.ndarray
    """(6, 6) the part of it that sums over single points explain (the projection of Hajek)."""


class _Sums(NamedTuple):
    """Sums of f over all triangles of different points, by rank (first axis)."""

    mean: np.ndarray
    """(3,) of the credit itself"""
    across: np.ndarray
    """(3, points, points) [i, j]: single point i, one of the pair j"""
    within: np.ndarray
    """(3, points, points) [j, k]: the pair"""
    same: np.ndarray
    """(3, 3) products of f of a triangle with itself"""
    turned: np.ndarray
    """(3, 3) products with the triangle in which the single point and one of the pair have changed places"""


def triangle_moments(distances: np.ndarray, references: int) -> Moments:
    """Over all labellings of the points (square, [i, j]: from i to j) that make so many of them references.

    Edges that tie share the credit.
    """
    points = len(distances)
    n, m = references, points - references
    sums = _sums(distances)
    of_single, of_pair = sums.across.sum(axis=2), sums.across.sum(axis=1)
    exact = _by_shared_points(sums, of_single, of_pair)
    # Corners on the candidates' side (True), for both directions.
    sides = (True, False, False), (False, True, True)
    triangles = np.array([m * n * (n - 1), n * m * (m - 1)], dtype=np.float64)
    covariance = np.zeros((2, 3, 2, 3))
    for one, other in itertools.product(range(2), repeat=2):
        for matching, products in exact.items():
            chance = _chance(sides[one], sides[other], matching, n, m)
            covariance[one, :, other] += chance * products
    # Where one side has a single point, the direction that needs pairs of it has no triangles.
    scale = np.divide(1, triangles, out=np.zeros(2), where=triangles > 0)
    covariance *= scale[:, None, None, None] * scale[:, None]
    # How much a point's being a candidate moves each sum: triangles with it, less those that it keeps others from.
    elsewhere = of_single + 2 * of_pair
    two, three = (m * n * (n - 1), n * m * (m - 1)), (m * (m - 1) * n * (n - 1), n * m * (m - 1) * (m - 2))
    falling = [math.perm(points, count) for count in (3, 4)]
    moved = [of_single, 2 * of_pair]
    slopes = np.concatenate(
        [
            (own * two[at] / falling[0] - (elsewhere * three[at] / falling[1] if falling[1] else 0)) * scale[at]
            for at, own in enumerate(moved)
        ]
    )
    linear = slopes @ slopes.T * (points * (points - 1) / (n * m))
    return Moments(np.tile(sums.mean, 2), covariance.reshape(6, 6), linear)


def _chance(
    one: tuple[bool, ...], other: tuple[bool, ...], matching: Matching, references: int, candidates: int
) -> float:
    """That all corners of two triangles that share these are on the sides they should be on."""
    if any(one[at] != other[there] for at, there in matching):
        return 0.0
    shared = [there for _, there in matching]
    corners = [*one, *(side for at, side in enumerate(other) if at not in shared)]
    on_candidates = sum(corners)
    ways = math.perm(references + candidates, len(corners))
    good = math.perm(candidates, on_candidates) * math.perm(references, len(corners) - on_candidates)
    return good / ways if ways else 0.0


def _by_shared_points(sums: _Sums, of_single: np.ndarray, of_pair: np.ndarray) -> dict[Matching, np.ndarray]:
    """(3, 3) products of f over all pairs of triangles that share exactly these corners."""
    over_two = (of_single, of_pair, of_pair)
    over_one = [_flat(each) for each in (sums.across, sums.across.transpose(0, 2, 1), sums.within)]
    of_two = [[one @ other.T for other in over_one] for one in over_one]
    kind = {(0, 1): 0, (0, 2): 0, (1, 0): 1, (2, 0): 1, (1, 2): 2, (2, 1): 2}
    at_least: dict[Matching, np.ndarray] = {}
    for matching in _MATCHINGS:
        ones, others = (tuple(pair[end] for pair in matching) for end in range(2))
        if len(matching) == 1:
            at_least[matching] = over_two[ones[0]] @ over_two[others[0]].T
        elif len(matching) == 2:
            at_least[matching] = of_two[kind[ones[0], ones[1]]][kind[others[0], others[1]]]
        elif matching:
            at_least[matching] = sums.same if others[0] == 0 else sums.turned
        else:
            at_least[matching] = np.zeros((3, 3))  # f has mean 0
    return {
        matching: np.sum(
            [(-1) ** (len(more) - len(matching)) * at_least[more] for more in _MATCHINGS if set(matching) <= set(more)],
            axis=0,
        )
        for matching in _MATCHINGS
    }


def _flat(values: np.ndarray) -> np.ndarray:
    return np.ascontiguousarray(values).reshape(3, -1)


def _sums(distances: np.ndarray) -> _Sums:
    """From one pass over all triangles."""
    points = len(distances)
    symmetric = bool((distances == distances.T).all())
    packed, credit = _tables(symmetric)
    passed = tried_on(device_for(points**3), lambda device: pass_on(device, distances, symmetric, packed))
    if passed is None:
        passed = _pass(distances, symmetric, packed)
    whole = points * (points - 1) * (points - 2)
    if symmetric:
        same, turned = credit.T @ (passed.tally[:, None] * credit), np.zeros((3, 3))
    else:
        joint = passed.tally.reshape(len(credit), len(credit))
        same, turned = credit.T @ (joint.sum(axis=1)[:, None] * credit), credit.T @ joint @ credit
    unpacked = [_unpacked(each) for each in (passed.across, passed.within)]
    mean = unpacked[0].sum(axis=(1, 2)) / whole
    for each in unpacked:
        each -= (points - 2) * mean[:, None, None]
        each[:, np.arange(points), np.arange(points)] = 0
    expected = whole * np.outer(mean, mean)
    same = same - expected
    # The three credits of a triangle add up to 1 where each edge has one length: f of all three singles is then 0.
    return _Sums(mean, unpacked[0], unpacked[1], same, -same / 2 if symmetric else turned - expected)


def _pass(distances: np.ndarray, symmetric: bool, packed: np.ndarray) -> Passed:
    """Tiles of pairs j, k for one single point after another."""
    points, kinds = len(distances), len(packed)
    # Only the order of distances counts, and small whole numbers are compared faster.
    order = np.unique(distances, return_inverse=True)[1].reshape(points, points).astype(np.int32)
    nothing = kinds - 1
    across, within = (np.zeros((points, points), dtype=np.int64) for _ in range(2))
    parts = blocks(points, max(1, _CELLS // points))
    tallies = np.zeros((len(parts), kinds), dtype=np.int64)
    turns = np.zeros((len(parts), 0 if symmetric else kinds * kinds), dtype=np.int64)

    def count(number: int) -> None:
        rows = parts[number]
        for single in range(points):
            left, right = order[single, rows, None], order[single]
            code = _code(order[rows], order.T[rows], left, right, symmetric)
            _leave_out(code, rows, single, nothing)
            credited = packed[code]
            within[rows] += credited
            across[single, rows] = credited.sum(axis=1)
            if symmetric:
                tallies[number] += np.bincount(code.reshape(-1), minlength=kinds)
                continue
            # The single point in the pair's place: j alone, and the pair of it and k.
            turned = _code(right, order[:, single], order[rows, single, None], order[rows], symmetric)
            _leave_out(turned, rows, single, nothing)
            turns[number] += np.bincount((kinds * code + turned).reshape(-1), minlength=kinds * kinds)

    run_tiles(count, range(len(parts)), "triangles")
    return Passed(across, within, (tallies if symmetric else turns).sum(axis=0))


def _tables(symmetric: bool) -> tuple[np.ndarray, np.ndarray]:
    """By code: the credits of both orders of the pair in one whole number each, and as shares (codes, 3)."""
    credit = np.vstack([split_credit(), np.zeros((1, 3), dtype=np.int64)])  # the last code: no triangle
    both = 2 * credit if symmetric else (credit[:, None] + credit[None]).reshape(-1, 3)
    packed = both @ np.array([1, 1 << _BITS, 1 << 2 * _BITS], dtype=np.int64)
    return packed, both / (2 * SIXTHS)


def _code(
    within: np.ndarray, within_back: np.ndarray, left: np.ndarray, right: np.ndarray, symmetric: bool
) -> np.ndarray:
    code = triangle_codes(within, left, right).astype(np.intp)
    if not symmetric:
        code *= _CODES
        code += triangle_codes(within_back, left, right)
    return code


def _leave_out(code: np.ndarray, rows: slice, single: int, nothing: int) -> None:
    """Triangles two of whose corners are one point."""
    code[:, single] = nothing
    code[np.arange(len(code)), np.arange(rows.start, rows.stop)] = nothing
    if rows.start <= single < rows.stop:
        code[single - rows.start] = nothing


def _unpacked(values: np.ndarray) -> np.ndarray:
    """(3, ...) shares of credit"""
    return np.stack([(values >> rank * _BITS & _MASK) / (2 * SIXTHS) for rank in range(3)])
