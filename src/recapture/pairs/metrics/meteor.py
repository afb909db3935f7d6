"""METEOR 1.5 of candidates against their own references; the formula is in `similarity.sentence_meteor`."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Literal

from ...similarity.scorer import Rule
from ...similarity.sentence_meteor import METRIC as SIMILARITY
from ..declaration import Output, PairMetric
from ..evaluate import Answer, Candidates, References, pair_function, run_metric
from ..from_similarity import SimilarityPairScorer

_PathLike = str | os.PathLike[str]


@pair_function
def meteor(
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
    over_references: Rule | None = None,
) -> Answer:
    """METEOR 1.5 of each candidate against its own references, and the mean, 0 to 1; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the best counts.
    {candidates}
    jar : path, optional
        The authors' program, meteor-1.5.jar, or its folder, for METEOR's whole setting (exact, stem, synonym,
        paraphrase): scores are then those of the program with -l en -norm. Nothing of it is run. Its lists of function
        words and abbreviations and its synonyms are read, and data/paraphrase-en.gz in its folder. What is named by
        another option takes the place of the jar's own.
    tokenize : {"meteor", "caption", "split"} or callable
        "meteor" (as the Java program with -norm), "caption" (Penn Treebank words without punctuation), "split" (at
        spaces), or a function from a text to its tokens.
    stemmer : str, callable or None
        "english" (the stems of METEOR 1.5, whatever is installed), another Snowball language (which needs
        recapture[stems]), or a function from a word to its stem; None: no stem stage.
    wordnet : path or "auto", optional
        A WordNet folder for the synonym stage, or meteor-1.5.jar, whose synonyms are WordNet 3.0's; "auto" takes the
        first WordNet found on this machine. By default there is no such stage, so that scores are the same on every
        machine.
    paraphrases : path, optional
        A paraphrase table in METEOR's format, plain or .gz. By default there is no such stage.
    function_words : path or iterable of str, optional
        The words, or a file with one on each line. By default the list of this package.
    alpha, beta, gamma, delta : float
        The formula's parameters: the weight of recall, the exponent and the weight of the penalty for many chunks, and
        the weight of content words.
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the best (default) or the mean.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.value` is the mean over candidates, `.scores`
        has one entry per candidate. The signature says which stages ran and from which data.

    Notes
    -----
    The Java program's score of a whole system is another number, `corpus_meteor`: it pools the counts of all texts.

    Examples
    --------
    A match of stems counts 0.6.

    >>> import recapture as rc
    >>> result = rc.meteor(["cat", "it rained all day"], ["cats", "it rained all day"])
    >>> result.scores.round(4).tolist()
    [0.6, 1.0]
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
    return run_metric(METRIC, references, candidates, parameters, over_references)


def _prepare(references: Sequence[Sequence[str]], shared: Any, **parameters: Any) -> SimilarityPairScorer:
    return SimilarityPairScorer(SIMILARITY.scorer(**parameters))


def meteor_caption(signature: Mapping[str, Any]) -> str:
    """What a table says of METEOR's settings: nothing of the usual ones."""
    if signature["stages"] == ["exact", "stem"] and "jar" not in signature:
        return ""
    return ", ".join(signature["stages"]) + ("; lists and tokens of the jar" if "jar" in signature else "")


METRIC = PairMetric(
    name=SIMILARITY.name,
    title=SIMILARITY.title,
    outputs=(Output("value", "words aligned, weighted, in few chunks"),),
    direction=SIMILARITY.direction,
    prepare=_prepare,
    defaults=SIMILARITY.defaults,
    order=150,
    libraries=SIMILARITY.libraries,
    caption=meteor_caption,
    revision=1,
    citation=SIMILARITY.citation,
)
