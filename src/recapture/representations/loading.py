"""What loading any pretrained model needs: a device, no log output, no pickles, and a check that the model is whole."""

from __future__ import annotations

import contextlib
import importlib
import logging
import re
import sys
import threading
import warnings
from collections.abc import Iterator
from typing import Any, NamedTuple

from ..errors import InputError, first_line, shown
from ..geometry.devices import DeviceMemoryError, check_kind, check_there, lacks_memory
from .folder import modules
from .locate import INSTALL_HINT, Weights
from .tokenizer_probe import check_tokenizer
from .weight_files import check_numbers

_LIBRARIES = ("transformers", "sentence_transformers")
_SPARE_ROWS = 1024
"""Tables of words may be longer than the list of words, so that their size is a round number for the hardware."""
_ONE_AT_A_TIME = threading.RLock()
"""While a model is loaded, parts of the loading libraries are replaced."""
_AT_THE_DOOR = threading.Lock()
_within: list[int] = []
_as_before = contextlib.ExitStack()
# Said of sound models, too, or of weights that are missing: those are read from the loader's own lists instead.
_SAID_ANYWAY = re.compile(
    "LOAD REPORT|weights of the model checkpoint|newly initialized|deprecated|significantly slower|"
    "[Cc]reating a new one with|[Dd]efault prompt name is set|tied weights mapping"
)
# Warnings on how one library calls another, or Python.
_ON_CALLS = (DeprecationWarning, PendingDeprecationWarning, FutureWarning, ImportWarning, ResourceWarning)


def reason_of(error: BaseException) -> str:
    """The first line of an error, behind its kind."""
    kind, said = type(error).__name__, first_line(error)
    return kind if said == kind else f"{kind}: {said}".rstrip(": ")


@contextlib.contextmanager
def in_one_sentence(beginning: str) -> Iterator[None]:
    """Whatever a library raises within becomes `InputError`: a model folder can be wrong in many ways. Where a device
    has no room for the model it is `DeviceMemoryError`, so that the processor can take over.
    """
    try:
        yield
    except InputError:
        raise
    except BaseException as error:
        # Libraries in Rust raise their panics outside of Exception.
        if not isinstance(error, Exception) and type(error).__name__ != "PanicException":
            raise
        kind = DeviceMemoryError if lacks_memory(error) else InputError
        raise kind(f"{beginning}: {reason_of(error)}") from error


def usable_device(wanted: str | None) -> str:
    try:
        import torch
    except ImportError as error:
        raise InputError(f"models need PyTorch ({error}): {INSTALL_HINT}") from None
    if wanted is None or wanted == "auto":
        if torch.cuda.is_available():
            return "cuda"
        return "mps" if torch.backends.mps.is_available() else "cpu"
    check_there(wanted)
    with in_one_sentence(f"device {shown(wanted)} cannot be used here"):
        torch.zeros(1, device=wanted).item()
    return wanted


def check_device(wanted: str | None) -> None:
    """Refuse a device that cannot be used, before any work: also where all vectors come from the cache."""
    if wanted is None or wanted in ("cpu", "auto"):  # always there, so that PyTorch need not be loaded
        return
    try:
        importlib.import_module("torch")
    except ImportError:  # vectors from the cache, on a machine without the library that made them
        check_kind(wanted)
        return
    usable_device(wanted)


@contextlib.contextmanager
def quiet() -> Iterator[None]:
    """Keep the libraries from logging, from drawing bars and from writing on standard output."""
    # Of threads that are within together, the first changes the settings and the last sets them back: otherwise one
    # would take what another changed for what was there before.
    with _AT_THE_DOOR:
        if not _within:
            _as_before.enter_context(_silence())
        _within.append(threading.get_ident())
    try:
        yield
    finally:
        with _AT_THE_DOOR:
            _within.pop()
            if not _within:
                _as_before.close()


@contextlib.contextmanager
def _silence() -> Iterator[None]:
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


class Loaded(NamedTuple):
    """One transformer that a library loaded, and its own account of what the files had and had not."""

    model: Any
    account: dict[str, Any]


@contextlib.contextmanager
def loading(name: str) -> Iterator[list[Loaded]]:
    """Within: every transformer is loaded together with the loader's account, which comes back in the list; nothing is
    unpickled; what the libraries warn of is passed on as a warning that names the model.
    """
    transformers: Any = importlib.import_module("transformers")
    torch: Any = importlib.import_module("torch")
    kind = transformers.PreTrainedModel
    loaded: list[Loaded] = []
    here = threading.get_ident()  # what other threads load is their own business

    def with_account(cls: Any, *arguments: Any, **options: Any) -> Any:
        if threading.get_ident() != here:
            return own.__func__(cls, *arguments, **options)
        wanted = options.pop("output_loading_info", False)
        model, account = own.__func__(cls, *arguments, output_loading_info=True, **options)
        loaded.append(Loaded(model, account))
        return (model, account) if wanted else model

    def refuse(*arguments: Any, **options: Any) -> Any:
        if threading.get_ident() != here:
            return unpickle(*arguments, **options)
        raise InputError(f"{name} keeps weights in pickle form, which can run code; safetensors are needed")

    with _ONE_AT_A_TIME, quiet(), _heard() as heard:
        own, unpickle = kind.__dict__["from_pretrained"], torch.load
        kind.from_pretrained, torch.load = classmethod(with_account), refuse
        try:
            yield loaded
        finally:
            kind.from_pretrained, torch.load = own, unpickle
    for message in dict.fromkeys(heard):
        warnings.warn(f"while {name} was loaded: {message}", stacklevel=3)


