"""Two equal sets: do the estimators return the 1 that the paper's theorems promise, however large the sets are?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables, number
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, together

_SIZES, _KS = (10, 30, 100, 300, 1000), (1, 2, 3, 5)
_DIMENSIONS, _DRAWS = 16, 5
_THEOREMS = {
    "theorem-a.1/petersen": ("petersen",),
    "theorem-a.2/schnabel": ("quality", "diversity"),
    "theorem-a.3/capture": ("capture",),
}
_OUTPUTS = tuple(output for outputs in _THEOREMS.values() for output in outputs)
_ONE = 0.99995
"""The least number that is printed as 1."""


def _run(setup: Setup) -> Findings:
    found: dict[tuple[int, int], dict[str, float]] = {}
    for size in _SIZES[:2] if setup.quick else _SIZES:
        rng = np.random.default_rng(setup.seed)
        sets = [rng.standard_normal((size, _DIMENSIONS)) for _ in range(_DRAWS)]
        for k in _KS:
            scores = [rc.mark_evaluate(points, points, k=k).values for points in sets]
            found[size, k] = {name: min(float(each[name]) for each in scores) for name in _OUTPUTS}
    rows = [[str(size), str(k), *(f"{by[name]:.4f}" for name in _OUTPUTS)] for (size, k), by in found.items()]
    caption = [
        f"Scores of a set against itself, the least of {_DRAWS} draws: points of {_DIMENSIONS} independent normal "
        "coordinates."
    ]
    table = rc.Table(["samples", "k", *_OUTPUTS], rows, caption, left=2)
    lowest = {name: min(by[name] for by in found.values()) for name in _OUTPUTS}
    verdict = [
        "A set against itself, least score over all sizes and k: "
        + ", ".join(f"{name} {value:.4f}" for name, value in lowest.items())
        + ". The paper proves Theorem A.3 by an example of ten samples with K = 1."
    ]

    def draw(figure: Any) -> None:
        figure.set_size_inches(7, 4)
        axes = figure.subplots()
        sizes = sorted({size for size, _ in found})
        for k in _KS:
            axes.plot(sizes, [found[size, k]["capture"] for size in sizes], marker="o", label=f"CAPTURE, k = {k}")
        others = [min(found[size, k][name] for k in _KS for name in _OUTPUTS[:-1]) for size in sizes]
        axes.plot(sizes, others, "k--", label="Petersen and Schnabel, the least")
        axes.set(xscale="log", xlabel="samples on either side", ylabel="score of a set against itself")
        axes.legend(fontsize=8)

    return Findings([Section("equal-sets", table)], draw, verdict, {"dimensions": _DIMENSIONS, "draws": _DRAWS})


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = tables["equal-sets"]
    claims = []
    for theorem, outputs in _THEOREMS.items():
        least = {name: min(number(row[name]) for row in rows) for name in outputs}
        verdict = together(above(Estimate(round(number(row[name]) - _ONE, 6))) for row in rows for name in outputs)
        claims.append(
            Claim(
                f"mark-evaluate/{theorem}",
                verdict,
                f"the least over {len(rows)} sizes and k: "
                + ", ".join(f"{name} {value:.4f}" for name, value in least.items()),
                "points drawn at random, 10 to 1,000 on either side, k from 1 to 5; 1 as printed with four digits",
                ""
                if verdict.holds == "holds"
                else "the proof looks at ten samples and K = 1; in larger sets the most likely size is a little above "
                "the true one",
            )
        )
    return claims


STUDY = Study(
    name="equal-sets",
    title="A set against itself",
    paper="Mark-Evaluate",
    reproduces="Theorems A.1, A.2 and A.3",
    data=(),
    run=_run,
    judge=judge,
    encodes=False,
    takes="a few seconds",
)
