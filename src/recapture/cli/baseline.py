"""`recapture baseline`: human texts and a system's, as vectors in one file, for later comparisons."""

from __future__ import annotations

from typing import Any

import click

from .options import check_targets, one_file, read_and_encoded, say, set_options
from .score import read_sets


@click.command(short_help="Keep a system in one file, for recapture compare --baseline.")
@one_file("--reference", "-r", required=True, help="Human texts or vectors; - for stdin.")
@one_file("--candidate", "-c", required=True, help="Texts or vectors of the system to keep.")
@click.option("--name", metavar="NAME", help="What comparisons call the system (default: baseline).")
@click.option("--metrics", metavar="NAMES", help="Comma-separated (default: those of recapture compare).")
@click.option("--k", type=int, help="Neighbourhood size (default: each metric's own).")
@set_options
@click.option("--sample", type=click.IntRange(1), metavar="N", help="N texts, chosen by --seed, of each set with more.")
@click.option("--group", metavar="FIELD", help="Field that tells which texts belong together: document, prompt...")
@click.option("--paired", is_flag=True, help="Text i of both answers the same prompt.")
@click.option("--seed", type=click.IntRange(0), default=0, help="For --sample.")
@click.option("--output", "-o", required=True, metavar="FILE", help="A .safetensors file.")
def baseline(
    reference: str,
    candidate: str,
    name: str | None,
    metrics: str | None,
    k: int | None,
    encoder: str | None,
    sample: int | None,
    group: str | None,
    paired: bool,
    seed: int,
    output: str,
    **given: Any,
) -> None:
    """Keep human texts and a system's texts as vectors in one file, for recapture compare --baseline.

    The file holds vectors, not texts, with the encoder and the settings of later comparisons; vectors may tell of
    texts, so keep it as you would keep them.

    \b
    Examples:
      recapture baseline -r human.txt -c released.txt --name released -o released.safetensors
      recapture compare -c new.txt --baseline released.safetensors --fail-if worse
    """
    from ..systems.stored_baseline import save_baseline

    reading, encoding = read_and_encoded(given)
    called = name or "baseline"
    check_targets(output, candidates=[candidate])
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
    save_baseline(
        output,
        sets.references,
        sets.candidates[called],
        metrics,
        encoder,
        k,
        name=called,
        reference_groups=sets.reference_groups,
        groups=None if sets.groups is None else sets.groups[called],
        paired=paired,
        reference_name=sets.name,
        **encoding,
    )
    many = f"{len(sets.references):,} human texts and {len(sets.candidates[called]):,} of {called}"
    say(f"wrote {output}: vectors of {many}, no texts; vectors may tell of texts")
