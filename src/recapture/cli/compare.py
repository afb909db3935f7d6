"""`recapture compare`: systems against each other, and the answer first."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from ..errors import InputError
from .compare_contexts import compare_contexts
from .compare_pairs import compare_pairs
from .gate_options import GATE, gate_options, gated, leave
from .options import (
    FORMS,
    WithCandidates,
    ahead_options,
    candidate_files,
    check_ahead,
    check_targets,
    chosen_form,
    deliver,
    foretell,
    one_file,
    output_format,
    read_and_encoded,
    report_options,
    set_options,
    share_option,
)
from .score import check_kind, hint_at_pairs, read_sets


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


@click.command(cls=Kinds, short_help="Say which of several systems is closest to people, and how sure that is.")
@click.argument("results", nargs=-1)
@click.option("--pairs", is_flag=True, expose_value=False, help="Text by text, each against its own references.")
@click.option("--contexts", is_flag=True, expose_value=False, help="Several texts a context against several of people.")
@one_file("--reference", "-r", help="Human texts or vectors; - for stdin.")
@click.option("--candidate", "-c", multiple=True, metavar="FILE...", help="One a system; files, patterns, folders.")
@click.option("--name", multiple=True, metavar="NAME", help="What to call each system, in order (default: its file).")
@click.option(
    "--metrics", metavar="NAMES", help="Comma-separated (default: a few that notice most; see recapture list)."
)
@click.option("--all", "every", is_flag=True, help="All metrics of two sets, and all of their numbers.")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@set_options
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N texts, chosen by --seed, of each set with more.")
@share_option("--level", 0.05, "Of the tests")
@share_option("--interval", 0.95, "Of differences")
@click.option("--no-ceiling", is_flag=True, help="Do not score parts of the reference as human texts.")
@click.option("--human", metavar="FILE", help="A second human set, instead of other parts of the reference.")
@click.option("--group", metavar="FIELD", help="Field that tells which texts belong together: document, prompt...")
@click.option("--paired", is_flag=True, help="Text i of the reference and of all systems answers the same prompt.")
@click.option(
    "--labelled", metavar="NAMES", help="Metrics whose texts are relabelled (default: all but frechet, which is slow)."
)
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write here; stdout then has the answer alone.")
@report_options(series=True)
@ahead_options
@gate_options(stored=True)
def compare(
    results: tuple[str, ...],
    reference: str | None,
    candidate: tuple[str, ...],
    name: tuple[str, ...],
    metrics: str | None,
    every: bool,
    k: int | None,
    encoder: str | None,
    sample: int | None,
    level: float,
    interval: float,
    no_ceiling: bool,
    human: str | None,
    group: str | None,
    paired: bool,
    labelled: str | None,
    seed: int,
    form: str | None,
    output: str | None,
    report: str | None,
    series: bool | list[float],
    dry_run: bool,
    budget: str | None,
    baseline: str | None,
    fail_if: tuple[str, ...],
    tolerance: float | None,
    **given: Any,
) -> None:
    """Say which of several systems is closest to people, how sure that is, and what cannot be told.

    \b
    Examples:
      recapture compare -r human.txt -c a.txt -c b.txt
      recapture compare -r human.txt -c runs/*.txt --metrics mark-evaluate,mmd --output compared.json
      recapture compare -r human.jsonl -c a.jsonl -c b.jsonl --field text --group prompt
      recapture compare --pairs -r refs.txt -c a.txt -c b.txt
      recapture compare --contexts -c a.jsonl -c b.jsonl
      recapture compare -r human.txt -c new.txt --baseline old.txt --fail-if worse --fail-if "diversity < 0.8"
      recapture compare a.json b.json
      recapture compare -r human.txt -c a.txt -c b.txt --budget 10min
    \b
    RESULTS are files that recapture score, pairs or contexts wrote with --output FILE.json (pairs and contexts with
    --arrays): compared as far as they go, without the texts.
    With --pairs or --contexts there are other options: see recapture compare --pairs --help.
    """
    from ..sets.declaration import METRICS, usual_metrics
    from ..systems.answer import compare as compare_systems
    from ..systems.answer import work_of_compare
    from ..systems.comparison import Comparison
    from ..systems.saved_results import compare_saved
    from ..systems.stored_baseline import read_baseline

    check_ahead(dry_run, budget, sample)
    gate = gated(baseline, fail_if, tolerance)
    reading, encoding = read_and_encoded(given)
    if results:
        _check_alone(click.get_current_context())
        check_targets(output, report=report)
        form = chosen_form(form, output)
        saved = compare_saved(results, level=level, interval=interval, seed=seed)
        judged = gate.judge(saved, baseline)
        if isinstance(saved, Comparison):
            saved.show("")
        deliver(saved, form, output, saved.notes, report=report, series=series)
        leave(judged)
        return
    if not candidate:
        raise InputError("Missing option '--candidate' / '-c'")
    candidate, names, held = gate.with_baseline(candidate_files(candidate, given["input_format"]), name, stored=True)
    kept = None if held is not None else baseline
    if kept is None and len(candidate) < 2:
        raise InputError("comparing takes two systems or more: -c twice, or --baseline")
    _check_reference(reference, kept, {"--human": human, "--reference-field": given["reference_field"]})
    check_targets(output, candidates=candidate, report=report, others=0 if kept is None else 1)
    form = chosen_form(form, output)
    if every and metrics:
        raise InputError("--all and --metrics name metrics both: leave out either")
    check_kind(metrics, "recapture compare --pairs")
    chosen = [metric.name for metric in METRICS.choose(metrics)] if metrics or every else None
    if kept is None:
        gate.check_names(METRICS.choose(usual_metrics() if chosen is None else chosen))
    sets = read_sets(
        reference or "",
        candidate,
        names,
        human=human,
        **reading,
        group=group,
        sample=sample,
        seed=seed,
    )
    if kept is not None:
        held = read_baseline(kept).name
    arguments: dict[str, Any] = {
        "reference": sets.references if kept is None else None,
        "systems": sets.candidates,
        "metrics": chosen,
        "encoder": encoder,
        "k": k,
        "level": level,
        "interval": interval,
        "ceiling": not no_ceiling,
        "human": sets.human,
        "reference_groups": sets.reference_groups,
        "groups": sets.groups,
        "human_groups": sets.human_groups,
        "paired": paired,
        "labelled": None if labelled is None else [name.strip() for name in labelled.split(",")],
        "seed": seed,
        "reference_name": sets.name or "reference",
        "baseline": kept,
        **encoding,
    }
    if dry_run:
        from ..sets.work_ahead import SetWork

        work = SetWork(work_of_compare(arguments), usual_metrics())
        foretell(work.at(work.size), form)
        return
    compared = compare_systems(**arguments, budget=budget)
    if sample is not None:
        compared.settings["sample"] = {"size": sample, "seed": seed}
    found = gate.judge(compared, held)
    compared.show("--all, which measures all metrics")
    deliver(compared, form, output, compared.notes, report=report, series=series)
    hint_at_pairs(sets, kept is None, paired=paired, group=group, sample=sample, budget=budget)
    leave(found)


def _check_reference(reference: str | None, stored: str | None, extra: Mapping[str, Any]) -> None:
    """People's texts are in a file of their own or in the stored baseline, never in both."""
    if stored is None:
        if reference is None:
            raise InputError("Missing option '--reference' / '-r' (a stored --baseline would bring human texts, too)")
        return
    for option, value in {"--reference": reference, **extra}.items():
        if value is not None:
            raise InputError(f"{stored} is a stored baseline, which brings human texts: leave out {option}")


_WITH_RESULTS = ("results", "level", "interval", "seed", "form", "output", "report", "series", *GATE)
"""What goes with saved results; all else is about texts that they do not hold."""


def _check_alone(context: click.Context) -> None:
    for path in context.params["results"]:
        if not path.lower().endswith(".json"):
            taken = f"{path} is taken for saved results, which end in .json"
            raise InputError(f"{taken}: name human texts with -r, others with -c")
    for parameter in context.command.params:
        source = context.get_parameter_source(parameter.name or "")
        if parameter.name not in _WITH_RESULTS and source is click.core.ParameterSource.COMMANDLINE:
            first = context.params["results"][0]
            raise InputError(f"{first} is taken for saved results, which {parameter.opts[0]} does not go with")
