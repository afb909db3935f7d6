"""`recapture contexts`: several candidates against several references, context by context."""

from __future__ import annotations

from typing import Any, Literal

import click

from ..errors import InputError
from ..texts.context_files import Context, read_contexts, read_grouped
from .options import (
    FORMS,
    Command,
    arrays_option,
    by_metric,
    check_stdin,
    check_targets,
    chosen_encoding,
    chosen_form,
    deliver,
    encoding_options,
    inference_options,
    one_file,
    output_format,
    report_options,
    say,
    with_arrays,
    word_options,
)

_USUAL = ("id", "references", "candidates")
_OF_WORDS = ("measure", "temperature", "alpha", "beta", "idf", "layer", "layers")


def metric_options(command: Command) -> Command:
    """How metrics of contexts are set; `metric_arguments` makes arguments of it."""
    for option in reversed((
        click.option(
            "--ties", default="split", show_default=True, metavar="RULE", help="Triangles' ties: split or paper."
        ),
        click.option("--directed", is_flag=True, help="Triangle ranks one way: candidates amid references."),
        click.option(
            "--cider-df", metavar="FILE", help="Document frequencies for CIDEr-D (default: from all references)."
        ),
        click.option("--jar", metavar="FILE", help="METEOR's own program, meteor-1.5.jar: its tables, and its scores."),
        click.option("--wordnet", metavar="FOLDER", help="Synonyms for METEOR; auto looks in the usual places."),
        click.option("--paraphrases", metavar="FILE", help="A paraphrase table for METEOR."),
        word_options(several=False),
        click.option(
            "--layer", type=click.IntRange(0), help="The encoder's layer for BERTScore (default: one that does well)."
        ),
        click.option(
            "--layers", type=click.IntRange(1), help="How many last layers MoverScore reads (default: 5)."
        ),
        encoding_options,
        click.option("--seed", type=click.IntRange(0), default=0, help="For all that is drawn at random."),
        click.option(
            "--no-resume", is_flag=True, help="Begin anew, and keep nothing for an interrupted run to go on from."
        ),
    )):  # fmt: skip
        command = option(command)
    return command


def metric_arguments(
    metrics: str | None,
    *,
    ties: Any,
    directed: bool,
    cider_df: str | None,
    jar: str | None,
    wordnet: str | None,
    paraphrases: str | None,
    model: str | None,
    batch_tokens: int | None,
    encoder: str | None,
    seed: int,
    no_resume: bool,
    **more: Any,
) -> dict[str, Any]:
    """Of `evaluate_contexts` and `compare_contexts` alike."""
    from ..contexts.declaration import METRICS, usual_metrics
    from ..contexts.pairwise import PAIRWISE

    parameters = {name: more.pop(name) for name in _OF_WORDS}
    if metrics is None:
        chosen, left_out = usual_metrics(encoder, more["offline"] or None)
        if left_out:
            say(left_out)
    else:
        chosen = METRICS.choose(metrics)
    pairwise = [PAIRWISE.find(name) for name in dict.fromkeys(metric.similarity for metric in chosen) if name]
    tables = {"jar": jar, "wordnet": wordnet, "paraphrases": paraphrases}
    options = _options({"cider": {"df": cider_df}, "meteor": tables})
    options |= by_metric(pairwise, PAIRWISE.all().values(), parameters)
    return {
        "metrics": [metric.name for metric in chosen],
        "ties": ties,
        "directed": directed,
        "encoder": encoder,
        "model": model,
        "batch_tokens": batch_tokens,
        "options": options,
        "seed": seed,
        "resume": not no_resume,
        **chosen_encoding(**more),
    }


