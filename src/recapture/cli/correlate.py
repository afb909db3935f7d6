"""`recapture correlate`: how far scores agree with people's ratings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import click

from ..errors import InputError
from .options import (
    FORMS,
    check_stdin,
    check_targets,
    chosen_form,
    interval_option,
    output_format,
    say,
    terminal_width,
)

if TYPE_CHECKING:
    from ..agreement.all_pairs import AllPairs
    from ..agreement.matrix import ScoreMatrix
    from ..agreement.prepared import Prepared
    from ..agreement.render import Part


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
def correlate(
    files: tuple[str, ...],
    human: tuple[str, ...],
    human_file: tuple[str, ...],
    metrics: tuple[str, ...],
    level: str,
    coefficient: str,
    lower_is_better: tuple[str, ...],
    higher_is_better: tuple[str, ...],
    interval: float | None,
    over: str,
    test: tuple[str, ...],
    accuracy: bool,
    matrix: bool,
    system_field: str | None,
    item_field: str | None,
    where: tuple[str, ...],
    average: bool,
    input_format: str | None,
    resamples: int,
    seed: int,
    form: str | None,
    output: str | None,
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
    from ..agreement.coefficients import ALL_COEFFICIENTS
    from ..agreement.comparisons import comparisons_parts, order_warnings
    from ..agreement.correlate import chosen_names, correlations_of
    from ..agreement.criteria import find_criteria, no_metrics
    from ..agreement.levels import LEVELS
    from ..agreement.prepared import prepare
    from ..agreement.render import correlations_part, written
    from ..agreement.resampling import check_resampling

    form = chosen_form(form, output)
    levels = chosen_names("level", level, LEVELS)
    coefficients = chosen_names("coefficient", coefficient, ALL_COEFFICIENTS)
    check_resampling(over, resamples, seed)
    tests = _tests(test)
    check_stdin(*files, *human_file)
    check_targets(output, None, (*files, *human_file))
    directions = _directions(lower_is_better, higher_is_better)
    scores, ratings = _read(files, human_file, _conditions(where), system_field, item_field, input_format, average)
    columns = [*scores, *(ratings or ())]
    if not human:
        raise InputError(f"--human names people's ratings: one of {', '.join(no_metrics(columns) or columns)}")
    scores, ratings, criteria = find_criteria(scores, ratings, _split(human, columns), (*human_file, *files))
    prepared = prepare(scores, ratings, _split(metrics, columns) if metrics else None, criteria, directions)
    correlations = correlations_of(prepared, levels, coefficients, interval, over, resamples, seed)
    parts = [correlations_part(correlations)]
    if tests:
        compared, told = _comparisons(prepared, levels, coefficients, tests, over, resamples, seed)
        parts += comparisons_parts(compared)
        notes = (*correlations.notes, *told, *order_warnings(correlations, compared))
        correlations = replace(correlations, notes=notes)
    if accuracy:
        parts.append(_accuracies(prepared, resamples, seed))
    if matrix:
        parts.append(_between(prepared, levels, coefficients))
    width = None if output else terminal_width()
    _deliver(written(parts, form, correlations.warnings, correlations.settings, width), output)
    if form != "json":
        for warning in correlations.warnings:
            say(warning)


def _tests(given: Sequence[str]) -> list[str]:
    from ..agreement.all_pairs import TESTS
    from ..agreement.correlate import chosen_names

    return chosen_names("test", ",".join(given), TESTS) if given else []


def _split(given: Sequence[str], columns: Sequence[str]) -> list[str]:
    """Names between commas, unless a column has that comma in its name."""
    from ..agreement.prepared import names_of

    return list(dict.fromkeys(name for each in given for name in ([each] if each in columns else names_of(each))))


def _read(
    files: Sequence[str],
    human_files: Sequence[str],
    where: dict[str, list[str]],
    system_field: str | None,
    item_field: str | None,
    input_format: str | None,
    average: bool,
) -> tuple[ScoreMatrix, ScoreMatrix | None]:
    """A condition has to be about a field of some file, of either kind."""
    from ..agreement.conditions import Conditions
    from ..agreement.reading import gathered, opened

    conditions = Conditions(where)
    found = [
        gathered(opened(paths, input_format), system_field, item_field, None, average, conditions)
        for paths in (files, human_files)
        if paths
    ]
    conditions.check_fields()
    return found[0], found[1] if human_files else None


def _directions(lower: Sequence[str], higher: Sequence[str]) -> dict[str, str]:
    for name in lower:
        if name in higher:
            raise InputError(f"{name!r} is named by --lower-is-better and by --higher-is-better")
    return {**dict.fromkeys(higher, "higher"), **dict.fromkeys(lower, "lower")}


def _conditions(given: Sequence[str]) -> dict[str, list[str]]:
    """Several values of one field: any of them."""
    made: dict[str, list[str]] = {}
    for condition in given:
        field, equals, value = condition.partition("=")
        if not equals or not field:
            raise InputError(f"--where takes FIELD=VALUE, not {condition!r}")
        made.setdefault(field, []).append(value)
    return made


def _comparisons(
    prepared: Prepared,
    levels: Sequence[str],
    coefficients: Sequence[str],
    tests: Sequence[str],
    over: str,
    resamples: int,
    seed: int,
) -> tuple[list[AllPairs], list[str]]:
    """By every test, and what was left out. Williams' test is not for texts: there it is refused if nothing else is."""
    from ..agreement.compare import compared

    wanted = [(test, level) for test in tests for level in levels]
    possible = [(test, level) for test, level in wanted if (test, level) != ("williams", "text")]
    told = ["there is no Williams' test at the text level"] if possible and len(possible) < len(wanted) else []
    found = []
    for test, level in possible or wanted:
        options: dict[str, Any] = {"resamples": resamples, "seed": seed}
        if test != "williams":
            options["over" if test == "bootstrap" else "swap"] = over
        found += [
            compared(prepared, criterion, level, coefficient, test, **options)
            for criterion in prepared.human
            for coefficient in coefficients
        ]
    return found, told


def _accuracies(prepared: Prepared, resamples: int, seed: int) -> Part:
    from ..agreement.accuracy import pairwise_accuracy, soft_pairwise_accuracy
    from ..agreement.correlate import check_prepared
    from ..agreement.side_tables import accuracies_part

    rows = []
    for criterion, ratings in prepared.human.items():
        for metric, scores in prepared.metrics.items():
            check_prepared(prepared, metric, criterion, "system")
            plain = pairwise_accuracy(scores, ratings)
            whole = scores.ndim == 1 or ratings.ndim == 1  # the soft form is about single inputs
            soft = None if whole else soft_pairwise_accuracy(scores, ratings, resamples, seed).value
            rows.append(
                {"metric": metric, "criterion": criterion, "accuracy": plain.value, "soft": soft, "pairs": plain.pairs,
                 "systems": plain.systems, "inputs": plain.inputs, "dropped": plain.dropped, "resamples": resamples,
                 "seed": seed}
            )  # fmt: skip
    return accuracies_part(rows, resamples, seed)


def _between(prepared: Prepared, levels: Sequence[str], coefficients: Sequence[str]) -> Part:
    from ..agreement.correlate import between_and_counts
    from ..agreement.side_tables import between_part

    found = [
        (level, coefficient, *between_and_counts(prepared.metrics, level, coefficient))
        for level in levels
        for coefficient in coefficients
    ]
    return between_part(list(prepared.metrics), found)


def _deliver(text: str, output: str | None) -> None:
    from ..files import write_text

    if output:
        write_text(output, text)
        say(f"wrote {output}")
    else:
        click.echo(text, nl=False)