@contextlib.contextmanager
def _heard() -> Iterator[list[str]]:
    """What the libraries warn of, by their loggers or as warnings of Python, in place of printing it."""
    messages: list[str] = []
    here = threading.get_ident()

    def hear(text: str) -> None:
        if not _SAID_ANYWAY.search(text):
            messages.append(" ".join(text.split()))

    class Catcher(logging.Handler):
        def emit(self, record: logging.LogRecord) -> None:
            if record.levelno >= logging.WARNING:
                hear(record.getMessage())

    loggers = [logging.getLogger(library) for library in _LIBRARIES]
    before = [(logger.handlers[:], logger.level, logger.propagate) for logger in loggers]
    for logger in loggers:
        logger.handlers[:], logger.propagate = [Catcher()], False
        logger.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            show = warnings.showwarning

            def caught(message: Warning | str, *about: Any, **more: Any) -> None:
                if threading.get_ident() == here:
                    hear(str(message))
                else:
                    show(message, *about, **more)

            warnings.simplefilter("always")
            for kind in _ON_CALLS:
                warnings.simplefilter("ignore", kind)
            warnings.showwarning = caught
            yield messages
    finally:
        for logger, (handlers, level, propagate) in zip(loggers, before, strict=True):
            logger.handlers[:], logger.propagate = handlers, propagate
            logger.setLevel(level)


def missing_weights(loaded: Loaded, pooler: bool = False) -> list[str]:
    """Names of weights that the model needs and its files lack or have in another shape: the library would fill them
    with random numbers. pooler: whether a pooler, which the vectors of single tokens do not need, matters.
    """
    account = loaded.account
    other = [key if isinstance(key, str) else key[0] for key in account.get("mismatched_keys", ())]
    missing = sorted({*account["missing_keys"], *other})
    return [key for key in missing if pooler or "pooler" not in key.split(".")]


def check_layers(loaded: Loaded, name: str) -> None:
    """Refuse settings that speak of fewer layers than the files have: the rest would be left out in silence."""
    lists = {path: len(part) for path, part in loaded.model.named_modules() if type(part).__name__ == "ModuleList"}
    prefix = f"{loaded.model.base_model_prefix}."
    for key in sorted(loaded.account["unexpected_keys"]):
        for form in {key, key.removeprefix(prefix), prefix + key}:
            for match in re.finditer(r"\.(\d+)\.", form):
                count = lists.get(form[: match.start()])
                if count is not None and int(match[1]) >= count:
                    raise InputError(
                        f"{name} has weights of more layers ({key}) than the {count} its settings speak of"
                    )


def check_vocabulary(tokenizer: Any, model: Any, name: str) -> None:
    """Refuse a tokenizer that gives numbers beyond the model's table of words, or that has lost most of the words."""
    try:
        rows = int(model.get_input_embeddings().num_embeddings)
        words = tokenizer.get_vocab()
        largest = max(words.values(), default=-1)
    except (AttributeError, NotImplementedError, TypeError):  # a model without such a table
        return
    if largest >= rows:
        raise InputError(f"{name} has words for {rows} pieces, but its tokenizer numbers them up to {largest}")
    if 2 * len(words) < rows and rows - len(words) > _SPARE_ROWS:
        raise InputError(
            f"{name} has words for {rows} pieces, but its tokenizer knows only {len(words)}: are its files whole?"
        )


def transformer_folder(weights: Weights) -> Weights:
    """The folder of the transformer itself, which a sentence-transformers model may keep in a folder of its own."""
    for module in modules(weights.folder) or ():
        if module.kind == "Transformer":
            return Weights(weights.name, module.folder, weights.commit)
    return weights


def load_pretrained(kind: str, weights: Weights, purpose: str, **options: Any) -> tuple[Any, list[str]]:
    """A tokenizer, settings or a model by the transformers class `kind`, and the names of weights its folder lacks.

    Always a folder, always local: nothing here may ask the hub, run a model's own code or unpickle.
    """
    try:
        transformers: Any = importlib.import_module("transformers")
        importlib.import_module("torch")
    except ImportError as error:
        raise InputError(f"{purpose} {weights.name} needs PyTorch and transformers ({error}): {INSTALL_HINT}") from None
    name = f"{purpose} {weights.name}"
    is_model = kind.startswith("AutoModel")
    with in_one_sentence(f"{name} in {weights.folder} cannot be loaded"), loading(name) as loaded:
        if is_model:
            check_numbers(weights.folder)
            weights.revision  # noqa: B018 - of the files before they are read
            options["use_safetensors"] = True
        made = getattr(transformers, kind).from_pretrained(
            str(weights.folder), local_files_only=True, trust_remote_code=False, **options
        )
        if kind == "AutoTokenizer":
            check_tokenizer(made, name)
    if not is_model:
        return made, []
    check_layers(loaded[0], name)
    weights.check_unchanged()
    return made, missing_weights(loaded[0])


def room_of(model: Any) -> int:
    """The most tokens a model takes at once, special ones included."""
    limit = getattr(model.config, "max_position_embeddings", None) or getattr(model.config, "n_positions", None) or 512
    for name, module in model.named_modules():
        # RoBERTa and models like it count positions from the padding token's number on.
        if name.endswith("position_embeddings") and getattr(module, "padding_idx", None) is not None:
            return int(limit) - int(module.padding_idx) - 1
    return int(limit)
