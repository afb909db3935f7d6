"""`recapture plan`: the work on two large files, cut into parts."""

from __future__ import annotations

import warnings
from typing import Any

import click

from .options import candidate_names, dry_run_option, foretell, input_options, one_file, say


@click.command(short_help="Cut the work on two large files into parts.")
@one_file("--reference", "-r", required=True, help="Human texts, or vectors.")
@one_file("--candidate", "-c", required=True, help="Generated ones.")
@click.option("--output", "-o", required=True, metavar="FOLDER", help="Where the plan and its parts are kept.")
@click.option("--name", metavar="NAME", help="What to call the candidate (default: its file).")
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: all metrics of neighbourhoods).")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@click.option(
    "--parts",
    type=click.IntRange(1),
    metavar="N",
    help="Of each kind (default: up to 16; of large sets one for 10,000 rows).",
)
@click.option("--encoder", metavar="NAME", help="Of texts: model name, folder or file of word vectors.")
@click.option("--pooling", metavar="NAME", help="mean, max or cls (default: the model's own).")
@click.option("--truncate", is_flag=True, help="Cut texts too long for the encoder (default: windows).")
@click.option("--batch-size", type=click.IntRange(1), help="Most texts encoded at once (default: by tokens).")
@click.option("--dtype", metavar="NAME", help="Of the encoder: float32, float16, bfloat16, int8 (default: float32).")
@click.option("--offline", is_flag=True, help="Never touch the network for an encoder.")
@input_options
@dry_run_option
def plan(
    reference: str,
    candidate: str,
    output: str,
    name: str | None,
    metrics: str | None,
    k: int | None,
    parts: int | None,
    encoder: str | None,
    pooling: str | None,
    truncate: bool,
    batch_size: int | None,
    dtype: str | None,
    offline: bool,
    field: str | None,
    input_format: str | None,
    dry_run: bool,
) -> None:
    """Cut the work on two large files into parts: recapture run does them, recapture merge adds them up.

    The numbers are those of recapture score, exactly, but no more than a few thousand rows of either file are held in
    memory. Any number of machines that see FOLDER and the files can share the parts; work that is interrupted goes on
    where it stopped. Vectors in .npy and .safetensors are read where they lie, other formats are copied into FOLDER.
    Texts are encoded in parts of their own.

    \b
    Examples:
      recapture plan -r human.npy -c model.npy -o planned
      recapture plan -r human.npy -c model.npy -o planned --parts 64 --metrics mark-evaluate --k 1
      recapture plan -r human.jsonl -c model.jsonl -o planned --encoder sentence-transformers/all-mpnet-base-v2
      recapture run planned && recapture merge planned
    """
    from ..plans.planned_work import make_plan

    of_texts: dict[str, Any] = {
        "encoder": encoder,
        "pooling": pooling,
        "truncate": truncate,
        "batch_size": batch_size,
        "dtype": dtype,
        "offline": offline or None,  # else as its surroundings say
    }
    if dry_run:
        from ..plans.plan_ahead import plan_ahead

        ahead = plan_ahead(reference, candidate, metrics, k, parts=parts, field=field, format=input_format, **of_texts)
        foretell(ahead, "table")
        return
    called = candidate_names((candidate,), (name,) if name is not None else ())[0]
    with warnings.catch_warnings(record=True) as notes:
        warnings.simplefilter("always")
        made = make_plan(
            reference,
            candidate,
            output,
            metrics,
            k,
            parts=parts,
            field=field,
            format=input_format,
            candidate_name=called,
            **of_texts,
        )
    for note in notes:
        say(str(note.message))
    say(f"wrote {output}: {len(made)} parts, for recapture run")
