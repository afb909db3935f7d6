"""From aligned lists to Results: what all metrics of aligned texts share.

Inputs are checked first (`aligned_texts`) and every metric is made ready. Distinct pairs of texts are scored chunk by
chunk, so that the texts of a chunk are encoded once for all metrics (`Shared`). Scores of several references are
joined, and each system and metric gets one Result.
"""

from __future__ import annotations

import functools
import inspect
import math
import os
import warnings
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol, TypeVar, cast, overload

import numpy as np

from ..checks import check_count, check_level, check_seed, is_one_of, is_torch, plain_arguments
from ..declarations import fill_docstring
from ..errors import InputError, OptionError, nearest_names, shown
from ..progress import Progress
from ..report.result import Result, content_digest
from ..representations.precision import checked_dtype
from ..similarity.scorer import RULES, Rule
from ..texts.objects import checked_entries, is_missing, samples_of
from .declaration import (
    METRICS,
    Counted,
    GroupScorer,
    Output,
    PairMetric,
    PairScorer,
    PairScores,
    TextPairScorer,
    usual_metrics,
)
from .table import PairResults, array_name
from .uncertainty import Intervals

if TYPE_CHECKING:
    from typing import Concatenate

    from typing_extensions import ParamSpec

    from ..representations.masked import MaskedStore
    from ..representations.vector_cache import VectorCache
    from ..representations.words import WordStore

    Parameters = ParamSpec("Parameters")
else:
    Parameters = TypeVar("Parameters")

_CHUNK_CHARACTERS = 60_000
"""Texts whose vectors are held at once; some hundred pairs of sentences."""
_MORE_THERE = 8
"""Times as many where a device compares them: it waits for nothing longer than for the next call."""
_FIRST_THERE = 3
"""Times as many of the first ones there, for which it has to wait."""

_MOST_TOKENS = 10_000_000
"""That a model may be given at once."""

References = Sequence[str] | Sequence[Sequence[str]]
"""One entry per item: a text, or a list of texts."""
Candidates = Sequence[str] | Mapping[str, Sequence[str]]
"""One text per item, or such lists by the names of systems."""
ModelName = str | os.PathLike[str]
"""A model's name, or its folder."""
Answer = Result | dict[str, Result]
"""One Result, or one per system where the candidates came as a mapping."""
TextPair = tuple[str, str]


@plain_arguments
def evaluate_pairs(
    references: References,
    candidates: Candidates,
    metrics: str | Iterable[str] | None = None,
    *,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    over_references: Rule | None = None,
    encoder: ModelName | None = None,
    model: ModelName | None = None,
    interval: float | None = None,
    seed: int = 0,
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
    cache: bool | ModelName | VectorCache = True,
) -> PairResults:
    """Every candidate against its own references, for one or several systems.

    Parameters
    ----------
    references
        One entry per item: a text, or a list of texts.
    candidates
        One text per item, or a mapping of names to such lists.
    metrics
        Names, as a list or separated by commas (default: the common ones that this installation can run; see
        `list_pair_metrics`).
    options
        Parameters by metric, such as {"infolm": {"measure": "l2"}}.
    over_references
        "best" or "mean" of several references, for metrics without a rule of their own (default: each its own).
    encoder
        For metrics on word vectors: a transformer by name or folder (default: all-MiniLM-L6-v2).
    model
        For infolm: a masked language model by name or folder (default: recapture-minilm-head).
    interval
        A level such as 0.95, for an interval of every mean by a bootstrap over items.
    seed
        Of that bootstrap.
    batch_tokens
        How many tokens go through a model at once.
    dtype
        Of the model and of the encoder: float32, float16 or bfloat16 (default: float32; for infolm on CUDA float16).
    device, offline, cache
        As for `encode`.

    Returns
    -------
    PairResults
        {system: {metric: Result}}. Each result has the mean over items, or the corpus number where the metric has one,
        and an array of one score per item: `scores`, or `NAME_scores` where a metric has several numbers.

    Examples
    --------
    >>> import recapture as rc
    >>> results = rc.evaluate_pairs(["a cat sat", "it rained"], {"a": ["a cat sat", "rain fell"]}, ["chrf", "ter"])
    >>> [round(score, 2) for score in results["a"]["ter"].scores.tolist()]
    [0.0, 1.0]
    """
    if metrics is None:
        chosen, left_out = usual_metrics(encoder, model, offline)
        if left_out:
            warnings.warn(left_out, stacklevel=3)  # the caller's line: one frame is the decorator's
    else:
        chosen = METRICS.choose(metrics)
    own = METRICS.own_parameters(chosen, options)
    shared = Shared(encoder, model, device=device, dtype=dtype, batch_tokens=batch_tokens, offline=offline, cache=cache)
    texts = aligned_texts(references, candidates)
    listed = [(metric, own[metric.name]) for metric in chosen]
    level = None if interval is None else check_level(interval)
    seed = check_seed(seed)
    asked = None if level is None else Intervals(level, seed)
    return _run(listed, texts, over_references, shared, asked)


