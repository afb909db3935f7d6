"""Results of contexts: one record each, totals that add them up, and how both are shown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any

import numpy as np

from ..declarations import Direction, Output
from ..errors import InputError, nearest_names
from ..page.page_parts import Page, Paged
from ..report.data_forms import json_lines
from ..report.report import (
    ARROWS,
    HIGHER_LOWER,
    Measured,
    NumberCell,
    Report,
    Table,
    decimals,
    first_few,
    names_of_number,
    not_compared,
    short,
    short_p,
)
from .declaration import ContextMetric
from .uncertainty import (
    ANALYTIC,
    LEVEL,
    Combined,
    combined,
    pvalue_name,
    relabelled_name,
    smallest_name,
    student_interval,
)

_NAMED = 5
"""Contexts called by their names in a message; the rest are counted."""
_LONGEST = 60
"""Characters of a context's id in a message."""


class ContextResults(Paged):
    """`.contexts` (one dict each), `.totals`, `.left_out`, `.warnings`, `.signature`. Printed: a table of totals."""

    def __init__(
        self,
        contexts: Sequence[Mapping[str, Any]],
        totals: Sequence[Total],
        signature: Mapping[str, Any],
        warnings: Sequence[str] = (),
        reference_content: str = "",
    ) -> None:
        """reference_content: which human texts these results are of (`content_digest`); "" where nobody said."""
        self.reference_content = reference_content
        self.contexts = list(contexts)
        self.totals = list(totals)
        self.signature = dict(signature)
        self.warnings = tuple(warnings)

    def __len__(self) -> int:
        return len(self.contexts)

    @property
    def left_out(self) -> dict[str, dict[str, str]]:
        """{metric: {context: reason}} for contexts that were too small."""
        reasons: dict[str, dict[str, str]] = {}
        for record in self.contexts:
            for metric, reason in record["left_out"].items():
                reasons.setdefault(metric, {})[record["id"]] = reason
        return reasons

    @property
    def notes(self) -> list[str]:
        """Warnings, and what was left out: a sentence for each set of contexts."""
        by_contexts: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for metric, contexts in self.left_out.items():
            for untested in (False, True):  # too small, or without the p-value that was asked for
                alike = tuple(item for item in contexts.items() if (ANALYTIC in item[1]) == untested)
                if alike:
                    by_contexts.setdefault(alike, []).append(metric)
        notes = list(self.warnings)
        for contexts_left, metrics in by_contexts.items():
            shown = [f"{_on_one_line(name)} ({reason})" for name, reason in contexts_left]
            counted = "1 context" if len(contexts_left) == 1 else f"{len(contexts_left)} contexts"
            why = "" if ANALYTIC in contexts_left[0][1] else " too small,"
            notes.append(f"{counted}{why} left out of {', '.join(metrics)}: {first_few(shown, _NAMED)}")
        return notes

    def worst(self, metric: str, count: int = 10) -> list[Mapping[str, Any]]:
        """The contexts with the smallest p-values by one metric (without p-values: the worst scores), worst first."""
        total = next((total for total in self.totals if total.metric == metric), None)
        if total is None:
            known = {total.metric for total in self.totals}
            raise InputError(f"no scores by {metric!r}: {nearest_names(metric, known)}")
        output = total.number.split(",")[0]
        scored = [record for record in self.contexts if metric in record["scores"]]
        towards = -1 if total.direction == "lower" else 1

        def rank(record: Mapping[str, Any]) -> tuple[float, float]:
            scores = record["scores"][metric]
            return scores.get(pvalue_name(output), 0.0), towards * scores[output]

        return sorted(scored, key=rank)[:count]

    def report(self, arrays: bool = False) -> Report:
        results = {
            "contexts": len(self.contexts),
            "totals": [total.to_dict() for total in self.totals],
            "left_out": self.left_out,
            **({"records": self.contexts} if arrays else {}),
        }
        records = {"totals": [total.flat() for total in self.totals]}
        more = {"reference_content": self.reference_content} if self.reference_content else {}
        return Report("contexts", [self._table()], self.notes, (), records, results, self.signature, more, self.verdict)

    def to_json(self, *, arrays: bool = False) -> str:
        """Full precision and the whole signature. arrays: also every context's scores."""
        return self.report(arrays).to_json()

    @property
    def verdict(self) -> list[str]:
        """The answer, in at most five sentences made from the contexts' p-values."""
        from .context_sentences import verdict_of_contexts

        return verdict_of_contexts(self.totals, self.signature)

    def page_parts(self) -> Page:
        from .context_page import page_of_contexts

        return page_of_contexts({"candidates": self}, self.report())

    def to_jsonl(self) -> str:
        """One context a line."""
        return json_lines(self.contexts)

    def _table(self) -> Table:
        """The totals as rows."""
        tested = any(total.pvalues for total in self.totals)
        heads = ["metric", "number", "", "mean", *(["relabelled"] if tested else []), "contexts", "left out"]
        heads += ["HMP", "HMP corrected", "Fisher", "p ≤ level", "after BH", "after Holm"] if tested else []
        rows, previous = [], None
        for total in self.totals:
            arrow = ARROWS[total.direction]
            words = decimals(total.mean, None)
            if total.interval:
                words += " [" + ", ".join(map(short, total.interval)) + "]"
            mean = NumberCell(words, Measured(total.mean, total.interval))
            row: list[str] = [total.metric if total.metric != previous else "", total.number, arrow, mean]
            row += [_relabelled(total)] if tested else []
            row += [f"{total.contexts:,}", f"{total.left_out:,}"]
            if tested:
                p = total.pvalues
                row += (
                    [*map(short_p, (p.harmonic_mean, p.harmonic_mean_corrected, p.fisher))]
                    + [f"{share:.1%}" for share in (p.below, p.below_bh, p.below_holm)]
                    if p
                    else ["-"] * 6
                )
            rows.append(row)
            previous = total.metric
        names = [names_of_number(total.metric, total.number) for total in self.totals]
        return Table(heads, rows, self._caption(tested), left=3, row_names=names)

    def _caption(self, tested: bool) -> list[str]:
        count = "1 context" if len(self.contexts) == 1 else f"{len(self.contexts):,} contexts"
        lines = [f"{count}; {HIGHER_LOWER}"]
        interval = self.signature.get("interval")
        if interval is not None and any(total.interval for total in self.totals):
            lines.append(f"[low, high]: {interval:.4g} interval of the mean over contexts")
        encoder = self.signature.get("encoder") or {}
        if "blind" in (learnt := encoder.get("learnt from", "")):
            lines.append(
                f"vectors: {encoder.get('encoder') or encoder.get('kind')}, learnt from {learnt}, as p-values ask for; "
                "without them it learns from the references alone, and scores differ"
            )
        level = next((total.pvalues.level for total in self.totals if total.pvalues), None)
        if tested and level is not None:
            lines.append(
                "relabelled: mean over relabelled sides, what sides that do not differ would score; "
                "HMP: harmonic mean of the contexts' p-values; Fisher: for independent contexts only; "
                f"shares: contexts with p ≤ {level:g}, as they are and adjusted"
            )
            lines += [f"-: {said}" for said in without_pvalues({t.metric: t.no_pvalue or "" for t in self.totals})]
            blind = [t.metric for t in self.totals if t.pvalues and t.pvalues.smallest * t.contexts > t.pvalues.level]
            if blind:
                lines.append(
                    f"Holm can find next to nothing by {', '.join(dict.fromkeys(blind))}: the smallest possible p, "
                    "times the number of contexts, is above the level"
                )
        return lines


