"""Numbers that come in from outside: seeds, levels, counts and draws, each checked here and nowhere else."""

from __future__ import annotations

from typing import Any

import numpy as np

from .errors import InputError


def is_whole(value: Any) -> bool:
    """Whether this is a whole number; True and False are none."""
    return isinstance(value, (int, np.integer)) and not isinstance(value, (bool, np.bool_))


def check_seed(seed: Any) -> int:
    if not is_whole(seed) or seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, not {seed!r}")
    return int(seed)


def check_level(interval: Any) -> float | None:
    """The level of an interval, such as 0.95; None where none was asked for."""
    if interval is None or interval is False:
        return None
    real = isinstance(interval, (int, float)) and not isinstance(interval, bool)
    if not real or not 0 < interval < 1:
        raise InputError(f"interval must be a level between 0 and 1 such as 0.95, not {interval!r}")
    return float(interval)


def check_draws(name: str, value: Any, usual: int, what: str) -> int:
    """How often to draw: True means the usual number, a number that many, False never. what: is drawn."""
    if value is True:
        return usual
    if not isinstance(value, (int, np.integer)) or value < 0:
        raise InputError(f"{name} must be true, false or a number of {what}, not {value!r}")
    return int(value)


def check_count(name: str, value: Any, least: int) -> int:
    if not is_whole(value) or value < least:
        raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    return int(value)
