"""`recapture reproduce`: the papers' experiments, one command each. Found by recapture through its entry point."""

from __future__ import annotations

import contextlib
import os
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

import recapture as rc

from .words import visible

if TYPE_CHECKING:
    from .report_page import Found
    from .study import Setup, Study


_WHOLE = ("pooling", "batch_size")
"""Options of encoders that apply to vectors of whole texts alone."""


def _encoding_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """The same as those of recapture's other commands."""
    for option in (
        click.option("--no-cache", is_flag=True, help="Neither read nor keep vectors, scores and steps on disk."),
        click.option("--offline", is_flag=True, help="Never touch the network."),
        click.option("--batch-size", type=click.IntRange(1), help="Texts encoded at once (default: 32)."),
        click.option("--device", metavar="NAME", help="cpu, cuda, mps (default: the best there is)."),
        click.option("--pooling", metavar="NAME", help="mean, max or cls (default: the model's own)."),
        click.option("--encoder", metavar="NAME", help="Model name, folder, file of word vectors or bag-of-words "
                     "(default: all-MiniLM-L6-v2)."),
    ):  # fmt: skip
        command = option(command)
    return command


def _chosen_encoding(
    pooling: str | None, device: str | None, batch_size: int | None, offline: bool, no_cache: bool
) -> dict[str, Any]:
    """Only what the user asked for."""
    options: dict[str, Any] = {"pooling": pooling, "device": device, "batch_size": batch_size}
    options |= {"offline": offline or None, "cache": False if no_cache else None}
    return {name: value for name, value in options.items() if value is not None}


def _say(message: str) -> None:
    """A message to the person, kept apart from results."""
    with contextlib.suppress(OSError):  # whoever has closed stderr does without
        click.echo(f"recapture: {visible(message)}", err=True)


