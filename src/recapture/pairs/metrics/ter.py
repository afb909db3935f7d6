"""TER by sacrebleu: how many edits turn a candidate into its reference, for each word of the reference.

Snover et al. (2006), A Study of Translation Edit Rate with Targeted Human Annotation. An edit inserts, deletes or
replaces a word or moves a run of words. Of several references the one with fewest edits counts, over the mean length of
all; the corpus's edits and lengths are summed over items. Numbers are sacrebleu's divided by 100: 0 for equal texts, 1
for an empty candidate, and above 1 where a candidate is much longer than its references.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ..declaration import INFINITY, Output, PairMetric
from ..evaluate import pair_function, run_metric
from ..sacrebleu_scorer import SacrebleuScorer, check_flags, sacrebleu_caption


@pair_function
def ter(
    references: Any,
    candidates: Any,
    *,
    normalized: bool = False,
    no_punct: bool = False,
    case_sensitive: bool = False,
) -> Any:
    """Translation edit rate, lower is better: `.value` is the corpus's, `.scores` has one number per candidate.

    references: one entry per candidate, a text or a list of texts. candidates: texts, or several such lists by name.
    normalized: punctuation is split from words first; no_punct: it is dropped. The signature holds sacrebleu's own.
    """
    parameters = {"normalized": normalized, "no_punct": no_punct, "case_sensitive": case_sensitive}
    return run_metric(METRIC, references, candidates, parameters)


def _prepare(references: Sequence[Sequence[str]], shared: Any, **flags: Any) -> SacrebleuScorer:
    check_flags(**flags)
    from sacrebleu.metrics.ter import TER

    metric = TER(**flags)
    return SacrebleuScorer(metric, metric, references)


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
