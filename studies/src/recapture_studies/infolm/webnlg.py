"""Texts from data, WebNLG 2020: do metrics agree with people on five criteria?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np

import recapture as rc

from ..agreement import COEFFICIENTS, oriented, text_level
from ..cells import Tables, number
from ..files import NAME, NUMBER, OPTIONAL_TEXT, TEXTS, of_kind, records
from ..item_scores import Part, Scores
from ..rated import HALF, Seen, leaders, mean, ranked, row_name, shown, tasks
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import above, less, of_correlation
from .webnlg_claims import table_claims
from .webnlg_paper import CRITERIA, CRITERIA_PAPER, PAPER
from .webnlg_sweep import Swept, note_sweep, sweep_claims, sweep_table, sweep_tasks
from .webnlg_williams import williams_claims, williams_table

_METRICS = ("infolm", "me-words", "bertscore", "moverscore", "bleu", "chrf", "ter", "rouge", "meteor")
_SHOWN = {"bertscore": ("f1", "precision", "recall"), "rouge": ("rouge1", "rouge2", "rougeL")}
_HOLDS = "human_eval.jsonl.gz and outputs.jsonl.gz"
_LEVELS = ("system", "text")
_TESTED = "Williams' test with Holm's correction: which differences between metrics so many systems can decide"
_HONEST = "Free parameters chosen on some items and measured on others"

Numbers = dict[str, dict[tuple[str, str], float]]
"""By metric, then by criterion and coefficient."""


def parts(setup: Setup) -> Iterator[Part]:
    """One part: the rated items, with all systems that have an output."""
    folder = setup.folder("webnlg2020_en", _HOLDS)
    references: dict[Any, list[str]] = {}
    rated: dict[str, dict[Any, Mapping[str, float]]] = {}
    fields = {"system": str, "id": NAME, "references": TEXTS, "output": OPTIONAL_TEXT, "human_mean": dict}
    for record in records(folder / "human_eval.jsonl.gz", fields):
        lacking = [name for name in CRITERIA if not of_kind(record["human_mean"].get(name), NUMBER)]
        if lacking:
            where = f"{folder / 'human_eval.jsonl.gz'}: {record['system']}, item {record['id']}"
            raise rc.InputError(f"{where}: 'human_mean' has no number for {lacking[0]}")
        references[record["id"]] = record["references"]
        if record["output"] is not None:  # people's own texts were rated too, but are not there
            rated.setdefault(record["system"], {})[record["id"]] = record["human_mean"]
    # The output of a system that was not rated on an item: the item still has one text from every system.
    texts = {
        (record["system"], record["id"]): record["output"]
        for record in records(folder / "outputs.jsonl.gz", {"system": str, "id": NAME, "output": str})
        if record["id"] in references
    }
    systems = list(rated)[: 5 if setup.quick else None]
    items = list(references)[: 8 if setup.quick else None]
    lost = [(system, item) for system in systems for item in items if (system, item) not in texts]
    if lost:
        raise rc.InputError(f"{folder / 'outputs.jsonl.gz'} has no output of {lost[0][0]} for item {lost[0][1]}")
    nothing: dict[str, float] = {}
    human = {
        name: np.array([[rated[system].get(item, nothing).get(name, math.nan) for item in items] for system in systems])
        for name in CRITERIA
    }
    yield Part(
        "webnlg",
        [references[item] for item in items],
        {system: [texts[system, item] for item in items] for system in systems},
        [*tasks(setup, _METRICS), *sweep_tasks(setup)],
        human=human,
    )


def _run(setup: Setup) -> Findings:
    correlations: dict[str, Numbers] = {level: {} for level in _LEVELS}
    dropped: dict[str, int] = {}
    human: dict[str, np.ndarray] = {}
    by_system: dict[str, np.ndarray] = {}
    swept: Swept = {}

    def see(part: Part, label: str, scores: Scores) -> None:
        human.update(part.human)
        if label.startswith("infolm-sweep"):
            note_sweep(swept, label, scores)
            return
        for output in _SHOWN.get(label, scores.totals):
            name = row_name(label, output)
            totals = oriented(scores.totals[output], scores.direction)
            items = oriented(scores.items[output], scores.direction)
            by_system[name] = totals
            for criterion, ratings in part.human.items():
                for coefficient in COEFFICIENTS:
                    at = criterion, coefficient
                    value = rc.correlation(np.nanmean(ratings, axis=1), totals, coefficient)
                    correlations["system"].setdefault(name, {})[at] = value
                    single = text_level(items, ratings, coefficient)
                    correlations["text"].setdefault(name, {})[at] = single.value
                    dropped[criterion] = max(dropped.get(criterion, 0), single.dropped)

    seen = Seen(setup, parts(setup), see)
    systems, items = next(iter(human.values())).shape
    unrated = int(np.isnan(next(iter(human.values()))).sum())
    heads = ["metric", *(f"{criterion} {coefficient[0]}" for criterion in CRITERIA for coefficient in COEFFICIENTS)]
    note = "p: Pearson, s: Spearman, k: Kendall's tau-b; for metrics where lower is better the sign is turned."
    captions = {
        "system": f"Over {systems} systems: their mean rating on {items} items against their mean score, or the corpus "
        f"number where a metric has one (BLEU, chrF, TER). {unrated} texts have scores but no rating.",
        "text": f"Mean over {items} items of the correlation across {systems} systems; left out, because people or a "
        "metric do not tell the systems apart, are at most "
        + ", ".join(f"{count} ({criterion})" for criterion, count in dropped.items())
        + ".",
    }
    tables = [
        Section(f"{level}-level", rc.Table(heads, _lines(correlations[level]), [captions[level], note]))
        for level in _LEVELS
    ]
    tables += [
        Section("beside-the-paper", _beside(correlations["system"], heads)),
        Section("criteria", _criteria(human)),
    ]
    williams = williams_table(by_system, human)
    tables += [Section("williams-test", williams, _TESTED)] if williams else []
    if swept:
        grid = sweep_table(swept, human, setup.seed)
        tables += [Section("free-parameters", grid, _HONEST)] if grid.rows else []
    tables += [seen.table()]
    overall = {level: {name: _overall(by) for name, by in correlations[level].items()} for level in _LEVELS}

    def draw(figure: Any) -> None:
        names = ranked(overall["system"])[::-1]
        figure.set_size_inches(10, max(4.0, 0.22 * len(names)))
        for axes, level in zip(figure.subplots(1, 2, sharey=True), _LEVELS, strict=True):
            for criterion in CRITERIA:
                values = [correlations[level][name][criterion, "pearson"] for name in names]
                axes.plot(values, range(len(names)), "o", label=criterion, markersize=3)
            axes.set(title=f"{level} level", xlabel="Pearson correlation with people")
            axes.set_yticks(range(len(names)), names, fontsize=7)
            axes.grid(axis="x", alpha=0.3)
            axes.legend(fontsize=7)

    settings = {"items": items, "systems": systems, "alpha": HALF, "beta": HALF, "warnings": list(seen.warnings)}
    return Findings(tables, draw, [*_verdict(correlations, overall, human), *seen.about_left_out()], settings)


def _overall(by: Mapping[tuple[str, str], float]) -> float:
    return mean(by[criterion, "pearson"] for criterion in CRITERIA)


def _lines(rows: Numbers) -> list[list[str]]:
    return [[name, *(shown(by[at]) for at in _columns())] for name, by in rows.items()]


def _columns() -> list[tuple[str, str]]:
    return [(criterion, coefficient) for criterion in CRITERIA for coefficient in COEFFICIENTS]


def _beside(rows: Numbers, heads: list[str]) -> rc.Table:
    lines = []
    for title, (outputs, numbers) in PAPER.items():
        for name, by in rows.items():
            # infolm-head alpha and infolm-mlm alpha both stand beside the paper's alpha.
            if name in outputs or (name.startswith("infolm") and name.rpartition(" ")[2] in outputs):
                lines.append([title, name, *(shown(by[at]) for at in _columns())])
        lines.append([title, "paper", *(shown(number / 100) for number in numbers)])
    caption = [
        "System level. Paper: InfoLM, Table 2, as printed; its parameters were chosen for each criterion with the "
        f"human scores in view, here alpha = beta = {HALF:g} and temperature 1. In some of its rows (gamma, L1) "
        "the order of the coefficients seems to be another than the heads say."
    ]
    return rc.Table(["paper's name", "metric", *heads[1:]], lines, caption, left=2)


def _criteria(human: Mapping[str, np.ndarray]) -> rc.Table:
    means = {name: np.nanmean(ratings, axis=1) for name, ratings in human.items()}
    lines = []
    for (first, second), paper in CRITERIA_PAPER.items():
        here = [rc.correlation(means[first], means[second], coefficient) for coefficient in COEFFICIENTS]
        lines.append([f"{first}, {second}", *map(shown, here), *(shown(number / 100) for number in paper)])
    heads = ["criteria", *(f"{name}, here" for name in COEFFICIENTS), *(f"{name}, paper" for name in COEFFICIENTS)]
    return rc.Table(
        heads, lines, ["System level: how far people's criteria agree with each other; paper: InfoLM, Table 2."]
    )


def _verdict(
    correlations: Mapping[str, Numbers], overall: Mapping[str, Mapping[str, float]], human: Mapping[str, np.ndarray]
) -> list[str]:
    system, text = overall["system"], overall["text"]
    lines = [
        f"Mean Pearson over the five criteria, system level: best are {leaders(system)}. Text level: {leaders(text)}."
    ]
    best = []
    for criterion in CRITERIA:
        values = {name: by[criterion, "pearson"] for name, by in correlations["system"].items()}
        best.append(f"{criterion} {leaders(values, 1)}")
    lines.append(f"Best by criterion, system level, Pearson: {'; '.join(best)}.")
    models = dict.fromkeys(name.split()[0] for name in system if name.startswith("infolm"))
    for model in models:
        own = {name: value for name, value in system.items() if name.split()[0] == model}
        others = {name: value for name, value in system.items() if not name.startswith("infolm")}
        order = ranked(own)
        if not order:
            continue
        above = [name for name in others if own[order[0]] > others[name]]
        lines.append(
            f"{model}: best measure {order[0].split()[-1]} ({shown(own[order[0]])}), then "
            f"{', '.join(f'{name.split()[-1]} {shown(own[name])}' for name in order[1:4])}; least "
            f"{order[-1].split()[-1]} ({shown(own[order[-1]])}). Its best is above {len(above)} of {len(others)} other "
            "numbers. The paper has InfoLM (alpha, AB, Fisher-Rao) first, then BERTScore and MoverScore, then n-grams, "
            "and Lp distances last."
        )
    same = [
        f"{shown(_distance(by, numbers))} ({title})"
        for title, (outputs, numbers) in PAPER.items()
        for metric, by in correlations["system"].items()
        if metric in outputs
    ]
    if same:
        lines.append(
            f"Mean distance from the paper's numbers, of metrics without free parameters: {', '.join(same)}. They rest "
            "on another encoder (BERT-base there), perhaps on other items than the "
            f"{next(iter(human.values())).shape[1]} rated ones, and on other versions of the n-gram metrics."
        )
    means = {name: np.nanmean(ratings, axis=1) for name, ratings in human.items()}
    apart = max(
        abs(rc.correlation(means[first], means[second], "kendall") - paper[2] / 100)
        for (first, second), paper in CRITERIA_PAPER.items()
    )
    lines.append(
        f"People's criteria among themselves: Kendall's tau differs from the paper's by {shown(apart)} at most, so the "
        + ("ratings are the same." if apart < 0.02 else "ratings, or how they were averaged, are not the same.")
    )
    if models:
        lines.append(
            "At alpha = beta = 1/2 the measures alpha, renyi, ab and fisher_rao are all functions of the sum of the "
            "square roots of p q: on single texts they rank alike, only their means differ."
        )
    return lines


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    claims = [*williams_claims(tables.get("williams-test", [])), *sweep_claims(tables.get("free-parameters", []))]
    claims += table_claims(tables["system-level"])
    for row in tables["criteria"]:
        if row["criteria"] == "Fluency, TextStructure":
            r = of_correlation(number(row["pearson, here"]), settings["systems"])
            claims.append(
                Claim(
                    "infolm/section-5.2/criteria",
                    above(less(r, 0.98)),
                    f"Pearson {row['pearson, here']} over {settings['systems']} systems",
                    "WebNLG 2020, people's ratings",
                    own=True,
                )
            )
    return claims


def _distance(by: Mapping[tuple[str, str], float], paper: Sequence[float]) -> float:
    """Mean over criteria and coefficients, without regard to the sign."""
    return mean(abs(by[at] - number / 100) for at, number in zip(_columns(), paper, strict=True))


STUDY = Study(
    name="webnlg",
    title="Texts from data: agreement with people on WebNLG 2020",
    paper="InfoLM",
    reproduces="Table 2",
    data=("webnlg2020_en",),
    run=_run,
    judge=judge,
    pools=False,
    masked=True,
    chooses=True,
    meteor=True,
    layout={
        "webnlg2020_en": "human_eval.jsonl.gz (system, id, references, output, human_mean by criterion) and "
        "outputs.jsonl.gz (system, id, output)"
    },
    takes="about 15 minutes on one GPU with 16 cores",
)
