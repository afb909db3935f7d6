"""From two or more sets to Results: one metric or many, one candidate or several, against one reference.

`evaluate` prepares the sets (one space, checked), measures every candidate and puts the results together.
`measure_pair` is where metrics are run, also for the functions of single metrics (`metric_functions`).
"""

from __future__ import annotations

import math
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import compress
from pathlib import PurePath
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, NamedTuple

from ..checks import check_draws, check_level, check_seed, plain_arguments
from ..errors import InputError
from ..geometry.devices import accelerator_for, meanwhile, on_device
from ..geometry.points import PointSet
from ..labellings.groups import Groups
from ..labellings.plans import Pvalue, check_pvalue
from ..page.map_data import MapSamples
from ..report.result import Result, content_digest
from ..representations.vectors import asked_encoding, holds_texts, vectors_of
from . import uncertainty
from .balance import check_balance, mean_measurement, subsamples
from .declaration import METRICS, ROWS, Measurement, SetMetric
from .given_sets import GivenSets
from .grouping import ContentGroups, Labelled, SetGroups
from .human import SPLITS, CandidateSamples, HumanSplits, HumanTerms
from .inputs import Inputs, copies_note, inputs_of, same_as_reference
from .k_sweep import KeptSets
from .pair import Pair, check_k, check_reach
from .table import SetResults
from .uncertainty import Sureness, held_together
from .unseen import People

if TYPE_CHECKING:
    import os

    from ..representations.encoder import EncoderLike
    from ..representations.facts import MadeFor
    from ..representations.vector_cache import VectorCache
    from ..representations.vectors import SampleSet
    from .work_ahead import SetCall


class Job(NamedTuple):
    """A metric and the parameters that differ from its defaults."""

    metric: SetMetric
    parameters: Mapping[str, Any]


@on_device
@plain_arguments
def evaluate(
    references: SampleSet,
    candidates: SampleSet | Mapping[str, SampleSet],
    metrics: str | Iterable[str] | None = None,
    encoder: EncoderLike | None = None,
    k: int | None = None,
    *,
    balance: bool | int = False,
    interval: float | None = None,
    pvalue: Pvalue = False,
    ceiling: bool | int = True,
    human: SampleSet | None = None,
    reference_groups: Labelled | None = None,
    candidate_groups: Labelled | Mapping[str, Labelled] | None = None,
    human_groups: Labelled | None = None,
    paired: bool = False,
    seed: int = 0,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    dtype: str | None = None,
    cache: bool | str | os.PathLike[str] | VectorCache | None = None,
    reference_name: str = "reference",
    budget: str | float | None = None,
) -> SetResults:
    """How close one or several candidate sets are to a reference set, by many metrics.

    Parameters
    ----------
    references : list of str or array of shape (samples, dimensions)
        The reference set: texts, or ready vectors.
    candidates : list of str, array, or mapping of str to such
        One candidate set in the same form, or several by name.
    metrics : str or iterable of str, optional
        Names, as a list or separated by commas (default: all, see `list_metrics`).
    encoder : str, path, callable or Encoder, optional
        What turns texts into vectors; see `encode`.
    k : int, optional
        One neighbourhood size for all metrics that have one (None: each its own default).
    balance : bool or int, default False
        Average over that many subsamples (True: 10), all as large as the smallest of all sets, so that candidates can
        be compared.
    interval : float, optional
        A level such as 0.95, for an interval around every number.
    pvalue : bool, int, "exact" or "sampled", default False
        Test whether both sets come from one distribution, by relabelling. True: all relabellings where there are at
        most 200,000, else 999 random ones. A number: that many, or all where there are no more. "exact": all,
        "sampled": 999 random ones.
    ceiling : bool or int, default True
        What human texts score in the candidate's place: one part of the reference against another, and against an equal
        part of each candidate, over that many splits (True: 40).
    human : list of str or array, optional
        A second human set, whose parts then stand for human texts instead of other parts of the reference.
    reference_groups : sequence of str or int, optional
        One label a sample: samples of one document, prompt or author are not independent. Labellings, half-samples and
        splits then move whole groups; a group on both sides swaps its two parts.
    candidate_groups : sequence, or mapping of str to sequence, optional
        The same for the candidate, or for each by name.
    human_groups : sequence, optional
        The same for the second human set.
    paired : bool, default False
        Whether sample i of both sides answers one prompt: labels are then swapped within it.
    seed : int, default 0
        For all that is drawn at random.
    options : mapping of str to mapping, optional
        Parameters of single metrics, by name, such as {"prd": {"clusters": 10}}; a seed there is that of the metric's
        own clusterings alone.
    pooling, device, batch_size, offline, truncate, dtype, cache
        For `encode`.
    reference_name : str
        What messages and `inputs` call the reference.
    budget : str or float, optional
        A time such as "90s", "10min" or "1h30min" (a number: seconds) that the work has to fit into: a sample of every
        set is taken, as large as fits by a short measurement, and the first sentence of `.verdict` says how large it is
        and what interval that costs (at the level 0.95 unless `interval` says otherwise).

    Returns
    -------
    SetResults
        {candidate: {metric: Result}}, as a dict that also shows itself as a table and writes itself down. `.inputs`
        says what went in, for each candidate and for the reference under its name: `copied`, `near_copied`, `repeated`,
        `near_repeated` and `beyond_limit` (numbers of texts), `unseen_tokens` and `unknown_pieces` (shares);
        `.any_difference` has one p-value a candidate, where p-values were asked for.

    See Also
    --------
    evaluate_pairs : every candidate against references of its own.
    evaluate_contexts : several candidates against several references, context by context.

    Examples
    --------
    >>> import numpy as np
    >>> import recapture as rc
    >>> reference, candidate = np.random.default_rng(0).standard_normal((2, 200, 8))
    >>> results = rc.evaluate(reference, {"good": candidate, "far": candidate + 9}, "precision-recall")
    >>> results["far"]["precision-recall"].precision
    0.0
    """
    given = dict(locals())
    seed, pvalue = check_seed(seed), check_pvalue(pvalue)  # all of these before texts are encoded
    check_balance(balance)
    splits = check_splits(ceiling)
    check_level(interval)
    if human is not None and not splits:
        raise InputError("a second human set was given, but no ceiling is asked for")
    if budget is not None:
        return _within_budget(given)
    prepared = prepare_sets(
        references,
        candidates,
        metrics,
        encoder,
        k,
        blind=bool(splits or interval or asked(pvalue)),
        human=human,
        reference_groups=reference_groups,
        candidate_groups=candidate_groups,
        human_groups=human_groups,
        paired=paired,
        options=options,
        reference_name=reference_name,
        encoding=asked_encoding(pooling, device, batch_size, offline, cache, truncate, dtype),
    )
    results = evaluate_prepared(prepared, balance=balance, interval=interval, pvalue=pvalue, splits=splits, seed=seed)
    results.shown = ROWS if metrics is None else None
    return results


