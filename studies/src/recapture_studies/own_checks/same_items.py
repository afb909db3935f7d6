"""Systems on the same items and contexts: how often is a difference claimed where there is none, and found where there
is one?
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..distribution_aware.captions import LAYOUT as OF_CONTEXTS
from ..distribution_aware.captions import data_file, load
from ..mark_evaluate.e2e_ratings import LAYOUT as OF_PAIRS
from ..mark_evaluate.e2e_ratings import load as load_rated
from ..progress import progress_bar
from ..study import Findings, Section, Setup, Study

LEVEL = 0.05
MOST = 0.08
"""False alarms at that level that the comparison promises not to exceed."""
_PAIR_METRICS = ("bleu", "chrf", "rouge")
_CONTEXT_METRICS = ("trm-rouge-l", "trm-sentence-bleu", "rouge-l")
_BLOCK = 10
"""Items in a row that a coin gives to one system together, where groups are looked at."""
_REFERENCES = 3
_TEXTS = 5
"""A side in each context."""


class Scale(NamedTuple):
    alarms: int
    contrasts: int
    power: int
    items: tuple[int, ...]
    contexts: tuple[int, ...]


FULL = Scale(500, 60, 50, (50, 100, 200), (30, 60))
QUICK = Scale(3, 2, 2, (20,), (10,))


class Case(NamedTuple):
    """Many comparisons of one kind."""

    what: str
    kind: str
    size: int
    real: bool
    """Whether there is a difference."""
    claimed: list[bool]
    """By run: whether some adjusted p-value was below the level."""
    right: list[bool]
    """By run: whether the better system was said to be closer, and the other by no number."""

    @property
    def share(self) -> float:
        return float(np.mean(self.claimed))


Draw = Callable[[np.random.Generator], rc.Comparison]


def _case(setup: Setup, what: str, kind: str, size: int, runs: int, draw: Draw, real: bool = False) -> Case:
    claimed, right = [], []
    with progress_bar(f"{what}, {size}", runs, "run") as progress:
        for number in range(runs):
            # One stream for each run: a longer study begins with the shorter one's runs.
            compared = draw(np.random.default_rng([setup.seed, size, number]))
            claimed.append(not compared.tied("a", "b"))
            right.append(compared.beats("a", "b"))
            progress.advance()
    return Case(what, kind, size, real, claimed, right)


# Pairs


class Outputs(NamedTuple):
    references: Sequence[Sequence[str]]
    first: Sequence[str]
    second: Sequence[str]

    def split(self, chosen: Sequence[int], coins: np.ndarray) -> dict[str, list[str]]:
        """By a coin for each item, which of the two outputs is a's."""
        two = [(self.first[at], self.second[at]) for at in chosen]
        return {
            "a": [pair[int(coin)] for pair, coin in zip(two, coins, strict=True)],
            "b": [pair[1 - int(coin)] for pair, coin in zip(two, coins, strict=True)],
        }


