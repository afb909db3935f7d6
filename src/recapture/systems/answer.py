"""`compare`: which system is closest to people, how sure that is, and what cannot be told."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any, Literal

from ..checks import check_seed, is_one_of, plain_arguments
from ..declarations import number_label
from ..errors import InputError, OptionError, nearest_names, shown
from ..geometry.devices import on_device
from ..report.report import percent, short_p
from ..representations.vectors import asked_encoding
from ..sets.declaration import ROWS, usual_metrics
from ..sets.evaluate import PreparedSets, check_splits, evaluate_prepared, prepare_sets
from ..sets.table import SetResults
from .comparison import Comparison
from .evidence import LABELLINGS, check_tests, differences, enough_labellings, losses, pairs_of, smallest_adjusted
from .of_sets import HALF_SAMPLES, SetSystems, SystemNumbers
from .set_sentences import sentences_on
from .smallest_difference import SmallestDifference, reach_in_data, twins

if TYPE_CHECKING:
    import os

    from ..representations.encoder import EncoderLike
    from ..representations.vector_cache import VectorCache
    from ..representations.vectors import SampleSet
    from ..sets.grouping import Labelled
    from ..sets.work_ahead import SetCall


_NO_CEILING = (
    "there is no ceiling (what people's own texts score): whoever is better by a number counts as closer, even where "
    "that is better than people"
)


@on_device
@plain_arguments
def compare(
    reference: SampleSet | None,
    systems: Mapping[str, SampleSet],
    metrics: str | Iterable[str] | None = None,
    encoder: EncoderLike | None = None,
    k: int | None = None,
    *,
    kind: Literal["sets", "pairs", "contexts"] = "sets",
    level: float = 0.05,
    interval: float = 0.95,
    ceiling: bool | int = True,
    human: SampleSet | None = None,
    reference_groups: Labelled | None = None,
    groups: Mapping[str, Labelled] | Labelled | None = None,
    human_groups: Labelled | None = None,
    paired: bool = False,
    labelled: Iterable[str] | None = None,
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
    baseline: str | os.PathLike[str] | None = None,
    budget: str | float | None = None,
) -> Comparison:
    """Several systems against one reference set and against each other.

    Parameters
    ----------
    reference : list of str or array of shape (samples, dimensions)
        People's texts, or ready vectors; None where `baseline` brings them.
    systems : mapping of str to list of str or array
        Each system's texts or vectors, by name: two or more, or one beside `baseline`.
    metrics : str or iterable of str, optional
        Names of metrics of two sets (default: a few that between them notice most kinds of damage).
    encoder, k
        As for `evaluate`.
    kind : {"sets", "pairs", "contexts"}, default "sets"
        "pairs": text i of every system answers item i, as for `compare_pairs`; "contexts": every context has several
        texts, as for `compare_contexts`. Those two functions have further options.
    level : float, default 0.05
        Of the tests: how often some difference may be claimed where there is none.
    interval : float, default 0.95
        Of the intervals of differences.
    ceiling, human, human_groups
        As for `evaluate`: what human texts score.
    reference_groups, groups
        One label a sample of the reference, and of each system by name: samples of one document, prompt or author move
        together. Of pairs and contexts: `groups` alone, one label an item or context.
    paired : bool, default False
        Whether sample i of the reference and of all systems answers one prompt.
    labelled : iterable of str, optional
        Metrics whose labellings are looked at (default: all but frechet, which would take minutes).
    seed : int, default 0
        For all that is drawn at random.
    options, pooling, device, batch_size, offline, truncate, dtype, cache, reference_name
        As for `evaluate`.
    baseline : str or path, optional
        A file that `save_baseline` wrote: its people's texts are the reference, its system is one more system, under
        the name it was given, and its settings are those of the comparison.
    budget : str or float, optional
        As for `evaluate`: a time that the work has to fit into, by taking a sample of every set. Of sets alone.

    Returns
    -------
    Comparison
        `.verdict` (sentences), `.ranks`, `.differences[(a, b)][number]` with `.value`, `.low`, `.high`, `.pvalue`,
        `.adjusted` and `.distinct`, `.tied(a, b)`, `.values`, `.results`, `.alike`, `.worse(than)`, `.gate(...)`.

    Examples
    --------
    >>> import numpy as np
    >>> import recapture as rc
    >>> people, near, far = np.random.default_rng(0).standard_normal((3, 100, 8))
    >>> compared = rc.compare(people, {"near": near, "far": far + 1}, "mmd")
    >>> compared.ranks
    {'near': 1, 'far': 2}
    """
    given = dict(locals())
    if not (isinstance(kind, str) and kind == "sets"):
        return _of_kind(given.pop("kind"), given.pop("reference"), given.pop("systems"), given)
    level, interval = check_tests(level, interval)
    seed = check_seed(seed)
    splits = check_splits(ceiling)
    if not isinstance(systems, Mapping) or len(systems) < (2 if baseline is None else 1):
        raise InputError("systems must be a mapping with two systems or more, {name: texts}")
    if budget is not None:
        return _within_budget(given)
    encoding = asked_encoding(pooling, device, batch_size, offline, cache, truncate, dtype)
    usual = metrics is None
    if baseline is not None:
        from .stored_baseline import prepared_beside

        for what, value in (("reference", reference), ("human", human), ("reference_groups", reference_groups)):
            if value is not None:
                raise InputError(f"a stored baseline brings people's texts: leave {what} out, or the baseline")
        named_systems: dict[str, Any] = {str(name): samples for name, samples in systems.items()}
        prepared, usual = prepared_beside(
            baseline, named_systems, metrics, encoder, k, groups, paired, options, encoding
        )
    elif reference is None:
        raise InputError("there is no reference: give people's texts, or a stored baseline that brings them")
    else:
        prepared = prepare_sets(
            reference,
            systems,
            usual_metrics() if metrics is None else metrics,
            encoder,
            k,
            blind=True,
            human=human,
            reference_groups=reference_groups,
            candidate_groups=groups,
            human_groups=human_groups,
            paired=paired,
            options=options,
            reference_name=reference_name,
            encoding=encoding,
        )
    named = None if labelled is None else [labelled] if isinstance(labelled, str) else list(labelled)
    return compare_prepared(prepared, level, interval, splits, seed, labelled=named, shown=ROWS if usual else None)


def work_of_compare(given: Mapping[str, Any]) -> SetCall:
    """A call of `compare` on sets, to see what it takes before it is made."""
    from ..sets.work_ahead import Roles, SetCall

    if given.get("baseline") is not None:
        raise InputError("how long a comparison with a stored baseline takes is not foretold: it brings its own sets")
    return SetCall(compare, Roles("reference", "systems", "groups"), given)


def _within_budget(given: Mapping[str, Any]) -> Comparison:
    from ..sets.budget import Told, within_budget
    from ..sets.declaration import METRICS

    def told(compared: Comparison) -> Told | None:
        for (a, b), numbers in compared.differences.items():
            shown = [name for name in compared.deciding if name in numbers] or list(numbers)
            for name in shown:
                half = (numbers[name].high - numbers[name].low) / 2
                metric = METRICS.find(name.partition(".")[0])
                moves = metric.moves_with_size({**metric.defaults, **(given["options"] or {}).get(metric.name, {})})
                return Told(f"{name} of {a} less that of {b}", given["interval"], half, moves)
        return None

    found: Comparison = within_budget(work_of_compare(given), given["budget"], usual_metrics(), told)
    if found.budget_sample:
        found.settings["sample"] = found.budget_sample
    return found


def _of_kind(kind: Any, reference: Any, systems: Any, given: Mapping[str, Any]) -> Comparison:
    """Another kind of comparison, by its own function; an option that it does not have is refused."""
    import inspect

    from .of_contexts import compare_contexts
    from .of_pairs import compare_pairs

    kinds: dict[str, Callable[..., Comparison]] = {"pairs": compare_pairs, "contexts": compare_contexts}
    if not is_one_of(kind, list(kinds)):
        known = nearest_names(kind, ["sets", *kinds])
        raise InputError(f"systems are compared as sets, pairs or contexts, not {shown(kind)}: {known}")
    usual, takes = inspect.signature(compare).parameters, inspect.signature(kinds[kind]).parameters
    asked = {name: value for name, value in given.items() if value is not usual[name].default}
    for name in asked:
        if name not in takes:
            raise OptionError(f"a comparison of {kind} has no option {name!r}: see compare_{kind}")
    return kinds[kind](reference, systems, **asked)


def compare_prepared(
    prepared: PreparedSets,
    level: float,
    interval: float,
    splits: int,
    seed: int,
    *,
    labelled: list[str] | None = None,
    shown: Iterable[str] | None = None,
) -> Comparison:
    """The same for sets that are vectors already."""
    against = SetSystems(prepared, seed, labelled=labelled)
    numbers = against.measured()
    evidence = against.evidence(numbers, level)
    found = differences(evidence, numbers.names, interval, seed)
    tested = {metric.name for metric, _ in against.labelled}
    untested = {metric.name for metric, _ in prepared.jobs} - tested if tested else ()
    results = evaluate_prepared(prepared, pvalue=True, untested=untested, splits=splits, seed=seed, pairs=against.pairs)
    part = min(against.size, len(prepared.reference) // 2)
    alike = {pair: dict(zip(numbers.names, each.tolist(), strict=True)) for pair, each in against.alike(part).items()}
    human = _human_parts(results, numbers)
    pairs = len(pairs_of(list(against.systems)))
    fewest = min(each.nulls.shape[1] for each in evidence.values())
    # All labellings there are, where they are few; the mirror image of the observed one is as far as that is.
    exact = [each.every for each in evidence.values() if each.every]
    smallest = smallest_adjusted(pairs, enough_labellings(pairs, level))
    if len(exact) == pairs:
        smallest = min(1.0, pairs * min(exact))
    settings = {
        "size": against.size,
        "part": part,
        "interval": interval,
        "half_samples": HALF_SAMPLES,
        "labellings": min(LABELLINGS, fewest - 1),
        "seed": seed,
        "smallest_adjusted": smallest,
        "said": _said(against, interval, seed, smallest, fewest),
    }
    # With so few labellings no difference that has any can be told: nothing is left to be simulated.
    mute = smallest >= level and len(against.labelled) == len(against.jobs)
    bound = f"of so few texts p is never below {short_p(smallest)}"
    few = [f"No difference between systems can be told, however large: {bound}."]
    notes = [] if splits else [_NO_CEILING]
    rows = None if shown is None else [name for name in shown if name in numbers.names]
    results.shown = None if rows is None else tuple(rows)
    unseen = SmallestDifference(
        results.people,
        {pair: reach_in_data(each, level / pairs, interval, seed) for pair, each in evidence.items()},
        {
            name: reach_in_data(twins(halves, numbers.errors[name]), level / pairs, interval, seed)
            for name, halves in against.halves.items()
        },
        numbers.names,
        numbers.directions,
        against.size,
    )
    return Comparison(
        "sets",
        results,
        dict(zip(numbers.names, numbers.directions, strict=True)),
        {name: dict(zip(numbers.names, each.tolist(), strict=True)) for name, each in numbers.values.items()},
        found,
        level,
        settings,
        [*sentences_on(results, level), *(few if mute else ())],
        {("human", "human"): human, **alike} if human else alike,
        rows,
        notes,
        unseen=None if mute else unseen,
        losses=losses(evidence, numbers.directions),
        half_bands={name: (band.high - band.low) / 2 for name, band in _human_bands(results).items()},
    )


def _human_parts(results: SetResults, numbers: SystemNumbers) -> dict[str, float]:
    """What two human parts score, by number; empty where nothing was split."""
    means = {name: band.mean for name, band in _human_bands(results).items()}
    return {name: means[name] for name in numbers.names} if all(name in means for name in numbers.names) else {}


def _human_bands(results: SetResults) -> dict[str, Any]:
    """By number, where human parts fall: the same for all systems."""
    first = next(iter(results.values()))
    return {
        number_label(metric, name, len(result.values)): band
        for metric, result in first.items()
        for name, band in result.human.items()
    }


def _said(against: SetSystems, interval: float, seed: int, smallest: float, fewest: int) -> list[str]:
    """fewest: labellings of a pair of systems, the observed one included; 1 where none were looked at."""
    pairs = len(pairs_of(list(against.systems)))
    across = f", {pairs} pairs of systems by Holm" if pairs > 1 else ""
    how = f"by all {fewest:,} relabellings" if fewest <= LABELLINGS else f"by at least {LABELLINGS} relabellings"
    alike = "p alike: of writing alike, " + (how if fewest > 1 else "which was not asked")
    bound = f"; the smallest there can be: {short_p(smallest)}" if fewest > 1 else ""
    return [
        f"value: the first less the second; [low, high]: {percent(interval)} interval from the spread over "
        f"{HALF_SAMPLES} half-samples of all sets (seed {seed})",
        f"p: of being equally close to people; {alike}; p adjusted: for all numbers by max-T (Westfall-Young's, where "
        f"there are labellings){across}{bound}",
    ]