def work_of_evaluate(given: Mapping[str, Any]) -> SetCall:
    """A call of `evaluate`, to see what it takes before it is made."""
    from .work_ahead import Roles, SetCall

    return SetCall(evaluate, Roles("references", "candidates", "candidate_groups"), given)


def _within_budget(given: Mapping[str, Any]) -> SetResults:
    from .budget import Told, within_budget

    def told(results: SetResults) -> Told | None:
        from ..declarations import number_label

        candidate, by_metric = next(iter(results.items()))
        known = [(result, name, bounds) for result in by_metric.values() for name, bounds in result.intervals.items()]
        # First what tables show.
        known.sort(key=lambda each: not each_row(each[0].metric, each[1]))
        if not known:
            return None
        result, name, (low, high) = known[0]
        label = number_label(result.metric, name, len(result.values))
        whose = f"{label} of {candidate}" if len(results) > 1 else label
        moves = METRICS.find(result.metric).moves_with_size(result.signature)
        return Told(whose, given["interval"] or 0.95, (high - low) / 2, moves)

    def each_row(metric: str, name: str) -> bool:
        return bool({metric, f"{metric}.{name}"} & set(ROWS))

    found: SetResults = within_budget(work_of_evaluate(given), given["budget"], None, told)
    if found.budget_sample:
        found.state(sample=found.budget_sample)
    return found


@dataclass(frozen=True)
class PreparedSets:
    """Sets in one space, checked, with all that metrics and tests need."""

    jobs: list[Job]
    reference: PointSet
    candidates: dict[str, PointSet]
    human: PointSet | None
    """A second human set, without what the reference has, too."""
    groups: SetGroups
    moved: ContentGroups
    """The groups of all sets in order of content."""
    identity: dict[str, Any] | None
    """What encoded them; None for arrays that came ready."""
    texts: dict[str, Any]
    """The sets as they were given, by the names that `inputs` has."""
    inputs: Inputs
    made_for: MadeFor | None
    notes: dict[str, list[str]]
    """On each candidate, with those on the reference."""

    @property
    def has_texts(self) -> bool:
        """Whether texts were given: neither ready vectors nor a stored baseline, which keeps vectors alone."""
        return self.identity is not None and all(isinstance(next(iter(own), ""), str) for own in self.texts.values())


