"""What the Mark-Evaluate paper prints for WMT 2017, Pearson correlations of systems' scores with people's, and what
follows when ours stand beside."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

import recapture as rc

from ..paper import paper_numbers
from ..rated import leaders, mean, ranked, shown
from ..spread import spreads
from ..study import Claim
from ..verdicts import Estimate, Verdict, above, near, over, together

FIVE: tuple[str, ...] = tuple(paper_numbers(__package__, "wmt17-pairs"))
"""The language pairs of the paper; the data has fi-en and lv-en besides."""
FORMS = ("stored", "cleaned")
ByPair = Mapping[str, Mapping[str, float]]

Found = dict[str, dict[str, float]]
"""By metric and language pair."""
Means = Mapping[tuple[str, str], Mapping[str, float]]
"""By level and form of the texts, then by metric."""


def _by_pair(table: str) -> dict[str, dict[str, float]]:
    return {name: dict(zip(FIVE, row, strict=True)) for name, row in paper_numbers(__package__, table).items()}


BEST_K = _by_pair("wmt17-best-k")
DEFAULT_K = _by_pair("wmt17-default-k")
AT_PAPERS = {
    "bertscore f1": ("bertscore-fifth-last f1", "fifth layer from the end"),
    "pr-words precision": ("pr-words-k3 precision", "k = 3"),
    "prd-words f1_8": ("prd-words-all f1_8", "all segments"),
}
"""By row of the study, the row at the paper's own setting, and that setting."""
SEPARATE: dict[str, float] = paper_numbers(__package__, "wmt17-words-elsewhere")
"""Another implementation with all-MiniLM-L6-v2, K = 1, text as stored: mean over five language pairs."""


def beside(correlations: Mapping[tuple[str, str], Found], means: Means, pairs: Sequence[str]) -> rc.Table:
    lines = []
    for name in BEST_K:
        for form in FORMS:
            by = correlations["system", form].get(name)
            if by:
                cells = [by.get(pair, math.nan) for pair in pairs]
                lines.append([name, f"here, {form}", *map(shown, cells), shown(means["system", form][name])])
        row, setting = AT_PAPERS.get(name, ("", ""))
        by = correlations["system", "stored"].get(row)
        if by:
            cells = [by.get(pair, math.nan) for pair in pairs]
            lines.append([name, f"here, stored, {setting}", *map(shown, cells), shown(mean(cells))])
        if name in SEPARATE and tuple(pairs) == FIVE:
            lines.append([name, "separate program", *("-" for _ in pairs), shown(SEPARATE[name])])
        for title, paper in (("paper, best K", BEST_K), ("paper, K by default", DEFAULT_K)):
            if name in paper:
                cells = [paper[name].get(pair, math.nan) for pair in pairs]
                lines.append([name, title, *map(shown, cells), shown(paper_mean(paper, name, pairs))])
    caption = [
        "System level. Paper: Mark-Evaluate, Tables 2 and 6, word vectors of BERT-base trained on MNLI, best K chosen "
        "with the human scores in view, BERTScore at the last fifth layer; here K is 1 unless the row says otherwise. "
        "Separate program: another implementation with the encoder used "
        "here by default, texts as stored, K = 1, mean of five language pairs."
    ]
    return rc.Table(["metric", "source", *pairs, "mean"], lines, caption, left=2)


def paper_mean(table: Mapping[str, Mapping[str, float]], name: str, pairs: Sequence[str]) -> float:
    return mean(table.get(name, {}).get(pair, math.nan) for pair in pairs)


def verdict(means: Means, counted: Sequence[str]) -> list[str]:
    stored, cleaned = means["system", "stored"], means["system", "cleaned"]
    lines = [
        f"Systems, mean Pearson over {', '.join(counted)}: text as stored, best are {leaders(stored)}; cleaned, "
        f"{leaders(cleaned)}.",
        *_on_mark_evaluate(stored, counted),
    ]
    gains = {name: cleaned[name] - value for name, value in stored.items() if name in cleaned}
    if ranked(gains):
        up, down = ranked(gains)[0], ranked(gains)[-1]
        lines.append(
            f"Cleaning the texts moves the mean by {gains[down]:+.3f} ({down}) to {gains[up]:+.3f} ({up}), "
            f"in the middle {float(np.nanmedian(list(gains.values()))):+.3f}."
        )
    lines += _on_infolm(stored)
    segments = means["segment", "stored"]
    if segments:
        lines.append(
            f"Single translations: text as stored, best are {leaders(segments)}; cleaned, "
            f"{leaders(means['segment', 'cleaned'])}."
        )
    return lines


def _on_mark_evaluate(stored: Mapping[str, float], counted: Sequence[str]) -> list[str]:
    """Its estimators beside the paper's numbers, and beside other metrics."""
    own = [name for name in stored if name.startswith("me-words")]
    pieces = [_beside_others(name, stored[name], counted) for name in SEPARATE if name in stored]
    if not pieces:
        return []
    rivals = [name for name in ("bertscore f1", "moverscore", "pr-words precision") if name in stored]
    beaten = [name for name in rivals if max(stored[each] for each in own) > stored[name]]
    rest = [name for name in rivals if name not in beaten]
    return [
        f"Mark-Evaluate of words, text as stored: {', '.join(pieces)}. The paper's encoder is BERT-base trained on "
        "MNLI, ours another and smaller one, so numbers need not be equal; those of the separate program "
        "should be, where the encoder is the default one and all segments are used.",
        "The paper finds its best estimator above BERTScore, MoverScore and improved precision. Here the best is "
        + (f"above {', '.join(beaten)}" if beaten else "above none of them")
        + (f", not above {', '.join(rest)}." if rest else "."),
    ]


