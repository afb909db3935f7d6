"""Tables and figure of the fluency study."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import recapture as rc

from ..agreement import Coefficient
from ..rated import shown
from .e2e_ratings import CRITERIA, Rated
from .fluency_paper import BEST_K, DEFAULT_K
from .fluency_scores import METHODS, Sizes

COEFFICIENTS: tuple[Coefficient, ...] = ("pearson", "kendall", "spearman")
"""In the paper's order."""


@dataclass(frozen=True)
class Agreement:
    """One method with one criterion, over systems."""

    default: Mapping[str, float]
    """By coefficient."""
    low: float
    high: float
    """95 % of Pearson's r when systems are drawn anew."""
    best: Mapping[str, float]
    """At the setting for which Pearson's r is highest."""
    setting: int | None
    on_halves: float
    """Mean of Pearson's r over halves of the systems, default setting."""
    honest: float
    """The same with the setting that the other half asks for."""
    curve: Mapping[int | None, float]


Found = Mapping[tuple[str, str, str], Mapping[str, Agreement]]
"""By encoder, form and criterion; then by method."""


def _three(values: Sequence[float] | Mapping[str, float]) -> str:
    listed = [values[each] for each in COEFFICIENTS] if isinstance(values, Mapping) else values
    return ", ".join(map(shown, listed))


def beside_the_paper(natural: Mapping[str, Agreement], rated: Rated, main: str) -> rc.Table:
    heads = ["method", "paper, best K", "here, best k", "paper, default K: InferSent", "sSBERT", "SBERT",
             "here, default k"]  # fmt: skip
    rows = []
    for name, best in BEST_K.items():
        own = natural[name]
        printed = [_three(by[name]) if name in by else "-" for by in DEFAULT_K.values()]
        rows.append([name, _three(best), _three(own.best), *printed, _three(own.default)])
    caption = [
        "Pearson, Kendall, Spearman. Paper (Tables 1 and 4; absolute values): fluency of 10 generators, SBERT. Here: "
        f"naturalness of {len(rated.outputs)} generators, {main}, {len(rated.references)} outputs against as many "
        "references (signs turned where lower is better, so that a number below 0 is a disagreement). Precision is the "
        "paper's IMPAR; best k: the highest Pearson on the same ratings, as in the paper."
    ]
    return rc.Table(heads, rows, caption, left=7)


def by_method(by: Mapping[str, Agreement], rated: Rated, main: str, criterion: str, sizes: Sizes) -> rc.Table:
    heads = ["method", "r", "95 % over systems", "tau", "rho", "best k", "r at best k", "halves: default k",
             "halves: k of the other half"]  # fmt: skip
    rows = []
    for name, own in by.items():
        swept = len(own.curve) > 1
        numbers = [shown(own.default["pearson"]), f"{shown(own.low)} to {shown(own.high)}"]
        numbers += [shown(own.default["kendall"]), shown(own.default["spearman"])]
        numbers += [str(own.setting) if swept else "-", shown(own.best["pearson"]) if swept else "-"]
        numbers += [shown(own.on_halves), shown(own.honest) if swept else "-"]
        rows.append([name, *numbers])
    caption = [
        f"Agreement with people's {criterion} (share of comparisons won) over {len(rated.outputs)} systems, default "
        f"settings; {main}; means over {sizes.draws} draws of one reference for each of {len(rated.references)} inputs "
        "(cross-entropy and BLEU: all references). Best k: of "
        f"{sizes.ks[0]} to {sizes.ks[-1]}, for PRD of {', '.join(map(str, sizes.clusters))} clusters. Halves: means of "
        "Pearson's r over random splits of the systems, at the default, and with the k that is best for "
        "the other half: what choosing is worth on systems that did not help to choose."
    ]
    return rc.Table(heads, rows, caption)


