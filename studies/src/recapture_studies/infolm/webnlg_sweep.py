"""InfoLM's free parameters on WebNLG: what choosing them with people's scores in view gains, and what is left of it.

The paper optimises alpha, beta and temperature for each criterion. Here the same over a small grid, and beside it the
honest figure: chosen on four fifths of the items, measured on the last fifth, in turn.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import product

import numpy as np

import recapture as rc

from ..agreement import oriented
from ..cells import number
from ..item_scores import Scores, Task
from ..models import MASKED_MODELS
from ..rated import mean, shown
from ..study import Chosen, Claim, Setup
from ..verdicts import Estimate, above, together

ALPHAS, BETAS, TEMPERATURES = (0.25, 0.5, 0.75), (0.25, 0.5, 1.0), (0.5, 1.0, 2.0)
FAMILIES = {"ab": "AB (alpha, beta, T)", "alpha": "alpha (alpha, T)", "fisher_rao": "Fisher-Rao (T)"}
_FOLDS, _REPEATS = 5, 10

Swept = dict[str, dict[str, np.ndarray]]
"""By measure and setting: (systems, items), higher is better."""


def sweep_tasks(setup: Setup) -> list[Task]:
    model = setup.model or MASKED_MODELS[0]
    grid = [(0.5, 0.5)] if setup.quick else list(product(ALPHAS, BETAS))
    return [
        Task(
            "infolm",
            f"infolm-sweep-{alpha:g}-{beta:g}",
            {
                "measure": list(FAMILIES),
                "alpha": alpha,
                "beta": beta,
                "temperature": list(TEMPERATURES),
                "model": model,
            },
        )
        for alpha, beta in grid
    ]


def note_sweep(swept: Swept, label: str, scores: Scores) -> None:
    alpha, beta = label.split("-")[-2:]
    for output, items in scores.items.items():
        measure, _, temperature = output.partition("@")
        free = {"ab": f"alpha {alpha}, beta {beta}, ", "alpha": f"alpha {alpha}, ", "fisher_rao": ""}[measure]
        swept.setdefault(measure, {})[f"{free}T {temperature or '1'}"] = oriented(items, scores.direction)


def sweep_table(swept: Swept, human: Mapping[str, np.ndarray], seed: int) -> rc.Table:
    lines = []
    for measure, title in FAMILIES.items():
        by_setting = swept.get(measure, {})
        for criterion, ratings in human.items():
            if len(by_setting) < 2:
                continue
            try:
                outcome = rc.sweep(by_setting, ratings, folds=_FOLDS, repeats=_REPEATS, seed=seed)
            except rc.InputError:  # too few items or systems, in a quick form
                continue
            usual = next(setting for setting in by_setting if setting in _DEFAULTS)
            # With nothing to choose from, the honest figure is the setting's own on the same folds.
            alone = rc.sweep({usual: by_setting[usual]}, ratings, folds=_FOLDS, repeats=_REPEATS, seed=seed).honest
            whole = [shown(outcome.values[usual]), outcome.chosen, shown(outcome.optimistic)]
            lines.append([title, criterion, *whole, *map(shown, (alone, outcome.flattered, outcome.honest))])
    caption = [
        f"System level, Pearson. Default: alpha = beta = 1/2, T = 1. Best: of {len(swept.get('ab', {}))} settings for "
        f"AB, {len(swept.get('alpha', {}))} for alpha and {len(swept.get('fisher_rao', {}))} for Fisher-Rao the one "
        "that agrees best with people on all items, as the paper chooses. The last three columns are means over "
        f"{_REPEATS} x {_FOLDS} held-out fifths of the items: of the default, of that best setting, which saw them, "
        "and of the setting chosen without them."
    ]
    heads = [
        "measure",
        "criterion",
        "default",
        "best setting",
        "best",
        "default, fifths",
        "best, fifths",
        "honest, fifths",
    ]
    return rc.Table(heads, lines, caption, left=2)


_DEFAULTS = ("alpha 0.5, beta 0.5, T 1", "alpha 0.5, T 1", "T 1")


def sweep_claims(rows: Sequence[Mapping[str, str]]) -> list[Claim]:
    """rows: of the table of free parameters; as the paper chooses them, and honestly."""
    pieces: list[tuple[str, str, Chosen, str]] = [
        ("best", "default", "same", "chosen on the ratings they are measured on"),
        ("honest, fifths", "default, fifths", "other", "chosen on four fifths of the items, measured on the last"),
    ]
    claims = []
    for head, usual, chosen, how in pieces if rows else []:
        gains = [number(row[head]) - number(row[usual]) for row in rows]
        verdict = together(above(Estimate(round(gain, 6))) for gain in gains)
        why = "the best of many settings is best by chance, too, and chance does not come again"
        claims.append(
            Claim(
                "infolm/table-2/choosing-parameters",
                verdict,
                f"against the default {mean(gains):+.3f} on average, from {min(gains):+.3f} to {max(gains):+.3f} "
                f"({len(rows)} measures and criteria)",
                f"WebNLG 2020, {how}",
                "" if verdict.holds == "holds" else why,
                own=True,
                chosen=chosen,
            )
        )
    return claims
