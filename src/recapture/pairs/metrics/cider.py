"""CIDEr-D of candidates against their own references; the formula is in `pairwise.cider`."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence, Set
from typing import Any, cast

import numpy as np

from ...lexical.ngrams import DocumentFrequencies
from ...lexical.tokens import caption_tokens
from ...similarity.scorer import Rule
from ...similarity.sentence_cider import METRIC as SIMILARITY
from ...similarity.sentence_cider import CiderScorer
from ..declaration import Output, PairMetric, TextPairScorer
from ..evaluate import pair_function, run_metric


@pair_function
def cider(
    references: Any,
    candidates: Any,
    *,
    df: DocumentFrequencies | str | os.PathLike[str] | None = None,
    sigma: float = 6.0,
    tokenize: Callable[[str], list[str]] | None = None,
    over_references: Rule | None = None,
) -> Any:
    """CIDEr-D of candidates, each against its own reference or list of references: `.value` is the mean over `.scores`.

    df: document frequencies or a file of them; without it every entry of `references` is one document.
    tokenize: from a text to its tokens; without it caption tokens (Penn Treebank style, without punctuation).
    candidates: texts, or several such lists by name. over_references: "best" for the best reference, not the mean.
    """
    return run_metric(METRIC, references, candidates, {"df": df, "sigma": sigma, "tokenize": tokenize}, over_references)


class _Scorer(TextPairScorer):
    def __init__(self, scorer: CiderScorer) -> None:
        self._scorer = scorer
        self.settings = scorer.settings

    def score(self, pairs: Sequence[tuple[str, str]]) -> dict[str, np.ndarray]:
        made = self._scorer.many(([candidate], [reference]) for reference, candidate in pairs)
        return {"value": np.array([each[0, 0] for each in made])}

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        if self.settings["df"]["documents"] > 1:
            return ()
        return ("document frequencies come from a single document: all n-grams weigh 0 and so does every score",)


def _prepare(references: Sequence[Sequence[str]], shared: Any, df: Any, sigma: Any, tokenize: Any) -> _Scorer:
    if df is None:
        counted_by = tokenize if callable(tokenize) else caption_tokens
        df = DocumentFrequencies.from_references(references, tokenize=counted_by)
    return _Scorer(cast(CiderScorer, SIMILARITY.scorer(df=df, sigma=sigma, tokenize=tokenize)))


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
    citation=SIMILARITY.citation,
)
