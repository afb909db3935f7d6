"""Tables of the study of sampling; claims are judged from them alone."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np

import recapture as rc

from ..study import Section
from ..verdicts import over
from .samples import PLAIN, Drawn, SampleSet
from .sampling_curves import PEOPLE, Compared, Scores

NEAR_ONE = 1.0
"""The temperature near which the paper says models write most like people."""
RANKS, AVERAGE = "trm-meteor", "meteor"
"""What the paper's figures show."""
HIGHER = ("meteor", "cider", "embedding", "mauve")
"""Metrics of which more is better."""


class Scored(NamedTuple):
    samples: SampleSet
    work: Compared
    scores: Scores

    def curve(self, ways: Sequence[Drawn], model: str, metric: str) -> list[np.ndarray]:
        return [self.scores[model][str(way)][metric] for way in ways]


def temperature_curves(ways: Sequence[Drawn]) -> dict[str, list[Drawn]]:
    """By what is drawn from: the same at two temperatures or more, coldest first; all tokens first."""
    found: dict[str, list[Drawn]] = {}
    for way in sorted(way for way in ways if way.search == "sampling"):
        found.setdefault(way.cut, []).append(way)
    return {
        cut: found[cut] for cut in sorted(found, key=lambda cut: (cut != PLAIN, cut)) if len(found[cut]) > 1
    }  # fmt: skip


def top_p_curves(ways: Sequence[Drawn]) -> dict[str, list[Drawn]]:
    """By temperature and top-k: the same at two values of top-p or more."""
    found: dict[str, list[Drawn]] = {}
    for way in sorted((way for way in ways if way.search == "sampling"), key=lambda way: way.top_p):
        rest = Drawn(way.temperature, 1.0, way.top_k)
        found.setdefault(str(rest), []).append(way)
    return {rest: listed for rest, listed in found.items() if len(listed) > 1}


def _heads(sets: Sequence[Scored]) -> list[str]:
    return list(dict.fromkeys(metric for each in sets for metric in each.work.metrics))


def head_of(metric: str) -> str:
    return f"{metric} {'↑' if metric in HIGHER else '↓'}"


def _cell(values: np.ndarray, digits: int = 3) -> str:
    found = over([float(value) for value in values])
    half = float("nan") if found.high is None else found.high - found.value
    return f"{found.value:.{digits}f} ± {half:.{digits}f}"


def _cells(each: Scored, model: str, way: str, metrics: Sequence[str]) -> list[str]:
    scores = each.scores[model][way]
    return [_cell(scores[metric]) if metric in scores else "-" for metric in metrics]


_ABOUT = "Mean ± half of the 95 % interval (t) over contexts, or over blocks of contexts."


def curves_table(
    name: str, sets: Sequence[Scored], find: Callable[[Sequence[Drawn]], dict[str, list[Drawn]]]
) -> Section:
    """name: temperature or top-p."""
    metrics = _heads(sets)
    rows = []
    for each in sets:
        for model in each.scores:
            for kept, ways in find(each.samples.ways).items():
                for way in ways:
                    value = way.temperature if name == "temperature" else way.top_p
                    cells = _cells(each, model, str(way), metrics)
                    rows.append([each.samples.name, model, kept, f"{value:g}", *cells])
    heads = ["texts", "model", "drawn from" if name == "temperature" else "at", name, *map(head_of, metrics)]
    adds = "Top-p by itself, which the paper holds at .9." if name == "top-p" else ""
    return Section(name, rc.Table(heads, rows, [_ABOUT, *_sizes(sets)], left=3), adds)


def _sizes(sets: Sequence[Scored]) -> list[str]:
    return [
        f"{each.samples.name}: {each.work.contexts} {'contexts' if each.work.several else 'blocks of contexts'}, "
        f"{each.work.references} texts of people as references, {each.work.candidates} candidates."
        for each in sets
    ]


def others_table(sets: Sequence[Scored]) -> Section:
    metrics = _heads(sets)
    rows = []
    for each in sets:
        for model in each.scores:
            searches = [str(way) for way in each.samples.ways if way.search != "sampling"]
            rows += [[each.samples.name, model, way, *_cells(each, model, way, metrics)] for way in (*searches, PEOPLE)]
    about = "The one text of a search is repeated where a context has several candidates. People: others than those who"
    return Section(
        "searches-and-people",
        rc.Table(["texts", "model", "candidates", *map(head_of, metrics)], rows,
                 [_ABOUT, f"{about} wrote the references."], left=3),
    )  # fmt: skip


