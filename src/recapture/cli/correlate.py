"""`recapture correlate`: how far scores agree with people's ratings."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .options import (
    FORMS,
    check_stdin,
    check_targets,
    chosen_form,
    deliver,
    interval_option,
    output_format,
    report_options,
)

if TYPE_CHECKING:
    from ..declarations import Direction


@click.command()
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--human", multiple=True, metavar="FIELD", help="People's ratings; commas, repeatable.")
@click.option("--human-file", multiple=True, metavar="FILE", help="Where ratings are, if elsewhere; repeatable.")
@click.option("--metrics", multiple=True, metavar="FIELDS", help="Commas (default: all whose direction is known).")
@click.option("--level", default="system", show_default=True, metavar="NAMES", help="system, text, global.")
@click.option("--coefficient", default="pearson", show_default=True, metavar="NAMES", help="spearman, kendall, ...")
@click.option("--lower-is-better", multiple=True, metavar="FIELD", help="Of scores unknown to recapture; repeatable.")
@click.option("--higher-is-better", multiple=True, metavar="FIELD", help="The same the other way.")
@interval_option
@click.option("--over", default="both", show_default=True, metavar="WHAT", help="Resample systems, inputs or both.")
@click.option("--test", multiple=True, metavar="NAMES", help="Compare metrics: williams, permutation, bootstrap.")
@click.option("--accuracy", is_flag=True, help="Share of pairs of systems ranked as people do, and the soft form.")
@click.option(
    "--soft-ties",
    default="both-orders",
    show_default=True,
    metavar="RULE",
    help="Of the soft form: both-orders, or listed-order as in mt-metrics-eval.",
)
@click.option("--matrix", is_flag=True, help="Correlations of metrics with each other, too.")
@click.option("--system-field", metavar="FIELD", help="What names a row's system (default: system, model, ...).")
@click.option("--item-field", metavar="FIELD", help="What names a row's input (default: item, id, doc_id, ...).")
@click.option("--where", multiple=True, metavar="FIELD=VALUE", help="Only such rows; repeatable.")
@click.option("--average", is_flag=True, help="Average several rows of one system and input, such as raters'.")
@click.option("--input-format", metavar="NAME", help="jsonl, json, csv, tsv, parquet (default: by the file name).")
@click.option("--resamples", type=click.IntRange(1), default=1000, show_default=True, help="For all that is drawn.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")
@report_options()
def correlate(
    files: tuple[str, ...],
    human: tuple[str, ...],
    human_file: tuple[str, ...],
    metrics: tuple[str, ...],
    level: Any,
    coefficient: Any,
    lower_is_better: tuple[str, ...],
    higher_is_better: tuple[str, ...],
    interval: float | None,
    over: Any,
    test: Any,
    accuracy: bool,
    soft_ties: Any,
    matrix: bool,
    system_field: str | None,
    item_field: str | None,
    where: tuple[str, ...],
    average: bool,
    input_format: Any,
    resamples: int,
    seed: int,
    form: str | None,
    output: str | None,
    report: str | None,
) -> None:
    """Correlate metrics' scores with people's ratings.

    FILE has a row for each system and input, with scores and ratings in its fields, as recapture pairs --per-item
    writes it; a.b reaches inside objects, and * stands for anything. Rows without an input hold scores of a whole
    system. Several files add columns, systems or inputs; --human is looked for in the human files, then in FILE.
    Scores are turned so that higher is better, as the metrics of recapture declare; of others say so. Inputs that lack
    a score are left out and counted.

    \b
    Levels: system (of systems' means), text (mean over inputs of the correlation across systems),
    global (all texts as one list).

    \b
    Examples:
      recapture correlate scores.jsonl --human fluency
      recapture correlate scores.jsonl --human fluency --human adequacy --coefficient pearson,kendall --interval 0.95
      recapture correlate scores.jsonl --human-file ratings.csv --human overall --metrics bleu,bertscore.f1
      recapture correlate scores.jsonl --human fluency --level text --test permutation --format md
      recapture correlate scores.tsv --human score --metrics ter,mymetric --lower-is-better mymetric --test williams
    """
    from ..agreement.data.read_scores import read_scores
    from ..agreement.data.scores_and_ratings import no_metrics
    from ..agreement.with_people import correlate as library_call

    check_stdin(*files, *human_file)
    check_targets(output, report=report)
    form = chosen_form(form, output)
    read = read_scores(
        files,
        human_files=human_file or None,
        system_field=system_field,
        item_field=item_field,
        where=_conditions(where),
        input_format=input_format,
        average=average,
    )
    scores, ratings = read if isinstance(read, tuple) else (read, None)
    if not human:
        columns = [*scores, *(ratings or ())]
        raise InputError(f"--human names people's ratings: one of {', '.join(no_metrics(columns) or columns)}")
    result = library_call(
        scores,
        human if ratings is None else ratings,
        level,
        coefficient,
        metrics=metrics or None,
        criteria=None if ratings is None else human,
        directions=_directions(lower_is_better, higher_is_better),
        interval=interval,
        over=over,
        resamples=resamples,
        seed=seed,
        tests=test,
        accuracy=accuracy,
        matrix=matrix,
        soft_ties=soft_ties,
    )
    deliver(result, form, output, result.warnings, report=report)


def _directions(lower: Sequence[str], higher: Sequence[str]) -> dict[str, Direction]:
    for name in lower:
        if name in higher:
            raise InputError(f"{name!r} is named by --lower-is-better and by --higher-is-better")
    return {**dict.fromkeys(higher, "higher"), **dict.fromkeys(lower, "lower")}


def _conditions(conditions: Sequence[str]) -> dict[str, list[str]]:
    """Several values of one field: any of them."""
    values: dict[str, list[str]] = {}
    for condition in conditions:
        field, equals, value = condition.partition("=")
        if not equals or not field:
            raise InputError(f"--where takes FIELD=VALUE, not {condition!r}")
        values.setdefault(field, []).append(value)
    return values
