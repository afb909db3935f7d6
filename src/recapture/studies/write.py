"""A study's findings as files: Markdown, CSV, JSON, PNG and SVG, each written whole."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

from ..errors import InputError
from ..files import cannot_write, whole_file, write_text
from ..report.grid import Grid
from ..report.result import plain
from ..representations.encoder import DEFAULT_ENCODER
from ..representations.shipped import SHIPPED
from ..versions import VERSION
from .study import Claim, Findings, Setup, Study


def write_findings(study: Study, findings: Findings, setup: Setup, output: Path) -> list[Path]:
    """The files that were written: NAME.md with everything, a CSV per table, NAME.json, NAME.png and NAME.svg."""
    pictures = draw(findings)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(output, error) from None
    texts = {output / f"{study.name}.md": _page(study, findings, setup)}
    texts |= {output / f"{study.name}-{table.name}.csv": table.grid.to_csv() for table in findings.tables}
    content = {
        "recapture": VERSION,
        "study": study.name,
        "title": study.title,
        "paper": study.paper,
        "reproduces": study.reproduces,
        "data": list(study.data),
        "takes": study.takes,
        "quick": setup.quick,
        "seed": setup.seed,
        **made_with(study, setup),
        "settings": plain(findings.settings),
        "tables": {table.name: [dict(zip(table.grid.heads, row, strict=True)) for row in table.grid.rows]
                   for table in findings.tables},
        "heads": {table.name: list(table.grid.heads) for table in findings.tables},
        "left": {table.name: table.grid.left for table in findings.tables},
        "adds": {table.name: table.adds for table in findings.tables if table.adds},
        "captions": {table.name: list(table.grid.caption) for table in findings.tables},
        "claims": [asdict(claim) for claim in findings.claims],
        "verdict": list(findings.verdict),
    }  # fmt: skip
    texts[output / f"{study.name}.json"] = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    for path, text in texts.items():
        write_text(str(path), text)
    for ending, picture in pictures.items():
        with whole_file(output / f"{study.name}.{ending}") as temporary:
            temporary.write_bytes(picture)
    return [*texts, *(output / f"{study.name}.{ending}" for ending in pictures)]


def made_with(study: Study, setup: Setup) -> dict[str, str]:
    """The models, by what they are."""
    made = {}
    if study.encodes:
        pooling = setup.encoding.get("pooling")
        made["encoder"] = _name(setup.encoder, DEFAULT_ENCODER) + (f", {pooling} pooling" if pooling else "")
    if study.masked:
        made["masked language model"] = _name(setup.model, " and ".join(SHIPPED))
    return made


def _name(given: Any, default: str) -> str:
    """A folder by its last part: where it lies on one machine says nothing on another."""
    return default if given is None else Path(given).name if Path(str(given)).is_dir() else str(given)


def check_output(output: Path) -> None:
    """Refuse before a study runs what could not be written after it."""
    _plotting()
    there = next(path for path in (output.absolute(), *output.absolute().parents) if path.exists())
    if not there.is_dir() or not os.access(there, os.W_OK):
        raise InputError(f"cannot write to {output}: {there} is {'not writable' if there.is_dir() else 'a file'}")


def _plotting() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise InputError("figures need matplotlib: pip install 'recapture[plots]'") from None
    return matplotlib


def draw(findings: Findings) -> dict[str, bytes]:
    """The figure by ending of its file."""
    plotting = _plotting()
    pictures = {}
    # Fixed ids and no date: the same numbers give the same file.
    with plotting.rc_context({"svg.hashsalt": "recapture", "svg.fonttype": "none"}):
        figure = plotting.figure.Figure(layout="constrained")
        findings.draw(figure)
        for ending, metadata in (("png", {"Software": None}), ("svg", {"Date": None})):
            stream = io.BytesIO()
            figure.savefig(stream, format=ending, dpi=150, metadata=metadata)
            pictures[ending] = stream.getvalue()
    return pictures


def _page(study: Study, findings: Findings, setup: Setup) -> str:
    data = ", ".join(study.data) or "none, it simulates"
    what = f"Reproduces {study.paper}, {study.reproduces}" if study.paper else study.reproduces
    parts = [f"# {study.title}", f"{what}. Data: {data}; seed {setup.seed}"]
    parts[-1] += "".join(f"; {what}: {name}" for what, name in made_with(study, setup).items()) + "."
    if setup.quick:
        parts += ["**The quick form: a trial of the machinery on a few texts. Its numbers and verdicts say nothing.**"]
    parts += [f"![{study.title}]({study.name}.png)"]
    for table in findings.tables:
        parts += [f"## {table.name.replace('-', ' ').capitalize()}", table.grid.to_markdown().rstrip()]
    parts += ["## Verdict", *findings.verdict]
    if findings.claims:
        parts += ["## Claims", claims_grid(findings.claims).to_markdown().rstrip()]
    return "\n\n".join(parts) + "\n"


def claims_grid(claims: Sequence[Claim]) -> Grid:
    rows = [[claim.where, claim.says, f"**{claim.holds}**", claim.here, claim.why or "-"] for claim in claims]
    return Grid(["where", "the paper says", "", "here", "why"], rows, left=5)
