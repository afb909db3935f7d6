"""For the study of decoding: people's and machines' continuations, votes of people, and seeds of one model."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

import recapture as rc

from ..files import records
from ..progress import progress_bar
from ..steps import steps_of
from ..study import Setup
from .captions import Scoring, data_file, load

FOLDER = "gpt2xl_contrastive_search"
DOMAINS = ("book", "wikitext")
PEOPLE, SEARCH, DECODING = "other people", "contrastive search", "contrastive decoding"
_MACHINE = "gpt2xl_contrastive_search"
_VOTES = "human_pairwise.jsonl.gz"
LAYOUT = (
    "book.jsonl.gz and wikitext.jsonl.gz, one object a line: prompt, human, gpt2xl_contrastive_search (continuations); "
    "human_pairwise.jsonl.gz: prompt, domain, system_a_name, system_b_name, system_a_result, system_b_result (with the "
    "prompt), human_annotation (by annotator: which is more human-like)"
)
LEVEL = 0.95
METRICS = ("meteor", "trm-meteor", "cider", "trm-cider")
REFERENCES, CANDIDATES = 5, 10

Numbers = dict[str, dict[str, list[float]]]
"""By candidate and number: value, ends of its interval, and 1 where higher is better, else -1."""


def folder(setup: Setup) -> Path:
    return setup.folder(
        FOLDER, "book.jsonl.gz, wikitext.jsonl.gz (prompt, human, gpt2xl_contrastive_search), " + _VOTES
    )


def continuations(setup: Setup, size: int) -> dict[str, Numbers]:
    """People's continuations of some prompts as reference; of as many other prompts people's and a machine's."""
    by_domain = {}
    for domain in DOMAINS:
        file = folder(setup) / f"{domain}.jsonl.gz"
        rows = list(records(file, {"prompt": str, "human": str, _MACHINE: str}))
        if len(rows) < 20:
            raise rc.InputError(f"{file} has {len(rows)} continuations; the study needs at least 20")
        order = np.random.default_rng(setup.seed).permutation(len(rows))
        many = min(size, len(rows) // 2)
        first, second = ([rows[at] for at in order[start : start + many]] for start in (0, many))
        sets = {PEOPLE: [row["human"] for row in second], SEARCH: [row[_MACHINE] for row in second]}
        steps = steps_of(setup, "decoding", {"revision": 2, "size": many}, [file])
        references = [row["human"] for row in first]
        by_domain[domain] = steps.get(domain, lambda r=references, s=sets: _evaluated(setup, r, s))  # type: ignore[misc]
    return by_domain


class Votes(NamedTuple):
    """Which of two decoders people hold to be more like a person's."""

    prompts: dict[str, tuple[int, int, int]]
    """By domain: prompts that contrastive search wins, loses, and where votes are even."""
    voices: tuple[int, int, int]
    """The same for single votes, and those for neither."""
    beside: Numbers
    """Both decoders' continuations against people's of the same prompts."""
    matched: int
    """Prompts that have a person's continuation."""


def votes(setup: Setup, size: int | None) -> Votes:
    file = folder(setup) / _VOTES
    known = {
        row["prompt"]: row["human"]
        for domain in DOMAINS
        for row in records(folder(setup) / f"{domain}.jsonl.gz", {"prompt": str, "human": str})
    }
    of_systems = [f"system_{side}_{what}" for side in "ab" for what in ("name", "result")]
    fields = {"prompt": str, "domain": str, "human_annotation": dict, **dict.fromkeys(of_systems, str)}
    prompts: dict[str, list[int]] = {}
    voices: Counter[int] = Counter()
    people: list[str] = []
    sets: dict[str, list[str]] = {SEARCH: [], DECODING: []}
    for row in records(file, fields):
        if not all(isinstance(vote, str) for vote in row["human_annotation"].values()):
            raise rc.InputError(f"{file}: a vote in 'human_annotation' is no text")
        names = {side: str(row[f"system_{side}_name"]).replace("_", " ") for side in "ab"}
        if set(names.values()) != set(sets):
            raise rc.InputError(f"{file}: systems are {', '.join(sets)}, not {', '.join(names.values())}")
        cast = [_voice(str(vote), names) for vote in row["human_annotation"].values()]
        voices.update(cast)
        prompts.setdefault(str(row["domain"]), []).append(int(np.sign(sum(cast))))
        if row["prompt"] in known and (size is None or len(people) < size):
            people.append(known[row["prompt"]])
            for side, name in names.items():
                sets[name].append(str(row[f"system_{side}_result"]).removeprefix(row["prompt"]))
    steps = steps_of(setup, "decoding", {"revision": 2, "matched": len(people)}, [file])
    beside = steps.get("pairwise", lambda: _evaluated(setup, people, sets)) if len(people) >= 10 else {}
    won = {name: (each.count(1), each.count(-1), each.count(0)) for name, each in prompts.items()}
    return Votes(won, (voices[1], voices[-1], voices[0]), beside, len(people))


def _voice(vote: str, names: Mapping[str, str]) -> int:
    """1 for contrastive search, -1 for the other, 0 for neither."""
    chosen = next((name for side, name in names.items() if vote.lower().startswith(f"system {side} ")), None)
    return 0 if chosen is None else 1 if chosen == SEARCH else -1


def _evaluated(setup: Setup, references: Sequence[str], sets: Mapping[str, Sequence[str]]) -> Numbers:
    results = rc.evaluate(
        list(references), {name: list(texts) for name, texts in sets.items()}, encoder=setup.encoder, interval=LEVEL,
        ceiling=False, seed=setup.seed, **setup.encoding,
    )  # fmt: skip
    return {
        name: {
            metric if output == "value" else f"{metric} {output}": [
                value,
                *result.intervals.get(output, result.ranges[output]),
                1.0 if result.direction == "higher" else -1.0,
            ]
            for metric, result in by_metric.items()
            for output, value in result.values.items()
        }
        for name, by_metric in results.items()
    }  # fmt: skip


class Variety(NamedTuple):
    """Ten candidates of which so many differ: mean scores over contexts, by metric."""

    contexts: int
    by_distinct: dict[int, dict[str, list[float]]]
    """By number of different candidates, the seeds' most frequent outputs first: mean and its standard error."""
    others: dict[str, dict[str, list[float]]]
    """The same for sets made by other rules."""


BEST, AS_THEY_ARE = "the best by METEOR, repeated", "ten seeds as they are"


def variety(setup: Setup) -> Variety:
    file = data_file(setup, "e2e_dev_multi")
    rows = load(file, contexts=2, references=REFERENCES, candidates=CANDIDATES)
    # All sizes on the same contexts; where none vary so much, those that vary most.
    distinct = [len(set(row.candidates)) for row in rows]
    most = min(CANDIDATES, max(distinct))
    rows_used = [row for row, count in zip(rows, distinct, strict=True) if count >= most][: 12 if setup.quick else None]
    sizes = [count for count in (1, 2, 3, 5, 7, 10) if count <= most]
    scoring = Scoring(setup, METRICS, [row.references for row in rows])
    steps = steps_of(setup, "decoding-variety", {"revision": 1}, [file], encodes=False)
    rng = np.random.default_rng(setup.seed)
    kept: list[dict[str, list[float]]] = []
    with progress_bar("seeds", len(rows_used), "context") as progress:
        for row in rows_used:
            references = rng.permutation(row.references)[:REFERENCES].tolist()
            kept.append(
                steps.get(row.id, lambda r=references, c=row.candidates: _sets(scoring, r, c, sizes))  # type: ignore[misc]
            )
            progress.advance()
    labels = list(kept[0])
    means = {
        label: {
            metric: [float(np.mean(values)), float(np.std(values, ddof=1) / np.sqrt(len(values)))]
            for metric, values in zip(METRICS, np.array([each[label] for each in kept]).T, strict=True)
        }
        for label in labels
    }
    return Variety(
        len(kept), {size: means[str(size)] for size in sizes}, {label: means[label] for label in (BEST, AS_THEY_ARE)}
    )


def _sets(
    scoring: Scoring, references: Sequence[str], candidates: Sequence[str], sizes: Sequence[int]
) -> dict[str, list[float]]:
    """Scores of each set of candidates of one context, in the order of METRICS."""
    frequent = [text for text, _ in Counter(candidates).most_common()]  # ties: the first seed's first
    texts = [*references, *frequent]
    squares = scoring.squares(texts)
    near = squares["meteor"][REFERENCES:, :REFERENCES].max(axis=1)
    place = {text: REFERENCES + at for at, text in enumerate(frequent)}
    chosen = {str(size): [REFERENCES + at % size for at in range(CANDIDATES)] for size in sizes}
    chosen[BEST] = [REFERENCES + int(np.argmax(near))] * CANDIDATES
    chosen[AS_THEY_ARE] = [place[text] for text in candidates[:CANDIDATES]]
    cells = [[*range(REFERENCES), *positions] for positions in chosen.values()]
    found = scoring.on_squares(squares, texts, REFERENCES, cells)
    return {label: [found[metric][number] for metric in METRICS] for number, label in enumerate(chosen)}
