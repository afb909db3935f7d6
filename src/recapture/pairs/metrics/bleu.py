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

from ...errors import InputError, nearest_names
from ...similarity.sentence_bleu import TOKENIZERS
from ..declaration import Output, PairMetric, PairScores
from ..evaluate import pair_function, run_metric
from ..sacrebleu_scorer import SacrebleuScorer, check_flags, sacrebleu_caption

_MANY_TOKENISED = 100
"""So many candidates that end in a full stop after a space make sacrebleu warn, too."""


@pair_function
def bleu(references: Any, candidates: Any, *, tokenize: str = "13a", lowercase: bool = False) -> Any:
    """BLEU, 0 to 1: `.value` is the corpus's, `.scores` has one sentence score per candidate.

    references: one entry per candidate, a text or a list of texts. candidates: texts, or several such lists by name.
    tokenize: a tokenizer of sacrebleu, 13a, intl, zh, char or none. The signature holds sacrebleu's own.
    """
    return run_metric(METRIC, references, candidates, {"tokenize": tokenize, "lowercase": lowercase})


class _Scorer(SacrebleuScorer):
    def __init__(self, references: Sequence[Sequence[str]], tokenize: str, lowercase: bool) -> None:
        from sacrebleu.metrics.bleu import BLEU

        # force: sacrebleu would print its warning about tokenised texts.
        corpus, item = (BLEU(lowercase, force=True, tokenize=tokenize, effective_order=of) for of in (False, True))
        super().__init__(corpus, item, references, most=1.0)
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


def _prepare(references: Sequence[Sequence[str]], shared: Any, tokenize: Any, lowercase: Any) -> _Scorer:
    check_flags(lowercase=lowercase)
    if tokenize not in TOKENIZERS:
        raise InputError(f"BLEU has no tokenizer {tokenize!r}: {nearest_names(str(tokenize), TOKENIZERS)}")
    return _Scorer(references, tokenize, lowercase)


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
