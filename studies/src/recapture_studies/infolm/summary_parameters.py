"""InfoLM's free parameters on summaries, chosen for each criterion as the paper does, and honestly beside it.

A criterion is a kind of systems, a level and a coefficient. The paper's figure shows the best setting for each, on the
ratings by which it was chosen; here the same over a grid, and beside it the figure for documents that did not help to
choose. A machine with a GPU makes the scores in minutes:

    from recapture_studies import item_scores, study
    from recapture_studies.infolm import summary_parameters
    item_scores.fill(summary_parameters.parameter_parts(study.Setup(Path("data"))), device="cuda")
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from statistics import median
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..agreement import COEFFICIENTS, Coefficient, oriented
from ..cells import Tables, number
from ..item_scores import Part, Scores, Task
from ..models import MASKED_MODELS
from ..rated import HALF, Seen, mean, row_name, shown
from ..study import Chosen, Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, Verdict, above, near, together
from .metric_map import summaries
from .summarisation import KINDS, LAYOUT
from .webnlg_claims import POINTS
from .webnlg_sweep import ALPHAS, BETAS, TEMPERATURES

FAMILIES = {
    "ab": "AB (alpha, beta, T)",
    "alpha": "alpha (alpha, T)",
    "gamma": "gamma (beta, T)",
    "jeffreys": "Jeffreys (T)",
    "fisher_rao": "Fisher-Rao (T)",
    "l1": "L1 (T)",
    "l2": "L2 (T)",
    "linf": "Linf (T)",
}
"""By measure, what is chosen. The paper's JS is Jeffreys, its text's beta divergence is gamma."""
_FREE = {"ab": ("alpha", "beta"), "alpha": ("alpha",), "gamma": ("beta",)}
_FLAT = ("l1", "l2", "linf")
_OTHERS = {
    "bertscore": ("f1",),
    "moverscore": ("value",),
    "rouge": ("rouge1", "rouge2", "rougeL"),
    "bleu": ("value",),
    "meteor": ("value",),
}
"""Metrics without free parameters, and their outputs."""
_VECTORS, _NGRAMS = ("bertscore f1", "moverscore"), ("rouge rouge1", "rouge rouge2", "rouge rougeL")
_LEVELS = ("system", "text")
_FOLDS, _REPEATS = 2, 50
_NONE = "-"
_LIKE = {"same": "best", "other": "honest, halves"}
"""By how parameters were chosen: the column of InfoLM's numbers."""
_PLAIN = {"same": "best", "other": "default, halves"}
"""And that of the metrics that have none, on the same documents."""


class _At(NamedTuple):
    """A criterion."""

    kind: str
    level: str
    coefficient: str


class _Row(NamedTuple):
    default: float
    setting: str
    best: float
    halves: tuple[float, float, float]
    """On held-out halves: the default, the best setting on all documents, and the one chosen on the other half."""


def _models(setup: Setup) -> dict[str, Any]:
    if setup.model is not None:
        return {"infolm": setup.model}
    return {f"infolm-{name.rpartition('-')[2]}": name for name in MASKED_MODELS[: 1 if setup.quick else None]}


def _measures(alpha: float, beta: float) -> list[str]:
    """Those that differ from what other points of the grid give."""
    listed = ["ab"]
    listed += ["alpha"] * (beta == HALF) + ["gamma"] * (alpha == HALF)
    return listed + [name for name in FAMILIES if name not in _FREE and alpha == beta == HALF]


def parameter_parts(setup: Setup) -> Iterator[Part]:
    """The summaries, to be scored with every setting of the grid; and metrics without parameters, often kept."""
    grid = [(HALF, HALF)] if setup.quick else list(product(ALPHAS, BETAS))
    temperatures = list(TEMPERATURES)
    for part in summaries(setup):
        swept = [
            Task("infolm", f"{label}-{alpha:g}-{beta:g}", {"measure": _measures(alpha, beta), "alpha": alpha,
                 "beta": beta, "temperature": temperatures, "model": model})
            for label, model in _models(setup).items()
            for alpha, beta in grid
        ]  # fmt: skip
        yield replace(part, tasks=[*swept, *(task for task in part.tasks if task.metric in _OTHERS)])


def _setting(measure: str, alpha: str, beta: str, temperature: str) -> str:
    free = {"alpha": alpha, "beta": beta}
    return ", ".join([*(f"{name} {free[name]}" for name in _FREE.get(measure, ())), f"T {temperature}"])