@click.command()
@click.argument("file", required=False)
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: those of the first example).")
@click.option("--id-field", default="id", show_default=True, metavar="NAME", help="What a context is called by.")
@click.option("--references-field", default="references", show_default=True, metavar="NAME", help="A list of texts.")
@click.option("--candidates-field", default="candidates", show_default=True, metavar="NAME", help="A list of texts.")
@one_file("--reference", "-r", help="Instead of FILE: single references, with --group.")
@one_file("--candidate", "-c", help="Instead of FILE: single candidates, with --group.")
@click.option("--group", metavar="NAME", help="The field of those two files that names a text's context.")
@click.option("--field", metavar="NAME", help="The field of those two files that holds the text (default: text).")
@inference_options
@metric_options
@output_format(FORMS, default=None, default_text="by the ending of --output, else table")
@click.option("--output", "-o", metavar="FILE", help="Write the totals here instead of to stdout.")
@report_options()
@click.option("--per-item", metavar="FILE", help="Write every context's scores here, one JSON object a line.")
@arrays_option("every context's scores, which recapture compare FILE.json FILE.json needs")
def contexts(
    file: str | None,
    metrics: str | None,
    id_field: str,
    references_field: str,
    candidates_field: str,
    reference: str | None,
    candidate: str | None,
    group: str | None,
    field: str | None,
    interval: float | None,
    pvalue: bool | int | Literal["exact", "sampled", "analytic"],
    form: str | None,
    output: str | None,
    report: str | None,
    per_item: str | None,
    arrays: bool,
    **settings: Any,
) -> None:
    """Score several candidates against several references, context by context.

    FILE is JSONL, an object a line: {"id": ..., "references": [...], "candidates": [...]}; - is stdin. Or two files of
    single texts whose records name their context. Contexts too small for a metric are named and left out of its mean.
    An interrupted run, repeated, goes on where it stopped.

    \b
    Metrics: trm-NAME (triangle rank), NAME, NAME-best, NAME-mean (mean over candidates), dispersion-NAME,
    with NAME one of meteor, cider, embedding, sentence-bleu, rouge-l, chrf, bertscore, moverscore, infolm; mmd,
    frechet, mauve and the other metrics of recapture list; self-bleu, distinct-1, distinct-2.

    \b
    Examples:
      recapture contexts FILE.jsonl --metrics trm-meteor,trm-cider,trm-embedding,mmd,frechet,mauve,meteor,cider
      recapture contexts captions.jsonl --metrics trm-meteor,mmd --pvalue --per-item scores.jsonl
      recapture contexts captions.jsonl --metrics trm-bertscore,trm-infolm,infolm --measure l1 --temperature 0.5
      recapture contexts captions.jsonl --candidates-field model_b --interval 0.95 --format md
      recapture contexts -r human.csv -c model.csv --group image --field caption --metrics meteor
    """
    from ..contexts.evaluate import evaluate_contexts
    from ..journal import kept_until_the_end

    inputs = _inputs(file, reference, candidate, group, field)
    named = {"--id-field": id_field, "--references-field": references_field, "--candidates-field": candidates_field}
    useless = [option for option, value in named.items() if file is None and value not in _USUAL]
    if useless:
        raise InputError(f"{useless[0]} goes with a file of contexts, not with two files of single texts")
    check_targets(output, per_item, [candidate] if candidate else [], report=report)
    form = chosen_form(form, output)
    how = with_arrays(arrays, form)
    arguments = metric_arguments(metrics, **settings)
    listed: list[Context]
    if file is not None:
        listed = read_contexts(file, name=id_field, references=references_field, candidates=candidates_field)
    else:
        listed = read_grouped(*inputs, group=str(group), field=field)
    with kept_until_the_end():  # finished contexts are safe until what is made of them is written
        results = evaluate_contexts(listed, pvalue=pvalue, interval=interval, **arguments)
        also = {per_item: results.to_jsonl()} if per_item else {}
        deliver(results, form, output, results.notes, also, how, report=report)


def _inputs(
    file: str | None, reference: str | None, candidate: str | None, group: str | None, field: str | None
) -> tuple[str, ...]:
    grouped = {"--reference": reference, "--candidate": candidate, "--group": group}
    if file is not None:
        extra = [option for option, value in {**grouped, "--field": field}.items() if value is not None]
        if extra:
            raise InputError(f"{extra[0]} goes with two files of single texts, not with a file of contexts ({file})")
        return (file,)
    missing = [name for name, value in grouped.items() if value is None]
    if len(missing) == len(grouped):
        raise InputError("no input: give a file of contexts, or --reference, --candidate and --group")
    if missing:
        raise InputError(
            f"two files of single texts need --reference, --candidate and --group; {missing[0]} is missing"
        )
    check_stdin(str(reference), str(candidate))
    return str(reference), str(candidate)


def _options(by_metric: dict[str, dict[str, Any]]) -> dict[str, dict[str, Any]]:
    """Only what the user asked for."""
    named = {name: {key: value for key, value in options.items() if value} for name, options in by_metric.items()}
    return {name: options for name, options in named.items() if options}
