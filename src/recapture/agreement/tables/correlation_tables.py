"""Tables of metrics against people (correlations, accuracies), and of metrics with each other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict
from typing import Any

from ...report.report import ARROWS, Measured, NumberCell, Table
from ..data.score_matrix import counted, listed
from ..statistics.accuracy import MetricAccuracy
from ..statistics.correlation_values import Correlation, MetricMatrix
from .table_parts import TablePart, number


def correlations_part(rows: Sequence[Correlation], settings: Mapping[str, Any]) -> TablePart:
    """Metrics down; criteria, coefficients and levels across, each named as far as they differ."""
    columns = list(dict.fromkeys((row.level, row.criterion, row.coefficient) for row in rows))
    varying = [len({column[at] for column in columns}) > 1 for at in range(3)]
    varying[2] = varying[2] or not any(varying)
    heads = [" ".join(word for word, shown in zip(column, varying, strict=True) if shown) for column in columns]
    by = {(row.metric, row.level, row.criterion, row.coefficient): row for row in rows}
    ways = {row.metric: row.direction for row in rows}
    lines = [
        [f"{name} {ARROWS[way]}", *(_cell(by[(name, *column)]) for column in columns)] for name, way in ways.items()
    ]
    return TablePart(
        "correlations",
        Table(["metric", *heads], lines, _caption(rows, settings, varying), listed=True),
        [row.to_dict() for row in rows],
    )


def _cell(row: Correlation) -> str:
    words = number(row.value) + (f" [{', '.join(map(number, row.interval))}]" if row.interval else "")
    return NumberCell(words, Measured(row.value, row.interval))


def _caption(rows: Sequence[Correlation], settings: Mapping[str, Any], varying: Sequence[bool]) -> list[str]:
    first = rows[0]
    of_one = "share of pairs" if {row.coefficient for row in rows} == {"acc-eq"} else "correlation"
    said = {
        "system": "systems' means",
        "text": f"mean over inputs of the {of_one} across systems",
        "global": "all cells",
    }
    levels = list(dict.fromkeys(row.level for row in rows))
    criteria = {row.criterion: row.criterion_direction for row in rows}
    names = {row.coefficient for row in rows}
    what = first.coefficient if not varying[2] else "correlation" if "acc-eq" not in names else "agreement"
    line = f"{what} with {', '.join(criteria)}; " + "; ".join(f"{level} level: {said[level]}" for level in levels)
    lines = [f"{line}; {counted(first.systems, 'system')}", *_input_counts(rows)]
    turned = [name for name, way in criteria.items() if way == "lower"]
    if "acc-eq" in names:
        lines.append("acc-eq is no correlation but a share of pairs, those ordered or tied as people do")
    lines.append(
        "scores where lower is better (↓) are turned round first, so that 1 is best for all"
        + (f"; so are the ratings {', '.join(turned)}" if turned else "")
    )
    if "interval" in settings:
        lines += _of_intervals(levels, settings)
    lines += settings.get("averaged", ())
    return lines


def _of_intervals(levels: Sequence[str], settings: Mapping[str, Any]) -> list[str]:
    """How intervals were made."""
    said = f"[]: {settings['interval']:.4g} interval"
    if settings["over"] == "inputs":
        return [
            f"{said} for these systems and other inputs: percentiles of {settings['resamples']:,} bootstrap resamples "
            f"of inputs, seed {settings['seed']}"
        ]
    both = settings["over"] == "both"
    errors = "the larger of normal theory's standard error and the jackknife's over systems"
    if levels != ["system"]:
        errors = "the jackknife's standard error over systems" + (
            " (system level: normal theory's where it is larger)" if "system" in levels else ""
        )
    said += f" for other systems{' and other inputs' if both else ' and these inputs'}, on Fisher's z: {errors}"
    if both:
        said += f"; the part of inputs by {settings['resamples']:,} resamples of them, seed {settings['seed']}"
    return [said]


def _input_counts(rows: Sequence[Correlation]) -> list[str]:
    """How many inputs count and how many were dropped, by what they are the same for."""
    by: dict[tuple[str, int, int, int], list[Correlation]] = {}
    for row in rows:
        by.setdefault((row.level, row.inputs, row.dropped, row.missing), []).append(row)
    levels = {row.level for row in rows}
    lines = []
    for (level, inputs, dropped, missing), own in by.items():
        if not inputs and not dropped:
            continue
        every = len(own) == sum(row.level == level for row in rows)
        about = "" if every else f"{concerns(own, rows)}: "
        if level == "global":
            said = f"{counted(inputs, 'input')}, {counted(dropped, 'cell')} dropped"
        else:
            said = f"{counted(inputs, 'input')}, {dropped:,} dropped"
        why = {
            "system": " (a score of some system is missing)",
            "text": " (missing scores, or no variation)",
            "global": " (a score is missing)",
        }[level]
        said += why if dropped else ""
        if missing and level != "global":
            said += f"; {counted(missing, 'missing cell')}"
        lines.append((f"{level} level, " if len(levels) > 1 else "") + about + said)
    return lines


def concerns(rows: Sequence[Correlation], among: Sequence[Correlation]) -> str:
    """Which metrics and criteria rows are of, in few words."""
    metrics, criteria = (list(dict.fromkeys(getattr(row, name) for row in rows)) for name in ("metric", "criterion"))
    every = {row.metric for row in among}
    if len({(row.metric, row.criterion) for row in rows}) < len(metrics) * len(criteria):
        return listed(list(dict.fromkeys(f"{row.metric} v {row.criterion}" for row in rows)), 3)
    named = "all metrics" if len(metrics) == len(every) > 1 else listed(metrics, 3)
    return named if {row.criterion for row in among} == set(criteria) else f"{named} v {listed(criteria, 3)}"


_TIES = {
    "both-orders": "both-orders: the mean over both orders of a pair",
    "listed-order": "listed-order: p of the system listed first, as in mt-metrics-eval",
}


def accuracies_part(accuracies: Sequence[MetricAccuracy]) -> TablePart:
    lines = [
        [own.metric, own.criterion, number(own.accuracy), "-" if own.soft is None else number(own.soft)]
        for own in accuracies
    ]
    pairs = ", ".join(dict.fromkeys(str(own.pairs) for own in accuracies))
    drawn = accuracies[0]
    caption = [
        f"share of {pairs} pairs of systems ranked as people rank them; soft: 1 - mean difference of people's and the "
        "metric's p-value of each pair",
        f"p-values by up to {drawn.resamples:,} random signs of inputs, seed {drawn.seed}; {_TIES[drawn.soft_ties]}",
        *_counts({f"{own.metric} v {own.criterion}": (own.systems, own.inputs, own.dropped) for own in accuracies}),
    ]
    table = Table(["metric", "criterion", "pairwise accuracy", "soft"], lines, caption, left=2, listed=True)
    return TablePart("accuracies", table, [asdict(own) for own in accuracies])


def _counts(counts: Mapping[str, tuple[int, int, int]], unit: str = "") -> list[str]:
    """Systems, inputs and what was dropped, by what they are the same for."""
    by: dict[tuple[int, int, int], list[str]] = {}
    for about, numbers in counts.items():
        by.setdefault(numbers, []).append(about)
    lines = []
    for (systems, inputs, dropped), abouts in by.items():
        said = counted(systems, "system")
        if inputs:
            lost = counted(dropped, unit) if unit else f"{dropped:,}"
            said += f", {counted(inputs, 'input')}, {lost} dropped"
        lines.append(said if len(by) == 1 else f"{listed(abouts, 3)}: {said}")
    return lines


def between_part(matrices: Sequence[MetricMatrix]) -> TablePart:
    """Of metrics with each other."""
    names = matrices[0].metrics
    lines, rows = [], []
    several = len(matrices) > 1
    counts: dict[str, dict[str, tuple[int, int, int]]] = {}
    for matrix in matrices:
        level, coefficient = matrix.level, matrix.coefficient
        for (at, to), both in matrix.shared.items():
            if at < to:
                own = counts.setdefault(level, {})
                own[f"{names[at]} v {names[to]}"] = (both.systems, both.inputs, both.dropped)
        for at, name in enumerate(names):
            cells = [number(value) for value in matrix.values[at]]
            lines.append([*([f"{level} {coefficient}"] if several else []), name, *cells])
            for to, other in enumerate(names):
                what = {"metric": name, "other": other, "level": level, "coefficient": coefficient}
                row: dict[str, Any] = {**what, "value": float(matrix.values[at, to])}
                if to != at:
                    both = matrix.shared[at, to]
                    row |= {"systems": both.systems, "inputs": both.inputs, "dropped": both.dropped}
                rows.append(row)
    about = "" if several else f": {matrices[0].level} level, {matrices[0].coefficient}"
    heads = [*(["how"] if several else []), "metric", *names]
    caption = [f"metrics with each other{about}"]
    for level, own in counts.items():
        said = _counts(own, "cell" if level == "global" else "")
        caption += [f"{level} level: {line}" if len(counts) > 1 else line for line in said]
    return TablePart("between", Table(heads, lines, caption, left=1 + several, listed=True), rows)
