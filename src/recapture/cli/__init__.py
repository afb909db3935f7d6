"""The command line: one file per command, `app` for all of them."""

from __future__ import annotations

import sys


def main(arguments: list[str] | None = None) -> None:
    """Run the program and leave with its exit code."""
    try:
        from .app import run  # here, so that Ctrl-C while libraries load ends as quietly as later

        sys.exit(run(arguments))
    except KeyboardInterrupt:
        sys.exit(130)
