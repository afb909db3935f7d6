"""What papers print and claim, which is data: `paper.json` in each paper's folder, every table with its source."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any, NamedTuple

PAPERS = {"mark-evaluate": "mark_evaluate", "infolm": "infolm", "distribution-aware": "distribution_aware"}
"""By the first part of a claim's id, the folder of its paper."""


@cache
def _paper(folder: str) -> dict[str, Any]:
    content: dict[str, Any] = json.loads((files(__package__) / folder / "paper.json").read_text(encoding="utf-8"))
    return content


def paper_numbers(package: str, table: str) -> Any:
    """The numbers of a table of the paper whose folder a module belongs to (its `__package__`)."""
    return _paper(package.rpartition(".")[2])["tables"][table]["numbers"]


class Statement(NamedTuple):
    """One thing that a paper says; the same statement has one id, whatever judges it."""

    paper: str
    where: str
    """Figure 2, Table 5, section 4.1."""
    says: str
    """In our words; no full stop."""
    reports: str
    """The paper's own numbers."""


@cache
def out_of_reach() -> dict[str, str]:
    """By id, claims that no study can judge, since a model or data set is nowhere at hand: what is lacking."""
    return {
        f"{short}/{place}": claim["absent"]
        for short, folder in PAPERS.items()
        for place, claim in _paper(folder)["claims"].items()
        if "absent" in claim
    }


def without_claim(short: str) -> dict[str, str]:
    """By name, a paper's tables and figures that claim nothing about data, and what they are."""
    named: dict[str, str] = _paper(PAPERS[short])["without_claim"]
    return named


@cache
def statements() -> dict[str, Statement]:
    """All claims of the papers by id: paper/table or figure/statement."""
    return {
        f"{short}/{place}": Statement(_paper(folder)["name"], claim["where"], claim["says"], claim["reports"])
        for short, folder in PAPERS.items()
        for place, claim in _paper(folder)["claims"].items()
    }
