"""METEOR 1.5 of a system as the authors' program has it: one score over the counts of all texts.

What is aligned, what there is and the chunks are summed over all items before the formula of
`similarity.sentence_meteor`, of several references those of the best one. pycocoevalcap reports this number, with the
jar's whole setting.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Literal

import numpy as np

from ...similarity.sentence_meteor import METRIC as SIMILARITY
from ...similarity.sentence_meteor import MeteorScorer
from ..declaration import GroupScorer, Output, PairMetric, PairScores
from ..evaluate import Answer, Candidates, References, pair_function, run_metric
from .meteor import meteor_caption

_PathLike = str | os.PathLike[str]
_EQUAL = 1e-12
"""Scores that differ by less are equal: of equally good references the first counts, as in the program."""


@pair_function
def corpus_meteor(
    references: References,
    candidates: Candidates,
    *,
    jar: _PathLike | None = None,
    tokenize: Literal["meteor", "caption", "split"] | Callable[[str], Sequence[str]] = "meteor",
    stemmer: str | Callable[[str], str] | None = "english",
    wordnet: _PathLike | None = None,
    paraphrases: _PathLike | None = None,
    function_words: _PathLike | Iterable[str] | None = None,
    alpha: float = 0.85,
    beta: float = 0.2,
    gamma: float = 0.6,
    delta: float = 0.75,
) -> Answer:
    """METEOR 1.5 of a system by the counts of all its texts together, 0 to 1; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the best counts.
    {candidates}
    jar, tokenize, stemmer, wordnet, paraphrases, function_words, alpha, beta, gamma, delta
        As for `meteor`.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.value` is the system's number, `.scores` has
        one entry per candidate, the same as `meteor` has.

    Notes
    -----
    With `jar` the number is the one that the authors' program and pycocoevalcap report for a system. It weighs long
    texts more than the mean of `meteor` does.

    Examples
    --------
    Three of four words are aligned, and precision and recall are 3/4, all words being content words; the one chunk
    covers its own pair of texts, and costs nothing.

    >>> import recapture as rc
    >>> result = rc.corpus_meteor(["red birds sing", "rain"], ["red birds sing", "snow"])
    >>> round(result.value, 4), round(float(result.scores.mean()), 4)
    (0.75, 0.5)
    """
    parameters = {
        "jar": jar,
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
    return run_metric(METRIC, references, candidates, parameters)


class CorpusMeteorScorer(GroupScorer):
    def __init__(self, scorer: MeteorScorer) -> None:
        self._scorer = scorer
        self.settings = scorer.settings

    def score(self, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> PairScores:
        scores, chosen = [], []
        for group, candidate in zip(references, candidates, strict=True):
            counts = [self._scorer.counts(candidate, reference) for reference in group]
            rated = [self._scorer.total([each]) for each in counts]
            scores.append(max(rated))
            chosen.append(next(each for each, score in zip(counts, rated, strict=True) if score > scores[-1] - _EQUAL))
        return PairScores({"value": np.array(scores)}, {"value": self._scorer.total(chosen)})


def _prepare(references: Sequence[Sequence[str]], shared: Any, **parameters: Any) -> CorpusMeteorScorer:
    return CorpusMeteorScorer(MeteorScorer(**SIMILARITY.checked(parameters)))


METRIC = PairMetric(
    name="corpus-meteor",
    title="METEOR 1.5, counts of all texts together",
    outputs=(Output("value", "words aligned, weighted, in few chunks"),),
    direction="higher",
    prepare=_prepare,
    defaults=SIMILARITY.defaults,
    over_references=None,
    order=155,
    libraries=SIMILARITY.libraries,
    caption=meteor_caption,
    citation=SIMILARITY.citation,
)
