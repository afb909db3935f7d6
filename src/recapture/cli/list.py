"""`recapture list`: what can be measured."""

from __future__ import annotations

import json
import math

import click

from ..checks import plain
from ..contexts.pairwise import list_pairwise
from ..divergences.measures import list_measures
from ..pairs.declaration import list_pair_metrics
from ..sets.declaration import SetMetric, list_metrics
from .options import output_format


@click.command("list")
@output_format(["table", "json"])
def list_command(form: str) -> None:
    """List the metrics (their numbers, direction, range, needs, defaults and citation) and the kinds of encoder.

    \b
    Examples:
      recapture list
      recapture list --format json
    """
    from ..representations.encoder import list_encoders

    if form == "json":
        content = [_describe(metric) for metric in list_metrics().values()]
        click.echo(json.dumps(content, indent=2, ensure_ascii=False))
        return
    for metric in list_metrics().values():
        better = f"{metric.direction} is better"
        parameters = ", ".join(f"{name}={value}" for name, value in metric.defaults.items())
        click.echo(f"{metric.name}  {metric.title}; {better}; needs {metric.needs}")
        for output in metric.outputs:
            click.echo(f"    {output.name:<10} [{output.range[0]:g}, {output.range[1]:g}]  {output.meaning}")
        if parameters:
            click.echo(f"    defaults: {parameters}")
        click.echo(f"    {metric.citation}")
    click.echo("of contexts (recapture contexts): the metrics above, and for every pairwise metric NAME")
    click.echo("    trm-NAME, NAME, NAME-best, NAME-mean, dispersion-NAME; self-bleu, distinct-1, distinct-2")
    for pairwise in list_pairwise().values():
        low, high = pairwise.range
        click.echo(f"    {pairwise.name:<13} [{low:g}, {high:g}]  {pairwise.title}; {pairwise.citation}")
    _show_pair_metrics()
    click.echo("encoders")
    for kind in list_encoders():
        click.echo(f"    {kind.name}: {kind.description}")
        for name, made_for in kind.made_for.items():
            click.echo(f"        {name} is for {made_for}")


def _show_pair_metrics() -> None:
    click.echo("of aligned texts (recapture pairs): every candidate against its own references")
    for metric in list_pair_metrics().values():
        click.echo(f"    {metric.name}  {metric.title}; {metric.direction} is better; {metric.citation}")
        for output in metric.outputs_for({}):
            low, high = output.range
            click.echo(f"        {output.name:<16} [{low:g}, {high:g}]  {output.meaning}")
    click.echo("    measures of infolm (with the parameters they need)")
    for measure in list_measures().values():
        needs = f" ({', '.join(measure.parameters)})" if measure.parameters else ""
        click.echo(f"        {measure.name}{needs}  {measure.title}: {measure.formula}")


def _describe(metric: SetMetric) -> dict[str, object]:
    return {
        "name": metric.name,
        "title": metric.title,
        "direction": metric.direction,
        "numbers": [
            {
                "name": output.name,
                "meaning": output.meaning,
                "range": [bound if math.isfinite(bound) else None for bound in output.range],
            }
            for output in metric.outputs
        ],
        "needs": metric.needs,
        "least_samples": metric.least_samples,
        "defaults": plain(metric.defaults),
        "citation": metric.citation,
    }
