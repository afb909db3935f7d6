"""How results of sets are shown: parts beside human parts, whole sets below, and what each of them means."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from ..page.map_data import MapSamples
from ..page.page_parts import Page, Paged
from ..report.report import HIGHER_LOWER, Measured, NumberCell, Table, percent, short, short_p
from ..report.result import HUMAN, Number, Result, Results, model_name, neighbourhoods, numbers_of
from ..representations.facts import MadeFor
from .declaration import ASPECTS, METRICS, notices, row_name
from .inputs import Inputs, footnotes
from .k_sweep import KeptSets
from .unseen import People, SmallestFound

EQUAL_TERMS = "On equal terms: parts of equal size against the same human part"


class SetResults(Paged, Results):
    """{candidate: {metric: Result}} of sets against one reference set."""

    kind = "sets"
    caption_listed = True

    def __init__(self, *results: Any) -> None:
        super().__init__(*results)
        whole = results[0] if results and isinstance(results[0], SetResults) else None
        self.inputs: Inputs = {} if whole is None else whole.inputs
        """What went in, by set: see `evaluate`."""
        self.made_for: MadeFor | None = None if whole is None else whole.made_for
        """What the encoder was made for; None for ready vectors and for encoders that do not say."""
        self.samples: MapSamples | None = None if whole is None else whole.samples
        """What the numbers are of, for the map of a page; None in copies that were sent elsewhere."""
        self.kept: KeptSets | None = None if whole is None else whole.kept
        """The same for what a page measures further."""
        self.reference_content = "" if whole is None else whole.reference_content
        self.people: People | None = None if whole is None else whole.people
        """People's texts, to find what would have gone unseen; None where nothing was tested, and in such copies."""
        self.shown: tuple[str, ...] | None = None if whole is None else whole.shown
        """The numbers that tables show (see `ROWS`); None: all. JSON and CSV always have all."""
        self._how: str = ".all_rows()" if whole is None else whole._how
        self.budgeted: str = "" if whole is None else whole.budgeted
        """What was taken so that the work fits into a time, in a sentence; empty where no time was given."""
        self.budget_sample: dict[str, Any] = {} if whole is None else whole.budget_sample
        """The size and the seed of that sample; empty where all was measured."""

    def all_rows(self) -> SetResults:
        """The same results, with every number in their tables."""
        every = self.copy()
        every.shown = None
        return every

    def show(self, rows: Sequence[str] | None, how: str) -> None:
        """Let tables have these numbers alone (None: all). how: what brings the others, for whoever reads the table."""
        self.shown, self._how = None if rows is None else tuple(rows), how

    @property
    def verdict(self) -> list[str]:
        """The answer, in at most five sentences made from tests and human bands.

        Told from people or not, by how much fidelity or variety is worse, and what so few texts cannot tell.
        """
        from .beside_people import verdict_of_sets

        return [*([self.budgeted] if self.budgeted else []), *verdict_of_sets(self)]

    @property
    def smallest_found(self) -> SmallestFound | None:
        """The smallest damage that the test against people would have found; None without p-values.

        `.lost` and `.foreign`, each with `.share`, `.low`, `.high`, `.number` and `.change`.
        """
        from .beside_people import smallest_told

        return smallest_told(self)

    def page_parts(self) -> Page:
        from .set_page import page_of_sets

        return page_of_sets(self)

    def state(self, **settings: Any) -> None:
        """Add settings to every signature: what was done to the sets before they came here."""
        for by_metric in self.values():
            for name, result in by_metric.items():
                by_metric[name] = replace(result, signature={**result.signature, **settings})

    @property
    def any_difference(self) -> dict[str, float]:
        """p-value of "this candidate and the reference come from one distribution", by candidate.

        By all numbers and for all candidates together: the smallest of the adjusted p-values.
        """
        by_candidate = {
            name: [p for result in by_metric.values() for p in result.adjusted_pvalues.values()]
            for name, by_metric in self.items()
        }
        return {name: min(pvalues) for name, pvalues in by_candidate.items() if pvalues}

    def page_notes(self) -> list[str]:
        """A page goes to people who do not see what was said beside it."""
        return self.notes

    def copy(self) -> SetResults:
        """The same results in a new mapping, with what belongs to all of them."""
        return SetResults(self)

    def __or__(self, other: Any) -> SetResults:  # type: ignore[override]
        both = self.copy()
        both.update(other)
        return both

    def _tables(self) -> list[Table]:
        if not self:
            return []
        every = list(numbers_of(self))
        whole = [number for number in every if self._is_shown(number.metric, number.name)]
        parts = self.equal_terms()
        rows = self._rows_caption(len(every) - len(whole))
        return [*parts, self._table(whole, [*self.caption(), *rows], "Whole sets" if parts else "")]

    def equal_terms(self) -> list[Table]:
        """The table of parts beside human parts; none where no part was measured.

        It also has the numbers by which the verdict speaks of fidelity and variety, for a reader to check.
        """
        parts = [
            self._parts(metric, name)
            for metric, name in self._with_bands()
            if self._is_shown(metric, name) or row_name(metric, name) in ASPECTS
        ]
        return [self._table(parts, self._parts_caption(), EQUAL_TERMS)] if parts else []

    def _is_shown(self, metric: str, number: str) -> bool:
        return self.shown is None or row_name(metric, number.removesuffix(" adjusted")) in self.shown

    def _any_shown(self, metric: str, result: Result) -> bool:
        return any(self._is_shown(metric, name) for name in result.values)

    def _rows_caption(self, left: int) -> list[str]:
        """What the rows are for, where they are few; and how many there are beside them."""
        if self.shown is None:
            return []
        known = [row for row in self.shown if any(row.partition(".")[0] in by_metric for by_metric in self.values())]
        return rows_caption(known, left, self._how)

    def _with_bands(self) -> list[tuple[str, str]]:
        """Metrics and their numbers that any candidate has a human band for."""
        pairs = [
            (metric, name)
            for by_metric in self.values()
            for metric, result in by_metric.items()
            for name in result.human
        ]
        order = {metric: place for place, metric in enumerate(next(iter(self.values())))}
        return sorted(dict.fromkeys(pairs), key=lambda pair: order[pair[0]])

    def _parts(self, metric: str, name: str) -> Number:
        """The human band and what each candidate's parts score."""
        columns = [by_metric[metric] for by_metric in self.values()]
        first = next(column for column in columns if name in column.human)
        mean = first.human[name].mean
        band = NumberCell(f"{short(mean)} {_band(first, name)}", Measured(mean, _ends(first, name), band=True))
        shown = [band, *(_part(column, name) for column in columns)]
        own = (column.at_human_size[name].mean if name in column.at_human_size else math.nan for column in columns)
        human = HUMAN if HUMAN not in self else f"{HUMAN} parts"
        return Number(metric, name, first.direction, (mean, *own), tuple(shown), (human, *self))

    def caption(self) -> list[str]:
        columns = [next(iter(by_metric.values())) for by_metric in self.values()]
        first = columns[0]
        sizes = [f"{column.sizes['candidate']:,}" for column in columns]
        counted = ", ".join(sizes) if len(set(sizes)) > 1 else sizes[0]
        by_metric = {
            name: result for name, result in next(iter(self.values())).items() if self._any_shown(name, result)
        }
        parts = [
            f"reference: {first.sizes['reference']:,} samples",
            f"candidates: {counted}",
            f"vectors: {model_name(first.signature['encoder'])}",
            *neighbourhoods(by_metric),
        ]
        if sample := first.signature.get("sample"):
            parts.append(f"a sample of {sample['size']:,} of each set with more, seed {sample['seed']}")
        measured = [result for of_candidate in self.values() for result in of_candidate.values()]
        if balance := next((result.signature["balance"] for result in measured if "balance" in result.signature), None):
            parts.append(
                f"means over {balance['draws']} subsamples of {balance['size']:,} a side, seed {balance['seed']}"
            )
        over_clusterings = any(
            "±" in result.rounded(name)
            for result in measured
            for name in result.values
            if self._is_shown(result.metric, name)
        )
        spread = ["value ± its standard error over clusterings"] if over_clusterings else []
        sure = [*_intervals(measured), *self._pvalues(measured)]
        return ["; ".join(parts), *self._footnotes(), *spread, *sure, HIGHER_LOWER]

    def _footnotes(self) -> list[str]:
        first = next(iter(next(iter(self.values())).values()))
        sizes = dict.fromkeys(list(self.inputs)[:1], first.sizes["reference"])
        sizes |= {name: next(iter(by_metric.values())).sizes["candidate"] for name, by_metric in self.items()}
        there = {name: of_set for name, of_set in self.inputs.items() if name in sizes}
        blind = []
        if self.made_for is not None and self.made_for.order in ("blind", "nearly blind"):
            blind = [
                f"these vectors are {self.made_for.order} to the order of words: a text and its shuffled words score "
                "alike; cross-entropy, or word-level metrics of aligned texts, tell them apart"
            ]
        texts = not isinstance(first.signature["encoder"], str)
        return [*footnotes(there, sizes, texts), *blind]

    def _more(self) -> dict[str, Any]:
        """What JSON says of all metrics together."""
        found = self.smallest_found
        return {
            "inputs": self.inputs,
            **({"any_difference": self.any_difference} if self.any_difference else {}),
            **({} if found is None else {"smallest_found": found.record()}),
        }

    def _parts_caption(self) -> list[str]:
        records = {
            metric: result.inference["human"]
            for by_metric in self.values()
            for metric, result in by_metric.items()
            if "human" in result.inference and self._any_shown(metric, result)
        }
        declared = METRICS.all()
        first = next(iter(records.values()))
        largest = max(record["size"] for record in records.values())
        fewer = {metric: record["size"] for metric, record in records.items() if record["size"] < largest}
        said = "".join(f", {metric} {size:,}" for metric, size in fewer.items())
        grouped = f", of {first['groups']:,} groups; no group is on both sides" if "groups" in first else ""
        other = "a second human set" if first["human"] != "the reference, split" else "another part of it"
        return [
            f"human: one part of the reference ({largest:,} samples{said}{grouped}) against {other}, mean and "
            f"(low to high), where 95 % of single parts fall (mean ± 1.96 x their spread over {first['splits']} "
            f"splits, seed {first['seed']})",
            "candidates: mean of equal parts against the same part of the reference, and the share of them from "
            "low to high; a human set has about 95 %, and parts outside may be better or worse",
            *(
                declared[metric].band_note
                for metric, record in records.items()
                if metric in declared and declared[metric].band_note and record["human"] == "the reference, split"
            ),
            HIGHER_LOWER,
        ]

    def _pvalues(self, measured: Sequence[Result]) -> list[str]:
        tested = [result for result in measured if result.pvalues]
        if not tested:
            return []
        record = tested[0].inference["pvalues"]
        exact = record["method"] == "exact"
        how = f"all {record['labellings']:,} relabellings" if exact else f"{record['labellings'] - 1:,} relabellings"
        how += _moved(record.get("groups")) + ("" if exact else f", seed {record['seed']}")
        together = max(sum(len(result.pvalues) for result in by_metric.values()) for by_metric in self.values())
        candidates = len(self.any_difference)
        held = f"{together} numbers (Westfall-Young)" if together > 1 else ""
        held += f"{' and ' if held else ''}{candidates} candidates (Holm)" if candidates > 1 else ""
        overall = ", ".join(f"{name} {short_p(p)}" for name, p in self.any_difference.items())
        return [
            f"any difference from the reference: p {overall}",
            f"p: of one common distribution, by {how}{'; adjusted for ' + held if held else ''}; a small one says "
            "which number shows the difference, not that the others are equal",
            _smallest(tested),
        ]


