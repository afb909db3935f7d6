"""`recapture reproduce`: the papers' experiments, one command each."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import click

from ..errors import InputError
from .options import chosen_encoding, encoding_options, say


@click.command()
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="List the studies, what they reproduce and the data they need.")
@click.option("--data", metavar="DIR", help="The folder that holds the data folders (default: RECAPTURE_DATA).")
@click.option("--output", "-o", metavar="DIR", help="Where to write (default: the study's name).")
@click.option("--quick", is_flag=True, help="A small form, for a first look.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@click.option("--metrics", metavar="A,B", help="Score only these now; others show if an earlier run kept their scores.")
@click.option("--model", metavar="NAME", help="Masked language model, by name or folder (default: those that ship).")
@click.option("--preset", metavar="NAME", help="A paper's own models, by short name: see --list.")
@encoding_options
def reproduce(
    name: str | None,
    listing: bool,
    data: str | None,
    output: str | None,
    quick: bool,
    seed: int,
    metrics: str | None,
    model: str | None,
    preset: str | None,
    encoder: str | None,
    **encoding: Any,
) -> None:
    """Repeat an experiment of the papers on data at hand.

    Writes a page (Markdown) with tables, figure and verdict, and each of them alone (CSV, JSON, PNG, SVG).

    \b
    Examples:
      recapture reproduce --list
      recapture reproduce sensitivity --data data --output results
      recapture reproduce wmt17 --data data --metrics infolm --device cuda
    """
    from ..pairs.base import choose_pair_metrics
    from ..studies.presets import PRESETS, find_preset
    from ..studies.study import Setup, find_study, list_studies
    from ..studies.write import check_output, write_findings

    if listing:
        for study in list_studies().values():
            data = ", ".join(study.data) or "none, it simulates"
            what = f"{study.paper}, {study.reproduces}" if study.paper else study.reproduces
            click.echo(f"{study.name}  {study.title}\n    {what}; data: {data}")
            if study.takes:
                click.echo(f"    took {study.takes}")
        click.echo("\npresets, for machines that reach a hub:")
        for name, each in PRESETS.items():
            click.echo(f"{name}  {each.encoder or each.model}\n    {each.used}")
        return
    if name is None:
        raise InputError("no study was named; see recapture reproduce --list")
    study = find_study(name)
    folder = data or os.environ.get("RECAPTURE_DATA")
    if not folder and study.data:
        raise InputError(f"name the folder that holds {' and '.join(study.data)} with --data")
    if metrics is not None and not study.chooses:
        raise InputError(f"{study.name} scores what its paper does: leave --metrics out")
    chosen = None if metrics is None else tuple(metric.name for metric in choose_pair_metrics(metrics))
    if preset is not None:
        named = find_preset(preset)
        encoder, encoding["pooling"] = encoder or named.encoder, encoding["pooling"] or named.pooling
        model = model or (named.model if study.masked else None)
    if model is not None and not study.masked:
        raise InputError(f"{study.name} uses no masked language model: leave --model out")
    setup = Setup(Path(folder or "."), quick, seed, encoder, chosen_encoding(**encoding), chosen, model)
    if not study.encodes and (encoder is not None or setup.encoding.keys() - {"offline", "cache"}):
        raise InputError(f"{study.name} needs no vectors: leave the encoder's options out")
    target = Path(output or study.name)
    check_output(target)
    findings = study.run(setup)
    for path in write_findings(study, findings, setup, target):
        say(f"wrote {path}")
    for paragraph in findings.verdict:
        click.echo(paragraph)
