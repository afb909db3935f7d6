"""METEOR 1.5 of candidates against their own references; the formula is in `pairwise.meteor`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from ...similarity.scorer import Rule, Scorer
from ...similarity.sentence_meteor import METRIC as SIMILARITY
from ..declaration import Output, PairMetric, TextPairScorer
from ..evaluate import pair_function, run_metric

_PathLike = str | os.PathLike[str]


@pair_function
def meteor(
    references: Any,
    candidates: Any,
    *,
    tokenize: str | Callable[[str], Sequence[str]] = "meteor",
    stemmer: str | Callable[[str], str] | None = "english",
    wordnet: _PathLike | None = None,
    paraphrases: _PathLike | None = None,
    function_words: _PathLike | Iterable[str] | None = None,
    alpha: float = 0.85,
    beta: float = 0.2,
    gamma: float = 0.6,
    delta: float = 0.75,
    over_references: Rule | None = None,
) -> Any:
    """METEOR of each candidate against its own references: a text, or a list of texts of which the best counts.

    `.value` is the mean over candidates, `.scores` has one entry for each. (The jar's score of a whole system is
    another number: it pools the counts of all texts.) candidates: texts, or several such lists by name.

    tokenize: "meteor" (the jar's -norm), "caption" (Penn Treebank words without punctuation), "split" (at spaces), or a
    function from text to tokens.
    stemmer: a Snowball language, a function from word to stem, or None: no stem stage.
    wordnet: a WordNet folder for the synonym stage; "auto", the first one found on this machine; or None: no such
    stage, so that scores are the same on every machine.
    paraphrases: a table in METEOR's format, plain or .gz; None: no such stage.
    function_words: words, or a file with one on each line; None: this package's list.
    over_references: "mean" for the mean over references instead of the best.

    The signature says which stages ran and from which data.
    """
    parameters = {
        "tokenize": tokenize,
        "stemmer": stemmer,
        "wordnet": wordnet,
        "paraphrases": paraphrases,
        "function_words": function_words,
        "alpha": alpha,
        "beta": beta,
        "gamma": gamma,
        "delta": delta,
    }
    return run_metric(METRIC, references, candidates, parameters, over_references)


class _Scorer(TextPairScorer):
    def __init__(self, scorer: Scorer) -> None:
        self._scorer = scorer
        self.settings = scorer.settings

    def score(self, pairs: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
        crossed = self._scorer.cross
        return {"value": np.array([crossed([candidate], [reference])[0, 0] for reference, candidate in pairs])}


def _prepare(references: Sequence[Sequence[str]], shared: Any, **parameters: Any) -> _Scorer:
    return _Scorer(SIMILARITY.scorer(**parameters))


METRIC = PairMetric(
    name=SIMILARITY.name,
    title=SIMILARITY.title,
    outputs=(Output("value", "words aligned, weighted, in few chunks"),),
    direction=SIMILARITY.direction,
    prepare=_prepare,
    defaults=SIMILARITY.defaults,
    order=150,
    libraries=SIMILARITY.libraries,
    citation=SIMILARITY.citation,
)
