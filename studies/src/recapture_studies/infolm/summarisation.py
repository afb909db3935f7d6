"""News summaries, REALSumm: do metrics find what people found of the reference's content?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np

import recapture as rc

from ..agreement import COEFFICIENTS, oriented, text_level
from ..cells import Tables, number
from ..files import NAME, NUMBER, TEXTS, of_kind, records
from ..item_scores import Part, Scores
from ..rated import HALF, Seen, leaders, ranked, row_name, shown, tasks
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, near, together

LAYOUT = {
    "realsumm": "documents.jsonl.gz (doc_id, reference_sents) and summaries.jsonl.gz (doc_id, type: abs or ext, "
    "system, summary_sents, litepyramid_recall from 0 to 1; auto_scores may be there)"
}
"""What studies of summaries read."""
KINDS = {"abs": "abstractive", "ext": "extractive"}
AUTHORS = {
    "rouge_1_recall": "authors' ROUGE-1 recall",
    "rouge_2_recall": "authors' ROUGE-2 recall",
    "rouge_l_recall": "authors' ROUGE-L recall",
    "rouge_2_f_score": "authors' ROUGE-2 F1",
    "bert_recall_score": "authors' BERTScore recall",
    "bert_f_score": "authors' BERTScore F1",
    "mover_score": "authors' MoverScore",
    "js-2": "authors' JS-2",
}
"""Scores that the data's authors stored: what our own can be held against."""
_METRICS = ("infolm", "me-words", "bertscore", "moverscore", "bleu", "chrf", "ter", "rouge", "meteor")
# Some references and systems keep capitals, most do not; ROUGE as in the data's own scores.
_OPTIONS = {"bleu": {"lowercase": True}, "chrf": {"lowercase": True}, "rouge": {"stemmer": True}}
_SHOWN = {
    "bertscore": ("f1", "recall"),
    "rouge": ("rouge1", "rouge2", "rougeL", "rouge1_recall", "rouge2_recall", "rougeL_recall"),
}
_SAME_RULES = {
    "rouge rouge1_recall": "rouge_1_recall",
    "rouge rouge2_recall": "rouge_2_recall",
    "rouge rouge2": "rouge_2_f_score",
}
"""By our name, that of the stored score with the same rules; ROUGE-L takes a summary as one line here."""
_HOLDS = "documents.jsonl.gz and summaries.jsonl.gz"
_LEVELS = ("system", "text")
_FLAT = ("l1", "l2", "linf")
_CURVED = ("jeffreys", "fisher_rao", "alpha", "gamma", "ab")

Numbers = dict[str, dict[tuple[str, str, str], float]]
"""By metric, then by kind of system, level and coefficient."""


def parts(setup: Setup) -> Iterator[Part]:
    """Two parts: abstractive and extractive systems (one system is in both)."""
    folder = setup.folder("realsumm", _HOLDS)
    references = {
        record["doc_id"]: " ".join(record["reference_sents"])
        for record in records(folder / "documents.jsonl.gz", {"doc_id": NAME, "reference_sents": TEXTS})
    }
    fields = {"doc_id": NAME, "type": str, "system": str, "summary_sents": TEXTS, "litepyramid_recall": NUMBER}
    held: dict[str, dict[str, dict[Any, dict[str, Any]]]] = {}
    for record in records(folder / "summaries.jsonl.gz", fields):
        theirs = record.get("auto_scores", {})
        if not isinstance(theirs, dict) or not all(of_kind(theirs.get(name, 0.0), NUMBER) for name in AUTHORS):
            where = f"{folder / 'summaries.jsonl.gz'}: {record['system']}, document {record['doc_id']}"
            raise rc.InputError(f"{where}: 'auto_scores' must be an object with numbers")
        held.setdefault(record["type"], {}).setdefault(record["system"], {})[record["doc_id"]] = record
    wanted = tasks(setup, _METRICS, _OPTIONS)
    documents = list(references)[: 3 if setup.quick else None]
    for kind in KINDS:
        systems = dict(list(held.get(kind, {}).items())[: 4 if setup.quick else None])
        lost = [(name, each) for name, by in systems.items() for each in documents if each not in by]
        if lost or not systems:
            what = f"summary of document {lost[0][1]} by {lost[0][0]}" if lost else f"system of type {kind}"
            raise rc.InputError(f"{folder / 'summaries.jsonl.gz'} has no {what}")
        human = {"litepyramid": np.array([[by[each]["litepyramid_recall"] for each in documents]
                                          for by in systems.values()], np.float64)}  # fmt: skip
        for name in AUTHORS:
            human[name] = np.array(
                [[by[each].get("auto_scores", {}).get(name, math.nan) for each in documents] for by in systems.values()]
            )
        yield Part(
            f"realsumm-{kind}",
            [references[each] for each in documents],
            {name: [" ".join(by[each]["summary_sents"]) for each in documents] for name, by in systems.items()},
            wanted,
            {"kind": kind},
            human,
        )


