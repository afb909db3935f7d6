"""Metrics of aligned texts as metrics between any two texts: distances of contexts.

All texts of a context meet all others, and a text may be in many contexts. What a model makes of a text is made once:
texts are held until the last group that has them is scored. Pairs are scored some thousand at a time; what is in memory
beside the vectors of held texts are the scores of the groups asked for.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, cast

import numpy as np

from ..declarations import Output
from ..errors import InputError, shown
from ..similarity.scorer import Rule, Scorer, Similarity
from ..texts.objects import texts_of_object
from .declaration import METRICS, PairMetric, TextPairScorer
from .evaluate import PairJob, Shared, TextPair, checked_parameters, is_empty, is_unicode

LOADING = ("device", "batch_tokens", "offline", "cache")
"""Options of `Shared` that every such metric takes beside its own."""
_TEXTS = "idf_from"
"""The option that has the texts in which idf is counted."""
_NOT_HERE = ("rescale",)
"""A line through the scores of BERTScore changes no rank and no p-value; ranges would depend on a file."""
_BLOCK = 32
"""Texts a side of a block of pairs: neighbours in the list of pairs share texts."""
_TILE_PAIRS = 4096
_TILE_CHARACTERS = 60_000
"""Of the texts of pairs that are scored together; some hundred sentences."""


@dataclass(frozen=True, kw_only=True)
class PairSimilarity(Similarity):
    """One made of a metric of aligned texts; see `ready`."""

    metric: PairMetric
    model: str
    """Its option that names the model: encoder or model."""


def ready(similarity: PairSimilarity, options: Mapping[str, Any], shared: Shared | None = None) -> PairwiseScorer:
    """The metric made ready. shared: models of the whole run; what the options say of loading has its own."""
    given = similarity.checked(options)
    loading = {name: given.pop(name) for name in LOADING if name in given}
    learnt = _Learnt.of(given.pop(_TEXTS), given["idf"] is True, similarity.name)
    ((metric, complete, rule),) = checked_parameters([(similarity.metric, given)])
    outputs = metric.outputs_for(complete)
    if metric.between_texts not in {output.name for output in outputs}:
        raise InputError(f"{metric.name} as a distance takes one measure and one temperature, not {len(outputs)} pairs")
    models = Shared(**loading) if shared is None or any(name in options for name in LOADING) else shared
    return PairwiseScorer(PairJob(metric, complete, rule, metric.prepare([learnt.texts], models, **complete)), learnt)


class _Learnt(NamedTuple):
    """The texts that idf is counted in, and what the signature says of them."""

    texts: list[str]
    identity: Any

    @classmethod
    def of(cls, given: Any, wanted: bool, name: str) -> _Learnt:
        if not wanted:
            if given is not None and not isinstance(given, _Learnt):
                raise InputError(f"{name} was given {_TEXTS}, but no idf to count there")
            return cls([], None)
        if isinstance(given, _Learnt):
            _check_unicode(given.texts)
            return given
        if given is None:
            raise InputError(
                f"{name} weighs pieces by how few references have them: give idf_from= those texts, or idf=False"
            )
        texts = texts_of_object(given, _TEXTS)
        _check_unicode(texts)
        digest = hashlib.blake2b(digest_size=16)
        for text in texts:
            digest.update(hashlib.blake2b(text.encode()).digest())
        return cls(texts, {"texts": len(texts), "blake2b": digest.hexdigest()})


class PairwiseScorer(Scorer):
    """The scores of any texts against each other, from a scorer of pairs."""

    def __init__(self, job: PairJob, learnt: _Learnt) -> None:
        self._job = job
        self._scorer = cast(TextPairScorer, job.scorer)
        outputs = [output.name for output in job.outputs]
        self._place = outputs.index(job.metric.between_texts)
        self._equal = job.equal[self._place]
        idf = {} if learnt.identity is None else {"idf": learnt.identity}
        self.settings = {**self._scorer.settings, **idf, "distance": _distance(job)}
        self._by_look: dict[Hashable, str] = {}
        self._expecting = False

    def warnings(self, texts: Collection[str] = ()) -> Sequence[str]:
        filled = {text for text in texts if not is_empty(text)}
        self._scorer.looks(list(filled))  # some of them may have been scored by an earlier run
        return self._scorer.warnings(filled)

    def expect(self, groups: Iterable[Sequence[str]]) -> None:
        self._expecting = True
        for group in groups:
            self._scorer.hold(self._distinct(group))

    def cross(self, hypotheses: Sequence[str], references: Sequence[str]) -> np.ndarray:
        return self._held([(hypotheses, references)])[0]

    def pairs(self, pairs: Sequence[TextPair]) -> np.ndarray:
        tables = self._held([([candidate], [reference]) for reference, candidate in pairs])
        return np.array([table[0, 0] for table in tables])

    def squares(self, groups: Sequence[Sequence[str]]) -> list[np.ndarray]:
        sides = [(group, group) for group in groups]
        if not self._expecting:
            return self._held(sides)
        tables = self._tables(sides)
        self._release(groups)
        return tables

    def _held(self, sides: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[np.ndarray]:
        groups = [[*hypotheses, *references] for hypotheses, references in sides]
        for group in groups:
            self._scorer.hold(self._distinct(group))
        tables = self._tables(sides)
        self._release(groups)
        return tables

    def _release(self, groups: Sequence[Sequence[str]]) -> None:
        for group in groups:
            self._scorer.release(self._distinct(group))

    def _distinct(self, texts: Sequence[str]) -> list[str]:
        return [text for text in dict.fromkeys(self._spelt(texts)) if text]

    def _spelt(self, texts: Sequence[str]) -> list[str]:
        """Each text, or the one that looked like it first; "" for an empty one.

        Rounding must not make a difference between texts that the model cannot tell apart: their edges tie.
        """
        filled = list(dict.fromkeys(text for text in texts if not is_empty(text)))
        _check_unicode(filled)
        looks = self._scorer.looks(filled)
        spelt = {text: self._by_look.setdefault(look, text) for text, look in zip(filled, looks, strict=True)}
        return [spelt.get(text, "") for text in texts]

    def _tables(self, sides: Sequence[tuple[Sequence[str], Sequence[str]]]) -> list[np.ndarray]:
        """For every (hypotheses, references) the scores of the former (rows) against the latter (columns)."""
        spelt = [(self._spelt(hypotheses), self._spelt(references)) for hypotheses, references in sides]
        # In one order, whatever that of the texts is: the same pairs are scored together.
        texts = sorted({text for side in spelt for each in side for text in each}, key=lambda text: (len(text), text))
        number = {text: at for at, text in enumerate(texts)}
        keys = [
            self._keys([number[text] for text in rows], [number[text] for text in columns], len(texts))
            for rows, columns in spelt
        ]
        if not keys:
            return []
        distinct, place = np.unique(np.concatenate([key.reshape(-1) for key in keys]), return_inverse=True)
        scores = self._scores(texts, np.stack(np.divmod(distinct, max(1, len(texts))), axis=1))
        ends = np.cumsum([key.size for key in keys])[:-1]
        return [
            scores[part].reshape(key.shape) for part, key in zip(np.split(place.reshape(-1), ends), keys, strict=True)
        ]

    def _keys(self, hypotheses: Sequence[int], references: Sequence[int], count: int) -> np.ndarray:
        """(hypotheses, references): one number for every pair of texts."""
        rows, columns = np.array(hypotheses, np.int64)[:, None], np.array(references, np.int64)[None, :]
        if self._scorer.symmetric:
            # Once for both ways: a rounding between them would part edges that tie.
            rows, columns = np.maximum(rows, columns), np.minimum(rows, columns)
        keys: np.ndarray = columns * count + rows
        return keys

    def _scores(self, texts: Sequence[str], pairs: np.ndarray) -> np.ndarray:
        """One score for every (reference, candidate), given by the numbers of their texts."""
        scores = np.full(len(pairs), self._equal)
        empty = np.array([not text for text in texts], bool)
        apart = pairs[:, 0] != pairs[:, 1]
        alone = np.flatnonzero(apart & empty[pairs].any(axis=1))
        scores[alone] = self._never_met(_spelled(texts, pairs[alone]))
        waiting = np.flatnonzero(apart & ~empty[pairs].any(axis=1))
        reference, candidate = pairs[waiting].T
        waiting = waiting[np.lexsort((candidate, reference, candidate // _BLOCK, reference // _BLOCK))]
        for tile in _tiles(texts, pairs, waiting):
            chosen = _spelled(texts, pairs[tile])
            found = self._job.score(chosen)[:, self._place]
            lost = np.flatnonzero(np.isnan(found))
            found[lost] = self._never_met([chosen[at] for at in lost.tolist()])
            if np.isinf(found).any():
                raise InputError(
                    f"two texts are farther apart by {self._job.metric.name} than a float can say: "
                    "choose an alpha from 0 to 1, or another measure"
                )
            scores[tile] = found
        return scores

    def _never_met(self, pairs: Sequence[TextPair]) -> np.ndarray:
        """The rule for texts that cannot be compared, one of them empty for instance; NaN where there is no number."""
        column: np.ndarray = self._job.apart(pairs)[:, self._place] if pairs else np.empty(0)
        return column


def _check_unicode(texts: Iterable[str]) -> None:
    for text in texts:
        if not is_unicode(text):
            raise InputError(f"the text {shown(text)} is not valid Unicode: half of a surrogate pair")


def _spelled(texts: Sequence[str], pairs: np.ndarray) -> list[TextPair]:
    return [(texts[reference], texts[candidate]) for reference, candidate in pairs.tolist()]


def _tiles(texts: Sequence[str], pairs: np.ndarray, chosen: np.ndarray) -> Iterator[np.ndarray]:
    """Runs of the chosen pairs, as many as keep the texts of one within bounds, but at least one."""
    start, seen, size = 0, set[int](), 0
    for at, pair in enumerate(pairs[chosen].tolist()):
        new = set(pair) - seen
        longer = sum(len(texts[number]) for number in new)
        if at > start and (at - start >= _TILE_PAIRS or size + longer > _TILE_CHARACTERS):
            yield chosen[start:at]
            start, seen, size = at, set(), 0
            new = set(pair)
            longer = sum(len(texts[number]) for number in new)
        seen |= new
        size += longer
    if start < len(chosen):
        yield chosen[start:]


def _distance(job: PairJob) -> str:
    """What the signature calls the distance between two texts."""
    output = job.outputs[[output.name for output in job.outputs].index(job.metric.between_texts)]
    if job.metric.direction == "lower":
        return ", ".join(job.scorer.settings.get("measure", [output.meaning]))
    return f"{output.range[1]:g} - {'score' if output.name == 'value' else output.name}"


def _with_references(groups: Sequence[Sequence[str]], options: Mapping[str, Any]) -> Mapping[str, Any]:
    """idf from all references, unless the caller has texts of his own."""
    if options.get(_TEXTS) is not None:
        return options
    return {**options, _TEXTS: _Learnt([text for group in groups for text in group], None)}


def _similarity(metric: PairMetric) -> PairSimilarity:
    model = "model" if "model" in metric.defaults else "encoder"
    loading: dict[str, Any] = {name: None for name in LOADING if name != "cache"}
    if model == "model":  # what a masked language model makes is kept on disk
        loading["cache"] = True
    own = {name: value for name, value in metric.defaults.items() if name not in _NOT_HERE}
    output = next(output for output in metric.outputs_for({}) if output.name == metric.between_texts)
    low, high = output.range
    # By other options than the usual ones a distance may have no bound.
    bounds = (low, high) if metric.direction == "higher" else (low, float("inf"))
    return PairSimilarity(
        name=metric.name,
        title=metric.title,
        citation=metric.citation,
        direction=metric.direction,
        outputs=(Output("value", f"the score of two texts: {output.meaning}", bounds),),
        defaults={**own, _TEXTS: None, **loading},
        libraries=metric.libraries,
        over_references=cast(Rule, metric.over_references),
        corpus_options=_with_references,
        reference_options=lambda references, options: _with_references([references], options),
        prepare=lambda **options: ready(_similarity(metric), options),
        metric=metric,
        model=model,
    )


def pair_similarities() -> dict[str, PairSimilarity]:
    """By name, those metrics of aligned texts that compare any two texts."""
    return {name: _similarity(metric) for name, metric in METRICS.all().items() if metric.between_texts}
