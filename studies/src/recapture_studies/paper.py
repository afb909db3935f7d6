"""The numbers that papers print, which are data: `paper.json` in each paper's folder, every table with its source."""

from __future__ import annotations

import json
from functools import cache
from importlib.resources import files
from typing import Any


@cache
def _tables(folder: str) -> dict[str, Any]:
    tables: dict[str, Any] = json.loads((files(__package__) / folder / "paper.json").read_text(encoding="utf-8"))[
        "tables"
    ]
    return tables


def paper_numbers(package: str, table: str) -> Any:
    """The numbers of a table of the paper whose folder a module belongs to (its `__package__`)."""
    return _tables(package.rpartition(".")[2])[table]["numbers"]