def _run(setup: Setup) -> Findings:
    correlations: Numbers = {}
    dropped: dict[str, int] = {}
    sizes: dict[str, tuple[int, int]] = {}

    def note(name: str, kind: str, human: np.ndarray, totals: np.ndarray, items: np.ndarray) -> None:
        for coefficient in COEFFICIENTS:
            by = correlations.setdefault(name, {})
            by[kind, "system", coefficient] = rc.correlation(np.nanmean(human, axis=1), totals, coefficient)
            single = text_level(items, human, coefficient)
            by[kind, "text", coefficient] = single.value
            dropped[kind] = max(dropped.get(kind, 0), single.dropped)

    def see(part: Part, label: str, scores: Scores) -> None:
        kind, human = part.about["kind"], part.human["litepyramid"]
        if kind not in sizes:
            sizes[kind] = human.shape
            for stored, name in AUTHORS.items():
                if np.isfinite(part.human[stored]).all():
                    note(name, kind, human, part.human[stored].mean(axis=1), part.human[stored])
        for output in _SHOWN.get(label, scores.totals):
            totals = oriented(scores.totals[output], scores.direction)
            items = oriented(scores.items[output], scores.direction)
            note(row_name(label, output), kind, human, totals, items)

    seen = Seen(setup, parts(setup), see)
    rows = {name: by for name, by in correlations.items() if name not in AUTHORS.values()}
    rows |= {name: by for name, by in correlations.items() if name in AUTHORS.values()}
    tables = [Section(f"{kind}-{level}-level", _grid(rows, kind, level, sizes[kind], dropped[kind]))
              for kind in KINDS for level in _LEVELS]  # fmt: skip

    def draw(figure: Any) -> None:
        names = ranked(_column(rows, "abs", "system", "pearson"))[::-1]
        figure.set_size_inches(12, max(4.0, 0.44 * len(names)))
        grid = figure.subplots(2, 4, sharey=True)
        for line, coefficient in zip(grid, ("pearson", "kendall"), strict=True):
            for axes, (kind, level) in zip(line, [(kind, level) for kind in KINDS for level in _LEVELS], strict=True):
                axes.barh(range(len(names)), [rows[name].get((kind, level, coefficient), math.nan) for name in names])
                axes.set(title=f"{KINDS[kind]}, {level}", xlabel=coefficient)
                axes.set_yticks(range(len(names)), names, fontsize=6)
                axes.grid(axis="x", alpha=0.3)

    settings = {"sizes": sizes, "alpha": HALF, "beta": HALF, "warnings": list(seen.warnings)}
    told = [*_verdict(rows), *seen.about_left_out()]
    return Findings([*tables, seen.table()], draw, told, settings)


def _column(rows: Numbers, kind: str, level: str, coefficient: str) -> dict[str, float]:
    return {name: by.get((kind, level, coefficient), math.nan) for name, by in rows.items()}


