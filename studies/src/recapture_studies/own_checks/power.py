"""Which numbers notice which damage? Known damages of rising strength on real texts, at equal false alarms.

The rule, the same for every number: a number raises an alarm where it is further from its mean over comparisons of
undamaged human sets of that size than in all but 5 % of these comparisons, on either side (a candidate that copies the
reference looks too good). Several numbers together raise one where the largest of their distances, each in units of
its own spread among undamaged sets, is beyond 95 % of the largest distances there: so sets of numbers, too, have equal
false alarms, and the price of looking at many is paid.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from itertools import combinations
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..mark_evaluate.genres import BROWN
from ..study import Findings, Section, Setup, Study
from .power_draws import HUMAN, KINDS, NONE, Case, Values, costs, measure_all, number_names
from .power_scale import Scale
from .power_texts import CAPTIONS, LAYOUTS, prepared

LEVEL = 0.05
MOST_ROWS = 4
NEAR = 0.01
"""Sets of numbers whose power is within this of the best are as good: the cheapest of them is taken."""
BEFORE = ("mark-evaluate.quality", "mark-evaluate.diversity", "density-coverage.coverage", "mmd")
"""The rows that `compare` had before this study, chosen by hand."""
_NOTICES = 0.8
"""Of the best row's power: a row with as much is named as one that notices the damage."""
_PRICED = 1000
"""Texts a side where costs are compared."""
BOTH = "both"

Found = Mapping[tuple[str, Case], Values]


class Test(NamedTuple):
    """An alarm beyond `limit`, and at it with a probability that makes false alarms as frequent as they should be:
    numbers of small sets take few values, and many comparisons may lie at the limit itself."""

    limit: float
    at: float

    def alarms(self, distances: np.ndarray) -> np.ndarray:
        """By comparison: the probability of an alarm."""
        return np.where(distances > self.limit, 1.0, np.where(distances == self.limit, self.at, 0.0))


def calibrated(human: np.ndarray, level: float = LEVEL) -> Test:
    """The test that raises an alarm in a share `level` of these comparisons."""
    values, counts = np.unique(human, return_counts=True)
    above = (len(human) - np.cumsum(counts)) / len(human)  # the share beyond each value
    place = int(np.argmax(above <= level + 1e-12))
    return Test(float(values[place]), float((level - above[place]) * len(human) / counts[place]))


class World(NamedTuple):
    """All comparisons of one encoder and size, as distances in units of each number's spread among undamaged sets."""

    encoder: str
    size: int
    human: np.ndarray
    """By number and comparison."""
    cases: list[Case]
    rows: np.ndarray
    """The same of all cases, one after the other."""
    better: Mapping[Case, np.ndarray]
    """By number: whether most comparisons of a case that raise an alarm are on the side that counts as better."""

    def power(self, numbers: Sequence[int]) -> dict[Case, float]:
        """Of an alarm by any of these numbers, by case."""
        test = calibrated(np.maximum.reduce([self.human[number] for number in numbers]))
        alarms = test.alarms(np.maximum.reduce([self.rows[number] for number in numbers]))
        counts = [case.runs for case in self.cases]
        sums = np.add.reduceat(alarms, np.cumsum([0, *counts[:-1]]))
        return dict(zip(self.cases, (sums / counts).tolist(), strict=True))


def distances(values: np.ndarray, human: np.ndarray) -> np.ndarray:
    """From the mean of undamaged comparisons, in units of their spread; a number that never moved there is infinitely
    far as soon as it does."""
    gap = np.abs(values - human.mean(axis=0))
    spread = human.std(axis=0)
    still = spread <= 1e-12 * np.maximum(1.0, np.abs(human.mean(axis=0)))
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(still, np.where(gap > 1e-9, np.inf, 0.0), gap / np.where(still, 1.0, spread))


def worlds_of(found: Found) -> list[World]:
    signs = _signs()
    worlds = []
    for (encoder, calibration), rows in found.items():
        if calibration.kind != HUMAN:
            continue
        human = np.array(rows, float)
        own = {
            case: np.array(values, float)
            for (of, case), values in found.items()
            if of == encoder and case.size == calibration.size and case.kind != HUMAN
        }
        apart = distances(human, human).T
        tests = [calibrated(column) for column in apart]
        far, better = [], {}
        for case, values in own.items():
            far.append(distances(values, human).T)
            alarms = np.array([test.alarms(column) for test, column in zip(tests, far[-1], strict=True)])
            better[case] = (alarms * (np.sign(values - human.mean(axis=0)) * signs).T).sum(axis=1) > 0
        worlds.append(World(encoder, calibration.size, apart, list(own), np.hstack(far), better))
    return worlds


