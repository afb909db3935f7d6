"""One page of all studies: what each paper claims, what holds here, and why. Made of the studies' own files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import recapture as rc

from .study import list_studies

PAPERS = {
    "Mark-Evaluate": "Mordido and Meinel 2020, Mark-Evaluate: Assessing Language Generation using Population "
    "Estimation Methods",
    "InfoLM": "Colombo, Clavel and Piantanida 2022, InfoLM: A New Metric to Evaluate Summarization and Data2Text "
    "Generation",
    "Distribution-aware metrics": "Chan et al. 2022, Distribution Aware Metrics for Conditional Natural Language "
    "Generation",
}
_ORDER = ("holds", "holds in part", "does not hold", "cannot be told")
_BESIDE = "beside-the-paper"

_NEEDED = {"paper", "title", "reproduces", "claims", "tables", "verdict", "quick", "heads", "left", "captions"}

Content = Mapping[str, Any]


def results_page(folder: Path, page: Path) -> str:
    """The text of `page`, from the files that studies wrote to `folder`."""
    contents = {name: _read(folder / f"{name}.json") for name in list_studies() if (folder / f"{name}.json").is_file()}
    if not contents:
        raise rc.InputError(
            f"{folder} holds no findings of studies: run recapture reproduce NAME --output {folder} first"
        )
    quick = [name for name, content in contents.items() if content["quick"]]
    if quick:
        raise rc.InputError(f"{folder / quick[0]}.json is of a quick form, which says nothing: run the study in full")
    link = Path(os.path.relpath(folder, page.parent)).as_posix()
    parts = [
        "# What the papers claim, and what holds here",
        "Made by `recapture reproduce --page` from the files the studies wrote; nothing on this page is typed by hand. "
        "How to run them, and on what data: [studies](studies.md). Each has a page of its own with all its tables.",
        *_summary(contents),
    ]
    for paper, title in PAPERS.items():
        own = {name: content for name, content in contents.items() if content["paper"] == paper}
        if own:
            parts += [f"## {paper}", f"{title}.", *_claims(own, link)]
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
        content = json.loads(path.read_text(encoding="utf-8"))
        whole = content.keys() >= _NEEDED
    except (OSError, ValueError, AttributeError):
        whole = False
    if not whole:
        raise rc.InputError(f"{path} is not what a study writes: run the study again")
    made: Content = content
    return made


def _summary(contents: Mapping[str, Content]) -> list[str]:
    rows = []
    for paper in PAPERS:
        counts = Counter(claim["holds"] for content in contents.values() if content["paper"] == paper
                         for claim in content["claims"])  # fmt: skip
        if counts:
            rows.append([paper, *(str(counts[kind]) for kind in _ORDER)])
    return [rc.Table(["claims of", *_ORDER], rows).to_markdown().rstrip()] if rows else []


def _claims(contents: Mapping[str, Content], link: str) -> list[str]:
    rows = [
        [claim["where"], claim["says"], f"**{claim['holds']}**", claim["here"], claim["why"] or "-",
         f"[{name}]({link}/{name}.md)"]
        for name, content in contents.items() for claim in content["claims"]
    ]  # fmt: skip
    if not rows:
        return []
    return [rc.Table(["where", "the paper says", "", "here", "why", "study"], rows, left=6).to_markdown().rstrip()]


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
