"""`recapture score`: candidate files against a reference file."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

import click
import numpy as np

from ..errors import InputError
from ..sets.balance import DRAWS
from ..texts.group_labels import read_group_labels
from ..texts.reading import read_samples, read_together
from ..texts.sampling import sample_places
from .options import (
    FORMS,
    WithCandidates,
    ahead_options,
    arrays_option,
    candidate_files,
    candidate_names,
    check_ahead,
    check_stdin,
    check_targets,
    chosen_form,
    deliver,
    foretell,
    inference_options,
    one_file,
    output_format,
    read_and_encoded,
    report_options,
    say,
    set_options,
    with_arrays,
)

if TYPE_CHECKING:
    from ..sets.table import SetResults


class SetFiles(NamedTuple):
    """What the files of a command hold."""

    name: str
    """What messages call the reference."""
    references: list[str] | np.ndarray
    candidates: dict[str, list[str] | np.ndarray]
    human: list[str] | np.ndarray | None
    reference_groups: list[str] | None
    groups: dict[str, list[str]] | None
    human_groups: list[str] | None


def read_sets(
    reference: str,
    candidates: Sequence[str],
    names: Sequence[str],
    *,
    human: str | None,
    field: str | None,
    input_format: str | None,
    reference_field: str | None,
    reference_format: str | None,
    group: str | None,
    sample: int | None,
    seed: int,
) -> SetFiles:
    """The reference, every candidate by its name, and a second human set; with groups, and cut to a sample.

    reference: "" where it comes from elsewhere.
    """
    if not reference:
        first, *others = candidates
        read = read_sets(
            first, others, names[1:], human=None, field=field, input_format=input_format,
            reference_field=None, reference_format=input_format, group=group, sample=sample, seed=seed,
        )  # fmt: skip
        groups = None if read.reference_groups is None else {names[0]: read.reference_groups, **(read.groups or {})}
        return SetFiles("", [], {names[0]: read.references, **read.candidates}, None, None, groups, None)
    files = [reference, *candidates, *([human] if human else [])]
    check_stdin(*files)
    if group is not None and "-" in files:
        raise InputError("--group reads files twice, which standard input does not allow")
    formats = [reference_format, *[input_format] * len(candidates), reference_format][: len(files)]
    if reference_field is None:
        sets = read_together(files[: 1 + len(candidates)], formats[: 1 + len(candidates)], field=field)
    else:
        sets = [
            read_samples(reference, field=reference_field, format=reference_format),
            *read_together(candidates, formats[1 : 1 + len(candidates)], field=field),
        ]
    for note in dict.fromkeys(note for samples in sets for note in samples.notes):
        say(note)
    if human:
        sets.append(read_samples(human, field=reference_field or field, format=reference_format))
    labels: list[list[str]] = []
    if group is not None:
        labels = [read_group_labels(path, group, known) for path, known in zip(files, formats, strict=True)]
    if sample is not None:
        places = [sample_places(len(samples), sample, seed) for samples in sets]
        sets = [samples.take(chosen) for samples, chosen in zip(sets, places, strict=True)]
        labels = [[own[place] for place in chosen] for own, chosen in zip(labels, places, strict=False)]
    return SetFiles(
        sets[0].source,
        sets[0].content,
        {name: samples.content for name, samples in zip(names, sets[1:], strict=False)},
        sets[-1].content if human else None,
        labels[0] if labels else None,
        dict(zip(names, labels[1:], strict=False)) if labels else None,
        labels[-1] if labels and human else None,
    )


def hint_at_pairs(sets: SetFiles, tested: bool, **others: Any) -> None:
    """A line where sets that are equally large were tested as if no two of their texts belonged together.

    others: what says how they belong together, or makes them equally large.
    """
    sizes = {len(samples) for samples in (sets.references, *sets.candidates.values())}
    if tested and len(sizes) == 1 and not any(others.values()):
        say(
            f"all sets have {sizes.pop():,} texts: if text i of each answers the same prompt, say --paired, which "
            "tests within prompts and may change the answer"
        )


@click.command(cls=WithCandidates)
@one_file("--reference", "-r", required=True, help="Human texts or vectors; - for stdin.")
@click.option(
    "--candidate",
    "-c",
    required=True,
    multiple=True,
    metavar="FILE...",
    help="Generated ones; files, patterns, folders.",
)
@click.option(
    "--name", multiple=True, metavar="NAME", help="What to call each candidate, in order (default: its file)."
)
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: all; see recapture list).")
@click.option("--all", "every", is_flag=True, help="Show all numbers in tables, not only a few that notice most.")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@set_options
@click.option(
    "--balance",
    type=click.IntRange(1),
    is_flag=False,
    flag_value=DRAWS,
    metavar="[DRAWS]",
    help=f"Average over equal-size subsamples of the larger set ({DRAWS} unless said).",
)
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N texts, chosen by --seed, of each set with more.")
@inference_options
@click.option("--no-ceiling", is_flag=True, help="Do not score parts of the reference as human texts.")
@click.option("--human", metavar="FILE", help="A second human set, instead of other parts of the reference.")
@click.option("--group", metavar="FIELD", help="Field that tells which texts belong together: document, prompt...")
@click.option("--paired", is_flag=True, help="Text i of reference and candidate answer the same prompt.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random.")
@click.option(
    "--storage", metavar="FOLDER", help="Work in parts that are kept there (or behind a URL), for large sets."
)
@click.option(
    "--engine", default="local", metavar="local|ray", help="Who does the parts: this process (default), or Ray."
)
@click.option("--address", metavar="ADDRESS", help="Of Ray: host:port, ray://host:port, auto (default: its own).")
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@arrays_option("per-sample flags and curves")
@click.option("--output", "-o", metavar="FILE", help="Write here; stdout then has the answer alone.")
@report_options(series=True)
@ahead_options
def score(
    reference: str,
    candidate: tuple[str, ...],
    name: tuple[str, ...],
    metrics: str | None,
    every: bool,
    k: int | None,
    encoder: str | None,
    balance: int | None,
    sample: int | None,
    interval: float | None,
    pvalue: bool | int | Literal["exact", "sampled", "analytic"],
    no_ceiling: bool,
    human: str | None,
    group: str | None,
    paired: bool,
    seed: int,
    storage: str | None,
    engine: str,
    address: str | None,
    form: str | None,
    arrays: bool,
    output: str | None,
    report: str | None,
    series: bool | list[float],
    dry_run: bool,
    budget: str | None,
    **given: Any,
) -> None:
    """Score candidate sets against a reference set.

    Files hold one text a line, or are JSONL, JSON, CSV, TSV, Parquet or Arrow (see --field), or hold ready vectors
    (.npy, .npz, .safetensors, Parquet, Arrow). Results go to stdout, messages to stderr.
    The answer comes first; tables show the numbers that notice most, --all shows all, and JSON and CSV have all.

    \b
    Examples:
      recapture score --reference human.txt --candidate model.txt
      recapture score -r human.txt -c a.txt -c b.jsonl --field text --metrics mark-evaluate,precision-recall --k 1
      recapture score -r human.jsonl --reference-field text -c model.jsonl --field output --name "model 7"
      recapture score -r human.txt -c runs/*.txt --sample 5000
      recapture score -r human.txt -c runs/*.txt --dry-run
      recapture score -r human.txt -c runs/*.txt --budget 10min
      recapture score -r human.npy -c model.npy --interval 0.95 --pvalue --output scores.json
      generate | recapture score -r human.txt -c - --encoder bag-of-words
      recapture score -r human.npy -c model.npy --storage /shared/scored --engine ray --address auto
    """
    from ..sets.declaration import METRICS
    from ..sets.evaluate import evaluate, work_of_evaluate

    check_ahead(dry_run, budget, sample)
    reading, encoding = read_and_encoded(given)
    candidate = candidate_files(candidate, given["input_format"])
    check_targets(output, candidates=candidate, report=report)
    form = chosen_form(form, output)
    how = with_arrays(arrays, form)
    check_kind(metrics, "recapture pairs")
    if every and metrics:
        raise InputError("--all and --metrics both say which numbers to show: leave out either")
    chosen = [metric.name for metric in METRICS.choose(metrics)] if metrics is not None else None
    if storage is not None or engine != "local" or address is not None:
        results = _by_plans(
            reference, dict(zip(candidate_names(candidate, name), candidate, strict=True)), storage, chosen, k,
            engine=engine, address=address, device=given["device"], reading=reading,
            encoding={"encoder": encoder, **encoding},
            refused={"--balance": balance, "--sample": sample, "--interval": interval, "--pvalue": pvalue,
                     "--human": human, "--group": group, "--paired": paired, "--dry-run": dry_run, "--budget": budget},
        )  # fmt: skip
        results.show(None if every else results.shown, "--all")
        deliver(results, form, output, results.notes, how=how, report=report, series=series)
        others = ["other metrics"] * (metrics is None) + ["which candidate is closest"] * (len(candidate) > 1)
        lost = " and ".join(filter(None, [", ".join(others), "what human texts score"]))
        say(f"{lost} cannot be had from parts: leave out --storage and draw a --sample for that")
        return
    sets = read_sets(
        reference,
        candidate,
        candidate_names(candidate, name),
        human=human,
        **reading,
        group=group,
        sample=sample,
        seed=seed,
    )
    arguments: dict[str, Any] = {
        "references": sets.references,
        "candidates": sets.candidates,
        "metrics": chosen,
        "encoder": encoder,
        "k": k,
        "balance": balance or False,
        "interval": interval,
        "pvalue": pvalue,
        "ceiling": not no_ceiling,
        "seed": seed,
        "human": sets.human,
        "reference_groups": sets.reference_groups,
        "candidate_groups": sets.groups,
        "human_groups": sets.human_groups,
        "paired": paired,
        "reference_name": sets.name,
        **encoding,
    }
    if dry_run:
        from ..sets.work_ahead import SetWork

        work = SetWork(work_of_evaluate(arguments))
        foretell(work.at(work.size), form)
        return
    results = evaluate(**arguments, budget=budget)
    results.show(None if every else results.shown, "--all")
    if sample is not None:
        results.state(sample={"size": sample, "seed": seed})
    deliver(results, form, output, results.notes, how=how, report=report, series=series)
    tested = bool(pvalue) or interval is not None
    hint_at_pairs(sets, tested, paired=paired, group=group, sample=sample, balance=balance, budget=budget)


def _by_plans(
    reference: str,
    candidates: dict[str, str],
    storage: str | None,
    metrics: list[str] | None,
    k: int | None,
    *,
    engine: str,
    address: str | None,
    device: str | None,
    reading: dict[str, Any],
    encoding: dict[str, Any],
    refused: dict[str, Any],
) -> SetResults:
    """Results of plans: numbers of neighbourhoods, without all that is drawn many times over."""
    from ..plans.evaluate_files import evaluate_files

    if storage is None:
        raise InputError("--engine and --address are for work in parts: say --storage where they are kept")
    for flag, value in refused.items():
        if value not in (None, False):
            instead = " (recapture plan --dry-run foretells parts)" if flag == "--dry-run" else ""
            raise InputError(f"{flag} cannot be had from parts: leave out {flag} or --storage{instead}")
    if any(reading[name] not in (None, other) for name, other in
           (("reference_field", reading["field"]), ("reference_format", reading["input_format"]))):  # fmt: skip
        raise InputError("parts are of files that are read alike: leave out --reference-field and --reference-format")
    options = {name: value for name, value in encoding.items() if name in _PLANNED and value}
    try:
        return evaluate_files(
            reference, candidates, storage, metrics, k, engine=engine, address=address, device=device,
            field=reading["field"], format=reading["input_format"], **options,
        )  # fmt: skip
    except KeyboardInterrupt:
        raise KeyboardInterrupt(f"finished parts are kept in {storage}: the same command goes on") from None


_PLANNED = ("encoder", "pooling", "truncate", "batch_size", "dtype", "offline")


def check_kind(metrics: str | None, elsewhere: str) -> None:
    """A metric of aligned texts is answered with the command that has it."""
    from ..pairs.declaration import METRICS as OF_PAIRS
    from ..sets.declaration import METRICS

    for name in (metrics or "").split(","):
        wanted = name.strip().lower().replace("_", "-")
        if wanted and wanted not in METRICS.all() and wanted in OF_PAIRS.all():
            raise InputError(f"{wanted} compares every candidate with its own reference: {elsewhere} has it")