def _run(setup: Setup) -> Findings:
    swept: dict[str, dict[tuple[str, str], dict[str, np.ndarray]]] = {}
    """By kind of systems, then by model and measure (or a metric and nothing), then by setting: (systems, items)."""
    human: dict[str, np.ndarray] = {}

    def see(part: Part, label: str, scores: Scores) -> None:
        kind = part.about["kind"]
        human[kind] = part.human["litepyramid"]
        held = swept.setdefault(kind, {})
        if not label.startswith("infolm"):
            for output in _OTHERS[label]:
                held[row_name(label, output), ""] = {_NONE: oriented(scores.items[output], scores.direction)}
            return
        model, alpha, beta = label.rsplit("-", 2)
        for output, items in scores.items.items():
            measure, _, temperature = output.partition("@")
            by_setting = held.setdefault((model, measure), {})
            by_setting[_setting(measure, alpha, beta, temperature)] = oriented(items, scores.direction)

    seen = Seen(setup, parameter_parts(setup), see)
    rows: dict[tuple[str, str], dict[_At, _Row]] = {}
    for kind, by_family in swept.items():
        for (name, measure), by_setting in by_family.items():
            for level, coefficient in product(_LEVELS, COEFFICIENTS):
                found = _chosen(by_setting, measure, human[kind], level, coefficient, setup)
                if found is not None:
                    rows.setdefault((name, measure), {})[_At(kind, level, coefficient)] = found
    order = [_At(*at) for at in product(KINDS, _LEVELS, COEFFICIENTS)]
    grid = _grid(rows, order, setup)
    settings = {
        "sizes": {kind: list(ratings.shape) for kind, ratings in human.items()},
        "alphas": list(ALPHAS), "betas": list(BETAS), "temperatures": list(TEMPERATURES),
        "warnings": list(seen.warnings),
    }  # fmt: skip
    tables = [
        Section("chosen", grid, "Parameters chosen for each criterion on some documents, measured on others"),
        seen.table(),
    ]
    return Findings(tables, _drawn(rows), [*_verdict(rows), *seen.about_left_out()], settings)


def _chosen(
    by_setting: Mapping[str, np.ndarray],
    measure: str,
    human: np.ndarray,
    level: Any,
    coefficient: Coefficient,
    setup: Setup,
) -> _Row | None:
    def on_halves(scores: Mapping[str, np.ndarray]) -> Any:
        repeats = 2 if setup.quick else _REPEATS
        return rc.sweep(dict(scores), human, level, coefficient, folds=_FOLDS, repeats=repeats, seed=setup.seed)

    usual = _setting(measure, f"{HALF:g}", f"{HALF:g}", "1") if measure else _NONE
    try:
        outcome, alone = on_halves(by_setting), on_halves({usual: by_setting[usual]})
    except rc.InputError:  # too few documents or systems, in a quick form
        return None
    halves = alone.honest, outcome.flattered, outcome.honest
    return _Row(outcome.values[usual], outcome.chosen, outcome.optimistic, halves)


def _titled(name: str, measure: str) -> str:
    return f"{name} {measure}" if measure else name


_HEADS = [
    "systems", "level", "coefficient", "metric", "default", "best setting", "best", "default, halves",
    "best, halves", "honest, halves",
]  # fmt: skip


def _grid(rows: Mapping[tuple[str, str], Mapping[_At, _Row]], order: Sequence[_At], setup: Setup) -> rc.Table:
    lines = []
    for at in order:
        for (name, measure), by in rows.items():
            if at in by:
                row = by[at]
                numbers = [shown(row.default), row.setting, shown(row.best), *map(shown, row.halves)]
                lines.append([KINDS[at.kind], at.level, at.coefficient, _titled(name, measure), *numbers])
    caption = [
        f"Agreement with people's pyramid recall, higher is better. Default: alpha = beta = {HALF:g}, T = 1. Best: of "
        f"alpha in {_listed(ALPHAS)}, beta in {_listed(BETAS)} and T in {_listed(TEMPERATURES)} (the paper does not "
        "print its grid) the setting that agrees best on all documents, as the paper chooses. The last three columns "
        f"are means over {2 if setup.quick else _REPEATS} random halvings of the documents, each half measured in "
        "turn: of the default, of that best setting, which saw them, and of the setting chosen on the other half. "
        "Metrics without parameters have one number, on all documents and on the halves."
    ]
    return rc.Table(_HEADS, lines, caption, left=4)


