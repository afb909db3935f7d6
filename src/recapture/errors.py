"""Errors that a user can act on."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence


class InputError(ValueError):
    """Something the caller gave cannot be used; the message says what, where and why in one sentence.

    options: parameters of the call that would help. In Python they stand behind the message by their names; the
    command line, which prints the message alone and leaves with exit code 2, writes them as its flags.
    """

    def __init__(self, message: object = "", *, options: Sequence[str] = ()) -> None:
        super().__init__(message)
        self.options = tuple(options)

    @property
    def message(self) -> str:
        return Exception.__str__(self)  # a KeyError would put it in quotes

    def __str__(self) -> str:
        return self.message + (f" (see {', '.join(self.options)})" if self.options else "")


class OptionError(InputError, TypeError):
    """A parameter that a metric does not have: one kind of error at every door, and a TypeError as Python has it."""


class UnknownNameError(InputError, KeyError):
    """A result that is not there: a KeyError, as mappings have it, whose message says what there is."""


def nearest_names(wanted: str, known: Iterable[str]) -> str:
    """' Did you mean ...?' for a misspelt name, or the list of all names when nothing is close."""
    names = sorted(known)
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.65)
    if not close:  # the words of a longer name, such as bleu of sentence-bleu
        parts = set(wanted.split("-"))
        close = sorted((name for name in names if parts < set(name.split("-"))), key=len)[:3]
    if close:
        return "did you mean " + " or ".join(close) + "?"
    return "known: " + ", ".join(names)
