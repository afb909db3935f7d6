"""The command line: one file per command, `app` for all of them."""

from __future__ import annotations

import os
import sys
from collections.abc import Callable
from typing import Any


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code."""
    try:  # here, so that Ctrl-C while libraries load ends as quietly as later
        from .signals import end_at_once, raise_interrupts

        end_at_once()
        _open_what_is_closed()
        from .app import run

        raise_interrupts()
        code = run(arguments)
        end_at_once(code)
    except KeyboardInterrupt:
        code = _of_signals("exit_code", lambda: 130)()
    _of_signals("keep_exit_code", lambda: None)()
    sys.exit(code)


def _of_signals(name: str, otherwise: Callable[[], Any]) -> Callable[[], Any]:
    """A function of `signals`, which Ctrl-C may have kept from being loaded."""
    found: Callable[[], Any] = getattr(sys.modules.get(f"{__name__}.signals"), name, otherwise)
    return found


def _open_what_is_closed() -> None:
    """A closed standard stream leaves its number to the next file, which others would take for the stream."""
    for number, wrong_way in enumerate((os.O_WRONLY, os.O_RDONLY, os.O_RDONLY)):
        try:
            os.fstat(number)
        except OSError:  # noqa: PERF203
            os.open(os.devnull, wrong_way)  # reading stdin and writing to stdout fail, as they should
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", closefd=False)
    if sys.stderr is None:
        sys.stderr = open(os.devnull, "w")  # noqa: SIM115, PTH123 - messages are lost, work is not
