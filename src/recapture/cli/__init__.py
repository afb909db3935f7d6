"""The command line: one file per command, `main` for all of them."""

from .app import main

__all__ = ["main"]
