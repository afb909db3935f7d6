"""`recapture pairs`: every candidate against its own references."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import click

from ..errors import InputError
from .options import (
    FORMS,
    Command,
    WithCandidates,
    arrays_option,
    by_metric,
    candidate_files,
    candidate_names,
    check_stdin,
    check_targets,
    chosen_form,
    deliver,
    dry_run_option,
    foretell,
    input_options,
    interval_option,
    listed,
    output_format,
    report_options,
    say,
    taking,
    with_arrays,
    word_options,
)

if TYPE_CHECKING:
    from ..pairs.declaration import PairMetric


def pair_options(command: Command) -> Command:
    """What goes in, which metrics and how they are set; `pair_call` makes a call of it."""
    for option in reversed((
        click.option(
            "--reference", "-r", required=True, multiple=True, metavar="FILE", help="Repeatable; - for stdin."
        ),
        click.option(
            "--candidate", "-c", required=True, multiple=True, metavar="FILE...",
            help="One a system; files, patterns, folders.",
        ),
        click.option(
            "--name", multiple=True, metavar="NAME", help="What to call each system, in order (default: its file)."
        ),
        click.option(
            "--metrics", metavar="NAMES", help="Comma-separated (default: the common ones; see recapture list)."
        ),
        input_options,
        click.option(
            "--reference-field", metavar="NAME", help="The same for references (default: references, reference)."
        ),
        click.option(
            "--reference-format", metavar="NAME", help="How to read references (default: by their file names)."
        ),
        click.option(
            "--id-field", metavar="NAME", help="What records call an item by (default: id, where they have it)."
        ),
        click.option(
            "--over-references", metavar="RULE", help="best or mean of several (default: each metric's own)."
        ),
        word_options(several=True),
        click.option(
            "--k", type=click.IntRange(1), help="Neighbourhood size of me-words, pr-words (default: each its own)."
        ),
        click.option("--layers", type=click.IntRange(1), help="How many last layers of the encoder (default: 5)."),
        click.option("--jar", metavar="FILE", help="METEOR's own program, meteor-1.5.jar: its tables, and its scores."),
        click.option("--wordnet", metavar="FOLDER", help="Synonyms for METEOR; auto looks in the usual places."),
        click.option("--paraphrases", metavar="FILE", help="A paraphrase table for METEOR."),
        click.option(
            "--encoder", metavar="NAME", help="For word vectors: name or folder (default: all-MiniLM-L6-v2)."
        ),
        click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1, mps (default: auto)."),
        click.option("--dtype", metavar="NAME", help="Of models: float32, float16, bfloat16 (default: auto)."),
        click.option("--offline", is_flag=True, help="Never touch the network."),
        click.option("--no-cache", is_flag=True, help="Neither read nor keep a model's vectors on disk."),
    )):  # fmt: skip
        command = option(command)
    return command


class PairCall(NamedTuple):
    """What options and files ask for."""

    form: str
    references: list[list[str]]
    systems: dict[str, list[str]]
    arguments: dict[str, Any]
    """Of `evaluate_pairs` and `compare_pairs` alike."""
    ids: list[str | int] | None
    """What the items are called."""


def pair_call(
    form: str | None,
    output: str | None,
    per_item: str | None,
    report: str | None,
    *,
    reference: tuple[str, ...],
    candidate: tuple[str, ...],
    name: tuple[str, ...],
    metrics: str | None,
    field: str | None,
    input_format: str | None,
    reference_field: str | None,
    reference_format: str | None,
    id_field: str | None,
    over_references: str | None,
    model: str | None,
    encoder: str | None,
    device: str | None,
    dtype: str | None,
    batch_tokens: int | None,
    offline: bool,
    no_cache: bool,
    seed: int,
    **parameters: Any,
) -> PairCall:
    """From the options to texts and arguments; all that can be refused without a model is refused here."""
    from ..pairs.declaration import METRICS, usual_metrics
    from ..pairs.evaluate import checked_parameters
    from ..representations.precision import checked_dtype
    from ..texts.aligned import check_distinct, read_aligned

    candidate = candidate_files(candidate, input_format)
    check_stdin(*reference, *candidate)
    check_targets(output, per_item, candidate, report=report)
    form = chosen_form(form, output)
    names = candidate_names(candidate, name)
    for path in reference:
        if reference.count(path) > 1:
            raise InputError(f"reference {path} is given twice")
    if metrics is None:
        chosen, left_out = usual_metrics(encoder, model, offline or None)
    else:
        left_out = None
        chosen = METRICS.choose(metrics)
    options = _options(chosen, parameters, seed)
    _check_uses(
        chosen, {"model": model, "encoder": encoder, "device": device, "batch-tokens": batch_tokens, "dtype": dtype}
    )
    if over_references is not None and all(metric.over_references is None for metric in chosen):
        raise InputError(f"--over-references: no metric of {listed(chosen)} takes a rule for several references")
    if dtype is not None:
        checked_dtype(dtype)
    checked_parameters([(metric, options.get(metric.name, {})) for metric in chosen], over_references)
    files = read_aligned(
        reference,
        candidate,
        field=field,
        input_format=input_format,
        reference_field=reference_field,
        reference_format=reference_format,
        id_field=id_field,
    )
    if per_item and files.ids is not None:
        check_distinct(files.ids)
    for note in (*([left_out] if left_out else []), *files.notes):
        say(note)
    arguments = {
        "metrics": [metric.name for metric in chosen],
        "options": options,
        "over_references": over_references,
        "encoder": encoder,
        "model": model,
        "seed": seed,
        "device": device,
        "dtype": dtype,
        "batch_tokens": batch_tokens,
        "offline": offline or None,
        "cache": not no_cache,
    }
    return PairCall(form, files.references, dict(zip(names, files.candidates, strict=True)), arguments, files.ids)


@click.command(cls=WithCandidates)
@pair_options
@interval_option
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write here; stdout then has the answer alone.")
@report_options(series=True)
@click.option("--per-item", metavar="FILE", help="Write every item's scores here, one JSON object a line.")
@arrays_option("every item's scores, which recapture compare FILE.json FILE.json needs")
@dry_run_option
def pairs(
    interval: float | None,
    form: str | None,
    output: str | None,
    per_item: str | None,
    report: str | None,
    series: bool | list[float],
    arrays: bool,
    dry_run: bool,
    **given: Any,
) -> None:
    """Score every candidate text against its own references: the n-th lines of all files belong together.

    Several --reference files are several references for each item; a JSONL file may hold a list of them in each
    record. Records that name their item (--id-field) are checked to be in one order. --per-item writes a row for each
    system and item, with every score.

    \b
    Examples:
      recapture pairs --reference refs.txt --candidate a.txt --candidate b.txt
      recapture pairs -r refs1.txt -r refs2.txt -c a.txt --metrics bertscore,bleu,rouge --per-item scores.jsonl
      recapture pairs -r refs.jsonl -c a.jsonl --field output --metrics infolm --measure l1,l2 --temperature 0.5,1
      recapture pairs -r refs.txt -c a.txt --metrics me-words,meteor --interval 0.95 --format md
      recapture pairs -r refs.txt -c a.txt --metrics meteor,corpus-meteor --jar meteor/meteor-1.5.jar
      recapture compare --pairs -r refs.txt -c a.txt -c b.txt
    """
    from ..pairs.evaluate import evaluate_pairs

    call = pair_call(form, output, per_item, report, **given)
    how = with_arrays(arrays, call.form)
    if dry_run:
        from ..pairs.pairs_ahead import pairs_ahead

        arguments = {**call.arguments, "interval": interval}
        foretell(pairs_ahead(call.references, call.systems, arguments), call.form)
        return
    results = evaluate_pairs(call.references, call.systems, interval=interval, **call.arguments)
    also = {per_item: results.to_jsonl(call.ids)} if per_item else {}
    deliver(results, call.form, output, results.notes, also, how, report=report, series=series)


def _options(chosen: Sequence[PairMetric], parameters: Mapping[str, Any], seed: int) -> dict[str, dict[str, Any]]:
    """Parameters by metric, and the seed for all that draw."""
    from ..pairs.declaration import METRICS

    own = by_metric(chosen, METRICS.all().values(), parameters)
    drawing = {
        metric.name: {"seed": seed, **own.get(metric.name, {})} for metric in chosen if "seed" in metric.defaults
    }
    return {**own, **drawing}


def _check_uses(chosen: Sequence[PairMetric], shared: Mapping[str, Any]) -> None:
    from ..pairs.declaration import METRICS

    for name, value in shared.items():
        if value is not None:
            taking(name, chosen, METRICS.all().values(), f"--{name}")
