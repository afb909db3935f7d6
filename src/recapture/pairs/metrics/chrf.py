"""chrF and chrF++ by sacrebleu: F score of character n-grams and, in chrF++, of words and pairs of words.

Popović (2015), chrF: character n-gram F-score for automatic MT evaluation; Popović (2017), chrF++: words helping
character n-grams. Precision and recall are means over the orders both texts have; recall counts beta times as much.
Of several references the one with the best F counts; the corpus's counts are summed over items before the formula.
Numbers are sacrebleu's divided by 100.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...checks import LONGEST_NGRAM, MOST_OF_ANYTHING, check_count
from ..corpus_formulas import chrf_formula
from ..declaration import Output, PairMetric
from ..evaluate import Answer, Candidates, References, pair_function, run_metric
from ..sacrebleu_scorer import SacrebleuScorer, check_flags, sacrebleu_caption


@pair_function
def chrf(
    references: References,
    candidates: Candidates,
    *,
    char_order: int = 6,
    word_order: int = 0,
    beta: int = 2,
    lowercase: bool = False,
) -> Answer:
    """chrF of the candidates, 0 to 1; higher is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the one with the best F counts.
    {candidates}
    char_order : int
        The longest character n-grams, at least 1.
    word_order : int
        The longest word n-grams: 0 for chrF, 2 for chrF++.
    beta : int
        How many times as much recall counts as precision, at least 1.
    lowercase : bool
        Whether upper and lower case are the same.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.value` is the corpus's chrF, `.scores` has one
        sentence score per candidate. The signature holds sacrebleu's own, and beta, which sacrebleu leaves out.

    Notes
    -----
    Numbers are sacrebleu's divided by 100. The corpus's chrF is not the mean of the sentence scores: n-grams are
    counted over all candidates before the formula is used.

    Examples
    --------
    Of single characters the candidate has 2 of 3: precision 1, recall 2/3, F = 5 x 2/3 / (4 + 2/3).

    >>> import recapture as rc
    >>> round(rc.chrf(["abc"], ["ab"], char_order=1).value, 4), round(5 * 2 / 3 / (4 + 2 / 3), 4)
    (0.7143, 0.7143)
    >>> rc.chrf(["it rained all day"], ["it rained all day"], word_order=2).value
    1.0
    """
    parameters = {"char_order": char_order, "word_order": word_order, "beta": beta, "lowercase": lowercase}
    return run_metric(METRIC, references, candidates, parameters)


def _prepare(
    references: Sequence[Sequence[str]], shared: Any, char_order: Any, word_order: Any, beta: Any, lowercase: Any
) -> SacrebleuScorer:
    char_order = check_count("char_order", char_order, 1, LONGEST_NGRAM)
    word_order = check_count("word_order", word_order, 0, LONGEST_NGRAM)
    beta = check_count("beta", beta, 1, MOST_OF_ANYTHING)
    check_flags(lowercase=lowercase)
    from sacrebleu.metrics.chrf import CHRF

    metric = CHRF(char_order=char_order, word_order=word_order, beta=beta, lowercase=lowercase)
    return SacrebleuScorer(metric, metric, chrf_formula(beta), references, {"beta": beta}, most=1.0)


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
