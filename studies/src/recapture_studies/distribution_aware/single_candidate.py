"""One candidate against a few references: what p-values can say then, and what joining them does."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..cells import Tables, number
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, not_found, together
from ..words import short_p
from .captions import LAYOUT, Case, Scoring, data_file, kept_tests, load
from .single_candidate_paper import FEW, JOINED, MANY, METRICS, PAPER, closest, equal_shares

_LEVEL = 0.05
_PEOPLE, _MODEL, _STRANGER = "a person", "a model", "a person, of another scene"


class _Row(NamedTuple):
    """One candidate a context, against so many references."""

    data: str
    references: int
    candidate: str
    p: Mapping[str, np.ndarray]

    @property
    def contexts(self) -> int:
        return len(self.p["meteor"])

    def joined(self, how: str) -> list[float]:
        return [JOINED[how](self.p[name]) for name in METRICS]


def _run(setup: Setup) -> Findings:
    rows = [row for name, make in _SETS.items() for row in make(setup, name)]
    heads = ["data", "references", "candidate from", "contexts", "joined by", *METRICS.values()]
    cells = [
        [row.data, str(row.references), row.candidate, f"{row.contexts:,}", how, *_shown(row, how)]
        for how in JOINED
        for row in rows
    ]
    cells += [
        [
            "nothing differs, no ties",
            str(count),
            "-",
            "-",
            how,
            *[short_p(equal_shares(count + 1, how))] * len(METRICS),
        ]
        for how in ("harmonic mean", "arithmetic mean")
        for count in (FEW, MANY)
    ]
    caption = [
        f"Exact p-values of one candidate: {FEW + 1} or {MANY + 1} partitions a context, so p is at least "
        f"1/{FEW + 1} or 1/{MANY + 1}; the harmonic mean is at least the smallest of them. embedding (BERT in the "
        "paper): cosine of sentence vectors; BLEU@4: sentence BLEU by sacrebleu. Fisher's joining is right where "
        "contexts are independent."
    ]
    tables = [
        Section("joined", rc.Table(heads, cells, caption, left=5), "The smallest p that each number of texts allows"),
        _beside(rows),
    ]
    return Findings(tables, _drawn(rows), _verdict(rows), {"references": [FEW, MANY]})


def _shown(row: _Row, how: str) -> list[str]:
    return [short_p(value) if how == "Fisher" else f"{value:.3f}" for value in row.joined(how)]


def _beside(rows: list[_Row]) -> Section:
    heads = ["", "data", "candidate from", "references", "joined by", *METRICS.values()]
    cells = []
    for count in (MANY, FEW):
        for (data, model, references), numbers in PAPER.items():
            if references == count:
                cells.append(
                    ["paper", data, model, str(count), "harmonic mean (so it says)", *(f"{x:.4f}" for x in numbers)]
                )
        cells += [
            ["here", row.data, row.candidate, str(count), how, *(f"{value:.4f}" for value in row.joined(how))]
            for row in rows
            for how in ("harmonic mean", "arithmetic mean")
            if row.references == count
        ]
    caption = ["Table 1 of the paper beside ours with as many references: other captions, other models."]
    return Section("beside-the-paper", rc.Table(heads, cells, caption, left=5))


def _verdict(rows: list[_Row]) -> list[str]:
    lowest = min(min(row.joined("harmonic mean")) for row in rows if row.references == FEW)
    strangers = [row for row in rows if row.candidate == _STRANGER]
    fooled = [row.joined("Fisher") for row in strangers]
    all_tell = all(max(each) <= _LEVEL for each in fooled)
    people, harmonic, arithmetic = closest()
    return [
        f"With one candidate and {FEW} references there are {FEW + 1} partitions, so no p-value can be below "
        f"{1 / (FEW + 1):g}, and a harmonic mean is never below the smallest of its p-values: whatever the data, this "
        f"table could not have had a significant number (with {MANY} references the least is {1 / (MANY + 1):g}). "
        f"The lowest harmonic mean here is {lowest:.3f}. The claim is a fact of counting, not of metrics.",
        "Joining decides, too. Sentences of another scene, joined by Fisher's rule over the same contexts, are "
        + (
            f"told from people's by every metric (p at most {short_p(max(map(max, fooled)))})"
            if all_tell
            else f"told from people's at the {_LEVEL:g} level by "
            + (
                ", ".join(
                    title for at, title in enumerate(METRICS.values()) if all(each[at] <= _LEVEL for each in fooled)
                )
                or "no metric"
            )
        )
        + ": many moderate p-values are evidence that the harmonic mean, which looks for single small ones, lets pass.",
        f"Where nothing differs and nothing ties the harmonic mean of p tends to 1 / (1 + 1/2 + ... + 1/N): "
        f"{equal_shares(MANY + 1, 'harmonic mean'):.3f} with {MANY} references and "
        f"{equal_shares(FEW + 1, 'harmonic mean'):.3f} with {FEW}; the arithmetic one tends to "
        f"{equal_shares(MANY + 1, 'arithmetic mean'):.3f} and {equal_shares(FEW + 1, 'arithmetic mean'):.3f}. Of the "
        f"{people} figures that the paper prints for people without BLEU (where most scores tie at 0), {arithmetic} "
        f"lie nearer to the arithmetic and {harmonic} nearer to the harmonic mean.",
    ]


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    def cells(how: str, candidate: str = "") -> list[float]:
        return [
            number(row[name])
            for row in tables["joined"]
            for name in METRICS.values()
            if row["joined by"] == how and row["data"] in _SETS and candidate in ("", row["candidate from"])
        ]

    harmonic, told = cells("harmonic mean"), cells("Fisher", _STRANGER)
    people = {how: cells(how, _PEOPLE) for how in ("harmonic mean", "arithmetic mean")}
    nearer = [
        above(
            Estimate(
                abs(value - equal_shares(references + 1, "arithmetic mean"))
                - abs(value - equal_shares(references + 1, "harmonic mean"))
            )
        )
        for (_, model, references), row in PAPER.items()
        if model == "Human"
        for name, value in zip(METRICS, row, strict=True)
        if name != "sentence-bleu"
    ]
    one = together(not_found(value) for value in told)
    data = "MS-COCO captions, E2E and abstract scenes; other models than the paper's"
    return [
        Claim(
            "distribution-aware/table-1/one-candidate",
            together(not_found(value) for value in harmonic),
            f"harmonic means from {min(harmonic):.3f} to {max(harmonic):.3f}, sentences of another scene included",
            data,
            f"it could not have been otherwise: p is at least 1/{FEW + 1} with {FEW} references, 1/{MANY + 1} with "
            f"{MANY}",
        ),
        Claim(
            "distribution-aware/section-4/one-is-not-enough",
            one,
            f"sentences of another scene, one a context, joined by Fisher's rule: p at most {short_p(max(told))}",
            data,
            ""
            if one.holds == "holds"
            else "it holds for a single context; over a test set of independent contexts the rule of joining decides",
        ),
        Claim(
            "distribution-aware/table-1/harmonic-mean",
            together(nearer),
            f"for people here: harmonic {min(people['harmonic mean']):.3f} to {max(people['harmonic mean']):.3f}, "
            f"arithmetic {min(people['arithmetic mean']):.3f} to {max(people['arithmetic mean']):.3f}; "
            f"{sum(part.holds != 'holds' for part in nearer)} of the paper's {len(nearer)} figures are nearer to what "
            "the arithmetic mean tends to",
            "the paper's own numbers, and what means tend to where nothing differs",
            "perhaps arithmetic means were printed",
            own=True,
        ),
    ]


def _drawn(rows: list[_Row]) -> Any:
    def draw(figure: Any) -> None:
        figure.set_size_inches(11, 5)
        left, right = figure.subplots(1, 2, sharey=True)
        named = {f"{model}\n{data}": numbers for (data, model, _), numbers in PAPER.items()}
        short = {_PEOPLE: "person", _MODEL: "model", _STRANGER: "stranger"}
        ours = {
            f"{short[row.candidate]}\n{_SHORT[row.data]}\n{row.references}": row.joined("harmonic mean") for row in rows
        }
        for axes, points, counts in (
            (left, named, [references for *_, references in PAPER]),
            (right, ours, [row.references for row in rows]),
        ):
            for name, values in zip(METRICS.values(), zip(*points.values(), strict=True), strict=True):
                axes.plot(range(len(points)), values, "o", label=name, alpha=0.8)
            for at, count in enumerate(counts):
                across = [at - 0.4, at + 0.4]
                for how, style in (("harmonic mean", "-"), ("arithmetic mean", ":")):
                    axes.plot(across, [equal_shares(count + 1, how)] * 2, style, color="0.5")
                axes.plot(across, [1 / (count + 1)] * 2, color="tab:red", linewidth=1)
            axes.set_xticks(range(len(points)), list(points), fontsize=7)
        left.set(title="the paper's Table 1", ylabel="p", ylim=(0, 1))
        right.set(title="here, harmonic means (third line: references)")
        left.plot([], [], color="0.5", label="nothing differs: harmonic")
        left.plot([], [], ":", color="0.5", label="nothing differs: arithmetic")
        left.plot([], [], color="tab:red", linewidth=1, label="least possible")
        figure.legend(*left.get_legend_handles_labels(), loc="outside lower center", ncols=8, fontsize=7)

    return draw


def _rows(
    setup: Setup, name: str, rows: list[rc.Context], groups: list[list[str]], cases: dict[tuple[int, str], Case]
) -> list[_Row]:
    steps = steps_of(setup, "single-candidate", {"revision": 2, "data": name}, [data_file(setup, name)])
    scoring = Scoring(setup, list(METRICS), [row.references for row in rows])
    by_label = {f"{count} {who}": case for (count, who), case in cases.items()}
    found = kept_tests(steps, name, scoring, groups, by_label)
    return [
        _Row(name, count, who, {metric: each["p"] for metric, each in found[f"{count} {who}"].items()})
        for count, who in cases
    ]


def _with_model(setup: Setup, name: str) -> list[_Row]:
    """Four references, a fifth of theirs, and a model's first output."""
    rows = load(data_file(setup, name), contexts=2, references=FEW + 1, candidates=1)
    rng = np.random.default_rng(setup.seed)
    groups = [
        [*rng.permutation(row.references)[: FEW + 1].tolist(), row.candidates[0]]
        for row in rows[: 40 if setup.quick else None]
    ]
    few = tuple(range(FEW))
    cases = {(FEW, _PEOPLE): Case((*few, FEW), FEW), (FEW, _MODEL): Case((*few, FEW + 1), FEW)}
    return _rows(setup, name, rows, groups, cases)


