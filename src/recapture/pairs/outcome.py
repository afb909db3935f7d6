"""From the scores of a system's items to a Result: means, what empty texts score, and what a user should know."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..report import Result
from ..report.items import array_name
from ..versions import VERSION, installed_version
from .declaration import Output, PairMetric, PairScorer, Rule, Scored
from .inputs import is_empty
from .uncertainty import Intervals


@dataclass(frozen=True)
class Job:
    """One metric made ready."""

    metric: PairMetric
    parameters: Mapping[str, Any]
    rule: Rule | None
    scorer: PairScorer

    def worst(self, output: Output) -> float:
        """What a pair with an empty text scores."""
        return self.scorer.empty.get(output.name, self.metric.worst(output))


def pair_result(
    job: Job,
    scored: Scored,
    groups: Sequence[Sequence[str]],
    candidates: Sequence[str],
    intervals: Intervals | None = None,
) -> Result:
    metric = job.metric
    outputs = metric.outputs_for(job.parameters)
    blank = np.array(
        [is_empty(text) or all(map(is_empty, group)) for group, text in zip(groups, candidates, strict=True)], bool
    )
    items, values = {}, {}
    unscored: dict[str, int] = {}
    for output in outputs:
        worst = job.worst(output)
        column = np.array(scored.items[output.name], dtype=np.float64)
        column[blank] = worst
        lost = np.isnan(column) & ~blank
        if lost.any():
            unscored[output.name] = int(lost.sum())
            column[lost] = worst
        items[output.name] = column
        mean = float(mean_without_nan(column[:, None])[0])
        # Where no pair has two texts, there is no corpus to have a number.
        values[output.name] = mean if blank.all() else scored.totals.get(output.name, mean)
    flat = [text for group in groups for text in group]
    counts = sorted({len(group) for group in groups})
    main = [output.name for output in outputs if output.main]
    known = {name: int(np.count_nonzero(~np.isnan(column))) for name, column in items.items()}
    sure = intervals.of(items, scored.totals) if intervals else {}
    notes = intervals.notes(sure, scored.totals) if intervals else {}
    return Result(
        metric=metric.name,
        values=values,
        direction=metric.direction,
        ranges={output.name: output.range for output in outputs},
        sizes={"reference": len(flat), "candidate": len(candidates)},
        warnings=(
            *_warnings(job, groups, candidates, unscored, bool(scored.totals)),
            *job.scorer.warnings({*flat, *candidates}),
        ),
        signature={
            "metric": metric.name,
            **job.scorer.settings,
            **({"over_references": job.rule} if job.rule else {}),
            "versions": {"recapture": VERSION, **{name: installed_version(name) for name in metric.libraries}},
        },
        details={
            "aligned": {"items": len(groups), "references": len(flat), "least": counts[0], "most": counts[-1]},
            **({"main": main} if len(main) < len(outputs) else {}),
            **({"corpus": sorted(scored.totals)} if scored.totals else {}),
            **({"scored": known} if min(known.values()) < len(candidates) else {}),
        },
        arrays={array_name(name): column for name, column in items.items()},
        intervals=sure,
        inference={"intervals": notes} if notes else {},
    )


def _warnings(
    job: Job, groups: Sequence[Sequence[str]], candidates: Sequence[str], unscored: Mapping[str, int], corpus: bool
) -> Iterator[str]:
    outputs = job.metric.outputs_for(job.parameters)
    without = [output.name for output in outputs if np.isnan(job.worst(output))]
    if not without:
        fate = "scored worst"
    elif len(without) == len(outputs):
        # A corpus number may count them all the same.
        fate = "without a score of their own" if corpus else "left out of the mean"
    else:
        fate = f"scored worst, left out of the mean of {', '.join(without)}"
    total = sum(map(len, groups))
    bare = sum(len(group) for group in groups if all(map(is_empty, group)))
    beside = sum(map(is_empty, (text for group in groups for text in group))) - bare
    spare = fate if job.rule == "mean" else "ignored, since others of the same item are not"
    for name, count, of, what in (
        ("reference", bare, total, fate),
        ("reference", beside, total, spare),
        ("candidate", sum(map(is_empty, candidates)), len(candidates), fate),
    ):
        if count:
            yield f"{count} of {of} texts of {name} {'is' if count == 1 else 'are'} empty: {what}"
    if unscored:
        count = max(unscored.values())
        yield f"{count} of {len(candidates)} pairs could not be compared: {fate}"


def mean_without_nan(rows: np.ndarray) -> np.ndarray:
    """Column means without NaN, from exact sums: their order does not matter."""
    columns = [[value for value in column if not math.isnan(value)] for column in rows.T.tolist()]
    return np.array([math.fsum(column) / len(column) if column else math.nan for column in columns])
