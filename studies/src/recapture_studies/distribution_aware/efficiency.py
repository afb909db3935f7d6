"""How many contexts a second each metric scores, without p-values and with exact ones."""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np

import recapture as rc

from ..cells import Tables, number, numbers
from ..paper import paper_numbers
from ..progress import progress_bar
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, above, less, of_spread, together
from .captions import LAYOUT, Scoring, data_file, distances, load

_REFERENCES, _CANDIDATES = 5, 10
_PAPER: dict[str, list[float]] = paper_numbers(__package__, "efficiency")
"""Samples a second, their spread, and minutes for all of them."""
_SAMPLES = 50_000
"""What the paper's B.5 says MAUVE's p-values would take years for."""
_YEARS = 2
"""What several years are at least."""
_BASES = {"trm-meteor": "meteor", "trm-cider": "cider"}
_OF_VECTORS = ("mmd", "frechet", "mauve")
_SHARED = (("meteor", "trm-meteor"), ("cider", "trm-cider"), _OF_VECTORS)
"""Metrics that rest on the same pairwise scores or vectors, which are made once and counted for each."""


class _Times(NamedTuple):
    """Seconds a context, one number a round."""

    prepare: list[float]
    """Pairwise scores, or vectors."""
    score: list[float]
    test: list[float]
    """The score with its exact p-value."""

    def rate(self, tested: bool) -> np.ndarray:
        """Contexts a second, all work included."""
        rates: np.ndarray = 1 / (np.array(self.prepare) + np.array(self.test if tested else self.score))
        return rates

    def seconds(self, tested: bool = False) -> float:
        return float(np.mean(self.prepare) + np.mean(self.test if tested else self.score))


def _run(setup: Setup) -> Findings:
    file = data_file(setup, "abstract48s")
    size, rounds = (2, 2) if setup.quick else (20, 5)
    whole = _REFERENCES + _CANDIDATES
    rows = load(file, contexts=2, references=whole)
    rng = np.random.default_rng(setup.seed)
    groups = [rng.permutation(row.references)[:whole].tolist() for row in rows[: size * (rounds + 1)]]
    blocks = [block for block in np.array_split(np.arange(len(groups)), rounds + 1) if len(block)]
    # Kept vectors would hide what they cost.
    fresh = replace(setup, encoding={**setup.encoding, "cache": False})
    corpus = [row.references for row in rows]
    scoring = {name: Scoring(fresh, [name], corpus) for name in _PAPER}
    times = {name: _Times([], [], []) for name in _PAPER}
    with progress_bar("rounds", len(blocks), "round") as progress:
        for number, block in enumerate(blocks):
            for names in _SHARED:
                measured = _measured(scoring[names[0]], names, [groups[at] for at in block], setup.seed)
                # The first round loads models and is left out.
                if number or len(blocks) == 1:
                    for name, seconds in zip(names, measured, strict=True):
                        for kept, value in zip(times[name], seconds, strict=True):
                            kept.append(value)
            progress.advance()
    amount = f"{len(groups) - len(blocks[0])} contexts in {len(blocks) - 1} rounds" if len(blocks) > 1 else "one round"
    settings: dict[str, Any] = {"machine": platform.machine(), "cores": os.cpu_count(), "contexts": len(groups)}
    settings["rounds"] = len(times["meteor"].prepare)
    return Findings([_times(times, amount, settings), _beside(times)], _drawn(times), _verdict(times), settings)


def _measured(
    scoring: Scoring, names: Sequence[str], groups: Sequence[Sequence[str]], seed: int
) -> list[tuple[float, float, float]]:
    """Of metrics that share it, seconds a context to prepare, to score, and to score with exact p-values."""
    prepared, prepare = _timed(lambda: _prepared(scoring, groups))
    seconds = []
    for name in names:
        _, score = _timed(lambda name=name: _scored(name, groups, prepared, False, seed))  # type: ignore[misc]
        _, test = _timed(lambda name=name: _scored(name, groups, prepared, True, seed))  # type: ignore[misc]
        seconds.append((prepare / len(groups), score / len(groups), test / len(groups)))
    return seconds


def _prepared(scoring: Scoring, groups: Sequence[Sequence[str]]) -> list[np.ndarray]:
    """Of every context the pairwise scores of all its texts, or their vectors."""
    if scoring.encoder is None:
        return [next(iter(scoring.squares(group).values())) for group in groups]
    scoring.prepare(groups)
    return [scoring.encoder.encode_batch(list(group)) for group in groups]


