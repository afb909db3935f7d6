"""`recapture merge`: the results of a plan whose parts are done."""

from __future__ import annotations

import click

from .options import (
    FORMS,
    arrays_option,
    check_targets,
    chosen_form,
    deliver,
    output_format,
    report_options,
    say,
    with_arrays,
)


@click.command(short_help="Put the parts of recapture plan together.")
@click.argument("folder", metavar="FOLDER")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@arrays_option("per-sample flags")
@click.option("--output", "-o", metavar="FILE", help="Write here; stdout then has the answer alone.")
@report_options()
def merge(folder: str, form: str | None, arrays: bool, output: str | None, report: str | None) -> None:
    """Put the parts of a plan together: what recapture score --no-ceiling prints for the same files.

    Where parts are missing or damaged it says which, and leaves with exit code 2.

    \b
    Examples:
      recapture merge planned
      recapture merge planned --output scores.json
    """
    from ..plans.planned_work import merge_plan, planned_files

    check_targets(output, candidates=planned_files(folder), report=report)
    form = chosen_form(form, output)
    how = with_arrays(arrays, form)
    results = merge_plan(folder)
    deliver(results, form, output, results.notes, how=how, report=report)
    say("what human texts score cannot be had from parts: recapture score with a --sample measures it")