@click.command()
@click.argument("name", required=False)
@click.option("--list", "listing", is_flag=True, help="List the studies, what they reproduce and the data they need.")
@click.option("--data", metavar="DIR", help="The folder that holds the data folders (default: RECAPTURE_DATA).")
@click.option("--made-up", is_flag=True, help="The quick form on texts that the program makes up: needs no data.")
@click.option("--output", "-o", metavar="DIR", help="Where to write (default: the study's name).")
@click.option("--page", metavar="FILE", help="Write one page of all findings in the output folder (Markdown).")
@click.option("--report", metavar="FILE", help="Write a page (.html) that shows everything.")
@click.option("--quick", is_flag=True, help="A small form, for a first look.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@click.option("--metrics", metavar="A,B", help="Score only these now; others show if an earlier run kept their scores.")
@click.option(
    "--model", metavar="NAME", help="Masked language model, by name or folder (default: recapture's own two)."
)
@click.option("--jar", metavar="FILE", help="METEOR's own program, meteor-1.5.jar, for METEOR with all its tables.")
@click.option(
    "--samples", metavar="DIR", help="A language model's samples beside people's texts, for sampling (default: "
    "lm_samples among the data)."
)  # fmt: skip
@click.option("--jobs", type=click.IntRange(1, 1024), help="Processes at once, where a study can use several.")
@click.option("--preset", metavar="NAME", help="A paper's own models, by short name: see --list.")
@_encoding_options
def reproduce(
    name: str | None,
    listing: bool,
    data: str | None,
    made_up: bool,
    output: str | None,
    page: str | None,
    report: str | None,
    quick: bool,
    seed: int,
    metrics: str | None,
    model: str | None,
    jar: str | None,
    samples: str | None,
    jobs: int | None,
    preset: str | None,
    encoder: str | None,
    **encoding: Any,
) -> None:
    """Repeat an experiment of the papers on data at hand; "all" repeats every one.

    Writes a page (Markdown) with tables, figure and verdict, and each of them alone (CSV, JSON, SVG). What an
    interrupted run has finished is kept.

    \b
    Examples:
      recapture reproduce --list
      recapture reproduce k-sweep --made-up
      recapture reproduce sensitivity --data data --output results
      recapture reproduce wmt17 --data data --metrics infolm --device cuda
      recapture reproduce all --data data --output results --page results.md
    """
    from .files import check_writable, write
    from .item_scores import metric_names
    from .presets import find_preset
    from .results_page import results_page
    from .study import list_studies

    if listing:
        _list()
        return
    if name is None and page is None:
        raise rc.InputError("no study was named; see recapture reproduce --list")
    if page is not None and (quick or made_up):
        raise rc.InputError("--page is for findings of full forms: leave --quick and --made-up out")
    if report is not None and name is None:
        raise rc.InputError("--report shows what a study found: name the study")
    if report is not None and not report.lower().endswith((".html", ".htm")):
        raise rc.InputError(f"cannot write {report}: a page's name ends in .html")
    if made_up and data is not None:
        raise rc.InputError("--made-up needs no data: leave --data out, or --made-up")
    if samples == "":
        raise rc.InputError("--samples names a folder, but its name is empty")
    if made_up and samples is not None:
        raise rc.InputError("--made-up makes samples up, too: leave --samples out, or --made-up")
    if preset is not None:
        named = find_preset(preset)
        if named.encoder and encoder:
            raise rc.InputError(f"the preset {preset} brings the encoder {named.encoder}: leave --encoder out")
        encoder, encoding["pooling"] = encoder or named.encoder, encoding["pooling"] or named.pooling
        model = model or named.model
    wanted = {
        "data": data or os.environ.get("RECAPTURE_DATA"),
        "made_up": made_up,
        "quick": quick or made_up,
        "seed": seed,
        "encoder": encoder,
        "encoding": _chosen_encoding(**encoding),
        "metrics": None if metrics is None else tuple(metric_names(metrics)),
        "model": model,
        "jar": jar,
        "samples": samples,
        "jobs": jobs,
    }
    if page is not None:
        if output is None:
            raise rc.InputError("--page is made from the files in --output: name that folder")
        written = [Path(output) / f"{study}{ending}" for study in list_studies() for ending in (".md", ".json", ".svg")]
        check_writable(Path(page), keep=(encoder, model, jar, samples, wanted["data"], *written))
    if report is not None:
        check_writable(Path(report), keep=(encoder, model, jar, samples, wanted["data"]))
    if name is not None:
        with tempfile.TemporaryDirectory(prefix="recapture-made-up-") as folder:
            if made_up:
                wanted["data"] = folder
            found = _carry_out_named(name, wanted, output, preset is not None)
            if report is not None:
                from .report_page import report_page

                report_page(found).write(report)
                _say(f"wrote {report}")
    if page is not None and output is not None:
        write(Path(page), results_page(Path(output), Path(page)))
        _say(f"wrote {page}")


def _carry_out_named(name: str, wanted: Mapping[str, Any], output: str | None, preset: bool) -> list[Found]:
    from .made_up import build
    from .study import find_study, list_studies
    from .write import check_output

    if name == "all":
        if wanted["metrics"] is not None:
            raise rc.InputError("--metrics is for one study: name it in the place of all")
        chosen = [(study, _fitting(study, wanted)) for study in list_studies().values()]
        target = Path(output or "results")
    else:
        study = find_study(name)
        chosen = [(study, _checked(study, wanted, preset))]
        target = Path(output or study.name)
    check_output(target)
    if wanted["made_up"]:
        build(Path(wanted["data"]), dict.fromkeys(folder for study, _ in chosen for folder in study.data))
    elif name == "all":
        _check_data(wanted["data"])
    return [_carry_out(study, setup, target) for study, setup in chosen]


def _carry_out(study: Study, setup: Setup, target: Path) -> Found:
    from .report_page import Found
    from .write import MADE_UP, write_findings

    findings = study.run(setup)
    for path in write_findings(study, findings, setup, target):
        _say(f"wrote {path}")
    for paragraph in findings.verdict:
        click.echo(visible(paragraph))
    if setup.made_up and study.data:
        _say(MADE_UP)
    elif setup.quick:
        _say("this was the quick form: its numbers and verdicts say nothing")
    return Found(study, findings, setup)


def _checked(study: Study, wanted: Mapping[str, Any], preset: bool) -> Setup:
    """What was asked of one study; options that it cannot heed are refused, unless a preset brought them."""
    from .study import SAMPLES

    if wanted["samples"] is not None and SAMPLES not in study.data:
        raise rc.InputError(f"{study.name} reads no language model's samples: leave --samples out")
    if not wanted["data"] and not set(study.data) <= ({SAMPLES} if wanted["samples"] is not None else set()):
        raise rc.InputError(
            f"name the folder that holds {' and '.join(study.data)} with --data (docs/data.md says where from), or try "
            "--made-up"
        )
    if wanted["metrics"] is not None and not study.chooses:
        raise rc.InputError(f"{study.name} scores what its paper does: leave --metrics out")
    if wanted["model"] is not None and not study.masked and not preset:
        raise rc.InputError(f"{study.name} uses no masked language model: leave --model out")
    if wanted["jar"] is not None and not study.meteor:
        raise rc.InputError(f"{study.name} scores no METEOR that could have other tables: leave --jar out")
    if wanted["jobs"] is not None and not study.spreads:
        raise rc.InputError(f"{study.name} runs in one process: leave --jobs out")
    given = wanted["encoder"] is not None or wanted["encoding"].keys() - {"offline", "cache"}
    if not study.encodes and given and not preset:
        raise rc.InputError(f"{study.name} needs no vectors: leave the encoder's options out")
    for option in wanted["encoding"].keys() & set(_WHOLE):
        if study.encodes and not study.pools and not preset:
            named = option.replace("_", "-")
            raise rc.InputError(f"--{named} is for vectors of whole texts, which {study.name} does not use")
    return _fitting(study, wanted)


def _fitting(study: Study, wanted: Mapping[str, Any]) -> Setup:
    """Without the options that a study cannot heed."""
    from .study import Setup

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
        wanted["made_up"],
        wanted["jar"] if study.meteor else None,
        None if wanted["samples"] is None else Path(wanted["samples"]),
        wanted["jobs"] or 1 if study.spreads else 1,
    )


def _check_data(folder: str | None) -> None:
    """All folders are there: a missing one must not come to light after hours."""
    from .study import list_studies

    if not folder:
        raise rc.InputError("name the folder that holds the data with --data, or try --made-up")
    needed = dict.fromkeys(name for study in list_studies().values() for name in study.data
                           if name not in study.optional)  # fmt: skip
    missing = [name for name in needed if not os.path.isdir(Path(folder) / name)]  # noqa: PTH112
    if missing:
        raise rc.InputError(f"{folder} has no {', '.join(missing)}: see docs/data.md for what belongs there")


def _list() -> None:
    from .presets import PRESETS
    from .study import list_studies

    for study in list_studies().values():
        data = ", ".join(study.data) or "none, it simulates"
        what = f"{study.paper}, {study.reproduces}" if study.paper else study.reproduces
        click.echo(f"{study.name}  {study.title}\n    {what}; data: {data}")
        if study.takes:
            click.echo(f"    took {study.takes}")
    click.echo("\npresets, for machines that reach a hub:")
    for name, each in PRESETS.items():
        click.echo(f"{name}  {each.encoder or each.model}\n    {each.used}")