def _grid(rows: Numbers, kind: str, level: str, size: tuple[int, int], dropped: int) -> rc.Table:
    systems, documents = size
    lines = [
        [name, *(shown(by.get((kind, level, each), math.nan)) for each in COEFFICIENTS)] for name, by in rows.items()
    ]
    if level == "system":
        caption = f"Correlation of {systems} {KINDS[kind]} systems' mean scores over {documents} documents with"
    else:
        caption = (
            f"Mean over {documents} documents of the correlation across {systems} {KINDS[kind]} systems (at most "
            f"{dropped} left out, where people or a metric do not tell the systems apart) with"
        )
    caption += " people's pyramid recall. For metrics where lower is better the sign is turned."
    return rc.Table(["metric", *COEFFICIENTS], lines, [caption])


def _verdict(rows: Numbers) -> list[str]:
    own = {name: by for name, by in rows.items() if name not in AUTHORS.values()}
    lines = []
    for kind, title in KINDS.items():
        parts_of = [
            f"{level} level, {coefficient}: {leaders(_column(own, kind, level, coefficient), 3)}"
            for level in _LEVELS
            for coefficient in ("pearson", "kendall")
        ]
        lines.append(f"{title.capitalize()} systems, best are: {'; '.join(parts_of)}.")
    pairs = {
        "rouge rouge2_recall": "rouge_2_recall",
        "rouge rougeL_recall": "rouge_l_recall",
        "bertscore recall": "bert_recall_score",
        "moverscore": "mover_score",
    }
    beside = [
        f"{name} {shown(own[name][kind, 'system', 'pearson'])} (theirs "
        f"{shown(rows[AUTHORS[stored]][kind, 'system', 'pearson'])}) {title}"
        for name, stored in pairs.items()
        if name in own and AUTHORS[stored] in rows
        for kind, title in KINDS.items()
        if (kind, "system", "pearson") in own[name] and (kind, "system", "pearson") in rows[AUTHORS[stored]]
    ]
    if beside:
        lines.append(
            f"Beside the scores that the data's authors stored, system level, Pearson: {', '.join(beside)}. ROUGE-2 "
            "has the same rules and should nearly agree; ROUGE-L here takes a summary as one line; BERTScore and "
            "MoverScore stand on other encoders."
        )
    return lines


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    """Plain numbers: the tables have no intervals."""
    own: dict[str, dict[tuple[str, str, str], float]] = {}
    for kind in KINDS:
        for level in _LEVELS:
            for row in tables.get(f"{kind}-{level}-level", []):
                for coefficient in COEFFICIENTS:
                    value = number(row[coefficient])
                    if not math.isnan(value) and row["metric"] not in AUTHORS.values():
                        own.setdefault(row["metric"], {})[kind, level, coefficient] = value
    stored = {
        (row["metric"], kind, level): number(row["pearson"])
        for kind in KINDS
        for level in _LEVELS
        for row in tables.get(f"{kind}-{level}-level", [])
    }
    return [*_infolm_claims(own), *_tac_claims(own), *_stored_claims(stored)]


def _stored_claims(rows: Mapping[tuple[str, str, str], float]) -> list[Claim]:
    """Ours beside the scores that the data's authors stored, of metrics with the same rules and no model."""
    gaps = {
        (name, kind, level): (value, rows[AUTHORS[theirs], kind, level])
        for name, theirs in _SAME_RULES.items()
        for (metric, kind, level), value in rows.items()
        if metric == name and (AUTHORS[theirs], kind, level) in rows
    }
    if not gaps:
        return []
    apart = [abs(one - other) for one, other in gaps.values()]
    return [
        Claim(
            "infolm/section-5.1/bhandari",
            together(near(Estimate(one), other) for one, other in gaps.values()),
            f"Pearson of ROUGE made here and of that stored with the data: apart by at most {max(apart):.3f} over "
            f"{len(gaps)} comparisons ({', '.join(_SAME_RULES)}; type of system, level)",
            "REALSumm, the authors' own scores",
            own=True,
        )
    ]


