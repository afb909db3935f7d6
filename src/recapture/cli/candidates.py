"""Candidates on a command line: one name after another, patterns that no shell has expanded, and whole folders."""

from __future__ import annotations

import glob
import os
from collections.abc import Sequence
from pathlib import Path

import click

from ..errors import InputError
from ..texts.reading import has_known_suffix
from .options import say

_OPTION = ("-c", "--candidate")


class WithCandidates(click.Command):
    """A command where further names after -c are candidates, too, as a shell leaves them of `-c runs/*.txt`."""

    def parse_args(self, ctx: click.Context, args: list[str]) -> list[str]:
        return super().parse_args(ctx, _with_option_before_each(args))


def _with_option_before_each(arguments: Sequence[str]) -> list[str]:
    """`-c a b -c c` as `-c a -c b -c c`: in the order of the command line, on which --name depends.

    A name that begins with - ends them, but for the - of standard input.
    """
    written: list[str] = []
    names = value = False
    for place, argument in enumerate(arguments):
        if argument == "--":  # what follows is not for options
            return [*written, *arguments[place:]]
        if value:
            names, value = True, False
        elif argument in _OPTION:
            value = True
        elif argument.startswith("-") and argument != "-":
            names = argument.startswith("--candidate=") or (argument.startswith("-c") and argument[1] != "-")
        elif names:
            written.append(_OPTION[0])
        written.append(argument)
    return written


def candidate_files(paths: Sequence[str], input_format: str | None = None) -> tuple[str, ...]:
    """The files that names mean: themselves, all that match a pattern, or those of a folder.

    A folder means its own files whose ending a format has (all of them where the format is named), in the order of
    their names and without hidden ones. Files that are left out are said.
    """
    return tuple(file for path in paths for file in _files(path, input_format))


def _files(path: str, input_format: str | None) -> list[str]:
    if path == "-":
        return [path]
    if os.path.isdir(path):  # noqa: PTH112 - a name too long, for one, is no folder: whoever reads it says so
        return _of_folder(path, input_format)
    if os.path.exists(path) or not glob.has_magic(path):  # noqa: PTH110
        return [path]
    found = sorted(name for name in glob.glob(path, recursive=True) if not os.path.isdir(name))  # noqa: PTH112, PTH207 - paths as written
    if not found:
        raise InputError(f"no file matches {path!r}")
    return found


def _of_folder(path: str, input_format: str | None) -> list[str]:
    try:
        files = sorted(entry.path for entry in os.scandir(path) if entry.is_file() and not entry.name.startswith("."))
    except OSError as error:
        raise InputError(f"the folder {path} cannot be read: {error.strerror}") from None
    known = files if input_format else [file for file in files if has_known_suffix(file)]
    if not known:
        others = f"; {len(files)} others have endings of no format" if files else ""
        raise InputError(f"the folder {path} holds no file of texts or vectors{others}")
    left = [Path(file).name for file in files if file not in known]
    if left:
        say(f"{path}: left out {', '.join(left[:5])}{', ...' if len(left) > 5 else ''}: no format has such an ending")
    return known
