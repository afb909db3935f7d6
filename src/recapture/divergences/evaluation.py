"""Several information measures of many pairs of distributions at once."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from ..errors import InputError
from .logs import LogPairs
from .measures import Measure, Setting, settings

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
    asked = settings([measures] if isinstance(measures, str | Measure) else measures, [alpha], [beta])
    values = evaluate_settings(asked, log_p, log_q)
    return {setting.measure.name: value for setting, value in zip(asked, values, strict=True)}


def evaluate_settings(asked: Sequence[Setting], log_p: np.ndarray, log_q: np.ndarray) -> np.ndarray:
    """(settings, pairs), or (settings,) for one pair: what all of them need of the logarithms is made once."""
    log_p, log_q = np.asarray(log_p), np.asarray(log_q)
    if log_p.shape != log_q.shape or log_p.ndim not in (1, 2) or log_p.shape[-1] == 0:
        raise InputError(
            f"log_p and log_q must be of one shape, (pairs, words) or (words,), not {log_p.shape} and {log_q.shape}"
        )
    shape = log_p.shape[:-1]
    log_p, log_q = np.atleast_2d(log_p), np.atleast_2d(log_q)
    rows = max(1, BLOCK // log_p.shape[1])
    values = np.empty((len(asked), len(log_p)))
    for start in range(0, len(log_p), rows):
        part = slice(start, start + rows)
        with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
            pairs = LogPairs(
                np.ascontiguousarray(log_p[part], dtype=np.float64), np.ascontiguousarray(log_q[part], dtype=np.float64)
            )
            _check_rows(pairs, start, any(not setting.measure.scale_invariant for setting in asked))
            for place, setting in enumerate(asked):
                values[place, part] = setting.of(pairs)
    return values.reshape(len(asked), *shape)


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
