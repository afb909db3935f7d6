"""Word swap: words of candidate sentences change places with a rising probability.

The paper swaps the words of each sentence with a certain probability, after Semeniuta et al. (2018), and says no more.
Here each place of a sentence in turn changes, with that probability, its word (what spaces part, punctuation included)
with that of another place of the same sentence drawn at random. At 0 nothing moves, at 1 the order is close to random;
the words stay the same. One draw of chances and places serves all probabilities: a place that changes at .1 changes at
.2 as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables
from ..cells import number as cell
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, Verdict, above, absent, moves, of_spread, stays, together
from .genres import LAYOUT, XNLI, balanced, balanced_size, data_file, load
from .perturbed import JOBS, Draw, Track, run_draws, unless
from .perturbed_view import RULE, curves_table, doubles, draw_panels, number, pairs_of, strongest

PROBABILITIES = tuple(at / 10 for at in range(11))
_FOLDS = 5
_SIZE = 250
_QUICK_PROBABILITIES = (0.0, 0.3, 0.6, 1.0)
_QUICK_SIZE = 60
_EXPECTED = {"quality": "falls", "diversity": "stays", "both": "falls"}


def swapped(text: str, probability: float, seed: Sequence[int]) -> str:
    """The sentence with words that changed places; the same seed at a higher probability changes more of them."""
    words = text.split()
    if len(words) < 2 or probability == 0:
        return text
    rng = np.random.default_rng(seed)
    chance, shift = rng.random(len(words)), rng.integers(1, len(words), len(words))
    for at in np.flatnonzero(chance < probability).tolist():
        other = (at + int(shift[at])) % len(words)
        words[at], words[other] = words[other], words[at]
    return " ".join(words)


def _run(setup: Setup) -> Findings:
    # Partners in one set would move apart as their words are swapped, and spheres would grow for that alone.
    genres = load(setup, XNLI, single=True)
    folds, size = (2, _QUICK_SIZE) if setup.quick else (_FOLDS, _SIZE)
    probabilities = _QUICK_PROBABILITIES if setup.quick else PROBABILITIES
    size = balanced_size([genres.reference, genres.candidate], folds * size) // folds
    settings = {
        "probabilities": list(probabilities),
        "folds": folds,
        "size": size,
        "methods": {key: list(job) for key, job in JOBS.items()},
    }
    references, candidates = (
        # Every so-manieth sentence, so that each fold has all genres.
        [balanced(side, folds * size)[fold::folds] for fold in range(folds)]
        for side in (genres.reference, genres.candidate)
    )
    draws = [
        Draw(reference, [[swapped(text, p, [setup.seed, fold, at]) for at, text in enumerate(candidate)]
                         for p in probabilities])
        for fold, (reference, candidate) in enumerate(zip(references, candidates, strict=True))
    ]  # fmt: skip
    steps = steps_of(setup, "word-swap", {"revision": 1, **settings}, [data_file(setup, XNLI)])
    heads = [f"{p:g}" for p in probabilities]
    by_name = run_draws(setup, steps, draws, heads, "word swap")
    moved = [
        np.mean(
            [text != was for each in draws for text, was in zip(each.candidates[at], each.candidates[0], strict=True)]
        )
        for at in range(len(probabilities))
    ]
    about = (
        f"Means over {folds} folds by swap probability; the spread over folds (standard deviation, mean over steps)."
        f" {genres.title}: {size} v {size} sentences a fold, no sentence in two folds, all genres in equal shares. "
        "Sentences that differ from what was written: "
        + ", ".join(f"{share:.0%} at {p:g}" for p, share in zip(probabilities, moved, strict=True))
        + ". At k = 1 Schnabel's floor is 0, so that adjusted and raw scores agree."
    )
    by_data = {genres.title: by_name}
    return Findings(
        [_summary(by_name), curves_table(by_data, {genres.title: heads}, about)],
        draw_panels(by_data, {genres.title: probabilities}, "swap probability"),
        _verdict(by_name, folds),
        settings,
    )


def _summary(by_name: Mapping[str, Track]) -> Section:
    heads = ["method", "number", "expected", "seen", "as expected", "as written", "swapped", "change", "its spread"]
    heads += ["change in spreads", "Spearman"]
    rows = []
    for track in by_name.values():
        change, spread = track.change(), track.change_spread()
        rows.append([
            track.curve.panel, track.curve.number or "-", _EXPECTED[track.curve.asks], track.seen(),
            "yes" if track.does(_EXPECTED[track.curve.asks]) else "no",
            number(track.mean[0]), number(track.mean[-1]), number(change), number(spread),
            f"{change / spread:.1f}" if spread else "-", f"{track.spearman():.2f}",
        ])  # fmt: skip
    return Section("summary", rc.Table(heads, rows, [RULE], left=5))


def _verdict(by_name: Mapping[str, Track], folds: int) -> list[str]:
    right = [track.curve.name for track in by_name.values() if track.does(_EXPECTED[track.curve.asks])]
    lines = [
        f"{len(right)} of {len(by_name)} numbers do what the paper expects (quality falls, diversity stays, single "
        f"numbers get worse): {', '.join(right) or 'none'}.",
        f"From written order to a random one quality and diversity move by {pairs_of(by_name)}.",
        f"Beside their spread over folds these numbers get worse most (in spreads): {strongest(by_name.values(), 4)}. "
        f"From {folds} folds the spread itself is a rough guess.",
    ]
    right_way = [panel for panel, (quality, diversity) in doubles(by_name).items() if quality < min(diversity, 0)]
    lines.append(
        "Quality falls, and by more than diversity, for "
        + (", ".join(right_way) or "none of the methods that tell the two apart")
        + "."
    )
    precision, recall = by_name["IMPAR precision"], by_name["IMPAR recall"]
    if precision.does("stays") and recall.does("falls"):
        lines.append(
            f"Swapped sentences stay inside the references' spheres (precision {precision.mean[0]:.2f} to "
            f"{precision.mean[-1]:.2f}) but reach fewer references (recall {recall.mean[0]:.2f} to "
            f"{recall.mean[-1]:.2f}): this encoder moves them together rather than out of the set, so that a loss of "
            "order looks like a loss of variety."
        )
    return lines


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = {f"{row['method']} {row['number']}".removesuffix(" -"): row for row in tables["summary"]}

    def change(name: str) -> Estimate:
        return of_spread(cell(rows[name]["change"]), cell(rows[name]["its spread"]), settings["folds"])

    def worse(name: str) -> Verdict:
        return moves(change(name), cell(rows[name]["Spearman"]), up=name in ("Fréchet", "MMD"))

    def told(*names: str) -> str:
        return "; ".join(
            f"{name} {rows[name]['as written']} to {rows[name]['swapped']} (change {rows[name]['change']} ± "
            f"{rows[name]['its spread']} over folds)"
            for name in names
        )

    steps = [f"{p:g}" for p in settings["probabilities"]]
    precision = next(row for row in tables["curves"] if (row["method"], row["number"]) == ("IMPAR", "precision"))
    early, late = (
        cell(precision[steps[to]]) - cell(precision[steps[at]])
        for at, to in ((0, len(steps) // 2), (len(steps) // 2, -1))
    )
    asked = [name for name, row in rows.items() if row["expected"] == "falls"]
    noticed = [name for name in asked if worse(name).holds == "holds"]
    data = "XNLI without partners, all-MiniLM-L6-v2"
    other = "Other encoder, trained to forgive wording; smaller sets"
    both = ("ME Schnabel quality", "ME Schnabel diversity")
    single, recalls = ("ME Petersen", "ME CAPTURE", "Fréchet"), ("IMPAR recall", "PRD recall (F8)")
    found = {
        "schnabel": (together([worse(both[0]), stays(change(both[1]))]), told(*both)),
        "single-numbers": (together(map(worse, single)), told(*single)),
        "recalls": (together(map(worse, recalls)), told(*recalls)),
        "precision-flat": (
            together([stays(Estimate(late)), above(Estimate(abs(early) - abs(late)))]),
            f"{early:+.3f} in the first half of the steps, {late:+.3f} in the second",
        ),
    }
    return [
        *(
            Claim(f"mark-evaluate/figure-4/{name}", verdict, here, data, unless(verdict.holds, other))
            for name, (verdict, here) in found.items()
        ),
        Claim(
            "mark-evaluate/section-4.2/bert-not-infersent",
            absent("the paper's BERT and InferSent sentence vectors"),
            f"with the encoder here {len(noticed)} of {len(asked)} numbers for quality or both fall: "
            f"{', '.join(noticed) or 'none'}",
            data,
        ),
    ]


STUDY = Study(
    name="word-swap",
    title="Word swap: words of candidate sentences change places",
    paper="Mark-Evaluate",
    reproduces="Figure 4",
    data=(XNLI,),
    run=_run,
    judge=judge,
    layout={XNLI: LAYOUT[XNLI]},
    takes="3 minutes on 2 cores, most of it to encode 12,000 sentences",
)
