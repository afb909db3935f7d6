"""chrF and chrF++ by sacrebleu: F score of character n-grams and, in chrF++, of words and pairs of words.

Popović (2015), chrF: character n-gram F-score for automatic MT evaluation; Popović (2017), chrF++: words helping
character n-grams. Precision and recall are means over the orders both texts have; recall counts beta times as much.
Of several references the one with the best F counts; the corpus's counts are summed over items before the formula.
Numbers are sacrebleu's divided by 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...errors import InputError
from ..declaration import Output, PairMetric
from ..evaluate import pair_function, run_metric
from ..sacrebleu_scorer import SacrebleuScorer, check_flags, sacrebleu_caption


@pair_function
def chrf(
    references: Any,
    candidates: Any,
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
) -> Any:
    """chrF, 0 to 1: `.value` is the corpus's, `.scores` has one sentence score per candidate.

    references: one entry per candidate, a text or a list of texts. candidates: texts, or several such lists by name.
    word_order: 2 for chrF++. The signature holds sacrebleu's own, and beta, which that leaves out.
    """
    parameters = {"char_order": char_order, "word_order": word_order, "beta": beta, "lowercase": lowercase}
    return run_metric(METRIC, references, candidates, parameters)


def _prepare(
    references: Sequence[Sequence[str]], shared: Any, char_order: Any, word_order: Any, beta: Any, lowercase: Any
) -> SacrebleuScorer:
    for name, value, least in (("char_order", char_order, 1), ("word_order", word_order, 0), ("beta", beta, 1)):
        if isinstance(value, bool) or not isinstance(value, int) or value < least:
            raise InputError(f"{name} must be a whole number of at least {least}, not {value!r}")
    check_flags(lowercase=lowercase)
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF(char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase)
    return SacrebleuScorer(metric, metric, references, {"beta": beta}, most=1.0)


METRIC = PairMetric(
    name="chrf",
    title="chrF",
    outputs=(Output("value", "F score of character n-grams, recall weighing more"),),
    direction="higher",
    prepare=_prepare,
    defaults={"char_order": 6, "word_order": 0, "beta": 2, "lowercase": False},
    over_references=None,
    order=120,
    libraries=("numpy", "sacrebleu"),
    caption=sacrebleu_caption,
    citation="Popović 2015, chrF: character n-gram F-score for automatic MT evaluation, WMT",
)
