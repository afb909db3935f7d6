"""Is InfoLM's agreement with people on WebNLG really above that of others? Williams' test, Holm over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..cells import number
from ..rated import shown
from ..study import Claim
from ..verdicts import LEVEL, Estimate, above, together
from ..words import short_p

_OWN = ("infolm-head fisher_rao", "infolm-mlm fisher_rao", "infolm fisher_rao", "infolm-head ab", "infolm-mlm ab")
_RIVALS = ("bertscore f1", "moverscore", "bleu", "rouge rouge1", "meteor", "ter")
_VECTORS = 2
"""Of the rivals, how many stand on vectors."""
_FEWEST = 4


def williams_table(totals: Mapping[str, np.ndarray], human: Mapping[str, np.ndarray]) -> rc.Table | None:
    """totals: by metric one number per system, higher is better; human: by criterion (systems, items)."""
    own = [name for name in _OWN if name in totals]
    rivals = [name for name in _RIVALS if name in totals]
    vectors = [name for name in rivals if name in _RIVALS[:_VECTORS]]
    lexical = [name for name in rivals if name not in vectors]
    systems = len(next(iter(human.values())))
    if not own or not rivals or systems < _FEWEST:
        return None
    rows = []
    for criterion, ratings in human.items():
        people = np.nanmean(ratings, axis=1)
        for one, other in [*product(own, rivals), *product(vectors, lexical)]:
            first, second = (rc.correlation(people, totals[each]) for each in (one, other))
            between = rc.correlation(totals[one], totals[other])
            if not np.isnan([first, second, between]).any():
                rows.append(_Row(criterion, one, other, first, second,
                                 rc.williams_test(first, second, between, systems, "two-sided")))  # fmt: skip
    if not rows:
        return None
    adjusted = dict(zip(rows, map(float, rc.holm([row.test.pvalue for row in rows])), strict=True))
    lines = [
        [row.criterion, row.one, row.other, shown(row.first), shown(row.second), f"{row.test.statistic:.2f}",
         short_p(float(row.test.pvalue)), short_p(adjusted[row])]
        for row in rows
    ]  # fmt: skip
    caption = [
        f"Williams' test, two-sided, of Pearson correlations with people over {systems} systems; "
        f"Holm's correction over the {len(rows)} tests of this table."
    ]
    heads = ["criterion", "one", "other", "r, one", "r, other", "t", "p", "p, Holm"]
    return rc.Table(heads, lines, caption, left=3)


class _Row(NamedTuple):
    criterion: str
    one: str
    other: str
    first: float
    second: float
    test: Any


def williams_claims(rows: Sequence[Mapping[str, str]]) -> list[Claim]:
    """rows: of the table; one piece of evidence for each masked language model."""
    sides: dict[tuple[str, str], list[Mapping[str, str]]] = {}
    for row in rows:
        model = row["one"].split()[0] if row["one"].startswith("infolm") else ""
        place = "infolm-above-others" if model else "vectors-above-ngrams"
        sides.setdefault((place, model or "all-MiniLM-L6-v2"), []).append(row)
    claims = []
    for (place, model), of in sides.items():
        gaps = [Estimate(number(row["r, one"]) - number(row["r, other"]), p=number(row["p"])) for row in of]
        verdict = together(map(above, gaps))
        sure = sum(number(row["p, Holm"]) <= LEVEL for row in of)
        claims.append(
            Claim(
                f"infolm/table-2/{place}",
                verdict,
                f"above in {sum(gap.value > 0 for gap in gaps)} of {len(gaps)} comparisons (Williams' test: "
                f"{verdict.because}); after Holm's correction {sure} differences are left",
                f"WebNLG 2020, {model}",
                ""
                if verdict.holds == "holds"
                else "other models, fixed parameters, and few systems, which seldom decide such a difference",
                own=True,
            )
        )
    return claims
