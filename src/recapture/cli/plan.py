"""`recapture plan`: the work on two large files of vectors, cut into parts."""

from __future__ import annotations

import click

from .options import candidate_names, dry_run_option, foretell, input_options, say


@click.command(short_help="Cut the work on two large files of vectors into parts.")
@click.option("--reference", "-r", required=True, metavar="FILE", help="Human vectors.")
@click.option("--candidate", "-c", required=True, metavar="FILE", help="Generated ones.")
@click.option("--output", "-o", required=True, metavar="FOLDER", help="Where the plan and its parts are kept.")
@click.option("--name", metavar="NAME", help="What to call the candidate (default: its file).")
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: all metrics of neighbourhoods).")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@click.option("--parts", type=click.IntRange(1), metavar="N", help="Of each kind (default: one for 10,000 rows).")
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
    field: str | None,
    input_format: str | None,
    dry_run: bool,
) -> None:
    """Cut the work on two large files of vectors into parts: recapture run does them, recapture merge adds them up.

    The numbers are those of recapture score, exactly, but no more than a few thousand rows of either file are held in
    memory. Any number of machines that see FOLDER and the files can share the parts; work that is interrupted goes on
    where it stopped. A .npy file is read where it lies, other formats are copied into FOLDER.

    \b
    Examples:
      recapture plan -r human.npy -c model.npy -o planned
      recapture plan -r human.npy -c model.npy -o planned --parts 64 --metrics mark-evaluate --k 1
      recapture run planned && recapture merge planned
    """
    from ..plans.planned_work import make_plan

    if dry_run:
        from ..plans.plan_ahead import plan_ahead

        foretell(plan_ahead(reference, candidate, metrics, k, parts=parts, field=field, format=input_format), "table")
        return
    called = candidate_names((candidate,), (name,) if name is not None else ())[0]
    made = make_plan(
        reference, candidate, output, metrics, k, parts=parts, field=field, format=input_format, candidate_name=called
    )
    say(f"wrote {output}: {len(made)} parts, for recapture run")
