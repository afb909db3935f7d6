"""Results of aligned texts: what stands below their table, and the scores of single items."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..declarations import number_label
from ..page.page_parts import Page, Paged
from ..report.data_forms import json_lines
from ..report.report import HIGHER_LOWER, not_compared, percent
from ..report.result import Result, Results, model_name, neighbourhoods
from .declaration import METRICS


class PairResults(Paged, Results):
    """{system: {metric: Result}} of candidates against their own references."""

    kind = "pairs"
    caption_listed = True
    labels_need_metric = True  # several metrics have a precision, or an f1

    def caption(self) -> list[str]:
        by_metric = next(iter(self.values()))
        signatures = {name: result.signature for name, result in by_metric.items()}
        shape = next(iter(by_metric.values())).details["aligned"]
        least, most = shape["least"], shape["most"]
        per_item = f"{least}" if least == most else f"{least} to {most}"
        parts = [f"items: {shape['items']:,}", f"references: {shape['references']:,} ({per_item} an item)"]
        for title, key in (("masked language model", "model"), ("word vectors", "encoder")):
            used = dict.fromkeys(model_name(signature[key]) for signature in signatures.values() if key in signature)
            parts += [f"{title}: {', '.join(used)}"] if used else []
        return [
            "; ".join([*parts, *neighbourhoods(by_metric)]),
            *(_rules(signatures) if most > 1 else []),
            *_settings(signatures),
            *_further_numbers(by_metric),
            *self._unscored(shape["items"]),
            *_bootstrap(by_metric),
            HIGHER_LOWER,
        ]

    @property
    def verdict(self) -> list[str]:
        """What can be said without tests: that, and where they are."""
        if not self:
            return []
        if len(self) > 1:
            return [not_compared(len(self))]
        return [
            "Nothing was tested: a score against references has nothing human to stand beside; recapture compare tests "
            "which of several systems is closer."
        ]

    def page_notes(self) -> list[str]:
        """Each warning once, with the systems and the metrics it is about."""
        return [
            f"{', '.join(' '.join(system.split()) for system in systems)}: {warning} ({', '.join(metrics)})"
            for warning, systems, metrics in self.warned()
        ]

    def page_parts(self) -> Page:
        from .pair_page import page_of_pairs

        return page_of_pairs(self)

    def _unscored(self, items: int) -> Iterator[str]:
        """Which means leave items out, since they have no score."""
        for system, by_metric in self.items():
            for name, result in by_metric.items():
                known = {number: count for number, count in result.details.get("scored", {}).items() if count < items}
                for number in [number for number in known if number not in result.details.get("corpus", ())]:
                    what = name if len(result.values) == 1 else f"{name} {number}"
                    of = f"{known[number]} of {items} items"
                    yield f"{' '.join(system.split())}, {what}: the mean of {of}, the others have no score"

    def item_records(self, ids: Sequence[str | int] | None = None) -> Iterator[dict[str, Any]]:
        """For every system and item its id (or its position from 0), the system, and every score.

        A metric with one number stands under its name, others as NAME.NUMBER. A pair without a score has None.
        """
        for system, by_metric in self.items():
            columns = item_columns(by_metric)
            for position in range(len(next(iter(columns.values())))):
                scores = {name: float(column[position]) for name, column in columns.items()}
                yield {"item": position if ids is None else ids[position], "system": system, **scores}

    def to_jsonl(self, ids: Sequence[str | int] | None = None) -> str:
        """One JSON object per system and item, with every score. ids: what to call the items."""
        return json_lines(self.item_records(ids))


def item_columns(by_metric: Mapping[str, Result]) -> dict[str, np.ndarray]:
    """One array per number of every metric, under the name it has in files of items."""
    columns = {}
    for metric, result in by_metric.items():
        for number in result.values:
            columns[number_label(metric, number, len(result.values))] = result.arrays[array_name(number)]
    return columns


def array_name(output: str) -> str:
    """Under which name a Result keeps the scores of single items."""
    return "scores" if output == "value" else f"{output}_scores"


def _rules(signatures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    rules = _by_value(
        (signature["over_references"], name) for name, signature in signatures.items() if "over_references" in signature
    )
    joined = "; ".join(f"{rule} for {names}" for rule, names in rules.items())
    return [f"of several references: {joined}"] if rules else []


def _settings(signatures: Mapping[str, Mapping[str, Any]]) -> list[str]:
    """What metrics say of their settings, as each declares it."""
    declared = METRICS.all()
    captions = {name: declared[name].caption for name in signatures if name in declared}
    said = {name: caption(signatures[name]) for name, caption in captions.items() if caption}
    return [f"{name}: {text}" for name, text in said.items() if text]


def _further_numbers(by_metric: Mapping[str, Result]) -> Iterator[str]:
    for name, result in by_metric.items():
        aside = [number for number in result.values if number not in result.details.get("main", result.values)]
        if aside:
            yield f"{name} has {len(aside)} further numbers: see json, csv or the scores of items"


def _bootstrap(by_metric: Mapping[str, Result]) -> list[str]:
    records = {
        name: result.inference["intervals"] for name, result in by_metric.items() if "intervals" in result.inference
    }
    lines = []
    if drawn := next((record for record in records.values() if "level" in record), None):
        lines.append(
            f"[low, high]: {percent(drawn['level'])} interval of the mean, bootstrap over items "
            f"({drawn['resamples']:,} resamples, seed {drawn['seed']})"
        )
    without = [name for name, record in records.items() if record.get("corpus_numbers")]
    if without:
        lines.append(f"no interval for numbers of the whole corpus, which are no means: {', '.join(without)}")
    return lines


def _by_value(pairs: Iterable[tuple[str, str]]) -> dict[str, str]:
    """{value: names that have it}"""
    grouped: dict[str, list[str]] = {}
    for value, name in pairs:
        grouped.setdefault(value, []).append(name)
    return {value: ", ".join(names) for value, names in grouped.items()}
