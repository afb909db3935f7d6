"""Two sets of human sentences on one scene, and on two scenes: are p-values uniform, and are differences found?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..cells import Tables, estimate, mean_and_half, number
from ..paper import paper_numbers
from ..progress import progress_bar
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import above, no_alarm, together
from ..words import short_p
from .captions import FIGURE_3, LAYOUT, Case, Scoring, data_file, load

_A_SIDE = 5
_LEVEL = 0.05
_CHUNK = 50
_ONE, _TWO = "one scene", "two scenes"
_METRICS = (*FIGURE_3, "mauve")
_PAPER: dict[str, list[float]] = paper_numbers(__package__, "human-null")
"""Mean log p: MS-COCO, MSR-VTT."""


def _run(setup: Setup) -> Findings:
    from scipy.stats import binom, kstest

    rows = load(data_file(setup, "abstract48s"), contexts=2, references=2 * _A_SIDE)
    rng = np.random.default_rng(setup.seed)
    scenes = rows[: 40 if setup.quick else len(rows)]
    scoring = Scoring(setup, _METRICS, [row.references for row in rows])
    same, other = [], []
    for at, row in enumerate(scenes):
        texts = rng.permutation(row.references).tolist()
        parts = [texts[i : i + 2 * _A_SIDE] for i in range(0, len(texts) - 2 * _A_SIDE + 1, 2 * _A_SIDE)]
        same += parts[:1] if setup.quick else parts
        stranger = scenes[(at + 1) % len(scenes)].references
        other.append([*texts[:_A_SIDE], *rng.permutation(stranger)[:_A_SIDE].tolist()])
    steps = steps_of(setup, "human-null", {"revision": 1}, [data_file(setup, "abstract48s")])
    null, apart = (_tests(steps, scoring, groups, title) for groups, title in ((same, _ONE), (other, _TWO)))
    most = int(binom.ppf(0.999, len(same), _LEVEL))
    grid_rows, randomised = [], {}
    for name, tests in null.items():
        p, away = tests.p, apart[name].p
        # Ties broken at random: exactly uniform where nothing differs.
        even = (tests.greater + rng.random(len(p)) * tests.equal) / tests.labellings
        randomised[name] = even
        paper = _PAPER.get(name)
        grid_rows.append(
            [
                name,
                f"{np.mean(p <= _LEVEL):.2%}",
                short_p(kstest(even, "uniform").pvalue),
                f"{np.mean(np.log(p)):.3f}",
                f"{paper[0]:.3f}, {paper[1]:.3f}" if paper else "-",
                short_p(rc.harmonic_mean_p(p).corrected),
                f"{np.mean(away <= _LEVEL):.1%}",
                f"{np.mean(np.log(away)):.3f}",
            ]
        )
    heads = [
        "metric",
        "false alarms",
        "uniform?",
        "mean ln p",
        "paper",
        "HMP corrected",
        "found",
        "ln p, two scenes",
    ]
    caption = [
        f"{len(same):,} splits of one scene's sentences and {len(other):,} pairs of scenes, {_A_SIDE} v {_A_SIDE}; "
        "exact p-values.",
        f"false alarms: share of p <= {_LEVEL:g} (up to {most / len(same):.2%} is chance); uniform?: p of a "
        "Kolmogorov-Smirnov test of the p-values with ties broken at random; found: share of p <= "
        f"{_LEVEL:g} for sentences of another scene; paper: MS-COCO, MSR-VTT (Table 3).",
    ]
    alarms = {name: int(np.sum(tests.p <= _LEVEL)) for name, tests in null.items()}
    loud = [name for name, count in alarms.items() if count > most]
    weak = [name for name in apart if np.mean(apart[name].p <= _LEVEL) < 0.8]
    means = [float(np.mean(np.log(tests.p))) for tests in null.values()]
    verdict = [
        f"No metric may raise more than {_LEVEL:.0%} false alarms, whatever the data: exact p-values see to that. "
        + (f"Beyond chance are: {', '.join(loud)}." if loud else "None is beyond chance here."),
        "The paper asks that human captions not be told from human captions (its Table 3). A uniform p-value has mean "
        "ln p = -1: so do the paper's figures on MSR-VTT, to within .05, if its logarithms are natural ones. Ours are "
        f"from {min(means):.3f} to {max(means):.3f} (few partitions allow no small p, and fewer still where many tie, "
        "as MAUVE's do).",
        "Sentences of another scene are found by "
        + ("every metric" if not weak else f"all but {', '.join(weak)}")
        + f" in at least 80 % of the pairs, from {_A_SIDE} texts a side.",
    ]

    def draw(figure: Any) -> None:
        figure.set_size_inches(9, 4.5)
        left, right = figure.subplots(1, 2)
        for name, even in randomised.items():
            # Every n-th point, and one for each different p: more would fill the file, not the picture.
            shown = slice(None, None, 1 + len(even) // 250)
            left.plot(np.sort(even)[shown], ((np.arange(len(even)) + 0.5) / len(even))[shown], label=name, linewidth=1)
            away, counts = np.unique(apart[name].p, return_counts=True)
            shares = np.cumsum(counts) / counts.sum()
            right.step(np.r_[away[0], away], np.r_[0, shares], label=name, linewidth=1, where="post")
        left.plot([0, 1], [0, 1], color="0.7", linestyle=":")
        left.set(title="one scene (ties broken at random)", xlabel="p", ylabel="share of contexts at or below")
        right.set(title="two scenes", xlabel="p", xscale="log")
        right.axvline(_LEVEL, color="0.7", linestyle=":")
        right.legend(fontsize=7)

    logs = {name: np.log(tests.p) for name, tests in null.items()}
    tables = [Section("p-values", rc.Table(heads, grid_rows, caption)), _beside(logs), _ranks(logs)]
    return Findings(tables, draw, verdict, {"a side": _A_SIDE, "splits": len(same)})


class _Tests(NamedTuple):
    """Of every context: its p-value, and how many labellings lie above the observed one and as far."""

    p: np.ndarray
    greater: np.ndarray
    equal: np.ndarray
    labellings: np.ndarray


def _tests(steps: rc.Journal, scoring: Scoring, groups: list[list[str]], title: str) -> dict[str, _Tests]:
    by_metric: dict[str, list[list[float]]] = {}
    with progress_bar(title, len(groups), "context") as progress:
        for start in range(0, len(groups), _CHUNK):
            chunk = groups[start : start + _CHUNK]
            made = steps.get(f"{title} {start}", lambda chunk=chunk: _chunk(scoring, chunk))  # type: ignore[misc]
            for name, tests in made.items():
                by_metric.setdefault(name, []).extend(tests)
            progress.advance(len(chunk))
    return {name: _Tests(*np.array(tests).T) for name, tests in by_metric.items()}


def _chunk(scoring: Scoring, groups: list[list[str]]) -> dict[str, list[list[float]]]:
    scoring.prepare(groups)
    scores = scoring.scores(*Case(range(2 * _A_SIDE), _A_SIDE).sides(groups))
    return {name: [_test(context[name]) for context in scores] for name in scores[0]}


def _test(record: Mapping[str, Any]) -> list[float]:
    """p, and of how many labellings how many lie above the observed one and as far: p is the share of both."""
    as_far = round(record["pvalue"] * record["labellings"])
    return [record["pvalue"], as_far - record["tied"], record["tied"], record["labellings"]]


def _beside(logs: dict[str, np.ndarray]) -> Section:
    rows = [[name, *(f"{value:.4f}" for value in printed), f"{np.mean(logs[name]):.4f}"]
            for name, printed in _PAPER.items()]  # fmt: skip
    caption = [
        "Table 3 of the paper (10 v 10 captions; which logarithm is not said) beside our mean ln p "
        f"({_A_SIDE} v {_A_SIDE} sentences on abstract scenes). A uniform p has mean ln p = -1, log10 p = -.434."
    ]
    return Section("beside-the-paper", rc.Table(["metric", "paper: MS-COCO", "paper: MSR-VTT", "here"], rows, caption))


def _ranks(logs: dict[str, np.ndarray]) -> Section:
    rows = [[base, mean_and_half(logs[f"trm-{base}"] - logs[base])] for base in ("meteor", "cider", "embedding")]
    caption = [
        "ln p of the triangle rank less that of the average, mean over splits of one scene ± 1.96 standard errors."
    ]
    return Section("ranks-less-averages", rc.Table(["scores", "difference"], rows, caption))


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = tables["p-values"]
    quiet = [no_alarm(number(row["false alarms"]), settings["splits"], len(rows)) for row in rows]
    shares = [number(row["false alarms"]) for row in rows]
    higher = [above(estimate(row["difference"])) for row in tables["ranks-less-averages"]]
    parts = ", ".join(f"{row['scores']} {row['difference']}" for row in tables["ranks-less-averages"])
    data = "abstract scenes, all-MiniLM-L6-v2"
    return [
        Claim(
            "distribution-aware/table-3/people-and-people",
            together(quiet),
            f"p at most {_LEVEL:g} in {min(shares):.1%} to {max(shares):.1%} of {settings['splits']:,} splits, "
            f"{len(rows)} metrics",
            data,
            "exact p-values leave no other choice",
        ),
        Claim(
            "distribution-aware/table-3/ranks-higher",
            together(higher),
            f"mean ln p of the triangle rank less that of the average: {parts}",
            data,
            "p is uniform for every metric where nothing differs; what is left is how finely each can grade few "
            "partitions, and chance",
        ),
    ]


STUDY = Study(
    name="human-null",
    title="Human against human: p-values where nothing differs",
    paper="Distribution-aware metrics",
    reproduces="Table 3 (and Table 4's MAUVE)",
    data=("abstract48s",),
    run=_run,
    judge=judge,
    layout={"abstract48s": LAYOUT["abstract48s"]},
    takes="5 minutes on 2 cores, most of it for vectors",
)
