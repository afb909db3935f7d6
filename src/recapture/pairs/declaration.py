"""What a metric of aligned texts declares about itself, and the registry that finds the declarations.

A metric is one file of this folder. It declares `PAIR = PairMetric(...)` and has a public function of the file's name
that ends in `run.run_metric(PAIR, references, candidates, parameters, ...)`. Its `prepare` gets all references, so that
tables such as idf come from them alone, and returns a scorer of one of two kinds:

- `TextPairScorer`: the score of one candidate and one reference. Several references are joined by the rule
  `over_references`. It is handed distinct pairs, never an empty text, some hundred pairs at a time, sorted so that
  texts that occur together stand together.
- `GroupScorer`: knows what to do with several references, or has a number for the whole corpus that is no mean.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Literal

import numpy as np

from ..declarations import declared
from ..errors import InputError, nearest_names
from ..report.result import Direction
from ..sets.declaration import INFINITY, Output

__all__ = ["INFINITY", "GroupScorer", "Output", "PairMetric", "PairScorer", "Scored", "TextPairScorer"]

Rule = Literal["best", "mean"]
RULES = ("best", "mean")


class PairScorer:
    """A metric made ready: parameters checked, tables made from the references."""

    settings: Mapping[str, Any] = {}
    """All that belongs in the signature: parameters, model, tables."""
    empty: Mapping[str, float] = {}
    """By output, what an empty text scores, where that hangs on the parameters; else see `PairMetric.empty`."""

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        """What a user should know of a system whose candidates and references these are; asked when all is scored."""
        return ()


class TextPairScorer(PairScorer, ABC):
    @abstractmethod
    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        """One float64 number for each (reference, candidate), by output; NaN where the two cannot be compared."""


@dataclass(frozen=True)
class Scored:
    """One candidate list against all references."""

    items: Mapping[str, np.ndarray]
    """One number per candidate, by output."""
    totals: Mapping[str, float] = field(default_factory=dict)
    """Numbers of the whole corpus, where they are not the mean of the items."""


class GroupScorer(PairScorer, ABC):
    @abstractmethod
    def score(self, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> Scored:
        """Every candidate against its own references.

        Empty candidates are among them, since a corpus number has to count them; an empty reference only where an item
        has no other. What is returned for such items is replaced by the rule for empty texts.
        """


@dataclass(frozen=True)
class PairMetric:
    """A declaration, read by the Python functions, the command line, the docs and the shared tests."""

    name: str
    title: str
    outputs: tuple[Output, ...] | Callable[[Mapping[str, Any]], tuple[Output, ...]]
    """The metric's numbers, the main one first; or a function that knows them from the parameters."""
    direction: Direction
    prepare: Callable[..., PairScorer]
    """(references, shared, **parameters) -> scorer; references: for each item a list of texts."""
    citation: str
    defaults: Mapping[str, Any] = field(default_factory=dict)
    """Parameters of `prepare` and their default values."""
    over_references: Rule | None = "best"
    """The usual rule for several references; None for metrics with a rule of their own (GroupScorer)."""
    empty: Mapping[str, float] = field(default_factory=dict)
    """By output, what an empty text scores, where it is not the worst end of the range."""
    order: int = 100
    libraries: tuple[str, ...] = ("numpy",)
    """Packages whose version belongs in the signature."""
    revision: int = 0
    """Grows when the same parameters give other numbers than before: kept scores are then made again."""

    def outputs_for(self, parameters: Mapping[str, Any]) -> tuple[Output, ...]:
        if callable(self.outputs):
            return self.outputs({**self.defaults, **parameters})
        return self.outputs

    def worst(self, output: Output) -> float:
        """What a pair with an empty text scores: the worst bound, or NaN where there is none."""
        if output.name in self.empty:
            return self.empty[output.name]
        bound = output.range[0] if self.direction == "higher" else output.range[1]
        return bound if math.isfinite(bound) else math.nan

    def checked(self, parameters: Mapping[str, Any]) -> dict[str, Any]:
        """All parameters, defaults filled in."""
        for name in parameters:
            if name not in self.defaults:
                known = nearest_names(name, self.defaults) if self.defaults else "it has none"
                raise InputError(f"{self.name} has no option {name!r}: {known}")
        return {**self.defaults, **parameters}


@lru_cache(maxsize=1)
def _registry() -> dict[str, PairMetric]:
    found = declared(f"{__package__}.metrics", "PAIR", PairMetric)
    return {metric.name: metric for metric in sorted(found, key=lambda metric: (metric.order, metric.name))}


def list_pair_metrics() -> dict[str, PairMetric]:
    """The declarations of all metrics of aligned texts, by name."""
    return dict(_registry())


def find_pair_metric(name: str) -> PairMetric:
    """A metric by its name; `me_words` and `me-words` are the same."""
    registry = _registry()
    wanted = name.strip().lower().replace("_", "-")
    if wanted not in registry:
        raise InputError(f"unknown pair metric {name!r}: {nearest_names(wanted, registry)}")
    return registry[wanted]


def choose_pair_metrics(names: str | Iterable[str] | None) -> list[PairMetric]:
    """Declarations for names given as a list or as one comma-separated string; all metrics for None."""
    if names is None:
        return list(_registry().values())
    listed = names.split(",") if isinstance(names, str) else list(names)
    chosen = {metric.name: metric for metric in (find_pair_metric(str(name)) for name in listed if str(name).strip())}
    if not chosen:
        raise InputError("no metric was named")
    return list(chosen.values())
