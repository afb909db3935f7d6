"""`compare_contexts`: systems with several candidates for each of the same contexts."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_seed, plain_arguments
from ..contexts.declaration import METRICS, ContextMetric, usual_metrics
from ..contexts.evaluate import evaluate_contexts
from ..contexts.table import ContextResults, ContextSystems
from ..errors import InputError, shown
from ..geometry.triangles import Ties
from ..sets.grouping import Labelled, checked_labels
from ..texts.context_files import Context, given_contexts
from .comparison import Comparison
from .evidence import check_tests, pairs_of
from .item_answer import compared_items
from .of_items import ItemNumber, ItemSystems, check_systems, mean_number, order_of, texts_at

if TYPE_CHECKING:
    import os

    from ..representations.encoder import EncoderLike
    from ..representations.vector_cache import VectorCache

Sides = Iterable[Sequence[str]] | Mapping[str, Sequence[str]] | Iterable[Context]
"""One list of texts for each context: in order, by the names of the contexts, or in `Context` objects."""


@plain_arguments
def compare_contexts(
    references: Sides,
    systems: Mapping[str, Sides],
    metrics: str | Iterable[str] | None = None,
    *,
    level: float = 0.05,
    interval: float = 0.95,
    groups: Labelled | None = None,
    ties: Ties = "split",
    directed: bool = False,
    encoder: EncoderLike | None = None,
    model: str | os.PathLike[str] | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    seed: int = 0,
    resume: bool = True,
    pooling: str | None = None,
    device: str | None = None,
    batch_size: int | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
    truncate: bool = False,
    dtype: str | None = None,
    cache: bool | str | os.PathLike[str] | VectorCache | None = None,
) -> Comparison:
    """Several systems on the same contexts, against the contexts' references and against each other.

    Parameters
    ----------
    references : list of lists of str, mapping of str to list of str, or list of Context
        Several texts for each context: in order, by the context's name, or as `read_contexts` gives them.
    systems : mapping of str to the same
        Each system's candidates by name, for the same contexts: two systems or more.
    metrics : str or iterable of str, optional
        Names of metrics of contexts (default: as for `evaluate_contexts`). Metrics that measure each side by itself
        have no better or worse and are left out.
    level : float, default 0.05
        Of the tests: how often some difference may be claimed where there is none.
    interval : float, default 0.95
        Of the intervals of differences.
    groups : list of str or int, optional
        One label per context: contexts of one document or video are swapped and drawn together.
    ties, directed, encoder, model, options
        As for `evaluate_contexts`.
    seed : int, default 0
        Of the swaps, of the bootstrap, and of what metrics draw.
    resume, pooling, device, batch_size, batch_tokens, offline, truncate, dtype, cache
        As for `evaluate_contexts`.

    Returns
    -------
    Comparison
        As from `compare`; `.results` has one `ContextResults` per system.

    Examples
    --------
    >>> import recapture as rc
    >>> people = [[f"a cat sat on mat {n}", f"a cat sleeps on mat {n}"] for n in range(20)]
    >>> bad = [["a cat", f"dogs {n % 5}"] for n in range(20)]
    >>> compared = rc.compare_contexts(people, {"copy": people, "bad": bad}, "trm-rouge-l", resume=False)
    >>> compared.ranks
    {'copy': 1, 'bad': 2}
    """
    level, interval = check_tests(level, interval)
    seed = check_seed(seed)
    systems = check_systems(systems, "candidates of every context")
    if metrics is None:
        listed, left_out = usual_metrics(encoder, offline)
        if left_out:
            warnings.warn(left_out, stacklevel=3)  # the caller's line: one frame is the decorator's
    else:
        listed = METRICS.choose(metrics)
    chosen, notes = _with_direction(listed)
    contexts = _contexts(references, systems)
    first = next(iter(contexts.values()))
    labels = None if groups is None else checked_labels(groups, len(first), "references", "context")
    results = ContextSystems()
    for name, own in contexts.items():
        results[name] = evaluate_contexts(
            own,
            [metric.name for metric in chosen],
            ties=ties,
            directed=directed,
            encoder=encoder,
            model=model,
            options=options,
            seed=seed,
            resume=resume,
            pooling=pooling,
            device=device,
            batch_size=batch_size,
            batch_tokens=batch_tokens,
            offline=offline,
            truncate=truncate,
            dtype=dtype,
            cache=cache,
        )
    return _compared(contexts, results, chosen, labels, level, interval, seed, notes)


def _compared(
    contexts: Mapping[str, Sequence[Context]],
    results: ContextSystems,
    chosen: Sequence[ContextMetric],
    groups: Sequence[Any] | None,
    level: float,
    interval: float,
    seed: int,
    notes: Sequence[str],
) -> Comparison:
    numbers, said = context_numbers(results, chosen)
    references = [context.references for context in next(iter(contexts.values()))]
    texts = {name: [context.candidates for context in own] for name, own in contexts.items()}
    against = ItemSystems(numbers, order_of(references, texts), groups, seed, "context")
    same = {
        (a, b): sum(texts_at(texts[a], place) == texts_at(texts[b], place) for place in against.used)
        for a, b in pairs_of(list(texts))
    }
    return compared_items("contexts", results, against, same, level, interval, [*notes, *_sizes(texts), *said])


def _with_direction(listed: Sequence[ContextMetric]) -> tuple[list[ContextMetric], list[str]]:
    chosen = [metric for metric in listed if metric.direction is not None]
    left = ", ".join(metric.name for metric in listed if metric.direction is None)
    said = f"{left}: each side is measured by itself, so no system is better or worse by it"
    if not chosen:
        raise InputError(said)
    return chosen, [f"{said}: left out"] if left else []


def context_numbers(results: ContextSystems, chosen: Sequence[ContextMetric]) -> tuple[list[ItemNumber], list[str]]:
    """The mean over contexts of every number, and what there is to say."""
    numbers: list[ItemNumber] = []
    notes: list[str] = []
    for metric in chosen:
        # One candidate has Q(C, R) alone, which is another number than TRM: never in one mean, never in one difference.
        forms = {
            system: [record["scores"].get(metric.name, {}).get("form") for record in own.contexts]
            for system, own in results.items()
        }
        known = dict.fromkeys(
            form
            for system, own in results.items()
            for record, form in zip(own.contexts, forms[system], strict=True)
            if metric.name in record["scores"]
        )
        for form in known or {None: None}:
            for output in metric.outputs:
                name = metric.name if len(metric.outputs) == 1 else f"{metric.name}.{output.name}"
                name += f", {form}" if len(known) > 1 else ""
                scores = {
                    system: _column(own, metric.name, output.name, forms[system], form)
                    for system, own in results.items()
                }
                number, said = mean_number(name, str(metric.direction), scores, within=output.range)
                numbers += [] if number is None else [number]
                notes += [said] if said else []
    if not numbers:
        raise InputError(f"nothing can be compared: {'; '.join(notes)}")
    return numbers, notes


def _column(own: ContextResults, metric: str, output: str, forms: Sequence[Any], form: Any) -> np.ndarray:
    """One score per context; NaN where it has none of this form."""
    values = [
        record["scores"][metric][output] if metric in record["scores"] and of == form else np.nan
        for record, of in zip(own.contexts, forms, strict=True)
    ]
    return np.array(values, np.float64)


def _sizes(texts: Mapping[str, Sequence[Sequence[str]]]) -> list[str]:
    uneven = sum(len({len(own) for own in at}) > 1 for at in zip(*texts.values(), strict=True))
    if not uneven:
        return []
    return [
        f"systems have different numbers of candidates in {uneven:,} contexts: most scores move with that number, so "
        "part of a difference may be due to it"
    ]


# What goes in


def _contexts(references: Any, systems: Mapping[str, Any]) -> dict[str, list[Context]]:
    """The same contexts for every system."""
    people = _by_context(references, "references", "references")
    found = {}
    for name, given in systems.items():
        own = _by_context(given, "candidates", f"system {name!r}")
        if len(own) != len(people):
            raise InputError(
                f"references has {len(people):,} contexts, but system {name!r} has {len(own):,}: "
                "all systems answer the same contexts"
            )
        missing = next((context for context in people if context not in own), None)
        if missing is not None:
            raise InputError(f"system {name!r} has no context {shown(missing)}, which the references have")
        _check_references(given, people, name)
        found[name] = given_contexts([Context(context, people[context], own[context]) for context in people])
    return found


def _by_context(given: Any, side: str, where: str) -> dict[str, tuple[str, ...]]:
    if isinstance(given, Mapping):
        entries = [{"id": str(name), "references": texts, "candidates": texts} for name, texts in given.items()]
        return {context.id: getattr(context, side) for context in _given(entries, where)}
    if isinstance(given, (str, bytes)) or not isinstance(given, Iterable):
        raise InputError(f"{where} must be a list of texts for each context, not {shown(given)}")
    listed = list(given)
    if all(isinstance(entry, Context) for entry in listed):
        return {context.id: getattr(context, side) for context in _given(listed, where)}
    entries = [{"id": str(number), "references": texts, "candidates": texts} for number, texts in enumerate(listed, 1)]
    return {context.id: getattr(context, side) for context in _given(entries, where)}


def _given(entries: Sequence[Any], where: str) -> list[Context]:
    try:
        return given_contexts(entries)
    except InputError as error:
        raise InputError(f"{where}: {error}") from None


def _check_references(given: Any, people: Mapping[str, tuple[str, ...]], name: str) -> None:
    """Contexts that bring references of their own must bring the same."""
    if isinstance(given, Mapping) or not isinstance(given, Sequence):
        return
    for context in given:
        if isinstance(context, Context) and context.references and tuple(context.references) != people[context.id]:
            raise InputError(
                f"context {shown(context.id)} has other references in system {name!r}: compare on the same ones"
            )