def _signs() -> np.ndarray:
    """By number: 1 where higher is better, -1 where lower is."""
    return np.array([
        1.0 if metric.direction == "higher" else -1.0 for metric in rc.list_metrics().values() for _ in metric.outputs
    ])  # fmt: skip


def by_kind(worlds: Iterable[World], numbers: Sequence[int], kinds: Iterable[str] = KINDS) -> dict[str, float]:
    """The power of a set of numbers against each kind of damage: mean over encoders, sizes and strengths."""
    shares: dict[str, list[float]] = {kind: [] for kind in kinds}
    for world in worlds:
        for case, power in world.power(numbers).items():
            if case.kind in shares:
                shares[case.kind].append(power)
    return {kind: float(np.mean(each)) for kind, each in shares.items()}


class Rows(NamedTuple):
    """A set of numbers, and how much damage it notices."""

    numbers: tuple[int, ...]
    power: float
    """Mean over kinds of damage."""
    cost: float
    """Milliseconds, one thread; a metric that gives several numbers counts once."""


def chosen_rows(worlds: Sequence[World], prices: Mapping[str, float], most: int = MOST_ROWS) -> list[Rows]:
    """For 1, 2, ... numbers: of all sets with so many, the cheapest of those within `NEAR` of the best."""
    metrics = [name.partition(".")[0] for name in number_names()]
    best = []
    for count in range(1, most + 1):
        rated = [
            Rows(numbers, float(np.mean(list(by_kind(worlds, numbers).values()))),
                 sum(prices[metric] for metric in {metrics[number] for number in numbers}))
            for numbers in combinations(range(len(metrics)), count)
        ]  # fmt: skip
        highest = max(rows.power for rows in rated)
        good = [rows for rows in rated if rows.power >= highest - NEAR]
        best.append(min(good, key=lambda rows: (round(rows.cost, 1), -rows.power)))
    return best


def default_rows(best: Sequence[Rows]) -> Rows:
    """The largest of them, or the one before where that is as good."""
    return best[-1] if len(best) < 2 or best[-1].power > best[-2].power + NEAR else best[-2]


def _run(setup: Setup) -> Findings:
    store, journal = prepared(setup)
    found = measure_all(store, journal, setup.jobs)
    assert found is not None  # no time was set
    prices = costs(store, journal)
    return findings_of(found, prices, store.scale)


def findings_of(found: Found, prices: Mapping[str, Mapping[str, float]], scale: Scale) -> Findings:
    names = number_names()
    worlds = worlds_of(found)
    priced = min((size.texts for size in scale.sizes), key=lambda texts: abs(texts - _PRICED))
    best = chosen_rows(worlds, prices[str(priced)])
    chosen = default_rows(best)
    settings = {
        "level": LEVEL,
        "scale": scale._asdict(),
        "rows": [names[number] for number in chosen.numbers],
        "rows before": list(BEFORE),
    }
    return Findings(
        [
            _summary_table(worlds, prices[str(priced)], priced, scale),
            _rows_table(worlds, best, chosen, prices[str(priced)], priced),
            _notices_table(worlds, chosen),
            _cost_table(prices),
            _cases_table(worlds),
        ],
        _drawing(worlds, chosen),
        _verdict(worlds, best, chosen),
        settings,
    )


def _single(worlds: Sequence[World]) -> list[dict[str, float]]:
    """By number, its power against each kind."""
    return [by_kind(worlds, [number], [*KINDS, NONE]) for number in range(len(number_names()))]


def _mean(power: Mapping[str, float]) -> float:
    return float(np.mean([power[kind] for kind in KINDS]))


def _percent(share: float) -> str:
    return f"{share:.0%}"