class ContextSystems(dict[str, ContextResults], Paged):
    """{system: ContextResults} of several systems on the same contexts."""

    @property
    def notes(self) -> list[str]:
        """Each note once, with the systems it concerns unless it concerns all."""
        by_note: dict[str, list[str]] = {}
        for system, results in self.items():
            for note in results.notes:
                by_note.setdefault(note, []).append(system)
        return [
            note if len(systems) == len(self) else f"{', '.join(systems)}: {note}" for note, systems in by_note.items()
        ]

    def report(self) -> Report:
        reports = {system: results.report() for system, results in self.items()}
        rows = [{"system": system, **total.flat()} for system, results in self.items() for total in results.totals]
        return Report(
            "contexts",
            [replace(table, title=system) for system, report in reports.items() for table in report.tables],
            self.notes,
            (),
            {"totals": rows},
            {system: report.results for system, report in reports.items()},
            next(iter(self.values())).signature,
            next(iter(reports.values())).more,
            self.verdict,
        )

    @property
    def verdict(self) -> list[str]:
        """What can be said of systems that were not tested against each other."""
        return [not_compared(len(self))]

    def page_parts(self) -> Page:
        from .context_page import page_of_contexts

        return page_of_contexts(self, self.report())


@dataclass(frozen=True)
class Total:
    """One number of one metric over all contexts."""

    metric: str
    number: str
    direction: Direction | None
    mean: float
    """Over the contexts that could be scored; nan where none could."""
    contexts: int
    left_out: int
    interval: tuple[float, float] | None = None
    """Of the mean, from the spread between contexts."""
    pvalues: Combined | None = None
    relabelled: float | None = None
    """Mean over contexts of what relabelled sides score: where nothing differs, the mean lies near it."""
    no_pvalue: str | None = None
    """Why the metric has no p-values, asked for or not; None where it has."""

    def to_dict(self) -> dict[str, Any]:
        return asdict(self)

    def flat(self) -> dict[str, Any]:
        """As one row of a table in full precision."""
        row = asdict(self)
        low, high = row.pop("interval") or (None, None)
        pvalues = row.pop("pvalues") or {}
        return {**row, "interval_low": low, "interval_high": high, **pvalues}


