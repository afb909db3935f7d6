"""`recapture score`: candidate files against a reference file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from ..errors import InputError
from ..metrics.run import DEFAULT_DRAWS
from ..results import Results
from ..texts import read_samples, read_together
from .options import (
    chosen_encoding,
    encoding_options,
    inference_options,
    input_options,
    output_format,
    say,
    terminal_width,
)

ENDINGS = {".json": "json", ".csv": "csv", ".md": "md", ".tex": "latex", ".latex": "latex"}


@click.command()
@click.option("--reference", "-r", required=True, metavar="FILE", help="Human texts or vectors; - for stdin.")
@click.option("--candidate", "-c", required=True, multiple=True, metavar="FILE", help="Generated ones; repeatable.")
@click.option(
    "--name", multiple=True, metavar="NAME", help="What to call each candidate, in order (default: its file)."
)
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: all; see recapture list).")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@input_options
@click.option("--reference-field", metavar="NAME", help="The same for the reference, where it differs.")
@click.option("--reference-format", metavar="NAME", help="How to read the reference (default: by its file name).")
@encoding_options
@click.option(
    "--balance",
    type=click.IntRange(1),
    is_flag=False,
    flag_value=DEFAULT_DRAWS,
    metavar="[DRAWS]",
    help=f"Average over equal-size subsamples of the larger set ({DEFAULT_DRAWS} unless said).",
)
@inference_options
@click.option("--no-ceiling", is_flag=True, help="Do not score halves of the reference against each other.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(
    ["table", "json", "csv", "md", "latex"], default=None, default_text="by the ending of --output, else table"
)
@click.option("--arrays", is_flag=True, help="With json: also per-sample flags and curves.")
@click.option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")
def score(
    reference: str,
    candidate: tuple[str, ...],
    name: tuple[str, ...],
    metrics: str | None,
    k: int | None,
    field: str | None,
    input_format: str | None,
    reference_field: str | None,
    reference_format: str | None,
    encoder: str | None,
    balance: int | None,
    interval: float | None,
    pvalue: bool | int | str,
    no_ceiling: bool,
    seed: int,
    form: str | None,
    arrays: bool,
    output: str | None,
    **encoding: Any,
) -> None:
    """Score candidate sets against a reference set.

    Files hold one text a line, or are JSONL, JSON, CSV, TSV or Parquet (see --field), or hold ready vectors
    (.npy, .npz, .safetensors). Results go to stdout, messages to stderr.

    \b
    Examples:
      recapture score --reference human.txt --candidate model.txt
      recapture score -r human.txt -c a.txt -c b.jsonl --field text --metrics mark-evaluate,precision-recall --k 1
      recapture score -r human.jsonl --reference-field text -c model.jsonl --field output --name "model 7"
      recapture score -r human.npy -c model.npy --interval 0.95 --pvalue --output scores.json
      generate | recapture score -r human.txt -c - --encoder bag-of-words
    """
    from ..evaluation import choose_metrics, evaluate
    from ..results import render
    from ..results.write import check_writable, write_text

    form = form or ENDINGS.get(Path(output or "").suffix, "table")
    if arrays and form != "json":
        raise InputError(f"--arrays goes with --format json, not {form}")
    if output:
        check_writable(output, keep=(reference, *candidate))
    chosen = [metric.name for metric in choose_metrics(metrics)]
    names = _names(candidate, name)
    if (reference, *candidate).count("-") > 1:
        raise InputError("standard input (-) can serve for one input only")
    formats = [reference_format, *[input_format] * len(candidate)]
    if reference_field is None:
        references, *given = read_together([reference, *candidate], formats, field=field)
    else:
        references = read_samples(reference, field=reference_field, format=reference_format)
        given = read_together(candidate, formats[1:], field=field)
    for note in dict.fromkeys(note for samples in (references, *given) for note in samples.notes):
        say(note)
    results = evaluate(
        references.content,
        {name: samples.content for name, samples in zip(names, given, strict=True)},
        metrics=chosen,
        encoder=encoder,
        k=k,
        balance=balance or False,
        interval=interval,
        pvalue=pvalue,
        ceiling=not no_ceiling,
        seed=seed,
        reference_name=f"reference {references.source}",
        **chosen_encoding(**encoding),
    )
    if form == "table":
        width = None if output else terminal_width()
        text = render.to_table(results, color=width is not None, width=width)
    elif form == "json":
        text = render.to_json(results, arrays=arrays)
    else:
        text = render.FORMATS[form](results)
    if output:
        write_text(output, text)
        say(f"wrote {output}")
    else:
        click.echo(text, nl=False)
    if form != "json":  # there they are part of the result
        _warn(results)


def _names(paths: tuple[str, ...], given: tuple[str, ...]) -> list[str]:
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


def _warn(results: Results) -> None:
    """Each warning once: with the metrics it concerns, and with the candidate unless it holds for all."""
    seen: dict[str, dict[str, list[str]]] = {}
    for candidate, by_metric in results.items():
        for metric, result in by_metric.items():
            for warning in result.warnings:
                seen.setdefault(warning, {}).setdefault(candidate, []).append(metric)
    for warning, by_candidate in seen.items():
        shared = len(by_candidate) == len(results) or all(repr(name) in warning for name in by_candidate)
        concerned = ", ".join(dict.fromkeys(metric for metrics in by_candidate.values() for metric in metrics))
        say(f"{'' if shared else ', '.join(by_candidate) + ': '}{warning} [{concerned}]")