def _infolm_claims(own: Numbers) -> list[Claim]:
    """What the InfoLM paper says of its Figure 1, which prints no numbers; one piece of evidence for each model."""
    every = [(kind, level, coefficient) for kind in KINDS for level in _LEVELS for coefficient in COEFFICIENTS]
    # An interrupted run may have made one kind of summaries only.
    used = [by for name, by in own.items() if name.startswith("infolm") or name in ("bertscore f1", "moverscore")]
    settings = [at for at in every if all(at in by for by in used)]
    rivals = [name for name in ("bertscore f1", "moverscore") if name in own]
    if not rivals or not settings:
        return []
    why = (
        f"its parameters were chosen for each criterion, ours are {HALF:g}; its model is BERT-base, ours a smaller one"
    )
    claims = []
    for model in dict.fromkeys(name.split()[0] for name in own if name.startswith("infolm")):
        data = f"REALSumm, {model}"
        gaps = {
            measure: [own[f"{model} {measure}"][at] - max(own[name][at] for name in rivals) for at in settings]
            for measure in ("ab", "fisher_rao")
        }
        verdict = together(above(Estimate(gap)) for each in gaps.values() for gap in each)
        counts = {measure: sum(gap > 0 for gap in each) for measure, each in gaps.items()}
        claims.append(
            Claim(
                "infolm/figure-1/above-bertscore",
                verdict,
                f"above both: AB in {counts['ab']}, Fisher-Rao in {counts['fisher_rao']} of {len(settings)} settings "
                "(type of system, level, coefficient)",
                data,
                "" if verdict.holds == "holds" else why,
                own=True,
            )
        )
        flat, curved = ([f"{model} {measure}" for measure in names] for names in (_FLAT, _CURVED))
        ahead = [max(own[name][at] for name in curved) - max(own[name][at] for name in flat) for at in settings]
        claims.append(
            Claim(
                "infolm/figure-1/lp-poor",
                together(above(Estimate(gap)) for gap in ahead),
                f"the best of them is below the best of the others in {sum(gap > 0 for gap in ahead)} of "
                f"{len(settings)} settings",
                data,
                own=True,
            )
        )
    return claims


def _tac_claims(own: Numbers) -> list[Claim]:
    """Table 3 of the Mark-Evaluate paper is of TAC 2009, which is not at hand: its order of metrics, elsewhere."""
    rivals = [name for name in ("bertscore f1", "moverscore") if name in own]
    ours = [name for name in ("me-words petersen", "me-words capture", "me-words quality") if name in own]
    if not rivals or not ours:
        return []
    settings = [(kind, "text", coefficient) for kind in KINDS for coefficient in ("kendall", "spearman")]
    settings = [at for at in settings if all(at in own[name] for name in (*rivals, *ours))]
    if not settings:
        return []
    bests = {at: tuple(max(own[name][at] for name in names) for names in (ours, rivals)) for at in settings}
    told = "; ".join(
        f"{KINDS[at[0]]}, {at[2]}: best of Mark-Evaluate {shown(one)}, best of the two {shown(other)}"
        for at, (one, other) in bests.items()
    )
    return [
        Claim(
            "mark-evaluate/table-3/words-above-others",
            together(above(Estimate(a - b)) for a, b in bests.values()),
            told,
            "REALSumm, text level, all-MiniLM-L6-v2; TAC 2009 is not here",
            "REALSumm in the place of TAC: one reference instead of four, fewer systems, other ratings and encoder",
        )
    ]


STUDY = Study(
    name="summarisation",
    title="Summaries: agreement with people on REALSumm",
    paper="InfoLM",
    reproduces="Figure 1 with parameters fixed beforehand; Mark-Evaluate, Table 3's form",
    data=("realsumm",),
    run=_run,
    judge=judge,
    pools=False,
    masked=True,
    chooses=True,
    meteor=True,
    layout=LAYOUT,
    takes="2 minutes on one GPU with 16 cores",
)
