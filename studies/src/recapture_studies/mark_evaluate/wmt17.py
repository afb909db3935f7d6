"""Translations into English of WMT 2017: do metrics rank systems, and single translations, as people do?"""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..agreement import oriented
from ..cells import Rows, Tables, known, number
from ..files import NAME, NUMBER, lines_of, records
from ..item_scores import Part, Scores
from ..models import DEFAULT_ENCODER
from ..rated import Seen, layers_read, mean, ranked, row_name, shown, tasks
from ..study import Claim, Findings, Section, Setup, Study
from .moses import detokenised
from .wmt17_paper import BEST_K, FIVE, FORMS, Found, beside, default_claims, paper_mean, verdict, word_claims
from .wmt17_sentences import Found as SentenceFound
from .wmt17_sentences import Side, sentence_claims, sentence_level, sentence_table
from .wmt17_settings import (
    ALL_SEGMENTS,
    FIFTH_LAST,
    IMPAR,
    ByEncoder,
    encoder_table,
    means_by_encoder,
    other_sentence_vectors,
    plain_label,
    settings_tasks,
    word_encoder,
)
from .wmt17_sweep import KS, SWEPT, sweep_claims, sweep_table, sweep_tasks

SAMPLE = 500
"""Segments of each language pair that InfoLM looks at for the ranking of systems: every n-th."""
_FEW_SYSTEMS = 4
_METRICS = ("me-words", "pr-words", "bertscore", "moverscore", "bleu", "chrf")
_SHOWN = {
    "bertscore": ("f1",),
    FIFTH_LAST: ("f1",),
    "pr-words": ("precision", "recall"),
    IMPAR: ("precision", "recall"),
    "prd-words": ("f1_8", "f8"),
    ALL_SEGMENTS: ("f1_8", "f8"),
}
_FILES = ("segments.jsonl.gz", "outputs.jsonl.gz", "system_da.tsv")
_HOLDS = "segments.jsonl.gz, outputs.jsonl.gz, system_da.tsv and segment_da.jsonl"
_ADDS = "An honest choice of k: for each language pair the one that serves the others best"
_FORM_MEANS = {
    "stored": "as stored: lower-cased, tokenised, with entities such as &apos;",
    "cleaned": "cleaned: entities read, tokens joined as they are written; still lower-cased",
}


class Texts(NamedTuple):
    """By language pair."""

    references: dict[str, dict[int, str]]
    outputs: dict[str, dict[str, dict[int, str]]]
    judged: dict[str, dict[str, float]]
    """Systems with what people gave them."""
    sids: dict[str, list[int]]


def texts(setup: Setup) -> Texts:
    folder = setup.folder("wmt17_to_english", _HOLDS)
    pairs = _pairs(setup, _system_ratings(setup))
    references: dict[str, dict[int, str]] = {}
    for record in records(folder / "segments.jsonl.gz", {"lp": str, "sid": NAME, "reference": str}):
        references.setdefault(record["lp"], {})[record["sid"]] = record["reference"]
    outputs: dict[str, dict[str, dict[int, str]]] = {}
    for record in records(folder / "outputs.jsonl.gz", {"lp": str, "system": str, "sid": NAME, "hyp": str}):
        outputs.setdefault(record["lp"], {}).setdefault(record["system"], {})[record["sid"]] = record["hyp"]
    for pair, judged in pairs.items():
        absent = [name for name in judged if set(outputs.get(pair, {}).get(name, ())) != set(references.get(pair, ()))]
        if absent or not references.get(pair):
            missing = absent[0] if absent else "the reference"
            raise rc.InputError(f"{folder}: {missing} of {pair} has not one text for each segment")
    sids = {pair: sorted(references[pair], key=_place)[: 12 if setup.quick else None] for pair in pairs}
    return Texts(references, outputs, pairs, sids)


