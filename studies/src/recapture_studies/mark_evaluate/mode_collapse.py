"""Mode collapse: topics are dropped from the candidate set one by one, and its size is kept.

The paper has five topics and 4,000 v 4,000 sentences. Of the data here only the five largest genres of the Brown corpus
hold that many: the genre that is left last must fill a candidate set alone. The others look at more genres in smaller
sets.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np

import recapture as rc

from ..cells import Tables
from ..cells import number as number_of
from ..paper import paper_numbers
from ..steps import steps_of
from ..study import Claim, Findings, Section, Setup, Study
from ..verdicts import Estimate, Verdict, above, less, moves, near, of_spread, stays, together
from .genres import BROWN, LAYOUT, XNLI, Genres, balanced_size, data_file, load
from .mode_collapse_draws import draw, room
from .perturbed import JOBS, Track, of_paper, run_draws, sized, unless
from .perturbed_view import RULE, curves_table, doubles, draw_panels, number, pairs_of, strongest

PAPER_SIZE, PAPER_GENRES = 4000, 5
_LARGEST = f"Brown, {PAPER_GENRES} genres"
"""As the paper has it: as many topics, as many sentences."""
_SIZES = {"XNLI": 500, "XNLI, no partners": 200, "Brown": 1000, _LARGEST: PAPER_SIZE}
_SHARE = 0.2
"""Of the premises of a genre, where one sentence of each is used: the candidate needs most of them in the end."""
_SHARE_OF_LARGEST = 0.25
"""Of the five genres: the reference needs a fifth of a set of each, the candidate in the end a whole one of one."""
_QUICK_SIZE = 48
_QUICK_GENRES = 4
_DRAWS = {"XNLI": 10, "XNLI, no partners": 10, "Brown": 5, _LARGEST: 4}
_POOL = 300
"""References of each genre that draws of the Brown corpus choose from, so that not all of it must be encoded."""
_PARTNERS = "XNLI"
"""Whose sets hold paraphrases: shown, but claims are judged without."""
_UP = ("Fréchet", "MMD")
"""Numbers that grow as things get worse."""
_PAPER: dict[str, float] = paper_numbers(__package__, "mode-collapse")


def _run(setup: Setup) -> Findings:
    loaded = [
        load(setup, XNLI),
        load(setup, XNLI, single=True, share=_SHARE),
        load(setup, BROWN),
        largest(load(setup, BROWN, share=_SHARE_OF_LARGEST)),
    ]
    sets = {genres.title: _limited(genres, setup) for genres in loaded}
    sizes = {
        title: balanced_size([genres.reference], min(_QUICK_SIZE if setup.quick else _SIZES[title], room(genres)))
        for title, genres in sets.items()
    }
    draws = {title: 2 if setup.quick else _DRAWS[title] for title in sets}
    settings = {"sizes": sizes, "draws": draws, "methods": {key: list(job) for key, job in JOBS.items()}}
    by_data: dict[str, dict[str, Track]] = {}
    for title, genres in sets.items():
        kept = {"revision": 2, "size": sizes[title], "pool": _POOL, "methods": settings["methods"]}
        file = data_file(setup, BROWN if title.startswith("Brown") else XNLI)
        steps = steps_of(setup, f"mode-collapse-{title.replace(', ', '-').replace(' ', '-').lower()}", kept, [file])
        drawn = [draw(genres, sizes[title], np.random.default_rng([setup.seed, at])) for at in range(draws[title])]
        names = [f"{dropped} dropped" for dropped in range(len(genres.candidate))]
        by_data[title] = run_draws(setup, steps, drawn, names, f"mode collapse, {title}")
    places = {data: range(_steps(by_name)) for data, by_name in by_data.items()}
    about = (
        "Means over draws by genres dropped, and the spread over draws (standard deviation, mean over steps). "
        + "; ".join(
            f"{title}: {len(genres.candidate)} genres, {sizes[title]:,} v {sizes[title]:,} sentences, "
            f"{draws[title]} draws"
            for title, genres in sets.items()
        )
        + f". The paper has {PAPER_GENRES} topics, {PAPER_SIZE:,} v {PAPER_SIZE:,} sentences and one draw. Only a "
        "genre that fills a set alone can be left last. No partners: one sentence of each premise and its hypotheses. "
        "At k = 1 Schnabel's floor is 0, so that adjusted and raw scores agree."
    )
    heads = {data: [str(at) for at in place] for data, place in places.items()}
    return Findings(
        [_beside(by_data, sizes), _summary(by_data), curves_table(by_data, heads, about)],
        draw_panels(by_data, places, "genres dropped"),
        _verdict(by_data, sizes),
        settings,
    )


def largest(genres: Genres, count: int = PAPER_GENRES, title: str = _LARGEST) -> Genres:
    """The genres with most candidates."""
    names = sorted(genres.candidate, key=lambda name: -len(genres.candidate[name]))[:count]
    sides = ({name: side[name] for name in names} for side in (genres.reference, genres.candidate))
    return Genres(title, *sides)


def _limited(genres: Genres, setup: Setup) -> Genres:
    """A few genres for the quick form; else, of the Brown corpus, no more than will be used."""
    if setup.quick:
        few = largest(genres, _QUICK_GENRES, genres.title)
        sides = ({name: texts[: 2 * _QUICK_SIZE] for name, texts in side.items()}
                 for side in (few.reference, few.candidate))  # fmt: skip
        return Genres(genres.title, *sides)
    if not genres.title.startswith("Brown"):
        return genres
    pool = _POOL if genres.title == "Brown" else None
    reference = {name: texts[:pool] for name, texts in genres.reference.items()}
    # No step takes more than a whole set of one genre.
    most = _SIZES[genres.title]
    return Genres(genres.title, reference, {name: texts[:most] for name, texts in genres.candidate.items()})


def _steps(by_name: Mapping[str, Track]) -> int:
    return len(next(iter(by_name.values())).mean)


def _beside(by_data: Mapping[str, Mapping[str, Track]], sizes: Mapping[str, int]) -> Section:
    heads = ["number", f"paper, {PAPER_GENRES} genres, {PAPER_SIZE:,} v {PAPER_SIZE:,}, one left"]
    for data, by_name in by_data.items():
        count, size = _steps(by_name), f"{sizes[data]:,} v {sizes[data]:,}"
        title = data if data == _LARGEST else f"{data}, {count} genres"
        heads += [f"{title}, {size}, one left", f"{data}, last step alone", f"{data}, spread of the change"]
    rows = []
    for name, printed in _PAPER.items():
        row = [name, f"about {printed:.1f}"]
        for by_name in by_data.values():
            track = by_name[name]
            row += [number(track.change()), number(track.change(-2)), number(track.change_spread())]
        rows.append(row)
    caption = ["Change of the number from all genres to one; the paper prints no other number and gives no sign."]
    return Section("beside-the-paper", rc.Table(heads, rows, caption))


def _summary(by_data: Mapping[str, Mapping[str, Track]]) -> Section:
    expected = {"quality": "stays", "diversity": "falls", "both": "falls"}
    heads = ["data", "method", "number", "expected", "until two are left", "with one left", "all", "one left"]
    heads += ["change until two", "spread until two", "change", "its spread", "change in spreads", "Spearman"]
    rows = []
    for data, by_name in by_data.items():
        for track in by_name.values():
            change, spread = track.change(), track.change_spread()
            rows.append([
                data, track.curve.panel, track.curve.number or "-", expected[track.curve.asks], track.seen(-2),
                track.seen(), number(track.mean[0]), number(track.mean[-1]), number(track.change(last=-2)),
                number(track.change_spread(last=-2)),
                number(change), number(spread), f"{change / spread:.1f}" if spread else "-", f"{track.spearman():.2f}",
            ])  # fmt: skip
    return Section("summary", rc.Table(heads, rows, [RULE], left=6))


def _verdict(by_data: Mapping[str, Mapping[str, Track]], sizes: Mapping[str, int]) -> list[str]:
    lines = [
        f"{data}, from {_steps(by_name)} genres to one, {sizes[data]:,} v {sizes[data]:,} sentences "
        f"({of_paper(sizes[data], PAPER_SIZE)}): quality and diversity move by {pairs_of(by_name)}. Of the "
        f"numbers for diversity or for both, {_listed(by_name, ('diversity', 'both'), 'falls')} fall; of those for "
        f"quality, {_listed(by_name, ('quality',), 'stays')} stay."
        for data, by_name in by_data.items()
    ]
    precision = {data: by_name["IMPAR precision"] for data, by_name in by_data.items()}
    lines.append(
        "Precision counts candidates inside spheres that do not change, so if every genre is equally likely to be left "
        f"(of {_LARGEST} only those that fill a set are) its mean cannot move; in one order of dropping it moves with "
        "the genre that happens to be left: "
        + ", ".join(
            f"{data} {track.values[:, -1].min():.2f} to {track.values[:, -1].max():.2f} over draws, mean change "
            f"{track.change():+.2f}"
            for data, track in precision.items()
        )
        + ". A single order, and the paper tells of no more, cannot tell this from a loss of quality."
    )
    farther = (
        f"{data} " + ", ".join(f"{panel} {gap:+.2f}" for panel, gap in _gaps(by_name))
        for data, by_name in by_data.items()
    )
    lines.append(
        "Diversity should fall and quality not; by how much farther diversity falls, best first: "
        + "; ".join(farther)
        + "."
    )
    crowded, clean = by_data[_PARTNERS], by_data[f"{_PARTNERS}, no partners"]
    lines.append(
        "XNLI writes three hypotheses to a premise. In sets that hold such partners the nearest neighbours are "
        "paraphrases, ever more of them as genres go, and candidate spheres shrink for that alone: with one genre left "
        + ", ".join(
            f"{name} is {crowded[name].mean[-1]:.2f} with partners and {clean[name].mean[-1]:.2f} without"
            for name in ("IMPAR recall", "ME Schnabel quality", "ME Schnabel diversity")
        )
        + " (sets differ in size as well). Claims below are judged on the sets without."
    )
    best = (
        f"{data}: {strongest(track for track in by_name.values() if track.curve.asks != 'quality')}"
        for data, by_name in by_data.items()
    )
    return [*lines, f"Of numbers for diversity or both these get worse most (in spreads): {'; '.join(best)}."]


def _gaps(by_name: Mapping[str, Track]) -> list[tuple[str, float]]:
    found = {panel: quality - diversity for panel, (quality, diversity) in doubles(by_name).items()}
    return sorted(found.items(), key=lambda each: -each[1])


def _listed(by_name: Mapping[str, Track], asks: Sequence[str], move: str) -> str:
    of = [track for track in by_name.values() if track.curve.asks in asks]
    found = [track.curve.name for track in of if track.does(move)]
    return "all" if len(found) == len(of) else ", ".join(found) or "none"


def judge(tables: Tables, settings: Mapping[str, Any]) -> list[Claim]:
    rows = {
        name: {
            f"{row['method']} {row['number']}".removesuffix(" -"): row
            for row in tables["summary"]
            if row["data"] == name
        }
        for name in settings["draws"]
    }
    crowded = rows.pop(_PARTNERS)

    def change(data: str, name: str, head: str = "change", spread: str = "its spread") -> Estimate:
        row = rows[data][name]
        # Files of earlier runs have no spread until two are left: the number is plain then.
        return of_spread(number_of(row[head]), number_of(row.get(spread, "")), settings["draws"][data])

    def worse(name: str) -> list[Verdict]:
        return [moves(change(data, name), number_of(rows[data][name]["Spearman"]), up=name in _UP) for data in rows]

    def steady(name: str) -> list[Verdict]:
        return [stays(change(data, name, "change until two", "spread until two")) for data in rows]

    def told(name: str) -> str:
        return ", ".join(
            f"{data} {row['all']}, {row['change until two']} until two are left, {row['change']} ± "
            f"{row['its spread']} to one left"
            for data in rows
            for row in [rows[data][name]]
        )

    steepest = []
    for row in tables["curves"]:
        if row["data"] in rows and row["asks"] != "quality":
            curve = [
                value for head, cell in row.items() if head.isdigit() for value in [number_of(cell)] if value == value
            ]
            steps = [abs(after - before) for before, after in pairwise(curve)]
            steepest.append(above(Estimate(steps[-1] - max(steps[:-1]))))
    shifts = []
    for data in rows:
        for name, printed in _PAPER.items():
            own = change(data, name)
            shifts.append(near(own if own.value >= 0 else less(Estimate(0.0, 0.0, 0.0), own), printed))
    partners = (
        "Likely partners: MNLI's validation set has some 2,000 pairs a topic, three to a premise, so 4,000 sentences "
        "of a topic are nearly all of them, copies of premises included. Our sets with partners shift by "
        + ", ".join(f"{crowded[name]['change']} ({name})" for name in _PAPER)
        + "; other encoder, too"
    )
    data = sized({name: settings["sizes"][name] for name in rows}, PAPER_SIZE)
    other = (
        "Other encoder and nearer topics; sentences of a document of the Brown corpus lie near each other, and are on "
        "one side; of two data sets more topics and smaller sets"
    )
    figure = "mark-evaluate/figure-3"
    found = {
        f"{figure}/schnabel": (
            [*steady("ME Schnabel quality"), *worse("ME Schnabel diversity")],
            f"quality {told('ME Schnabel quality')}; diversity {told('ME Schnabel diversity')}",
            other,
        ),
        f"{figure}/petersen-capture": (
            [*worse("ME Petersen"), *worse("ME CAPTURE")],
            f"Petersen {told('ME Petersen')}; CAPTURE {told('ME CAPTURE')}",
            other,
        ),
        f"{figure}/impar": (
            [*steady("IMPAR precision"), *worse("IMPAR recall")],
            f"precision {told('IMPAR precision')}; recall {told('IMPAR recall')}",
            other,
        ),
        f"{figure}/fid": (worse("Fréchet"), told("Fréchet"), other),
        f"{figure}/prd-precision": (worse("PRD precision (F1/8)"), told("PRD precision (F1/8)"), other),
        "mark-evaluate/section-4.1/last-topic": (
            steepest,
            "the last step is the steepest for "
            f"{sum(part.holds == 'holds' for part in steepest)} of {len(steepest)} numbers for diversity or both",
            "With more topics than five, half of the variety is lost well before the last step",
        ),
        "mark-evaluate/section-4.1/shifts": (
            shifts,
            "; ".join(
                f"{name}: " + ", ".join(f"{each} {rows[name][each]['change']}" for each in _PAPER) for name in rows
            ),
            partners,
        ),
    }
    claims = []
    for where, (parts, here, why) in found.items():
        verdict = together(parts)
        claims.append(Claim(where, verdict, here, data, unless(verdict.holds, why)))
    return claims


STUDY = Study(
    name="mode-collapse",
    title="Mode collapse: genres dropped from the candidate set",
    paper="Mark-Evaluate",
    reproduces="Figure 3",
    data=(XNLI, BROWN),
    run=_run,
    judge=judge,
    layout=LAYOUT,
    takes="15 minutes of one core where k-sweep has run before, 18 where not; 25,000 sentences are encoded",
)
