"""Many generators of one domain: do metrics of whole sets of texts rank them by fluency as people do?"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from itertools import combinations
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables, estimate, number, numbers
from ..models import RECURRENT
from ..rated import leaders, shown
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, absent, less, together
from .e2e_ratings import CRITERIA, LAYOUT, Rated, files, load
from .fluency_paper import BEST_K
from .fluency_scores import METHODS, Encoding, Scorer, Sizes, default_of
from .fluency_view import (
    COEFFICIENTS,
    Agreement,
    Found,
    beside_the_paper,
    by_method,
    drawer,
    over_encoders,
    over_sizes,
    ratings,
)

_FULL = Sizes(tuple(range(1, 11)), (10, 20, 40), 3)
_QUICK = Sizes((1, 2, 3), (10, 20), 1)
_LSTM, _BAG = "recurrent LSTM", "bag of words"
_ENCODERS = (
    Encoding("all-MiniLM mean", None, "mean"),
    Encoding("all-MiniLM max", None, "max"),
    Encoding("all-MiniLM CLS", None, "cls"),
    Encoding(_LSTM, RECURRENT),
    Encoding(_BAG, "bag-of-words"),
)
"""What the paper calls contextual and older vectors: of the older family one that reads words in order, as InferSent
does, and one that does not."""
_TEXTS = ("forward CE", "reverse CE", "BLEU", "distinct bigrams")
"""Methods that look at words, not at vectors; the last, a control, never looks at references."""
_ME = ("ME quality", "ME Petersen", "ME CAPTURE")
_VECTORS = ("Fréchet", "PRD F1/8", "precision", *_ME)
"""Those of the paper's tables; it shows quality alone of methods that have two numbers."""
_RESAMPLES = 2000
_REPEATS = 100
"""Random splits of the systems in two halves."""
_FEWEST = 6
"""Systems that two halves of three need."""

Settings = Mapping[int | None, np.ndarray]


def _run(setup: Setup) -> Findings:
    sizes = _QUICK if setup.quick else _FULL
    rated = load(setup, 6, 40, 3) if setup.quick else load(setup)
    paths = files(setup.data / "e2e_nlg")
    wanted = _encoders(setup)
    encoders = [each for each in wanted if each.is_here]
    # By encoder and form.
    scorers = {(each.label, "drawn"): Scorer(setup, rated, each, sizes, paths) for each in encoders}
    scores = {at: scorer.scores(at[1]) for at, scorer in scorers.items()}
    main = encoders[0].label
    scores[main, "all"] = scorers[main, "drawn"].scores("all")
    texts = _text_scores(setup, rated, paths)
    scores[main, "drawn"] |= {name: {None: each} for name, each in texts.items()}
    agreements = {
        (*at, criterion): {
            name: _agreement(name, each, rated.won[criterion], setup, at == (main, "drawn"))
            for name, each in by.items()
        }
        for at, by in scores.items()
        for criterion in CRITERIA
    }
    natural = agreements[main, "drawn", "naturalness"]
    tables = [
        Section("beside-the-paper", beside_the_paper(natural, rated, main)),
        *(Section(name, by_method(agreements[main, "drawn", name], rated, main, name, sizes)) for name in CRITERIA),
        Section("encoders", over_encoders(agreements, [each.label for each in wanted])),
        Section("set-sizes", over_sizes(agreements, main, rated, sizes)),
        Section("ratings", ratings(rated, texts["BLEU"])),
    ]
    settings = {"sizes": vars(sizes), "encoders": [each.label for each in encoders], "splits": _repeats(setup)}
    return Findings(tables, drawer(natural, main), _verdict(agreements, main, rated), settings)


def _encoders(setup: Setup) -> list[Encoding]:
    """The one that was asked for first, then the study's own; a quick form has one of either kind."""
    pooling = setup.encoding.get("pooling")
    if setup.encoder is None:
        own = [each for each in _ENCODERS if each.pooling == pooling] if pooling else []
        rest = [each for each in _ENCODERS if each not in own]
        return [*own, *rest] if not setup.quick else [(own or rest)[0], _ENCODERS[-1]]
    known = [each for each in _ENCODERS if each.encoder == setup.encoder]
    asked = known[0] if known else Encoding(f"{setup.encoder} {pooling or ''}".strip(), setup.encoder, pooling)
    return [asked] if setup.quick else [asked, *(each for each in _ENCODERS if each != asked)]


def _repeats(setup: Setup) -> int:
    return 10 if setup.quick else _REPEATS


