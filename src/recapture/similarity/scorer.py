"""What a metric between two texts declares about itself.

A metric is one file of this folder that declares `METRIC = Similarity(...)`. `contexts` then has triangle ranks, means
over candidates and dispersions of it without further code.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np

from ..declarations import Declaration, Direction, Output, Registry

Rule = Literal["best", "mean"]
RULES: tuple[Rule, ...] = ("best", "mean")
"""How the scores of a candidate against several references become one."""


class Scorer(ABC):
    """A metric between two texts made ready: tables loaded, parameters fixed."""

    settings: Mapping[str, Any] = {}
    """Choices made on the way that belong in the signature."""

    @abstractmethod
    def cross(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        """(hypotheses, references) float64: the score of every hypothesis against every reference alone."""

    def warnings(self, texts: Collection[str] = ()) -> Sequence[str]:
        """What makes the scores of these texts say less than they seem to."""
        return ()

    def expect(self, groups: Iterable[Sequence[str]]) -> None:  # noqa: B027 - most have nothing to do
        """`squares` will be asked for each of these groups, once: what is made of a text may serve for all of them."""

    def pairs(self, pairs: Sequence[tuple[str, str]]) -> np.ndarray:
        """One score for every (reference, candidate)."""
        return np.array([self.cross([candidate], [reference])[0, 0] for reference, candidate in pairs])

    def squares(self, groups: Sequence[Sequence[str]]) -> list[np.ndarray]:
        """For every group, its texts (rows, as hypotheses) against its own texts (columns, as references)."""
        return [self.cross(group, group) for group in groups]


class VectorScorer(Scorer):
    """One that compares vectors of whole texts, which others may have made before."""

    @abstractmethod
    def squares_of(self, groups: Sequence[Sequence[str]], vectors: Sequence[np.ndarray]) -> list[np.ndarray]:
        """`squares` from the vectors of each group's texts."""


@dataclass(frozen=True, kw_only=True)
class Similarity(Declaration):
    """A declaration, read by the Python functions, the command line, the docs and the shared tests."""

    direction: Direction = "higher"
    outputs: tuple[Output, ...] = (Output("value", "the score of two texts"),)
    prepare: Callable[..., Scorer]
    """(**parameters) -> Scorer"""
    over_references: Rule = "best"
    """The metric's usual rule where a text has several references."""
    corpus_options: Callable[[Sequence[Sequence[str]], Mapping[str, Any]], Mapping[str, Any]] | None = None
    """(references by context, options) -> options with what comes from all references of a corpus, such as a table."""
    reference_options: Callable[[Sequence[str], Mapping[str, Any]], Mapping[str, Any]] | None = None
    """(references, options) -> options with what is learnt from the references of one context alone."""
    on_vectors: bool = False
    """Whether it compares vectors of whole texts, made once for all metrics: `prepare` then gives a VectorScorer."""

    @property
    def range(self) -> tuple[float, float]:
        return self.outputs[0].range

    def distance(self, scores: np.ndarray) -> np.ndarray:
        """Scores turned so that a text is at distance 0 from itself: 1 - METEOR, 10 - CIDEr-D."""
        return scores if self.direction == "lower" else self.range[1] - scores

    def scorer(self, **parameters: Any) -> Scorer:
        return self.prepare(**self.checked(parameters))


METRICS = Registry(Similarity, __package__, "pairwise metric")
"""Those of this folder; `contexts.pairwise` has them all."""
