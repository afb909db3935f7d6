"""The lines below a table of sets: how many samples, which vectors, what ceilings, brackets and p mean."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from ..report.report import HIGHER_LOWER, short_p
from ..report.result import CEILING, Result, Results, model_name, neighbourhoods
from .declaration import METRICS


class SetResults(Results):
    """{candidate: {metric: Result}} of sets against one reference set."""

    kind = "sets"

    def state(self, **settings: Any) -> None:
        """Add settings to every signature: what was done to the sets before they came here."""
        for by_metric in self.values():
            for name, result in by_metric.items():
                by_metric[name] = replace(result, signature={**result.signature, **settings})

    def caption(self) -> list[str]:
        columns = [next(iter(by_metric.values())) for by_metric in self.values()]
        first = columns[0]
        sizes = [f"{column.sizes['candidate']:,}" for column in columns]
        counted = ", ".join(sizes) if len(set(sizes)) > 1 else sizes[0]
        by_metric = next(iter(self.values()))
        parts = [
            f"reference: {first.sizes['reference']:,} samples",
            f"candidates: {counted}",
            f"vectors: {model_name(first.signature['encoder'])}",
            *neighbourhoods(by_metric),
        ]
        if sample := first.signature.get("sample"):
            parts.append(f"a sample of {sample['size']:,} of each set with more, seed {sample['seed']}")
        if balance := first.signature.get("balance"):
            parts.append(
                f"means over {balance['draws']} subsamples of {balance['size']:,} a side, seed {balance['seed']}"
            )
        return ["; ".join(parts), *_how_sure(first), *self._ceiling_notes(first), HIGHER_LOWER]

    def _ceiling_notes(self, first: Result) -> list[str]:
        if not first.inference.get("ceilings"):
            return []
        declared = METRICS.all()
        names = [name for name in next(iter(self.values())) if name in declared]
        return [declared[name].ceiling_note for name in names if declared[name].ceiling_note]


def _how_sure(result: Result) -> list[str]:
    lines = []
    if ceilings := result.inference.get("ceilings"):
        lines.append(
            f"{CEILING}: halves of the reference against each other ({ceilings['size']:,} a side, "
            f"mean over {ceilings['splits']} splits, seed {ceilings['seed']})"
        )
    if intervals := result.inference.get("intervals"):
        lines.append(
            f"[low, high]: {intervals['level']:.0%} interval, delete-half jackknife ({intervals['half_samples']} "
            f"half-samples, seed {intervals['seed']})"
        )
    if pvalues := result.inference.get("pvalues"):
        how = f"{pvalues['labellings'] - 1:,} relabellings, seed {pvalues['seed']}"
        how = f"all {pvalues['labellings']:,} relabellings" if pvalues["method"] == "exact" else how
        smallest = short_p(max(pvalues["smallest"].values()))
        lines.append(f"p: of one common distribution, by {how} (smallest possible {smallest})")
    return lines
