"""Options that several commands share, and what they do with inputs and outputs."""

from __future__ import annotations

import shutil
import sys
from collections.abc import Callable, Sequence
from typing import Any

import click

from ..errors import InputError, nearest_names
from ..texts import format_names

Command = Callable[..., Any]


def input_options(command: Command) -> Command:
    """--field and --input-format."""
    formats = ", ".join(format_names())
    for option in (
        click.option("--input-format", metavar="NAME", help=f"How to read (default: by the file name): {formats}."),
        click.option("--field", metavar="NAME", help="Column, key or array to read (default: text)."),
    ):
        command = option(command)
    return command


def encoding_options(command: Command) -> Command:
    """Everything about turning texts into vectors; `chosen_encoding` collects it."""
    for option in (
        click.option("--no-cache", is_flag=True, help="Neither read nor keep vectors on disk."),
        click.option("--offline", is_flag=True, help="Never touch the network."),
        click.option("--batch-size", type=click.IntRange(1), help="Texts encoded at once (default: 32)."),
        click.option("--device", metavar="NAME", help="cpu, cuda, mps (default: the best there is)."),
        click.option("--pooling", metavar="NAME", help="mean, max or cls (default: the model's own)."),
        click.option(
            "--encoder",
            metavar="NAME",
            help="Model name, folder, file of word vectors or bag-of-words (default: all-MiniLM-L6-v2).",
        ),
    ):
        command = option(command)
    return command


def interval_option(command: Command) -> Command:
    def level(_: click.Context, __: click.Parameter, value: float | None) -> float | None:
        if value is not None and not 0 < value < 1:
            raise InputError(f"--interval takes a level between 0 and 1 such as 0.95, not {value:g}")
        return value

    return click.option(
        "--interval", type=float, metavar="LEVEL", callback=level, help="Interval around every number, e.g. 0.95."
    )(command)


def inference_options(command: Command) -> Command:
    """--interval and --pvalue."""

    def asked(_: click.Context, __: click.Parameter, value: str | None) -> bool | int | str:
        if value in (None, "auto"):
            return value is not None
        if value in ("exact", "sampled"):
            return value
        if not value.isdecimal() or int(value) < 1:
            raise InputError(
                f"--pvalue takes nothing, auto, exact, sampled or a number of labellings, not {value!r}"
                " (a file name goes before it)"
            )
        return int(value)

    pvalue = click.option(
        "--pvalue",
        is_flag=False,
        flag_value="auto",
        metavar="[HOW]",
        callback=asked,
        help="p-value of one common distribution: all relabellings if few, else seeded; exact, sampled, a number.",
    )
    return interval_option(pvalue(command))


def chosen_encoding(
    pooling: str | None, device: str | None, batch_size: int | None, offline: bool, no_cache: bool
) -> dict[str, Any]:
    """Only what the user asked for, so that ready vectors meet no option that cannot apply to them."""
    options: dict[str, Any] = {"pooling": pooling, "device": device, "batch_size": batch_size}
    options |= {"offline": offline or None, "cache": False if no_cache else None}
    return {name: value for name, value in options.items() if value is not None}


def output_format(
    known: list[str], default: str | None = "table", default_text: str = "table"
) -> Callable[[Command], Command]:
    def check(_: click.Context, __: click.Parameter, name: str | None) -> str | None:
        if name is not None and name not in known:
            raise InputError(f"unknown output format {name!r}: {nearest_names(name, known)}")
        return name

    text = f"{', '.join(known[:-1])} or {known[-1]} (default: {default_text})."
    return click.option("--format", "form", default=default, metavar="NAME", callback=check, help=text)


def flags(parameters: Sequence[str]) -> str:
    """How a command calls the parameters that a message of the library points to."""
    others = {"directions": "--lower-is-better, --higher-is-better"}
    named = [others.get(name, f"--{name.replace('_', '-')}") for name in parameters]
    return f" (see {', '.join(named)})" if named else ""


def say(message: str) -> None:
    """A message to the person, kept apart from results."""
    click.echo(f"recapture: {message}", err=True)


def terminal_width() -> int | None:
    """Columns of the terminal that results go to; None where they go to a file or a program."""
    return shutil.get_terminal_size().columns if sys.stdout.isatty() else None
