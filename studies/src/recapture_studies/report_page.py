"""What studies found on one page that shows everything (HTML): verdicts, tables, claims, figures."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import click

import recapture as rc

from .files import plain
from .study import Findings, Setup, Study
from .write import MADE_UP, draw, made_with


class Found(NamedTuple):
    study: Study
    findings: Findings
    setup: Setup


def report_page(found: Sequence[Found]) -> rc.Page:
    """Of one study or of several, each under its name."""
    several = len(found) > 1
    tables, pictures, verdict, notes = [], [], [], []
    for study, findings, setup in found:
        of = f"{study.name}: " if several else ""
        verdict += [f"{of}{paragraph}" for paragraph in findings.verdict]
        for section in findings.tables:
            title = f"{of}{section.name.replace('-', ' ').capitalize()}"
            tables.append(replace(section.table, title=title))
        claims = _claims(study, findings, of)
        tables += [claims] if claims is not None else []
        pictures.append((f"{of}{study.title}", draw(findings), f"{study.title}: {study.reproduces}"))
        if setup.made_up and study.data:
            notes.append(f"{of}{MADE_UP}")
        elif setup.quick:
            notes.append(f"{of}the quick form: its numbers and verdicts say nothing")
    first = found[0].study
    papers = dict.fromkeys(study.paper for study, _, _ in found if study.paper)
    settings = {each.study.name: {**made_with(each.study, each.setup), "seed": each.setup.seed,
                                  **plain(each.findings.settings)} for each in found}  # fmt: skip
    return rc.Page(
        f"{len(found)} studies" if several else first.title,
        verdict,
        subtitle=", ".join(papers) if several or not first.paper else f"{first.paper}, {first.reproduces}",
        tables=tables,
        pictures=pictures,
        notes=list(dict.fromkeys(notes)),
        signature=settings,
        command=_typed(),
    )


def _claims(study: Study, findings: Findings, of: str) -> rc.Table | None:
    heads = ["where", "the paper says", "the paper reports", "verdict", "here", "checked", "rule and reasons", "why"]
    records: list[dict[str, Any]] = [claim.record() for claim in study.claims(findings)]
    rows = [
        [each["where"], each["says"], each["reports"], str(each["holds"]), each["here"],
         f"{each['data']} ({each['sample']})", f"{each['rule']}: {each['because']}", each["why"] or "-"]
        for each in records
    ]  # fmt: skip
    return rc.Table(heads, rows, left=len(heads), title=f"{of}Claims") if rows else None


def _typed() -> str:
    """The command as recapture's program keeps it; none where another program runs the study."""
    context = click.get_current_context(silent=True)
    words = [] if context is None else context.meta.get("recapture.typed", [])
    return shlex.join(["recapture", *words]) if words else ""