def _spearman(steps: Sequence[float], values: Sequence[float]) -> float:
    from scipy.stats import spearmanr

    if len(set(values)) < 2:
        return 0.0
    return float(spearmanr(steps, values).statistic)


def changes_table(sets: Sequence[Scored]) -> Section:
    rows = []
    for each in sets:
        for model in each.scores:
            for cut, ways in temperature_curves(each.samples.ways).items():
                steps = [way.temperature for way in ways]
                for metric in each.work.metrics:
                    curve = each.curve(ways, model, metric)
                    means = [float(np.mean(values)) for values in curve]
                    best = steps[int(np.argmax(means) if metric in HIGHER else np.argmin(means))]
                    near = min(range(len(steps)), key=lambda at: abs(steps[at] - NEAR_ONE))
                    rows.append([
                        each.samples.name, model, cut, head_of(metric), f"{steps[0]:g} to {steps[-1]:g}",
                        _cell(curve[-1] - curve[0], 4), f"{_spearman(steps, means):+.2f}", f"{best:g}",
                        f"{steps[near]:g}", _cell(curve[0] - curve[near], 4), _cell(curve[-1] - curve[near], 4),
                    ])  # fmt: skip
    heads = ["texts", "model", "drawn from", "metric", "temperatures", "change", "Spearman", "best at", "near one",
             "coldest less near one", "hottest less near one"]  # fmt: skip
    about = "Differences of the same contexts: mean ± half of the 95 % interval (t)."
    return Section("changes-by-temperature", rc.Table(heads, rows, [about], left=5))


def cut_against_plain_table(sets: Sequence[Scored]) -> Section:
    rows = []
    for each in sets:
        curves = temperature_curves(each.samples.ways)
        plain = {way.temperature: way for way in curves.pop(PLAIN, [])}
        for model, scores in each.scores.items():
            for cut, ways in curves.items():
                for way in ways:
                    if way.temperature not in plain:
                        continue
                    both = scores[str(plain[way.temperature])], scores[str(way)]
                    rows += [
                        [each.samples.name, model, cut, f"{way.temperature:g}", head_of(metric),
                         _cell(both[0][metric] - both[1][metric], 4)]
                        for metric in each.work.metrics
                    ]  # fmt: skip
    heads = ["texts", "model", "drawn from", "temperature", "metric", "all tokens less these"]
    return Section("fewer-tokens-against-all", rc.Table(heads, rows, ["The same contexts, as above."], left=3))


def searches_against_table(sets: Sequence[Scored]) -> Section:
    rows = []
    for each in sets:
        ways = temperature_curves(each.samples.ways).get(PLAIN, [])
        for model, scores in each.scores.items():
            for search in (str(way) for way in each.samples.ways if way.search != "sampling"):
                for way in ways:
                    differences = [
                        _cell(scores[search][metric] - scores[str(way)][metric], 4) for metric in (AVERAGE, RANKS)
                    ]
                    rows.append([each.samples.name, model, search, f"{way.temperature:g}", *differences])
    heads = ["texts", "model", "search", "temperature", *(f"{head_of(metric)} more" for metric in (AVERAGE, RANKS))]
    about = "Of a search less sampling of all tokens at a temperature; the same contexts."
    return Section("searches-against-sampling", rc.Table(heads, rows, [about], left=3))


def models_table(sets: Sequence[Scored]) -> Section:
    rows = []
    for each in sets:
        names = list(each.scores)
        for first, second in pairwise(names):
            at = {name: number for number, name in enumerate(each.work.ids[second])}
            both = [(n, at[name]) for n, name in enumerate(each.work.ids[first]) if name in at]
            if len(both) < 2:
                continue
            ours, theirs = (np.array(side) for side in zip(*both, strict=True))
            for way in temperature_curves(each.samples.ways).get(PLAIN, []):
                differences = [
                    _cell(each.scores[first][str(way)][metric][ours] - each.scores[second][str(way)][metric][theirs], 4)
                    for metric in (RANKS, AVERAGE)
                ]
                rows.append([each.samples.name, first, second, f"{way.temperature:g}", *differences])
    heads = ["texts", "model", "less", "temperature", *map(head_of, (RANKS, AVERAGE))]
    return Section("two-models", rc.Table(heads, rows, ["The same contexts, all tokens."], left=3))
