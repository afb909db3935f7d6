"""Which metrics say the same of summarisation systems, and which say something of their own?"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import combinations, product
from typing import Any

import numpy as np

import recapture as rc

from ..agreement import oriented, text_level
from ..cells import Tables, estimate, number
from ..item_scores import Part, Scores
from ..rated import HALF, Seen, leaders, mean, row_name, shown
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, less, near, together
from .summarisation import AUTHORS, LAYOUT, parts

PEOPLE = "people (pyramid recall)"
_KIND = "abs"
_SHOWN = {"bertscore": ("f1", "recall"), "me-words": ("petersen", "capture"), "rouge": ("rouge1", "rouge2", "rougeL")}
_STORED = ("bert_f_score", "mover_score", "rouge_2_f_score", "js-2")
_RELATED = ("alpha", "gamma", "ab", "fisher_rao")
"""Those of which the paper says r > .88; its text's beta divergence is our gamma."""
_NGRAM = ("rouge rouge1", "rouge rouge2", "rouge rougeL", "bleu", "meteor")
_BERT = "bertscore f1"
_AMONG, _WITH_OTHERS, _BERT_ROUGE = 0.88, 0.70, 0.80
_RESAMPLES = 1000
_QUICK_WORDS = 16

Pairs = Sequence[tuple[str, str]]


def summaries(setup: Setup, *kinds: str) -> Iterator[Part]:
    """The parts of REALSumm; in the quick form the beginnings of all texts, since masked language models take long."""
    for part in parts(setup):
        if kinds and part.about["kind"] not in kinds:
            continue
        if setup.quick:
            systems = {name: [_beginning(text) for text in texts] for name, texts in part.systems.items()}
            part = replace(part, references=[_beginning(text) for text in part.references], systems=systems)
        yield part


def _beginning(text: str) -> str:
    return " ".join(text.split()[:_QUICK_WORDS])


class _Map:
    """Scores of all metrics on one set of systems, higher is better: (systems,) totals and (systems, items)."""

    def __init__(self) -> None:
        self.totals: dict[str, np.ndarray] = {}
        self.items: dict[str, np.ndarray] = {}

    def add(self, name: str, totals: np.ndarray, items: np.ndarray) -> None:
        # A metric that does not tell the systems apart has no place on the map.
        if math.isfinite(rc.correlation(totals, np.arange(len(totals), dtype=np.float64))):
            self.totals[name], self.items[name] = totals, items

    def matrix(self) -> np.ndarray:
        rows = list(self.totals.values())
        return np.array([[rc.correlation(one, other) for other in rows] for one in rows])

    def mean_of(self, pairs: Pairs) -> float:
        """The mean of Pearson's r over pairs of metrics, system level."""
        return mean(rc.correlation(self.totals[one], self.totals[other]) for one, other in pairs)

    def lowest_of(self, pairs: Pairs) -> float:
        return float(min(rc.correlation(self.totals[one], self.totals[other]) for one, other in pairs))

    def text_level_of(self, pairs: Pairs) -> float:
        return mean(text_level(self.items[other], self.items[one]).value for one, other in pairs)

    def interval_of(self, pairs: Pairs, seed: int) -> tuple[float, float]:
        """95 % of the mean over pairs when systems are drawn anew."""
        count = len(self.totals[pairs[0][0]])
        drawn = np.random.default_rng(seed).integers(0, count, (_RESAMPLES, count))
        each = [rc.correlation(self.totals[one][drawn], self.totals[other][drawn], "pearson") for one, other in pairs]
        low, high = np.nanquantile(np.mean(each, axis=0), [0.025, 0.975])
        return float(low), float(high)