def prepare_sets(
    references: SampleSet,
    candidates: SampleSet | Mapping[str, SampleSet],
    metrics: str | Iterable[str] | None,
    encoder: EncoderLike | None,
    k: int | None,
    *,
    blind: bool,
    human: SampleSet | None = None,
    reference_groups: Labelled | None = None,
    candidate_groups: Labelled | Mapping[str, Labelled] | None = None,
    human_groups: Labelled | None = None,
    paired: bool = False,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    reference_name: str = "reference",
    encoding: Mapping[str, Any] = MappingProxyType({}),
) -> PreparedSets:
    """From what a caller gives to sets of vectors; arguments as for `evaluate`.

    blind: whether an encoder that learns learns from all texts. encoding: see `asked_encoding`.
    """
    chosen = METRICS.choose(metrics)
    given = GivenSets.of(references, candidates, human, reference_name)
    if k is not None and holds_texts(given.samples[0]) and all(size for _, size in given.sizes):
        check_k(k, *given.sizes)  # before texts are encoded, which may take long
    if k is not None and not any(metric.uses_neighbours for metric in chosen):
        raise InputError(f"k was given, but {', '.join(metric.name for metric in chosen)} has no neighbourhoods")
    own = METRICS.own_parameters(chosen, options)
    human_size = None if human is None else given.sizes[1]
    groups = SetGroups(paired, given.sizes[0], reference_groups, human_size, human_groups)
    groups.add(dict(zip(given.candidates, given.sizes[-len(given.candidates) :], strict=True)), candidate_groups)
    vectors = vectors_of(given.samples, given.labels, encoder, blind=blind, **encoding)
    reference, *sets = (PointSet(values, label) for values, label in zip(vectors.sets, given.labels, strict=True))
    notes = dict(zip(given.labels, vectors.notes, strict=True))
    every_point = [reference, *sets]
    second = sets.pop(0) if human is not None else None
    on_human: list[str] = []
    if second is not None:
        second, on_human = groups.only_human(reference, second)
        on_human += notes["human"]
    jobs = [
        Job(metric, ({"k": k} if k is not None and metric.uses_neighbours else {}) | own[metric.name])
        for metric in chosen
    ]
    for points in sets:
        check_reach(reference, Pair(reference, points).candidate)
    texts = vectors.identity is not None
    inputs = inputs_of(given.names, given.samples if texts else every_point, vectors.facts, texts)
    by_name = dict(zip(given.candidates, sets, strict=True))
    for name, points in by_name.items():
        notes[points.name] += copies_note(inputs, name, points, reference)
        if same_as_reference(reference, points):
            notes[points.name].append(
                f"{points.name} holds the samples of {reference.name}, in the same order: is it the same file?"
            )
    return PreparedSets(
        jobs,
        reference,
        by_name,
        second,
        groups,
        groups.by_content(reference, second, by_name),
        vectors.identity,
        dict(zip(given.names, given.samples, strict=True)),
        inputs,
        vectors.made_for,
        {name: [*notes[reference.name], *notes[points.name], *on_human] for name, points in by_name.items()},
    )


