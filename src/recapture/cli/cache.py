"""`recapture cache`: shows what is kept on disk, and removes it."""

from __future__ import annotations

import contextlib
import re
import time
from pathlib import Path

import click

from ..errors import InputError, nearest_names, visible
from .options import say

_UNITS = {"": 1, "K": 10**3, "M": 10**6, "G": 10**9, "T": 10**12}


def _bytes(_: click.Context, __: click.Parameter, text: str | None) -> int | None:
    if text is None:
        return None
    match = re.fullmatch(r"(\d+(?:\.\d+)?)\s*([KMGT]?)B?", text.strip(), re.IGNORECASE)
    if not match or len(match[1]) > 20:
        raise InputError(f"--max-size must be a size such as 500MB or 2G, not {text!r}")
    return int(float(match[1]) * _UNITS[match[2].upper()])


@click.command()
@click.option("--max-size", callback=_bytes, metavar="SIZE", help="Remove the least recently used until this fits.")
@click.option(
    "--older-than", type=click.IntRange(0, 10**6), metavar="DAYS", help="Remove what was not used for so long."
)
@click.option("--encoder", metavar="NAME", help="Remove (with --older-than: only) vectors of this encoder.")
@click.option("--all", "everything", is_flag=True, help="Remove everything.")
def cache(max_size: int | None, older_than: int | None, encoder: str | None, everything: bool) -> None:
    """Show the vectors kept on disk, or remove some.

    \b
    Examples:
      recapture cache
      recapture cache --max-size 500MB
      recapture cache --older-than 30
    """
    from ..journal import unfinished
    from ..representations.vector_cache import VectorCache

    if everything and encoder is not None:
        raise InputError("--all removes everything: leave --encoder out, or --all")
    store = VectorCache()
    kept = {space.encoder for space in store.summary().spaces}
    if encoder is not None and not any(encoder in (name, name.rpartition("/")[2]) for name in kept):
        raise InputError(f"no vectors of encoder {encoder!r} are kept: {nearest_names(encoder, kept or ['none'])}")
    if max_size is not None or older_than is not None or encoder is not None or everything:
        entries, freed = store.prune(
            max_bytes=max_size, older_than_days=older_than, encoder=encoder, everything=everything
        )
        say(f"removed {entries:,} vectors ({_size(freed)})")
    if everything or (older_than is not None and encoder is None):
        limit = time.time() - 86_400 * (older_than or 0)
        for journal in unfinished():
            with contextlib.suppress(OSError):  # the run that it belongs to may have ended
                if everything or journal.stat().st_mtime < limit:
                    journal.unlink(missing_ok=True)
    summary = store.summary()
    click.echo(f"{visible(str(summary.path))}: {summary.entries:,} vectors, {_size(summary.bytes)}")
    for space in summary.spaces:
        click.echo(f"  {visible(space.encoder, lines=False)}  {space.entries:,} vectors, {_size(space.bytes)}")
    if runs := unfinished():
        click.echo(f"unfinished runs of recapture contexts: {len(runs)}, {_size(sum(map(_bytes_of, runs)))}")


def _bytes_of(path: Path) -> int:
    try:
        return path.stat().st_size
    except OSError:
        return 0


def _size(count: float) -> str:
    unit = "B"
    for larger in ("kB", "MB", "GB", "TB"):
        if count < 1000:
            break
        count, unit = count / 1000, larger
    return f"{count:.0f} B" if unit == "B" else f"{count:.1f} {unit}"