def _beside_others(name: str, value: float, counted: Sequence[str]) -> str:
    others = [f"separate program {shown(SEPARATE[name])}"] if tuple(counted) == FIVE else []
    if name in DEFAULT_K:
        best, default = (shown(paper_mean(table, name, counted)) for table in (BEST_K, DEFAULT_K))
        others.append(f"paper {best} with the best K, {default} by default")
    return f"{name} {shown(value)}" + (f" ({'; '.join(others)})" if others else "")


def _on_infolm(stored: Mapping[str, float]) -> list[str]:
    models = dict.fromkeys(name.split()[0] for name in stored if name.startswith("infolm"))
    if not models:
        return []
    of = {model: {name: value for name, value in stored.items() if name.split()[0] == model} for model in models}
    parts = [
        f"{model} best with {leaders(by, 3)}, least with {ranked(by)[-1].split()[1]} {shown(by[ranked(by)[-1]])}"
        for model, by in of.items()
        if ranked(by)
    ]
    return [f"InfoLM (not tried on translations in its paper), text as stored: {'; '.join(parts)}."]


_PRINTED = ("me-words capture", "me-words petersen", "me-words quality")
"""What the paper has numbers for."""


def word_claims(
    rows: ByPair, pairs: Sequence[str], by_encoder: Mapping[str, Mapping[str, float]] | None = None
) -> list[Claim]:
    """Of the text as stored, k = 1; rows: by metric and language pair. by_encoder: means by metric and encoder.

    The other metrics are taken at the paper's own settings where they were scored so.
    """
    own = [name for name in _PRINTED if name in rows]
    rivals = _at_papers(["bertscore f1", "moverscore", "pr-words precision", "prd-words f1_8"], rows)
    if not own or not rivals:
        return []
    told = ", ".join(f"{name} {shown(mean(rows[name].values()))}" for name in [*own, *rivals])
    data = f"WMT 2017, {', '.join(pairs)}, all-MiniLM-L6-v2"
    level = []
    for name in own:
        gaps = over(
            [rows[name][pair] - DEFAULT_K[name][pair] for pair in pairs if pair in DEFAULT_K[name]] or [math.nan]
        )
        printed = paper_mean(DEFAULT_K, name, pairs)
        ends = (printed + end for end in (gaps.low, gaps.high) if end is not None)
        level.append(near(Estimate(printed + gaps.value, *ends), printed))
    return [
        Claim(
            "mark-evaluate/table-2/words-above-others",
            together(apart(rows, own, rivals, pairs)),
            f"mean Pearson over {len(pairs)} language pairs at k = 1: {told}" + _spread(by_encoder, BEST_K, pairs),
            data,
            "intervals are over language pairs; another encoder: BERT-base trained on MNLI there",
            own=True,
        ),
        Claim(
            "mark-evaluate/table-6/default-k-level",
            together(level),
            ", ".join(f"{name} {shown(mean(rows[name].values()))}" for name in own)
            + _spread({name: by for name, by in (by_encoder or {}).items() if name in own}, DEFAULT_K, pairs),
            data,
            "another encoder: BERT-base trained on MNLI there",
            own=True,
        ),
    ]


def _at_papers(names: Sequence[str], rows: ByPair) -> list[str]:
    """The rows of these metrics, at the paper's own settings where they were scored so."""
    chosen = [AT_PAPERS[name][0] if AT_PAPERS.get(name, ("",))[0] in rows else name for name in names]
    return [name for name in chosen if name in rows]


def _spread(by_encoder: Mapping[str, Mapping[str, float]] | None, paper: ByPair, pairs: Sequence[str]) -> str:
    words = spreads(by_encoder or {}, {name: paper_mean(paper, name, pairs) for name in paper})
    return f"; {words}" if words else ""


def default_claims(rows: ByPair, pairs: Sequence[str]) -> list[Claim]:
    """Table 6: at the default K against the other two metrics that count samples; of the text as stored. Ours is k = 1,
    that of IMPAR's authors 3, and PRD looks at all segments, where they were scored so.
    """
    own = [name for name in _PRINTED if name in rows]
    rivals = _at_papers(["pr-words precision", "prd-words f1_8"], rows)
    if not own or not rivals:
        return []
    return [
        Claim(
            "mark-evaluate/table-6/estimators-ahead",
            together(apart(rows, own, rivals, pairs)),
            ", ".join(f"{name} {shown(mean(rows[name].values()))}" for name in [*own, *rivals]),
            f"WMT 2017, {', '.join(pairs)}, all-MiniLM-L6-v2",
            "intervals are over language pairs; another encoder: BERT-base trained on MNLI there",
            own=True,
        )
    ]


def apart(rows: ByPair, own: Sequence[str], rivals: Sequence[str], pairs: Sequence[str]) -> list[Verdict]:
    """Each of the first compared with each of the others, over language pairs."""
    return [above(over([rows[one][pair] - rows[other][pair] for pair in pairs])) for one in own for other in rivals]
