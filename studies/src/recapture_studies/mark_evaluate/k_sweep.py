"""Population estimates and scores for k = 1..40: where they go as k grows, and where they still tell sets apart.

Two halves of a data set that share no source are compared, with genres in shares as equal as can be, at the paper's
size or as large as the data allow (whole). Whether a k tells sets apart is seen on subsamples: of the two halves
(like), and of one half and sentences of the other data set (other), all of one size.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables
from ..cells import number as cells_number
from ..progress import progress_bar
from ..steps import steps_of
from ..study import Claim, Findings, Setup, Study
from ..verdicts import Estimate, Verdict, near, together
from .genres import BROWN, LAYOUT, XNLI, Space, data_file, levelled, load
from .k_sweep_view import (
    ESTIMATORS,
    PAPER,
    WHICH,
    Sweep,
    Swept,
    beside_table,
    best,
    contrast_table,
    drawing,
    sweep_table,
)
from .perturbed import of_paper, sized, unless

PAPER_SIZE = 10_000
_QUICK_SIZE = 120
_DRAWS = 10
_DRAWN = 1000
"""Sentences a side in subsamples, at most."""
KS = tuple(range(1, 41))
_PARTNERS = "XNLI"
"""Whose sets hold paraphrases: shown, but claims are judged without."""


def sweep(reference: np.ndarray, candidate: np.ndarray, ks: Sequence[int]) -> Sweep:
    results = rc.mark_evaluate_sweep(reference, candidate, ks)
    total = len(reference) + len(candidate)
    return {
        "estimate": {
            name: [results[k].estimates[source] / total for k in ks] for name, source in ESTIMATORS.items()
        },
        "score": {name: [results[k].values[name] for k in ks] for name in ESTIMATORS},
        "adjusted": {name: [results[k].adjusted[name] for k in ks] for name in ESTIMATORS},
    }  # fmt: skip


@dataclass(frozen=True)
class _Compared:
    """Texts of one data set: its two halves, and others."""

    title: str
    reference: Sequence[str]
    like: Sequence[str]
    other: Sequence[str]

    @property
    def drawn(self) -> int:
        return min(_DRAWN, len(self.reference) // 2, len(self.other) // 2)


def _compared(setup: Setup) -> list[_Compared]:
    xnli, single, brown = load(setup, XNLI), load(setup, XNLI, single=True), load(setup, BROWN)
    most = _QUICK_SIZE if setup.quick else PAPER_SIZE
    sides = {genres.title: levelled(genres, most) for genres in (xnli, single, brown)}
    strangers = [text for side in sides[single.title] for text in side]
    others = {xnli.title: None, single.title: None, brown.title: strangers}
    return [
        _Compared(title, reference, candidate, others[title] or sides[brown.title][1])
        for title, (reference, candidate) in sides.items()
    ]


def _run(setup: Setup) -> Findings:
    sets = _compared(setup)
    draws = 3 if setup.quick else _DRAWS
    ks = tuple(k for k in KS if k < min(each.drawn for each in sets))
    sizes = {each.title: [len(each.reference), each.drawn] for each in sets}
    settings = {"whole and drawn": sizes, "draws": draws, "ks": list(ks)}
    files = [data_file(setup, name) for name in (XNLI, BROWN)]
    steps = steps_of(setup, "k-sweep", {"revision": 2, "sizes": sizes, "ks": list(ks)}, files)
    space = Space(setup, (text for each in sets for text in each.reference))

    def swept(compared: _Compared, candidate: Sequence[str], at: int | None) -> Sweep:
        # All at once under one bar, as soon as one sweep is missing.
        space.prepare(text for one in sets for part in (one.reference, one.like, one.other) for text in part)
        rows = space.rows(compared.reference), space.rows(candidate)
        if at is not None:
            rng = np.random.default_rng([setup.seed, at])
            rows = (
                rows[0][rng.permutation(len(rows[0]))[: compared.drawn]],
                rows[1][rng.permutation(len(rows[1]))[: compared.drawn]],
            )
        return sweep(*rows, ks)

    by_data: dict[str, Swept] = {}
    with progress_bar("k-sweep", len(sets) * (1 + 2 * draws), "sweep") as progress:
        for compared in sets:
            parts: dict[str, list[Sweep]] = {}
            for which in WHICH:
                candidate = compared.other if which == "other" else compared.like
                for at in (None,) if which == "whole" else range(draws):
                    make = partial(swept, compared, candidate, at)
                    parts.setdefault(which, []).append(steps.get(f"{compared.title}, {which}, {at}", make))
                    progress.advance()
            by_data[compared.title] = Swept(parts, len(compared.reference), compared.drawn)
    return Findings(
        [beside_table(by_data, ks), sweep_table(by_data, ks, draws), contrast_table(by_data, ks, draws)],
        drawing(by_data, ks),
        _verdict(by_data, ks),
        settings,
    )


def _verdict(by_data: Mapping[str, Swept], ks: Sequence[int]) -> list[str]:
    last = ks[-1]
    lines = []
    for data, swept in by_data.items():
        ends = [
            f"{name} {swept.of('whole', 'estimate', name)[0]:.2f} to {swept.of('whole', 'estimate', name)[-1]:.3f}"
            for name in ESTIMATORS
        ]
        lines.append(
            f"{data}, {swept.size:,} v {swept.size:,} ({of_paper(swept.size, PAPER_SIZE)}): from k = 1 to {last} "
            f"estimates over the true size go from {', '.join(ends)}."
        )
    with_partners, without = by_data[_PARTNERS], by_data[f"{_PARTNERS}, no partners"]
    lines.append(
        "XNLI writes three hypotheses to a premise: in sets that hold all four the three nearest neighbours of a "
        "sentence are paraphrases, and small k see nothing else. Schnabel's quality is "
        + ", ".join(
            f"{with_partners.of('whole', 'score', 'quality')[ks.index(k)]:.2f} at k = {k}" for k in (1, 3, 5) if k in ks
        )
        + f" with partners and {without.of('whole', 'score', 'quality')[0]:.2f} at k = 1 without (in smaller sets). "
        "Claims below are judged without."
    )
    others = (
        f"{data} " + ", ".join(f"{name} {swept.of('other', 'score', name)[-1]:.3f}" for name in ESTIMATORS)
        for data, swept in by_data.items()
    )
    lines.append(
        f"That scores converge to 1 is no virtue: at k = {last} sentences of the other data set score "
        f"{'; '.join(others)}. Schnabel gives {1 - 1 / last:.3f} even to sets that never meet, CAPTURE more than .979 "
        "from k = 3 on. A large k says 1 of anything, and scores at different k cannot be compared."
    )
    for data, swept in by_data.items():
        raw = [f"{name} at {best(swept.contrast('score', name), ks)}" for name in ESTIMATORS]
        adjusted = [f"{name} at {best(swept.contrast('adjusted', name), ks)}" for name in ESTIMATORS]
        apart = []
        for name in ESTIMATORS:
            curve = swept.separation(name)
            if not np.isnan(curve).all():
                apart.append(f"{name} at {best(curve, ks)} ({np.nanmax(curve):.1f}; at k = 1 {curve[0]:.1f})")
        lines.append(
            f"{data}, contrast of like and other sets ({swept.drawn:,} v {swept.drawn:,}): raw scores are farthest "
            f"apart for {', '.join(raw)}; adjusted scores for {', '.join(adjusted)}; in standard deviations for "
            f"{', '.join(apart)}."
        )
    return lines


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    last = str(settings["ks"][-1])
    rows = [row for row in tables["sweep"] if row["data"] != _PARTNERS]

    def cells(sets: str, what: str, k: str) -> dict[str, dict[str, float]]:
        found: dict[str, dict[str, float]] = {}
        for row in rows:
            if (row["sets"], row["number"]) == (sets, what) and k in row:
                found.setdefault(row["data"], {})[row["estimator"]] = cells_number(row[k])
        return found

    def told(found: Mapping[str, Mapping[str, float]]) -> str:
        return "; ".join(
            f"{data} " + ", ".join(f"{name} {value:.3f}" for name, value in by_name.items())
            for data, by_name in found.items()
        )

    def near_all(found: Mapping[str, Mapping[str, float]], printed: float) -> Verdict:
        return together(near(Estimate(value), printed) for by_name in found.values() for value in by_name.values())

    sizes, scores = cells("whole", "estimate / true size", last), cells("whole", "score", last)
    first, other = cells("whole", "estimate / true size", "1"), cells("other", "score", last)
    high = [value >= 0.95 for by_name in other.values() for value in by_name.values()]
    whole = {name: sizes[0] for name, sizes in settings["whole and drawn"].items() if name != _PARTNERS}
    data = sized(whole, PAPER_SIZE)
    where = "mark-evaluate/figure-2"
    start = near_all(first, PAPER[1][0])
    return [
        Claim(
            f"{where}/estimates-converge",
            near_all(sizes, 1.0),
            f"estimate over true size at k = {last}: {told(sizes)}",
            data,
        ),
        Claim(
            f"{where}/scores-converge",
            near_all(scores, 1.0),
            f"scores at k = {last}: {told(scores)}; so do those of "
            f"the other data set: {sum(high)} of {len(high)} are at least .95",
            data,
        ),
        Claim(
            f"{where}/k-1",
            start,
            f"estimate over true size at k = 1: {told(first)}",
            data,
            unless(start.holds, "Other encoder and sentences"),
        ),
    ]


STUDY = Study(
    name="k-sweep",
    title="Estimates and scores for k = 1 to 40",
    paper="Mark-Evaluate",
    reproduces="Figure 2",
    data=(XNLI, BROWN),
    run=_run,
    judge=judge,
    layout=LAYOUT,
    takes="7 minutes of one core, most of it to encode 30,000 sentences",
)
