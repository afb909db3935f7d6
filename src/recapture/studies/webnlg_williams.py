"""Is InfoLM's agreement with people on WebNLG really above that of others? Williams' test, Holm over all of them."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from ..agreement.coefficients import correlation
from ..agreement.williams import williams_test
from ..inference.combine import holm
from ..results.grid import Grid
from ..results.result import short_p
from .rated import shown
from .study import Claim

_OWN = ("infolm-head fisher_rao", "infolm-mlm fisher_rao", "infolm fisher_rao", "infolm-head ab", "infolm-mlm ab")
_RIVALS = ("bertscore f1", "moverscore", "bleu", "rouge rouge1", "meteor", "ter")
_FEWEST = 4
_ALPHA = 0.05


def williams_findings(
    totals: Mapping[str, np.ndarray], human: Mapping[str, np.ndarray]
) -> tuple[Grid | None, list[Claim]]:
    """totals: by metric one number per system, higher is better; human: by criterion (systems, items)."""
    own = [name for name in _OWN if name in totals]
    rivals = [name for name in _RIVALS if name in totals]
    systems = len(next(iter(human.values())))
    if not own or not rivals or systems < _FEWEST:
        return None, []
    rows, pvalues = [], []
    for criterion, ratings in human.items():
        people = np.nanmean(ratings, axis=1)
        for name in own:
            for rival in rivals:
                ours, theirs = (correlation(people, totals[each]) for each in (name, rival))
                between = correlation(totals[name], totals[rival])
                if np.isnan([ours, theirs, between]).any():
                    continue
                found = williams_test(ours, theirs, between, systems, "two-sided")
                rows.append((criterion, name, rival, ours, theirs, float(found.statistic)))
                pvalues.append(float(found.pvalue))
    if not rows:
        return None, []
    adjusted = np.asarray(holm(pvalues))
    lines = [
        [criterion, name, rival, shown(ours), shown(theirs), f"{statistic:.2f}", short_p(p), short_p(float(q))]
        for (criterion, name, rival, ours, theirs, statistic), p, q in zip(rows, pvalues, adjusted, strict=True)
    ]
    caption = [
        f"Williams' test, two-sided, of Pearson correlations with people over {systems} systems; "
        f"Holm's correction over the {len(rows)} tests of this table."
    ]
    heads = ["criterion", "InfoLM", "other", "r, InfoLM", "r, other", "t", "p", "p, Holm"]
    better = sum(row[3] > row[4] for row in rows)
    alone = sum(p <= _ALPHA and row[3] > row[4] for row, p in zip(rows, pvalues, strict=True))
    sure = sum(q <= _ALPHA and row[3] > row[4] for row, q in zip(rows, adjusted, strict=True))
    claim = Claim(
        "Table 2, section 5.2",
        "InfoLM (Fisher-Rao, AB) agrees with people better than BERTScore and MoverScore, these better than n-grams",
        "holds" if better == len(rows) and sure else "holds in part" if better > len(rows) / 2 else "does not hold",
        f"InfoLM is above the other in {better} of {len(rows)} comparisons, significantly in {alone}, after Holm's "
        f"correction in {sure}",
        "another, smaller model with fixed parameters; and 16 systems seldom decide such differences",
    )
    return Grid(heads, lines, caption, left=3), [claim]
