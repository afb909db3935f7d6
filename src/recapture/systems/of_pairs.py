"""`compare_pairs`: systems that answer the same items, each answer against its own references."""

from __future__ import annotations

import warnings
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np

from ..checks import check_seed, plain_arguments
from ..declarations import number_label
from ..errors import InputError
from ..pairs.declaration import METRICS, usual_metrics
from ..pairs.evaluate import Aligned, MeasuredPairs, ModelName, References, Shared, aligned_texts, measured_pairs
from ..pairs.table import array_name
from ..sets.grouping import Labelled, checked_labels
from ..similarity.scorer import Rule
from .comparison import Comparison, listed_reasons
from .evidence import check_tests, pairs_of
from .item_answer import compared_items
from .of_items import ItemNumber, ItemSystems, check_systems, mean_number, order_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from ..representations.vector_cache import VectorCache


@plain_arguments
def compare_pairs(
    references: References,
    systems: Mapping[str, Sequence[str]],
    metrics: str | Iterable[str] | None = None,
    *,
    level: float = 0.05,
    interval: float = 0.95,
    groups: Labelled | None = None,
    options: Mapping[str, Mapping[str, Any]] | None = None,
    over_references: Rule | None = None,
    encoder: ModelName | None = None,
    model: ModelName | None = None,
    seed: int = 0,
    device: str | None = None,
    dtype: str | None = None,
    batch_tokens: int | None = None,
    offline: bool | None = None,
    cache: bool | ModelName | VectorCache = True,
) -> Comparison:
    """Several systems on the same items, against the items' references and against each other.

    Parameters
    ----------
    references : list of str, or list of lists of str
        One entry per item: a text, or a list of texts.
    systems : mapping of str to list of str
        Each system's texts by name, one per item: two systems or more.
    metrics : str or iterable of str, optional
        Names of metrics of aligned texts (default: as for `evaluate_pairs`).
    level : float, default 0.05
        Of the tests: how often some difference may be claimed where there is none.
    interval : float, default 0.95
        Of the intervals of differences.
    groups : list of str or int, optional
        One label per item: items of one document or speaker are swapped and drawn together.
    options, over_references, encoder, model
        As for `evaluate_pairs`.
    seed : int, default 0
        Of the swaps and of the bootstrap.
    device, dtype, batch_tokens, offline, cache
        As for `evaluate_pairs`.

    Returns
    -------
    Comparison
        As from `compare`; `.results` are those of `evaluate_pairs`.

    Notes
    -----
    `.distinct` swaps the two systems' outputs at random items; `.pvalue` is the larger of that and the p-value from the
    spread over 1,000 bootstrap resamples of items. Corpus numbers (BLEU, chrF, TER) are made anew from the items'
    counts each time. A corpus number that is no formula of sums over items (reverse cross-entropy) is not compared.

    Examples
    --------
    >>> import recapture as rc
    >>> people = [f"it rained for {n} days" for n in range(40)]
    >>> bad = [f"rain {n}" for n in range(40)]
    >>> compared = rc.compare_pairs(people, {"copy": people, "bad": bad}, "chrf,bleu")
    >>> compared.ranks
    {'copy': 1, 'bad': 2}
    """
    level, interval = check_tests(level, interval)
    seed = check_seed(seed)
    systems = check_systems(systems, "texts")
    if metrics is None:
        chosen, left_out = usual_metrics(encoder, model, offline)
        if left_out:
            warnings.warn(left_out, stacklevel=3)  # the caller's line: one frame is the decorator's
    else:
        chosen = METRICS.choose(metrics)
    own = METRICS.own_parameters(chosen, options)
    shared = Shared(encoder, model, device=device, dtype=dtype, batch_tokens=batch_tokens, offline=offline, cache=cache)
    texts = aligned_texts(references, systems)
    labels = None if groups is None else checked_labels(groups, len(texts.groups), "references", "item")
    measured = measured_pairs([(metric, own[metric.name]) for metric in chosen], texts, over_references, shared)
    return _compared(texts, measured, labels, level, interval, seed)


def _compared(
    texts: Aligned, measured: MeasuredPairs, groups: Sequence[Any] | None, level: float, interval: float, seed: int
) -> Comparison:
    numbers, notes, left_out = _numbers(measured)
    against = ItemSystems(numbers, order_of(texts.groups, texts.systems), groups, seed, "item")
    same = {
        (a, b): sum(texts.systems[a][place] == texts.systems[b][place] for place in against.used)
        for a, b in pairs_of(list(texts.systems))
    }
    return compared_items("pairs", measured.results, against, same, level, interval, notes, left_out)


def _numbers(measured: MeasuredPairs) -> tuple[list[ItemNumber], list[str], dict[str, str]]:
    """Every number that can be swapped and drawn item by item; what there is to say about them; the others, and why."""
    numbers: list[ItemNumber] = []
    notes: list[str] = []
    left_out: dict[str, str] = {}
    systems = list(measured.results)
    for job in measured.jobs:
        metric = job.metric.name
        results = {system: measured.results[system][metric] for system in systems}
        counted = {system: measured.counted[system][metric] for system in systems}
        for output in job.outputs:
            name = number_label(metric, output.name, len(job.outputs))
            within = results[systems[0]].ranges[output.name]
            if output.name not in results[systems[0]].details.get("corpus", ()):
                scores = {system: results[system].arrays[array_name(output.name)] for system in systems}
                number, said = mean_number(name, job.metric.direction, scores, output.main, within)
                numbers += [] if number is None else [number]
                notes += [said] if said else []
                continue
            rows = {system: counted[system][output.name].items for system in systems if output.name in counted[system]}
            if len(rows) < len(systems) or not all(np.isfinite(row).all() for row in rows.values()):
                left_out[name] = "no sum over items, so that no item can be moved alone"
                continue
            formula = counted[systems[0]][output.name].formula
            numbers.append(ItemNumber(name, job.metric.direction, rows, formula, output.main, within[1] - within[0]))
    if not numbers:
        raise InputError(f"nothing can be compared: {'; '.join([*notes, listed_reasons(left_out)])}")
    return numbers, notes, left_out
