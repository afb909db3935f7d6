"""The version of this package, and those of installed ones for signatures and cache keys."""

from __future__ import annotations

# The only place that says it: pyproject.toml and `recapture.__version__` read it here.
VERSION = "0.1.0"


def installed_version(package: str) -> str:
    # Here, not above: slow to import, and `import recapture` runs this file.
    from importlib.metadata import PackageNotFoundError, version

    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"
