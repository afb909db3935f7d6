"""One page of all studies: what each paper claims, what holds here, and why. Made of the studies' own files."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

import recapture as rc

from .files import json_of
from .paper import out_of_reach, statements
from .study import Claim, list_studies
from .verdicts import OUTCOMES, PARTS, PIECES, RULES, SAMPLES, Piece, absent, one_claim

PAPERS = {
    "Mark-Evaluate": "Mordido and Meinel 2020, Mark-Evaluate: Assessing Language Generation using Population "
    "Estimation Methods",
    "InfoLM": "Colombo, Clavel and Piantanida 2022, InfoLM: A New Metric to Evaluate Summarization and Data2Text "
    "Generation",
    "Distribution-aware metrics": "Chan et al. 2022, Distribution Aware Metrics for Conditional Natural Language "
    "Generation",
}
_BESIDE = "beside-the-paper"

_NEEDED = {"paper", "title", "reproduces", "claims", "tables", "verdict", "quick", "heads", "left", "captions"}

_OPEN = "not judged yet"

Content = Mapping[str, Any]


class Evidence(NamedTuple):
    """A stored claim, and the study that judged it."""

    study: str
    record: Content


def results_page(folder: Path, page: Path) -> str:
    """The text of `page`, from the files that studies wrote to `folder`."""
    files = {name: folder / f"{name}.json" for name in list_studies()}
    contents = {name: _read(file) for name, file in files.items() if os.path.isfile(file)}  # noqa: PTH113 - never raises
    if not contents:
        raise rc.InputError(
            f"{folder} holds no findings of studies: run recapture reproduce NAME --output {folder} first"
        )
    quick = [name for name, content in contents.items() if content["quick"]]
    if quick:
        raise rc.InputError(f"{folder / quick[0]}.json is of a quick form, which says nothing: run the study in full")
    gathered = _gathered(contents)
    link = Path(os.path.relpath(folder, page.parent)).as_posix()
    parts = [
        "# What the papers claim, and what holds here",
        "Made by `recapture reproduce --page` from the files the studies wrote; nothing on this page is typed by hand. "
        "How to run them, and on what data: [studies](studies.md). Each has a page of its own with all its tables.",
        *_summary(gathered),
        *_rules(gathered),
    ]
    for paper, title in PAPERS.items():
        own = {name: content for name, content in contents.items() if content["paper"] == paper}
        if own:
            parts += [f"## {paper}", f"{title}.", *_claims(gathered, paper, link)]
            for name, content in own.items():
                parts += _study(name, content, link)
    beyond = list(_beyond(contents, link))
    if beyond:
        parts += ["## What the papers do not have", *beyond]
    rest = {name: content for name, content in contents.items() if content["paper"] not in PAPERS}
    if rest:
        parts += ["## Checks of our own"]
        for name, content in rest.items():
            parts += _study(name, content, link)
    missing = [name for name in list_studies() if name not in contents]
    if missing:
        parts += [f"Not run: {', '.join(missing)}."]
    return "\n\n".join(parts) + "\n"


def _read(path: Path) -> Content:
    try:
        content = json_of(path.read_text(encoding="utf-8"), str(path))
        whole = content.keys() >= _NEEDED and all("id" in claim for claim in content["claims"])
    except (OSError, ValueError, AttributeError, TypeError, RecursionError):
        whole = False
    if not whole:
        raise rc.InputError(f"{path} is not what a study writes now: run the study again, or judge its tables anew")
    made: Content = content
    return made


def _gathered(contents: Mapping[str, Content]) -> dict[str, list[Evidence]]:
    """By claim, in the order of the papers, all pieces of evidence with the study they come from."""
    pieces: dict[str, list[Evidence]] = {claim: [] for claim in statements()}
    for name, content in contents.items():
        for record in content["claims"]:
            if record["id"] not in pieces:
                raise rc.InputError(f"{name}.json judges {record['id']!r}, which is no claim of a paper: run it again")
            pieces[record["id"]].append(Evidence(name, record))
    for claim, lacking in out_of_reach().items():
        if not pieces[claim]:
            pieces[claim].append(Evidence("", Claim(claim, absent(lacking), "-", "nothing").record()))
    return pieces


def _judged(pieces: Sequence[Evidence]) -> tuple[str, str]:
    return one_claim([Piece(each.record["holds"], each.record["own"], each.record["chosen"], each.record["data"])
                      for each in pieces])  # fmt: skip


def _summary(gathered: Mapping[str, Sequence[Evidence]]) -> list[str]:
    counts: dict[str, Counter[str]] = {paper: Counter() for paper in PAPERS}
    for claim, pieces in gathered.items():
        counts[statements()[claim].paper][_judged(pieces)[0] if pieces else _OPEN] += 1
    heads = ["claims of", *OUTCOMES, *([_OPEN] if any(each[_OPEN] for each in counts.values()) else [])]
    rows = [[paper, *(str(each[kind]) for kind in heads[1:])] for paper, each in counts.items()]
    return [rc.Table(heads, rows).to_markdown().rstrip(), "Each claim is counted once, however many studies judge it."]


def _rules(gathered: Mapping[str, Sequence[Evidence]]) -> list[str]:
    """Of each kind the rule, and how many claims it judges."""
    used = Counter(
        rule
        for pieces in gathered.values()
        for rule in {rule for each in pieces for rule in each.record["rule"].split(", ")}
    )
    rows = [[name, str(used[name]), words] for name, words in RULES.items()]
    return [
        "## How claims are judged",
        "One rule for each kind of claim, the same for all studies. Every verdict follows from the tables that the "
        "studies print.",
        rc.Table(["kind", "claims", "rule"], rows, left=3).to_markdown().rstrip(),
        f"**Several parts.** {PARTS}",
        f"**Several pieces of evidence.** {PIECES}",
        f"**In and out of sample.** {SAMPLES}",
    ]


def _claims(gathered: Mapping[str, Sequence[Evidence]], paper: str, link: str) -> list[str]:
    rows = []
    for claim, pieces in gathered.items():
        said = statements()[claim]
        if said.paper != paper or not pieces:
            continue
        holds, decided = _judged(pieces)
        marks = [f"({at}) " if len(pieces) > 1 else "" for at in range(1, len(pieces) + 1)]

        def told(
            word: Callable[[Content], str], pieces: Sequence[Evidence] = pieces, marks: Sequence[str] = marks
        ) -> str:
            return " ".join(f"{mark}{word(each.record)}" for mark, each in zip(marks, pieces, strict=True))

        studies = dict.fromkeys(each.study for each in pieces)
        rows.append([
            said.where, said.says, said.reports, f"**{holds}**" + (f" ({decided})" if decided else ""),
            told(lambda record: record["here"]),
            told(lambda record: f"{record['data']}: {record['sample']}"),
            told(lambda record: f"{record['holds']}; {record['rule']}: {record['because']}"),
            "; ".join(dict.fromkeys(each.record["why"] for each in pieces if each.record["why"])) or "-",
            ", ".join(f"[{name}]({link}/{name}.md)" for name in studies if name) or "-",
        ])  # fmt: skip
    heads = ["where", "the paper says", "the paper reports", "", "found here", "checked on", "by rule", "why", "study"]
    return [rc.Table(heads, rows, left=len(heads)).to_markdown().rstrip()] if rows else []


def _study(name: str, content: Content, link: str) -> Iterator[str]:
    yield f"### {content['title']}"
    head = f"{content['reproduces']}; [all tables]({link}/{name}.md)"
    yield head + (f"; took {content['takes']}." if content.get("takes") else ".")
    yield f"![{content['title']}]({link}/{name}.svg)"
    table = _grid(content, _BESIDE)
    if table is not None and content["tables"].get(_BESIDE):
        yield "Ours beside the paper's:"
        yield table
    yield from content["verdict"]


def _grid(content: Content, table: str) -> str | None:
    """A table as Markdown, or None where it is not there."""
    heads: Sequence[str] = content["heads"].get(table, [])
    if not heads:
        return None
    rows = [[row[head] for head in heads] for row in content["tables"][table]]
    return rc.Table(heads, rows, content["captions"].get(table, []), left=content["left"][table]).to_markdown().rstrip()


def _beyond(contents: Mapping[str, Content], link: str) -> Iterator[str]:
    """Tables that say what they add."""
    for name, content in contents.items():
        for table, adds in content.get("adds", {}).items():
            shown = _grid(content, table)
            yield f"**{adds}** ([{name}]({link}/{name}.md))"
            if shown is not None:
                yield shown
