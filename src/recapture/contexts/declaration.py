"""What a metric of contexts declares about itself.

A family of metrics is one file of `metrics/` whose `METRIC` is a declaration or a function that makes several: one for
every metric between two texts, or for every metric of two sets.

trm-NAME         triangle rank over the distances of a metric between two texts
NAME             that metric's mean over candidates, by its own rule over references; NAME-best, NAME-mean
dispersion-NAME  mean distance within each side
mmd, frechet ... every metric of two sets of vectors
self-bleu, distinct-1, distinct-2   variety of each side, without looking at the other
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..checks import is_one_of
from ..declarations import Declaration, Output, Registry
from ..errors import InputError, nearest_names, shown
from ..geometry.triangles import Ties
from .pairwise import PAIRWISE
from .uncertainty import Asked, ContextScores

SIDES = ("reference", "candidate")
OF_EACH_SIDE = "each side is measured by itself, so there is no difference to test"
"""Why metrics without a direction have no p-value."""
TIES = ("split", "paper")
"""Rules for edges of one length in a triangle."""


@dataclass(frozen=True)
class Batch:
    """Contexts of one shape, with what their metrics need."""

    references: int
    candidates: int
    texts: Sequence[Sequence[str]]
    """Of each context, references first."""
    squares: Mapping[str, np.ndarray]
    """Scores of all texts of each context against each other, by metric between two texts: (contexts, texts, texts)."""
    vectors: Sequence[np.ndarray] = ()


@dataclass(frozen=True)
class Settings:
    """Choices that hold for all metrics of a run."""

    ties: Ties = "split"
    directed: bool = False
    seed: int = 0


def check_ties(ties: Any) -> None:
    if not is_one_of(ties, TIES):
        raise InputError(f"unknown rule for ties {shown(ties)}: {nearest_names(ties, TIES)}")


@dataclass(frozen=True, kw_only=True)
class ContextMetric(Declaration):
    """One metric of contexts."""

    outputs: tuple[Output, ...] = (Output("value", "the context's score"),)
    score: Callable[[Batch, Settings, Asked], list[ContextScores]]
    least: tuple[int, int] = (2, 1)
    """Fewest references and candidates."""
    similarity: str | None = None
    """The metric between two texts whose scores it needs."""
    vectors: bool = False
    ranks_triangles: bool = False
    """Whether the rule for ties, and `directed`, are about it."""
    varies_with_size: bool = False
    """Whether sides of different sizes cannot be compared by it."""
    no_pvalue: str = ""
    """Why it has no p-value; empty where it has one."""
    tuned: Callable[[Mapping[str, Any]], ContextMetric] | None = None
    """(parameters) -> the same metric with parameters of its own, where it has any."""

    @property
    def tested(self) -> bool:
        return not self.no_pvalue

    def too_small(self, references: int, candidates: int) -> str | None:
        """Why a context cannot be scored, if it cannot."""
        for side, count, least in zip(("references", "candidates"), (references, candidates), self.least, strict=True):
            if count < least:
                return f"{count} {side[:-1] if count == 1 else side}, needs {least}"
        return None


def usual_metrics(encoder: Any = None, offline: bool | None = None) -> tuple[list[ContextMetric], str]:
    """The usual metrics that can run here by the encoder that was named, and a sentence about those left out."""
    from ..representations.available import SENTENCES, mending

    def missing(metric: ContextMetric) -> str | None:
        on_vectors = metric.similarity is not None and PAIRWISE.find(metric.similarity).on_vectors
        needed = encoder is None and (metric.vectors or on_vectors)
        return mending(SENTENCES, encoder=True, offline=offline) if needed else None

    return METRICS.usual_that_run(missing)


METRICS = Registry(
    ContextMetric,
    f"{__package__}.metrics",
    "metric of contexts",
    ("trm-meteor", "trm-cider", "trm-embedding", "mmd", "frechet", "mauve", "meteor", "cider"),
)
