"""A study's findings as files: Markdown, CSV, JSON and SVG, each written whole."""

from __future__ import annotations

import io
import json
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import recapture as rc

from .files import cannot_write, check_folder, check_writable, plain, write_all
from .models import DEFAULT_ENCODER, MASKED_MODELS
from .study import Claim, Findings, Setup, Study, rows_of
from .svg import slim

SCHEMA = 2
"""Of NAME.json: grows when a reader of the old one would misread the new one."""
CLAIMS = "## Claims"
MADE_UP = "all texts were made up by the program, to try the machinery: numbers and verdicts say nothing"


def write_findings(study: Study, findings: Findings, setup: Setup, output: Path) -> list[Path]:
    """The files that were written: NAME.md with everything, a CSV per table, NAME.json and NAME.svg."""
    picture = draw(findings)
    claims = study.claims(findings)
    try:
        output.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise cannot_write(output, error) from None
    texts = {output / f"{study.name}.md": _page(study, findings, setup, claims)}
    texts |= {output / f"{study.name}-{table.name}.csv": table.table.to_csv() for table in findings.tables}
    content = {
        "schema": SCHEMA,
        "recapture": rc.__version__,
        "study": study.name,
        "title": study.title,
        "paper": study.paper,
        "reproduces": study.reproduces,
        "data": list(study.data),
        "takes": study.takes,
        "quick": setup.quick,
        **({"made_up": True} if setup.made_up and study.data else {}),
        "seed": setup.seed,
        **made_with(study, setup),
        "settings": plain(findings.settings),
        "tables": rows_of(findings.tables),
        "heads": {table.name: list(table.table.heads) for table in findings.tables},
        "left": {table.name: table.table.left for table in findings.tables},
        "adds": {table.name: table.adds for table in findings.tables if table.adds},
        "captions": {table.name: list(table.table.caption) for table in findings.tables},
        "claims": [claim.record() for claim in claims],
        "verdict": list(findings.verdict),
    }  # fmt: skip
    texts[output / f"{study.name}.json"] = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    texts[output / f"{study.name}.svg"] = picture
    for path in texts:
        check_writable(path, keep=(setup.encoder, setup.model, setup.jar, setup.samples))
    write_all(texts)
    return list(texts)


def made_with(study: Study, setup: Setup) -> dict[str, str]:
    """The models, by what they are."""
    models = {}
    if study.encodes:
        pooling = setup.encoding.get("pooling")
        models["encoder"] = _name(setup.encoder, DEFAULT_ENCODER) + (f", {pooling} pooling" if pooling else "")
    if study.masked:
        models["masked language model"] = _name(setup.model, " and ".join(MASKED_MODELS))
    if study.meteor and setup.jar is not None:
        models["METEOR"] = f"with synonyms and paraphrases, tables of {Path(setup.jar).name}"
    return models


def _name(given: Any, default: str) -> str:
    """A folder by its last part: where it lies on one machine says nothing on another."""
    return default if given is None else Path(given).name if Path(str(given)).is_dir() else str(given)


def check_output(output: Path) -> None:
    """Refuse before a study runs what could not be written after it."""
    _plotting()
    there = next(path for path in (output.absolute(), *output.absolute().parents) if os.path.lexists(path))
    if not there.is_dir():
        raise rc.InputError(f"cannot write to {output}: {there} is a file")
    try:
        check_folder(there)
        (there / output.name).exists()  # a name too long, for one
    except OSError as error:
        raise rc.InputError(f"cannot write to {output}: {there} is not writable ({error.strerror or error})") from None


def _plotting() -> Any:
    try:
        import matplotlib.figure
    except ImportError:
        raise rc.InputError("figures need matplotlib: pip install matplotlib") from None
    return matplotlib


def draw(findings: Findings) -> str:
    """The figure as SVG."""
    plotting = _plotting()
    # Fixed ids and no date: the same numbers give the same file.
    with plotting.rc_context({"svg.hashsalt": "recapture", "svg.fonttype": "none"}):
        figure = plotting.figure.Figure(layout="constrained")
        findings.draw(figure)
        stream = io.BytesIO()
        figure.savefig(stream, format="svg", dpi=72, metadata={"Date": None})
    return slim(stream.getvalue().decode())


def _page(study: Study, findings: Findings, setup: Setup, claims: Sequence[Claim]) -> str:
    data = ", ".join(study.data) or "none, it simulates"
    what = f"Reproduces {study.paper}, {study.reproduces}" if study.paper else study.reproduces
    parts = [f"# {study.title}", f"{what}. Data: {data}; seed {setup.seed}"]
    parts[-1] += "".join(f"; {what}: {name}" for what, name in made_with(study, setup).items()) + "."
    if setup.made_up and study.data:
        parts += [f"**{MADE_UP[0].upper()}{MADE_UP[1:]}.**"]
    elif setup.quick:
        parts += ["**The quick form: a trial of the machinery on a few texts. Its numbers and verdicts say nothing.**"]
    parts += [f"![{study.title}]({study.name}.svg)"]
    for table in findings.tables:
        parts += [f"## {table.name.replace('-', ' ').capitalize()}", table.table.to_markdown().rstrip()]
    parts += ["## Verdict", *findings.verdict]
    return "\n\n".join(parts) + "\n" + claims_part([claim.record() for claim in claims])


def claims_part(claims: Sequence[Mapping[str, Any]]) -> str:
    """The end of a study's page: what each piece of evidence says, and by which rule."""
    if not claims:
        return ""
    heads = ["where", "the paper says", "the paper reports", "", "here", "checked", "rule and reasons", "why"]
    rows = [
        [claim["where"], claim["says"], claim["reports"], f"**{claim['holds']}**", claim["here"],
         f"{claim['data']} ({claim['sample']})", f"{claim['rule']}: {claim['because']}", claim["why"] or "-"]
        for claim in claims
    ]  # fmt: skip
    return f"\n{CLAIMS}\n\n{rc.Table(heads, rows, left=len(heads)).to_markdown().rstrip()}\n"