def parts(setup: Setup) -> Iterator[Part]:
    """The work: for each language pair and form of the texts all segments, a sample for InfoLM, and the rated ones.

    PRD of words looks at the sample, too; other k than 1 are for texts as stored. At the paper's own settings and with
    other encoders only the language pairs that count are scored, as stored.
    """
    references, outputs, pairs, every = texts(setup)
    folder = setup.folder("wmt17_to_english", _HOLDS)
    rated: dict[str, list[dict[str, Any]]] = {}
    for record in records(folder / "segment_da.jsonl", {"lp": str, "reference": str, "hyp": str, "human_da": NUMBER}):
        rated.setdefault(record["lp"], []).append(record)
    plain, masked = tasks(setup, _METRICS, {"pr-words": {"k": 1}}), tasks(setup, ["infolm"])
    own = counted(pairs)
    for pair, judged in pairs.items():
        sids = every[pair]
        few = sampled(sids, _few(setup))
        human = {"da": np.array(list(judged.values()))}
        listed = rated.get(pair, [])[: 8 if setup.quick else None]
        for form in FORMS:
            about = {"pair": pair, "form": form}
            clean = detokenised if form == "cleaned" else str
            extra = tasks(setup, ["prd-words"]) if form == "stored" else []
            swept = sweep_tasks(layers_read(setup)) if form == "stored" else []
            swept += settings_tasks(setup) if form == "stored" and pair in own else []
            for kind, chosen, wanted in (("all", sids, [*plain, *swept]), ("sample", few, [*masked, *extra])):
                yield Part(
                    f"wmt17-{pair}-{form}-{kind}",
                    [clean(references[pair][sid]) for sid in chosen],
                    {name: [clean(outputs[pair][name][sid]) for sid in chosen] for name in judged},
                    wanted,
                    {**about, "level": "system"},
                    human,
                )
            if listed:
                yield Part(
                    f"wmt17-{pair}-{form}-rated",
                    [clean(record["reference"]) for record in listed],
                    {"rated": [clean(record["hyp"]) for record in listed]},
                    [*plain, *masked, *extra],
                    {**about, "level": "segment"},
                    {"da": np.array([[float(record["human_da"]) for record in listed]])},
                )


def sides(setup: Setup) -> Iterator[Side]:
    """The same for sentence vectors, text as stored."""
    references, outputs, pairs, every = texts(setup)
    for pair, judged in pairs.items():
        yield Side(
            pair,
            [references[pair][sid] for sid in every[pair]],
            {name: [outputs[pair][name][sid] for sid in every[pair]] for name in judged},
            list(judged.values()),
        )


def files(setup: Setup) -> list[Path]:
    """What numbers on sentence vectors depend on."""
    return [setup.folder("wmt17_to_english", _HOLDS) / name for name in _FILES]


def counted(pairs: Iterable[str]) -> list[str]:
    """The paper's pairs; other years have others."""
    listed = list(pairs)
    return [pair for pair in listed if pair in FIVE] or listed


def _place(sid: Any) -> tuple[bool, Any]:
    """Numbers before texts: a file may have both."""
    return isinstance(sid, str), sid


