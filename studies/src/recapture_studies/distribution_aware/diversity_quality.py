"""Unique against correct candidates: which scores see both?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables, estimate, keyed, mean_and_half
from ..progress import progress_bar
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import above, stays, together
from ..words import short
from .captions import LAYOUT, Scoring, data_file, load

_SIDE = 10
_METRICS = ("trm-meteor", "meteor", "trm-cider", "cider")


def _run(setup: Setup) -> Findings:
    rows = load(data_file(setup, "abstract48s"), contexts=2, references=2 * _SIDE)
    scenes = min(8 if setup.quick else 200, len(rows))
    rng = np.random.default_rng(setup.seed)
    scoring = Scoring(setup, _METRICS, [row.references for row in rows])
    steps = range(0, _SIDE + 1, 5 if setup.quick else 1)
    uniques = range(1, _SIDE + 1, 3 if setup.quick else 1)
    kept = steps_of(setup, "diversity-quality", {"revision": 1}, [data_file(setup, "abstract48s")], encodes=False)
    every: dict[str, list[np.ndarray]] = {name: [] for name in _METRICS}
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
                every[name].append(np.reshape(values, (len(uniques), len(steps))))
            progress.advance()
    maps = {name: np.mean(values, axis=0) for name, values in every.items()}
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

    tables.append(_gains(every))

    def draw(figure: Any) -> None:
        figure.set_size_inches(10, 8)
        for axes, name in zip(figure.subplots(2, 2).flat, _METRICS, strict=True):
            lower = name.startswith("trm")
            image = axes.imshow(maps[name], origin="lower", cmap="viridis_r" if lower else "viridis", aspect="auto")
            axes.set(title=f"{name} ({'lower' if lower else 'higher'} is better)", xlabel="correct", ylabel="unique")
            axes.set_xticks(range(len(steps)), list(steps))
            axes.set_yticks(range(len(uniques)), list(uniques))
            figure.colorbar(image)

    return Findings(tables, draw, _verdict(maps), {"scenes": scenes})


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


def _gains(every: dict[str, list[np.ndarray]]) -> Section:
    rows = []
    for name, values in every.items():
        found = np.array(values)
        towards = (-1 if name.startswith("trm") else 1) / (float(np.ptp(found.mean(axis=0))) or 1.0)
        variety, correct = (found[:, -1, -1] - found[:, at, to] for at, to in ((0, -1), (-1, 0)))
        rows.append([name, mean_and_half(towards * variety), mean_and_half(towards * correct)])
    caption = [
        "What a score gains over the range of its table: by variety (all correct, from one to ten different texts) and "
        "by correctness (all different, from none to all correct); mean over scenes ± 1.96 standard errors."
    ]
    return Section("gains", rc.Table(["metric", "by variety", "by correctness"], rows, caption))


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    gains = keyed(tables["gains"], "metric")
    claims = []
    for base, place in (("meteor", "figure-8"), ("cider", "figure-9")):
        ranks, alone = gains[f"trm-{base}",], gains[base,]
        parts = [above(estimate(ranks[how])) for how in ("by variety", "by correctness")]
        parts += [above(estimate(alone["by correctness"])), stays(estimate(alone["by variety"]))]
        first, *_, last = tables[f"trm-{base}"]
        cells = [cell for head, cell in last.items() if head.endswith("correct")]
        claims.append(
            Claim(
                f"distribution-aware/{place}/{base}",
                together(parts),
                "shares of its range gained by variety and by correctness: "
                f"TRM {ranks['by variety']} and {ranks['by correctness']}, {base} {alone['by variety']} and "
                f"{alone['by correctness']}; one correct text, repeated, has TRM {list(first.values())[-1]}, different "
                f"texts of which about half are wrong {cells[len(cells) // 2]}",
                "abstract scenes",
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
    judge=judge,
    encodes=False,
    layout={"abstract48s": LAYOUT["abstract48s"]},
    takes="half a minute on 2 cores",
)
