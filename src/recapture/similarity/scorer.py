"""What a metric between two texts declares about itself, and the registry that finds the declarations."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..declarations import declared
from ..errors import InputError, nearest_names
from ..report.result import Direction


class Scorer(ABC):
    """A pairwise metric made ready: tables loaded, parameters fixed."""

    settings: Mapping[str, Any] = {}
    """Choices made on the way that belong in the signature."""

    @abstractmethod
    def cross(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """(hypotheses, references) float64: the score of every hypothesis against every reference alone."""

    def squares(self, groups: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """For every group, its texts (rows, as hypotheses) against its own texts (columns, as references)."""
        return [self.cross(group, group) for group in groups]


@dataclass(frozen=True)
class Pairwise:
    """A declaration, read by the Python functions, the command line, the docs and the shared tests."""

    name: str
    title: str
    prepare: Callable[..., Scorer]
    """(**parameters) -> Scorer"""
    citation: str
    range: tuple[float, float] = (0.0, 1.0)
    direction: Direction = "higher"
    over_references: Literal["max", "mean"] = "max"
    """The metric's usual rule where a text has several references."""
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of `prepare` and their default values."""
    order: int = 100
    libraries: tuple[str, ...] = ("numpy",)
    """Packages whose version belongs in the signature."""

    def distance(self, scores: np.ndarray) -> np.ndarray:
        """Scores turned so that a text is at distance 0 from itself: 1 - METEOR, 10 - CIDEr-D."""
        return scores if self.direction == "lower" else self.range[1] - scores

    def scorer(self, **parameters: Any) -> Scorer:
        for name in parameters:
            if name not in self.defaults:
                known = nearest_names(name, self.defaults) if self.defaults else "it has none"
                raise InputError(f"{self.name} has no option {name!r}: {known}")
        return self.prepare(**{**self.defaults, **parameters})


@lru_cache(maxsize=1)
def _registry() -> dict[str, Pairwise]:
    found = declared(__package__, "PAIRWISE", Pairwise)
    return {metric.name: metric for metric in sorted(found, key=lambda metric: (metric.order, metric.name))}


def list_pairwise() -> dict[str, Pairwise]:
    """The declarations of all pairwise metrics, by name."""
    return dict(_registry())


def find_pairwise(name: str) -> Pairwise:
    """A pairwise metric by its name; `rouge_l` and `rouge-l` are the same."""
    registry = _registry()
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in registry:
        raise InputError(f"unknown pairwise metric {name!r}: {nearest_names(wanted, registry)}")
    return registry[wanted]