def _with_strangers(setup: Setup, name: str) -> list[_Row]:
    """Nineteen references (or the first four), a twentieth of theirs, and a sentence of the next scene."""
    rows = load(data_file(setup, name), contexts=2, references=MANY + 1)
    rng = np.random.default_rng(setup.seed)
    groups = [
        [
            *rng.permutation(row.references)[: MANY + 1].tolist(),
            str(rng.choice(rows[(at + 1) % len(rows)].references)),
        ]
        for at, row in enumerate(rows[: 40 if setup.quick else None])
    ]
    cases = {
        (count, who): Case((*range(count), MANY + further), count)
        for count in (FEW, MANY)
        for further, who in enumerate((_PEOPLE, _STRANGER))
    }
    return _rows(setup, name, rows, groups, cases)


_SHORT = {"captions_coco1000": "COCO", "e2e_dev_multi": "E2E", "abstract48s": "abstract"}
_SETS = {"captions_coco1000": _with_model, "e2e_dev_multi": _with_model, "abstract48s": _with_strangers}

STUDY = Study(
    name="single-candidate",
    title="One candidate: p-values that cannot be small",
    paper="Distribution-aware metrics",
    reproduces="Table 1",
    data=tuple(_SETS),
    run=_run,
    judge=judge,
    layout={name: LAYOUT[name] for name in _SETS},
    takes="4 minutes on 2 cores, most of it for vectors",
)