def _listed(values: Sequence[float]) -> str:
    return ", ".join(f"{value:g}" for value in values)


def _verdict(rows: Mapping[tuple[str, str], Mapping[_At, _Row]]) -> list[str]:
    lines = []
    for model in dict.fromkeys(name for name, measure in rows if measure):
        own = [row for (name, measure), by in rows.items() if name == model and measure for row in by.values()]
        gained, kept = (mean(a - b for a, b in each) for each in (
            [(row.best, row.default) for row in own], [(row.halves[2], row.halves[0]) for row in own]))  # fmt: skip
        lines.append(
            f"{model}: choosing parameters for each criterion raises the agreement by {gained:.3f} on average over "
            f"{len(own)} measures and criteria; of that {kept:+.3f} is left on documents that did not help to choose."
        )
    return lines


Numbers = dict[str, dict[_At, float]]
"""By metric and criterion."""


def _numbers(tables: Tables, chosen: Chosen) -> Numbers:
    own: Numbers = {}
    kinds = {title: kind for kind, title in KINDS.items()}
    for row in tables["chosen"]:
        column = (_LIKE if row["best setting"] != _NONE else _PLAIN)[chosen]
        value = number(row[column])
        if not math.isnan(value):
            at = _At(kinds[row["systems"]], row["level"], row["coefficient"])
            own.setdefault(row["metric"], {})[at] = value
    return own


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    """Plain numbers: as the paper chooses its parameters, and honestly; one piece of evidence for each model."""
    claims = []
    for chosen, how in (
        ("same", "parameters chosen on the documents they are measured on"),
        ("other", "parameters chosen on the other half of the documents"),
    ):
        own = _numbers(tables, chosen)  # type: ignore[arg-type]
        for model in dict.fromkeys(name.split()[0] for name in own if name.startswith("infolm")):
            claims += _claims(own, model, f"REALSumm, {model}, {how}", chosen)  # type: ignore[arg-type]
    return claims


