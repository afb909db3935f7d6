"""`recapture compare --contexts`: systems with several candidates for each of the same contexts."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import click

from ..errors import InputError
from ..texts.context_files import read_contexts, read_grouped
from .contexts import metric_arguments, metric_options
from .gate_options import gate_options, gated, leave
from .options import (
    FORMS,
    WithCandidates,
    candidate_files,
    candidate_names,
    check_stdin,
    check_targets,
    chosen_form,
    deliver,
    one_file,
    output_format,
    report_options,
    share_option,
)


class Fields(NamedTuple):
    """What the records of files call things."""

    id: str
    references: str
    candidates: tuple[str, ...]

    @property
    def one(self) -> str:
        """That of the candidates, where every system has a file of its own."""
        if len(self.candidates) > 1:
            raise InputError("several --candidates-field are systems of one file: name that file alone, without -c")
        return self.candidates[0] if self.candidates else "candidates"


class ContextFiles(NamedTuple):
    references: Any
    systems: dict[str, Any]
    first: str
    """The file that decides on the order of contexts."""


@click.command("compare", cls=WithCandidates)
@click.argument("file", required=False)
@click.option("--candidates-field", multiple=True, metavar="NAME", help="A list of texts; with FILE one a system.")
@click.option("--candidate", "-c", multiple=True, metavar="FILE...", help="One a system; files, patterns, folders.")
@one_file("--reference", "-r", help="References, where those of -c hold candidates alone.")
@click.option("--name", multiple=True, metavar="NAME", help="What to call each system, in order.")
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: those of recapture contexts).")
@click.option("--id-field", default="id", show_default=True, metavar="NAME", help="What a context is called by.")
@click.option("--references-field", default="references", show_default=True, metavar="NAME", help="A list of texts.")
@click.option("--group", metavar="NAME", help="-r and -c hold single texts: the field that names a text's context.")
@click.option("--field", metavar="NAME", help="With --group: the field that holds the text (default: text).")
@click.option("--context-group", metavar="NAME", help="Field that tells which contexts belong together: document...")
@share_option("--level", 0.05, "Of the tests")
@share_option("--interval", 0.95, "Of differences")
@metric_options
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write here; stdout then has the answer alone.")
@report_options(series=True)
@gate_options()
def compare_contexts(
    file: str | None,
    candidates_field: tuple[str, ...],
    candidate: tuple[str, ...],
    reference: str | None,
    name: tuple[str, ...],
    metrics: str | None,
    id_field: str,
    references_field: str,
    group: str | None,
    field: str | None,
    context_group: str | None,
    level: float,
    interval: float,
    form: str | None,
    output: str | None,
    report: str | None,
    series: bool | list[float],
    baseline: str | None,
    fail_if: tuple[str, ...],
    tolerance: float | None,
    **settings: Any,
) -> None:
    """Say which of several systems is closest to people, context by context, how sure that is, and what cannot be told.

    FILE is JSONL with several lists of candidates in each object, one for each system. Or every system has a file of
    its own (-c), as recapture contexts reads it: contexts with the same ids and references, or single texts with
    --group. Differences are tested by swapping two systems' candidates in random contexts, and by a bootstrap over
    contexts.

    \b
    Examples:
      recapture compare --contexts captions.jsonl --candidates-field model_a --candidates-field model_b
      recapture compare --contexts -c a.jsonl -c b.jsonl --metrics trm-meteor,trm-cider,mmd
      recapture compare --contexts -r human.csv -c a.csv -c b.csv --group image --field caption
    """
    from ..journal import kept_until_the_end
    from ..systems.of_contexts import compare_contexts as compare_systems
    from ..texts.group_labels import read_group_labels

    gate = gated(baseline, fail_if, tolerance)
    files, held = candidate_files(candidate), baseline
    if file is None:
        files, chosen, held = gate.with_baseline(files, name)
        name = tuple(chosen)
    fields = Fields(id_field, references_field, candidates_field)
    _check_inputs(file, files, reference, fields, group, field, context_group)
    check_targets(output, candidates=files, report=report, others=0 if file is None else len(candidates_field))
    form = chosen_form(form, output)
    arguments = metric_arguments(metrics, **settings)
    if file is not None:
        inputs = _of_one_file(file, fields, name)
    elif group is not None:
        inputs = _of_single_texts(str(reference), files, candidate_names(files, name), group, field)
    else:
        inputs = _of_many_files(reference, files, candidate_names(files, name), fields)
    groups = None if context_group is None else read_group_labels(inputs.first, context_group)
    with kept_until_the_end():  # finished contexts are safe until what is made of them is written
        compared = compare_systems(
            inputs.references, inputs.systems, level=level, interval=interval, groups=groups, **arguments
        )
        found = gate.judge(compared, held)
        compared.show("")
        deliver(compared, form, output, compared.notes, report=report, series=series)
    leave(found)


def _check_inputs(
    file: str | None,
    files: Sequence[str],
    reference: str | None,
    fields: Fields,
    group: str | None,
    field: str | None,
    context_group: str | None,
) -> None:
    if file is not None:
        extra = {"--candidate": files, "--reference": reference, "--group": group, "--field": field}
        useless = [option for option, value in extra.items() if value]
        if useless:
            raise InputError(f"{useless[0]} goes with a file for each system, not with one for all ({file})")
        if len(fields.candidates) < 2:
            raise InputError("one file needs --candidates-field twice or more, once a system")
        if len(set(fields.candidates)) < len(fields.candidates):
            raise InputError("--candidates-field names one field twice")
    elif len(files) < 2:
        raise InputError("comparing takes two systems: -c twice or more, or a file with several --candidates-field")
    if group is not None and (reference is None or context_group is not None or fields.candidates):
        needs = "needs --reference" if reference is None else "goes neither with --context-group nor --candidates-field"
        raise InputError(f"--group (files of single texts) {needs}")
    if field is not None and group is None:
        raise InputError("--field goes with --group and files of single texts; see --candidates-field")
    check_stdin(*files, *([file] if file else []), *([reference] if reference else []))
    if context_group is not None and "-" in (file, reference, *files):
        raise InputError("--context-group reads files twice, which standard input does not allow")


def _of_one_file(file: str, fields: Fields, names: Sequence[str]) -> ContextFiles:
    if names and len(names) != len(fields.candidates):
        raise InputError(f"candidates and names must be equally many, not {len(fields.candidates)} and {len(names)}")
    if len(set(names)) < len(names):
        raise InputError("two candidates have the same name")
    if file == "-":
        raise InputError("a file with several systems is read once for each, which standard input does not allow")
    systems = {
        name: read_contexts(file, name=fields.id, references=fields.references, candidates=candidates)
        for name, candidates in zip(names or fields.candidates, fields.candidates, strict=True)
    }
    return ContextFiles(next(iter(systems.values())), systems, file)


def _of_many_files(reference: str | None, files: Sequence[str], names: Sequence[str], fields: Fields) -> ContextFiles:
    if reference is None:
        whole = {
            name: read_contexts(path, name=fields.id, references=fields.references, candidates=fields.one)
            for name, path in zip(names, files, strict=True)
        }
        return ContextFiles(next(iter(whole.values())), whole, files[0])
    systems = {name: _lists(path, fields.id, fields.one) for name, path in zip(names, files, strict=True)}
    return ContextFiles(_lists(reference, fields.id, fields.references), systems, reference)


def _lists(path: str, name: str, field: str) -> dict[str, tuple[str, ...]]:
    """One list of texts a context: a file that has but one side is read as if it were both."""
    return {
        context.id: context.references for context in read_contexts(path, name=name, references=field, candidates=field)
    }


def _of_single_texts(
    reference: str, files: Sequence[str], names: Sequence[str], group: str, field: str | None
) -> ContextFiles:
    people: dict[str, tuple[str, ...]] = {}
    systems: dict[str, dict[str, tuple[str, ...]]] = {}
    for name, path in zip(names, files, strict=True):
        contexts = read_grouped(reference, path, group=group, field=field)
        unknown = next((context.id for context in contexts if not context.references), None)
        if unknown is not None:
            raise InputError(f"{path} has texts of {unknown!r} in the field {group!r}, but {reference} has none")
        people = {context.id: context.references for context in contexts}
        systems[name] = {context.id: context.candidates for context in contexts}
    return ContextFiles(people, systems, reference)
