"""CIDEr-D of candidates against their own references; the formula is in `similarity.sentence_cider`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence, Set
from typing import Any

from ...lexical.ngrams import DocumentFrequencies
from ...lexical.tokens import caption_tokens
from ...similarity.scorer import Rule
from ...similarity.sentence_cider import METRIC as SIMILARITY
from ..declaration import Output, PairMetric
from ..evaluate import Answer, Candidates, References, pair_function, run_metric
from ..from_similarity import SimilarityPairScorer


@pair_function
def cider(
    references: References,
    candidates: Candidates,
    *,
    df: DocumentFrequencies | str | os.PathLike[str] | None = None,
    sigma: float = 6.0,
    tokenize: Callable[[str], list[str]] | None = None,
    over_references: Rule | None = None,
) -> Answer:
    """CIDEr-D of each candidate against its own references, and the mean, 0 to 10; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, whose mean counts.
    {candidates}
    df : DocumentFrequencies or path, optional
        Document frequencies, or a file of them. By default every entry of `references` is one document.
    sigma : float
        How much texts of different lengths may differ: the width of the length penalty.
    tokenize : callable, optional
        From a text to its tokens. By default caption tokens (Penn Treebank style, without punctuation).
    over_references : {"best", "mean"}, optional
        What several references of one candidate give: the mean (default) or the best.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.value` is the mean of `.scores`, which has one
        entry per candidate.

    See Also
    --------
    caption_tokens, DocumentFrequencies

    Examples
    --------
    An equal text of four tokens or more scores 10 if other documents do not have all of its n-grams.

    >>> import recapture as rc
    >>> references = [["a dog runs on grass"], ["two people eat lunch outside"]]
    >>> rc.cider(references, ["a dog runs on grass", "a cat"]).scores.round(4).tolist()
    [10.0, 0.0]
    """
    return run_metric(METRIC, references, candidates, {"df": df, "sigma": sigma, "tokenize": tokenize}, over_references)


class CiderPairScorer(SimilarityPairScorer):
    def warnings(self, texts: Set[str]) -> Sequence[str]:
        if self.settings["df"]["documents"] > 1:
            return ()
        return ("document frequencies come from a single document: all n-grams weigh 0 and so does every score",)


def _prepare(references: Sequence[Sequence[str]], shared: Any, df: Any, sigma: Any, tokenize: Any) -> CiderPairScorer:
    if df is None:
        counted_by = tokenize if callable(tokenize) else caption_tokens
        df = DocumentFrequencies.from_references(references, tokenize=counted_by)
    return CiderPairScorer(SIMILARITY.scorer(df=df, sigma=sigma, tokenize=tokenize))


METRIC = PairMetric(
    name=SIMILARITY.name,
    title=SIMILARITY.title,
    outputs=(Output("value", "n-grams shared, rare ones weighing more", SIMILARITY.range),),
    direction=SIMILARITY.direction,
    prepare=_prepare,
    defaults=SIMILARITY.defaults,
    over_references="mean",
    order=160,
    libraries=SIMILARITY.libraries,
    revision=1,
    citation=SIMILARITY.citation,
)
