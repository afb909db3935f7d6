"""`recapture compare`: systems against each other, and the answer first."""

from __future__ import annotations

from typing import Any

import click

from ..errors import InputError
from .compare_contexts import compare_contexts
from .compare_pairs import compare_pairs
from .options import (
    FORMS,
    WithCandidates,
    candidate_files,
    candidate_names,
    check_targets,
    chosen_encoding,
    chosen_form,
    deliver,
    encoding_options,
    input_options,
    output_format,
    report_options,
    share_option,
)
from .score import read_sets


class Kinds(WithCandidates):
    """A command that has another one in its place for each further kind of comparison, chosen by a flag.

    Each kind has options of its own, and its own help: `recapture compare --pairs --help`.
    """

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        read = args[: args.index("--")] if "--" in args else args
        asked = [flag for flag in KINDS if flag in read]
        if len(asked) > 1:
            raise InputError(f"{' and '.join(asked)} are two kinds of comparison: leave out either")
        if not asked:
            return super().make_context(info_name, args, parent, **extra)
        args.remove(asked[0])
        return KINDS[asked[0]].make_context(f"{info_name} {asked[0]}", args, parent, **extra)


KINDS = {"--pairs": compare_pairs, "--contexts": compare_contexts}


@click.command(cls=Kinds)
@click.option("--pairs", is_flag=True, expose_value=False, help="Text by text, each against its own references.")
@click.option("--contexts", is_flag=True, expose_value=False, help="Several texts a context against several of people.")
@click.option("--reference", "-r", required=True, metavar="FILE", help="Human texts or vectors; - for stdin.")
@click.option(
    "--candidate", "-c", required=True, multiple=True, metavar="FILE...", help="One a system; files, patterns, folders."
)
@click.option("--name", multiple=True, metavar="NAME", help="What to call each system, in order (default: its file).")
@click.option(
    "--metrics", metavar="NAMES", help="Comma-separated (default: a few that notice most; see recapture list)."
)
@click.option("--all", "every", is_flag=True, help="All metrics of two sets, and all of their numbers.")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@input_options
@click.option("--reference-field", metavar="NAME", help="The same for the reference, where it differs.")
@click.option("--reference-format", metavar="NAME", help="How to read the reference (default: by its file name).")
@encoding_options
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N texts, chosen by --seed, of each set with more.")
@share_option("--level", 0.05, "Of the tests")
@share_option("--interval", 0.95, "Of differences")
@click.option("--no-ceiling", is_flag=True, help="Do not score parts of the reference as human texts.")
@click.option("--human", metavar="FILE", help="A second human set, instead of other parts of the reference.")
@click.option("--group", metavar="FIELD", help="Field that tells which texts belong together: document, prompt...")
@click.option("--paired", is_flag=True, help="Text i of the reference and of all systems answers the same prompt.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write here instead of to stdout.")
@report_options(series=True)
def compare(
    reference: str,
    candidate: tuple[str, ...],
    name: tuple[str, ...],
    metrics: str | None,
    every: bool,
    k: int | None,
    field: str | None,
    input_format: str | None,
    reference_field: str | None,
    reference_format: str | None,
    encoder: str | None,
    sample: int | None,
    level: float,
    interval: float,
    no_ceiling: bool,
    human: str | None,
    group: str | None,
    paired: bool,
    seed: int,
    form: str | None,
    output: str | None,
    report: str | None,
    series: bool | list[float],
    **encoding: Any,
) -> None:
    """Say which of several systems is closest to people, how sure that is, and what cannot be told.

    \b
    Examples:
      recapture compare -r human.txt -c a.txt -c b.txt
      recapture compare -r human.txt -c runs/*.txt --metrics mark-evaluate,mmd --output compared.json
      recapture compare -r human.jsonl -c a.jsonl -c b.jsonl --field text --group prompt
      recapture compare --pairs -r refs.txt -c a.txt -c b.txt
      recapture compare --contexts -c a.jsonl -c b.jsonl
    \b
    With --pairs or --contexts there are other options: see recapture compare --pairs --help.
    """
    from ..sets.declaration import METRICS
    from ..systems.answer import compare as compare_systems

    candidate = candidate_files(candidate, input_format)
    check_targets(output, candidates=candidate, report=report)
    form = chosen_form(form, output)
    if every and metrics:
        raise InputError("--all and --metrics name metrics both: leave out either")
    chosen = [metric.name for metric in METRICS.choose(metrics)] if metrics or every else None
    sets = read_sets(
        reference,
        candidate,
        candidate_names(candidate, name),
        human=human,
        field=field,
        input_format=input_format,
        reference_field=reference_field,
        reference_format=reference_format,
        group=group,
        sample=sample,
        seed=seed,
    )
    compared = compare_systems(
        sets.references,
        sets.candidates,
        chosen,
        encoder,
        k,
        level=level,
        interval=interval,
        ceiling=not no_ceiling,
        human=sets.human,
        reference_groups=sets.reference_groups,
        groups=sets.groups,
        human_groups=sets.human_groups,
        paired=paired,
        seed=seed,
        reference_name=sets.name,
        **chosen_encoding(**encoding),
    )
    compared.show("--all, which measures all metrics")
    deliver(compared, form, output, compared.notes, report=report, series=series)
