"""`recapture score`: candidate files against a reference file."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from ..errors import InputError
from ..metrics.run import DEFAULT_DRAWS
from ..results.result import Result
from ..texts import Samples, read_together
from .options import (
    chosen_encoding,
    encoding_options,
    input_options,
    output_format,
    say,
    terminal_width,
)


@click.command()
@click.option("--reference", "-r", required=True, metavar="FILE", help="Human texts or vectors; - for stdin.")
@click.option("--candidate", "-c", required=True, multiple=True, metavar="FILE", help="Generated ones; repeatable.")
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: all; see recapture list).")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@input_options
@encoding_options
@click.option(
    "--balance",
    type=click.IntRange(1),
    is_flag=False,
    flag_value=DEFAULT_DRAWS,
    metavar="[DRAWS]",
    help=f"Average over equal-size subsamples of the larger set ({DEFAULT_DRAWS} unless said).",
)
@click.option("--seed", type=click.IntRange(0), default=0, help="For PRD's clusterings and --balance.")
@output_format(["table", "json", "csv", "md", "latex"])
@click.option("--arrays", is_flag=True, help="With json: also per-sample flags and curves.")
@click.option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")
def score(
    reference: str,
    candidate: tuple[str, ...],
    metrics: str | None,
    k: int | None,
    field: str | None,
    input_format: str | None,
    encoder: str | None,
    balance: int | None,
    seed: int,
    form: str,
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
      recapture score -r human.npy -c model.npy --format json --output scores.json
      generate | recapture score -r human.txt -c - --encoder bag-of-words
    """
    from ..evaluation import choose_metrics, evaluate
    from ..results import render
    from ..results.write import check_writable, write_text

    if arrays and form != "json":
        raise InputError(f"--arrays goes with --format json, not {form}")
    if output:
        check_writable(output)
    chosen = [metric.name for metric in choose_metrics(metrics)]
    names = _names(candidate)
    references, *given = read_together([reference, *candidate], field=field, format=input_format)
    results = evaluate(
        _content(references),
        {name: _content(samples) for name, samples in zip(names, given, strict=True)},
        metrics=chosen,
        encoder=encoder,
        k=k,
        balance=balance or False,
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


def _content(samples: Samples) -> Any:
    return samples.vectors if samples.texts is None else samples.texts


def _names(paths: tuple[str, ...]) -> list[str]:
    """File names, or whole paths where two files share a name."""
    for path in paths:
        if paths.count(path) > 1:
            raise InputError(f"candidate {path} is given twice")
    names = [path if path == "-" else Path(path).name for path in paths]
    return names if len(set(names)) == len(names) else list(paths)


def _warn(results: dict[str, dict[str, Result]]) -> None:
    """Each warning once, with the metrics it concerns."""
    seen: dict[tuple[str, str], list[str]] = {}
    for candidate, by_metric in results.items():
        for metric, result in by_metric.items():
            for warning in result.warnings:
                seen.setdefault((candidate, warning), []).append(metric)
    for (candidate, warning), concerned in seen.items():
        say(f"{candidate}: {warning} [{', '.join(concerned)}]")
