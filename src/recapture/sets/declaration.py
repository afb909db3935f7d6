"""What a metric declares about itself, and the registry that finds the declarations."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from ..declarations import declared
from ..errors import InputError, nearest_names
from ..geometry.labels import Labels
from ..report.result import Direction

if TYPE_CHECKING:
    from .pair import Pair

INFINITY = float("inf")

Relabelled = Callable[[Labels], Mapping[str, np.ndarray]]
"""What `Metric.relabel` prepares: from a batch of labellings to one number per labelling, by output."""


@dataclass(frozen=True)
class Output:
    """One number of a metric."""

    name: str
    meaning: str
    range: tuple[float, float] = (0.0, 1.0)
    main: bool = True
    """Whether tables show it; what they leave out is in JSON and CSV."""


@dataclass(frozen=True)
class Measurement:
    """What a metric's function returns: numbers, and what stands behind them."""

    values: Mapping[str, float]
    details: Mapping[str, Any] = field(default_factory=dict)
    arrays: Mapping[str, Any] = field(default_factory=dict)
    """One entry per sample."""
    curves: Mapping[str, Any] = field(default_factory=dict)
    """Arrays that belong to no sample."""
    warnings: tuple[str, ...] = ()
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Choices made on the way that belong in the signature."""


@dataclass(frozen=True)
class Metric:
    """A declaration, read by the Python functions, the command line, the docs and the shared tests."""

    name: str
    title: str
    outputs: tuple[Output, ...]
    direction: Direction
    measure: Callable[..., Measurement]
    """(pair, **parameters) -> Measurement"""
    citation: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of `measure` and their default values."""
    swapped: Mapping[str, str] = field(default_factory=dict)
    """Which output each output becomes when reference and candidate change places, where there is such a rule."""
    relabel: Callable[..., Relabelled] | None = None
    """(pair, **parameters) -> the metric's numbers under any labellings of the pooled samples."""
    rounding: Callable[[Pair], float] = lambda pair: 1e-14
    """How far rounding alone may move a number: differences below say nothing in a test."""
    order: int = 100
    """Place in tables and lists."""
    needs: str = "vectors"
    least_samples: int = 2
    """Fewest samples a side must have."""
    libraries: tuple[str, ...] = ("numpy",)
    """Packages whose version belongs in the signature."""

    @property
    def uses_neighbours(self) -> bool:
        return "k" in self.defaults


@lru_cache(maxsize=1)
def _registry() -> dict[str, Metric]:
    found = declared(f"{__package__}.metrics", "METRIC", Metric)
    return {metric.name: metric for metric in sorted(found, key=lambda metric: (metric.order, metric.name))}


def list_metrics() -> dict[str, Metric]:
    """The declarations of all metrics, by name."""
    return dict(_registry())


def find_metric(name: str) -> Metric:
    """A metric by its name; `mark_evaluate` and `mark-evaluate` are the same."""
    registry = _registry()
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in registry:
        raise InputError(f"unknown metric {name!r}: {nearest_names(wanted, registry)}")
    return registry[wanted]
