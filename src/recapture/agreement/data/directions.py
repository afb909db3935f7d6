"""Which way of a score is better: from what recapture's metrics declare, or from the caller."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from fnmatch import fnmatchcase
from functools import lru_cache
from typing import Any

import numpy as np

from ...checks import numbers_of
from ...declarations import Direction
from ...errors import InputError, nearest_names, shown
from .score_matrix import listed


def oriented(scores: Any, direction: Direction) -> np.ndarray:
    """Scores for which higher is better."""
    return -as_floats(scores) if direction == "lower" else as_floats(scores)


def as_floats(scores: Any, what: str = "scores") -> np.ndarray:
    return numbers_of(scores, what)


def declared_direction(column: str) -> Direction | None:
    """Of a column called METRIC or METRIC.NUMBER, as recapture writes them; None where the name is not known."""
    name, _, number = column.strip().lower().partition(".")
    known = _declared().get(name.replace("_", "-"))
    if known is None:
        return None
    direction, numbers = known
    return direction if not number or numbers is None or number in numbers else None


def chosen_directions(
    metrics: Iterable[str], criteria: Iterable[str], given: Mapping[str, str] | str | None
) -> dict[str, Direction | None]:
    """Of every column: the caller's word, else the declaration's; ratings of which nobody says anything: higher.

    given: by name, where names with * or ? stand for all columns they fit; or one word for all metrics.
    """
    metrics = list(metrics)
    if given is not None and not isinstance(given, (str, Mapping)):
        raise InputError(f"directions are 'higher', 'lower' or a mapping from names to these, not {shown(given)}")
    ways: dict[str, Direction | None] = {name: declared_direction(name) or "higher" for name in criteria}
    ways |= {name: declared_direction(name) for name in metrics}
    words = dict.fromkeys(metrics, given) if isinstance(given, str) else dict(given or {})
    said: dict[str, tuple[str, str]] = {}
    for name in words:
        if words[name] not in ("higher", "lower"):
            raise InputError(f"the direction of {name!r} must be 'higher' or 'lower', not {shown(words[name])}")
        fits = [name] if name in ways else [column for column in ways if fnmatchcase(column, name)]
        if not fits:
            raise InputError(f"a direction is given for {name!r}, which is no column: {nearest_names(name, ways)}")
        for column in fits:
            before, word = said.setdefault(column, (name, words[name]))
            if word != words[name]:
                raise InputError(
                    f"{column!r} is said to be better {word} (by {before!r}) and {words[name]} (by {name!r})"
                )
            ways[column] = "lower" if word == "lower" else "higher"
    return ways


def no_direction(names: Iterable[str]) -> InputError:
    said = f"which way is better is not known of {listed(list(names))}: say whether higher or lower is"
    return InputError(said, options=["directions"])


def contrary(metrics: Iterable[str], chosen: Mapping[str, Direction | None]) -> list[str]:
    """A note on each metric that the caller turned round: the caller's word wins, but may be a slip."""
    notes = []
    for name in metrics:
        declared = declared_direction(name)
        if declared is not None and chosen[name] != declared:
            notes.append(
                f"{name}: {chosen[name]} is taken as better, as asked for, though recapture knows it as "
                f"{declared}-is-better"
            )
    return notes


@lru_cache(maxsize=1)
def _declared() -> dict[str, tuple[Direction, frozenset[str] | None]]:
    """By metric: the direction, and its numbers (None: they depend on parameters)."""
    from ...contexts.declaration import METRICS as OF_CONTEXTS
    from ...pairs.declaration import METRICS as OF_PAIRS
    from ...sets.declaration import METRICS as OF_SETS

    directions: dict[str, tuple[Direction, frozenset[str] | None]] = {}
    for metrics in (OF_CONTEXTS.all(), OF_SETS.all(), OF_PAIRS.all()):
        for name, metric in metrics.items():
            if metric.direction is not None:
                fixed = None if callable(metric.outputs) else frozenset(one.name.lower() for one in metric.outputs)
                directions[name] = metric.direction, fixed
    return directions
