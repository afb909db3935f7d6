"""Two sets of human sentences on one scene, and on two scenes: are p-values uniform, and are differences found?"""

from __future__ import annotations

from typing import Any

import numpy as np

from ..inference.combine import harmonic_mean_p
from ..results.grid import Grid
from ..results.result import short_p
from .captions import FIGURE_3, Scoring, load, pvalues
from .study import Findings, Setup, Study, Table

_A_SIDE = 5
_LEVEL = 0.05
_METRICS = (*FIGURE_3, "mauve")
# Table 3 of the paper: mean log p of human captions against human captions (MS-COCO, MSR-VTT).
_PAPER = {
    "meteor": (-0.6303, -1.0046),
    "trm-meteor": (-0.5941, -0.9613),
    "cider": (-0.5957, -1.0224),
    "trm-cider": (-0.4742, -0.9777),
    "embedding": (-0.6230, -1.0172),
    "trm-embedding": (-0.5633, -1.040),
    "mmd": (-0.6550, -1.0374),
}


def _run(setup: Setup) -> Findings:
    from scipy.stats import binom, kstest

    folder = setup.folder("abstract48s", "contexts.jsonl.gz (id, references)")
    rows = load(folder / "contexts.jsonl.gz", contexts=2, references=2 * _A_SIDE)
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
    null = scoring.score_all(same, _A_SIDE, "one scene")
    apart = scoring.score_all(other, _A_SIDE, "two scenes")
    most = int(binom.ppf(0.999, len(same), _LEVEL))
    grid_rows, randomised = [], {}
    for name, scored in null.items():
        p, away = pvalues(scored), pvalues(apart[name])
        coins = rng.random(len(scored))
        even = np.array([each.tests["value"].randomised(coin) for each, coin in zip(scored, coins, strict=True)])
        randomised[name] = even
        paper = _PAPER.get(name)
        grid_rows.append(
            [
                name,
                f"{np.mean(p <= _LEVEL):.2%}",
                short_p(kstest(even, "uniform").pvalue),
                f"{np.mean(np.log(p)):.3f}",
                f"{paper[0]:.3f}, {paper[1]:.3f}" if paper else "-",
                short_p(harmonic_mean_p(p).corrected),
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
    alarms = {name: int(np.sum(pvalues(scored) <= _LEVEL)) for name, scored in null.items()}
    loud = [name for name, count in alarms.items() if count > most]
    weak = [name for name in apart if np.mean(pvalues(apart[name]) <= _LEVEL) < 0.8]
    verdict = [
        f"No metric may raise more than {_LEVEL:.0%} false alarms, whatever the data: exact p-values see to that. "
        + (f"Beyond chance are: {', '.join(loud)}." if loud else "None is beyond chance here."),
        "The paper asks that human captions not be told from human captions (its Table 3). A uniform p-value has mean "
        "ln p = -1: so do the paper's figures on MSR-VTT, to within .05, if its logarithms are natural ones, and so do "
        "ours (a little above, since few partitions allow no small p, and MAUVE more so, where so many tie).",
        "Sentences of another scene are found by "
        + ("every metric" if not weak else f"all but {', '.join(weak)}")
        + f" in at least 80 % of the pairs, from {_A_SIDE} texts a side.",
    ]

    def draw(figure: Any) -> None:
        figure.set_size_inches(9, 4.5)
        left, right = figure.subplots(1, 2)
        for name, even in randomised.items():
            left.plot(np.sort(even), (np.arange(len(even)) + 0.5) / len(even), label=name, linewidth=1)
            away = np.sort(pvalues(apart[name]))
            right.step(away, (np.arange(len(away)) + 1) / len(away), label=name, linewidth=1, where="post")
        left.plot([0, 1], [0, 1], color="0.7", linestyle=":")
        left.set(title="one scene (ties broken at random)", xlabel="p", ylabel="share of contexts at or below")
        right.set(title="two scenes", xlabel="p", xscale="log")
        right.axvline(_LEVEL, color="0.7", linestyle=":")
        right.legend(fontsize=7)

    return Findings([Table("p-values", Grid(heads, grid_rows, caption))], draw, verdict, {"a side": _A_SIDE})


STUDY = Study(
    name="human-null",
    title="Human against human: p-values where nothing differs",
    paper="Distribution-aware metrics",
    reproduces="Table 3 (and Table 4's MAUVE)",
    data=("abstract48s",),
    run=_run,
)
