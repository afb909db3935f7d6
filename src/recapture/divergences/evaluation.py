"""Several information measures of many pairs of distributions at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from .logs import LogPairs
from .measures import Measure, check_all, declarations, number

BLOCK = 1 << 15
"""Numbers in one array of a block of pairs: the dozen arrays in use stay in the processor's cache."""
MASS = 1e-6
"""How far from 1 the probabilities of a row may sum."""


def evaluate(
    measures: str | Measure | Sequence[str | Measure],
    log_p: np.ndarray,
    log_q: np.ndarray,
    alpha: float | None = None,
    beta: float | None = None,
) -> dict[str, np.ndarray]:
    """Several measures of every pair of rows: log_p and log_q are logarithms of probabilities, (pairs, V) or (V,).

    A pair's numbers do not depend on the other pairs. Memory: a dozen arrays of BLOCK or V numbers.
    """
    declared = declarations([measures] if isinstance(measures, str | Measure) else measures)
    check_all(declared, alpha, beta)
    log_p, log_q = np.asarray(log_p), np.asarray(log_q)
    if log_p.shape != log_q.shape or log_p.ndim not in (1, 2) or log_p.shape[-1] == 0:
        raise InputError(
            f"log_p and log_q must be of one shape, (pairs, words) or (words,), not {log_p.shape} and {log_q.shape}"
        )
    shape = log_p.shape[:-1]
    log_p, log_q = np.atleast_2d(log_p), np.atleast_2d(log_q)
    rows = max(1, BLOCK // log_p.shape[1])
    values = {measure.name: np.empty(len(log_p)) for measure in declared}
    for start in range(0, len(log_p), rows):
        part = slice(start, start + rows)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            pairs = LogPairs(
                np.ascontiguousarray(log_p[part], dtype=np.float64), np.ascontiguousarray(log_q[part], dtype=np.float64)
            )
            _check_rows(pairs, start, any(not measure.scale_invariant for measure in declared))
            for measure in declared:
                # Adding 0 turns -0 into 0.
                values[measure.name][part] = np.maximum(measure.compute(pairs, number(alpha), number(beta)), 0.0) + 0.0
    return {name: value.reshape(shape) for name, value in values.items()}


def _check_rows(pairs: LogPairs, start: int, to_one: bool) -> None:
    for side, logs in (("log_p", pairs.log_p), ("log_q", pairs.log_q)):
        bad = ~np.isfinite(logs.max(axis=1))  # NaN and +inf anywhere, or -inf everywhere
        if bad.any():
            raise InputError(f"row {start + int(bad.argmax())} of {side} holds no logarithms of probabilities")
        if to_one:
            mass = (pairs.p if side == "log_p" else pairs.q).sum(axis=1)
            bad = ~(np.abs(mass - 1.0) <= MASS)
            if bad.any():
                row = int(bad.argmax())
                raise InputError(f"the probabilities of row {start + row} of {side} sum to {mass[row]:.6g}, not to 1")
