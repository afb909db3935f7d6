"""Do p-values and human bands hold what they promise? Sets that do not differ, thousands of times."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..mark_evaluate.genres import BROWN
from ..study import Findings, Section, Setup, Study
from ..verdicts import Holds
from .promises_simulated import (
    CANDIDATES,
    FEWER_LABELLINGS,
    FULL,
    LABELLINGS,
    LAYOUT,
    QUICK,
    REAL,
    SECOND,
    WORLDS,
    Alarms,
    Bands,
    Corpus,
    Many,
    Scale,
    Simulations,
    documents_as_groups,
    doubled_texts,
    encoders_that_learn,
    many_numbers,
    real_bands,
    simulated_bands,
)

INSIDE = 0.88, 0.99
"""Of the parts of a held-out human set: where a band of 95 % may end up when it is made from 40 splits."""
LEVEL = 0.05
MOST = 0.07
"""False alarms at that level in 1,000 simulations: .05 and three standard errors."""
FAMILY = 0.03, 0.07
HEAVY = "heavy tails"
FRECHET = "frechet value"
_ROUNDING = 1e-9
_SHOWN = 12

Shares = Mapping[str, float]
"""By number."""


class Promise(NamedTuple):
    """Something this library says of its own numbers, and whether simulations bear it out."""

    where: str
    said: str
    holds: Holds
    here: str
    why: str = ""


def _run(setup: Setup) -> Findings:
    scale = QUICK if setup.quick else FULL
    corpus = Corpus(setup, scale)
    alarms = {
        "documents": documents_as_groups(setup, scale, corpus),
        "doubled texts": doubled_texts(setup, scale, corpus),
        "encoder that learns": encoders_that_learn(setup, scale, corpus),
    }
    many = many_numbers(setup, scale)
    bands = simulated_bands(setup, scale)
    real = real_bands(setup, scale)
    inside = {name: mean_inside(rows) for name, rows in (bands.inside | real).items()}
    kept = {case: false_alarms(each.kept) for case, each in alarms.items()}
    broken = {case: false_alarms(each.broken) for case, each in alarms.items()}
    any_alarm = {
        f"{who}, {kind}": false_alarms(rows)[kind]
        for who, rows in (("one", many.one), ("several", many.several))
        for kind in ("raw", "adjusted")
    }
    promises = [*band_claims(inside, list(real)), *alarm_claims(kept, broken, any_alarm)]
    return Findings(
        [
            _promises_table(promises),
            _bands_table(bands, inside, real, scale),
            _alarms_table(alarms, kept, broken, scale),
            _many_table(many, any_alarm, scale),
        ],
        _drawing(inside, kept, broken, any_alarm),
        _verdict(inside, kept, broken, any_alarm),
        {"scale": scale._asdict(), "labellings": LABELLINGS, "labellings, several candidates": FEWER_LABELLINGS},
    )


def mean_inside(rows: Simulations) -> Shares:
    """By number, the mean share of parts inside the band over the simulations that have a band for it."""
    return {name: float(np.mean([row[name] for row in rows if name in row])) for name in _names(rows)}


def _names(rows: Sequence[Mapping[str, Any]]) -> list[str]:
    """Of all numbers that any of these has, those of one metric together."""
    places = {metric: place for place, metric in enumerate(rc.list_metrics())}
    return sorted({name: 0 for row in rows for name in row}, key=lambda name: places[name.split(" ", 1)[0]])


def false_alarms(rows: Simulations) -> Shares:
    """By number, the share of simulations with a p-value of at most .05."""
    names = dict.fromkeys(name for row in rows for name in row)
    return {name: float(np.mean([row[name] <= LEVEL + _ROUNDING for row in rows])) for name in names}


def within(shares: Shares, low: float, high: float) -> tuple[Holds, str]:
    """Whether all shares are between two limits, and which are not."""
    out = {name: share for name, share in shares.items() if not low <= share <= high}
    holds: Holds = "holds" if not out else "does not hold" if len(out) == len(shares) else "holds in part"
    return holds, _listed(out)


def _listed(shares: Shares) -> str:
    """The first few."""
    shown = [f"{name} {share:.1%}" for name, share in shares.items()]
    more = [f"and {len(shown) - _SHOWN} more"] if len(shown) > _SHOWN else []
    return ", ".join(shown[:_SHOWN] + more)


def _range(shares: Shares) -> str:
    low, high = min(shares, key=lambda name: shares[name]), max(shares, key=lambda name: shares[name])
    if shares[low] == shares[high]:
        return f"{shares[low]:.1%}"
    return f"{shares[low]:.1%} ({low}) to {shares[high]:.1%} ({high})"


def band_claims(inside: Mapping[str, Shares], real: Sequence[str]) -> list[Promise]:
    says = "of a held-out human set 88 to 99 % of single parts fall inside the human band, by every number"
    second = [title for title in real if title.endswith(SECOND)]
    of_kind = {
        f"{says}: normal samples": [title for title in inside if title.startswith("Gaussian,")],
        f"{says} but Fréchet's: heavy tails": [title for title in inside if title.startswith(f"{HEAVY},")],
        f"{says}: human texts of {REAL}, the reference split": [title for title in real if title not in second],
        f"{says}: human texts of {REAL}, a second human set of the reference's size": second,
    }
    claims = []
    for said, titles in of_kind.items():
        heavy = titles[0].startswith(HEAVY)
        together = {
            f"{title}: {name}": share
            for title in titles
            for name, share in inside[title].items()
            if not heavy or name != FRECHET
        }
        holds, out = within(together, *INSIDE)
        here = "; ".join(f"{title}: {_range(inside[title])}" for title in titles)
        if heavy:
            here += "; Fréchet alone " + ", ".join(f"{inside[title][FRECHET]:.1%} ({title})" for title in titles)
        why = f"outside: {out}" if out else ""
        claims.append(Promise("Human against human", said, holds, here, why))
    return claims


def alarm_claims(
    kept: Mapping[str, Shares], broken: Mapping[str, Shares], any_alarm: Mapping[str, float]
) -> list[Promise]:
    says = {
        "documents": ("Texts that belong together", "sentences of different documents on the two sides: at most 7 % "
                      "false alarms by every number at the 5 % level where documents are groups", "without groups"),
        "doubled texts": ("Texts that belong together", "every text twice: at most 7 % false alarms by every number "
                          "where each pair is a group", "without groups"),
        "encoder that learns": ("Encoders that learn", "random halves of a corpus by word counts: at most 7 % false "
                                "alarms by every number where the encoder learns blind to sides",
                                "learnt from the reference alone"),
    }  # fmt: skip
    claims = []
    for case, (where, said, otherwise) in says.items():
        holds, out = within(kept[case], 0, MOST)
        here = f"{_range(kept[case])}; {otherwise}: {_range(broken[case])}"
        claims.append(Promise(where, said, holds, here, f"above: {out}" if out else ""))
    one, several = any_alarm["one, adjusted"], any_alarm["several, adjusted"]
    claims += [
        Promise(
            "p-values",
            "all numbers of all metrics at once: any adjusted p of at most .05 in 3 to 7 % of simulations",
            "holds" if FAMILY[0] <= one <= FAMILY[1] else "does not hold",
            f"{one:.1%}; any raw p: {any_alarm['one, raw']:.1%}",
        ),
        Promise(
            "p-values",
            f"the same with {CANDIDATES} candidates (Holm): at most 7 %",
            "holds" if several <= MOST else "does not hold",
            f"{several:.1%}; any raw p: {any_alarm['several, raw']:.1%}",
        ),
    ]
    return claims


def _promises_table(promises: Sequence[Promise]) -> Section:
    heads = ["about", "promise", "", "found", "why"]
    return Section("promises", rc.Table(heads, [list(promise) for promise in promises], [], left=5))


def _bands_table(bands: Bands, inside: Mapping[str, Shares], real: dict[str, Simulations], scale: Scale) -> Section:
    names = _names(list(inside.values()))
    rows = [
        [*name.split(" ", 1), *(f"{shares[name]:.1%}" if name in shares else "-" for shares in inside.values())]
        for name in names
    ]
    drawn = [
        [row[name] for row in found if name in row]
        for found in (bands.inside | real).values()
        for name in _names(found)
    ]
    error = max(float(np.std(shares) / np.sqrt(len(shares))) for shares in drawn)
    caption = [
        f"Share of the candidate's parts inside the human band, {scale.splits} parts a simulation, mean over "
        f"{scale.bands} simulations ({scale.real} of real texts); standard errors at most {error:.1%}. "
        "Candidates are of the reference's own distribution.",
        *(f"{world}: {what}." for world, what in WORLDS.items()),
        f"Balanced: numbers of whole sets are means over balanced subsamples; bands are of parts of one size either "
        f"way: the same in {bands.equal} of {bands.compared} simulations that were also done without.",
        f"Real texts ({REAL}, two domains): three disjoint random sets of at most {scale.third} human texts are "
        "reference, candidate, and second human set (or nothing: the reference is split).",
    ]
    return Section("human-bands", rc.Table(["metric", "number", *inside], rows, caption, left=2))


def _alarms_table(
    alarms: Mapping[str, Alarms], kept: Mapping[str, Shares], broken: Mapping[str, Shares], scale: Scale
) -> Section:
    rows = [
        [case, *name.split(" ", 1), f"{share:.3f}", f"{broken[case][name]:.3f}"]
        for case, shares in kept.items()
        for name, share in shares.items()
    ]
    caption = [
        f"Share of simulations with p of at most .05, {LABELLINGS} labellings each. As promised: {scale.alarms} "
        f"simulations (standard error {np.sqrt(LEVEL * (1 - LEVEL) / scale.alarms):.3f}); otherwise: the first "
        f"{scale.contrasts} of them, without groups or with an encoder that knows one side.",
        *(f"{case[0].upper()}{case[1:]}: {each.about}." for case, each in alarms.items()),
    ]
    return Section(
        "false-alarms", rc.Table(["sets", "metric", "number", "as promised", "otherwise"], rows, caption, left=3)
    )


def _many_table(many: Many, any_alarm: Mapping[str, float], scale: Scale) -> Section:
    rows = [
        [str(candidates), str(int(found[0]["numbers"])), f"{labellings}",
         f"{any_alarm[f'{who}, raw']:.3f}", f"{any_alarm[f'{who}, adjusted']:.3f}"]
        for who, found, candidates, labellings in (
            ("one", many.one, 1, LABELLINGS), ("several", many.several, CANDIDATES, FEWER_LABELLINGS)
        )
    ]  # fmt: skip
    caption = [
        f"Share of {scale.alarms} simulations with any p of at most .05 (standard error of .05: "
        f"{np.sqrt(LEVEL * (1 - LEVEL) / scale.alarms):.3f}); all metrics, {scale.tested} v {scale.tested} normal "
        "samples."
    ]
    heads = ["candidates", "numbers", "labellings", "any raw p", "any adjusted p"]
    return Section("many-numbers", rc.Table(heads, rows, caption, left=0))


def _verdict(
    inside: Mapping[str, Shares],
    kept: Mapping[str, Shares],
    broken: Mapping[str, Shares],
    any_alarm: Mapping[str, float],
) -> list[str]:
    together = {f"{name}, {title}": share for title, shares in inside.items() for name, share in shares.items()}
    _, out = within(together, *INSIDE)
    return [
        f"Human bands hold {_range(together)} of the parts of held-out human sets, "
        f"{np.median(list(together.values())):.1%} in the middle of {len(together)} numbers and settings. Outside "
        f"88 to 99 %: {out or 'none'}.",
        "False alarms at the 5 % level, lowest and highest of all numbers: "
        + "; ".join(
            f"{case} {_range(shares)}, where the promise is not kept {_range(broken[case])}"
            for case, shares in kept.items()
        )
        + ".",
        f"All numbers at once: any raw p at most .05 in {any_alarm['one, raw']:.1%} of the simulations, any adjusted "
        f"p in {any_alarm['one, adjusted']:.1%}; with {CANDIDATES} candidates {any_alarm['several, raw']:.1%} and "
        f"{any_alarm['several, adjusted']:.1%}.",
    ]


def _drawing(
    inside: Mapping[str, Shares],
    kept: Mapping[str, Shares],
    broken: Mapping[str, Shares],
    any_alarm: Mapping[str, float],
) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        figure.set_size_inches(11, 5.5)
        left, right = figure.subplots(1, 2)
        names = _names(list(inside.values()))[::-1]
        for title, shares in inside.items():
            places = [at for at, name in enumerate(names) if name in shares]
            left.plot([shares[names[at]] for at in places], places, "o", markersize=4, alpha=0.7, label=title)
        left.axvspan(*INSIDE, color="0.9", zorder=0)
        left.set_yticks(range(len(names)), names)
        left.set(xlabel="parts of held-out human sets inside the human band", title="human bands")
        left.legend(fontsize=6, loc="lower left")
        bars = {f"{case}, {name}": (share, broken[case][name]) for case, shares in kept.items()
                for name, share in shares.items()}  # fmt: skip
        bars |= {
            f"all numbers, {who}": (any_alarm[f"{who}, adjusted"], any_alarm[f"{who}, raw"])
            for who in ("one", "several")
        }
        for shift, label in ((0.2, "as promised"), (-0.2, "otherwise")):
            values = [pair[shift < 0] for pair in bars.values()][::-1]
            right.barh(np.arange(len(bars)) + shift, values, 0.4, label=label)
        right.axvline(LEVEL, color="0.3", linestyle=":")
        right.set_yticks(range(len(bars)), list(bars)[::-1], fontsize=7)
        right.set(xlabel="false alarms at the 5 % level", title="p-values", xlim=(0, 1))
        right.legend(fontsize=7)

    return draw


STUDY = Study(
    name="promises",
    title="What p-values and human bands promise",
    paper="",
    reproduces="recapture's own check of its p-values and human bands, on sets that do not differ",
    data=(BROWN, REAL),
    run=_run,
    layout=LAYOUT,
    takes="25 minutes on one core",
)
