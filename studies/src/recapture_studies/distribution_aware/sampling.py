"""Sampling: a language model's texts by temperature, by top-p and by search, against people's."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from ..cells import Tables, estimate, number
from ..study import SAMPLES, Claim, Findings, Setup, Study
from ..verdicts import Verdict, above, absent, moves, together
from .samples import LAYOUT, PLAIN, read_samples, samples_folder
from .sampling_curves import PEOPLE, compared, scores_of
from .sampling_tables import (
    AVERAGE,
    HIGHER,
    NEAR_ONE,
    RANKS,
    Scored,
    changes_table,
    curves_table,
    cut_against_plain_table,
    head_of,
    models_table,
    others_table,
    searches_against_table,
    temperature_curves,
    top_p_curves,
)
from .sampling_view import drawn_figure, drawn_nothing

_MADE_BY = "python -m training.causal makes such samples, and anyone's will do (docs/studies.md)"
_NO_SAMPLES = "samples of a language model at several temperatures"
_MODELS = "VLP and CLIPCap"


def _run(setup: Setup) -> Findings:
    folder = samples_folder(setup)
    if folder is None:
        line = f"There are no samples in {SAMPLES} among the data: what this study is about cannot be told. {_MADE_BY}."
        return Findings([], drawn_nothing, [line], {"sets": {}})
    sets = []
    for samples in read_samples(folder):
        work = compared(samples, setup)
        sets.append(Scored(samples, work, scores_of(samples, work, setup)))
    tables = [
        curves_table("temperature", sets, temperature_curves), curves_table("top-p", sets, top_p_curves),
        others_table(sets), changes_table(sets), cut_against_plain_table(sets), searches_against_table(sets),
        models_table(sets),
    ]  # fmt: skip
    settings = {
        "sets": {
            each.samples.name: {
                "several": each.work.several, "contexts": each.work.contexts, "references": each.work.references,
                "candidates": each.work.candidates, "models": list(each.scores),
            }
            for each in sets
        }
    }  # fmt: skip
    shown = [section for section in tables if section.table.rows]
    return Findings(shown, drawn_figure(sets), _verdict(sets), settings)


def _verdict(sets: Sequence[Scored]) -> list[str]:
    lines = []
    for each in sets:
        for model, scores in each.scores.items():
            parts = []
            for cut, ways in temperature_curves(each.samples.ways).items():
                told = []
                for metric in (RANKS, AVERAGE) if each.work.several else (RANKS, "mauve"):
                    means = [float(np.mean(scores[str(way)][metric])) for way in ways]
                    best = int(np.argmax(means) if metric in HIGHER else np.argmin(means))
                    told.append(
                        f"{metric} goes from {means[0]:.3f} at {ways[0].temperature:g} to {means[-1]:.3f} at "
                        f"{ways[-1].temperature:g} and is best at {ways[best].temperature:g} ({means[best]:.3f})"
                    )
                parts.append(f"{cut}: {'; '.join(told)}")
            people = float(np.mean(scores[PEOPLE][RANKS]))
            lines.append(
                f"{each.samples.name}, {model!r}: by temperature, with {'. With '.join(parts) or 'no curve'}. Other "
                f"people have {RANKS} {people:.3f}."
            )
        lines += _order(each)
    return lines


def _order(each: Scored) -> Iterator[str]:
    """Whether the order of two models turns with temperature, as in Figure 5."""
    for row in _pairs(each):
        first, second, temperatures, ranks, averages = row
        turned = {
            metric: "turns" if min(values) < 0 < max(values) else "does not turn"
            for metric, values in ((RANKS, ranks), (AVERAGE, averages))
        }
        yield (
            f"{each.samples.name}, {first!r} less {second!r} at temperatures {', '.join(temperatures)}: the order "
            f"{turned[RANKS]} by {RANKS} ({', '.join(f'{value:+.3f}' for value in ranks)}) and {turned[AVERAGE]} by "
            f"{AVERAGE} ({', '.join(f'{value:+.3f}' for value in averages)}). The paper's two, {_MODELS}, are not here."
        )


def _pairs(each: Scored) -> Iterator[tuple[str, str, list[str], list[float], list[float]]]:
    rows = list(models_table([each]).table.rows)
    for first, second in dict.fromkeys((row[1], row[2]) for row in rows):
        own = [row for row in rows if (row[1], row[2]) == (first, second)]
        yield first, second, [row[3] for row in own], [number(row[4]) for row in own], [number(row[5]) for row in own]


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    sets: Mapping[str, Mapping[str, Any]] = settings["sets"]
    if not sets:
        return [
            Claim(f"distribution-aware/{place}", absent(what), "no samples are here", "-")
            for place, what in (
                ("figure-5/temperature", f"{_MODELS}, and {_NO_SAMPLES}"),
                ("figure-5/meteor-falls", _NO_SAMPLES),
                ("figure-5/trade-off", _NO_SAMPLES),
                ("figure-6/nucleus", _NO_SAMPLES),
            )
        ]
    claims = [_two_models(tables)]
    for name, about in sets.items():
        many = f"{about['contexts']} {'contexts' if about['several'] else 'blocks of contexts'}"
        data = f"{name}: samples of {' and of '.join(repr(model) for model in about['models'])}, {many}"
        changes = [row for row in tables.get("changes-by-temperature", []) if row["texts"] == name]
        if about["several"]:
            claims += [_falls(changes, data), *_one_text(tables, name, data)]
        claims += [_trade_off(changes, data), _nucleus(tables, name, data)]
    return claims


def _two_models(tables: Tables) -> Claim:
    rows = tables.get("two-models", [])
    here = "; ".join(
        f"{texts}, {first!r} less {second!r} at {', '.join(row['temperature'] for row in own)}: "
        + " and ".join(
            f"{metric} {', '.join(row[head_of(metric)].split(' ±')[0] for row in own)}" for metric in (RANKS, AVERAGE)
        )
        for texts, first, second in dict.fromkeys((row["texts"], row["model"], row["less"]) for row in rows)
        for own in [[row for row in rows if (row["texts"], row["model"], row["less"]) == (texts, first, second)]]
    )
    return Claim(
        "distribution-aware/figure-5/temperature",
        absent(_MODELS),
        f"two models of our own: {here}" if here else "samples of one model only",
        "samples of other models",
    )


def _falls(changes: Sequence[Mapping[str, str]], data: str) -> Claim:
    rows = [row for row in changes if row["metric"] == head_of(AVERAGE)]
    verdict = together(moves(estimate(row["change"]), number(row["Spearman"])) for row in rows)
    here = "; ".join(f"{row['model']!r}, {row['drawn from']}, {row['temperatures']}: METEOR {row['change']}, Spearman "
                     f"{row['Spearman']}, best at {row['best at']}" for row in rows)  # fmt: skip
    return Claim("distribution-aware/figure-5/meteor-falls", verdict, here or "no curve", data)


def _trade_off(changes: Sequence[Mapping[str, str]], data: str) -> Claim:
    rows = [row for row in changes if row["metric"] == head_of(RANKS) and row["drawn from"] == PLAIN]
    sides = ("coldest less near one", "hottest less near one")
    verdict = together(above(estimate(row[side])) for row in rows for side in sides)
    here = "; ".join(
        f"{row['model']!r}, {row['temperatures']}: coldest {row[sides[0]]} and hottest {row[sides[1]]} above "
        f"TRM-METEOR at {row['near one']}, best at {row['best at']}"
        for row in rows
    )
    return Claim("distribution-aware/figure-5/trade-off", verdict, here or "no curve", data)


def _nucleus(tables: Tables, name: str, data: str) -> Claim:
    """At temperature one and above."""
    rows = [
        row
        for row in tables.get("fewer-tokens-against-all", [])
        if row["texts"] == name and row["metric"] == head_of(RANKS) and number(row["temperature"]) >= NEAR_ONE
    ]
    verdict: Verdict = together(above(estimate(row["all tokens less these"])) for row in rows)
    if not rows:
        verdict = absent("nucleus and plain sampling at the same temperatures")
    here = "; ".join(
        f"{row['model']!r}, {row['drawn from']}, temperature {row['temperature']}: {row['all tokens less these']}"
        for row in rows
    )
    about = "TRM-METEOR of all tokens less that of fewer: "
    return Claim("distribution-aware/figure-6/nucleus", verdict, about + here if here else "no two curves", data)


def _one_text(tables: Tables, name: str, data: str) -> Iterator[Claim]:
    """Greedy and beam search, one text over and over, against sampling."""
    rows = [row for row in tables.get("searches-against-sampling", []) if row["texts"] == name]
    if not rows:
        return
    averages, ranks = (f"{head_of(metric)} more" for metric in (AVERAGE, RANKS))
    parts = [above(estimate(row[averages])) for row in rows]
    unlike = [number(row["temperature"]) for row, part in zip(rows, parts, strict=True) if part.holds != "holds"]
    why = "at low temperatures sampling is all but greedy search" if unlike and max(unlike) < NEAR_ONE else ""
    here = _levels(tables, name, AVERAGE)
    yield Claim("distribution-aware/section-3.1/one-text-is-best", together(parts), here, data, why)
    middle = min((number(row["temperature"]) for row in rows), key=lambda value: abs(value - NEAR_ONE))
    varied = together(above(estimate(row[ranks])) for row in rows if number(row["temperature"]) == middle)
    here = f"{_levels(tables, name, RANKS)} (judged against {middle:g})"
    yield Claim("distribution-aware/figure-4/variety-improves-trm", varied, here, data)


def _levels(tables: Tables, name: str, metric: str) -> str:
    """What searches have, and sampling of all tokens by temperature."""
    told: dict[str, list[str]] = {}
    for row in tables["searches-and-people"]:
        if row["texts"] == name and row["candidates"] != PEOPLE:
            told.setdefault(row["model"], []).append(f"{row['candidates']} {_mean(row, metric)}")
    for row in tables["temperature"]:
        if row["texts"] == name and row["drawn from"] == PLAIN:
            told[row["model"]].append(f"{row['temperature']} {_mean(row, metric)}")
    by_model = (f"{model!r}: {', '.join(levels)}" for model, levels in told.items())
    return f"{metric} by search or temperature: {'; '.join(by_model)}"


def _mean(row: Mapping[str, str], metric: str) -> str:
    return row[head_of(metric)].partition(" ±")[0]


STUDY = Study(
    name="sampling",
    title="Sampling: texts by temperature, by top-p and by search, against people's",
    paper="Distribution-aware metrics",
    reproduces="Figures 5 and 6, with samples of our own models or yours",
    data=(SAMPLES,),
    optional=(SAMPLES,),
    run=_run,
    judge=judge,
    layout={SAMPLES: LAYOUT},
    takes="about 20 minutes on 1 core, half of it for vectors",
)
