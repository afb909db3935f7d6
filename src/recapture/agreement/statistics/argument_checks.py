"""Arguments that statistics of agreement share, checked in one place."""

from __future__ import annotations

from typing import Any, Literal

from ...checks import MOST_OF_ANYTHING, check_count, check_seed, is_number, plain_value
from ...errors import InputError, nearest_names, shown

Over = Literal["both", "systems", "inputs"]
OVER: tuple[Over, ...] = ("both", "systems", "inputs")
Alternative = Literal["two-sided", "greater"]
_ALTERNATIVES = ("two-sided", "greater")


def check_resampling(over: str, resamples: Any, seed: Any) -> tuple[int, int]:
    """How often, and the seed."""
    if not isinstance(over, str) or over not in OVER:
        raise InputError(f"over must be {', '.join(OVER[:-1])} or {OVER[-1]}, not {shown(over)}")
    return check_resamples(resamples), check_seed(seed)


def check_resamples(resamples: Any) -> int:
    return check_count("resamples", resamples, 1, MOST_OF_ANYTHING)


def check_alternative(alternative: str, known: tuple[str, ...] = _ALTERNATIVES) -> None:
    check_choice("alternative", alternative, known)


def check_choice(what: str, value: str, known: tuple[str, ...]) -> None:
    if not isinstance(value, str) or value not in known:
        raise InputError(f"unknown {what} {shown(value)}: {nearest_names(value, known)}")


def check_share(what: str, value: Any) -> float:
    value = plain_value(value, what)
    if not (is_number(value) and 0 < value < 1):
        raise InputError(f"{what} must lie between 0 and 1, not {shown(value)}")
    return float(value)
