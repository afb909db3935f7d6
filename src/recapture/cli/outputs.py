"""What commands that compare candidates do with the names of files, with results and with warnings."""

from __future__ import annotations

import os
from pathlib import Path

import click

from ..errors import InputError
from ..report import Results
from .options import say, terminal_width

FORMS = ["table", "json", "csv", "md", "latex"]
_ENDINGS = {".json": "json", ".csv": "csv", ".md": "md", ".tex": "latex", ".latex": "latex"}


def chosen_form(form: str | None, output: str | None) -> str:
    return form or _ENDINGS.get(Path(output or "").suffix, "table")


def check_stdin(*inputs: str) -> None:
    if inputs.count("-") > 1:
        raise InputError("standard input (-) can serve for one input only")


def check_targets(output: str | None, per_item: str | None, inputs: tuple[str, ...]) -> None:
    """Both can be written, and neither is an input or the other."""
    from ..files import check_writable

    if "-" in (output, per_item):
        raise InputError("--output and --per-item name files; without --output the totals go to stdout")
    for written in (output, per_item):
        if written:
            check_writable(written, keep=inputs)
    if output and per_item and Path(output).resolve() == Path(per_item).resolve():
        raise InputError(f"--output and --per-item both name {output}")


def rendered(results: Results, form: str, output: str | None, arrays: bool = False) -> str:
    from ..report import render

    if form == "table":
        width = None if output else terminal_width()
        return render.to_table(results, color=width is not None, width=width)
    return render.to_json(results, arrays=arrays) if form == "json" else render.FORMATS[form](results)


def candidate_names(paths: tuple[str, ...], given: tuple[str, ...]) -> list[str]:
    """As the user says; else file names, or whole paths where two files share a name."""
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"candidate {path} is given twice")
    if given:
        if len(given) != len(paths):
            raise InputError(f"there are {len(paths)} candidates and {len(given)} names")
        if len(set(given)) < len(given):
            raise InputError("two candidates have the same name")
        return list(given)
    names = [path if path == "-" else Path(path).name for path in paths]
    names = names if len(set(names)) == len(names) else list(paths)
    return [os.fsencode(name).decode("utf-8", "replace") for name in names]  # names that are not UTF-8, too


def deliver(results: Results, form: str, output: str | None, arrays: bool = False) -> None:
    """To the file or to stdout; then what the user should know, unless it is part of the result."""
    from ..files import write_text

    text = rendered(results, form, output, arrays)
    if output:
        write_text(output, text)
        say(f"wrote {output}")
    else:
        click.echo(text, nl=False)
    if form != "json":
        warn(results)


def warn(results: Results) -> None:
    """Each warning once: with the metrics it concerns, and with the candidate unless it holds for all."""
    from ..report.captions import warned

    for warning, candidates, metrics in warned(results):
        shared = len(candidates) == len(results) or all(repr(name) in warning for name in candidates)
        say(f"{'' if shared else ', '.join(candidates) + ': '}{warning} [{', '.join(metrics)}]")