def _text_scores(setup: Setup, rated: Rated, paths: Sequence[Any]) -> dict[str, np.ndarray]:
    """Oriented: higher is better."""

    steps = steps_of(setup, "fluency-texts", {"revision": 2}, paths, encodes=False)

    def of(name: str) -> list[float]:
        entropy = rc.cross_entropy(rated.references, rated.outputs[name])
        score = rc.bleu(rated.references, rated.outputs[name], lowercase=True)
        return [-entropy.forward, -entropy.reverse, score.value, rc.distinct_n(rated.outputs[name], 2)[2]]

    rows = [steps.get(name, lambda name=name: of(name)) for name in rated.outputs]  # type: ignore[misc]
    return dict(zip(_TEXTS, np.array(rows, np.float64).T, strict=True))


def _agreement(name: str, by: Settings, people: np.ndarray, setup: Setup, halved: bool) -> Agreement:
    """halved: whether to look at halves of the systems, too, which takes a while."""
    default = next((default_of(each) for each in METHODS if each.name == name), None)
    curve = {setting: rc.correlation(people, each) for setting, each in by.items()}
    known = {setting: value for setting, value in curve.items() if not math.isnan(value)}
    best = max(known, key=known.__getitem__) if known else default
    rng = np.random.default_rng(setup.seed)
    drawn = rng.integers(0, len(people), (_RESAMPLES, len(people)))
    resampled = rc.correlation(people[drawn], by[default][drawn], "pearson")
    low, high = np.nanquantile(resampled, [0.025, 0.975]) if default in known else (math.nan, math.nan)

    def halves(settings: Settings) -> float:
        columns = {setting: each[:, None] for setting, each in settings.items()}
        if not halved or len(people) < _FEWEST:
            return math.nan
        times = _repeats(setup)
        try:
            return rc.sweep(columns, people[:, None], over="systems", folds=2, repeats=times, seed=setup.seed).honest
        except rc.InputError:  # a half on which the scores do not vary
            return math.nan

    return Agreement(
        {each: rc.correlation(people, by[default], each) for each in COEFFICIENTS},
        float(low),
        float(high),
        {each: rc.correlation(people, by[best], each) for each in COEFFICIENTS},
        best,
        halves({default: by[default]}),
        halves(by),
        curve,
    )


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = {row["method"]: row for row in tables["naturalness"]}
    default = {name: estimate(row["r"], row["95 % over systems"]) for name, row in rows.items()}
    best = {row["method"]: numbers(row["here, best k"]) for row in tables["beside-the-paper"]}
    main = settings["encoders"][0]
    made = f"E2E NLG, {len(tables['ratings'])} generators, naturalness, {main}"
    other = "Other generators, data and encoder; people rated naturalness"

    def honest(name: str) -> str:
        swept = rows[name]["halves: k of the other half"]
        return rows[name]["halves: default k"] if swept == "-" else swept

    def pieces(where: str, ones: Sequence[str], others: Sequence[str]) -> Iterator[Claim]:
        """As the paper chooses k, and at settings that were fixed beforehand."""
        pairs = [(one, other) for one in ones for other in others if one != other]
        named = list(dict.fromkeys([*ones, *others]))
        plain = together(
            above(Estimate(one - two))
            for first, second in pairs
            for one, two in zip(best[first], best[second], strict=True)
        )
        told = "r at the best k: " + ", ".join(f"{name} {shown(best[name][0])}" for name in named)
        yield Claim(
            where,
            plain,
            f"{told} (compared by r, tau and rho)",
            f"{made}, best k",
            "" if plain.holds == "holds" else other,
            chosen="same",
        )
        yield fixed(where, pairs, named)

    def fixed(where: str, pairs: Sequence[tuple[str, str]], named: Sequence[str]) -> Claim:
        verdict = together(above(less(default[first], default[second])) for first, second in pairs)
        told = ", ".join(f"{name} {rows[name]['r']} ({rows[name]['95 % over systems']})" for name in named)
        halves = ", ".join(f"{name} {honest(name)}" for name in named)
        return Claim(
            where,
            verdict,
            f"r at the default k (95 %): {told}; k of the other half of the systems: {halves}",
            f"{made}, default k",
            "" if verdict.holds == "holds" else other,
        )

    rivals = ["Fréchet", "PRD F1/8", "precision"]
    paper = "mark-evaluate/table-1"
    claims = [
        *pieces(f"{paper}/schnabel-best", ["ME quality"], list(BEST_K)),
        *pieces(f"{paper}/schnabel-above-fid", ["ME quality"], ["Fréchet"]),
        *pieces(f"{paper}/estimators-above-prd-impar", _ME, ["PRD F1/8", "precision"]),
        *pieces(f"{paper}/vectors-above-cross-entropy", _VECTORS, ["forward CE", "reverse CE"]),
        *pieces(f"{paper}/forward-above-reverse", ["forward CE"], ["reverse CE"]),
        fixed("mark-evaluate/table-4/estimators-ahead", [(one, two) for one in _ME for two in rivals], _VECTORS),
    ]
    stand_ins = _stand_ins(tables, main)
    if stand_ins:
        claims.append(Claim("mark-evaluate/table-4/contextual-vectors", absent("SBERT and InferSent"), stand_ins, made))
    return claims


