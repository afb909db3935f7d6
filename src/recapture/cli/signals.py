"""Ctrl-C and requests to end: one line or none, never a traceback, and the exit code that shells expect.

While libraries are loaded nothing has been done yet, and when all is done nothing is left to do: the program ends at
once. In between a KeyboardInterrupt lets every part tidy up.
"""

from __future__ import annotations

import atexit
import contextlib
import os
import signal
import sys
from typing import Any

_HEEDED = (signal.SIGINT, signal.SIGTERM)
_got = 0
"""The signal that came; 0: none."""


def exit_code() -> int:
    """128 and the number of the signal, as shells have it."""
    return 128 + (_got or signal.SIGINT)


def interrupted() -> bool:
    """Whether a signal came: libraries may turn a KeyboardInterrupt into an error of their own."""
    return bool(_got)


def end_at_once(code: int | None = None) -> None:
    """Let a signal end the program where it stands, with this code (None: that of the signal)."""

    def leave(number: int, _: Any) -> None:
        os._exit(128 + number if code is None else code)

    _handle(leave)


def raise_interrupts() -> None:
    """Let a signal raise KeyboardInterrupt."""

    def interrupt(number: int, _: Any) -> None:
        global _got
        _got = number
        raise KeyboardInterrupt

    _handle(interrupt)
    sys.unraisablehook = _unraisable


def keep_exit_code() -> None:
    """Let no signal change the exit code of a program that is all but gone.

    While Python takes itself apart it gives signals back to the system, which would end the program as killed though
    all was said and done. Only the last step is shielded: threads and files that are waited for can still be left.
    """
    atexit.register(_handle, signal.SIG_IGN)
    # Python ends as killed where an interrupt once went through text that was executed (data classes are made so),
    # even if it was caught; the next text that is executed takes that back.
    exec("")


def _handle(handler: Any) -> None:
    for number in _HEEDED:
        # What is ignored stays so: that is how shells shield programs in the background.
        if signal.getsignal(number) != signal.SIG_IGN:
            with contextlib.suppress(ValueError):  # not the main thread
                signal.signal(number, handler)


def _unraisable(lost: Any) -> None:
    """Interrupted where nothing can be raised, such as while an object is removed: Python would print and go on."""
    if issubclass(lost.exc_type, KeyboardInterrupt):
        os._exit(exit_code())
    sys.__unraisablehook__(lost)