def rows_caption(rows: Sequence[str], left: int, how: str) -> list[str]:
    """What moves each row, in plain words; how many more numbers there are (left), and how they are shown ("": not)."""
    said = "; ".join(f"{row}: {notices(row)}" for row in rows if notices(row))
    more = f"{left} more number{'s' * (left != 1)}: in json and csv" + (f", and here with {how}" if how else "")
    return [*([f"what moves them: {said}"] if said else []), *([more] if left else [])]


def _band(result: Result, name: str) -> str:
    """low to high, cut where the number's range ends."""
    low, high = map(short, _ends(result, name))
    return f"({low} to {high})"


def _ends(result: Result, name: str) -> tuple[float, float]:
    low, high = result.ranges.get(name, (-math.inf, 1.0))  # scores without their floor end at 1
    band = result.human[name]
    return max(low, band.low), min(high, band.high)


def _part(result: Result, name: str) -> str:
    if name not in result.at_human_size:
        return "-"
    mean, inside = result.at_human_size[name].mean, f"({result.inside[name]:.0%})"
    return NumberCell(f"{short(mean)} {inside}", Measured(mean, aside=inside))


def _moved(groups: Mapping[str, int] | None) -> str:
    if groups is None:
        return ""
    if groups["both"]:
        swapped = f"{groups['both']:,} groups of both sides swapped"
        alone = groups["reference"] + groups["candidate"]
        return f" of whole groups ({swapped}{f', {alone:,} others moved' if alone else ''})"
    return f" of whole groups ({groups['reference']:,} and {groups['candidate']:,})"


def _smallest(tested: Sequence[Result]) -> str:
    """The smallest p-value there could have been, for the numbers it belongs to."""
    largest: dict[str, float] = {}  # over candidates
    for result in tested:
        for name, p in result.inference["pvalues"]["smallest"].items():
            label = result.metric if name == "value" else name
            largest[label] = max(p, largest.get(label, 0.0))
    common = min(largest.values())
    others = ", ".join(f"{label} {short_p(p)}" for label, p in largest.items() if p > common)
    return f"smallest possible p before adjusting: {short_p(common)}{f' (but {others})' if others else ''}"


def _intervals(measured: Sequence[Result]) -> list[str]:
    record: Mapping[str, Any] | None = next(
        (result.inference["intervals"] for result in measured if "intervals" in result.inference), None
    )
    if not record:
        return []
    return [
        f"[low, high]: {percent(record['level'])} interval, delete-half jackknife ({record['half_samples']} "
        f"half-samples, seed {record['seed']})"
    ]