def _stand_ins(tables: Tables, main: str) -> str:
    """How the encoders here compare, by r with naturalness over the paper's methods; they are not the paper's."""
    found = {
        label: values
        for label in (main, _LSTM, _BAG)
        for values in [
            [number(row.get(f"{label}: naturalness", "-")) for row in tables["encoders"] if row["method"] in _VECTORS]
        ]
        if not any(map(math.isnan, values))
    }
    if main not in found or len(found) < 2:
        return ""
    means = ", ".join(f"{label} {shown(float(np.mean(values)))}" for label, values in found.items())
    pairs = (
        f"{one} above {two} by {sum(a > b for a, b in zip(found[one], found[two], strict=True))} of {len(found[one])}"
        for one, two in combinations(found, 2)
    )
    missing = f"; {_LSTM} cannot be told: its weights are not here" if _LSTM not in found else ""
    return f"stand-ins, mean r over {len(found[main])} numbers: {means}; {', '.join(pairs)}{missing}"


def _against(natural: Mapping[str, Agreement]) -> list[str]:
    """Metrics that rank systems the other way round."""
    turned = {name: own.default["pearson"] for name, own in natural.items() if own.high < 0 and name != _TEXTS[-1]}
    if not turned:
        return []
    varied = natural[_TEXTS[-1]].default["pearson"]
    words = ", ".join(f"{name} {shown(value)}" for name, value in turned.items())
    why = (
        "Here people prefer systems that repeat themselves: the share of distinct bigrams, which no reference enters, "
        f"has r = {shown(varied)}. What rewards variety like that of human texts then disagrees with them; precision "
        "asks only whether each text is like a human one."
        if varied < 0
        else f"Variety is not the reason: the share of distinct bigrams has r = {shown(varied)}."
    )
    return [
        f"Some metrics rank the systems the other way round, their whole interval below 0: {words}. Absolute values, "
        f"which the paper prints, would hide this. {why}"
    ]


def _verdict(agreements: Found, main: str, rated: Rated) -> list[str]:
    lines = []
    for criterion in CRITERIA:
        by = agreements[main, "drawn", criterion]
        best = leaders({name: own.default["pearson"] for name, own in by.items()}, 4)
        lines.append(
            f"{criterion.capitalize()}, {main}, default settings: best by Pearson's r are {best}; BLEU has "
            f"{shown(by['BLEU'].default['pearson'])}."
        )
    natural = agreements[main, "drawn", "naturalness"]
    lines += _against(natural)
    swept = {name: own for name, own in natural.items() if len(own.curve) > 1 and not math.isnan(own.honest)}
    if swept:
        gains = {name: own.honest - own.on_halves for name, own in swept.items()}
        lines.append(
            "Choosing k on the ratings it is then measured on, as the paper does, adds "
            f"{shown(float(np.mean([own.best['pearson'] - own.default['pearson'] for own in swept.values()])))} to "
            f"Pearson's r, mean over {len(swept)} methods; chosen on half of the systems and measured on the other "
            f"half it adds {shown(float(np.mean(list(gains.values()))))} (from {shown(min(gains.values()))} to "
            f"{shown(max(gains.values()))})."
        )
    widths = [own.high - own.low for own in natural.values() if not math.isnan(own.low)]
    if widths:
        lines.append(
            f"With {len(rated.outputs)} systems a correlation is known to about ± {shown(float(np.mean(widths)) / 2)} "
            "(mean half width of the 95 % intervals): most differences between methods are within chance."
            if np.mean(widths) > 0.2
            else f"The 95 % intervals are {shown(float(np.mean(widths)))} wide on average."
        )
    return lines


STUDY = Study(
    name="fluency",
    title="Fluency of 21 generators of one domain",
    paper="Mark-Evaluate",
    reproduces="Tables 1 and 4 in form, on other generators",
    data=("e2e_nlg",),
    run=_run,
    judge=judge,
    layout={"e2e_nlg": LAYOUT},
    takes="20 minutes on 2 cores that others used, too, once all texts were encoded (16,536, three times; four with a "
    "recurrent encoder)",
)