def _summary_table(worlds: Sequence[World], prices: Mapping[str, float], priced: int, scale: Scale) -> Section:
    names = number_names()
    encoders = list(dict.fromkeys(world.encoder for world in worlds))
    rows = []
    for title in (BOTH, *encoders):
        own = [world for world in worlds if title in (BOTH, world.encoder)]
        power = _single(own)
        for number in sorted(range(len(names)), key=lambda number: -_mean(power[number])):
            better = {
                kind: np.mean([w.better[case][number] for w in own for case in w.cases if case.kind == kind]) > 0.5
                for kind in KINDS
            }
            marks = ["+" if better[kind] and power[number][kind] > 2 * LEVEL else "" for kind in KINDS]
            cells = [_percent(power[number][kind]) + mark for kind, mark in zip(KINDS, marks, strict=True)]
            price = prices[names[number].partition(".")[0]]
            rows.append([title, names[number], *cells, _percent(_mean(power[number])),
                         f"{power[number][NONE]:.1%}", f"{price:.0f}"])  # fmt: skip
    caption = [
        f"Power at {LEVEL:.0%} false alarms, on either side: share of damaged candidates that a number tells from "
        "undamaged human sets of the same size, by the spread of "
        + ", ".join(f"{size.human} comparisons of {size.texts:,} v {size.texts:,}" for size in scale.sizes)
        + " texts; mean over these sizes and all strengths, and of both kinds of vectors over these, too",
        "+: most alarms say that the candidate is better than people's own texts; all: mean over kinds of damage; no "
        f"damage: share of alarms in further human comparisons; ms: of the whole metric with ready vectors, {priced:,} "
        f"v {priced:,}, one core",
        *(f"{kind}: {what}" for kind, what in KINDS.items()),
        f"texts: sentences of Brown, {scale.of_genre} of each genre; word counts: on their {scale.dimensions} leading "
        "directions (of those of people's texts), since thousands of comparisons of whole counts would take days",
    ]
    heads = ["vectors", "number", *KINDS, "all", "no damage", "ms"]
    return Section("power", rc.Table(heads, rows, caption, left=2))


def _rows_table(
    worlds: Sequence[World], best: Sequence[Rows], chosen: Rows, prices: Mapping[str, float], priced: int
) -> Section:
    names = number_names()
    before = tuple(names.index(name) for name in BEFORE)
    metrics = {name.partition(".")[0] for name in BEFORE}
    shown = [(f"best {len(rows.numbers)}", rows) for rows in best]
    shown += [("by hand, before", Rows(before, _mean(by_kind(worlds, before)), sum(prices[name] for name in metrics)))]
    rows = []
    for title, each in shown:
        power = by_kind(worlds, each.numbers)
        mark = "chosen" if each == chosen else ""
        rows.append([title, ", ".join(names[number] for number in each.numbers), _percent(each.power),
                     *(_percent(power[kind]) for kind in KINDS), f"{each.cost:.0f}", mark])  # fmt: skip
    caption = [
        f"Alarms by any number of a set, {LEVEL:.0%} of undamaged comparisons for the set as a whole (the largest of "
        "the distances, each in units of its number's spread, calibrated as one number)",
        f"rule: of all sets of so many numbers the cheapest (ms, {priced:,} v {priced:,}) of those within "
        f"{NEAR:.0%} of the highest mean power; of {MOST_ROWS} numbers and {MOST_ROWS - 1} the smaller set where the "
        f"larger gains no more than {NEAR:.0%}",
    ]
    return Section("rows", rc.Table(["set", "numbers", "all", *KINDS, "ms", ""], rows, caption, left=2))


def noticed(worlds: Sequence[World], chosen: Rows) -> dict[int, dict[str, float]]:
    """By chosen number: the kinds of damage that it notices about as well as the best of them, with its power."""
    alone = {number: by_kind(worlds, [number]) for number in chosen.numbers}
    best = {kind: max(power[kind] for power in alone.values()) for kind in KINDS}
    return {
        number: {
            kind: share for kind, share in power.items() if share >= _NOTICES * best[kind] and share > 2 * LEVEL
        }
        for number, power in alone.items()
    }  # fmt: skip


def _notices_table(worlds: Sequence[World], chosen: Rows) -> Section:
    names = number_names()
    whole = by_kind(worlds, chosen.numbers)
    rows = []
    for number, kinds in noticed(worlds, chosen).items():
        rest = [other for other in chosen.numbers if other != number]
        without = by_kind(worlds, rest) if rest else dict.fromkeys(KINDS, LEVEL)
        lost = {kind: whole[kind] - without[kind] for kind in KINDS}
        most = max(lost, key=lambda kind: lost[kind])
        told = ", ".join(f"{kind} {_percent(share)}" for kind, share in sorted(kinds.items(), key=lambda of: -of[1]))
        rows.append([names[number], told or "-", f"{_mean(lost):.1%}", f"{most} ({lost[most]:.0%})"])
    caption = [
        f"notices: kinds of damage against which its power alone is at least {_NOTICES:.0%} of the best row's; without "
        "it: how much power the rows lose on average, and where most",
    ]
    return Section("what-rows-notice", rc.Table(["row", "notices", "without it", "most"], rows, caption, left=2))