def _claims(own: Numbers, model: str, data: str, chosen: Chosen) -> list[Claim]:
    mine = {measure: own[f"{model} {measure}"] for measure in FAMILIES if f"{model} {measure}" in own}
    others = {name: by for name, by in own.items() if not name.startswith("infolm")}
    everything = [*mine.values(), *others.values()]
    criteria = [at for at in mine.get("ab", {}) if all(at in by for by in everything)]
    if set(mine) != set(FAMILIES) or not criteria or not {*_VECTORS, *_NGRAMS} <= set(others):
        return []  # an interrupted run, or one that was told to score other metrics
    middle = {at: median(by[at] for by in everything) for at in criteria}
    best = {
        name: {at: max(table[each][at] for each in names) for at in criteria}
        for name, table, names in (
            ("vectors", others, _VECTORS), ("n-grams", others, _NGRAMS), ("flat", mine, _FLAT),
            ("curved", mine, [each for each in mine if each not in _FLAT]),
        )
    }  # fmt: skip
    why = "a smaller masked language model than BERT-base; few systems"

    def ahead(one: Mapping[_At, float], other: Mapping[_At, float], at: Sequence[_At]) -> list[Verdict]:
        return [above(Estimate(round(one[each] - other[each], 6))) for each in at]

    def count(parts: Sequence[Verdict]) -> str:
        return f"{sum(part.holds == 'holds' for part in parts)} of {len(parts)} criteria"

    found: dict[str, tuple[Verdict, str]] = {}
    parts = {name: ahead(mine[name], best["vectors"], criteria) for name in ("ab", "fisher_rao")}
    found["above-bertscore"] = (
        together([*parts["ab"], *parts["fisher_rao"]]),
        f"above both: AB in {count(parts['ab'])}, Fisher-Rao in {count(parts['fisher_rao'])}",
    )
    curved = ahead(best["curved"], best["flat"], criteria)
    found["lp-poor"] = together(curved), f"the best of them is below the best of the others in {count(curved)}"
    # The paper's figure has Pearson and Kendall.
    said = [at for at in criteria if at.coefficient == "kendall" or (
        at.coefficient == "pearson" and (at.kind, at.level) != ("abs", "system"))]  # fmt: skip
    ngrams = ahead(mine["ab"], best["n-grams"], said)
    found["ab-above-ngrams"] = together(ngrams), f"AB above the best of three ROUGE in {count(ngrams)}"
    rest = {at: max(by[at] for by in everything if by is not mine["ab"]) for at in criteria}
    first = ahead(mine["ab"], rest, criteria)
    found["ab-best"] = together(first), f"AB above all other metrics in {count(first)}"
    alike = [near(Estimate(mine["ab"][at]), mine["alpha"][at]) for at in criteria]
    apart = [abs(mine["ab"][at] - mine["alpha"][at]) for at in criteria]
    found["alpha-like-ab"] = together(alike), f"apart by {mean(apart):.3f} on average, at most {max(apart):.3f}"
    lower = [part for name in ("alpha", "ab") for part in ahead(mine[name], mine["gamma"], criteria)]
    found["beta-lower"] = together(lower), f"gamma (the paper's beta) below alpha and AB in {count(lower)} (two each)"
    free = ahead(mine["fisher_rao"], middle, criteria)
    found["fisher-rao-good"] = together(free), f"above the middle of all {len(everything)} metrics in {count(free)}"
    flat = ahead(mine["linf"], middle, criteria)
    found["linf-sometimes"] = (
        above(Estimate(round(sorted(mine["linf"][at] - middle[at] for at in criteria)[-2], 6))),
        f"Linf above the middle of all {len(everything)} metrics in {count(flat)}; some settings are two at least",
    )
    rivals = {at: max(by[at] for by in others.values()) for at in criteria}
    gains = [above(Estimate(round(best["curved"][at] - rivals[at] - POINTS, 6))) for at in criteria]
    extractive = [at for at in criteria if at.kind == "ext" and at._replace(kind="abs") in criteria]
    drop = [
        above(Estimate(round(others[name][at._replace(kind="abs")] - others[name][at], 6)))
        for name in _VECTORS
        for at in extractive
    ]
    found["vectors-poor-extractive"] = (
        together(drop),
        f"BERTScore and MoverScore lower on extractive than on abstractive systems in {count(drop)} (two each)",
    )
    found = {f"figure-1/{name}": each for name, each in found.items()}
    found["abstract/gains"] = (
        together(gains),
        f"the best measure above the best of {len(others)} other metrics by more than 10 points in {count(gains)}",
    )
    return [
        Claim(f"infolm/{name}", verdict, here, data, "" if verdict.holds == "holds" else why, own=True,
              chosen=chosen)
        for name, (verdict, here) in found.items()
    ]  # fmt: skip


def _drawn(rows: Mapping[tuple[str, str], Mapping[_At, _Row]]) -> Any:
    def draw(figure: Any) -> None:
        names = list(rows)[::-1]
        figure.set_size_inches(12, max(4.0, 0.44 * len(names)))
        grid = figure.subplots(2, 4, sharey=True)
        for line, coefficient in zip(grid, ("pearson", "kendall"), strict=True):
            for axes, (kind, level) in zip(line, product(KINDS, _LEVELS), strict=True):
                at = _At(kind, level, coefficient)
                held = [rows[name].get(at) for name in names]
                places = range(len(names))
                axes.barh(places, [math.nan if each is None else each.best for each in held], color="0.8")
                for values, mark, colour, title in (
                    ([math.nan if each is None else each.default for each in held], "|", "k", "default"),
                    # Moved by what choosing on the same documents adds on the halves, to stand on the bars' scale.
                    ([math.nan if each is None else each.best - (each.halves[1] - each.halves[2]) for each in held],
                     "D", "tab:red", "honest"),
                ):  # fmt: skip
                    axes.plot(values, places, mark, color=colour, markersize=4, label=title)
                axes.set(title=f"{KINDS[kind]}, {level}", xlabel=coefficient)
                axes.set_yticks(places, [_titled(*name) for name in names], fontsize=6)
                axes.grid(axis="x", alpha=0.3)
        handles, labels = grid[0][0].get_legend_handles_labels()
        figure.legend(handles, labels, loc="outside lower center", ncols=2, fontsize=8)

    return draw


STUDY = Study(
    name="summary-parameters",
    title="Summaries: InfoLM's parameters chosen for each criterion",
    paper="InfoLM",
    reproduces="Figure 1",
    data=("realsumm",),
    run=_run,
    judge=judge,
    pools=False,
    masked=True,
    chooses=True,
    layout=LAYOUT,
    takes="3 minutes on one core, from kept scores; these took 3 minutes on one GPU with 16 cores",
)