def _scored(
    name: str, groups: Sequence[Sequence[str]], prepared: Sequence[np.ndarray], pvalue: bool, seed: int
) -> list[Any]:
    base = name.removeprefix("trm-")
    results = []
    for group, ready in zip(groups, prepared, strict=True):
        sides = group[:_REFERENCES], group[_REFERENCES:]
        if name in _OF_VECTORS:
            vectors = ready[:_REFERENCES], ready[_REFERENCES:]
            results.append(getattr(rc, name)(*vectors, pvalue="exact" if pvalue else False, seed=seed))
        elif name == base:
            results.append(rc.aggregate(*sides, base, pvalue=pvalue, scores=ready))
        else:
            results.append(rc.triangle_rank(*sides, distances(base, ready), pvalue=pvalue))
    return results


def _timed(job: Callable[[], Any]) -> tuple[Any, float]:
    start = time.perf_counter()
    made = job()
    return made, time.perf_counter() - start


def _shown(rates: np.ndarray) -> str:
    digits = 0 if np.mean(rates) >= 100 else 1
    return f"{np.mean(rates):,.{digits}f} ± {np.std(rates, ddof=min(1, len(rates) - 1)):,.{digits}f}"


def _times(times: dict[str, _Times], amount: str, settings: dict[str, Any]) -> Section:
    heads = ["metric", "contexts a second", "with exact p", "ms to prepare", "ms to score", "ms to score and test"]
    rows = [
        [name, _shown(each.rate(False)), _shown(each.rate(True)), *(f"{1000 * np.mean(part):.2f}" for part in each)]
        for name, each in times.items()
    ]
    caption = [
        f"{_REFERENCES} references, {_CANDIDATES} candidates a context, 3,003 partitions for an exact p; {amount}; "
        f"{settings['cores']} cores, {settings['machine']}. To prepare: pairwise scores of all texts of a context, or "
        "their vectors, none of them kept from before, made once for the metrics that share them. "
        "Timings of one machine in one hour: only ratios travel."
    ]
    return Section("times", rc.Table(heads, rows, caption))


def _beside(times: dict[str, _Times]) -> Section:
    heads = ["metric", "paper: samples/s", "paper: minutes", "paper: to METEOR", "here: contexts/s", "here: to METEOR",
             "here with p: contexts/s", "here with p: to METEOR"]  # fmt: skip
    rows = []
    for name, (rate, spread, minutes) in _PAPER.items():
        cells = []
        for tested in (False, True):
            own = 1 / times[name].seconds(tested)
            cells += [f"{own:.3g}", f"{own * times['meteor'].seconds(tested):.3g}"]
        rows.append([name, f"{rate:g} ± {spread:g}", f"{minutes:g}", f"{rate / _PAPER['meteor'][0]:.3g}", *cells])
    caption = [
        "Table 2 of the paper (an i7-6850K and two Titan X; with or without p-values is not said) beside ours. Another "
        "machine: compare the columns “to METEOR”, each metric's speed over METEOR's."
    ]
    return Section("beside-the-paper", rc.Table(heads, rows, caption))


def _slower(times: dict[str, _Times], tested: bool = False) -> dict[str, float]:
    return {name: each.seconds(tested) for name, each in times.items()}


