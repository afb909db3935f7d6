"""Central captions: what a model scores that says nothing but the one sentence nearest to all others."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables, estimate, keyed
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, less, together
from .captions import LAYOUT, data_file
from .central_sets import CENTRAL, METRICS, PEOPLE, SETS, SIDE, Detail, loaded, walked

_DATA = ("abstract48s", "e2e_dev_multi", "captions_coco1000")
_COCO = "captions_coco1000"
"""Of the paper's own data, MS-COCO, a thousand images."""
_MADE_OF = "sentences of people on abstract scenes and of E2E"
_Z = 1.96

Scores = dict[str, dict[str, dict[str, np.ndarray]]]
"""By data, candidate set and metric: one number a context."""


def _run(setup: Setup) -> Findings:
    details: dict[str, list[Detail]] = {}
    scores: Scores = {}
    for name in _DATA:
        rows = loaded(setup, name)
        steps = steps_of(setup, "central", {"revision": 2, "data": name}, [data_file(setup, name)], encodes=False)
        details[name], kept = walked(setup, name, rows, steps)
        if kept:
            scores[name] = {
                which: {metric: np.array([each[which][metric] for each in kept]) for metric in METRICS}
                for which in SETS
            }
    tables = [_scores_table(scores), _details_table(details), _examples(details)]
    return Findings(tables, _drawn(scores, details), _verdict(scores, details), {"sides": SIDE})


def _mean(values: np.ndarray) -> str:
    half = _Z * float(np.std(values, ddof=1)) / math.sqrt(len(values)) if len(values) > 1 else math.nan
    return f"{np.mean(values):.3f} ± {half:.3f}"


def _scores_table(scores: Scores) -> Section:
    heads = ["data", "candidates", "contexts", "METEOR ↑", "METEOR, mean ↑", "TRM-METEOR ↓", "CIDEr-D ↑", "TRM-CIDEr ↓"]
    rows = [
        [name, which, str(len(by["meteor"])), *(_mean(by[metric]) for metric in METRICS)]
        for name, sets in scores.items()
        for which, by in sets.items()
    ]
    caption = [
        "Mean over contexts ± 1.96 standard errors; "
        + ", ".join(f"{name}: {side} references, {side} candidates" for name, side in SIDE.items())
        + ". Candidates are sentences of people that are no references; METEOR distances among them alone say "
        "which is central. METEOR takes the best reference; its mean over references stands beside."
    ]
    return Section("scores", rc.Table(heads, rows, caption, left=3))


def _difference(details: Sequence[Detail], what: str) -> np.ndarray:
    return np.array([own - others for own, others in (getattr(detail, what) for detail in details)])


def _details_table(details: dict[str, list[Detail]]) -> Section:
    heads = ["data", "contexts", "", "central", "others", "difference", "less than the others"]
    rows = []
    for name, of_contexts in details.items():
        for what in ("words", "information"):
            own, others = np.array([getattr(detail, what) for detail in of_contexts]).T
            less = float(np.mean(own < others))
            cells = [f"{own.mean():.2f}", f"{others.mean():.2f}", _mean(own - others), f"{less:.0%}"]
            rows.append([name, str(len(of_contexts)), what, *cells])
    caption = [
        "The sentence of a context with the least mean METEOR distance to the others, beside the mean of those. "
        "information: sum over its different words of ln(contexts / contexts that have the word)."
    ]
    return Section("detail", rc.Table(heads, rows, caption, left=3))


def _examples(details: dict[str, list[Detail]]) -> Section:
    heads = ["data", "context", "central sentence", "its words", "words of the others"]
    rows = [
        [name, detail.id, f"{detail.position + 1} of {detail.of}", *(f"{value:.1f}" for value in detail.words)]
        for name, found in details.items()
        for detail in found[:4]
    ]
    return Section(
        "examples", rc.Table(heads, rows, ["By position in the file; Figures 10 to 13 show such sentences."], left=3)
    )


def _better(by: dict[str, dict[str, np.ndarray]], metric: str) -> float:
    """Share of contexts in which the central sentence alone scores better than people; ties count half."""
    gain = by[CENTRAL][metric] - by[PEOPLE][metric]
    gain = -gain if metric.startswith("trm") else gain
    return float(np.mean((gain > 0) + 0.5 * (gain == 0)))


def _best(by: dict[str, dict[str, np.ndarray]], metric: str) -> str:
    means = {which: float(np.mean(each[metric])) for which, each in by.items()}
    return (min if metric.startswith("trm") else max)(means, key=means.__getitem__)


