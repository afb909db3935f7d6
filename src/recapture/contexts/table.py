"""The scores of a file of contexts: one record each, and totals that print as a table."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from ..errors import InputError, nearest_names
from ..report.grid import Grid
from ..report.render import finite
from ..report.result import plain, short, short_p
from ..versions import VERSION
from .totals import Total, pvalue_name

_NAMED = 5
"""Contexts called by their names in a message; the rest are counted."""
_LONGEST = 60
"""Characters of a context's id in a message."""


class ContextResults:
    """`.contexts` (one dict each), `.totals`, `.left_out`, `.warnings`, `.signature`. Printed: a table of totals."""

    def __init__(
        self,
        contexts: Sequence[Mapping[str, Any]],
        totals: Sequence[Total],
        signature: Mapping[str, Any],
        warnings: Sequence[str] = (),
    ) -> None:
        self.contexts = list(contexts)
        self.totals = list(totals)
        self.signature = dict(signature)
        self.warnings = tuple(warnings)

    def __len__(self) -> int:
        return len(self.contexts)

    @property
    def left_out(self) -> dict[str, dict[str, str]]:
        """{metric: {context: reason}} for contexts that were too small."""
        found: dict[str, dict[str, str]] = {}
        for record in self.contexts:
            for metric, reason in record["left_out"].items():
                found.setdefault(metric, {})[record["id"]] = reason
        return found

    @property
    def notes(self) -> list[str]:
        """Warnings, and what was left out: a sentence for each set of contexts."""
        by_contexts: dict[tuple[tuple[str, str], ...], list[str]] = {}
        for metric, contexts in self.left_out.items():
            by_contexts.setdefault(tuple(contexts.items()), []).append(metric)
        notes = list(self.warnings)
        for contexts_left, metrics in by_contexts.items():
            shown = [f"{_on_one_line(name)} ({reason})" for name, reason in contexts_left[:_NAMED]]
            more = f" and {len(contexts_left) - _NAMED} more" if len(contexts_left) > _NAMED else ""
            one = len(contexts_left) == 1
            notes.append(
                f"{len(contexts_left)} context{'' if one else 's'} too small, left out of {', '.join(metrics)}: "
                + ", ".join(shown)
                + more
            )
        return notes

    def worst(self, metric: str, count: int = 10) -> list[Mapping[str, Any]]:
        """The contexts with the smallest p-values by one metric (without p-values: the worst scores), worst first."""
        total = next((total for total in self.totals if total.metric == metric), None)
        if total is None:
            raise InputError(f"no scores by {metric!r}: {nearest_names(metric, {each.metric for each in self.totals})}")
        output = total.number.split(",")[0]
        scored = [record for record in self.contexts if metric in record["scores"]]
        towards = -1 if total.direction == "lower" else 1

        def rank(record: Mapping[str, Any]) -> tuple[float, float]:
            scores = record["scores"][metric]
            return scores.get(pvalue_name(output), 0.0), towards * scores[output]

        return sorted(scored, key=rank)[:count]

    def grid(self) -> Grid:
        """The totals as rows."""
        tested = any(total.pvalues for total in self.totals)
        heads = ["metric", "number", "", "mean", *(["relabelled"] if tested else []), "contexts", "left out"]
        heads += ["HMP", "HMP corrected", "Fisher", "p ≤ level", "after BH", "after Holm"] if tested else []
        rows, previous = [], None
        for total in self.totals:
            arrow = {"higher": "↑", "lower": "↓", None: ""}[total.direction]
            mean = "-" if math.isnan(total.mean) else short(total.mean)
            if total.interval:
                mean += " [" + ", ".join(map(short, total.interval)) + "]"
            row = [total.metric if total.metric != previous else "", total.number, arrow, mean]
            row += ["-" if total.relabelled is None else short(round(total.relabelled, 12))] if tested else []
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
        return Grid(heads, rows, self._caption(tested), left=3)

    def _caption(self, tested: bool) -> list[str]:
        count = "1 context" if len(self.contexts) == 1 else f"{len(self.contexts):,} contexts"
        lines = [f"{count}; ↑ higher is better, ↓ lower is better"]
        if any(total.interval for total in self.totals):
            lines.append(f"[low, high]: {self.signature['interval']:.4g} interval of the mean over contexts")
        level = next((total.pvalues.level for total in self.totals if total.pvalues), None)
        if tested and level is not None:
            lines.append(
                "relabelled: mean over relabelled sides, what sides that do not differ would score; "
                "HMP: harmonic mean of the contexts' p-values; Fisher: for independent contexts only; "
                f"shares: contexts with p ≤ {level:g}, as they are and adjusted"
            )
            blind = [t.metric for t in self.totals if t.pvalues and t.pvalues.smallest * t.contexts > t.pvalues.level]
            if blind:
                lines.append(
                    f"Holm can find next to nothing by {', '.join(dict.fromkeys(blind))}: the smallest possible p, "
                    "times the number of contexts, is above the level"
                )
        return lines

    def __str__(self) -> str:
        return self.grid().to_table()

    __repr__ = __str__

    def _repr_html_(self) -> str:
        return self.grid().to_html()

    def to_table(self) -> str:
        return self.grid().to_table()

    def to_markdown(self) -> str:
        return self.grid().to_markdown()

    def to_latex(self) -> str:
        return self.grid().to_latex()

    def to_csv(self) -> str:
        """Totals in full precision, one row per number."""
        flat = []
        for total in self.totals:
            row = total.to_dict()
            low, high = row.pop("interval") or ("", "")
            combined = row.pop("pvalues") or {}
            flat.append({**row, "interval_low": low, "interval_high": high, **combined})
        heads = list(dict.fromkeys(key for row in flat for key in row))
        return Grid(
            heads, [["" if row.get(head) is None else str(row.get(head, "")) for head in heads] for row in flat]
        ).to_csv()

    def to_json(self) -> str:
        """Totals, what was left out and the whole signature, in full precision."""
        content = {
            "recapture": VERSION,
            "contexts": len(self.contexts),
            "totals": [total.to_dict() for total in self.totals],
            "left_out": self.left_out,
            "warnings": list(self.warnings),
            "signature": self.signature,
        }
        return json.dumps(finite(plain(content)), indent=2, ensure_ascii=False, allow_nan=False) + "\n"

    def to_jsonl(self) -> str:
        """One context a line."""
        return "".join(
            json.dumps(finite(plain(record)), ensure_ascii=False, allow_nan=False) + "\n" for record in self.contexts
        )


def _on_one_line(name: str) -> str:
    """A context's id in a message: whatever it holds, it must not break the line or steer the terminal."""
    shown = "".join(character if character.isprintable() else " " for character in name)
    return shown if len(shown) <= _LONGEST else shown[: _LONGEST - 3] + "..."