def run_metric(
    metric: PairMetric,
    references: Any,
    candidates: Any,
    parameters: Mapping[str, Any],
    over_references: str | None = None,
    **options: Any,
) -> Answer:
    """One metric by its public function: a Result, or {system: Result} where candidates is a mapping.

    options: those of `Shared` (encoder, model, device, batch_tokens, offline, cache).
    """
    shared = Shared(**options)
    results = _run([(metric, parameters)], aligned_texts(references, candidates), over_references, shared)
    if isinstance(candidates, Mapping):
        return {name: by_metric[metric.name] for name, by_metric in results.items()}
    return results["candidate"][metric.name]


class PairFunction(Protocol[Parameters]):
    """How the public function of every metric of aligned texts is called: a mapping in gives a mapping out."""

    @overload
    def __call__(
        self,
        references: References,
        candidates: Mapping[str, Sequence[str]],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> dict[str, Result]: ...
    @overload
    def __call__(
        self,
        references: References,
        candidates: Sequence[str],
        *args: Parameters.args,
        **kwargs: Parameters.kwargs,
    ) -> Result: ...


_DOCSTRING_PARTS = {
    "candidates": """
candidates : list of str, or mapping of str to lists of str
    One text per entry of `references`; or several such lists, each under the name of its system.
""",
    "encoder": """
encoder : str or path, optional
    A transformer by name or folder (default: all-MiniLM-L6-v2).
""",
    "loading": """
device : str, optional
    cpu, cuda, mps; by default the best that there is.
batch_tokens : int, optional
    How many tokens go through the model at once.
offline : bool, optional
    True: never touch the network.
""",
}
"""What the docstrings of metrics of aligned texts say alike."""


def pair_function(function: Callable[Concatenate[Any, Any, Parameters], Any]) -> PairFunction[Parameters]:
    """The public function of a metric of aligned texts.

    It gets types that tell one system from several, plain numbers, one kind of error for unknown options, and the
    parts of its docstring that all of them share.
    """
    fill_docstring(function, _DOCSTRING_PARTS)
    names = list(inspect.signature(function).parameters)
    with_plain = plain_arguments(function)

    @functools.wraps(function)
    def checked(*args: Any, **kwargs: Any) -> Any:
        for name in kwargs:
            if name not in names:
                raise OptionError(f"{function.__name__} has no option {shown(name)}: {nearest_names(name, names)}")
        return with_plain(*args, **kwargs)

    return cast("PairFunction[Parameters]", checked)


def checked_parameters(
    chosen: Sequence[tuple[PairMetric, Mapping[str, Any]]], over: str | None = None
) -> list[tuple[PairMetric, dict[str, Any], Rule | None]]:
    """All parameters and the rule over references of every metric; raises all errors that need no model to be seen."""
    checked = []
    for metric, parameters in chosen:
        complete = metric.checked(parameters)
        metric.outputs_for(complete)
        checked.append((metric, complete, _checked_rule(metric, over)))
    return checked


def _checked_rule(metric: PairMetric, rule: str | None) -> Rule | None:
    if rule is None or metric.over_references is None:
        return metric.over_references
    if not is_one_of(rule, RULES):
        raise InputError(f"over_references is best or mean, not {shown(rule)}: {nearest_names(rule, RULES)}")
    return cast(Rule, rule)


# What goes in


class Aligned(NamedTuple):
    """Checked input of one run."""

    groups: list[list[str]]
    """For each item its references."""
    systems: dict[str, list[str]]
    """For each system one candidate per item."""


def aligned_texts(references: Any, candidates: Any) -> Aligned:
    """references: one entry per item, a text or a list of texts; candidates: one text per item, or several such lists
    by name.
    """
    groups = [_group(entry, position) for position, entry in enumerate(_list(references, "references"))]
    if not groups:
        raise InputError("there are no references")
    if isinstance(candidates, Mapping):
        if not candidates:
            raise InputError("there is no candidate: the mapping is empty")
        systems = {str(name): _texts(listed, f"candidate {str(name)!r}") for name, listed in candidates.items()}
        if len(systems) < len(candidates):
            raise InputError("two candidates have the same name")
    else:
        systems = {"candidate": _texts(candidates, "candidates")}
    for name, texts in systems.items():
        if len(texts) != len(groups):
            what = "candidates" if name == "candidate" else f"candidate {name!r}"
            raise InputError(
                f"references has {len(groups)} entries, but {what} has {len(texts)}: each candidate text needs its own "
                "entry, a text or a list of texts"
            )
    return Aligned(groups, systems)


def is_empty(text: str) -> bool:
    return not text.strip()


def _texts(texts: Any, name: str) -> list[str]:
    listed = _list(texts, name)
    if not all(isinstance(text, str) for text in listed):
        listed = checked_entries(listed, name, "entry")
    for position, text in enumerate(listed):
        _check_unicode(text, position, name)
    return listed


def _group(entry: Any, position: int) -> list[str]:
    if isinstance(entry, str):
        group = [entry]
    elif isinstance(entry, list):
        group = entry
    elif is_missing(entry):
        raise InputError(f"entry {position} of references is missing ({entry}): leave such items out of both sides")
    elif not isinstance(entry, Iterable) or isinstance(entry, (bytes, Mapping)):
        raise InputError(f"entry {position} of references is neither a text nor a list of texts: {shown(entry)}")
    else:
        group = list(entry)
    if not group:
        raise InputError(f"entry {position} of references has no texts")
    for text in group:
        if not isinstance(text, str):
            raise InputError(f"entry {position} of references holds {type(text).__name__}, not only texts")
        _check_unicode(text, position, "references")
    return group


def is_unicode(text: str) -> bool:
    """Whether a tokenizer can read it: no half of a surrogate pair."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True


def _check_unicode(text: str, position: int, name: str) -> None:
    if not is_unicode(text):
        raise InputError(f"entry {position} of {name} is not valid Unicode: half of a surrogate pair")


def _kind(value: Any) -> str:
    """What to call a value that is no list. Something long is not printed as a whole."""
    return type(value).__name__ if isinstance(value, Iterable) else shown(value)


def _list(entries: Any, name: str) -> list[Any]:
    if isinstance(entries, list):
        return entries
    if isinstance(entries, (str, bytes)):
        raise InputError(f"{name} must be a list with one entry per item, not one string")
    listed = entries if isinstance(entries, (Mapping, Set)) else samples_of(entries, name)
    if not isinstance(listed, Iterable) or isinstance(listed, (str, Mapping, Set)) or is_torch(listed):
        raise InputError(f"{name} must be a list with one entry per item, not {_kind(entries)}")
    return list(listed)


# What the metrics of one run have in common


class Shared:
    """Models by name, and what they have made of the texts so far. Nothing is loaded before it is needed.

    encoder: the default of metrics on word vectors; model: the default masked language model; batch_tokens: how many
    tokens go through a model at once; the rest as for `encode`.
    """

    def __init__(
        self,
        encoder: ModelName | None = None,
        model: ModelName | None = None,
        *,
        device: str | None = None,
        dtype: str | None = None,
        batch_tokens: int | None = None,
        offline: bool | None = None,
        cache: Any = True,
    ) -> None:
        self._dtype = None if dtype is None else checked_dtype(dtype)
        if batch_tokens is not None:
            batch_tokens = check_count("batch_tokens", batch_tokens, 1, _MOST_TOKENS)
        self._encoder = encoder
        self._model = model
        self._options: dict[str, Any] = {"device": device, "batch_tokens": batch_tokens, "offline": offline}
        self._cache = cache
        self._words: dict[str, WordStore] = {}
        self._masked: dict[str, MaskedStore] = {}

    def words(self, encoder: ModelName | None = None) -> WordStore:
        """Word-piece vectors by one encoder; say which layers with `.want` before the first text is encoded."""
        from ..representations.words import WordStore

        name = _model_name(self._encoder if encoder is None else encoder)
        if name not in self._words:
            self._words[name] = WordStore(name or None, **self._options, dtype=self._dtype)
        return self._words[name]

    def chunk_characters(self, left: int, begun: bool) -> int:
        """Of the texts that are scored together next, where so many are left; begun: they are not the first ones.

        A device begins soon where the first chunk is small, and has no small one at the end, which would be computed
        before the vectors of the last but one are put away.
        """
        stores: list[WordStore | MaskedStore] = [*self._words.values(), *self._masked.values()]
        if not stores or any(store.accelerator is None for store in stores):
            return _CHUNK_CHARACTERS
        if not begun:
            return _CHUNK_CHARACTERS * _FIRST_THERE
        chunks = max(1, math.ceil(left / (_CHUNK_CHARACTERS * _MORE_THERE)))
        return math.ceil(left / chunks)

    def masked(self, model: ModelName | None = None) -> MaskedStore:
        """Head vectors of masked tokens by one masked language model."""
        from ..representations.masked import MaskedStore

        name = _model_name(self._model if model is None else model)
        if name not in self._masked:
            self._masked[name] = MaskedStore(name or None, **self._options, dtype=self._dtype, cache=self._cache)
        return self._masked[name]


def _model_name(model: ModelName | None) -> str:
    if model is None:
        return ""
    if not isinstance(model, (str, os.PathLike)):
        raise InputError(f"a model is a name or a folder, not {shown(model)}")
    return str(os.path.abspath(os.path.expanduser(model))) if isinstance(model, os.PathLike) else model  # noqa: PTH100, PTH111


@dataclass(frozen=True)
class PairJob:
    """One metric made ready."""

    metric: PairMetric
    parameters: Mapping[str, Any]
    rule: Rule | None
    scorer: PairScorer

    @property
    def outputs(self) -> tuple[Output, ...]:
        return self.metric.outputs_for(self.parameters)

    @property
    def equal(self) -> list[float]:
        """By output what equal texts score, and so two empty ones; NaN where the metric does not say."""
        return [self.metric.equal.get(output.name, self._bound(output, best=True)) for output in self.outputs]

    def apart(self, pairs: Sequence[TextPair]) -> np.ndarray:
        """(pairs, outputs): what each pair would score if its texts never met; NaN where there is no such number."""
        table = np.array([[self._apart(output) for output in self.outputs]] * len(pairs)).reshape(len(pairs), -1)
        own = self.scorer.apart(pairs) if pairs else {}
        for place, output in enumerate(self.outputs):
            if output.name in own:
                table[:, place] = own[output.name]
        return table

    def score(self, pairs: Sequence[TextPair]) -> np.ndarray:
        """(pairs, outputs): the scores of pairs without empty texts; NaN where the two cannot be compared."""
        numbers = cast(TextPairScorer, self.scorer).score(pairs)
        columns = np.array([numbers[output.name] for output in self.outputs], dtype=np.float64)
        # A text in which a metric sees nothing is still equal to itself.
        same = np.array([reference == candidate for reference, candidate in pairs])
        rows: np.ndarray = np.where(same & np.isnan(columns), np.array(self.equal)[:, None], columns).T
        return rows

    def _apart(self, output: Output) -> float:
        declared = {**self.metric.empty, **self.scorer.empty}
        return declared.get(output.name, self._bound(output, best=False))

    def _bound(self, output: Output, best: bool) -> float:
        bound = output.range[1 if best == (self.metric.direction == "higher") else 0]
        return bound if math.isfinite(bound) else math.nan

    def joined(self, rows: np.ndarray) -> np.ndarray:
        """One number by output from those of an item's references; each output by itself."""
        if self.rule == "mean":
            return _mean_without_nan(rows)
        best = np.fmax if self.metric.direction == "higher" else np.fmin
        joined: np.ndarray = best.reduce(rows, axis=0)
        return joined

    def without_meeting(self, group: Sequence[str], candidate: str) -> np.ndarray:
        """An item's scores where no text of it can be compared: the rule for empty texts, written here alone.

        Two empty texts score as equal ones, and an empty text scores what two texts score that never meet.
        """
        rows = self.apart([(reference, candidate) for reference in group])
        rows[[is_empty(reference) and is_empty(candidate) for reference in group]] = self.equal
        return self.joined(rows)


# From texts to scores


class MeasuredPairs(NamedTuple):
    """Results, and what they were made from."""

    results: PairResults
    jobs: list[PairJob]
    counted: dict[str, dict[str, Mapping[str, Counted]]]
    """By system, metric and output: numbers of the corpus that are formulas of sums over items."""


def _run(
    chosen: Sequence[tuple[PairMetric, Mapping[str, Any]]],
    texts: Aligned,
    over: str | None,
    shared: Shared,
    intervals: Intervals | None = None,
) -> PairResults:
    return measured_pairs(chosen, texts, over, shared, intervals).results


def measured_pairs(
    chosen: Sequence[tuple[PairMetric, Mapping[str, Any]]],
    texts: Aligned,
    over: str | None,
    shared: Shared,
    intervals: Intervals | None = None,
) -> MeasuredPairs:
    jobs = [
        PairJob(metric, parameters, rule, metric.prepare(texts.groups, shared, **parameters))
        for metric, parameters, rule in checked_parameters(chosen, over)
    ]
    scored = [job for job in jobs if isinstance(job.scorer, TextPairScorer)]
    singles = _score_pairs(scored, texts, shared)
    results = PairResults({name: {} for name in texts.systems})
    results.reference_content = content_digest(texts.groups)
    counted: dict[str, dict[str, Mapping[str, Counted]]] = {name: {} for name in texts.systems}
    for job in jobs:
        for name, candidates in texts.systems.items():
            if isinstance(job.scorer, TextPairScorer):
                scores = _joined(job, singles[job.metric.name], texts.groups, candidates)
            else:
                filled = [[text for text in group if not is_empty(text)] or [""] for group in texts.groups]
                scores = cast(GroupScorer, job.scorer).score(filled, candidates)
            results[name][job.metric.name] = _result(job, scores, texts.groups, candidates, intervals)
            counted[name][job.metric.name] = scores.counted
    return MeasuredPairs(results, jobs, counted)


def _score_pairs(
    jobs: Sequence[PairJob], texts: Aligned, shared: Shared
) -> dict[str, dict[TextPair, tuple[float, ...]]]:
    """Every distinct pair once, by metric: chunk by chunk, so that the texts of a chunk are encoded once for all."""
    distinct = {
        (reference, candidate)
        for candidates in texts.systems.values()
        for group, candidate in zip(texts.groups, candidates, strict=True)
        for reference in group
        if not is_empty(reference) and not is_empty(candidate)
    }
    scores: dict[str, dict[TextPair, tuple[float, ...]]] = {job.metric.name: {} for job in jobs}
    if not jobs:
        return scores
    with Progress("scoring pairs", len(distinct) * len(jobs), "pair") as progress:
        for chunk, following in _with_next(_chunks(distinct, shared.chunk_characters)):
            for job in jobs:
                if following:
                    cast(TextPairScorer, job.scorer).ahead(following)
                if not chunk:
                    continue
                rows = map(tuple, job.score(chunk).tolist())
                scores[job.metric.name].update(zip(chunk, rows, strict=True))
                progress.advance(len(chunk))
    return scores


def _with_next(chunks: Iterable[list[TextPair]]) -> Iterator[tuple[list[TextPair], list[TextPair]]]:
    """Each chunk, and the one after it; an empty one first and last."""
    previous: list[TextPair] = []
    for chunk in chunks:
        yield previous, chunk
        previous = chunk
    yield previous, []


def _chunks(pairs: Iterable[TextPair], characters: Callable[[int, bool], int]) -> Iterator[list[TextPair]]:
    """Pairs with one reference stand together; the order in which they came does not matter.

    characters: as `Shared.chunk_characters`.
    """
    ordered = sorted(pairs, key=lambda pair: (len(pair[0]), pair))
    left = sum(len(reference) + len(candidate) for reference, candidate in ordered)
    chunk: list[TextPair] = []
    size, limit = 0, characters(left, False)
    previous = None
    for reference, candidate in ordered:
        needed = len(candidate) + (len(reference) if reference != previous else 0)
        if chunk and size + needed > limit:
            yield chunk
            chunk, size, limit = [], 0, characters(left, True)
            needed = len(candidate) + len(reference)
        chunk.append((reference, candidate))
        size += needed
        left -= len(reference) + len(candidate)
        previous = reference
    if chunk:
        yield chunk


def _joined(
    job: PairJob,
    known: Mapping[TextPair, tuple[float, ...]],
    groups: Sequence[Sequence[str]],
    candidates: Sequence[str],
) -> PairScores:
    """One number per item from those of its references; NaN where nothing could be compared."""
    items = np.full((len(candidates), len(job.outputs)), math.nan)
    for position, (group, candidate) in enumerate(zip(groups, candidates, strict=True)):
        filled = [(reference, candidate) for reference in group if (reference, candidate) in known]
        if not filled:
            continue
        if len(group) == 1:  # nothing to join
            items[position] = known[filled[0]]
            continue
        rows = np.array([known[pair] for pair in filled])
        if job.rule == "mean" and len(filled) < len(group):
            # An empty reference is never the best, but it counts in a mean.
            rows = np.concatenate([rows, job.apart([("", candidate)] * (len(group) - len(filled)))])
        items[position] = job.joined(rows)
    return PairScores({output.name: items[:, place] for place, output in enumerate(job.outputs)})


def _mean_without_nan(rows: np.ndarray) -> np.ndarray:
    """Column means without NaN, from exact sums: their order does not matter."""
    columns = [[value for value in column if not math.isnan(value)] for column in rows.T.tolist()]
    return np.array([math.fsum(column) / len(column) if column else math.nan for column in columns])


# From scores to a Result


def _result(
    job: PairJob,
    scores: PairScores,
    groups: Sequence[Sequence[str]],
    candidates: Sequence[str],
    intervals: Intervals | None = None,
) -> Result:
    """Means, what empty texts score, and what a user should know."""
    metric = job.metric
    outputs = job.outputs
    blank = np.array(
        [is_empty(text) or all(map(is_empty, group)) for group, text in zip(groups, candidates, strict=True)], bool
    )
    table = np.array([scores.items[output.name] for output in outputs], dtype=np.float64).T
    lost = np.isnan(table) & ~blank[:, None]
    for position in np.flatnonzero(blank | lost.any(axis=1)).tolist():
        instead = job.without_meeting(groups[position], candidates[position])
        table[position] = np.where(blank[position] | lost[position], instead, table[position])
    items = {output.name: column.copy() for output, column in zip(outputs, table.T, strict=True)}
    means = {name: float(_mean_without_nan(column[:, None])[0]) for name, column in items.items()}
    # If no pair has two texts that are not empty, there is no number of the corpus.
    values = means if blank.all() else {**means, **scores.totals}
    flat = [text for group in groups for text in group]
    counts = sorted({len(group) for group in groups})
    main = [output.name for output in outputs if output.main]
    known = {name: int(np.count_nonzero(~np.isnan(column))) for name, column in items.items()}
    bounds = intervals.of(items, scores.totals) if intervals else {}
    record = intervals.record(bounds, scores.totals) if intervals else {}
    rule = {"over_references": job.rule} if job.rule else {}
    return Result(
        metric=metric.name,
        values=values,
        direction=metric.direction,
        ranges={output.name: output.range for output in outputs},
        sizes={"reference": len(flat), "candidate": len(candidates)},
        warnings=(
            *_warnings(job, groups, candidates, int(lost.any(axis=1).sum()), bool(scores.totals)),
            *job.scorer.warnings({*flat, *candidates}),
        ),
        signature=metric.signature({**job.scorer.settings, **rule}),
        details={
            "aligned": {"items": len(groups), "references": len(flat), "least": counts[0], "most": counts[-1]},
            **({"main": main} if len(main) < len(outputs) else {}),
            **({"corpus": sorted(scores.totals)} if scores.totals else {}),
            **({"scored": known} if min(known.values()) < len(candidates) else {}),
        },
        arrays={array_name(name): column for name, column in items.items()},
        intervals=bounds,
        inference={"intervals": record} if record else {},
    )


def _warnings(
    job: PairJob, groups: Sequence[Sequence[str]], candidates: Sequence[str], unscored: int, corpus: bool
) -> Iterator[str]:
    if not (unscored or any(map(is_empty, candidates)) or any(is_empty(text) for group in groups for text in group)):
        return
    fate = _fate(job, corpus)
    total = sum(map(len, groups))
    bare = {place for place, group in enumerate(groups) if all(map(is_empty, group))}
    beside = sum(is_empty(text) for place, group in enumerate(groups) if place not in bare for text in group)
    equal = {
        place
        for place, (group, text) in enumerate(zip(groups, candidates, strict=True))
        if is_empty(text) and any(map(is_empty, group)) and not np.isnan(job.equal).all()
    }
    if equal:
        verb = "is" if len(equal) == 1 else "are"
        yield f"{len(equal)} of {len(candidates)} pairs {verb} of two empty texts: scored as equal"
    spare = fate if job.rule == "mean" else "ignored, since others of the same item are not"
    for name, count, of, what in (
        ("reference", sum(len(groups[place]) for place in bare - equal), total, fate),
        ("reference", beside, total, spare),
        ("candidate", sum(map(is_empty, candidates)) - len(equal), len(candidates), fate),
    ):
        if count:
            more = " more" if equal else ""
            yield f"{count}{more} of {of} texts of {name} {'is' if count == 1 else 'are'} empty: {what}"
    if unscored:
        yield f"{unscored} of {len(candidates)} pairs could not be compared: {fate}"


def _fate(job: PairJob, corpus: bool) -> str:
    """What becomes of a pair with an empty text."""
    missing = np.isnan(job.apart([("", "")])[0]).tolist()
    scored = "scored as texts that never meet" if job.scorer.apart([("", "")]) else "scored worst"
    if not any(missing):
        return scored
    if all(missing):
        # A corpus number may count them all the same.
        return "without a score of their own" if corpus else "left out of the mean"
    without = [output.name for output, lacks in zip(job.outputs, missing, strict=True) if lacks]
    return f"{scored}, left out of the mean of {', '.join(without)}"
