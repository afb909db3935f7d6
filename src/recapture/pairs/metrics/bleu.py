"""BLEU by sacrebleu: n-grams shared with any of the references, times a penalty for short candidates.

Papineni et al. (2002), BLEU: a Method for Automatic Evaluation of Machine Translation. With p_n the share of the
candidates' n-grams found in the references (each n-gram as often as the reference that has it most often), c the
candidates' length and r the sum of the closest reference lengths,

    BLEU = min(1, exp(1 - r / c)) exp(mean over n = 1..4 of ln p_n)

Numbers are sacrebleu's divided by 100. The corpus's counts are summed over items before the formula; a single item is
judged by the orders it has (effective order), and p_n = 0 is smoothed (exp), as sacrebleu does by default.
"""

from __future__ import annotations

from collections.abc import Sequence, Set
from typing import Any

from ...checks import is_one_of
from ...errors import InputError, nearest_names, shown
from ...similarity.sentence_bleu import TOKENIZERS, Tokenizer
from ..corpus_formulas import bleu_of_counts
from ..declaration import Output, PairMetric, PairScores
from ..evaluate import Answer, Candidates, References, pair_function, run_metric
from ..sacrebleu_scorer import SacrebleuScorer, check_flags, sacrebleu_caption

_MANY_TOKENISED = 100
"""So many candidates that end in a full stop after a space make sacrebleu warn, too."""


@pair_function
def bleu(
    references: References, candidates: Candidates, *, tokenize: Tokenizer = "13a", lowercase: bool = False
) -> Answer:
    """BLEU of the candidates, 0 to 1; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts. An n-gram counts if any of them has it.
    {candidates}
    tokenize : {"13a", "intl", "zh", "char", "none"}
        A tokenizer of sacrebleu.
    lowercase : bool
        Whether upper and lower case are the same.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.value` is the corpus's BLEU, `.scores` has one
        sentence score per candidate. The signature holds sacrebleu's own.

    Notes
    -----
    Numbers are sacrebleu's divided by 100. The corpus's BLEU is not the mean of the sentence scores: n-grams are
    counted over all candidates before the formula is used.

    Examples
    --------
    Of the candidate's 1-grams to 4-grams the reference has 5/6, 3/5, 1/4 and 0/3; sacrebleu takes 1/6 for the last.

    >>> import recapture as rc
    >>> result = rc.bleu(["the cat sat on the mat"], ["the cat is on the mat"])
    >>> round(result.value, 4), round((5 / 6 * 3 / 5 * 1 / 4 * 1 / 6) ** (1 / 4), 4)
    (0.3799, 0.3799)
    >>> results = rc.bleu(["it rained all day"], {"a": ["it rained all day"], "b": ["no rain"]})
    >>> results["a"].value
    1.0
    """
    return run_metric(METRIC, references, candidates, {"tokenize": tokenize, "lowercase": lowercase})


class CorpusBleuScorer(SacrebleuScorer):
    def __init__(self, references: Sequence[Sequence[str]], tokenize: str, lowercase: bool) -> None:
        from sacrebleu.metrics.bleu import BLEU

        # force: sacrebleu would print its warning about tokenised texts.
        corpus, item = (BLEU(lowercase, force=True, tokenize=tokenize, effective_order=of) for of in (False, True))
        super().__init__(corpus, item, bleu_of_counts, references, most=1.0)
        self._tokenised = 0

    def score(self, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> PairScores:
        self._tokenised = sum(text.endswith(" .") for text in candidates)
        return super().score(references, candidates)

    def warnings(self, texts: Set[str]) -> Sequence[str]:
        if self._tokenised < _MANY_TOKENISED:
            return ()
        return (
            f"{self._tokenised} candidates end in a full stop after a space: BLEU expects texts that are not tokenised",
        )


def _prepare(references: Sequence[Sequence[str]], shared: Any, tokenize: Any, lowercase: Any) -> CorpusBleuScorer:
    check_flags(lowercase=lowercase)
    if not is_one_of(tokenize, TOKENIZERS):
        raise InputError(f"BLEU has no tokenizer {shown(tokenize)}: {nearest_names(tokenize, TOKENIZERS)}")
    return CorpusBleuScorer(references, tokenize, lowercase)


METRIC = PairMetric(
    name="bleu",
    title="BLEU",
    outputs=(Output("value", "n-grams of the candidates that references have, short candidates penalised"),),
    direction="higher",
    prepare=_prepare,
    defaults={"tokenize": "13a", "lowercase": False},
    over_references=None,
    order=110,
    libraries=("numpy", "sacrebleu"),
    caption=sacrebleu_caption,
    citation="Papineni et al. 2002, BLEU: a Method for Automatic Evaluation of Machine Translation, ACL",
)