def over_encoders(agreements: Found, labels: Sequence[str]) -> rc.Table:
    """A column for each encoder and criterion; empty where an encoder is not here."""
    heads = ["method", *(f"{label}: {criterion}" for criterion in CRITERIA for label in labels)]

    def cell(label: str, criterion: str, method: str) -> str:
        found = agreements.get((label, "drawn", criterion))
        return "-" if found is None else shown(found[method].default["pearson"])

    rows = [
        [method.name, *(cell(label, criterion, method.name) for criterion in CRITERIA for label in labels)]
        for method in METHODS
    ]
    caption = ["Pearson's r with people at default settings, by encoder."]
    missing = [label for label in labels if (label, "drawn", CRITERIA[0]) not in agreements]
    if missing:
        caption.append(
            f"{', '.join(missing)}: cannot be told, the weights are not here (training/recurrent.py makes them; "
            "RECAPTURE_MODELS names the folder they are in)."
        )
    return rc.Table(heads, rows, caption)


def over_sizes(agreements: Found, main: str, rated: Rated, sizes: Sizes) -> rc.Table:
    every, few = sum(map(len, rated.references)), len(rated.references)
    forms = {"drawn": f"{few} references", "all": f"all {every:,} references"}
    heads = ["method", *(f"{criterion}: {words}" for criterion in CRITERIA for words in forms.values())]
    rows = [
        [method.name, *(shown(agreements[main, form, criterion][method.name].default["pearson"])
                        for criterion in CRITERIA for form in forms)]
        for method in METHODS
    ]  # fmt: skip
    caption = f"Pearson's r with people at default settings, {main}: sets of equal size ({sizes.draws} draws) or not."
    return rc.Table(heads, rows, [caption])


def ratings(rated: Rated, bleu: np.ndarray) -> rc.Table:
    heads = ["system", *(each for name in CRITERIA for each in (f"{name}: won", "comparisons")), "BLEU"]
    rows = []
    for at in np.argsort(-rated.won["naturalness"], kind="stable"):
        cells = [each for name in CRITERIA
                 for each in (shown(float(rated.won[name][at])), f"{int(rated.compared[name][at]):,}")]  # fmt: skip
        rows.append([list(rated.outputs)[at], *cells, f"{100 * bleu[at]:.1f}"])
    caption = (
        "Share of comparisons within judgements that a system won, ties half: magnitude estimates have no common "
        "scale. BLEU: lower-cased, all references."
    )
    return rc.Table(heads, rows, [caption])


def drawer(natural: Mapping[str, Agreement], main: str) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        figure.set_size_inches(11, 4.8)
        left, right = figure.subplots(1, 2)
        names = list(natural)[::-1]
        for at, name in enumerate(names):
            own = natural[name]
            left.plot([own.low, own.high], [at, at], color="0.7", linewidth=3, zorder=1)
            left.plot(own.default["pearson"], at, "o", color="C0", label="default k" if not at else None)
            if len(own.curve) > 1:
                left.plot(own.best["pearson"], at, "|", color="C3", markersize=12, label=None)
            if name in BEST_K:
                left.plot(BEST_K[name][0], at, "x", color="0.3", label=None)
        for marker, colour, label in (("|", "C3", "best k"), ("x", "0.3", "paper: best K, other data")):
            left.plot([], [], marker, color=colour, label=label)
        left.set_yticks(range(len(names)), names, fontsize=8)
        left.set(title=f"Pearson's r with naturalness, {main}", xlabel="r (bar: 95 % over systems)")
        left.axvline(0, color="0.8", linewidth=0.8)
        left.legend(fontsize=7, loc="upper center", bbox_to_anchor=(0.5, -0.13), ncol=3)
        for name, own in natural.items():
            if len(own.curve) > 1 and not name.startswith("PRD"):
                right.plot(list(own.curve), list(own.curve.values()), marker=".", label=name)
        right.set(title="by neighbourhood size", xlabel="k", ylabel="r")
        right.grid(alpha=0.3)
        right.legend(fontsize=7)

    return draw
