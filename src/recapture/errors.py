"""Errors that a user can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable


class InputError(ValueError):
    """Something the caller gave cannot be used; the message says what, where and why in one sentence.

    The command line prints the message alone and leaves with exit code 2.
    """


class OptionError(InputError, TypeError):
    """A parameter that a metric does not have: one kind of error at every door, and a TypeError as Python has it."""


def nearest_names(wanted: str, known: Iterable[str]) -> str:
    """' Did you mean ...?' for a misspelt name, or the list of all names when nothing is close."""
    names = sorted(known)
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.65)
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + ", ".join(names)
