"""Which k serves word-level Mark-Evaluate best on WMT 2017, and how much of that is luck.

The paper raises k until the correlation with people drops, and reports the best: people's scores are in view, so the
figure is optimistic. The honest one for a language pair takes the k that is best on the mean of the other pairs.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import recapture as rc

from ..cells import known, number
from ..item_scores import Task
from ..rated import mean, shown
from ..study import Chosen, Claim
from ..verdicts import Estimate, above, together

KS = (1, 2, 3, 4, 5)
SWEPT = {
    "me-words capture": "CAPTURE",
    "me-words petersen": "Petersen",
    "me-words quality": "Schnabel, quality",
    "me-words diversity": "Schnabel, diversity",
    "pr-words precision": "improved precision",
}

ByK = Mapping[int, Mapping[str, float]]
"""By k and language pair: the correlation with people."""


def sweep_tasks(layers: int) -> list[Task]:
    """k = 1 is among the study's own metrics."""
    return [
        Task(metric, f"{metric}-k{k}", {"k": k, "layers": layers})
        for k in KS[1:]
        for metric in ("me-words", "pr-words")
    ]


def until_it_drops(values: Sequence[float]) -> int:
    """The place of the last value before the first that is lower than the one before it."""
    for place in range(1, len(values)):
        if not values[place] >= values[place - 1]:
            return place - 1
    return len(values) - 1


def sweep_table(by_estimator: Mapping[str, ByK], pairs: Sequence[str]) -> rc.Table:
    """For each estimator the mean at every k, the paper's way of choosing, and the honest one."""
    lines = []
    for name, title in SWEPT.items():
        by_k = by_estimator.get(name)
        if not by_k:
            continue
        means = [mean(by_k[k].get(pair, math.nan) for pair in pairs) for k in KS]
        lines.append([title, *map(shown, means), shown(best_k(by_k, pairs)), shown(honest_k(by_k, pairs))])
    caption = [
        f"System level, text as stored, mean Pearson over {', '.join(pairs)}. Best k: for each language pair k is "
        "raised until the correlation drops, as in the paper, with people's scores in view. Honest: for each language "
        "pair the k that is best on the mean of the others. A dash: at that k all systems of a pair score alike."
    ]
    return rc.Table(["estimator", *(f"k = {k}" for k in KS), "best k", "honest k"], lines, caption)


def best_k(by_k: ByK, pairs: Sequence[str], ks: Sequence[int] = KS) -> float:
    at_best = []
    for pair in pairs:
        values = [by_k[k].get(pair, math.nan) for k in ks]
        at_best.append(values[until_it_drops(values)])
    return mean(at_best)


def honest_k(by_k: ByK, pairs: Sequence[str], ks: Sequence[int] = KS) -> float:
    at_chosen = []
    for pair in pairs:
        others = [other for other in pairs if other != pair]
        means = {k: mean(by_k[k].get(other, math.nan) for other in others) for k in ks}
        chosen = max(ks, key=lambda k: -math.inf if math.isnan(means[k]) else means[k])
        at_chosen.append(by_k[chosen].get(pair, math.nan))
    return mean(at_chosen)


def sweep_claims(rows: Sequence[Mapping[str, str]]) -> list[Claim]:
    """rows: of the table of k."""
    usable = [row for row in rows if row["estimator"] != SWEPT["pr-words precision"]]
    usable = [row for row in usable if known(number(row[head]) for head in ("k = 1", "best k", "honest k"))]
    if not usable:
        return []
    pieces: list[tuple[str, Chosen, str]] = [
        ("best k", "same", "k chosen for each language pair on its own ratings"),
        ("honest k", "other", "k chosen for each language pair on the others"),
    ]
    first = [
        row
        for row in usable
        if number(row["k = 1"])
        >= max(number(cell) for head, cell in row.items() if head.startswith("k = ") and known([number(cell)]))
    ]
    claims = []
    for head, chosen, how in pieces:
        gains = {row["estimator"]: number(row[head]) - number(row["k = 1"]) for row in usable}
        verdict = together(above(Estimate(round(gain, 6))) for gain in gains.values())
        told = ", ".join(f"{name} {gain:+.3f}" for name, gain in gains.items())
        why = f"for {len(first)} of {len(usable)} estimators k = 1 is the best on the mean of the pairs"
        claims.append(
            Claim(
                "mark-evaluate/table-2/choosing-k",
                verdict,
                told,
                f"WMT 2017, all-MiniLM-L6-v2, {how}",
                "" if verdict.holds == "holds" else why,
                own=True,
                chosen=chosen,
            )
        )
    return claims
