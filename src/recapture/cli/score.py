"""`recapture score`: candidate files against a reference file."""

from __future__ import annotations

from typing import Any, Literal

import click

from ..errors import InputError
from ..sets.evaluate import DRAWS
from ..texts import read_samples, read_together
from ..texts.group_labels import read_group_labels
from ..texts.sampling import sample_places
from .options import (
    FORMS,
    WithCandidates,
    candidate_files,
    candidate_names,
    check_stdin,
    check_targets,
    chosen_encoding,
    chosen_form,
    deliver,
    encoding_options,
    inference_options,
    input_options,
    output_format,
    say,
)


@click.command(cls=WithCandidates)
@click.option("--reference", "-r", required=True, metavar="FILE", help="Human texts or vectors; - for stdin.")
@click.option(
    "--candidate",
    "-c",
    required=True,
    multiple=True,
    metavar="FILE...",
    help="Generated ones; files, patterns, folders.",
)
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
    flag_value=DRAWS,
    metavar="[DRAWS]",
    help=f"Average over equal-size subsamples of the larger set ({DRAWS} unless said).",
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N texts, chosen by --seed, of each set with more.")
@inference_options
@click.option("--no-ceiling", is_flag=True, help="Do not score parts of the reference as human texts.")
@click.option("--human", metavar="FILE", help="A second human set, instead of other parts of the reference.")
@click.option("--group", metavar="FIELD", help="Field that tells which texts belong together: document, prompt...")
@click.option("--paired", is_flag=True, help="Text i of reference and candidate answer the same prompt.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
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
    sample: int | None,
    interval: float | None,
    pvalue: bool | int | Literal["exact", "sampled", "analytic"],
    no_ceiling: bool,
    human: str | None,
    group: str | None,
    paired: bool,
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
      recapture score -r human.txt -c runs/*.txt --sample 5000
      recapture score -r human.npy -c model.npy --interval 0.95 --pvalue --output scores.json
      generate | recapture score -r human.txt -c - --encoder bag-of-words
    """
    from ..sets.declaration import METRICS
    from ..sets.evaluate import evaluate

    candidate = candidate_files(candidate, input_format)
    check_targets(output, candidates=candidate)
    form = chosen_form(form, output)
    if arrays and form != "json":
        raise InputError(f"--arrays goes with --format json, not {form}")
    _check_kind(metrics)
    chosen = [metric.name for metric in METRICS.choose(metrics)]
    names = candidate_names(candidate, name)
    check_stdin(reference, *candidate, *([human] if human else []))
    if group is not None and "-" in (reference, *candidate, human):
        raise InputError("--group reads files twice, which standard input does not allow")
    formats = [reference_format, *[input_format] * len(candidate)]
    if reference_field is None:
        references, *candidates = read_together([reference, *candidate], formats, field=field)
    else:
        references = read_samples(reference, field=reference_field, format=reference_format)
        candidates = read_together(candidate, formats[1:], field=field)
    for note in dict.fromkeys(note for samples in (references, *candidates) for note in samples.notes):
        say(note)
    humans = None if human is None else read_samples(human, field=reference_field or field, format=reference_format)
    files = [reference, *candidate, *([] if human is None else [human])]
    formats = [reference_format, *[input_format] * len(candidate), reference_format][: len(files)]
    sets = [references, *candidates, *([] if humans is None else [humans])]
    groups: list[list[str]] = []
    if group is not None:
        groups = [read_group_labels(path, group, known) for path, known in zip(files, formats, strict=True)]
    if sample is not None:
        places = [sample_places(len(samples), sample, seed) for samples in sets]
        sets = [samples.take(chosen_places) for samples, chosen_places in zip(sets, places, strict=True)]
        groups = [
            [labels[place] for place in chosen_places] for labels, chosen_places in zip(groups, places, strict=False)
        ]
        references, candidates = sets[0], sets[1 : 1 + len(candidates)]
        humans = sets[-1] if humans is not None else None
    results = evaluate(
        references.content,
        {name: samples.content for name, samples in zip(names, candidates, strict=True)},
        metrics=chosen,
        encoder=encoder,
        k=k,
        balance=balance or False,
        interval=interval,
        pvalue=pvalue,
        ceiling=not no_ceiling,
        seed=seed,
        human=None if humans is None else humans.content,
        reference_groups=groups[0] if groups else None,
        candidate_groups=dict(zip(names, groups[1 : 1 + len(names)], strict=True)) if groups else None,
        human_groups=groups[-1] if groups and humans is not None else None,
        paired=paired,
        reference_name=references.source,
        **chosen_encoding(**encoding),
    )
    if sample is not None:
        results.state(sample={"size": sample, "seed": seed})
    deliver(results, form, output, results.notes, how={"arrays": True} if arrays else {})


def _check_kind(metrics: str | None) -> None:
    """A metric of aligned texts is answered with the command that has it."""
    from ..pairs.declaration import METRICS as OF_PAIRS
    from ..sets.declaration import METRICS

    for name in (metrics or "").split(","):
        wanted = name.strip().lower().replace("_", "-")
        if wanted and wanted not in METRICS.all() and wanted in OF_PAIRS.all():
            raise InputError(f"{wanted} compares every candidate with its own reference: recapture pairs has it")
