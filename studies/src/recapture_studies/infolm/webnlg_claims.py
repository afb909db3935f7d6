"""What the InfoLM paper says of its Table 2 beyond one metric against another, judged from the table of systems."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from ..agreement import COEFFICIENTS, Coefficient
from ..cells import number
from ..rated import HALF, mean
from ..study import Claim
from ..verdicts import Estimate, Verdict, above, near, together
from .webnlg_paper import CRITERIA

_RIVALS = ("bertscore f1", "moverscore", "bleu", "rouge rouge1", "meteor", "ter")
_BEST, _ALIKE, _CONTENT = ("ab", "alpha"), ("Fluency", "TextStructure"), ("Correctness", "DataCoverage", "Relevance")
_FLAT = ("l1", "l2", "linf")
_CURVED = ("ab", "alpha", "gamma", "jeffreys", "fisher_rao")
POINTS = 0.1
"""The gain of which the paper's abstract speaks."""

At = tuple[str, Coefficient]
"""Criterion and coefficient."""


def table_claims(rows: Sequence[Mapping[str, str]]) -> list[Claim]:
    """rows: of the table of correlations at the system level; one piece of evidence for each masked language model."""
    own = {
        row["metric"]: {(criterion, each): number(row[f"{criterion} {each[0]}"])
                        for criterion in CRITERIA for each in COEFFICIENTS}
        for row in rows
    }  # fmt: skip
    rivals = {name: own[name] for name in _RIVALS if name in own}
    models = dict.fromkeys(name.split()[0] for name in own if name.startswith("infolm"))
    if set(rivals) != set(_RIVALS):
        return []
    gaps = [near(Estimate(by["Fluency", each]), by["TextStructure", each]) for by in own.values()
            for each in COEFFICIENTS]  # fmt: skip
    apart = [abs(by["Fluency", each] - by["TextStructure", each]) for by in own.values() for each in COEFFICIENTS]
    alike = Claim(
        "infolm/table-2/fluency-structure-alike",
        together(gaps),
        f"apart by {mean(apart):.3f} on average, at most {max(apart):.3f}, over {len(own)} metrics and 3 coefficients",
        "WebNLG 2020, all metrics",
        own=True,
    )
    return [alike, *(claim for model in models for claim in _of_model(own, rivals, model))]


def _of_model(
    own: Mapping[str, Mapping[At, float]], rivals: Mapping[str, Mapping[At, float]], model: str
) -> list[Claim]:
    mine = {name: own[f"{model} {name}"] for name in (*_FLAT, *_CURVED) if f"{model} {name}" in own}
    if set(mine) != {*_FLAT, *_CURVED}:
        return []
    why = f"its parameters were chosen for each criterion, ours are alpha = beta = {HALF:g}, T = 1; another model"

    def places(criteria: Sequence[str]) -> list[At]:
        return [(criterion, each) for criterion in criteria for each in COEFFICIENTS]

    def ahead(one: Mapping[At, float], others: Sequence[Mapping[At, float]], at: Sequence[At]) -> list[Verdict]:
        """Above the best of the others, place by place."""
        return [above(Estimate(round(one[each] - max(other[each] for other in others), 6))) for each in at]

    def best(of: Sequence[str]) -> dict[At, float]:
        return {at: max(mine[name][at] for name in of) for at in places(CRITERIA)}

    def count(parts: Sequence[Verdict]) -> str:
        return f"{sum(part.holds == 'holds' for part in parts)} of {len(parts)}"

    rest = [*rivals.values(), *(by for name, by in mine.items() if name not in _BEST)]
    first = [part for name in _BEST for part in ahead(mine[name], rest, places(_CONTENT))]
    coverage = ahead(best(_CURVED), list(rivals.values()), places(["DataCoverage"]))
    largest = max(best(_CURVED)[at] - max(by[at] for by in rivals.values()) for at in places(["DataCoverage"]))
    fluent = ahead(mine["fisher_rao"], [rivals["bertscore f1"]], places(_ALIKE))
    low = ahead(best(_CURVED), [best(_FLAT)], places(CRITERIA))
    beta = [part for name in _BEST for part in ahead(mine[name], [mine["gamma"]], places(CRITERIA))]
    gains = [
        above(Estimate(round(best(_CURVED)[at] - max(by[at] for by in rivals.values()) - POINTS, 6)))
        for at in places(CRITERIA)
    ]
    cells = "by criterion and coefficient"
    found = {
        "table-2/ab-alpha-best": (together(first), f"above all others in {count(first)} (each {cells})"),
        "table-2/data-coverage-gain": (
            together(coverage),
            f"the best measure above the best other in {count(coverage)} coefficients, by at most "
            f"{100 * largest:.0f} points",
        ),
        "table-2/fisher-rao-fluency": (together(fluent), f"above BERTScore in {count(fluent)} ({cells})"),
        "table-2/lp-low": (together(low), f"the best of L1, L2, Linf below the best of the others in {count(low)}"),
        "table-2/beta-lower": (together(beta), f"gamma below alpha and AB in {count(beta)} (each {cells})"),
        "abstract/gains": (
            together(gains),
            f"the best measure above the best other by more than 10 points in {count(gains)} ({cells})",
        ),
    }
    return [
        Claim(
            f"infolm/{place}", verdict, here, f"WebNLG 2020, {model}", "" if verdict.holds == "holds" else why, own=True
        )
        for place, (verdict, here) in found.items()
    ]