def _run(setup: Setup) -> Findings:
    metrics = _Map()
    sizes: list[tuple[int, int]] = []

    def see(part: Part, label: str, scores: Scores) -> None:
        if not sizes:
            human = part.human["litepyramid"]
            sizes.append(human.shape)
            metrics.add(PEOPLE, human.mean(axis=1), human)
            for stored in _STORED:
                if np.isfinite(part.human[stored]).all():
                    metrics.add(AUTHORS[stored], part.human[stored].mean(axis=1), part.human[stored])
        for output in _SHOWN.get(label, scores.totals):
            both = (oriented(each[output], scores.direction) for each in (scores.totals, scores.items))
            metrics.add(row_name(label, output), *both)

    seen = Seen(setup, summaries(setup, _KIND), see)
    names = list(metrics.totals)
    matrix = metrics.matrix()
    order = _order(matrix)
    names, matrix = [names[at] for at in order], matrix[np.ix_(order, order)]
    groups = _groups(metrics)
    systems, documents = sizes[0]
    caption = (
        f"Pearson's r between metrics over {systems} abstractive systems' mean scores of {documents} documents, higher "
        "is better on all sides; in the order of a clustering (average linkage of 1 - r)."
    )
    rows = [[name, *(shown(float(each)) for each in line)] for name, line in zip(names, matrix, strict=True)]
    tables = [
        Section("beside-the-paper", _beside(metrics, groups, setup.seed)),
        Section("system-level", rc.Table(["metric", *map(str, range(1, len(names) + 1))],
                                   [[f"{at}. {row[0]}", *row[1:]] for at, row in enumerate(rows, 1)], [caption])),
        seen.table(),
    ]  # fmt: skip

    def draw(figure: Any) -> None:
        side = max(4.5, 0.27 * len(names) + 2)
        figure.set_size_inches(side + 1, side)
        axes = figure.subplots()
        image = axes.imshow(matrix, vmin=-1, vmax=1, cmap="RdBu_r")
        for (line, column), value in np.ndenumerate(matrix):
            colour = "white" if abs(value) > 0.7 else "black"
            axes.text(column, line, f"{100 * value:.0f}", ha="center", va="center", fontsize=5, color=colour)
        axes.set_xticks(range(len(names)), names, fontsize=6.5, rotation=90)
        axes.set_yticks(range(len(names)), names, fontsize=6.5)
        axes.set_title(f"Pearson's r x 100 between metrics, {systems} abstractive systems", fontsize=9)
        figure.colorbar(image, ax=axes, shrink=0.6)

    settings = {"sizes": sizes[0], "alpha": HALF, "beta": HALF, "resamples": _RESAMPLES}
    settings["warnings"] = list(seen.warnings)
    return Findings(tables, draw, [*_verdict(metrics, names, matrix), *seen.about_left_out()], settings)


def _order(matrix: np.ndarray) -> list[int]:
    """Rows so that like stands by like."""
    from scipy.cluster.hierarchy import leaves_list, linkage
    from scipy.spatial.distance import squareform

    if len(matrix) < 3:
        return list(range(len(matrix)))
    apart = np.clip(1 - (matrix + matrix.T) / 2, 0, None)
    np.fill_diagonal(apart, 0)
    return [int(at) for at in leaves_list(linkage(squareform(apart, checks=False), "average", optimal_ordering=True))]


def _groups(metrics: _Map) -> dict[str, tuple[float | None, Pairs]]:
    """By what the paper speaks of: its number, and the pairs of metrics here."""
    groups: dict[str, tuple[float | None, Pairs]] = {}
    ngrams = _there(metrics, _NGRAM)
    rouge = [name for name in ngrams if name.startswith("rouge")]
    for model in models(metrics.totals):
        related = _there(metrics, [f"{model} {measure}" for measure in _RELATED])
        groups[f"{model}: among alpha, gamma, AB, Fisher-Rao"] = _AMONG, list(combinations(related, 2))
        groups[f"{model}: these with BERTScore"] = _WITH_OTHERS, list(product(related, _there(metrics, [_BERT])))
        stored = _there(metrics, [AUTHORS["bert_f_score"]])
        groups[f"{model}: these with authors' BERTScore"] = _WITH_OTHERS, list(product(related, stored))
        groups[f"{model}: these with n-gram metrics"] = _WITH_OTHERS, list(product(related, ngrams))
        flat = _there(metrics, [f"{model} {measure}" for measure in ("l1", "l2", "linf")])
        groups[f"{model}: these with L1, L2, Linf"] = None, list(product(related, flat))
    groups["BERTScore with ROUGE"] = _BERT_ROUGE, list(product(_there(metrics, [_BERT]), rouge))
    theirs, beside = (_there(metrics, [AUTHORS[name]]) for name in ("bert_f_score", "rouge_2_f_score"))
    groups["authors' BERTScore with authors' ROUGE-2"] = _BERT_ROUGE, list(product(theirs, beside))
    return {name: group for name, group in groups.items() if group[1]}


def models(names: Iterable[str]) -> list[str]:
    """The labels of InfoLM with one model each."""
    return list(dict.fromkeys(name.split()[0] for name in names if name.startswith("infolm")))


def _there(metrics: _Map, names: Iterable[str]) -> list[str]:
    return [name for name in names if name in metrics.totals]