def sampled(sids: Sequence[int], count: int) -> list[int]:
    """Every n-th, so that `count` remain."""
    return list(sids[:: max(1, len(sids) // count)][:count])


def _few(setup: Setup) -> int:
    return 3 if setup.quick else SAMPLE


def _system_ratings(setup: Setup) -> dict[str, dict[str, float]]:
    path = setup.folder("wmt17_to_english", _HOLDS) / "system_da.tsv"
    text = "".join(line for _, line in lines_of(path))
    ratings: dict[str, dict[str, float]] = {}
    try:
        for row in csv.DictReader(io.StringIO(text), delimiter="\t", quoting=csv.QUOTE_NONE):
            of_pair, value = ratings.setdefault(row["lp"], {}), float(row["human_da"])
            if not math.isfinite(value) or row["system"] in of_pair or None in row:
                raise ValueError(row)
            of_pair[row["system"]] = value
    except (KeyError, TypeError, ValueError, csv.Error):
        raise rc.InputError(
            f"{path} needs the columns lp, system and human_da, the last with numbers, and one row a system"
        ) from None
    return ratings


def _pairs(setup: Setup, ratings: dict[str, dict[str, float]]) -> dict[str, dict[str, float]]:
    """The paper's pairs first."""
    names = [*(pair for pair in FIVE if pair in ratings), *(pair for pair in ratings if pair not in FIVE)]
    if setup.quick:
        return {pair: dict(list(ratings[pair].items())[:_FEW_SYSTEMS]) for pair in names[:2]}
    return {pair: ratings[pair] for pair in names}


def _run(setup: Setup) -> Findings:
    correlations: dict[tuple[str, str], Found] = {
        (level, form): {} for level in ("system", "segment") for form in FORMS
    }
    alike: dict[str, Found] = {form: {} for form in FORMS}
    sizes: dict[str, dict[str, int]] = {"system": {}, "segment": {}}

    swept: dict[str, dict[int, dict[str, float]]] = {}
    by_encoder: ByEncoder = {}

    def see(part: Part, label: str, scores: Scores) -> None:
        level, pair = part.about["level"], part.about["pair"]
        whole, (label, _, k) = label, label.partition("-k")
        if (level, part.about["form"]) == ("system", "stored"):
            encoder = word_encoder(setup, whole, scores.signature)
            for output in _SHOWN.get(whole, scores.totals) if encoder else ():
                value = rc.correlation(part.human["da"], oriented(scores.totals[output], scores.direction))
                by_encoder.setdefault((row_name(plain_label(whole), output), encoder or ""), {})[pair] = value
        if whole != plain_label(whole) and whole not in _SHOWN:
            return  # another encoder, which has a table of its own
        if k or (level, part.about["form"]) == ("system", "stored"):
            for output in scores.totals:
                if row_name(label, output) in SWEPT:
                    value = rc.correlation(part.human["da"], oriented(scores.totals[output], scores.direction))
                    swept.setdefault(row_name(label, output), {}).setdefault(int(k or 1), {})[pair] = value
        if k and whole not in _SHOWN:
            return
        sizes[level][pair] = len(part.systems if level == "system" else part.references)
        for output in _SHOWN.get(whole, scores.totals):
            # Systems are compared by their mean, or by the corpus number where the metric has one.
            numbers = scores.totals[output] if level == "system" else scores.items[output][0]
            human = part.human["da"] if level == "system" else part.human["da"][0]
            value = rc.correlation(human, oriented(numbers, scores.direction))
            correlations[level, part.about["form"]].setdefault(row_name(whole, output), {})[pair] = value
            if level == "system" and whole not in (FIFTH_LAST, IMPAR, ALL_SEGMENTS):
                few = sampled(range(len(part.references)), _few(setup))
                means_of_few = np.nanmean(scores.items[output][:, few], axis=1)
                value = rc.correlation(human, oriented(means_of_few, scores.direction))
                alike[part.about["form"]].setdefault(row_name(label, output), {})[pair] = value

    seen = Seen(setup, parts(setup), see)
    pairs = list(_pairs(setup, _system_ratings(setup)))
    own = counted(pairs)
    means = {where: {name: mean(by.get(pair, math.nan) for pair in own) for name, by in rows.items()}
             for where, rows in correlations.items()}  # fmt: skip
    tables = [
        Section(f"{level}-level-{form}", _grid(rows, pairs, own, means[level, form], sizes[level], level, form))
        for (level, form), rows in correlations.items()
        if rows
    ]
    tables += [Section("on-the-same-sample", _alike(alike, own, _few(setup)))]
    by_k = {name: each for name, each in swept.items() if len(each) == len(KS)}
    if by_k:
        tables += [Section("k-of-words", sweep_table(by_k, own), _ADDS)]
    words = {key: by for key, by in by_encoder.items() if set(by) >= set(own)}
    by_words = encoder_table(words, own, f"Word vectors of {_name(setup)}.")
    if by_words.rows:
        tables += [Section("words-by-encoder", by_words)]
    sentences: SentenceFound = {}
    if setup.metrics is None:
        sentences = sentence_level(setup, sides(setup), files(setup))
        tables += [Section("sentence-vectors", sentence_table(sentences, own, FIVE))]
        if setup.encoder is None and "pooling" not in setup.encoding:
            wanted = (side for side in sides(setup) if side.pair in own)
            others = {(label, "as its card says"): by_k[1] for label, by_k in sentences.items() if 1 in by_k}
            others |= other_sentence_vectors(setup, wanted, files(setup))
            what = f"Sentence vectors of {_name(setup)}, and word counts."
            tables += [Section("sentences-by-encoder", encoder_table(others, own, what))]
    tables += [Section("beside-the-paper", beside(correlations, means, own)), seen.table()]

    def draw(figure: Any) -> None:
        names = ranked(means["system", "stored"])[::-1]
        figure.set_size_inches(10, max(4.0, 0.22 * len(names)))
        for axes, level in zip(figure.subplots(1, 2, sharey=True), ("system", "segment"), strict=True):
            for form, marker in zip(FORMS, ("o", "x"), strict=True):
                values = [means[level, form].get(name, math.nan) for name in names]
                axes.plot(values, range(len(names)), marker, label=f"text {form}", markersize=4)
            if level == "system":
                paper = [paper_mean(BEST_K, name, own) for name in names]
                axes.plot(paper, range(len(names)), "|", color="0.4", label="paper", markersize=8)
            axes.set(title=f"{level} level", xlabel="mean Pearson correlation with people")
            axes.set_yticks(range(len(names)), names, fontsize=7)
            axes.grid(axis="x", alpha=0.3)
            axes.legend(fontsize=7)

    settings = {"infolm sample": SAMPLE, "pairs": pairs, "mean over": own, "warnings": list(seen.warnings)}
    return Findings(tables, draw, [*verdict(means, own), *seen.about_left_out()], settings)


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    pairs = settings["mean over"]

    def by_pair(rows: Rows) -> dict[str, dict[str, float]]:
        found = {row["metric"]: {pair: number(row[pair]) for pair in pairs} for row in rows}
        return {name: by for name, by in found.items() if known(by.values())}

    words, sentences = (by_pair(tables.get(name, [])) for name in ("system-level-stored", "sentence-vectors"))
    spread_of = {name: means_by_encoder(tables.get(f"{name}-by-encoder", [])) for name in ("words", "sentences")}
    return [
        *word_claims(words, pairs, spread_of["words"]),
        *default_claims(words, pairs),
        *sweep_claims(tables.get("k-of-words", [])),
        *sentence_claims(sentences, pairs, words, spread_of["sentences"]),
    ]


def _name(setup: Setup) -> str:
    return DEFAULT_ENCODER if setup.encoder is None else Path(str(setup.encoder)).name


def _grid(
    rows: Found,
    pairs: Sequence[str],
    counted: Sequence[str],
    means: Mapping[str, float],
    sizes: Mapping[str, int],
    level: str,
    form: str,
) -> rc.Table:
    others = [pair for pair in pairs if pair not in counted]
    heads = ["metric", *counted, "mean", *others]
    lines = [
        [name, *(shown(by.get(pair, math.nan)) for pair in counted), shown(means[name]),
         *(shown(by.get(pair, math.nan)) for pair in others)]
        for name, by in rows.items()
    ]  # fmt: skip
    what = "systems" if level == "system" else "rated translations"
    counts = ", ".join(f"{pair} {sizes[pair]}" for pair in pairs if pair in sizes)
    caption = [
        f"Pearson correlation with people over {what} ({counts}); the mean is that of {', '.join(counted)}.",
        f"Texts {_FORM_MEANS[form]}. For metrics where lower is better the sign is turned.",
    ]
    if level == "system":
        caption.append(
            f"InfoLM and PRD look at every n-th segment, {SAMPLE} of each language pair at most; the others at all, as "
            "does prd-words-all. At the paper's settings: BERTScore at the fifth layer from the end, IMPAR at k = 3."
        )
    return rc.Table(heads, lines, caption)


def _alike(alike: Mapping[str, Found], counted: Sequence[str], few: int) -> rc.Table:
    means = {form: {name: mean(by.get(pair, math.nan) for pair in counted) for name, by in rows.items()}
             for form, rows in alike.items()}  # fmt: skip
    lines = [[name, *(shown(means[form].get(name, math.nan)) for form in FORMS)] for name in means["stored"]]
    caption = [
        f"System level as InfoLM is scored, for a fair comparison: every n-th segment, {few} of each language pair at "
        f"most, and the mean over segments for every metric, also BLEU and chrF. Mean Pearson over "
        f"{', '.join(counted)}."
    ]
    return rc.Table(["metric", *FORMS], lines, caption)


STUDY = Study(
    name="wmt17",
    title="Translations: agreement with people on WMT 2017",
    paper="Mark-Evaluate",
    reproduces="Tables 2, 5 and 6",
    data=("wmt17_to_english",),
    run=_run,
    judge=judge,
    masked=True,
    chooses=True,
    layout={
        "wmt17_to_english": "segments.jsonl.gz (lp, sid, reference), outputs.jsonl.gz (lp, system, sid, hyp: one for "
        "each segment), system_da.tsv (lp, system, human_da) and segment_da.jsonl (lp, reference, hyp, human_da)"
    },
    takes="about 16 minutes on one GPU with 16 cores and 12 minutes on 2 cores for sentence vectors; hours on 2 cores",
)
