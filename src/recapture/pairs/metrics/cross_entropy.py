"""Cross-entropy under n-gram models: do the texts of one side look likely to a model of the other side?

With p a Kneser-Ney model of some texts (`lexical.kneser_ney`), the cross-entropy of others is the mean over their
tokens of -ln p, in nats. `forward` is that of the candidates under a model of the references; it is low if candidates
are fluent. `reverse` is that of the references under a model of the candidates; it is low only if candidates are as
varied as references. Two sets of texts are compared, not pairs, so they may be of different sizes. Empty texts are left
out on both sides.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any

import numpy as np

from ...declarations import function_name
from ...lexical.kneser_ney import Entropy, KneserNey, check_model
from ...report import Result
from ..corpus_formulas import share_of_counts
from ..declaration import INFINITY, Counted, GroupScorer, Output, PairMetric, PairScores
from ..evaluate import Answer, Candidates, References, aligned_texts, is_empty, pair_function, run_metric
from ..table import array_name


@pair_function
def cross_entropy(
    references: References,
    candidates: Candidates,
    *,
    order: int = 3,
    tokenize: Callable[[str], Sequence[str]] | None = None,
) -> Answer:
    """Cross-entropy of each side under an n-gram model of the other side, in nats per token; lower is better.

    Parameters
    ----------
    references : list of str, or list of lists of str
        Texts, or lists of texts.
    candidates : list of str, or mapping of str to lists of str
        Texts, as many as references or not; or several such lists, each under the name of its system.
    order : int
        How many words the longest n-grams have, 1 to 5.
    tokenize : callable, optional
        From a text to its tokens. By default lower-cased words and single punctuation marks.

    Returns
    -------
    Result, or dict of str to Result
        One Result, or one per system where `candidates` is a mapping. `.forward` and `.reverse` are over all tokens of
        a side: of the candidates under a model of the references, and of the references under a model of the
        candidates. `.forward_scores` has one entry per candidate, `.reverse_scores` one per entry of the references,
        where several texts give their mean. Each is the text's own mean over its tokens; the end of a text is one of
        them.

    Examples
    --------
    The model knows three tokens: "a", the end of a text and the unknown word. With the discount 0.75 "a" and the end
    have the probability (1 - 0.75) / 2 + 0.75 / 3 each.

    >>> import math
    >>> import recapture as rc
    >>> result = rc.cross_entropy(["a"], ["a"], order=1)
    >>> round(result.forward, 4), round(-math.log(0.125 + 0.25), 4)
    (0.9808, 0.9808)
    """
    parameters = {"order": order, "tokenize": tokenize}
    references = _listed(references)
    if isinstance(candidates, Mapping):
        systems = {name: _listed(texts) for name, texts in candidates.items()}
        if _as_many(references, *systems.values()):
            return run_metric(METRIC, references, systems, parameters)
        return {str(name): _of_sets(references, texts, parameters) for name, texts in systems.items()}
    candidates = _listed(candidates)
    if _as_many(references, candidates):
        return run_metric(METRIC, references, candidates, parameters)
    return _of_sets(references, candidates, parameters)


class CrossEntropyScorer(GroupScorer):
    def __init__(self, references: Sequence[Sequence[str]], order: int, tokenize: Any) -> None:
        check_model(order, tokenize)
        self._order, self._tokenize = order, tokenize
        self._model = self._learned([text for group in references for text in group])
        self.settings = {"order": order, "tokenize": "words" if tokenize is None else function_name(tokenize)}

    def score(self, references: Sequence[Sequence[str]], candidates: Sequence[str]) -> PairScores:
        forward, reverse = [[text] for text in candidates], references
        by_forward, total_forward, counts = _entropies(self._model, forward)
        by_reverse, total_reverse, _ = _entropies(self._learned(candidates), reverse)
        return PairScores(
            {"forward": by_forward, "reverse": by_reverse},
            {"forward": total_forward, "reverse": total_reverse},
            # The model of the reverse is made from all candidates: no item's part in it can be told apart.
            {"forward": Counted(counts, share_of_counts)},
        )

    def _learned(self, texts: Sequence[str]) -> KneserNey | None:
        filled = [text for text in texts if not is_empty(text)]
        return KneserNey(filled, self._order, tokenize=self._tokenize) if filled else None


def _entropies(model: KneserNey | None, groups: Sequence[Sequence[str]]) -> tuple[np.ndarray, float, np.ndarray]:
    """For each group the mean of its texts' nats per token, and those of all tokens; NaN where there is nothing. Then
    for each group its nats and its tokens.
    """
    means, counts = np.full(len(groups), math.nan), np.zeros((len(groups), 2))
    filled = [[text for text in group if not is_empty(text)] for group in groups]
    if model is None:
        return means, math.nan, counts
    entropy: Entropy = model.cross_entropy(text for group in filled for text in group)
    per_text = iter(entropy.per_text.tolist())
    for position, group in enumerate(filled):
        if group:
            means[position] = math.fsum(next(per_text) for _ in group) / len(group)
    owner = np.repeat(np.arange(len(groups)), [len(group) for group in filled])
    for column, each in enumerate((entropy.nats, entropy.tokens)):
        counts[:, column] = np.bincount(owner, each, len(groups))
    return means, entropy.per_token, counts


def _of_sets(references: Any, candidates: Any, parameters: Mapping[str, Any]) -> Result:
    """Two sets of any size. Each is checked as aligned texts are, beside a partner of its own length."""
    groups = aligned_texts(references, ["" for _ in references]).groups
    texts = aligned_texts(["" for _ in candidates], candidates).systems["candidate"]
    scorer = CrossEntropyScorer(groups, **parameters)
    scored = scorer.score(groups, texts)
    flat = [text for group in groups for text in group]
    warnings = []
    for name, side in (("reference", flat), ("candidate", texts)):
        count = sum(map(is_empty, side))
        if count:
            warnings.append(f"{count} of {len(side)} texts of {name} {'is' if count == 1 else 'are'} empty: left out")
    return Result(
        metric=METRIC.name,
        values=scored.totals,
        direction=METRIC.direction,
        ranges={output.name: output.range for output in _OUTPUTS},
        sizes={"reference": len(flat), "candidate": len(texts)},
        warnings=tuple(warnings),
        signature=METRIC.signature(scorer.settings),
        arrays={array_name(name): column for name, column in scored.items.items()},
    )


def _listed(side: Any) -> Any:
    """A list, since its length is needed; anything that is not a list of texts is left to the checks."""
    return list(side) if isinstance(side, Iterable) and not isinstance(side, (str, bytes, Mapping)) else side


def _as_many(*sides: Any) -> bool:
    """Whether all sides have one length, or are wrong in a way that the checks of aligned texts report."""
    return not all(isinstance(side, list) and side for side in sides) or len(set(map(len, sides))) == 1


def _prepare(references: Sequence[Sequence[str]], shared: Any, order: Any, tokenize: Any) -> CrossEntropyScorer:
    return CrossEntropyScorer(references, order, tokenize)


_OUTPUTS = (
    Output("forward", "nats per token of the candidates under a model of the references", (0.0, INFINITY)),
    Output("reverse", "nats per token of the references under a model of the candidates", (0.0, INFINITY)),
)

METRIC = PairMetric(
    name="cross-entropy",
    title="Cross-entropy",
    outputs=_OUTPUTS,
    direction="lower",
    prepare=_prepare,
    defaults={"order": 3, "tokenize": None},
    over_references=None,
    equal={"forward": math.nan, "reverse": math.nan},  # sets are compared, not pairs: an empty text says nothing
    order=170,
    citation="Kneser and Ney 1995, Improved backing-off for m-gram language modeling, ICASSP",
)