def _beside(metrics: _Map, groups: Mapping[str, tuple[float | None, Pairs]], seed: int) -> rc.Table:
    heads = ["metrics", "paper", "mean r", "95 % over systems", "lowest r", "text level", "pairs"]
    rows = []
    for name, (paper, pairs) in groups.items():
        low, high = metrics.interval_of(pairs, seed)
        printed = "-" if paper is None else f"> {shown(paper)}" if paper == _AMONG else f"about {shown(paper)}"
        rows.append([name, printed, shown(metrics.mean_of(pairs)), f"{shown(low)} to {shown(high)}",
                     shown(metrics.lowest_of(pairs)), shown(metrics.text_level_of(pairs)),
                     str(len(pairs))])  # fmt: skip
    caption = (
        "mean r, lowest r: of Pearson's r over pairs of metrics, system level; the interval draws systems anew "
        f"({_RESAMPLES:,} times); text level: mean over documents of the correlation across systems, which the paper "
        "does not give. The paper's numbers are those of its text, on the same data: Figure 2 prints none."
    )
    return rc.Table(heads, rows, [caption], left=2)


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = {row["metrics"]: row for row in tables["beside-the-paper"]}
    found = {name: estimate(row["mean r"], row["95 % over systems"]) for name, row in rows.items()}
    claims = []

    def told(name: str) -> str:
        return f"{name.partition(': ')[2] or name} {rows[name]['mean r']} ({rows[name]['95 % over systems']})"

    for model in dict.fromkeys(name.partition(":")[0] for name in rows if ":" in name):
        data = f"REALSumm, {settings['sizes'][0]} abstractive systems, {model}"
        among = f"{model}: among alpha, gamma, AB, Fisher-Rao"
        if among in rows:
            lowest = Estimate(number(rows[among]["lowest r"]))
            verdict = together([above(less(found[among], _AMONG)), above(less(lowest, _AMONG))])
            claims.append(
                Claim(
                    "infolm/figure-2/among-themselves",
                    verdict,
                    f"{told(among)}, at least {rows[among]['lowest r']}",
                    data,
                    f"At alpha = beta = {HALF:g} alpha, AB and Fisher-Rao all depend on one sum, that of sqrt(p q): "
                    "they must be close",
                    own=True,
                )
            )
        others = [name for name in rows if name.startswith(f"{model}: these with") and "about" in rows[name]["paper"]]
        if others:
            verdict = together(near(found[name], _WITH_OTHERS) for name in others)
            claims.append(
                Claim(
                    "infolm/figure-2/with-others",
                    verdict,
                    "; ".join(map(told, others)),
                    data,
                    "Other models: ours have six layers, and so has BERTScore's",
                    own=True,
                )
            )
        bert, rouge = f"{model}: these with BERTScore", "BERTScore with ROUGE"
        if bert in rows and rouge in rows:
            verdict = together([above(less(found[rouge], found[bert])), near(found[rouge], _BERT_ROUGE)])
            stored = "authors' BERTScore with authors' ROUGE-2"
            here = f"{told(rouge)}; InfoLM {told(bert)}" + (f"; {told(stored)}" if stored in rows else "")
            claims.append(
                Claim(
                    "infolm/figure-2/bertscore-rouge", verdict, here, data, "Another encoder under BERTScore", own=True
                )
            )
    return claims


def _verdict(metrics: _Map, names: Sequence[str], matrix: np.ndarray) -> list[str]:
    lines = []
    nearest = []
    for model in models(names):
        name = f"{model} fisher_rao"
        if name in names:
            at = names.index(name)
            outside = {each: float(matrix[at, other]) for other, each in enumerate(names)
                       if not each.startswith("infolm") and each != PEOPLE}  # fmt: skip
            if outside:
                best, worst = max(outside, key=outside.__getitem__), min(outside, key=outside.__getitem__)
                nearest.append(
                    f"Fisher-Rao of {model} is nearest to {best} ({shown(outside[best])}) and farthest from {worst} "
                    f"({shown(outside[worst])})"
                )
    if nearest:
        lines.append(f"Outside InfoLM, {'; '.join(nearest)}.")
    if PEOPLE in names:
        row = matrix[names.index(PEOPLE)]
        near = {name: float(each) for name, each in zip(names, row, strict=True) if name != PEOPLE}
        lines.append(f"Nearest to people: {leaders(near, 3)}.")
    pair = [f"{model} fisher_rao" for model in models(names)]
    if len(pair) == 2 and all(name in names for name in pair):
        value = float(matrix[names.index(pair[0]), names.index(pair[1])])
        more = "The model matters, too" if value < _AMONG else "The model matters little"
        lines.append(f"{more}: Fisher-Rao with one shipped model against the other has r = {shown(value)}.")
    count = len(next(iter(metrics.totals.values())))
    lines.append(f"{count} systems are few: see the intervals. Signs are turned where lower is better.")
    return lines


STUDY = Study(
    name="metric-map",
    title="Metrics against metrics: which say the same of summarisation systems",
    paper="InfoLM",
    reproduces="Figure 2",
    data=("realsumm",),
    run=_run,
    judge=judge,
    pools=False,
    masked=True,
    chooses=True,
    meteor=True,
    takes="12 seconds on 2 cores, from kept scores",
    layout=LAYOUT,
)