def evaluate_prepared(
    prepared: PreparedSets,
    *,
    balance: bool | int = False,
    interval: float | None = None,
    pvalue: Pvalue = False,
    untested: Container[str] = (),
    splits: int = 0,
    seed: int = 0,
    pairs: dict[str, Pair] | None = None,
    reference_content: str | None = None,
) -> SetResults:
    """Results of every candidate. splits: of the reference, for what human texts score (0: none).

    untested: metrics without p-values. pairs: of the reference with each candidate, where some are there already; taken
    out one by one. reference_content: what results say of the reference (`content_digest`), where that is known.
    """
    jobs, reference, sets, moved = prepared.jobs, prepared.reference, prepared.candidates, prepared.moved
    pairs = {name: Pair(reference, points) for name, points in sets.items()} if pairs is None else pairs
    reasons = {name: [_unable(job, pair) for job in jobs] for name, pair in pairs.items()}
    if all(reason for of_pair in reasons.values() for reason in of_pair):
        raise InputError(next(iter(reasons.values()))[0])
    # Candidates too small for some metric do not make the others' subsamples small.
    measurable = [len(pair.candidate) for name, pair in pairs.items() if not any(reasons[name])]
    smallest = min([len(reference), *(measurable or map(len, sets.values()))])
    # All that is drawn at random is drawn from sets in order of content.
    human_splits = None
    if splits:
        human_splits = HumanSplits(
            with_defaults(jobs, seed),
            reference.ordered,
            [CandidateSamples(len(points), moved.of(name)) for name, points in sets.items()],
            splits,
            seed,
            human=None if prepared.human is None else prepared.human.ordered,
            groups=moved.reference,
            human_groups=moved.human,
        )
    results = SetResults()
    results.inputs = prepared.inputs
    results.made_for = prepared.made_for
    results.samples = _samples(prepared)
    results.kept = None if results.samples is None else KeptSets(prepared, seed)
    of_reference = reference.values if prepared.identity is None else next(iter(prepared.texts.values()))
    content = meanwhile(
        accelerator_for(len(reference), smallest),
        lambda: content_digest(of_reference) if reference_content is None else reference_content,
    )
    if asked(pvalue) and results.samples is not None:
        together = prepared.groups.reference is not None or bool(prepared.groups.candidates)
        results.people = People(with_defaults(jobs, seed), reference.ordered, seed, together=together)
    while pairs:
        name = next(iter(pairs))
        pair = pairs.pop(name)  # its neighbourhoods are not kept while others are measured
        able = [not reason for reason in reasons[name]]
        terms = human_splits.terms(list(sets).index(name), pair.ordered) if human_splits else ()
        measured = iter(
            measure_pair(
                list(compress(jobs, able)),
                pair,
                prepared.identity,
                balance=balance,
                balance_size=min(smallest, len(pair.candidate)),
                interval=interval,
                pvalue=pvalue,
                untested=untested,
                ceiling=list(compress(terms, able)),
                groups=moved.pooled.get(name),
                seed=seed,
                notes=prepared.notes[name],
            )
            if any(able)
            else ()
        )
        results[name] = {
            job.metric.name: _no_result(job, pair, prepared.identity, reason) if reason else next(measured)
            for job, reason in zip(jobs, reasons[name], strict=True)
        }
    results.reference_content = content()
    return held_together(results)


def _samples(prepared: PreparedSets) -> MapSamples | None:
    """The reference, under its name, and every candidate."""
    given = next(iter(prepared.texts))
    short = PurePath(given).name  # on a page that others read, folders of one machine say nothing
    reference = short if short and short not in prepared.candidates else given
    values = {reference: prepared.reference.values}
    values |= {name: points.values for name, points in prepared.candidates.items()}
    if not prepared.has_texts:
        return MapSamples.kept(values, None)
    return MapSamples.kept(values, {name: prepared.texts[given if name == reference else name] for name in values})


def measure_pair(
    jobs: Sequence[Job],
    pair: Pair,
    identity: Any = None,
    *,
    balance: bool | int = False,
    balance_size: int | None = None,
    interval: float | None = None,
    pvalue: Pvalue = False,
    untested: Container[str] = (),
    ceiling: bool | int | Sequence[HumanTerms] = False,
    groups: Groups | None = None,
    seed: int = 0,
    notes: Sequence[str] = (),
) -> list[Result]:
    """Several metrics (or one at several k) on one pair, whose neighbourhoods they share.

    balance_size: samples a side in balanced subsamples; None: as many as the smaller side has.
    ceiling: also what `HumanSplits` says of this candidate.
    groups: which of the pooled samples belong together, both sides in order of content.

    Scores are of the sets as given; all that is drawn at random is drawn from them in order of content.
    """
    draws = check_balance(balance)
    level = check_level(interval)
    seed = check_seed(seed)
    for job in jobs:
        _check_sizes(job.metric, pair)
    jobs = with_defaults(jobs, seed)
    measured = _measure_all(jobs, pair)
    size = balance_size or min(pair.sizes.values())
    balancing: dict[str, Any] = {}
    if draws and max(pair.sizes.values()) > size:
        runs = [_measure_all(jobs, smaller) for smaller in subsamples(pair.ordered, size, draws, seed)]
        measured = [mean_measurement(of_job, whole) for *of_job, whole in zip(*runs, measured, strict=True)]
        balancing = {"balance": {"size": size, "draws": draws, "seed": seed}}
    sureness: dict[str, Sequence[Sureness]] = {}
    terms: Sequence[HumanTerms] = ()
    if isinstance(ceiling, Sequence):
        terms = ceiling
    elif splits := check_splits(ceiling):
        sides = (None, None) if groups is None else groups.by_side
        own_samples = CandidateSamples(len(pair.candidate), sides[1])
        human = HumanSplits(jobs, pair.ordered.reference, [own_samples], splits, seed, groups=sides[0])
        terms = human.terms(0, pair.ordered)
    if level is not None:
        values = [measurement.values for measurement in measured]
        sureness["intervals"] = uncertainty.intervals(
            jobs, pair.ordered, values, level, seed, size if balancing else None, groups
        )
    if asked(pvalue):
        sureness["pvalues"] = uncertainty.pvalues(jobs, pair.ordered, pvalue, seed, groups, untested)
    if sureness and groups is None:
        notes = [*notes, *uncertainty.repeats(pair)]
    return [
        _result(
            job,
            pair,
            measurement,
            balancing,
            identity,
            notes,
            {name: by_job[at] for name, by_job in sureness.items()},
            terms[at] if terms else HumanTerms(),
        )
        for at, (job, measurement) in enumerate(zip(jobs, measured, strict=True))
    ]


