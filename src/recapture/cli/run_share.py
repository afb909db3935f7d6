"""`recapture run`: a share of a plan's parts."""

from __future__ import annotations

import re

import click

from ..checks import seconds_of, shortened
from ..errors import InputError
from .options import say


def _share(_: click.Context, __: click.Parameter, text: str) -> tuple[int, int]:
    found = re.fullmatch(r"(\d{1,9})/(\d{1,9})", text, re.ASCII)
    share = (int(found[1]), int(found[2])) if found else (0, 0)
    if not 1 <= share[0] <= share[1]:
        raise InputError(f"a share is written i/N, from 1/N to N/N, such as 2/8, not {shortened(text)!r}")
    return share


def _seconds(_: click.Context, __: click.Parameter, text: str | None) -> float:
    return 0.0 if text is None else seconds_of(text, "--wait", may_be_0=True)


@click.command("run", short_help="Do a share of the parts of recapture plan.")
@click.argument("folder", metavar="FOLDER")
@click.argument("share", metavar="[i/N]", default="1/1", callback=_share)
@click.option("--device", metavar="NAME", help="auto, cpu, cuda, cuda:1 (default: auto).")
@click.option("--offline", is_flag=True, help="Never touch the network for an encoder.")
@click.option("--wait", metavar="TIME", callback=_seconds, help="For parts that others are at: 5min, 2h (default: 0).")
@click.option("--engine", default="local", metavar="local|ray", help="Who does them: this process (default), or Ray.")
@click.option("--address", metavar="ADDRESS", help="Of Ray: host:port, ray://host:port, auto (default: its own).")
def run_share(
    folder: str,
    share: tuple[int, int],
    device: str | None,
    offline: bool,
    wait: float,
    engine: str,
    address: str | None,
) -> None:
    """Do share i of N of a plan's parts; all of them where no share is named.

    Parts that are there and whole are not done again; damaged ones are. Radii come first and counts need all of them
    (with texts vectors come before): a share that finds parts of others missing says so, and is to be run again when
    they are there. With --wait it does those that nobody is at, and waits for the others (exit code 2 when the time is
    over); workers without a share then divide the parts. That of a worker lost on another machine counts as left alone
    after two minutes: wait for longer.

    \b
    Examples:
      recapture run planned
      recapture run planned 3/8 --wait 1h
      recapture run planned --wait 1h
      recapture run planned --device cuda
      recapture run /shared/planned --engine ray --address auto
    """
    from ..plans.planned_parts import listed
    from ..plans.planned_work import run_plan

    try:
        did = run_plan(
            folder, *share, device=device, offline=offline or None, wait=wait, engine=engine, address=address
        )
    except KeyboardInterrupt:
        raise KeyboardInterrupt("finished parts are kept: run it again to go on") from None
    many = len(did.made)
    if many or did.missing:
        say(f"{folder}: {many} part{'s' * (many != 1)} made here, {len(did.found)} of this share were there")
    else:
        say(f"{folder}: nothing is left to do here")
    if did.missing:
        reasons = {"radii": "counts need all radii", "counts": "this share has parts that another worker has begun"}
        what = reasons.get(did.missing[0].partition("-")[0], "the next parts need all of these")
        told = f"{what}, but {listed(did.missing)} missing"
        if wait:  # who waits goes on with what needs all parts
            raise InputError(
                f"{told} and the time to wait is over: somebody else has begun what is missing; run this again when it "
                f"is there, or recapture run {folder}, which does it itself"
            )
        say(f"{told}: run this again when they are there")
