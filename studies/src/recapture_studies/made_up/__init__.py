"""Data folders with texts made up by rule, laid out as the real ones: for a first look, and for tests."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from pathlib import Path

from . import contexts, drawn_texts, generators, genre_texts, human_texts, rated_texts, summaries

BUILDERS: dict[str, Callable[[Path], None]] = {
    **dict.fromkeys(genre_texts.FOLDERS, genre_texts.build),
    **dict.fromkeys(contexts.FOLDERS, contexts.build),
    **dict.fromkeys(rated_texts.FOLDERS, rated_texts.build),
    **dict.fromkeys(human_texts.FOLDERS, human_texts.build),
    drawn_texts.FOLDER: drawn_texts.build,
    "e2e_nlg": generators.build,
    "realsumm": summaries.build,
    "tac2009": summaries.build_topics,
}
"""By data folder, what makes it up (some make several at once)."""


def build(root: Path, folders: Iterable[str] | None = None) -> None:
    """Make up these data folders (None: all) under `root`; the same texts every time."""
    wanted = BUILDERS if folders is None else folders
    for make in dict.fromkeys(BUILDERS[name] for name in wanted):
        make(root)
