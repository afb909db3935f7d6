"""Summaries of TAC 2009: do metrics of words rank single summaries of a topic as people do?

Several references, each compared by itself, and two criteria. Where TAC 2009 is not here the study says so; REALSumm,
with one reference and one criterion, shows the same form on other data.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from ..agreement import oriented
from ..cells import Tables
from ..infolm import summarisation
from ..item_scores import Part, Scores, Task
from ..rated import Seen, layers_read, row_name, shown, tasks
from ..spread import last_layers
from ..study import Claim, Findings, Section, Setup, Study
from .tac2009_data import FILE, Grid, Topic, read_topics
from .tac2009_view import (
    COEFFICIENTS,
    COLUMNS,
    CRITERIA,
    EARLIER,
    NOT_HERE,
    PAPER,
    average,
    beside_table,
    by_topic,
    data_name,
    difference_table,
    encoder_table,
    level_claim,
    level_table,
    order_claims,
    who_table,
)

FOLDER = "tac2009"
TOPICS, SUMMARIES = 44, 2596
"""Of TAC 2009 as the paper had it: other numbers are other data."""
WHO = {
    "all": lambda summary: True,
    "systems alone": lambda summary: not summary.of_a_person,
    "more than one sentence": lambda summary: summary.sentences > 1,
}
"""Which summaries count."""
FEWER_LAYERS = (3, 1)
"""Other encoders: fewer of the last layers."""
_SHOWN = {"bertscore": ("f1",), "pr-words": ("precision",), "pr-words-k3": ("precision",), "prd-words": ("f1_8",)}
_HOLDS = f"{FILE}, one JSON object: topic -> references and annotations"
_KINDS = tuple(f"{kind}, {each}" for kind in summarisation.KINDS.values() for each in COEFFICIENTS)


def topics(setup: Setup) -> list[Topic] | None:
    """None where the data are not here."""
    folder = setup.data / FOLDER
    if not os.path.isdir(setup.data):  # noqa: PTH112
        folder = setup.folder(FOLDER, _HOLDS)  # a folder of data that is not there is a mistake
    if not os.path.isdir(folder):  # noqa: PTH112 - a name too long is no folder, and no error
        return None
    return read_topics(folder / FILE)[: 3 if setup.quick else None]


def parts(setup: Setup) -> Iterator[Part]:
    """TAC 2009 in one part, a comparison an item; REALSumm in those of its own study, so that kept scores serve."""
    known = topics(setup)
    if known is not None:
        grid = Grid(known)
        wanted = [*_tasks(setup), *_fewer_layers(setup)]
        yield Part(FOLDER, grid.references, {"summaries": grid.candidates}, wanted, {"data": FOLDER})
    if known is None or os.path.isdir(setup.data / "realsumm"):  # noqa: PTH112
        for part in summarisation.parts(setup):
            yield replace(part, tasks=_tasks(setup), about={**part.about, "data": "realsumm"})


def _tasks(setup: Setup) -> list[Task]:
    """The paper's metrics. IMPAR at k = 1, as the estimators, and at its authors' k = 3."""
    wanted = tasks(setup, ("me-words", "bertscore", "moverscore", "prd-words", "pr-words"), {"pr-words": {"k": 1}})
    return [*wanted, Task("pr-words", "pr-words-k3", {"k": 3, "layers": layers_read(setup)})]


def _fewer_layers(setup: Setup) -> list[Task]:
    return [
        Task("me-words", f"me-words-last{count}", {"layers": count})
        for count in FEWER_LAYERS
        if count < layers_read(setup)
    ]


def _run(setup: Setup) -> Findings:
    known = topics(setup)
    grid = Grid(known) if known is not None else None
    here: dict[str, dict[str, dict[str, np.ndarray]]] = {form: {} for form in WHO}
    by_encoder: dict[str, dict[str, dict[str, np.ndarray]]] = {}
    elsewhere: dict[str, dict[str, np.ndarray]] = {}

    def see(part: Part, label: str, scores: Scores) -> None:
        for output in _SHOWN.get(label, scores.totals):
            items = oriented(scores.items[output], scores.direction)
            if part.about["data"] != FOLDER or grid is None:
                kind = summarisation.KINDS[part.about["kind"]]
                found = by_topic(items, {kind: part.human["litepyramid"]})
                elsewhere.setdefault(row_name(label, output), {}).update(found)
                continue
            table = grid.means(items[0])
            name, _, count = row_name(label, output).partition("-last")
            if label.startswith("me-words"):
                layers, _, rest = count.partition(" ")
                encoder = last_layers(int(layers or layers_read(setup)))
                by_encoder.setdefault(encoder, {})[f"{name} {rest}" if count else name] = by_topic(table, grid.human)
            if not count:
                for form, who in WHO.items():
                    here[form][name] = by_topic(np.where(grid.counted(who), table, np.nan), grid.human)

    seen = Seen(setup, parts(setup), see)
    tables = [Section("beside-the-paper", beside_table(here["all"]))]
    if here["all"]:
        what = "All summaries: correlation across the summaries of a topic."
        tables += [
            Section("text-level", level_table(here["all"], COLUMNS, what)),
            Section("differences", difference_table(here["all"], COLUMNS, "All summaries.")),
            Section("who-is-counted", who_table(here), "Whether people's own summaries count"),
        ]
    if len(by_encoder) > 1:
        tables += [Section("by-encoder", encoder_table(by_encoder))]
    whole = {name: by for name, by in elsewhere.items() if set(by) == set(_KINDS)}
    if whole:
        what = (
            "REALSumm, pyramid recall, one reference: correlation across the systems for one document (a topic here)."
        )
        tables += [
            Section("realsumm", level_table(whole, _KINDS, what)),
            Section("realsumm-differences", difference_table(whole, _KINDS, "REALSumm.")),
        ]

    def draw(figure: Any) -> None:
        names = list(PAPER)[::-1]
        figure.set_size_inches(10, 6)
        for line, criterion in zip(figure.subplots(2, 3, sharey=True), CRITERIA, strict=True):
            for axes, coefficient in zip(line, COEFFICIENTS, strict=True):
                column = f"{criterion}, {coefficient}"
                paper = [PAPER[name][COLUMNS.index(column)] for name in names]
                axes.plot([np.nan if each is None else each for each in paper], range(len(names)), "|", label="paper")
                ours = [average(here["all"][name][column]) if name in here["all"] else np.nan for name in names]
                if here["all"]:
                    axes.plot(ours, range(len(names)), "o", label="here", markersize=4)
                axes.set(title=column)
                axes.set_yticks(range(len(names)), names, fontsize=7)
                axes.grid(axis="x", alpha=0.3)
        axes.legend(fontsize=7)

    told = _told(known, here["all"])
    settings = {
        "here": known is not None,
        "own": known is None or _is_own(known),
        "empty": _empty(known),
        "warnings": list(seen.warnings),
    }
    return Findings([*tables, seen.table()], draw, [*told, *seen.about_left_out()], settings)


def _is_own(known: list[Topic]) -> bool:
    return len(known) == TOPICS and sum(len(topic.summaries) for topic in known) == SUMMARIES


def _empty(known: list[Topic] | None) -> int:
    return sum(not summary.text for topic in known or [] for summary in topic.summaries)


def _told(known: list[Topic] | None, found: Mapping[str, Mapping[str, np.ndarray]]) -> list[str]:
    if known is None:
        how, row = next(iter(EARLIER.items()))
        numbers = " ".join("-" if each is None else shown(each) for each in row)
        return [
            f"Cannot be told: {NOT_HERE}. Table 3's numbers stand alone above; docs/data.md says where the data come "
            "from and what is read.",
            f"Measured earlier by a separate program on the paper's own data, all-MiniLM-L6-v2, CAPTURE, k = 1, {how}: "
            f"{numbers} (responsiveness, then pyramid; Kendall, Pearson, Spearman). No verdict stands on these.",
            "REALSumm shows the same form on other data: one reference, pyramid recall alone.",
        ]
    size = sum(len(topic.summaries) for topic in known)
    people = sum(summary.of_a_person for topic in known for summary in topic.summaries)
    name = data_name(_is_own(known))
    lines = [
        f"{name[0].upper()}{name[1:]}: {len(known)} topics, {size:,} summaries, {people} of them people's own, which "
        f"are references, too. {_empty(known)} summaries are empty; they score what texts do that never meet."
    ]
    if "me-words capture" in found:
        own = found["me-words capture"]
        told = ", ".join(f"{column} {shown(average(own[column]))}" for column in COLUMNS)
        lines.append(f"CAPTURE, all summaries: {told}.")
    return lines


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    own = settings.get("own", True)
    claims = [level_claim(tables.get("text-level", []), tables.get("by-encoder", []), own)]
    columns = {each: [f"{criterion}, {each}" for criterion in CRITERIA] for each in COEFFICIENTS}
    data = f"{data_name(own)}, text level, all-MiniLM-L6-v2"
    claims += order_claims(tables.get("differences", []), columns, data, own=own)
    columns = {each: [f"{kind}, {each}" for kind in summarisation.KINDS.values()] for each in COEFFICIENTS}
    data = "REALSumm, text level, all-MiniLM-L6-v2" + ("" if settings["here"] else f"; {NOT_HERE}")
    return [*claims, *order_claims(tables.get("realsumm-differences", []), columns, data, own=False)]


STUDY = Study(
    name="tac2009",
    title="Summaries: agreement with people on TAC 2009",
    paper="Mark-Evaluate",
    reproduces="Table 3",
    data=(FOLDER, "realsumm"),
    optional=(FOLDER,),
    run=_run,
    judge=judge,
    pools=False,
    chooses=True,
    layout={
        FOLDER: f"{FILE}: one JSON object, topic -> references (a list of objects with text, a list of sentences) and "
        "annotations (a list of objects with summ_id, text, responsiveness, pyr_score)",
        **summarisation.LAYOUT,
    },
    takes="13 minutes on a busy core for REALSumm; TAC 2009 was not there",
)
