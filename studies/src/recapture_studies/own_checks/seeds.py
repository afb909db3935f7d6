"""Twenty training seeds of one model against human references, context by context."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables, estimate
from ..distribution_aware.captions import LAYOUT, data_file, load
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import above, less, together

_METRICS = (
    "trm-meteor", "trm-cider", "trm-embedding", "mmd", "frechet", "meteor", "cider", "embedding",
    "dispersion-meteor", "dispersion-embedding", "self-bleu", "distinct-1", "distinct-2",
)  # fmt: skip


def _run(setup: Setup) -> Findings:
    rows = load(data_file(setup, "e2e_dev_multi"), contexts=2, references=2, candidates=2)
    # As many references as candidates where a context has more: 20 v 20 is the largest.
    kept = [replace(row, references=row.references[:20]) for row in rows[: 10 if setup.quick else len(rows)]]
    evaluated = rc.evaluate_contexts(
        kept, _METRICS, pvalue=999, seed=setup.seed, interval=0.95, encoder=setup.encoder, resume=not setup.quick,
        **setup.encoding,
    )  # fmt: skip
    mean = {(total.metric, total.number): total.mean for total in evaluated.totals}
    tested = {total.metric: total.pvalues for total in evaluated.totals if total.pvalues}
    verdict = [
        "Told from the human references at the 5 % level: "
        + ", ".join(f"{name} in {p.below:.0%} of the contexts" for name, p in tested.items())
        + ".",
        f"The candidates repeat each other: the distance within them is {mean['dispersion-meteor', 'candidate']:.2f} "
        f"by METEOR and {mean['dispersion-embedding', 'candidate']:.2f} by embeddings, within the references "
        f"{mean['dispersion-meteor', 'reference']:.2f} and {mean['dispersion-embedding', 'reference']:.2f}. (Self-BLEU "
        "and distinct n-grams of 20 candidates and of fewer references cannot be compared: more texts repeat more.)",
    ]
    shown = ("trm-meteor", "meteor", "mmd")

    def draw(figure: Any) -> None:
        figure.set_size_inches(10, 3.5)
        for axes, name in zip(figure.subplots(1, len(shown)), shown, strict=True):
            values = [record["scores"][name]["value"] for record in evaluated.contexts if name in record["scores"]]
            axes.hist(np.array(values), bins=30)
            axes.set(title=name, xlabel="score of a context", ylabel="contexts")

    return Findings([Section("totals", evaluated.report().tables[0])], draw, verdict, evaluated.signature)


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    found: dict[str, dict[str, str]] = {}
    metric = ""
    for row in tables["totals"]:  # the name of a metric stands in its first row alone
        metric = row["metric"] or metric
        if metric.startswith("dispersion-"):
            found.setdefault(metric.removeprefix("dispersion-"), {})[row["number"]] = row["mean"]
    narrow = [above(less(estimate(by["reference"]), estimate(by["candidate"]))) for by in found.values()]
    told = ", ".join(f"{base} {by['reference']} and {by['candidate']}" for base, by in found.items())
    return [
        Claim(
            "distribution-aware/abstract/variety",
            together(narrow),
            f"distance within people's texts and within twenty seeds: {told}",
            "E2E, twenty training seeds of one model, all-MiniLM-L6-v2",
        )
    ]


STUDY = Study(
    name="seeds",
    title="Twenty seeds of one model against human references",
    paper="",
    reproduces="The set-against-set form of the distribution-aware paper on data-to-text",
    data=("e2e_dev_multi",),
    run=_run,
    judge=judge,
    layout={"e2e_dev_multi": LAYOUT["e2e_dev_multi"]},
    takes="2 minutes on 2 cores",
)
