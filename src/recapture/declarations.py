"""Files that declare themselves are found, not listed."""

from __future__ import annotations

import importlib
import pkgutil
from typing import TypeVar

Kind = TypeVar("Kind")


def declared(package: str, name: str, kind: type[Kind]) -> list[Kind]:
    """What the modules of a package declare under one name."""
    modules = pkgutil.iter_modules(importlib.import_module(package).__path__)
    found = [getattr(importlib.import_module(f"{package}.{module.name}"), name, None) for module in modules]
    return [each for each in found if isinstance(each, kind)]
