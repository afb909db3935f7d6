"""Any pairwise score averaged over candidates: the baseline that set metrics are compared with.

Chan et al. (2022), Eq. 1: the mean over candidates c of S(c, R), where S(c, R) is the best or the mean score of c
against the references. For a p-value the same mean is taken for every partition of the texts.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, cast

import numpy as np
from numpy.typing import ArrayLike

from ...checks import check_seed, is_one_of, numbers_of, plain_arguments
from ...declarations import Output
from ...errors import InputError, shown
from ...geometry.labels import Labels
from ...labellings.permutation import Permutation
from ...labellings.plans import Pvalue
from ...report.result import Result
from ...similarity.scorer import RULES, Rule, Similarity
from ..declaration import Batch, ContextMetric, Settings
from ..distances import both_sides, check_texts, one_square, scorer_for
from ..pairwise import PAIRWISE
from ..uncertainty import Asked, ContextScores, describe, tests_of


@plain_arguments
def aggregate(
    references: Sequence[str],
    candidates: Sequence[str],
    metric: str = "meteor",
    over_references: Rule | None = None,
    pvalue: Pvalue = False,
    *,
    seed: int = 0,
    scores: ArrayLike | None = None,
    **options: Any,
) -> Result:
    """Mean over one context's candidates of a pairwise score against its references.

    Parameters
    ----------
    references, candidates : sequence of str
        The texts of one context; at least one on each side.
    metric : str, default "meteor"
        A pairwise metric; see `list_pairwise`.
    over_references : {"best", "mean"}, optional
        Whether a candidate's score is its best or its mean over references (None: the metric's own rule, such as best
        for METEOR and mean for CIDEr-D).
    pvalue : bool, int, "exact" or "sampled", default False
        As for `triangle_rank`.
    seed : int, default 0
        For partitions that are drawn at random.
    scores : array of shape (texts, texts), optional
        Ready scores of all texts against each other, references first, as `pairwise_scores(texts, texts, metric)` gives
        them; then nothing is scored.
    **options
        The metric's own, such as df= for cider.

    Returns
    -------
    Result
        `.value`, and `.pvalue` where asked for; `.scores` has one number per candidate.

    Examples
    --------
    The candidate is the first reference, and shares one word of three with the second.

    >>> import recapture as rc
    >>> references, candidates = ["a cat sat", "a dog ran"], ["a cat sat"]
    >>> rc.aggregate(references, candidates, "rouge-l").value
    1.0
    >>> round(rc.aggregate(references, candidates, "rouge-l", "mean").value, 4)
    0.6667
    """
    references, candidates = both_sides(references, candidates, least=1)
    check_seed(seed)
    declared = PAIRWISE.find(metric)
    rule = check_rule(over_references, declared)
    texts = check_texts(references, candidates)
    settings: Mapping[str, Any] = {}
    warnings: tuple[str, ...] = ()
    if scores is None:
        scorer = scorer_for(declared, references, options)
        square, settings = one_square(declared, scorer, texts), scorer.settings
        warnings = tuple(scorer.warnings(texts))
    elif options:
        raise InputError(f"{next(iter(options))} goes with scores that are still to be made")
    else:
        square = _given(scores, len(texts))
    n = len(references)
    scored = score_aggregate(square[None], n, declared, rule, Asked(pvalue, seed))[0]
    test = scored.tests.get("value")
    return Result(
        metric=declared.name,
        values=scored.values,
        direction=declared.direction,
        ranges={"value": declared.range},
        sizes={"reference": n, "candidate": len(candidates)},
        warnings=warnings,
        signature=declared.signature({**settings, "over_references": rule}),
        arrays={"scores": -_towards(declared) * _joined(-_towards(declared) * square[n:, :n], rule)},
        pvalues={"value": test.pvalue} if test else {},
        nulls={"value": test.null * _towards(declared)} if isinstance(test, Permutation) else {},
        inference={"pvalues": describe(test, seed)} if test else {},
    )


def _given(scores: Any, texts: int) -> np.ndarray:
    square = numbers_of(scores, "scores", "a square matrix of numbers")
    if square.shape != (texts, texts):
        raise InputError(f"scores have shape {square.shape}, but {texts} texts need {texts} x {texts}")
    if not np.isfinite(square).all():
        raise InputError("scores must be finite numbers")
    return square


def check_rule(over_references: Any, declared: Similarity) -> Rule:
    rule = declared.over_references if over_references is None else over_references
    if not is_one_of(rule, RULES):
        raise InputError(f"over_references is best or mean, not {shown(rule)}")
    return cast(Rule, rule)


def score_aggregate(scores: np.ndarray, n: int, declared: Similarity, rule: Rule, asked: Asked) -> list[ContextScores]:
    """Contexts of one shape at once. scores: (contexts, texts, texts), hypotheses down; the first n are references."""
    plan = asked.plan(n, scores.shape[1] - n, symmetric=False)
    # Oriented so that larger means closer: the best reference is then always the largest.
    closer = -_towards(declared) * scores
    tests = None
    if plan is not None:
        # Means of scores near 0 keep the rounding of the scores they are made of. Where there is no bound on one side
        # all scores are on the other side of 0, and none takes digits from another.
        rounding = 1e-13 * max(abs(bound) for bound in declared.range if math.isfinite(bound))
        tests = tests_of(lambda contexts, labels: -_under(contexts, labels, rule), closer, plan, asked.nulls, rounding)
    values = -_towards(declared) * np.array([_joined(context[n:, :n], rule).mean() for context in closer])
    scored = []
    for at, value in enumerate(values):
        test = tests[at] if tests else None
        expected = {"value": _towards(declared) * test.expected} if test else {}
        scored.append(ContextScores({"value": float(value)}, {"value": test} if test else {}, relabelled=expected))
    return scored


def _towards(declared: Similarity) -> int:
    return -1 if declared.direction == "higher" else 1


def _joined(scores: np.ndarray, rule: Rule) -> np.ndarray:
    joined: np.ndarray = scores.max(axis=1) if rule == "best" else scores.mean(axis=1)
    return joined


def _under(closer: np.ndarray, labels: Labels, rule: Rule) -> np.ndarray:
    """(contexts, labellings) means over candidates."""
    n, m = labels.sizes
    means = np.empty((len(closer), len(labels)))
    alone = labels.candidate.astype(np.float64)
    for at, context in enumerate(closer):
        if rule == "mean":
            means[at] = np.einsum("bi,bi->b", alone @ context, labels.reference) / (n * m)
        else:
            means[at] = _best_mean(context, labels, alone) / m
    return means


def _best_mean(context: np.ndarray, labels: Labels, alone: np.ndarray) -> np.ndarray:
    """Sum over candidates of their best reference's score: the first reference down each text's ranking."""
    total = np.zeros(len(labels))
    for text, scores in enumerate(context):
        ranking = np.argsort(-scores, kind="stable")
        best = scores[ranking][np.argmax(labels.reference[:, ranking], axis=1)]
        total += alone[:, text] * best
    return total


def _over(similarity: Similarity, rule: Rule, suffix: str) -> ContextMetric:
    def score(batch: Batch, _: Settings, asked: Asked) -> list[ContextScores]:
        return score_aggregate(batch.squares[similarity.name], batch.references, similarity, rule, asked)

    title = f"{similarity.title}, mean over candidates, {rule} over references"
    return ContextMetric(
        name=similarity.name + suffix,
        title=title,
        citation=similarity.citation,
        direction=similarity.direction,
        outputs=(Output("value", title, similarity.range),),
        score=score,
        similarity=similarity.name,
        libraries=similarity.libraries,
    )


def _family() -> Iterator[ContextMetric]:
    """Three over every metric between two texts: by its own rule over references, and by each rule."""
    for similarity in PAIRWISE.all().values():
        yield _over(similarity, similarity.over_references, "")
        for rule in RULES:
            yield _over(similarity, rule, f"-{rule}")


METRIC = _family
