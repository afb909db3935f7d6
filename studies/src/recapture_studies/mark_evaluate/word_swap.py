"""Word swap: words of candidate sentences change places with a rising probability.

The paper swaps the words of each sentence with a certain probability, after Semeniuta et al. (2018), and says no more.
Here each place of a sentence in turn changes, with that probability, its word (what spaces part, punctuation included)
with that of another place of the same sentence drawn at random. At 0 nothing moves, at 1 the order is close to random;
the words stay the same. One draw of chances and places serves all probabilities: a place that changes at .1 changes at
.2 as well.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

import recapture as rc

from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from .genres import LAYOUT, XNLI, balanced, balanced_size, data_file, load
from .perturbed import JOBS, STEADY, Draw, Track, every, run_draws, unless
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
        _claims(by_name),
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


def _claims(by_name: Mapping[str, Track]) -> list[Claim]:
    def moves(*names: str) -> str:
        ends = ((name, by_name[name].mean[0], by_name[name].mean[-1]) for name in names)
        return "; ".join(f"{name} {number(first)} to {number(last)}" for name, first, last in ends)

    def does(move: str, *names: str) -> list[bool]:
        return [by_name[name].does(move) for name in names]

    other = "Other encoder, trained to forgive wording; smaller sets"
    schnabel = every(does("falls", "ME Schnabel quality") + does("stays", "ME Schnabel diversity"))
    single = every(does("falls", "ME Petersen", "ME CAPTURE", "Fréchet"))
    recalls = every(does("falls", "IMPAR recall", "PRD recall (F8)"))
    precision = by_name["IMPAR precision"]
    middle = len(precision.mean) // 2
    early, late = precision.change(0, middle), precision.change(middle)
    flat = every([abs(late) < abs(early), abs(late) <= STEADY])
    asked = [track for track in by_name.values() if track.curve.asks != "diversity"]
    noticed = [track.curve.name for track in asked if track.seen() == "falls"]
    varied = every(track.seen() == "falls" for track in asked)
    return [
        Claim("Figure 4, section 4.2", "ME Schnabel's quality falls and its diversity stays", schnabel,
              moves("ME Schnabel quality", "ME Schnabel diversity"), unless(schnabel, other)),
        Claim("Figure 4, section 4.2", "ME Petersen, ME CAPTURE and FID get worse", single,
              moves("ME Petersen", "ME CAPTURE", "Fréchet"), unless(single, other)),
        Claim("Figure 4, section 4.2", "PRD's and IMPAR's recall fall, which is wrong: no topic is lost", recalls,
              moves("IMPAR recall", "PRD recall (F8)"), unless(recalls, other)),
        Claim("Figure 4, section 4.2", "IMPAR's precision hardly falls at high swap probabilities", flat,
              f"{early:+.3f} in the first half of the steps, {late:+.3f} in the second", unless(flat, other)),
        Claim("Section 4.2", "BERT's sentence vectors let all methods see the loss, where InferSent's did not", varied,
              f"{len(noticed)} of {len(asked)} numbers for quality or both fall: {', '.join(noticed) or 'none'}",
              unless(varied, other)),
    ]  # fmt: skip


STUDY = Study(
    name="word-swap",
    title="Word swap: words of candidate sentences change places",
    paper="Mark-Evaluate",
    reproduces="Figure 4",
    data=(XNLI,),
    run=_run,
    layout={XNLI: LAYOUT[XNLI]},
    takes="3 minutes on 2 cores, most of it to encode 12,000 sentences",
)