def with_defaults(jobs: Sequence[Job], seed: int) -> list[Job]:
    """One seed for all that is drawn at random: subsamples, and clusterings where a metric has them."""
    for _, parameters in jobs:
        check_seed(parameters.get("seed", seed))
    return [
        Job(metric, {**metric.defaults, **({"seed": seed} if "seed" in metric.defaults else {}), **parameters})
        for metric, parameters in jobs
    ]


def asked(pvalue: Pvalue | None) -> bool:
    return pvalue is not False and pvalue is not None


def check_splits(ceiling: bool | int) -> int:
    return check_draws("ceiling", ceiling, SPLITS, "splits")


def _check_sizes(metric: SetMetric, pair: Pair) -> None:
    for points in (pair.reference, pair.candidate):
        if len(points) < metric.least_samples:
            raise InputError(
                f"{points.name} has {len(points)} sample{'s' * (len(points) != 1)}: "
                f"{metric.name} needs at least {metric.least_samples}"
            )


def _measure_all(jobs: Sequence[Job], pair: Pair) -> list[Measurement]:
    pair.expect(parameters["k"] for metric, parameters in jobs if metric.uses_neighbours)
    return [metric.measure(pair, **parameters) for metric, parameters in jobs]


def _result(
    job: Job,
    pair: Pair,
    measured: Measurement,
    balancing: Mapping[str, Any],
    identity: Any,
    notes: Sequence[str],
    sureness: Mapping[str, Sureness],
    terms: HumanTerms,
) -> Result:
    metric, parameters = job
    settings = {**parameters, **measured.settings, **balancing, "encoder": identity or "vectors as given"}
    return Result(
        metric=metric.name,
        values={output.name: float(measured.values[output.name]) for output in metric.outputs},
        direction=metric.direction,
        ranges=metric.ranges_for(parameters),
        sizes=pair.sizes,
        warnings=(
            *notes,
            *measured.warnings,
            *terms.warnings,
            *(warning for said in sureness.values() for warning in said.warnings),
        ),
        signature=metric.signature(settings),
        details=measured.details,
        arrays={**measured.arrays, **measured.curves},
        **{name: said.numbers for name, said in sureness.items()},
        adjusted_pvalues=sureness["pvalues"].adjusted if "pvalues" in sureness else {},
        human=terms.human,
        at_human_size=terms.at_human_size,
        inside=terms.inside,
        nulls=sureness["pvalues"].nulls if "pvalues" in sureness else {},
        inference={
            **{name: said.record for name, said in sureness.items() if said.record},
            **({"human": terms.record} if terms.record else {}),
        },
    )


def _no_result(job: Job, pair: Pair, identity: Any, reason: str) -> Result:
    """What stands where a metric cannot be computed: no numbers, and why."""
    metric = job.metric
    return Result(
        metric=metric.name,
        values={output.name: math.nan for output in metric.outputs},
        direction=metric.direction,
        ranges=metric.ranges_for({**metric.defaults, **job.parameters}),
        sizes=pair.sizes,
        warnings=(f"not computed: {reason}",),
        signature=metric.signature({**metric.defaults, **job.parameters, "encoder": identity or "vectors as given"}),
    )


def _unable(job: Job, pair: Pair) -> str:
    """Why a metric cannot be computed for sets of these sizes; "" where it can. A caller's own k is checked apart."""
    metric, parameters = job
    if "k" in parameters:
        pair.expect([parameters["k"]])
    try:
        _check_sizes(metric, pair)
        if metric.uses_neighbours and "k" not in parameters:
            pair.expect([metric.defaults["k"]])
    except InputError as error:
        return str(error)
    return ""
