"""Is InfoLM's agreement with people on WebNLG really above that of others? Williams' test, Holm over all of them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..rated import shown
from ..study import Claim, Holds
from ..words import short_p

_OWN = ("infolm-head fisher_rao", "infolm-mlm fisher_rao", "infolm fisher_rao", "infolm-head ab", "infolm-mlm ab")
_RIVALS = ("bertscore f1", "moverscore", "bleu", "rouge rouge1", "meteor", "ter")
_VECTORS = 2
"""Of the rivals, how many stand on vectors."""
_FEWEST = 4
_ALPHA = 0.05


def williams_findings(
    totals: Mapping[str, np.ndarray], human: Mapping[str, np.ndarray]
) -> tuple[rc.Table | None, list[Claim]]:
    """totals: by metric one number per system, higher is better; human: by criterion (systems, items)."""
    own = [name for name in _OWN if name in totals]
    rivals = [name for name in _RIVALS if name in totals]
    vectors = [name for name in rivals if name in _RIVALS[:_VECTORS]]
    lexical = [name for name in rivals if name not in vectors]
    systems = len(next(iter(human.values())))
    if not own or not rivals or systems < _FEWEST:
        return None, []
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
        return None, []
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
    infolm = [row for row in rows if row.one in own]
    claims = [
        _claim("InfoLM (Fisher-Rao, AB) agrees with people better than BERTScore, MoverScore and n-grams", "InfoLM",
               infolm, adjusted, systems),
        _claim("BERTScore and MoverScore agree with people better than n-grams", "one of the two",
               [row for row in rows if row.one not in own], adjusted, systems),
    ]  # fmt: skip
    return rc.Table(heads, lines, caption, left=3), [claim for claim in claims if claim is not None]


class _Row(NamedTuple):
    criterion: str
    one: str
    other: str
    first: float
    second: float
    test: Any


def _claim(says: str, who: str, rows: Sequence[_Row], adjusted: Mapping[_Row, float], systems: int) -> Claim | None:
    if not rows:
        return None
    above = [row for row in rows if row.first > row.second]
    wins = sum(row.test.pvalue <= _ALPHA for row in above)
    losses = sum(row.test.pvalue <= _ALPHA for row in rows if row not in above)
    sure = sum(adjusted[row] <= _ALPHA for row in rows)
    share = len(above) / len(rows)
    holds: Holds = "holds" if share > 0.9 else "holds in part" if share > 0.5 and wins > losses else "does not hold"
    return Claim(
        "Table 2, section 5.2",
        says,
        holds,
        f"{who} is above the other in {len(above)} of {len(rows)} comparisons; significantly above in {wins}, below in "
        f"{losses}; after Holm's correction {sure} differences are left",
        ""
        if holds == "holds"
        else f"other models, fixed parameters, and {systems} systems, which seldom decide such a difference",
    )
