"""`recapture compare --pairs`: systems that answer the same items, against each other."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from .gate_options import gate_options, gated, leave
from .options import FORMS, WithCandidates, candidate_files, deliver, output_format, report_options, share_option
from .pairs import pair_call, pair_options


@click.command("compare", cls=WithCandidates)
@pair_options
@share_option("--level", 0.05, "Of the tests")
@share_option("--interval", 0.95, "Of differences")
@click.option("--group", metavar="FIELD", help="Field of the first reference file: items that belong together.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write here; stdout then has the answer alone.")
@report_options(series=True)
@gate_options()
def compare_pairs(
    level: float,
    interval: float,
    group: str | None,
    form: str | None,
    output: str | None,
    report: str | None,
    series: bool | list[float],
    baseline: str | None,
    fail_if: tuple[str, ...],
    tolerance: float | None,
    **given: Any,
) -> None:
    """Say which system is closest to the references, item by item, how sure that is, and what cannot be told.

    Files are those of recapture pairs: the n-th lines belong together. Differences are tested by swapping two systems'
    outputs at random items, and by a bootstrap over items; corpus BLEU, chrF and TER included.

    \b
    Examples:
      recapture compare --pairs -r refs.txt -c a.txt -c b.txt
      recapture compare --pairs -r refs1.txt -r refs2.txt -c runs/*.txt --metrics bleu,chrf,meteor --output all.json
      recapture compare --pairs -r refs.jsonl -c a.jsonl -c b.jsonl --field output --group document
      recapture compare --pairs -r refs.txt -c new.txt --baseline old.txt --fail-if worse --metrics bleu,chrf
    """
    from ..systems.of_pairs import compare_pairs as compare_systems
    from ..texts.group_labels import read_group_labels

    first, known = given["reference"][0], given["reference_format"]
    if group is not None and first == "-":
        raise InputError("--group reads files twice, which standard input does not allow")
    gate = gated(baseline, fail_if, tolerance)
    files = candidate_files(given["candidate"], given["input_format"])
    given["candidate"], given["name"], held = gate.with_baseline(files, given["name"])
    if len(given["candidate"]) < 2:
        raise InputError("comparing takes two systems or more: -c twice, or --baseline")
    call = pair_call(form, output, None, report, **given)
    groups = None if group is None else read_group_labels(first, group, known)
    compared = compare_systems(
        call.references, call.systems, level=level, interval=interval, groups=groups, **call.arguments
    )
    found = gate.judge(compared, held)
    compared.show("")
    deliver(compared, call.form, output, compared.notes, report=report, series=series)
    leave(found)
