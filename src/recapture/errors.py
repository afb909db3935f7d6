"""Errors that a user can act on, and words that are safe to show."""

from __future__ import annotations

import difflib
import re
import reprlib
from collections.abc import Iterable, Sequence

_UNSEEN = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ud800-\udfff]")
"""What a terminal obeys instead of showing it, what turns the direction of words that follow, and half characters."""

_MOST_LISTED, _LISTED = 40, 20
"""Names that a message lists: all, or where there are more so many of them."""
_LONGEST = 100
"""Characters of a value in a message."""
_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80


def visible(words: str, lines: bool = True) -> str:
    r"""Words with escapes in the place of characters that a terminal or a page would obey, such as \x1b.

    lines: whether line ends and tabs stay as they are.
    """
    shown = _UNSEEN.sub(lambda found: _escaped(found[0]), words)
    return shown if lines else shown.replace("\n", r"\n").replace("\t", r"\t")


def _escaped(character: str) -> str:
    code = ord(character)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}"


def shown(value: object) -> str:
    """Whatever a caller gave, on one short line, as messages quote it; of arrays and tables their kind and size."""
    shape = getattr(value, "shape", None)
    try:
        if isinstance(shape, tuple) and shape:
            return f"{type(value).__name__} of shape {tuple(map(int, shape))}"
        words = " ".join(_SHORT.repr(value).split())
    except Exception:  # what cannot be shown is not what the caller should hear about
        return f"an object of type {type(value).__name__}"
    return words if len(words) <= _LONGEST else f"{words[:_LONGEST]}..."


def first_line(error: BaseException) -> str:
    """What an error says, or its kind if it says nothing."""
    return next(iter(str(error).strip().splitlines()), type(error).__name__)


class InputError(ValueError):
    """Something the caller gave cannot be used; the message says what, where and why in one sentence.

    options: parameters of the call that would help. In Python they stand behind the message by their names; the
    command line, which prints the message alone and leaves with exit code 2, writes them as its flags.
    """

    def __init__(self, message: object = "", *, options: Sequence[str] = ()) -> None:
        super().__init__(visible(str(message)))  # it may quote what others wrote: names of files, texts
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


def nearest_names(wanted: object, known: Iterable[str]) -> str:
    """' Did you mean ...?' for a misspelt name, or the list of all names when nothing is close."""
    names = sorted(known)
    wanted = wanted[:_LONGEST] if isinstance(wanted, str) else ""
    close = difflib.get_close_matches(wanted, names, n=3, cutoff=0.65)
    if not close:  # the words of a longer name, such as bleu of sentence-bleu
        parts = set(wanted.split("-"))
        close = sorted((name for name in names if parts < set(name.split("-"))), key=len)[:3]
    if close:
        return "did you mean " + " or ".join(close) + "?"
    listed = names if len(names) <= _MOST_LISTED else names[:_LISTED]
    return "known: " + ", ".join(listed) + (f" and {len(names) - len(listed)} more" if len(listed) < len(names) else "")