def _pairs(setup: Setup, scale: Scale) -> tuple[list[Case], dict[str, str]]:
    rated = load_rated(setup, most=_REFERENCES)
    known = {name: rc.bleu(rated.references, texts).value for name, texts in rated.outputs.items()}
    order = sorted(known, key=lambda name: -known[name])
    names = {"best": order[0], "second": order[1], "middle": order[len(order) // 2]}
    chosen = {what: rated.outputs[name] for what, name in names.items()}
    near = Outputs(rated.references, chosen["best"], chosen["second"])
    apart = Outputs(rated.references, chosen["best"], chosen["middle"])

    def alike(size: int, rng: np.random.Generator) -> rc.Comparison:
        at = rng.choice(len(near.references), size, replace=False).tolist()
        systems = near.split(at, rng.integers(0, 2, size))
        return rc.compare_pairs([near.references[place] for place in at], systems, _PAIR_METRICS, level=LEVEL)

    def in_blocks(size: int, groups: bool, rng: np.random.Generator) -> rc.Comparison:
        # The best and the middle one: where a block goes to one system as a whole, its items differ alike.
        starts = rng.choice(len(apart.references) // _BLOCK, size // _BLOCK, replace=False)
        at = [int(start) * _BLOCK + place for start in starts for place in range(_BLOCK)]
        systems = apart.split(at, np.repeat(rng.integers(0, 2, len(starts)), _BLOCK))
        labels = [place // _BLOCK for place in at] if groups else None
        references = [apart.references[place] for place in at]
        return rc.compare_pairs(references, systems, _PAIR_METRICS, level=LEVEL, groups=labels)

    def different(pair: Outputs, size: int, rng: np.random.Generator) -> rc.Comparison:
        at = rng.choice(len(pair.references), size, replace=False).tolist()
        systems = pair.split(at, np.zeros(size, int))
        return rc.compare_pairs([pair.references[place] for place in at], systems, _PAIR_METRICS, level=LEVEL)

    smallest = scale.items[0]
    largest = scale.items[-1]
    together = f"by a coin for {_BLOCK} items together"
    cases = [
        _case(
            setup,
            "outputs of two systems, by a coin for each item",
            "pairs",
            smallest,
            scale.alarms,
            partial(alike, smallest),
        ),
        _case(setup, f"{together}, as groups", "pairs", largest, scale.contrasts, partial(in_blocks, largest, True)),
        _case(
            setup,
            f"{together}, groups not given",
            "pairs",
            largest,
            scale.contrasts,
            partial(in_blocks, largest, False),
        ),
    ]
    cases += [
        _case(setup, what, "pairs", size, scale.power, partial(different, pair, size), real=True)
        for size in scale.items
        for what, pair in (("best and second system", near), ("best and middle system", apart))
    ]
    return cases, names


# Contexts


def _contexts(setup: Setup, scale: Scale) -> list[Case]:
    rows = load(data_file(setup, "e2e_dev_multi"), contexts=10, references=2 * _TEXTS, candidates=2 * _TEXTS)

    def drawn(size: int, people: bool, rng: np.random.Generator) -> rc.Comparison:
        at = rng.choice(len(rows), min(size, len(rows)), replace=False).tolist()
        references: list[list[str]] = []
        sides: dict[str, list[list[str]]] = {"a": [], "b": []}
        for place in at:
            human = [rows[place].references[each] for each in rng.permutation(len(rows[place].references))]
            seeds = [rows[place].candidates[each] for each in rng.permutation(len(rows[place].candidates))]
            references.append(human[:_TEXTS])
            sides["a"].append(human[_TEXTS : 2 * _TEXTS] if people else seeds[_TEXTS : 2 * _TEXTS])
            sides["b"].append(seeds[:_TEXTS])
        return rc.compare_contexts(references, sides, _CONTEXT_METRICS, level=LEVEL, resume=False)

    smallest = scale.contexts[0]
    return [
        _case(
            setup,
            "seeds of one model, five a system at random",
            "contexts",
            smallest,
            scale.alarms,
            partial(drawn, smallest, False),
        ),
        *(
            _case(
                setup,
                "people and a model's seeds",
                "contexts",
                size,
                scale.power,
                partial(drawn, size, True),
                real=True,
            )
            for size in scale.contexts
        ),
    ]


def _run(setup: Setup) -> Findings:
    scale = QUICK if setup.quick else FULL
    pairs, names = _pairs(setup, scale)
    cases = [*pairs, *_contexts(setup, scale)]
    rows = [
        [case.kind, case.what, str(case.size), "yes" if case.real else "no", str(len(case.claimed)),
         f"{case.share:.1%}", f"{np.mean(case.right):.1%}" if case.real else "-"]
        for case in cases
    ]  # fmt: skip
    caption = [
        f"Systems of the E2E challenge by BLEU: best {names['best']}, second {names['second']}, middle "
        f"{names['middle']}; at most {_REFERENCES} references an item; {', '.join(_PAIR_METRICS)} (all their numbers). "
        f"Contexts: {_TEXTS} references and {_TEXTS} texts a system; {', '.join(_CONTEXT_METRICS)}.",
        f"claimed: some adjusted p-value below {LEVEL:g} (standard error of 5 % in {scale.alarms} runs: "
        f"{np.sqrt(LEVEL * (1 - LEVEL) / scale.alarms):.1%}); right: the better system is said to be closer, and the "
        "other by no number.",
    ]
    heads = ["kind", "systems", "items", "differ", "runs", "claimed", "right"]
    return Findings(
        [Section("differences-claimed", rc.Table(heads, rows, caption, left=2))],
        _drawing(cases),
        _verdict(cases),
        {"scale": scale._asdict(), "level": LEVEL},
    )


def _verdict(cases: Sequence[Case]) -> list[str]:
    kept = {f"{case.kind}: {case.what}": case.share for case in cases if not case.real and "not given" not in case.what}
    broken = [case for case in cases if "not given" in case.what]
    said = "; ".join(f"{name} {share:.1%}" for name, share in kept.items())
    found = _found(cases)
    return [
        f"Where nothing differs some difference is claimed in: {said}. Promised: at most {MOST:.0%}"
        f" ({'kept' if max(kept.values()) <= MOST else 'not kept'}). Where items belong together and that is not said: "
        f"{', '.join(f'{case.share:.1%}' for case in broken)}.",
        "Real differences are found in: " + "; ".join(f"{name} {share}" for name, share in found.items()) + ".",
    ]


def _found(cases: Sequence[Case]) -> Mapping[str, str]:
    by_what: dict[str, list[str]] = {}
    for case in cases:
        if case.real:
            by_what.setdefault(case.what, []).append(f"{case.share:.0%} with {case.size} {case.kind}")
    return {what: ", ".join(shares) for what, shares in by_what.items()}


def _drawing(cases: Sequence[Case]) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        figure.set_size_inches(9, 4)
        axes = figure.subplots()
        names = [f"{case.what}, {case.size}" for case in cases][::-1]
        colours = ["C0" if case.real else "C1" for case in cases][::-1]
        axes.barh(range(len(cases)), [case.share for case in cases][::-1], color=colours)
        axes.axvline(LEVEL, color="0.3", linestyle=":")
        axes.set_yticks(range(len(cases)), names, fontsize=7)
        axes.set(xlabel="runs in which some difference is claimed", xlim=(0, 1))

    return draw


STUDY = Study(
    name="same-items",
    title="Systems on the same items: false alarms and power",
    paper="",
    reproduces="recapture's own check of compare_pairs and compare_contexts, where nothing differs and where it does",
    data=("e2e_nlg", "e2e_dev_multi"),
    run=_run,
    encodes=False,
    layout={"e2e_nlg": OF_PAIRS, "e2e_dev_multi": OF_CONTEXTS["e2e_dev_multi"]},
    takes="10 minutes on one core",
)
