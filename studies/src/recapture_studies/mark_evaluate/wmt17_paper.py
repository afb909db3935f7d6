"""What the Mark-Evaluate paper prints for WMT 2017, Pearson correlations of systems' scores with people's, and what
follows when ours stand beside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

import recapture as rc

from ..rated import leaders, mean, ranked, shown
from ..study import Claim

FIVE = ("cs-en", "de-en", "ru-en", "tr-en", "zh-en")
"""The language pairs of the paper; the data has fi-en and lv-en besides."""
FORMS = ("stored", "cleaned")

Found = dict[str, dict[str, float]]
"""By metric and language pair."""
Means = Mapping[tuple[str, str], Mapping[str, float]]
"""By level and form of the texts, then by metric."""


def _row(*numbers: float) -> dict[str, float]:
    return dict(zip(FIVE, numbers, strict=True))


BEST_K = {
    "me-words capture": _row(0.987, 0.953, 0.908, 0.959, 0.936),
    "me-words petersen": _row(0.988, 0.953, 0.908, 0.960, 0.936),
    "me-words quality": _row(0.989, 0.944, 0.902, 0.970, 0.957),
    "pr-words precision": _row(0.987, 0.934, 0.896, 0.959, 0.933),
    "prd-words f1_8": _row(0.992, 0.769, 0.933, 0.935, 0.889),
    "bertscore f1": _row(0.966, 0.859, 0.868, 0.938, 0.894),
    "moverscore": _row(0.983, 0.920, 0.921, 0.931, 0.943),
}
"""Table 2."""

DEFAULT_K = {
    "me-words capture": _row(0.971, 0.953, 0.897, 0.929, 0.936),
    "me-words petersen": _row(0.970, 0.953, 0.895, 0.917, 0.936),
    "me-words quality": _row(0.975, 0.940, 0.887, 0.917, 0.957),
    "pr-words precision": _row(0.981, 0.934, 0.888, 0.941, 0.895),
    "prd-words f1_8": _row(0.992, 0.769, 0.933, 0.935, 0.889),
}
"""Table 6."""

SEPARATE = {
    "me-words capture": 0.963,
    "me-words petersen": 0.958,
    "me-words quality": 0.951,
    "me-words diversity": 0.960,
}
"""Another implementation with all-MiniLM-L6-v2, K = 1, text as stored: mean over five language pairs."""


def beside(found: Mapping[tuple[str, str], Found], means: Means, pairs: Sequence[str]) -> rc.Table:
    lines = []
    for name in BEST_K:
        for form in FORMS:
            by = found["system", form].get(name)
            if by:
                cells = [by.get(pair, math.nan) for pair in pairs]
                lines.append([name, f"here, {form}", *map(shown, cells), shown(means["system", form][name])])
        if name in SEPARATE and tuple(pairs) == FIVE:
            lines.append([name, "separate program", *("-" for _ in pairs), shown(SEPARATE[name])])
        for title, paper in (("paper, best K", BEST_K), ("paper, K by default", DEFAULT_K)):
            if name in paper:
                cells = [paper[name].get(pair, math.nan) for pair in pairs]
                lines.append([name, title, *map(shown, cells), shown(paper_mean(paper, name, pairs))])
    caption = [
        "System level. Paper: Mark-Evaluate, Tables 2 and 6, word vectors of BERT-base trained on MNLI, best K chosen "
        "with the human scores in view; here K is 1. Separate program: another implementation with the encoder used "
        "here by default, texts as stored, K = 1, mean of five language pairs."
    ]
    return rc.Table(["metric", "source", *pairs, "mean"], lines, caption, left=2)


def paper_mean(table: Mapping[str, Mapping[str, float]], name: str, pairs: Sequence[str]) -> float:
    return mean(table.get(name, {}).get(pair, math.nan) for pair in pairs)


def verdict(means: Means, counted: Sequence[str]) -> list[str]:
    stored, cleaned = means["system", "stored"], means["system", "cleaned"]
    lines = [
        f"Systems, mean Pearson over {', '.join(counted)}: text as stored, best are {leaders(stored)}; cleaned, "
        f"{leaders(cleaned)}."
    ]
    pieces = []
    for name in ("me-words capture", "me-words petersen", "me-words quality", "me-words diversity"):
        if name in stored:
            others = [f"separate program {shown(SEPARATE[name])}"] if tuple(counted) == FIVE else []
            if name in DEFAULT_K:
                best, default = (shown(paper_mean(table, name, counted)) for table in (BEST_K, DEFAULT_K))
                others.append(f"paper {best} with the best K, {default} by default")
            pieces.append(f"{name} {shown(stored[name])}" + (f" ({'; '.join(others)})" if others else ""))
    if pieces:
        lines.append(
            f"Mark-Evaluate of words, text as stored: {', '.join(pieces)}. The paper's encoder is BERT-base trained on "
            "MNLI, ours another and smaller one, so numbers need not be equal; those of the separate program "
            "should be, where the encoder is the default one and all segments are used."
        )
        rivals = [name for name in ("bertscore f1", "moverscore", "pr-words precision") if name in stored]
        beaten = [name for name in rivals if max(stored[each] for each in stored if each.startswith("me-words"))
                  > stored[name]]  # fmt: skip
        rest = [name for name in rivals if name not in beaten]
        lines.append(
            "The paper finds its best estimator above BERTScore, MoverScore and improved precision. Here the best is "
            + (f"above {', '.join(beaten)}" if beaten else "above none of them")
            + (f", not above {', '.join(rest)}." if rest else ".")
        )
    gains = {name: cleaned[name] - value for name, value in stored.items() if name in cleaned}
    if ranked(gains):
        up, down = ranked(gains)[0], ranked(gains)[-1]
        lines.append(
            f"Cleaning the texts moves the mean by {gains[down]:+.3f} ({down}) to {gains[up]:+.3f} ({up}), "
            f"in the middle {float(np.nanmedian(list(gains.values()))):+.3f}."
        )
    models = dict.fromkeys(name.split()[0] for name in stored if name.startswith("infolm"))
    if models:
        of = {model: {name: value for name, value in stored.items() if name.split()[0] == model} for model in models}
        lines.append(
            "InfoLM (not tried on translations in its paper), text as stored: "
            + "; ".join(f"{model} best with {leaders(by, 3)}, least with {ranked(by)[-1].split()[1]} "
                        f"{shown(by[ranked(by)[-1]])}" for model, by in of.items() if ranked(by))
            + "."
        )  # fmt: skip
    segments = means["segment", "stored"]
    if segments:
        lines.append(
            f"Single translations: text as stored, best are {leaders(segments)}; cleaned, "
            f"{leaders(means['segment', 'cleaned'])}."
        )
    return lines


def word_claims(means: Means, counted: Sequence[str]) -> list[Claim]:
    """Of the text as stored, k = 1."""
    stored = {name: value for name, value in means["system", "stored"].items() if not math.isnan(value)}
    ours = {name: stored[name] for name in SEPARATE if name in stored}
    rivals = ("bertscore f1", "moverscore", "pr-words precision", "prd-words f1_8")
    theirs = {name: stored[name] for name in rivals if name in stored}
    if not ours or not theirs:
        return []
    printed = ("me-words capture", "me-words petersen", "me-words quality")  # what the paper has numbers for
    told = ", ".join(f"{name} {shown(value)}" for name, value in {**ours, **theirs}.items())
    wins = sum(stored[name] > value for name in printed if name in stored for value in theirs.values())
    pairs = sum(name in stored for name in printed) * len(theirs)
    closest = min(abs(stored[name] - value) for name in printed if name in stored for value in theirs.values())
    reached = [name for name in printed if name in stored and stored[name] >= paper_mean(DEFAULT_K, name, counted)]
    return [
        Claim(
            "Table 2",
            "over five language pairs Mark-Evaluate of words (.949 to .952 with the best K) agrees with people better "
            "than BERTScore (.905), MoverScore (.940), improved precision (.942) and PRD (.904)",
            "holds" if wins == pairs else "holds in part" if wins > pairs / 2 else "does not hold",
            f"of {pairs} comparisons of its three estimators with the four others {wins} go its way; mean Pearson over "
            f"{', '.join(counted)} at k = 1: {told}",
            f"the closest differ by {closest:.3f}, which 4 to 16 systems a pair cannot decide",
        ),
        Claim(
            "Table 6",
            "at the default K the estimators reach .934 to .937",
            "holds" if len(reached) == 3 else "holds in part" if reached else "does not hold",
            ", ".join(f"{name} {stored[name]:.4f}" for name in printed if name in stored),
            "another encoder: BERT-base trained on MNLI there",
        ),
    ]
