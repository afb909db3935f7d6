"""TER by sacrebleu: how many edits turn a candidate into its reference, for each word of the reference.

Snover et al. (2006), A Study of Translation Edit Rate with Targeted Human Annotation. An edit inserts, deletes or
replaces a word or moves a run of words. Of several references the one with fewest edits counts, over the mean length of
all; the corpus's edits and lengths are summed over items. Numbers are sacrebleu's divided by 100: 0 for equal texts, 1
for an empty candidate, and above 1 where a candidate is much longer than its references.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..corpus_formulas import ter_of_counts
from ..declaration import INFINITY, Output, PairMetric
from ..evaluate import Answer, Candidates, References, pair_function, run_metric
from ..sacrebleu_scorer import SacrebleuScorer, check_flags, sacrebleu_caption


@pair_function
def ter(
    references: References,
    candidates: Candidates,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    case_sensitive: bool = False,
) -> Answer:
    """Translation edit rate of the candidates; 0 for equal texts, lower is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per candidate: a text, or a list of texts, of which the one that needs the fewest edits counts.
    {candidates}
    normalized : bool
        Whether punctuation is split from words first.
    no_punct : bool
        Whether punctuation is dropped.
    case_sensitive : bool
        Whether upper and lower case differ.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.value` is the corpus's rate, `.scores` has one
        number per candidate. The signature holds sacrebleu's own.

    Notes
    -----
    Numbers are sacrebleu's divided by 100. A candidate that is much longer than its references scores above 1.

    Examples
    --------
    One of six words has to be replaced.

    >>> import recapture as rc
    >>> round(rc.ter(["the cat sat on the mat"], ["the cat is on the mat"]).value, 4)
    0.1667
    >>> rc.ter(["it rained all day"], ["it rained all day"]).value
    0.0
    """
    parameters = {"normalized": normalized, "no_punct": no_punct, "case_sensitive": case_sensitive}
    return run_metric(METRIC, references, candidates, parameters)


def _prepare(references: Sequence[Sequence[str]], shared: Any, **flags: Any) -> SacrebleuScorer:
    check_flags(**flags)
    from sacrebleu.metrics.ter import TER

    metric = TER(**flags)
    return SacrebleuScorer(metric, metric, ter_of_counts, references)


METRIC = PairMetric(
    name="ter",
    title="TER",
    outputs=(Output("value", "edits for each word of the reference", (0.0, INFINITY)),),
    direction="lower",
    prepare=_prepare,
    defaults={"normalized": False, "no_punct": False, "case_sensitive": False},
    over_references=None,
    order=130,
    libraries=("numpy", "sacrebleu"),
    caption=sacrebleu_caption,
    citation="Snover et al. 2006, A Study of Translation Edit Rate with Targeted Human Annotation, AMTA",
)
