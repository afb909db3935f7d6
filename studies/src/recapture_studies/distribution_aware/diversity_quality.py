"""Unique against correct candidates: which scores see both?"""

from __future__ import annotations

from typing import Any

import numpy as np

import recapture as rc

from ..progress import progress_bar
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..words import short
from .captions import LAYOUT, Scoring, data_file, load

_SIDE = 10
_SEEN = 0.1
"""Share of a score's range from which on it counts as seen."""
_METRICS = ("trm-meteor", "meteor", "trm-cider", "cider")


def _run(setup: Setup) -> Findings:
    rows = load(data_file(setup, "abstract48s"), contexts=2, references=2 * _SIDE)
    scenes = min(8 if setup.quick else 200, len(rows))
    rng = np.random.default_rng(setup.seed)
    scoring = Scoring(setup, _METRICS, [row.references for row in rows])
    steps = range(0, _SIDE + 1, 5 if setup.quick else 1)
    uniques = range(1, _SIDE + 1, 3 if setup.quick else 1)
    kept = steps_of(setup, "diversity-quality", {"revision": 1}, [data_file(setup, "abstract48s")], encodes=False)
    maps = {name: np.zeros((len(uniques), len(steps))) for name in _METRICS}
    with progress_bar("scenes", scenes, "scene") as progress:
        for row in rows[:scenes]:
            texts = rng.permutation(row.references).tolist()
            strangers = [other for other in rows if other.id != row.id]
            wrong = [str(rng.choice(strangers[i].references)) for i in rng.integers(0, len(strangers), _SIDE)]
            # Ten references, ten more of the scene, ten of other scenes: every cell is made of these.
            group = [*texts[: 2 * _SIDE], *wrong]
            cells = [_cell(correct, unique, rng) for unique in uniques for correct in steps]
            made = kept.get(str(row.id), lambda group=group, cells=cells: _scored(scoring, group, cells))  # type: ignore[misc]
            for name, values in made.items():
                maps[name] += np.reshape(values, maps[name].shape) / scenes
            progress.advance()
    tables = [
        Section(
            name,
            rc.Table(
                ["unique", *(f"{correct} correct" for correct in steps)],
                [[str(unique), *map(short, line)] for unique, line in zip(uniques, maps[name], strict=True)],
                [f"Mean of {name} over {scenes} scenes, {_SIDE} references, {_SIDE} candidates."],
            ),
        )
        for name in _METRICS
    ]

    def draw(figure: Any) -> None:
        figure.set_size_inches(10, 8)
        for axes, name in zip(figure.subplots(2, 2).flat, _METRICS, strict=True):
            lower = name.startswith("trm")
            image = axes.imshow(maps[name], origin="lower", cmap="viridis_r" if lower else "viridis", aspect="auto")
            axes.set(title=f"{name} ({'lower' if lower else 'higher'} is better)", xlabel="correct", ylabel="unique")
            axes.set_xticks(range(len(steps)), list(steps))
            axes.set_yticks(range(len(uniques)), list(uniques))
            figure.colorbar(image)

    return Findings(tables, draw, _verdict(maps), {"scenes": scenes}, _claims(maps))


def _scored(scoring: Scoring, group: list[str], cells: list[list[int]]) -> dict[str, list[float]]:
    """By metric: the score of every cell."""
    return scoring.on_squares(scoring.squares(group), group, _SIDE, cells)


def _cell(correct: int, unique: int, rng: np.random.Generator) -> list[int]:
    """Positions of the references and of ten candidates: `correct` right ones, drawn from `unique` different ones."""
    right = _SIDE + rng.permutation(_SIDE)[:unique]
    wrong = 2 * _SIDE + rng.permutation(_SIDE)[:unique]
    return [*range(_SIDE), *_spread(right, correct, rng), *_spread(wrong, _SIDE - correct, rng)]


def _spread(pool: np.ndarray, count: int, rng: np.random.Generator) -> list[int]:
    """`count` of the pool, each once before any comes twice."""
    rounds = [rng.permutation(pool) for _ in range(-(-count // len(pool)))]
    return [int(i) for i in np.concatenate(rounds)[:count]] if count else []


def _moves(name: str, found: np.ndarray) -> tuple[float, float]:
    """How far the score gains with variety (all correct) and with correctness (all unique), over the map's range."""
    towards = (-1 if name.startswith("trm") else 1) / (float(np.ptp(found)) or 1.0)
    return float(found[-1, -1] - found[0, -1]) * towards, float(found[-1, -1] - found[-1, 0]) * towards


def _claims(maps: dict[str, np.ndarray]) -> list[Claim]:
    claims = []
    for base, where in (("meteor", "Figure 8"), ("cider", "Figure 9")):
        (variety, quality), (flat, alone) = (_moves(name, maps[name]) for name in (f"trm-{base}", base))
        sees, blind = min(variety, quality) > _SEEN, abs(flat) < _SEEN < alone
        # Are half-wrong candidates, each of them different, better for the rank than right ones that repeat?
        ranks = maps[f"trm-{base}"]
        half = float(ranks[-1, ranks.shape[1] // 2])
        claims.append(
            Claim(
                where,
                f"TRM over {base} gains by variety and by correctness, {base} alone by correctness only",
                "holds" if sees and blind else "holds in part" if sees or blind else "does not hold",
                f"shares of its range gained by variety and by correctness: TRM {variety:.0%} and {quality:.0%}, "
                f"{base} {flat:.0%} and {alone:.0%}; one correct text, repeated, has TRM {ranks[0, -1]:.2f}, "
                f"different texts of which about half are wrong {half:.2f}",
            )
        )
    return claims


def _verdict(maps: dict[str, np.ndarray]) -> list[str]:
    lines = []
    for name, found in maps.items():
        variety, quality = _moves(name, found)
        lines.append(
            f"{name}: all correct, from one to ten unique texts it gains {variety:.0%} of its range; "
            f"ten unique texts, from none to all correct, {quality:.0%}."
        )
    seen = [name for name, found in maps.items() if name.startswith("trm") and found[-1, -1] < found[0, -1]]
    lines.append(
        "The paper's claim (triangle ranks see correctness and variety, averages only correctness) "
        + (f"holds here for {' and '.join(seen)}." if seen else "does not hold here.")
    )
    return lines


STUDY = Study(
    name="diversity-quality",
    title="Unique and correct: what scores reward",
    paper="Distribution-aware metrics",
    reproduces="Figures 8 and 9",
    data=("abstract48s",),
    run=_run,
    encodes=False,
    layout={"abstract48s": LAYOUT["abstract48s"]},
    takes="half a minute on 2 cores",
)
