"""Tables of metrics compared with each other: every pair, and clusters."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ...report.report import Table, short_p
from ..data.score_matrix import counted, listed
from ..statistics.all_pairs import AllPairs
from ..statistics.correlation_values import Correlation
from ..statistics.levels import FEWEST
from .table_parts import TablePart, number

ALPHA = 0.05
_TESTS = {
    "williams": "Williams' test",
    "permutation": "permutation test that swaps the two metrics' scores",
    "bootstrap": "paired bootstrap",
}
_KINDS = {"pvalue": "p", "adjusted": "p_holm", "greater": "p_one_sided"}
"""What p-values are called for programs."""
_ROUNDING = 1e-12


def comparison_parts(results: Sequence[AllPairs], alpha: float = ALPHA) -> list[TablePart]:
    """A table for each test."""
    tests = dict.fromkeys(result.test for result in results)
    return [
        part for test in tests for part in _of_one_test([result for result in results if result.test == test], alpha)
    ]


def _of_one_test(results: Sequence[AllPairs], alpha: float) -> list[TablePart]:
    """Every two metrics as a table; clusters in its caption, and as rows for programs."""
    several = len(results) > 1
    lines, rows, clusters, ranks = [], [], [], []
    for result in results:
        about = _about(result)
        for pair in result.pairs:
            both = [result.agreements[pair.first], result.agreements[pair.second]]
            numbers = [*map(number, (*both, pair.delta)), *map(short_p, (pair.pvalue, pair.adjusted, pair.greater))]
            lines.append([*([about] if several else []), pair.first, pair.second, *numbers])
            rows.append(
                {
                    "metric": pair.first,
                    "other": pair.second,
                    **_what(result),
                    "agreement": both[0],
                    "other_agreement": both[1],
                    "difference": pair.delta,
                    "p": pair.pvalue,
                    "p_holm": pair.adjusted,
                    "p_one_sided": pair.greater,
                    "systems": result.systems,
                    "inputs": result.inputs,
                    "dropped": result.dropped,
                    "dropped_cells": result.dropped_cells,
                    "unvaried": result.unvaried,
                    **{f"smallest_{_KINDS[kind]}": least for kind, least in result.smallest.items()},
                    **result.settings,
                }
            )
        own = result.clusters(alpha)
        ranked = "; ".join(f"{at}: {', '.join(names)}" for at, names in enumerate(own, 1))
        clusters.append(f"clusters{f' ({about})' if several else ''}: {ranked}")
        ranks += [
            {
                "metric": name,
                **_what(result),
                "agreement": result.agreements[name],
                "cluster": at,
                "alpha": alpha,
                "by": "p",
            }
            for at, names in enumerate(own, 1)
            for name in names
        ]
    heads = ["metric", "other", "agreement", "other's", "difference", "p", "p (Holm)", "p (one-sided)"]
    table = Table(
        [*(["with"] if several else []), *heads],
        lines,
        [*_caption(results, alpha), *clusters],
        left=3 if several else 2,
        listed=True,
    )
    return [TablePart("comparisons", table, rows), TablePart("clusters", None, ranks)]


def _caption(results: Sequence[AllPairs], alpha: float) -> list[str]:
    first = results[0]
    with_whom = "" if len(results) > 1 else f" with {_about(first)}"
    lines = [
        f"agreement{with_whom}; the first metric agrees better by the difference; {_TESTS[first.test]}; p two-sided, "
        "for all pairs by Holm's rule, and one-sided"
    ]
    lines += [*_drawn(results), *_smallest(results, alpha), *_cells(results)]
    few = [result.too_few for result in results if result.too_few]
    if few:
        lines.append(f"system level: {few[0]:,} resamples with fewer than {FEWEST} different systems are left out")
    lines.append(
        "clusters: from the best down, a metric that one of the current cluster beats with p (two-sided, not adjusted) "
        f"<= {alpha:g} opens the next; mt-metrics-eval takes p (one-sided), which equal metrics reach twice as often"
    )
    return lines


def _drawn(results: Sequence[AllPairs]) -> list[str]:
    """What was drawn, and how often."""
    lines: dict[str, None] = {}
    for drawn in (result.settings for result in results if result.settings):
        number_of = f"{drawn['resamples']:,}"
        if "swap" in drawn:
            what = {"both": "single cells", "inputs": "whole inputs", "systems": "whole systems"}[drawn["swap"]]
            lines[f"{what} are swapped; up to {number_of} swappings, seed {drawn['seed']}"] = None
        else:
            what = {"both": "systems and inputs"}.get(drawn["over"], drawn["over"])
            lines[f"{number_of} resamples of {what}, seed {drawn['seed']}"] = None
    return list(lines)


def _smallest(results: Sequence[AllPairs], alpha: float) -> list[str]:
    """Of each kind of p-value, the smallest that can come out; by what it is the same for."""
    by: dict[str, list[str]] = {}
    for result in results:
        if not result.smallest:
            continue
        least = {kind: short_p(result.smallest[kind]) for kind in _KINDS}
        said = f"p {least['pvalue']}, p (Holm) {least['adjusted']}, p (one-sided) {least['greater']}"
        if result.smallest["pvalue"] > alpha:
            said += f"; so no p can be {alpha:g} or less"
        by.setdefault(said, []).append(_about(result))
    return [
        f"smallest that can come out{'' if len(by) == 1 else f' ({listed(abouts, 3)})'}: {said}"
        for said, abouts in by.items()
    ]


def _cells(results: Sequence[AllPairs]) -> list[str]:
    """On what metrics are compared, by what it is the same for."""
    by: dict[str, dict[str, str]] = {}
    for result in results:
        said = f"{counted(result.systems, 'system')}, {counted(result.inputs, 'input')}"
        if result.level == "system" and result.dropped:
            said += f", {result.dropped:,} dropped"
        elif result.dropped_cells:
            said += f", {counted(result.dropped_cells, 'cell')} dropped"
        if result.unvaried:
            said += f"; {counted(result.unvaried, 'input')} left out, where people or some metric do not vary"
        by.setdefault(result.level, {})[result.criterion] = said
    lines = []
    for level, said_of in by.items():
        where = [f"{level} level"] if len(by) > 1 else []
        if len(set(said_of.values())) == 1:
            said_of = {"": next(iter(said_of.values()))}
        for criterion, said in said_of.items():
            about = ", ".join([*where, *([criterion] if criterion else [])])
            lines.append(f"all metrics on the same cells{f' ({about})' if about else ''}: {said}")
    return lines


def order_warnings(correlations: Sequence[Correlation], results: Sequence[AllPairs]) -> list[str]:
    """Where two metrics stand the other way round in the table of correlations, each on all its own cells."""
    own = {(row.metric, row.criterion, row.level, row.coefficient): row.value for row in correlations}
    warnings: dict[str, None] = {}
    for result in results:
        column = (result.criterion, result.level, result.coefficient)
        turned = [
            f"{pair.first} over {pair.second}"
            for pair in result.pairs
            if pair.delta > _ROUNDING and own[(pair.first, *column)] < own[(pair.second, *column)] - _ROUNDING
        ]
        if turned:
            warnings[
                f"{_about(result)}: on the cells that all metrics have, {listed(turned, 3)}; in the table of "
                "correlations it is the other way round, since each metric stands there on all the cells it has itself"
            ] = None
    return list(warnings)


def _about(result: AllPairs) -> str:
    return f"{result.criterion}, {result.level} level, {result.coefficient}"


def _what(result: AllPairs) -> dict[str, Any]:
    return {
        "criterion": result.criterion,
        "level": result.level,
        "coefficient": result.coefficient,
        "test": result.test,
    }
