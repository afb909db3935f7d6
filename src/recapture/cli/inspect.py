"""`recapture inspect`: which texts of a candidate are to blame."""

from __future__ import annotations

from typing import Any

import click

from .options import (
    FORMS,
    candidate_names,
    check_targets,
    chosen_form,
    deliver,
    one_file,
    output_format,
    read_and_encoded,
    report_options,
    set_options,
    share_option,
)
from .score import read_sets


@click.command(short_help="Say which texts a candidate made up, lost, repeats and copied.")
@one_file("--reference", "-r", required=True, help="Human texts or vectors; - for stdin.")
@one_file("--candidate", "-c", required=True, help="Generated ones.")
@click.option("--name", multiple=True, metavar="NAME", help="What to call the candidate (default: its file).")
@set_options
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N texts, chosen by --seed, of each set with more.")
@share_option("--level", 0.1, "False alarms in the lists")
@click.option("--clusters", type=click.IntRange(1), help="Of the texts of both sides (default: one for 50 texts).")
@click.option("--group", metavar="FIELD", help="Field that tells which texts belong together: document, prompt...")
@click.option("--paired", is_flag=True, help="Text i of reference and candidate answer the same prompt.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write here; stdout then has the answer alone.")
@report_options()
@click.option("--per-text", metavar="FILE", help="Write a row for every text here: .jsonl, .csv or .parquet.")
def inspect(
    reference: str,
    candidate: str,
    name: tuple[str, ...],
    encoder: str | None,
    sample: int | None,
    level: float,
    clusters: int | None,
    group: str | None,
    paired: bool,
    seed: int,
    form: str | None,
    output: str | None,
    report: str | None,
    per_text: str | None,
    **given: Any,
) -> None:
    """Say which texts of a candidate nobody would write, which of people's it lost, what it repeats and what it copied.

    --per-text writes text, side, place on a map (x, y), cluster, nearest text on the other side and p-value of every
    text of both sides.

    \b
    Examples:
      recapture inspect -r human.txt -c model.txt
      recapture inspect -r human.jsonl -c model.jsonl --field text --group prompt --level 0.05
      recapture inspect -r human.txt -c model.txt --output found.json --per-text map.parquet
    """
    from ..blame.diagnose import diagnose
    from ..blame.per_text import check_texts_file

    reading, encoding = read_and_encoded(given)
    check_targets(output, per_text, [candidate], "--per-text", report)
    form = chosen_form(form, output)
    if per_text:
        check_texts_file(per_text)
    (called,) = candidate_names((candidate,), name)
    sets = read_sets(
        reference,
        [candidate],
        [called],
        human=None,
        **reading,
        group=group,
        sample=sample,
        seed=seed,
    )
    found = diagnose(
        sets.references,
        sets.candidates[called],
        level,
        encoder,
        clusters=clusters,
        reference_groups=sets.reference_groups,
        candidate_groups=None if sets.groups is None else sets.groups[called],
        paired=paired,
        seed=seed,
        reference_name=sets.name,
        candidate_name=called,
        **encoding,
    )
    if sample is not None:
        found.settings["sample"] = {"size": sample, "seed": seed}
        found.notes.append(f"indices count among the {sample:,} texts that were drawn, where a set had more")
    also = {per_text: found.texts_file(per_text)} if per_text else None
    deliver(found, form, output, found.notes, also, report=report)
