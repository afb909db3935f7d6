"""Decoding: one text over and over against many, and machines' continuations against people's."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables, estimate
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import above, less, together
from ..words import short, short_p
from .captions import LAYOUT
from .decoding_sets import (
    AS_THEY_ARE,
    BEST,
    CANDIDATES,
    DECODING,
    FOLDER,
    LEVEL,
    METRICS,
    PEOPLE,
    REFERENCES,
    SEARCH,
    Numbers,
    Variety,
    Votes,
    continuations,
    variety,
    votes,
)
from .decoding_sets import LAYOUT as CONTINUATIONS


def _run(setup: Setup) -> Findings:
    seeds = variety(setup)
    sets = continuations(setup, 20 if setup.quick else 250)
    judged = votes(setup, 20 if setup.quick else None)
    tables = [_seeds_table(seeds), _continuations_table(sets), _votes_table(judged)]
    if judged.beside:
        tables.append(_beside_votes(judged))
    return Findings(tables, _drawn(seeds, sets), _verdict(seeds, sets, judged), {"contexts": seeds.contexts})


def _seeds_table(seeds: Variety) -> Section:
    heads = ["candidates", "METEOR ↑", "TRM-METEOR ↓", "CIDEr-D ↑", "TRM-CIDEr ↓"]
    labelled = {f"{count} different": each for count, each in seeds.by_distinct.items()} | seeds.others
    rows = [
        [label, *(f"{each[metric][0]:.3f} ± {1.96 * each[metric][1]:.3f}" for metric in METRICS)]
        for label, each in labelled.items()
    ]
    caption = [
        f"{seeds.contexts} contexts of E2E, {REFERENCES} references, {CANDIDATES} candidates from 20 training seeds, "
        "as many of them different as the row says (the most frequent outputs, repeated evenly): from the form of "
        "greedy search to that of sampling. Mean ± 1.96 standard errors."
    ]
    return Section("variety", rc.Table(heads, rows, caption))


def _with_interval(number: list[float]) -> str:
    return f"{short(number[0])} [{short(number[1])}, {short(number[2])}]"


def _continuations_table(sets: dict[str, Numbers]) -> Section:
    heads = ["domain", "number", "", PEOPLE, SEARCH, "closer to people"]
    rows = []
    for domain, by in sets.items():
        for name, people in by[PEOPLE].items():
            machine = by[SEARCH][name]
            arrow = "↑" if people[3] > 0 else "↓"
            rows.append(
                [domain, name, arrow, _with_interval(people), _with_interval(machine), _closer(people, machine)]
            )
    caption = [
        "Continuations by people of some prompts as reference; of as many other prompts people's own and GPT-2 XL's by "
        f"contrastive search. In brackets the {LEVEL:g} interval; closer: by value, “apart” where intervals do not "
        "meet."
    ]
    return Section("continuations", rc.Table(heads, rows, caption, left=3))


def _closer(people: list[float], machine: list[float]) -> str:
    ahead = (people[0] - machine[0]) * people[3]
    side = "people" if ahead > 0 else "machine" if ahead < 0 else "even"
    return side if _meet(people, machine) else f"{side}, apart"


def _meet(one: list[float], other: list[float]) -> bool:
    """Whether two intervals do."""
    return one[1] <= other[2] and other[1] <= one[2]


def _sign_test(won: int, lost: int) -> float:
    from scipy.stats import binomtest

    return float(binomtest(won, won + lost).pvalue) if won + lost else 1.0


def _total(judged: Votes) -> tuple[int, int, int]:
    won, lost, even = (sum(each[at] for each in judged.prompts.values()) for at in range(3))
    return won, lost, even


def _votes_table(judged: Votes) -> Section:
    heads = ["of", f"for {SEARCH}", f"for {DECODING}", "even", "sign test"]
    rows = [
        [f"prompts, {name}", *map(str, each), short_p(_sign_test(*each[:2]))] for name, each in judged.prompts.items()
    ]
    total = _total(judged)
    rows.append(["prompts, all", *map(str, total), short_p(_sign_test(*total[:2]))])
    rows.append(["single votes", *map(str, judged.voices), "-"])
    caption = ["Which of two continuations people hold to be more like a person's, by majority of a prompt's votes."]
    return Section("votes", rc.Table(heads, rows, caption))


def _beside_votes(judged: Votes) -> Section:
    heads = ["number", "", SEARCH, DECODING, "closer to people"]
    rows = []
    for name, search in judged.beside[SEARCH].items():
        other = judged.beside[DECODING][name]
        ahead = (search[0] - other[0]) * search[3]
        apart = not _meet(search, other)
        side = SEARCH if ahead > 0 else DECODING if ahead < 0 else "even"
        arrow = "↑" if search[3] > 0 else "↓"
        rows.append([name, arrow, _with_interval(search), _with_interval(other), side + ", apart" * apart])
    caption = [f"The {judged.matched} judged prompts that have a person's continuation, as reference."]
    return Section("decoders-beside-votes", rc.Table(heads, rows, caption, left=2))


def _series(seeds: Variety, metric: str) -> list[float]:
    return [each[metric][0] for each in seeds.by_distinct.values()]


def _verdict(seeds: Variety, sets: dict[str, Numbers], judged: Votes) -> list[str]:
    counts = list(seeds.by_distinct)
    meteor, ranks = _series(seeds, "meteor"), _series(seeds, "trm-meteor")
    lines = [
        f"Seeds of one model, {CANDIDATES} candidates: from {counts[0]} to {counts[-1]} different texts METEOR goes "
        f"from {meteor[0]:.3f} to {meteor[-1]:.3f} and TRM-METEOR from {ranks[0]:.3f} to {ranks[-1]:.3f} (lower is "
        f"better). METEOR is best at {counts[int(np.argmax(meteor))]}, TRM-METEOR at {counts[int(np.argmin(ranks))]} "
        f"different texts; {BEST}, has METEOR {seeds.others[BEST]['meteor'][0]:.3f} and TRM-METEOR "
        f"{seeds.others[BEST]['trm-meteor'][0]:.3f}, {AS_THEY_ARE} have {seeds.others[AS_THEY_ARE]['meteor'][0]:.3f} "
        f"and {seeds.others[AS_THEY_ARE]['trm-meteor'][0]:.3f}."
    ]
    for domain, by in sets.items():
        closer = {name: _closer(people, by[SEARCH][name]) for name, people in by[PEOPLE].items()}
        apart = [name for name, side in closer.items() if side == "people, apart"]
        wrong = [name for name, side in closer.items() if side.startswith("machine")]
        lines.append(
            f"{domain}: other people score better than contrastive search by "
            f"{sum(side.startswith('people') for side in closer.values())} of {len(closer)} numbers, with intervals "
            f"apart by {', '.join(apart) or 'none'}; the machine is closer by {', '.join(wrong) or 'none'}."
        )
    won, lost, even = _total(judged)
    line = (
        f"Judges prefer contrastive search to contrastive decoding on {won} of {won + lost + even} prompts and the "
        f"other way on {lost} (sign test p {short_p(_sign_test(won, lost))})."
    )
    if judged.beside:
        sides = {
            name: (search[0] - judged.beside[DECODING][name][0]) * search[3]
            for name, search in judged.beside[SEARCH].items()
        }
        agree = [name for name, ahead in sides.items() if ahead * (won - lost) > 0]
        apart = [name for name in sides if not _meet(*(judged.beside[each][name] for each in (SEARCH, DECODING)))]
        line += (
            f" Of {len(sides)} numbers {len(agree)} side with them ({', '.join(agree) or 'none'}); intervals are apart "
            f"in {len(apart)}, so {judged.matched} texts a side "
            + ("do tell the two decoders apart." if apart else "are too few to tell the two decoders apart.")
        )
    lines.append(line)
    return lines


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = [row for row in tables["variety"] if row["candidates"].endswith(" different")]
    one, *more = rows
    counts = ", ".join(row["candidates"].split()[0] for row in rows)

    def series(head: str) -> str:
        return ", ".join(row[head].split(" ±")[0] for row in rows)

    best = together(above(less(estimate(one["METEOR ↑"]), estimate(row["METEOR ↑"]))) for row in more)
    ranks = together(
        above(less(estimate(one[head]), estimate(more[-1][head]))) for head in ("TRM-METEOR ↓", "TRM-CIDEr ↓")
    )
    data = f"outputs of training seeds, E2E, {settings['contexts']} contexts"
    return [
        Claim(
            "distribution-aware/section-3.1/one-text-is-best",
            best,
            f"METEOR with {counts} different texts of ten: {series('METEOR ↑')}; CIDEr-D: {series('CIDEr-D ↑')}",
            data,
            ""
            if best.holds == "holds"
            else "outputs that fewer seeds agree on are hardly worse than the most frequent one",
        ),
        Claim(
            "distribution-aware/figure-4/variety-improves-trm",
            ranks,
            f"TRM-METEOR with {counts} different texts: {series('TRM-METEOR ↓')}; TRM-CIDEr: {series('TRM-CIDEr ↓')}",
            data,
        ),
    ]


def _drawn(seeds: Variety, sets: dict[str, Numbers]) -> Any:
    def draw(figure: Any) -> None:
        figure.set_size_inches(13, 4.5)
        ranks, plain, last = figure.subplots(1, 3, width_ratios=(1, 1, 1.4))
        counts = list(seeds.by_distinct)
        for axes, metric, title in (
            (ranks, "trm-meteor", "TRM-METEOR (lower is better)"),
            (plain, "meteor", "METEOR (higher is better)"),
        ):
            errors = [1.96 * each[metric][1] for each in seeds.by_distinct.values()]
            axes.errorbar(counts, _series(seeds, metric), errors, marker="o", capsize=2, label="most frequent outputs")
            for label, style in ((BEST, "--"), (AS_THEY_ARE, ":")):
                axes.axhline(seeds.others[label][metric][0], color="0.4", linestyle=style, label=label)
            axes.set(title=title, xlabel=f"different texts of {CANDIDATES}")
        plain.legend(fontsize=7)
        names = [name for name, number in next(iter(sets.values()))[PEOPLE].items() if number[3] > 0]
        for domain, by in sets.items():
            last.plot(
                [by[PEOPLE][name][0] - by[SEARCH][name][0] for name in names], range(len(names)), "o", label=domain
            )
        last.axvline(0, color="0.6", linestyle=":")
        last.set_yticks(range(len(names)), names, fontsize=7)
        last.set(title="people's score less contrastive search's")
        last.legend(fontsize=8)

    return draw


STUDY = Study(
    name="decoding",
    title="Decoding: one best text, many texts, and people's",
    paper="Distribution-aware metrics",
    reproduces="Figures 4 and 6, in form",
    data=("e2e_dev_multi", FOLDER),
    run=_run,
    judge=judge,
    layout={"e2e_dev_multi": LAYOUT["e2e_dev_multi"], FOLDER: CONTINUATIONS},
    takes="4 minutes on 2 cores, most of it for vectors",
)
