"""What loading any pretrained model needs: a device, no log output, and a check that no weight was made up."""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import sys
import warnings
from collections.abc import Iterator
from typing import Any

from ..errors import InputError
from .folder import modules
from .locate import INSTALL_HINT, Weights


def usable_device(wanted: str | None) -> str:
    import torch

    if wanted is None:
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    try:
        torch.zeros(1, device=wanted).item()
    except (RuntimeError, AssertionError, NotImplementedError, TypeError) as error:
        raise InputError(f"device {wanted!r} cannot be used here: {str(error).splitlines()[0]}") from None
    return wanted


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries from logging, from drawing bars and from writing on standard output."""
    transformers_logging: Any = importlib.import_module("transformers.utils.logging")
    own = logging.getLogger("sentence_transformers")
    level, verbosity = own.level, transformers_logging.get_verbosity()
    bars = transformers_logging.is_progress_bar_enabled()
    own.setLevel(logging.ERROR)
    transformers_logging.set_verbosity_error()
    transformers_logging.disable_progress_bar()
    try:
        with contextlib.redirect_stdout(sys.stderr):
            yield
    finally:
        own.setLevel(level)
        transformers_logging.set_verbosity(verbosity)
        if bars:
            transformers_logging.enable_progress_bar()


@contextlib.contextmanager
def reported_as_missing() -> Iterator[list[str]]:
    """Names of weights that a model needs and its folder lacks: the library fills them with random numbers and a log
    line. A missing pooler does not matter, since no pooling here uses it.
    """
    missing: list[str] = []

    class Catcher(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            text = record.getMessage()
            names = re.findall(r"^(\S+)\s*\|\s*MISSING", text, re.MULTILINE)  # a table, from transformers 5 on
            if "newly initialized" in text:  # a sentence with a list, before
                names += re.findall(r"'([\w.]+)'", text)
            missing.extend(name for name in names if "pooler" not in name)

    logger = logging.getLogger("transformers.modeling_utils")
    catcher, level, propagate = Catcher(), logger.level, logger.propagate
    logger.addHandler(catcher)
    logger.setLevel(logging.WARNING)
    logger.propagate = False
    try:
        yield missing
    finally:
        logger.removeHandler(catcher)
        logger.setLevel(level)
        logger.propagate = propagate


def transformer_folder(weights: Weights) -> Weights:
    """The folder of the transformer itself, which a sentence-transformers model may keep in a folder of its own."""
    for module in modules(weights.folder) or ():
        if module.kind == "Transformer":
            return Weights(weights.name, module.folder, weights.commit)
    return weights


def load_pretrained(kind: str, weights: Weights, purpose: str, **options: Any) -> tuple[Any, list[str]]:
    """A tokenizer or model by the transformers class `kind`, and the names of weights its folder lacks.

    Always a folder, always local: nothing here may ask the hub, run a model's own code or unpickle.
    """
    try:
        transformers: Any = importlib.import_module("transformers")
        importlib.import_module("torch")
    except ImportError as error:
        raise InputError(f"{purpose} {weights.name} needs PyTorch and transformers ({error}): {INSTALL_HINT}") from None
    try:
        with quiet(), reported_as_missing() as missing, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            loaded = getattr(transformers, kind).from_pretrained(
                str(weights.folder), local_files_only=True, trust_remote_code=False, **options
            )
    except Exception as error:  # a model folder can be wrong in many ways
        reason = f"{type(error).__name__}: {error}".splitlines()[0]
        raise InputError(f"{purpose} {weights.name} in {weights.folder} cannot be loaded: {reason}") from error
    return loaded, missing


def room_of(model: Any) -> int:
    """The most tokens a model takes at once, special ones included."""
    limit = getattr(model.config, "max_position_embeddings", None) or getattr(model.config, "n_positions", None) or 512
    for name, module in model.named_modules():
        # RoBERTa and models like it count positions from the padding token's number on.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(limit) - int(module.padding_idx) - 1
    return int(limit)
