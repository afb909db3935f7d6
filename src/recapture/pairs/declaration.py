"""What a metric of aligned texts declares about itself.

A metric is one file of `metrics/`. It declares `METRIC = PairMetric(...)` and has a public function of the file's name
that ends in `evaluate.run_metric(METRIC, references, candidates, parameters, ...)`. Its `prepare` gets all references,
since tables such as idf come from them alone, and returns a scorer of one of two kinds:

- `TextPairScorer`: the score of one candidate and one reference. Several references are joined by the rule
  `over_references`. It gets distinct pairs without empty texts, some hundred pairs at a time, sorted so that pairs
  with the same reference are neighbours. With `between_texts` it is a metric between two texts, too: `contexts` then
  has triangle ranks, means over candidates and dispersions of it without further code.
- `GroupScorer`: has its own rule for several references, or a number for the whole corpus that is not a mean.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence, Set
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..declarations import INFINITY, Declaration, Direction, Output, Registry
from ..similarity.scorer import Rule

__all__ = [
    "INFINITY",
    "METRICS",
    "Counted",
    "GroupScorer",
    "Output",
    "PairMetric",
    "PairScorer",
    "PairScores",
    "TextPairScorer",
    "list_pair_metrics",
]


class PairScorer:
    """A metric made ready: parameters checked, tables made from the references."""

    settings: Mapping[str, Any] = {}
    """All that belongs in the signature: parameters, model, tables."""
    empty: Mapping[str, float] = {}
    """By output, what an empty text scores, where that depends on the parameters; else see `PairMetric.empty`."""

    def apart(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        """By output, what each (reference, candidate) would score if the two never met, where that is not the same for
        all. A pair with an empty text scores so; one of the two may be empty, or both."""
        return {}

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        """What a user should know about a system with these candidates and references; called after all is scored."""
        return ()


class TextPairScorer(PairScorer, ABC):
    symmetric: bool = False
    """Whether a pair's main number is the same with its texts exchanged, but for rounding."""

    @abstractmethod
    def score(self, pairs: Sequence[tuple[str, str]]) -> Mapping[str, np.ndarray]:
        """One float64 number for each (reference, candidate), by output; NaN where the two cannot be compared."""

    def ahead(self, pairs: Sequence[tuple[str, str]]) -> None:
        """These pairs are scored next but one: a device may begin with them. The very same list is then scored."""

    def looks(self, texts: Sequence[str]) -> Sequence[Hashable]:
        """For each text what the metric sees of it: texts that look alike score alike, so that one stands for all."""
        return texts

    def hold(self, texts: Sequence[str]) -> None:
        """What is made of these texts will be asked for again: keep it until they are released."""

    def release(self, texts: Sequence[str]) -> None:
        """Undo `hold` once for each of them."""


@dataclass(frozen=True)
class Counted:
    """A number as a formula of sums over items, so that other weights of the same items are one product away."""

    items: np.ndarray
    """(items, columns) what each item adds to every sum"""
    formula: Callable[[np.ndarray], np.ndarray]
    """(corpora, columns) sums -> (corpora,) numbers"""


@dataclass(frozen=True)
class PairScores:
    """One candidate list against all references."""

    items: Mapping[str, np.ndarray]
    """One number per candidate, by output."""
    totals: Mapping[str, float] = field(default_factory=dict)
    """Numbers of the whole corpus, where they are not the mean of the items."""
    counted: Mapping[str, Counted] = field(default_factory=dict)
    """Those of the totals that are a formula of sums over items."""


class GroupScorer(PairScorer, ABC):
    @abstractmethod
    def score(self, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> PairScores:
        """Every candidate against its own references.

        Empty candidates are among them, since a corpus number has to count them. A reference is empty only if its item
        has no other. The scores of such items are replaced by the rule for empty texts.
        """


@dataclass(frozen=True, kw_only=True)
class PairMetric(Declaration):
    """A declaration, read by the Python functions, the command line, the docs and the shared tests."""

    direction: Direction
    prepare: Callable[..., PairScorer]
    """(references, shared, **parameters) -> scorer; references: for each item a list of texts."""
    over_references: Rule | None = "best"
    """The usual rule for several references; None for metrics with a rule of their own (GroupScorer)."""
    empty: Mapping[str, float] = field(default_factory=dict)
    """By output, what two texts score that never meet, and so an empty one, if it is not the worst end of the range."""
    equal: Mapping[str, float] = field(default_factory=dict)
    """By output, what two equal texts score, and so two empty ones, if it is not the best end of the range."""
    between_texts: str = ""
    """The one of its numbers by which any two texts can be compared, as a distance of contexts; empty: none. Its
    scorer is then a TextPairScorer."""
    caption: Callable[[Mapping[str, Any]], str] | None = None
    """From a result's signature to what a table should say of the metric's settings."""
    revision: int = 0
    """Grows when the same parameters give other numbers than before: kept scores are then made again."""


METRICS = Registry(
    PairMetric,
    f"{__package__}.metrics",
    "pair metric",
    ("infolm", "me-words", "bertscore", "moverscore", "bleu", "chrf", "rouge", "meteor"),
)


def usual_metrics(encoder: Any = None, model: Any = None, offline: bool | None = None) -> tuple[list[PairMetric], str]:
    """The usual metrics that can run here by the models that were named, and a sentence about those left out."""
    from ..representations.available import mending

    def missing(metric: PairMetric) -> str | None:
        default = {name: name in metric.defaults and given is None for name, given in named.items()}
        return mending(metric.libraries, **default, offline=offline)

    named = {"encoder": encoder, "model": model}
    return METRICS.usual_that_run(missing)


def list_pair_metrics() -> dict[str, PairMetric]:
    """The declarations of all metrics of aligned texts, by name.

    Returns
    -------
    dict
        Name to declaration: title, outputs, direction, defaults, citation.

    Examples
    --------
    >>> import recapture as rc
    >>> rc.list_pair_metrics()["bleu"].defaults
    {'tokenize': '13a', 'lowercase': False}
    """
    return METRICS.all()
