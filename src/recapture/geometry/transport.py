"""Exact transport costs of many small problems, by POT's network simplex, called below its Python layers.

A problem is a table of costs (n, m) and a weight for each row and each column. Only shares count: the weights of a side
are divided by their sum, so that rounding of sums does not matter. The cost is the least sum of flow x cost over all
non-negative flows whose row sums and column sums are those shares.

`ot.emd2` spends about a tenth of a millisecond a call around the solver, as much as the solver needs for 40 v 40. The
compiled function under it lets go of Python's lock, so problems run side by side, one thread per core.

No number is believed unless the solver reports an optimum and its plan costs what its dual solution is worth, as at an
optimum they must. What fails is solved again with a higher limit of pivots, then by HiGHS; if that fails, too, it is an
error.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from functools import lru_cache
from itertools import accumulate
from typing import Any, NamedTuple

import numpy as np

from ..errors import InputError
from .parallel import blocks, engine_options, run_tiles

_PIVOTS = 1_000_000
_MORE_PIVOTS = 100_000_000
# Most problems in one tile: enough that a tile's own work costs little, few enough that no core waits long at the end.
_TILE = 32
# Largest gap between plan and dual solution, relative to the largest cost.
_GAP = 1e-10
_EPSILON = float(np.finfo(np.float64).eps)
_OPTIMAL = 1

Weights = np.ndarray
Solver = Callable[[Weights, Weights, np.ndarray, int], tuple[float, np.ndarray, np.ndarray, bool]]
"""(row weights, column weights, costs, most pivots) -> cost, row duals, column duals, whether it is an optimum"""


class Problem(NamedTuple):
    """costs: (n, m), all finite; rows: (n,) and columns: (m,) weights, none negative, not all 0."""

    costs: np.ndarray
    rows: Weights
    columns: Weights


def transport_costs(
    problems: Callable[[slice], Sequence[Problem]], tiles: int | Sequence[slice], *, metric: bool = False
) -> np.ndarray:
    """The costs of problems 0, 1, ...; `problems(tile)` makes those of one tile when their turn comes, in any thread.

    tiles: how many problems there are, or the slices they are cut into. metric: the costs are distances in a metric
    space, so that a cost of exactly 0 says "the same point".
    """
    solve = _solver()
    if isinstance(tiles, int):
        tiles = blocks(tiles, max(1, min(_TILE, tiles // (4 * engine_options().thread_count()))))
    costs = np.empty(tiles[-1].stop if tiles else 0)

    def work(tile: slice) -> None:
        costs[tile] = _tile(problems(tile), tile.start, metric, solve)

    run_tiles(work, tiles, "moving weights")
    return costs


def _tile(problems: Sequence[Problem], first: int, metric: bool, solve: Solver) -> np.ndarray:
    """Costs of a few problems, numbered from `first`.

    What can be done for all of them at once is: at 30 v 30 every NumPy call is a fiftieth of the work, and threads wait
    for each other at each.
    """
    weights, starts = _shares(problems, first)
    places = [*starts.tolist(), len(weights)]
    flat = np.concatenate([problem.costs.reshape(-1) for problem in problems], dtype=np.float64)
    stops = [0, *accumulate(problem.costs.size for problem in problems)]
    least = np.minimum.reduceat(flat, stops[:-1])  # NaN if there is one
    if not np.isfinite(least).all():
        raise _not_finite(first + int(np.argmin(np.isfinite(least))))
    shapes = np.array([problem.costs.shape for problem in problems])
    simple = ((np.minimum.reduceat(weights, starts).reshape(-1, 2) > 0) & (shapes > 1)).all(axis=1)
    if metric:
        simple &= least > 0

    def parts(number: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        begin, middle, end = places[2 * number : 2 * number + 3]
        costs = flat[stops[number] : stops[number + 1]].reshape(middle - begin, end - middle)
        return weights[begin:middle], weights[middle:end], costs

    totals, optimal, duals = np.zeros(len(problems)), np.zeros(len(problems), bool), np.zeros(len(weights))
    solved = np.flatnonzero(simple).tolist()
    answers = [solve(*parts(number), _PIVOTS) for number in solved]
    if answers:
        totals[solved], optimal[solved] = ([answer[part] for answer in answers] for part in (0, 3))
        duals[np.repeat(simple, shapes.sum(axis=1))] = np.concatenate(
            [side for answer in answers for side in answer[1:3]]
        )
    worth = np.add.reduceat(weights * duals, starts)
    gaps = np.abs(totals - worth[::2] - worth[1::2])
    # NaN compares as false: what is not a number is not close.
    for number in np.flatnonzero(~(optimal & (gaps <= _GAP * np.abs(totals)))).tolist():
        rows, columns, costs = parts(number)
        if not np.isfinite(costs).all():
            raise _not_finite(first + number)
        totals[number] = _cost(costs, rows, columns, metric, solve)
    return totals


def _shares(problems: Sequence[Problem], first: int) -> tuple[np.ndarray, np.ndarray]:
    """The weights of all, rows and columns of each problem in turn, every side summing to 1; where each begins."""
    sides: list[Weights] = []
    for number, (costs, rows, columns) in enumerate(problems, first):
        if costs.ndim != 2 or rows.ndim != 1 or columns.ndim != 1 or costs.shape != (len(rows), len(columns)):
            shapes = f"{costs.shape} costs for {rows.shape} and {columns.shape} weights"
            raise InputError(f"transport problem {number} (counting from 0) has {shapes}")
        if not costs.size:
            raise InputError(f"transport problem {number} (counting from 0) is empty: its costs are {costs.shape}")
        sides += rows, columns
    sizes = np.array([len(side) for side in sides])
    starts = np.cumsum(sizes) - sizes
    weights = np.concatenate(sides, dtype=np.float64)
    sums = np.add.reduceat(weights, starts)
    bad = ~np.isfinite(sums) | (sums <= 0) | (np.minimum.reduceat(weights, starts) < 0)
    if bad.any():
        number, column = divmod(int(np.argmax(bad)), 2)
        where = f"the {'column' if column else 'row'} weights of transport problem {first + number} (counting from 0)"
        raise InputError(f"{where} must be finite, none negative and not all 0")
    return weights / np.repeat(sums, sizes), starts


def _not_finite(number: int) -> InputError:
    return InputError(f"the costs of transport problem {number} (counting from 0) must be finite")


def _cost(costs: np.ndarray, rows: Weights, columns: Weights, metric: bool, solve: Solver) -> float:
    """One problem that takes more than one call."""
    moved = 1.0
    if metric and not costs.all():
        rows, columns, moved = _without_common(costs, rows, columns)
        if not moved:
            return 0.0
    kept_rows, kept_columns = np.flatnonzero(rows), np.flatnonzero(columns)
    costs, rows, columns = costs[np.ix_(kept_rows, kept_columns)], rows[kept_rows], columns[kept_columns]
    if len(rows) == 1 or len(columns) == 1:  # nothing to choose
        return moved * float(rows @ costs @ columns)
    # The solver's start is made for costs of at least 0; both sides sum to 1, so a shift of all is a shift of the cost.
    least = min(0.0, float(costs.min()))
    for pivots in (_PIVOTS, _MORE_PIVOTS):
        cost, row_duals, column_duals, optimal = solve(rows, columns, costs - least, pivots)
        gap = abs(cost - float(rows @ row_duals + columns @ column_duals))
        if optimal and gap <= _GAP * (float(costs.max()) - least):
            return moved * (cost + least)
    return moved * _by_highs(costs, rows, columns)


def _without_common(costs: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> tuple[np.ndarray, np.ndarray, float]:
    """Weights without those that lie on one point on both sides, as shares of what is left, and how much is left.

    Theorem (Kantorovich and Rubinstein): if the cost is a metric, the cost of moving p to q is the largest value of
    the integral of f d(p - q) over functions f with |f(x) - f(y)| <= d(x, y). It depends on p - q alone, so weight
    common to both sides, any part of it, may be taken away from both. (It needs the triangle inequality: with squared
    distances it can be cheaper to move a point's own weight on and fill it up from elsewhere.)
    """
    rows, columns = rows.copy(), columns.copy()
    for i, j in np.argwhere(costs == 0).tolist():
        common = min(rows[i], columns[j])
        for side, place in ((rows, i), (columns, j)):
            rest = side[place] - common
            side[place] = rest if rest > 4 * _EPSILON * common else 0.0  # else it is what rounding left
    left_rows, left_columns = float(rows.sum()), float(columns.sum())
    if min(left_rows, left_columns) <= _EPSILON * (len(rows) + len(columns)):
        return rows, columns, 0.0
    return rows / left_rows, columns / left_columns, (left_rows + left_columns) / 2


def _by_highs(costs: np.ndarray, rows: np.ndarray, columns: np.ndarray) -> float:
    from scipy.optimize import linprog
    from scipy.sparse import identity, kron, vstack

    n, m = costs.shape
    # The last column's constraint follows from the others: without it, sums equal up to rounding cannot contradict.
    sums = vstack([kron(identity(n), np.ones((1, m))), kron(np.ones((1, n)), identity(m)).tocsr()[:-1]])
    answer = linprog(costs.ravel(), A_eq=sums.tocsr(), b_eq=np.concatenate([rows, columns[:-1]]), method="highs")
    if answer.status != 0:
        raise ArithmeticError(f"a transport problem of {n} v {m} could not be solved: {answer.message}")
    return float(answer.fun)


@lru_cache(maxsize=1)
def _solver() -> Solver:
    """POT's compiled function where it behaves as expected, else its public one."""
    try:
        ot: Any = importlib.import_module("ot")
    except ImportError as error:
        raise InputError(f"optimal transport needs POT ({error}): pip install POT") from None
    try:
        emd: Any = importlib.import_module("ot.lp.emd_wrap").emd_c
    except (ImportError, AttributeError):
        return _public(ot)

    def solve(rows: Weights, columns: Weights, costs: np.ndarray, pivots: int) -> Any:
        _, cost, row_duals, column_duals, code = emd(rows, columns, costs, pivots, 1)
        return cost, row_duals, column_duals, code == _OPTIMAL

    return solve if _works(solve) else _public(ot)


def _public(ot: Any) -> Solver:
    def solve(rows: Weights, columns: Weights, costs: np.ndarray, pivots: int) -> Any:
        cost, log = ot.emd2(rows, columns, costs, numItermax=pivots, log=True)
        return float(cost), log["u"], log["v"], log["warning"] is None

    return solve


def _works(solve: Solver) -> bool:
    """Try a compiled function, which is no public interface, on a problem whose answer is known."""
    rows, columns, costs = np.array([0.75, 0.25]), np.array([0.5, 0.5]), np.array([[0.0, 2.0], [4.0, 1.0]])
    try:
        cost, row_duals, column_duals, optimal = solve(rows, columns, costs, _PIVOTS)
        stopped = solve(rows, columns, costs, 1)
        worth = float(rows @ row_duals + columns @ column_duals)
    except (TypeError, ValueError, AttributeError):
        return False
    # 0.5 stays at cost 0, 0.25 moves at 2, 0.25 at 1. One pivot cannot be enough, and the function must say so.
    return optimal and abs(cost - 0.75) < 1e-12 and abs(worth - 0.75) < 1e-12 and not stopped[3]