def _verdict(scores: Scores, details: dict[str, list[Detail]]) -> list[str]:
    lines = []
    for name, by in scores.items():
        lines.append(
            f"{name}: one central sentence, repeated, has METEOR {np.mean(by[CENTRAL]['meteor']):.3f} and as many "
            f"sentences of other people {np.mean(by[PEOPLE]['meteor']):.3f}: it is the better in "
            f"{_better(by, 'meteor'):.0%} of the contexts. By TRM-METEOR it is the better in "
            f"{_better(by, 'trm-meteor'):.0%} ({np.mean(by[CENTRAL]['trm-meteor']):.3f} against "
            f"{np.mean(by[PEOPLE]['trm-meteor']):.3f}, lower is better). Best of the five sets: by METEOR "
            f"“{_best(by, 'meteor')}”, by TRM-METEOR “{_best(by, 'trm-meteor')}”, by CIDEr-D “{_best(by, 'cider')}”, "
            f"by TRM-CIDEr “{_best(by, 'trm-cider')}”."
        )
    parts = []
    for name, found in details.items():
        words, known = (_difference(found, what) for what in ("words", "information"))
        parts.append(f"{name}: {_mean(words)} words, {_mean(known)} of information")
    lines.append(
        "Central sentences against the mean of the others ("
        + "; ".join(parts)
        + "): "
        + _sparse(details)
        + " METEOR weighs recall more than precision, so that a long sentence is near many."
    )
    return lines


def _sparse(details: dict[str, list[Detail]]) -> str:
    poor = [name for name, found in details.items() if _below(_difference(found, "information"))]
    short = [name for name, found in details.items() if _below(_difference(found, "words"))]
    return (
        f"they say less in {', '.join(poor) or 'none of the data sets'}, and are shorter in "
        f"{', '.join(short) or 'none'}, beyond chance."
    )


def _below(values: np.ndarray) -> bool:
    return float(np.mean(values) + _Z * np.std(values, ddof=1) / math.sqrt(len(values))) < 0


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    scores = keyed(tables["scores"], "data", "candidates")
    data = list(dict.fromkeys(name for name, _ in scores))

    def gap(name: str, one: str, other: str, head: str) -> Estimate:
        return less(estimate(scores[name, one][head]), estimate(scores[name, other][head]))

    best = [above(gap(name, CENTRAL, other, "METEOR ↑")) for name in data for other in SETS if other != CENTRAL]
    ranks = [above(gap(name, CENTRAL, PEOPLE, "TRM-METEOR ↓")) for name in data]

    def listed(head: str) -> str:
        return "; ".join(f"{name} {scores[name, CENTRAL][head]} v {scores[name, PEOPLE][head]}" for name in data)

    claims = [
        Claim(
            "distribution-aware/section-3.1/one-text-is-best",
            together(best),
            f"METEOR of the central sentence, repeated, v other people: {listed('METEOR ↑')}",
            _MADE_OF,
        ),
        Claim(
            "distribution-aware/figure-4/variety-improves-trm",
            together(ranks),
            f"TRM-METEOR of the central sentence, repeated, v other people: {listed('TRM-METEOR ↓')}",
            _MADE_OF,
        ),
    ]
    for row in tables["detail"]:
        if row[""] == "information":
            said = estimate(row["difference"])
            verdict = above(less(Estimate(0.0, 0.0, 0.0), said))
            why = "the paper shows eight images; METEOR weighs recall, so longer sentences are central"
            claims.append(
                Claim(
                    "distribution-aware/figure-10/sparse",
                    verdict,
                    f"information of the central one less that of the others: {row['difference']}",
                    f"{row['data']}, {row['contexts']} contexts",
                    "" if verdict.holds == "holds" else why,
                    own=row["data"] == _COCO,
                )
            )
    return claims


def _drawn(scores: Scores, details: dict[str, list[Detail]]) -> Any:
    def draw(figure: Any) -> None:
        figure.set_size_inches(12, 4.5)
        *panels, last = figure.subplots(1, len(scores) + 1)
        for axes, (name, by) in zip(panels, scores.items(), strict=True):
            for which, each in by.items():
                axes.plot(np.mean(each["meteor"]), np.mean(each["trm-meteor"]), "o", markersize=9, label=which)
            axes.set(title=name, xlabel="METEOR (higher is better)", ylabel="TRM-METEOR (lower is better)")
            axes.invert_yaxis()
        last.boxplot(
            [_difference(found, "words") for found in details.values()],
            tick_labels=[name.split("_")[0] for name in details],
            showfliers=False,
        )
        last.axhline(0, color="0.6", linestyle=":")
        last.set(title="words of the central sentence", ylabel="more (or fewer) than the others have")
        figure.legend(*panels[0].get_legend_handles_labels(), loc="outside lower center", ncols=5, fontsize=8)

    return draw


STUDY = Study(
    name="central",
    title="Central captions: what a model gets for saying one thing",
    paper="Distribution-aware metrics",
    reproduces="Figures 4 and 10 to 14, as numbers",
    data=_DATA,
    run=_run,
    judge=judge,
    encodes=False,
    layout={name: LAYOUT[name] for name in _DATA},
    takes="1 minute on 2 cores",
)