def _verdict(times: dict[str, _Times]) -> list[str]:
    plain, tested = _slower(times), _slower(times, True)
    kernels = [name for name in _OF_VECTORS if max(plain[trm] for trm in _BASES) < plain[name]]
    hours = _SAMPLES * tested["mauve"] / 3600
    vectors = np.mean([np.mean(times[name].prepare) / plain[name] for name in _OF_VECTORS])
    ready = ", ".join(f"{name} {1000 * np.mean(times[name].score):.1f}" for name in (*_BASES, *_OF_VECTORS))
    return [
        "Triangle ranks over scores that are there anyway cost "
        + " and ".join(
            f"{1000 * np.mean(times[name].score):.2f} ms a context (of {1000 * plain[name]:.1f} ms for {name} in all)"
            for name in _BASES
        )
        + "; the paper's take 1.9 and 1.3 times as long as METEOR and CIDEr-D alone, here "
        + " and ".join(f"{plain[name] / plain[base]:.2f}" for name, base in _BASES.items())
        + ".",
        f"Of metrics of vectors {', '.join(kernels) or 'none'} {'is' if len(kernels) == 1 else 'are'} slower than both "
        f"triangle ranks; {vectors:.0%} of their time goes into vectors, which are kept from one run to the next "
        f"unless one says otherwise. Once scores and vectors are there, a context takes, in ms: {ready}.",
        f"With an exact p-value, from all 3,003 partitions, MAUVE scores {1 / tested['mauve']:.1f} contexts a second: "
        f"{hours:.1f} hours for the {_SAMPLES:,} for which the paper expects several years (one clustering serves all "
        f"partitions), and Fréchet {1 / tested['frechet']:.1f} (one Gram matrix and no matrix square root).",
    ]


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rounds = settings.get("rounds", 1)  # files of earlier runs do not say

    def rate(row: Mapping[str, str], head: str) -> Estimate:
        value, spread = numbers(row[head])
        return of_spread(value, spread, rounds)

    rows = {row["metric"]: row for row in tables["times"]}
    plain = {name: rate(row, "contexts a second") for name, row in rows.items()}
    tested = rate(rows["mauve"], "with exact p")
    years = _SAMPLES / tested.value / 3600 / 24 / 365
    cheaper = together(above(less(plain[trm], plain[name])) for trm in _BASES for name in _OF_VECTORS)
    # Without vectors and pairwise scores, which do not depend on the metric.
    tests = {name: number(row["ms to score and test"]) for name, row in rows.items()}
    slow = together(above(Estimate(tests["frechet"] - tests[name])) for name in ("mmd", *_BASES))
    data = f"abstract scenes, all-MiniLM-L6-v2, {settings['cores']} cores"
    return [
        Claim(
            "distribution-aware/table-2/trm-dearer",
            together(above(less(plain[base], plain[trm])) for trm, base in _BASES.items()),
            ", ".join(f"{trm} {plain[base].value / plain[trm].value:.2f} times {base}" for trm, base in _BASES.items()),
            data,
            "pairwise scores are counted alike for both: they are always made for all texts of a context here, as "
            "p-values need them",
        ),
        Claim(
            "distribution-aware/table-2/trm-cheaper",
            cheaper,
            "contexts a second: " + ", ".join(f"{name} {row['contexts a second']}" for name, row in rows.items()),
            data,
            "" if cheaper.holds == "holds" else "how long vectors take decides, and with it the encoder and the device",
        ),
        Claim(
            "distribution-aware/table-2/frechet-slow",
            slow,
            "ms a context for an exact p, vectors and pairwise scores ready: "
            + ", ".join(f"{name} {tests[name]:g}" for name in ("frechet", "mmd", *_BASES)),
            data,
            "" if slow.holds == "holds" else "one Gram matrix serves all partitions, and no matrix root is needed",
        ),
        Claim(
            "distribution-aware/table-2/mauve-years",
            above(Estimate(years - _YEARS)),
            f"{tested.value:.1f} contexts a second with an exact p of 3,003 partitions: {8760 * years:.1f} hours",
            data,
            "one clustering serves all partitions, each of which is then a histogram",
        ),
    ]


def _drawn(times: dict[str, _Times]) -> Any:
    def draw(figure: Any) -> None:
        figure.set_size_inches(9, 4.5)
        axes = figure.subplots()
        places = np.arange(len(times))
        base = [times["meteor"].seconds(tested) for tested in (False, True)]
        series = {
            "paper": [rate / _PAPER["meteor"][0] for rate, *_ in _PAPER.values()],
            "here": [base[0] / each.seconds() for each in times.values()],
            "here, with exact p": [base[1] / each.seconds(tested=True) for each in times.values()],
        }
        for at, (label, values) in enumerate(series.items()):
            axes.bar(places + (at - 1) * 0.27, values, 0.27, label=label)
        axes.set_xticks(places, list(times))
        axes.set(yscale="log", ylabel="contexts a second, over METEOR's", title="Speed beside METEOR's")
        axes.axhline(1, color="0.6", linestyle=":")
        axes.legend()

    return draw


STUDY = Study(
    name="efficiency",
    title="Contexts a second",
    paper="Distribution-aware metrics",
    reproduces="Table 2",
    data=("abstract48s",),
    run=_run,
    judge=judge,
    layout={"abstract48s": LAYOUT["abstract48s"]},
    takes="2 minutes on 2 cores",
)