def _cost_table(prices: Mapping[str, Mapping[str, float]]) -> Section:
    rows = [[name, *(f"{of[name]:.0f}" for of in prices.values())] for name in rc.list_metrics()]
    caption = ["Milliseconds of a metric alone with ready vectors, one core, the shortest of at most three"]
    return Section("cost", rc.Table(["metric", *(f"{int(size):,} texts" for size in prices)], rows, caption))


def _cases_table(worlds: Sequence[World]) -> Section:
    names = number_names()
    rows = []
    for world in worlds:
        power = [world.power([number]) for number in range(len(names))]
        rows += [
            [world.encoder, f"{world.size:,}", case.kind, case.share, str(case.runs)]
            + [_percent(each[case]) for each in power]
            for case in world.cases
        ]
    heads = ["vectors", "texts", "damage", "how much", "repeats", *names]
    return Section("all", rc.Table(heads, rows, [], left=4))


def _drawing(worlds: Sequence[World], chosen: Rows) -> Callable[[Any], None]:
    def draw(figure: Any) -> None:
        names = number_names()
        power = _single(worlds)
        order = sorted(range(len(names)), key=lambda number: -_mean(power[number]))
        figure.set_size_inches(9, 5)
        axes = figure.subplots()
        shares = np.array([[power[number][kind] for kind in KINDS] for number in order])
        axes.imshow(shares, vmin=0, vmax=1, cmap="Blues", aspect="auto")
        for (row, column), share in np.ndenumerate(shares):
            axes.text(column, row, _percent(share), ha="center", va="center", fontsize=8,
                      color="white" if share > 0.6 else "black")  # fmt: skip
        axes.set_xticks(range(len(KINDS)), list(KINDS), rotation=20, ha="right")
        labels = [f"{names[number]} (row)" if number in chosen.numbers else names[number] for number in order]
        axes.set_yticks(range(len(order)), labels)
        axes.set(title=f"power at {LEVEL:.0%} false alarms")

    return draw


def _verdict(worlds: Sequence[World], best: Sequence[Rows], chosen: Rows) -> list[str]:
    names = number_names()
    power = _single(worlds)
    alarms = [each[NONE] for each in power]
    order = sorted(range(len(names)), key=lambda number: -_mean(power[number]))
    top = {kind: max(range(len(names)), key=lambda number: power[number][kind]) for kind in KINDS}
    ours = [number for number in order if names[number].startswith("mark-evaluate")]
    before = _mean(by_kind(worlds, [names.index(name) for name in BEFORE]))
    rows = "; ".join(
        f"{names[number]} ({', '.join(kinds) or 'nothing better than the others'})"
        for number, kinds in noticed(worlds, chosen).items()
    )
    return [
        f"At {LEVEL:.0%} false alarms for every number (in further human comparisons {min(alarms):.1%} to "
        f"{max(alarms):.1%}), {names[order[0]]} notices most damage, {_percent(_mean(power[order[0]]))} on average; "
        f"{names[order[-1]]} least, {_percent(_mean(power[order[-1]]))}.",
        "Most power by kind of damage: "
        + "; ".join(f"{kind} {names[number]} {_percent(power[number][kind])}" for kind, number in top.items())
        + ".",
        f"Mark-Evaluate's numbers are at places {', '.join(str(order.index(number) + 1) for number in ours)} of "
        f"{len(names)}: " + ", ".join(f"{names[number]} {_percent(_mean(power[number]))}" for number in ours) + ".",
        f"Rows of compare: {rows}. Together they notice {_percent(chosen.power)}; the best single number "
        f"{_percent(max(_mean(each) for each in power))}, the rows chosen by hand before {_percent(before)}.",
    ]


STUDY = Study(
    name="power",
    title="Which numbers notice which damage, at equal false alarms",
    paper="",
    reproduces="recapture's own choice of the rows that compare shows, by known damage of rising strength",
    data=(BROWN, CAPTIONS),
    run=_run,
    layout=LAYOUTS,
    spreads=True,
    takes="12 minutes on 16 cores",
)