def totals_of(
    metrics: Sequence[ContextMetric],
    records: Sequence[Mapping[str, Any]],
    interval: float | None,
    alpha: float = LEVEL,
) -> list[Total]:
    """One line per number, in the order of the metrics."""
    totals = []
    for metric in metrics:
        scored = [record["scores"][metric.name] for record in records if metric.name in record["scores"]]
        # One candidate has Q(C, R) alone, which is another statistic than TRM: never in one mean.
        forms = list(dict.fromkeys(scores.get("form") for scores in scored)) or [None]
        for form in forms:
            alike = [scores for scores in scored if scores.get("form") == form]
            for output in metric.outputs:
                number = output.name if len(forms) == 1 else f"{output.name}, {form}"
                left_out = len(records) - len(scored)
                totals.append(_total(metric, output, number, alike, left_out, interval, alpha))
    return totals


def _total(
    metric: ContextMetric,
    output: Output,
    number: str,
    scored: Sequence[Mapping[str, Any]],
    left_out: int,
    interval: float | None,
    alpha: float,
) -> Total:
    name = output.name
    values = np.array([scores[name] for scores in scored], dtype=np.float64)
    pvalues = [scores[pvalue_name(name)] for scores in scored if pvalue_name(name) in scores]
    smallest = [scores[smallest_name(name)] for scores in scored if smallest_name(name) in scores]
    between = None
    if interval is not None and len(values) > 1:
        low, high = output.range
        bounds = student_interval(values, interval)
        between = max(low, bounds[0]), min(high, bounds[1])
    return Total(
        metric.name,
        number,
        metric.direction,
        float(values.mean()) if len(values) else float("nan"),
        len(values),
        left_out,
        between,
        combined(np.array(pvalues), smallest, alpha) if pvalues else None,
        float(np.mean([scores[relabelled_name(name)] for scores in scored])) if pvalues else None,
        metric.no_pvalue or None,
    )


def _relabelled(total: Total) -> str:
    if total.relabelled is None:
        return "-"
    value = round(total.relabelled, 12)
    return NumberCell(short(value), Measured(value))


def without_pvalues(reasons: Mapping[str, str]) -> list[str]:
    """Which metrics have no p-value, by reason; reasons: by metric, empty where it has one."""
    by_reason: dict[str, list[str]] = {}
    for metric, reason in reasons.items():
        if reason:
            by_reason.setdefault(reason, []).append(metric)
    return [f"{', '.join(names)} ha{'s' if len(names) == 1 else 've'} no p-value: {reason}"
            for reason, names in by_reason.items()]  # fmt: skip


def _on_one_line(name: str) -> str:
    """A context's id in a message: it must not contain line breaks or control characters of terminals."""
    shown = "".join(character if character.isprintable() else " " for character in name)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."
