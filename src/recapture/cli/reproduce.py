"""`recapture reproduce`: the papers' experiments, one command each."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .options import chosen_encoding, encoding_options, say

if TYPE_CHECKING:
    from ..studies.study import Setup, Study


_WHOLE = ("pooling", "batch_size")
"""Options of encoders that apply to vectors of whole texts alone."""


@click.command()
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="List the studies, what they reproduce and the data they need.")
@click.option("--data", metavar="DIR", help="The folder that holds the data folders (default: RECAPTURE_DATA).")
@click.option("--output", "-o", metavar="DIR", help="Where to write (default: the study's name).")
@click.option("--page", metavar="FILE", help="Write one page of all findings in the output folder (Markdown).")
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
    page: str | None,
    quick: bool,
    seed: int,
    metrics: str | None,
    model: str | None,
    preset: str | None,
    encoder: str | None,
    **encoding: Any,
) -> None:
    """Repeat an experiment of the papers on data at hand; "all" repeats every one.

    Writes a page (Markdown) with tables, figure and verdict, and each of them alone (CSV, JSON, PNG, SVG). What an
    interrupted run has finished is kept.

    \b
    Examples:
      recapture reproduce --list
      recapture reproduce sensitivity --data data --output results
      recapture reproduce wmt17 --data data --metrics infolm --device cuda
      recapture reproduce all --data data --output results --page results.md
    """
    from ..files import check_writable
    from ..pairs.declaration import METRICS
    from ..studies.presets import find_preset
    from ..studies.study import find_study, list_studies
    from ..studies.write import check_output

    if listing:
        _list()
        return
    if name is None and page is None:
        raise InputError("no study was named; see recapture reproduce --list")
    if page is not None and quick:
        raise InputError("--page is for findings of full forms: leave --quick out")
    if preset is not None:
        named = find_preset(preset)
        if named.encoder and encoder:
            raise InputError(f"the preset {preset} brings the encoder {named.encoder}: leave --encoder out")
        encoder, encoding["pooling"] = encoder or named.encoder, encoding["pooling"] or named.pooling
        model = model or named.model
    chosen = None if metrics is None else tuple(metric.name for metric in METRICS.choose(metrics))
    wanted = {
        "data": data or os.environ.get("RECAPTURE_DATA"),
        "quick": quick,
        "seed": seed,
        "encoder": encoder,
        "encoding": chosen_encoding(**encoding),
        "metrics": chosen,
        "model": model,
    }
    if page is not None:
        if output is None:
            raise InputError("--page is made from the files in --output: name that folder")
        check_writable(page)
    if name == "all":
        if metrics is not None:
            raise InputError("--metrics is for one study: name it in the place of all")
        target = Path(output or "results")
        check_output(target)
        _check_data(data or os.environ.get("RECAPTURE_DATA"))
        for each in list_studies().values():
            _carry_out(each, _fitting(each, wanted), target)
    elif name is not None:
        study = find_study(name)
        setup = _checked(study, wanted, preset is not None)
        target = Path(output or study.name)
        check_output(target)
        _carry_out(study, setup, target)
    if page is not None and output is not None:
        from ..files import write_text
        from ..studies.results_page import results_page

        write_text(page, results_page(Path(output), Path(page)))
        say(f"wrote {page}")


def _carry_out(study: Study, setup: Setup, target: Path) -> None:
    from ..studies.write import write_findings

    findings = study.run(setup)
    for path in write_findings(study, findings, setup, target):
        say(f"wrote {path}")
    for paragraph in findings.verdict:
        click.echo(paragraph)
    if setup.quick:
        say("this was the quick form: its numbers and verdicts say nothing")


def _checked(study: Study, wanted: Mapping[str, Any], preset: bool) -> Setup:
    """What was asked of one study; options that it cannot heed are refused, unless a preset brought them."""
    if not wanted["data"] and study.data:
        raise InputError(f"name the folder that holds {' and '.join(study.data)} with --data")
    if wanted["metrics"] is not None and not study.chooses:
        raise InputError(f"{study.name} scores what its paper does: leave --metrics out")
    if wanted["model"] is not None and not study.masked and not preset:
        raise InputError(f"{study.name} uses no masked language model: leave --model out")
    given = wanted["encoder"] is not None or wanted["encoding"].keys() - {"offline", "cache"}
    if not study.encodes and given and not preset:
        raise InputError(f"{study.name} needs no vectors: leave the encoder's options out")
    for option in wanted["encoding"].keys() & set(_WHOLE):
        if study.encodes and not study.pools and not preset:
            named = option.replace("_", "-")
            raise InputError(f"--{named} is for vectors of whole texts, which {study.name} does not use")
    return _fitting(study, wanted)


def _fitting(study: Study, wanted: Mapping[str, Any]) -> Setup:
    """Without the options that a study cannot heed."""
    from ..studies.study import Setup

    useless = set() if study.pools else set(_WHOLE)
    encoding = {name: value for name, value in wanted["encoding"].items() if name not in useless}
    if not study.encodes:
        encoding = {name: value for name, value in encoding.items() if name in ("offline", "cache")}
    return Setup(
        Path(wanted["data"] or "."),
        wanted["quick"],
        wanted["seed"],
        wanted["encoder"] if study.encodes else None,
        encoding,
        wanted["metrics"],
        wanted["model"] if study.masked else None,
    )


def _check_data(folder: str | None) -> None:
    """All folders are there: a missing one must not come to light after hours."""
    from ..studies.study import list_studies

    if not folder:
        raise InputError("name the folder that holds the data with --data")
    needed = dict.fromkeys(name for study in list_studies().values() for name in study.data)
    missing = [name for name in needed if not (Path(folder) / name).is_dir()]
    if missing:
        raise InputError(f"{folder} has no {', '.join(missing)}: see docs/studies.md for what belongs there")


def _list() -> None:
    from ..studies.presets import PRESETS
    from ..studies.study import list_studies

    for study in list_studies().values():
        data = ", ".join(study.data) or "none, it simulates"
        what = f"{study.paper}, {study.reproduces}" if study.paper else study.reproduces
        click.echo(f"{study.name}  {study.title}\n    {what}; data: {data}")
        if study.takes:
            click.echo(f"    took {study.takes}")
    click.echo("\npresets, for machines that reach a hub:")
    for name, each in PRESETS.items():
        click.echo(f"{name}  {each.encoder or each.model}\n    {each.used}")
