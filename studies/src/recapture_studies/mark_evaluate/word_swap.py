"""Word swap: words of candidate sentences change places with a rising probability.

The paper swaps the words of each sentence with a certain probability, after Semeniuta et al. (2018), and says no more.
Here each place of a sentence in turn changes, with that probability, its word (what spaces part, punctuation included)
with that of another place of the same sentence drawn at random. At 0 nothing moves, at 1 the order is close to random;
the words stay the same. One draw of chances and places serves all probabilities: a place that changes at .1 changes at
.2 as well.

The paper has 10,000 v 10,000 sentences. The Brown corpus holds that many, and is measured once at five probabilities;
XNLI, with one sentence a premise, is measured at more of them in small sets that tell how much is chance.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables
from ..cells import number as cell
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, Verdict, above, absent, moves, of_spread, stays, together
from .genres import BROWN, LAYOUT, XNLI, data_file, levelled, load
from .perturbed import JOBS, Draw, Track, of_paper, run_draws, sized, unless
from .perturbed_view import RULE, curves_table, doubles, draw_panels, number, pairs_of, strongest

PAPER_SIZE = 10_000
PROBABILITIES = tuple(at / 10 for at in range(11))
_EXPECTED = {"quality": "falls", "diversity": "stays", "both": "falls"}


@dataclass(frozen=True)
class _Form:
    """How a data set is measured."""

    data: str
    folds: int
    size: int
    probabilities: Sequence[float]


_FULL = (_Form(XNLI, 5, 250, PROBABILITIES), _Form(BROWN, 1, PAPER_SIZE, (0.0, 0.2, 0.5, 0.8, 1.0)))
_QUICK = (_Form(XNLI, 2, 60, (0.0, 0.3, 0.6, 1.0)), _Form(BROWN, 1, 120, (0.0, 0.3, 1.0)))


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
    methods = {key: list(job) for key, job in JOBS.items()}
    by_data: dict[str, dict[str, Track]] = {}
    settings: dict[str, dict[str, Any]] = {"probabilities": {}, "folds": {}, "size": {}}
    notes = []
    for form in _QUICK if setup.quick else _FULL:
        # Partners in one set would move apart as their words are swapped, and spheres would grow for that alone.
        genres = load(setup, form.data, single=form.data == XNLI)
        references, candidates = levelled(genres, form.folds * form.size)
        size = len(references) // form.folds
        draws = [
            # Every so-manieth sentence, so that each fold has all genres.
            _draw(
                references[fold :: form.folds][:size], candidates[fold :: form.folds][:size], form, [setup.seed, fold]
            )
            for fold in range(form.folds)
        ]
        own = {"probabilities": list(form.probabilities), "folds": form.folds, "size": size, "methods": methods}
        path = data_file(setup, form.data)
        steps = steps_of(setup, f"word-swap-{form.data.partition('_')[0]}", {"revision": 2, **own}, [path])
        heads = [f"{p:g}" for p in form.probabilities]
        by_data[genres.title] = run_draws(setup, steps, draws, heads, f"word swap, {genres.title}")
        for name, by_title in settings.items():
            by_title[genres.title] = own[name]
        notes.append(
            f"{genres.title}: {form.folds} fold{'s' * (form.folds > 1)} of {size:,} v {size:,} sentences "
            f"({of_paper(size, PAPER_SIZE)}); sentences that differ from what was written: "
            + ", ".join(f"{share:.0%} at {p}" for p, share in zip(heads, _moved(draws), strict=True))
        )
    about = (
        "Means over folds by swap probability; the spread over folds (standard deviation, mean over steps), none where "
        f"there is one. {'. '.join(notes)}. No sentence is in two folds; genres in shares as equal as can be. "
        "At k = 1 Schnabel's floor is 0, so that adjusted and raw scores agree."
    )
    steps_of_data = {title: [f"{p:g}" for p in found] for title, found in settings["probabilities"].items()}
    return Findings(
        [_summary(by_data), curves_table(by_data, steps_of_data, about)],
        draw_panels(by_data, settings["probabilities"], "swap probability"),
        [line for title, by_name in by_data.items() for line in _verdict(by_name, title, settings)],
        {**settings, "methods": methods},
    )


def _draw(reference: Sequence[str], candidate: Sequence[str], form: _Form, seed: Sequence[int]) -> Draw:
    return Draw(
        reference,
        [[swapped(text, p, [*seed, at]) for at, text in enumerate(candidate)] for p in form.probabilities],
    )


def _moved(draws: Sequence[Draw]) -> list[float]:
    """The share of sentences that differ from what was written, by step."""
    pairs = (
        [text != was for each in draws for text, was in zip(each.candidates[at], each.candidates[0], strict=True)]
        for at in range(len(draws[0].candidates))
    )
    return [float(np.mean(changed)) for changed in pairs]


def _summary(by_data: Mapping[str, Mapping[str, Track]]) -> Section:
    heads = ["data", "method", "number", "expected", "seen", "as expected", "as written", "swapped", "change"]
    heads += ["its spread", "change in spreads", "Spearman"]
    rows = []
    for data, by_name in by_data.items():
        for track in by_name.values():
            several = len(track.values) > 1
            change, spread = track.change(), track.change_spread() if several else math.nan
            rows.append([
                data, track.curve.panel, track.curve.number or "-", _EXPECTED[track.curve.asks], track.seen(),
                "yes" if track.does(_EXPECTED[track.curve.asks]) else "no",
                number(track.mean[0]), number(track.mean[-1]), number(change), number(spread),
                f"{change / spread:.1f}" if several and spread else "-", f"{track.spearman():.2f}",
            ])  # fmt: skip
    return Section("summary", rc.Table(heads, rows, [RULE], left=6))


def _verdict(by_name: Mapping[str, Track], title: str, settings: Mapping[str, Mapping[str, Any]]) -> list[str]:
    right = [track.curve.name for track in by_name.values() if track.does(_EXPECTED[track.curve.asks])]
    size, folds = settings["size"][title], settings["folds"][title]
    lines = [
        f"{title}, {size:,} v {size:,} sentences ({of_paper(size, PAPER_SIZE)}): {len(right)} of {len(by_name)} "
        "numbers do what the paper expects (quality falls, diversity stays, single numbers get worse): "
        f"{', '.join(right) or 'none'}.",
        f"From written order to a random one quality and diversity move by {pairs_of(by_name)}.",
    ]
    if folds > 1:
        lines.append(
            "Beside their spread over folds these numbers get worse most (in spreads): "
            f"{strongest(by_name.values(), 4)}. From {folds} folds the spread itself is a rough guess."
        )
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
    rows: dict[str, dict[str, dict[str, str]]] = {}
    for row in tables["summary"]:
        rows.setdefault(row["data"], {})[f"{row['method']} {row['number']}".removesuffix(" -")] = dict(row)

    def change(data: str, name: str) -> Estimate:
        row = rows[data][name]
        return of_spread(cell(row["change"]), cell(row["its spread"]), settings["folds"][data])

    def worse(data: str, name: str) -> Verdict:
        return moves(change(data, name), cell(rows[data][name]["Spearman"]), up=name in ("Fréchet", "MMD"))

    def told(*names: str) -> str:
        return "; ".join(
            f"{name} "
            + ", ".join(
                f"{data} {row['as written']} to {row['swapped']} (change {row['change']}"
                + (f" ± {row['its spread']} over folds)" if settings["folds"][data] > 1 else ", one draw)")
                for data in rows
                for row in [rows[data][name]]
            )
            for name in names
        )

    halves = {}
    for row in tables["curves"]:
        if (row["method"], row["number"]) == ("IMPAR", "precision"):
            steps = [f"{p:g}" for p in settings["probabilities"][row["data"]]]
            middle = len(steps) // 2
            halves[row["data"]] = (
                cell(row[steps[middle]]) - cell(row[steps[0]]),
                cell(row[steps[-1]]) - cell(row[steps[middle]]),
            )
    asked = [name for name, row in next(iter(rows.values())).items() if row["expected"] == "falls"]
    noticed = {data: [name for name in asked if worse(data, name).holds == "holds"] for data in rows}
    data = sized(settings["size"], PAPER_SIZE)
    other = "Other encoder, trained to forgive wording"
    quality, diversity = "ME Schnabel quality", "ME Schnabel diversity"
    single, recalls = ("ME Petersen", "ME CAPTURE", "Fréchet"), ("IMPAR recall", "PRD recall (F8)")
    found = {
        "schnabel": (
            together(part for name in rows for part in (worse(name, quality), stays(change(name, diversity)))),
            told(quality, diversity),
        ),
        "single-numbers": (together(worse(name, each) for name in rows for each in single), told(*single)),
        "recalls": (together(worse(name, each) for name in rows for each in recalls), told(*recalls)),
        "precision-flat": (
            together(
                part
                for early, late in halves.values()
                for part in (stays(Estimate(late)), above(Estimate(abs(early) - abs(late))))
            ),
            "; ".join(
                f"{name} {early:+.3f} in the first half of the steps, {late:+.3f} in the second"
                for name, (early, late) in halves.items()
            ),
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
            "with the encoder here numbers for quality or both fall: "
            + "; ".join(
                f"{name} {len(found_there)} of {len(asked)} ({', '.join(found_there) or 'none'})"
                for name, found_there in noticed.items()
            ),
            data,
        ),
    ]


STUDY = Study(
    name="word-swap",
    title="Word swap: words of candidate sentences change places",
    paper="Mark-Evaluate",
    reproduces="Figure 4",
    data=(XNLI, BROWN),
    run=_run,
    judge=judge,
    layout=LAYOUT,
    takes="15 minutes of one core, most of it to encode 70,000 sentences; 11 where k-sweep has run before",
)
